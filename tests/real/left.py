"""Processes that are left over."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path


def left_of(pids: Iterable[int | str], patience: float = 10.0) -> list[int | str]:
    """Which of these still run after so many seconds; those that ended while nobody took note of it aside."""
    until = time.monotonic() + patience
    while (left := [pid for pid in pids if _is_running(pid)]) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def _is_running(pid: int | str) -> bool:
    with contextlib.suppress(OSError):
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
