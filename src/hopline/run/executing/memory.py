"""Buffers of one rank in the memory of its host.

What belongs here: numpy arrays, and the sum and the copy of a schedule. Those of GPUs are with their transport.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.run.pattern import Bytes


class HostMemory:
    """Arrays that are allocated and touched once."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.arrays: list[Bytes] = [np.full(size, 0xA5, np.uint8) for size in sizes]

    def load(self, content: Sequence[Bytes]) -> None:
        """Copy ``content`` in."""
        for array, wanted in zip(self.arrays, content, strict=True):
            array[:] = wanted

    def content(self) -> list[Bytes]:
        """The arrays themselves."""
        return self.arrays

    def view(self, buffer: int, start: int, size: int) -> Bytes:
        """A slice."""
        return self.arrays[buffer][start : start + size]

    def add(self, target: Bytes, addend: Bytes) -> None:
        """In place, modulo 256."""
        np.add(target, addend, out=target)

    def copy(self, target: Bytes, source: Bytes) -> None:
        """Like memmove."""
        target[:] = source
