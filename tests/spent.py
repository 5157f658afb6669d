"""Bounds on what a call may cost where an input was made to be slow: orders of magnitude, not speed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """What is inside takes so many seconds of this process's own time, however busy the machine is."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds
