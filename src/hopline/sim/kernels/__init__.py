"""The inner loops, over plain arrays: compiled by numba where they carry many operations."""
