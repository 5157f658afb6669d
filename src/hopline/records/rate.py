"""Rates: what a collective of a trace moved per second.

What belongs here: the record, and what its time stands for. How rates are worked out is ``study/rates``.
"""

from __future__ import annotations

from dataclasses import dataclass

BASES = ("transfer", "at least", "seen")
"""What the time of a rate is: after the last rank had come, which is what benchmarks measure (``transfer``); the shortest
kernel, which the transfer does not exceed, so that the true rate is no less (``at least``); the longest kernel with what it
waited for in it, where no more can be told (``seen``)."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Bandwidth of one meeting.

    Attributes
    ----------
    meeting
        Its place among the meetings that were given.
    op
        What it is.
    size
        Bytes as benchmarks count them.
    time
        Seconds.
    algbw, busbw
        Bytes per second: size / time, and that times ``records.busbw.FACTORS`` of the number of ranks; busbw is None where
        that number is not known.
    basis
        One of BASES.
    """

    meeting: int
    op: str
    size: int
    time: float
    algbw: float
    busbw: float | None
    basis: str
