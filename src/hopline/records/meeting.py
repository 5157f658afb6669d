"""Meetings: one collective as all its ranks saw it, on one clock.

What belongs here: who came when, who was last, and what of the time was transfer. How they are found is ``study``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.records.trace import Index, Nanoseconds


@dataclass(frozen=True, slots=True, eq=False)
class Clocks:
    """What is added to each trace's times to have them on one clock, in nanoseconds.

    Attributes
    ----------
    offset
        Shape (traces,); the first of each part is 0. It stands for differences of ``Trace.base`` too.
    error
        How far each may be off (from what its meetings disagree by), shape (traces,).
    part
        Traces that no chain of meetings joins have different numbers, shape (traces,): between them no time can be compared.
    basis
        How each was found: ``meetings`` (ends of the same collectives), ``messages`` (sends and receives), ``given`` (the
        file's own clock), one for each trace.
    drift
        What each clock must gain besides, in seconds per second, shape (traces,); () where no drift shows.
    middle
        Time of each trace at which ``offset`` alone is right, shape (traces,); () where no drift shows.
    apart
        What ends of the same collectives diverge by where that is more than clocks drift, seconds per second, and the numbers
        of the two traces; then nothing is corrected. None where they do not.
    """

    offset: Nanoseconds
    error: Nanoseconds
    part: Index
    basis: tuple[str, ...]
    drift: tuple[float, ...] = ()
    middle: tuple[int, ...] = ()
    apart: tuple[float, int, int] | None = None

    def common(self, trace: int, times: Nanoseconds) -> Nanoseconds:
        """Times of a trace (by its number) on the common clock."""
        moved = times + self.offset[trace]
        if self.drift and self.drift[trace]:
            moved = moved + np.rint((times - self.middle[trace]) * self.drift[trace]).astype(np.int64)
        return np.asarray(moved)


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """A collective that several traces have.

    Attributes
    ----------
    op, group, number
        What, in which group, and the how-manieth of that group (from 0).
    traces
        Numbers of the traces that have it, shape (k,).
    row
        Of the kernel in each of these traces, shape (k,).
    start, end
        Of each kernel on the common clock, shape (k,), nanoseconds.
    missing
        Ranks of the group of which there is no trace.
    size
        Bytes as benchmarks count them; None where the files do not say.
    ranks
        Number of members of the group; None where the files do not say.
    transfer
        Nanoseconds after the last had come; None where it cannot be told: the op does not wait for all, ranks are missing
        (then it is at most ``shortest``), or it has one trace only.
    last
        Number of the trace that came last; None where that cannot be told.
    margin
        Nanoseconds between the last and the one before; below the error of the clocks the two cannot be told apart.
    rivals
        Numbers of the other traces that the clocks' error leaves as the last: where there are some, who was last is undecided.
    """

    op: str
    group: str
    number: int
    traces: Index
    row: Index
    start: Nanoseconds
    end: Nanoseconds
    missing: tuple[int, ...] = ()
    size: int | None = None
    ranks: int | None = None
    transfer: int | None = None
    last: int | None = None
    margin: int = 0
    rivals: tuple[int, ...] = ()

    @property
    def shortest(self) -> int:
        """The shortest of the kernels, in nanoseconds: transfer is no more than that."""
        return int((self.end - self.start).min())

    @property
    def waits(self) -> Nanoseconds:
        """What each trace waited for the last to come, shape (k,); of an unknown transfer, 0."""
        if self.transfer is None:
            return self.start * 0
        return (self.end - self.start - self.transfer).clip(min=0)
