"""How kernels are compiled: kept in a cache where one can be written, and without it elsewhere.

What belongs here: the two decorators. ``kernel`` is for what Python calls, ``part`` for what kernels are made of. Numba looks at
one file to know whether a cached kernel is old, so a kernel and its parts stand in one file. Neither allocates: numba then need
not count who holds an array, which would take most of the time.
"""

from numba import njit

part = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def kernel(function):
    """Compiled on its first call; numba keeps it beside the file or in the user's cache, and raises where it can do neither."""
    try:
        return njit(cache=True, no_cfunc_wrapper=True, _nrt=False)(function)
    except RuntimeError:
        return njit(_nrt=False)(function)
