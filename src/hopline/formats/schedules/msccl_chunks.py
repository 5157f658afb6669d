"""From bytes to chunks: into how many chunks a schedule's buffers are cut, so that every range is made of whole ones.

What belongs here: the other way round of ``msccl_cut``, for schedules that are written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hopline.errors import FormatError, InputError
from hopline.formats.schedules.promised import INPUT, OUTPUT, Layout
from hopline.schedule.operations import COPY, REDUCE, Bytes, Index, Schedule
from hopline.schedule.pieces import Ints

MOST_COUNT = 71
"""Chunks of a step: the runtimes have MSCCL_MAX_COUNT 72."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges that rows use: of a Reduce or a Copy two; columns of one length."""

    row: Index
    buffer: Bytes
    start: Ints
    size: Ints


@dataclass(frozen=True, slots=True)
class Chunking:
    """``places``: buffer letter and first chunk of a range of rank, buffer and start; ``counts``: chunks of each row."""

    layout: Layout
    letters: tuple[str, ...]
    base: Ints
    """First chunk of each buffer among those of its letter."""
    bounds: Ints
    """First byte of each chunk, where chunks differ; of scratch, too."""

    def chunk(self, buffer: Bytes | int, start: Ints | int) -> Ints:
        """Number of the chunk that begins at each byte."""
        if self.layout.even:
            inside = np.asarray(start, np.int64) // (self.layout.size // self.layout.chunks)
        else:
            inside = np.searchsorted(self.bounds, start)
        return np.asarray(inside + self.base[buffer], np.int64)

    def fits(self, ranges: Ranges) -> bool:
        """Whether all ranges are made of 1 to MOST_COUNT whole chunks."""
        count = self.chunk(ranges.buffer, ranges.start + ranges.size) - self.chunk(ranges.buffer, ranges.start)
        if self.layout.even:
            each = self.layout.size // self.layout.chunks
            whole = not ((ranges.start % each).any() or (ranges.size % each).any())
        else:
            ends = ranges.start + ranges.size
            whole = bool(np.isin(ranges.start, self.bounds).all() and np.isin(ends, self.bounds).all())
        return whole and bool((count >= 1).all() and (count <= MOST_COUNT).all())


def ranges(schedule: Schedule) -> Ranges:
    """What the rows of a schedule use."""
    columns = schedule.columns
    main = np.arange(len(schedule), dtype=np.int32)
    other = np.flatnonzero((columns.kind == REDUCE) | (columns.kind == COPY)).astype(np.int32)
    return Ranges(
        np.concatenate([main, other]), np.concatenate([columns.buffer, columns.source[other]]),
        np.concatenate([columns.start, columns.other[other]]), columns.size[np.concatenate([main, other])],
    )  # fmt: skip


def chunking(schedule: Schedule, collective: str, in_place: bool) -> Chunking:
    """A cut into the fewest chunks that does. Raises FormatError where none does."""
    used = ranges(schedule)
    sizes = [buffer.size for buffer in schedule.buffers]
    size = sizes[0] if in_place else max(sizes[:2])
    if not size or not len(schedule):
        raise FormatError(f"{schedule.name} moves no bytes: MSCCL moves chunks")
    for chunks in _candidates(schedule, used, size):
        try:
            layout = Layout(collective, schedule.ranks, size, chunks, in_place)
        except (FormatError, InputError):
            continue
        found = _over(layout, sizes)
        if found is not None and found.fits(used):
            return found
    raise FormatError(
        f"the ranges of {schedule.name} are not made of 1 to {MOST_COUNT} chunks of one size, as MSCCL takes them: "
        f"make it for a size that is a multiple of {schedule.ranks} ranks times its pieces"
    )


def _candidates(schedule: Schedule, used: Ranges, size: int) -> list[int]:
    unit = math.gcd(size, *(int(np.gcd.reduce(values)) for values in (used.start, used.size)))
    shared = math.gcd(unit, size // schedule.ranks) if size % schedule.ranks == 0 else unit
    data = used.buffer == INPUT
    marks = np.unique(np.concatenate([[0, size], used.start[data], used.start[data] + used.size[data]]))
    return sorted({size // unit, size // shared, len(marks) - 1, schedule.ranks})


def _over(layout: Layout, sizes: list[int]) -> Chunking | None:
    """The buffers of a schedule in chunks of ``layout``; None: one of them cannot be told in them."""
    first = "o" if layout.in_place and layout.collective == "all_gather" else "i"
    letters = [first, *([] if layout.in_place else ["o"])][: len(sizes)]
    rest = len(sizes) - len(letters)
    base = np.zeros(len(sizes), np.int64)
    if layout.even:
        each = layout.size // layout.chunks
        room = [-(-size // each) for size in sizes[len(letters) :]]
        base[len(letters) :] = np.cumsum([0, *room])[:rest]
    elif not layout.in_place or rest > 1 or (rest and sizes[-1] != layout.size):
        return None
    return Chunking(layout, (*letters, *["s"] * rest), base, np.empty(0, np.int64) if layout.even else layout.bounds())


def scratch(found: Chunking, schedule: Schedule) -> int:
    """Chunks of scratch."""
    ends = [
        int(found.chunk(number, buffer.size if not found.layout.even else _up(found, buffer.size)))
        for number, buffer in enumerate(schedule.buffers) if found.letters[number] == "s"
    ]  # fmt: skip
    return max(ends, default=0)


def _up(found: Chunking, size: int) -> int:
    """The next multiple of a chunk."""
    each = found.layout.size // found.layout.chunks
    return -(-size // each) * each


def is_in_place(schedule: Schedule) -> bool:
    """Whether what is promised lies in the buffer where data is given."""
    promise = schedule.promise
    return promise is None or not bool((promise.wanted.buffer == OUTPUT).any())
