"""The bytes that ranks start with, and what they must end with.

What belongs here: values by rank, buffer and offset, and the comparison of what is there with what was promised.

Sums are of bytes and wrap around at 256, which makes them exact in any order. All data are odd: a part that is missing from a
sum, or is in it twice, changes every byte of it. Within each block of 128 bytes the values are all different (2 (ax + b) + 1
with odd a, both random by block), so no byte can take the place of a neighbour. Bytes without data are even, so they are never
taken for data. From repeat to repeat each rank's values move by a random even number, and bytes without data by another, so
that chance agreement of single bytes does not last, and what an earlier repeat left is not taken for what this one brought.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.run.executing.part import Part
from hopline.run.pattern import Bytes
from hopline.schedule.operations import COPY, RECV, REDUCE
from hopline.schedule.promises import EVERY

BLOCK = 128
"""Bytes of which no two are alike: there are 128 odd values."""
_MASK = 2**64 - 1
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _key(*numbers: int) -> int:
    """One number of 64 bits of several, by rounds of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    found = 0
    for number in numbers:
        found = (found + number + _GOLDEN) & _MASK
        found = ((found ^ found >> 30) * _FIRST) & _MASK
        found = ((found ^ found >> 27) * _SECOND) & _MASK
        found ^= found >> 31
    return found


def values(seed: int, rank: int, buffer: int, start: int, size: int) -> Bytes:
    """``size`` bytes of the data that ``rank`` has in ``buffer`` from byte ``start`` on, before any repeat moves them."""
    first, last = start // BLOCK, -(-(start + size) // BLOCK)
    mixed = np.arange(first, last, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64(_key(seed, rank, buffer))
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(_FIRST)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(_SECOND)
    factor: Bytes = (mixed >> np.uint64(8)).astype(np.uint8) | np.uint8(1)
    offset: Bytes = (mixed >> np.uint64(24)).astype(np.uint8)
    places: Bytes = np.arange(BLOCK, dtype=np.uint8)
    found: Bytes = (factor[:, None] * places + offset[:, None]) * np.uint8(2) + np.uint8(1)
    return found.reshape(-1)[start - first * BLOCK :][:size]


def moved(seed: int, rank: int, repeat: int) -> int:
    """What the values of ``rank`` are moved by in a repeat: even, below 256."""
    return 2 * (_key(seed, rank + 1, repeat + 2**32) % BLOCK)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte of a rank that is not as promised, and how many of the range are not.

    ``untouched``: the byte is one that the schedule never writes.
    """

    rank: int
    buffer: str
    offset: int
    expected: int
    got: int
    wrong: int
    untouched: bool = False

    def __str__(self) -> str:
        what = "wrote a byte that the schedule does not write" if self.untouched else "holds a wrong byte"
        more = f", {self.wrong} bytes of this range are wrong" if self.wrong > 1 else ""
        return (
            f"rank {self.rank} {what}: buffer {self.buffer}, offset {self.offset} is 0x{self.got:02x}, expected "
            f"0x{self.expected:02x}{more}"
        )


@dataclass(frozen=True, slots=True)
class _Expected:
    """A range that must hold ``base`` moved by what its ranks (None: all) are moved by."""

    buffer: int
    start: int
    base: Bytes
    origin: int


class Filling:
    """What a rank's buffers hold before a repeat, and the judge of what they hold after it."""

    def __init__(self, part: Part, seed: int) -> None:
        self.part, self.seed = part, seed
        self.before: list[Bytes] = [np.empty(size, np.uint8) for _, size in part.buffers]
        own = part.given.rank == part.rank
        columns = (part.given.buffer[own], part.given.start[own], part.given.size[own])
        self._given = [
            (buffer, start, values(seed, part.rank, buffer, start, size))
            for buffer, start, size in zip(*(column.tolist() for column in columns), strict=True)
        ]
        self._expected = list(self._expectations())
        self._idle = _unwritten(part)
        self._repeat = 0

    @property
    def checked(self) -> int:
        """Bytes that are compared with the promise."""
        return sum(len(expected.base) for expected in self._expected)

    def _expectations(self) -> list[_Expected]:
        wanted = self.part.wanted
        columns = (wanted.buffer, wanted.start, wanted.size, wanted.origin, wanted.source, wanted.other)
        found = []
        for buffer, start, size, origin, source, other in zip(*(column.tolist() for column in columns), strict=True):
            ranks = range(self.part.ranks) if origin == EVERY else (origin,)
            base = np.zeros(size, np.uint8)
            for rank in ranks:
                base += values(self.seed, rank, source, other, size)
            found.append(_Expected(buffer, start, base, origin))
        return found

    def fill(self, repeat: int) -> list[Bytes]:
        """What the buffers must hold before ``repeat``."""
        self._repeat = repeat
        poison = 2 * (_key(self.seed, repeat + 2**33) % BLOCK)
        move = moved(self.seed, self.part.rank, repeat)
        for buffer in self.before:
            buffer[:] = poison
        for number, start, base in self._given:
            np.add(base, np.uint8(move), out=self.before[number][start : start + len(base)])
        return self.before

    def difference(self, after: list[Bytes]) -> Difference | None:
        """The first byte of ``after`` that is not as promised, or that was written and should not have been."""
        moves = [moved(self.seed, rank, self._repeat) for rank in range(self.part.ranks)]
        for expected in self._expected:
            move = sum(moves) if expected.origin == EVERY else moves[expected.origin]
            wanted = expected.base + np.uint8(move % 256)
            got = after[expected.buffer][expected.start : expected.start + len(wanted)]
            if not np.array_equal(wanted, got):
                return self._told(expected.buffer, expected.start, wanted, got, False)
        for number, start, end in self._idle:
            wanted, got = self.before[number][start:end], after[number][start:end]
            if not np.array_equal(wanted, got):
                return self._told(number, start, wanted, got, True)
        return None

    def _told(self, number: int, start: int, wanted: Bytes, got: Bytes, untouched: bool) -> Difference:
        wrong = np.flatnonzero(wanted != got)
        at = int(wrong[0])
        name = self.part.buffers[number][0]
        return Difference(
            self.part.rank, name, start + at, int(wanted[at]), int(got[at]), len(wrong), untouched
        )  # fmt: skip


def _unwritten(part: Part) -> list[tuple[int, int, int]]:
    """(buffer, first byte, end) of what no row of this rank writes."""
    found = []
    writes = np.isin(part.kind, (RECV, REDUCE, COPY)) & (part.size > 0)
    for number, (_, size) in enumerate(part.buffers):
        rows = np.flatnonzero(writes & (part.buffer == number))
        rows = rows[np.argsort(part.start[rows], kind="stable")]
        ends = np.maximum.accumulate(part.start[rows] + part.size[rows]) if len(rows) else part.start[rows]
        first = np.concatenate([[0], ends])
        last = np.concatenate([part.start[rows], [size]])
        found += [(number, int(a), int(b)) for a, b in zip(first, last, strict=True) if a < b]
    return found
