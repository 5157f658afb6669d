"""Rates: algbw and busbw of the collectives of traces.

What belongs here: which time a rate is of. The factors are ``records/busbw``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.records.busbw import FACTORS
from hopline.records.meeting import Meeting
from hopline.records.rate import Rate
from hopline.records.trace import NANOSECOND, WAITS_FOR_ALL

_BENCHMARK = {"send": "sendrecv", "recv": "sendrecv"}
"""Ops that benchmarks call otherwise."""


def rates(meetings: Sequence[Meeting]) -> tuple[Rate, ...]:
    """Rates of those ``meetings`` whose size is known and whose time is not 0."""
    found = (_rate(place, meeting) for place, meeting in enumerate(meetings) if meeting.size)
    return tuple(rate for rate in found if rate is not None)


def _rate(place: int, meeting: Meeting) -> Rate | None:
    """Rate of one meeting."""
    took, basis = _time(meeting)
    if not took or not meeting.size:
        return None
    time = took * NANOSECOND
    factor = FACTORS.get(_BENCHMARK.get(meeting.op, meeting.op))
    algbw = meeting.size / time
    busbw = algbw * factor(meeting.ranks) if factor is not None and meeting.ranks else None
    return Rate(place, meeting.op, meeting.size, time, algbw, busbw, basis)


def _time(meeting: Meeting) -> tuple[int, str]:
    """Nanoseconds, and what they are."""
    if meeting.transfer is not None:
        return meeting.transfer, "transfer"
    if meeting.op in WAITS_FOR_ALL:
        return meeting.shortest, "at least"
    return int((meeting.end - meeting.start).max()), "seen"
