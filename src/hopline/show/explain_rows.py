"""Rows of numbers that an explained step is shown as: text, JSON, figures and report all read these.

What belongs here: the rows, in SI (seconds, bytes, byte/s), and the words for parts of a path. How they are worked out is
``explain_numbers``.
"""

from __future__ import annotations

from dataclasses import dataclass

GIGA = 1e9
"""Nanoseconds of a second."""
PART_WORDS = {
    "compute": "kernels", "copy": "copies and memory sets", "transfer": "collectives, after the last rank had come",
    "communication": "waiting and transfer, not told apart", "launch": "from a call to the begin of its work",
    "gap": "between works of a stream, both launched", "host": "the CPU between calls",
    "sync": "from the end of work to that of its wait", "idle": "nothing that the trace shows",
}  # fmt: skip
"""What the parts of a path are, in a few words."""


@dataclass(frozen=True, slots=True)
class RankRow:
    """Where the time of one rank goes. span = compute + exposed + idle; hidden is communication that compute covers.

    ``waiting``: of exposed, what was spent waiting for the last rank; None where not told. ``busy`` and all below it are None
    where the file shows no work of a GPU.
    """

    label: str
    rank: int | None
    source: str
    offset: float
    clock_error: float
    span: float
    busy: float | None
    compute: float | None
    communication: float | None
    exposed: float | None
    hidden: float | None
    waiting: float | None
    idle: float | None


@dataclass(frozen=True, slots=True)
class MeetingRow:
    """One collective. ``waiting`` is that of the rank that waited longest, ``waited`` that of all together; None: unknown.

    ``sure``: the clocks leave no other rank as the last. ``basis``: of what time the rates are (``records.rate.BASES``).
    """

    number: int
    op: str
    group: str
    size: int | None
    ranks: int | None
    start: float
    transfer: float | None
    waiting: float | None
    waited: float | None
    last: str | None
    margin: float
    sure: bool
    algbw: float | None
    busbw: float | None
    basis: str
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Collectives of one op, group and size together, all times added up.

    ``known``: of how many the transfer is; ``told``: of how many it is known who came last. Rates are those of the sums, of
    the collectives with the best basis that there is.
    """

    op: str
    group: str
    size: int | None
    ranks: int | None
    count: int
    known: int
    transfer: float
    waiting: float
    last: str | None
    last_times: int
    told: int
    algbw: float | None
    busbw: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class LastRow:
    """How often a rank surely came last, of how many collectives; what all others waited for it, and the longest waiters."""

    label: str
    times: int
    of: int
    waited: float
    longest: float


@dataclass(frozen=True, slots=True)
class CauseRow:
    """What time on the critical path is due to: a kernel, a collective, what the host ran."""

    part: str
    name: str
    time: float
    times: int


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step: its time over all ranks, and the mean over ranks of where theirs goes; None where no file shows it."""

    number: int
    time: float
    compute: float | None
    exposed: float | None
    idle: float | None


@dataclass(frozen=True, slots=True)
class WhatIfRow:
    """A change: the time after it, what it saves of the replayed time, and the time if what it speeds up cost nothing."""

    change: str
    time: float
    saved: float
    speedup: float
    ceiling: float | None
    then: str


@dataclass(frozen=True, slots=True)
class SlowRow:
    """How much longer ``what`` takes beside other work; ``label``: on which rank, "all" for all together."""

    what: str
    label: str
    factor: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Numbers:
    """Everything that is shown, times in seconds.

    ``*_left_out``: how many rows were cut. ``least``: the critical path without its communication. ``replayed``: the time that
    changes are held against; ``free``: that without any communication; None where nothing was replayed.
    """

    what: str
    time: float
    findings: tuple[str, ...]
    ranks: tuple[RankRow, ...]
    collectives: int
    transfer: float
    waited: float
    unknown: int
    groups: tuple[GroupRow, ...]
    meetings: tuple[MeetingRow, ...]
    meetings_left_out: int
    last: tuple[LastRow, ...]
    undecided: int
    path: float
    least: float
    parts: dict[str, float]
    path_ranks: dict[str, float]
    path_changes: int
    path_skew: int
    path_inferred: int
    causes: tuple[CauseRow, ...]
    causes_left_out: int
    steps: tuple[StepRow, ...]
    steps_left_out: int
    replayed: float | None
    replay_error: float | None
    free: float | None
    what_ifs: tuple[WhatIfRow, ...]
    contention: tuple[SlowRow, ...]
    unmatched: tuple[str, ...]
    told: tuple[str, ...]


def path_changes(found: Numbers) -> str:
    """How often the path goes over to another rank, in words."""
    if found.path_changes:
        times = "once" if found.path_changes == 1 else f"{found.path_changes:,} times"
        return f"It goes over to another rank {times}."
    return f"It stays on {next(iter(found.path_ranks), 'one rank')}."


def spoken(text: str) -> str:
    """A finding as a sentence of its own.

    >>> spoken("ranks wait for rank 7")
    'Ranks wait for rank 7.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "…")) else ".")
