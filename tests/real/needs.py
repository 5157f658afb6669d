"""What real ranks need."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hopline.errors import RunError
from hopline.run.mpirun import find_mpirun


def missing() -> str:
    """Why real ranks cannot be started here; "" where they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    if not Path("/proc/self/cmdline").exists():
        return "no /proc to look for ranks in"
    try:
        find_mpirun()
    except RunError as error:
        return str(error)
    return ""


REAL_RANKS = [pytest.mark.real, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]
