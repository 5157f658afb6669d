"""How kernels are compiled: kept in a cache where one can be written, and without it elsewhere.

What belongs here: the two decorators. ``kernel`` is for what Python calls, ``part`` for what kernels are made of. Neither
allocates: numba then need not count who holds an array, which would take most of the time.
"""

from typing import Any

import numpy as np
from numba import njit

UNCOUNTED: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True}
INSIDE: dict[str, Any] = {**UNCOUNTED, "forceinline": True, "no_cpython_wrapper": True}
part = njit(**INSIDE)


PARTS = ("events_ports", "events_settling", "events_state", "heaps", "loggops_state", "sharing", "sharing_state")
"""Files that kernels of other files are made of."""


def _stamp():
    """A number that changes with PARTS: numba only looks at the file of the kernel to know whether a kept one is old."""
    try:
        files = [np.fromfile(f"{__file__[: __file__.rindex('compiled')]}{name}.py", np.uint8) for name in PARTS]
    except OSError:
        return 0
    text = np.concatenate(files).astype(np.int64)
    return int(text @ (np.arange(len(text)) % 8191 + 1))


STAMP = _stamp()


def kernel(function):
    """Compiled on its first call, and kept beside the file or in the user's cache: where it can be neither, numba raises."""
    function.__qualname__ += f"_{STAMP:x}"
    try:
        return njit(**UNCOUNTED, cache=True)(function)
    except RuntimeError:
        return njit(**UNCOUNTED)(function)
