"""How kernels are compiled: kept in a cache where one can be written, and without it elsewhere.

What belongs here: the two decorators. ``kernel`` is for what Python calls, ``part`` for what kernels are made of. Numba looks
at one file to know whether a cached kernel is old, so a kernel and its parts stand in one file. Neither allocates: numba then
need not count who holds an array, which would take most of the time.
"""

from typing import Any

from numba import njit

UNCOUNTED: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True}
INSIDE: dict[str, Any] = {**UNCOUNTED, "forceinline": True, "no_cpython_wrapper": True}
part = njit(**INSIDE)


def kernel(function):
    """Compiled on its first call, and kept beside the file or in the user's cache: where it can be neither, numba raises."""
    try:
        return njit(**UNCOUNTED, cache=True)(function)
    except RuntimeError:
        return njit(**UNCOUNTED)(function)
