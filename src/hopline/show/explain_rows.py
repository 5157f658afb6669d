"""Rows of numbers that an explained step is shown as: text, JSON, figures and report all read these.

What belongs here: the rows, in SI (seconds, bytes, byte/s), and the words for parts of a path. How they are worked out is
``explain_numbers``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.quantity import show
from hopline.records.what_if import Swap

GIGA = 1e9
"""Nanoseconds of a second."""
PART_WORDS = {
    "compute": "kernels", "copy": "copies and memory sets", "transfer": "collectives, after the last rank had come",
    "communication": "waiting and transfer, not told apart", "launch": "from a call to the begin of its work",
    "gap": "between works of a stream, both launched", "host": "the CPU between calls",
    "sync": "from the end of work to that of its wait", "idle": "not seen in the traces",
}  # fmt: skip
"""What the parts of a path are, in a few words."""


@dataclass(frozen=True, slots=True)
class RankRow:
    """Where the time of one rank goes. span = compute + exposed + idle; hidden is communication that compute covers.

    ``waiting``: of exposed, what is known to be waiting for the last rank; None where none of it can be told from transfer.
    ``untold``: of exposed, what may be either. ``busy`` and all below it are None where the file shows no work of a GPU.
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
    untold: float | None
    idle: float | None


@dataclass(frozen=True, slots=True)
class MeetingRow:
    """One collective. ``waiting`` is that of the rank that waited longest, ``waited`` that of all together; None: unknown.

    ``sure``: the clocks leave no other rank as the last. ``margin`` is None where it is not known who was. ``basis``: of what
    time the rates are (``records.rate.BASES``).
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
    margin: float | None
    sure: bool
    algbw: float | None
    busbw: float | None
    basis: str
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Collectives of one op, group and size together, all times added up.

    ``known``: of how many the transfer is, whose ``transfer`` and ``waiting`` are added up, None for none; ``told``: of how
    many it is sure who came last, ``last`` how often. Rates are those of the sums, of the collectives with the best basis that
    there is.
    """

    op: str
    group: str
    size: int | None
    ranks: int | None
    count: int
    known: int
    transfer: float | None
    waiting: float | None
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
    """A change: the time after it, what it saves of the replayed time, and the time if what it speeds up cost nothing.

    ``within``: it changes no more than the replay may be off. ``at_most``: it saves this or less, as waiting that cannot be
    told from transfer is in what it speeds up. ``premises``: what this answer takes to be so.
    """

    change: str
    time: float
    saved: float
    speedup: float
    ceiling: float | None
    then: str
    within: bool
    at_most: bool
    premises: tuple[str, ...] = ()


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

    ``step``: the number of the step that was asked for; None: all that the traces have. ``transfer`` and ``waited`` are of
    all collectives but the ``unknown``; None where there is no other. ``clock_error``: how far apart clocks may be where it is
    ``undecided`` who came last, None for nowhere. ``*_left_out``: how many rows were cut. ``path``, and ``least``, which it is
    without its communication: None where there is none. ``replayed``: the time that changes are held against; ``free``: that
    without any communication; None where nothing was replayed. ``played``: of which step they are, "" for all that is shown;
    ``measured``: how long that took. ``asked``: somebody asked for these changes. ``premises``: what all answers about changes
    take to be so.
    """

    what: str
    step: int | None
    time: float
    findings: tuple[str, ...]
    ranks: tuple[RankRow, ...]
    collectives: int
    transfer: float | None
    waited: float | None
    unknown: int
    groups: tuple[GroupRow, ...]
    meetings: tuple[MeetingRow, ...]
    meetings_left_out: int
    last: tuple[LastRow, ...]
    undecided: int
    clock_error: float | None
    path: float | None
    least: float | None
    parts: dict[str, float]
    path_ranks: dict[str, float]
    path_changes: int
    path_skew: int
    path_inferred: int
    causes: tuple[CauseRow, ...]
    causes_left_out: int
    steps: tuple[StepRow, ...]
    steps_left_out: int
    played: str
    asked: bool
    measured: float | None
    replayed: float | None
    replay_error: float | None
    free: float | None
    what_ifs: tuple[WhatIfRow, ...]
    premises: tuple[str, ...]
    swaps: tuple[Swap, ...]
    contention: tuple[SlowRow, ...]
    unmatched: tuple[str, ...]
    told: tuple[str, ...]


def path_changes(found: Numbers) -> str:
    """How often the path goes over to another rank, in words."""
    if found.path_changes:
        times = "once" if found.path_changes == 1 else f"{found.path_changes:,} times"
        return f"It goes over to another rank {times}."
    return f"It stays on {next(iter(found.path_ranks), 'one rank')}."


def what_if_title(found: Numbers) -> str:
    """With what of the whole it is about, where that is less."""
    return "What a change would bring" + (f" to {found.played}" if found.played else "")


def replayed(found: Numbers) -> str:
    """What changes are held against, and how far that can be trusted."""
    if found.replayed is None or found.measured is None or found.replay_error is None:
        return ""
    return (
        f"Held against {show(found.replayed, 'time')}, as it is when played again without a change; measured were "
        f"{show(found.measured, 'time')}. The error of playing it by work, waits and usual delays alone is "
        f"{100 * found.replay_error:.1f} % at worst."
    )


def premises(found: Numbers) -> tuple[str, ...]:
    """What answers about changes take to be so: of all, then of some with their names before it; each once."""
    some: dict[str, list[str]] = {}
    for row in found.what_ifs:
        for text in row.premises:
            some.setdefault(text, []).append(row.change)
    return (*found.premises, *(f"{', '.join(changes)}: {text}" for text, changes in some.items()))


def spoken(text: str) -> str:
    """A finding as a sentence of its own.

    >>> spoken("ranks wait for rank 7")
    'Ranks wait for rank 7.'
    >>> spoken("a.json: no rank")
    'a.json: no rank.'
    """
    word = text.split(" ", 1)[0].strip(",:;")
    return (text[:1].upper() + text[1:] if word.isalpha() else text) + (
        "" if text.endswith((".", "!", "?", "…")) else "."
    )
