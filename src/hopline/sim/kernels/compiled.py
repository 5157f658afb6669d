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


def _stamp():
    """A number that changes with what kernels of other files are made of: numba only looks at the file of the kernel."""
    try:
        text = np.fromfile(__file__.replace("compiled", "heaps"), np.uint8).astype(np.int64)
    except OSError:
        return 0
    return int(text @ (np.arange(len(text)) % 8191 + 1))


STAMP = _stamp()


def kernel(function):
    """Compiled on its first call, and kept beside the file or in the user's cache: where it can be neither, numba raises."""
    function.__qualname__ += f"_{STAMP:x}"
    try:
        return njit(**UNCOUNTED, cache=True)(function)
    except RuntimeError:
        return njit(**UNCOUNTED)(function)
