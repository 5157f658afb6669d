"""From chunks to bytes: where each chunk of a rank's buffers begins.

What belongs here: sizes of chunks. Input and output are cut as ``Layout`` says; a chunk of scratch is as large as what
passes through it, which is only asked where chunks differ.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hopline.errors import InputError
from hopline.formats.schedules.promised import INPUT, OUTPUT, Layout
from hopline.schedule.pieces import Ints

SCRATCH = 2
"""Number of the scratch buffer, where chunks are spoken of."""

MOST = 1 << 22
"""Chunks that are followed one by one, where they differ."""

Place = tuple[int, int, int]
"""Rank, buffer and chunk."""


class Cut:
    """Bytes of each chunk.

    Parameters
    ----------
    scratch
        Chunks of scratch of each rank.
    same
        Pairs of places that hold the same data, once or later, and how many chunks from there on.
    """

    def __init__(self, layout: Layout, scratch: list[int], same: Iterable[tuple[Place, Place, int]]) -> None:
        self._layout, self._counts = layout, scratch
        self._each = layout.size // layout.chunks
        self._widths: dict[Place, int] = {}
        self._scratch: list[Ints] = []
        if not layout.even:
            pairs = list(same)
            if sum(scratch) + layout.chunks + sum(count for _, _, count in pairs) > MOST:
                raise InputError(f"{layout.size} bytes: so large an algorithm takes a multiple of {layout.chunks}")
            self._bounds = layout.bounds()
            self._settle(pairs)
            self._scratch = [self._sums(rank, count) for rank, count in enumerate(scratch)]

    def _sums(self, rank: int, count: int) -> Ints:
        """First byte of each chunk of scratch, and the end."""
        unused = np.full(count, self._each + 1)
        own = np.diff(self._bounds)[:count]
        unused[: len(own)] = own
        widths = [self._widths.get((rank, SCRATCH, chunk), int(unused[chunk])) for chunk in range(count)]
        return np.concatenate([[0], np.cumsum(np.array(widths, np.int64))])

    @property
    def scratch(self) -> int:
        """Bytes of scratch that the rank with the most has."""
        if self._layout.even:
            return self._each * max(self._counts)
        return max(int(bounds[-1]) for bounds in self._scratch)

    @property
    def rooms(self) -> dict[int, int]:
        """Bytes of input and output that the rank with the most has."""
        layout, rooms = self._layout, {}
        for buffer, name in ((INPUT, "i"), (OUTPUT, "o")):
            count = layout.chunks if layout.in_place else layout.room(name)
            every = range(1 if layout.even else layout.ranks)
            rooms[buffer] = max(sum(self.range((rank, buffer, 0), count)) for rank in every)
        return rooms

    def range(self, place: Place, count: int) -> tuple[int, int]:
        """First byte and number of bytes of ``count`` chunks."""
        rank, buffer, chunk = place
        if self._layout.even:
            return chunk * self._each, count * self._each
        if buffer == SCRATCH:
            bounds = self._scratch[rank]
            return int(bounds[chunk]), int(bounds[chunk + count] - bounds[chunk])
        start = self._start(rank, buffer, chunk)
        return start, self._start(rank, buffer, chunk + count) - start

    def _start(self, rank: int, buffer: int, chunk: int) -> int:
        """First byte of a chunk of input or output, whose chunks differ."""
        layout, bounds = self._layout, self._bounds
        if layout.in_place:
            return int(bounds[chunk])
        part = {"all_gather": INPUT, "reduce_scatter": OUTPUT}.get(layout.collective)
        first = rank * layout.each
        if buffer == part:
            return int(bounds[first + chunk] - bounds[first])
        if layout.collective == "alltoall" and buffer == OUTPUT:
            block, within = divmod(chunk, layout.each)
            return int(block * (bounds[first + layout.each] - bounds[first]) + bounds[first + within] - bounds[first])
        return int(bounds[chunk])

    def _settle(self, same: list[tuple[Place, Place, int]]) -> None:
        """Give each chunk of scratch the size of what passes through it. Raises InputError where that differs."""
        near: dict[Place, list[Place]] = {}
        for (rank, buffer, chunk), (peer, other, begin), count in same:
            for i in range(count):
                ends = (rank, buffer, chunk + i), (peer, other, begin + i)
                for one, two in (ends, ends[::-1]):
                    near.setdefault(one, []).append(two)
        self._widths = {place: self.range(place, 1)[1] for place in near if place[1] != SCRATCH}
        front = list(self._widths)
        while front:
            place = front.pop()
            for there in near[place]:
                if there not in self._widths:
                    self._widths[there] = self._widths[place]
                    front.append(there)
                elif self._widths[there] != self._widths[place]:
                    raise self._uneven(place, there)

    def _uneven(self, one: Place, two: Place) -> InputError:
        layout = self._layout
        names = {INPUT: "input", OUTPUT: "output", SCRATCH: "scratch"}
        shown = " and ".join(f"chunk {chunk} of {names[buffer]} of rank {rank}" for rank, buffer, chunk in (one, two))
        return InputError(
            f"{layout.size} bytes cut into {layout.chunks} chunks differ by a byte, and {shown} hold the same data: "
            f"expected a multiple of {layout.chunks} bytes"
        )
