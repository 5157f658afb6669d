"""The tables of an explained step, the same on the terminal and in the report.

What belongs here: which numbers stand beside one another, as text, each with its place in the JSON. How a table is drawn is
``explain`` (terminal) and ``report`` (HTML).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from hopline.quantity import binary, counted, show
from hopline.records.rate import BASES
from hopline.show.explain_rows import PART_WORDS, Numbers, path_changes


@dataclass(frozen=True, slots=True)
class Cell:
    """Text, where its number stands in the JSON (``ranks.0.exposed``), "" for none, and what share of the whole it is."""

    text: str
    key: str = ""
    share: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title; ``left``: so many of the first columns stand left. ``kept``: so many rows a terminal
    shows, without the columns ``wide``.
    """

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    left: int = 1
    kept: int = 12
    wide: tuple[str, ...] = ()
    left_out: int = 0
    weights: tuple[float, ...] = ()


def tables(found: Numbers) -> list[Table]:
    """Those with rows, in the order in which they are read."""
    return [table for make in _TABLES if (table := make(found)).rows]


def _time(value: float | None, key: str, whole: float | None = None) -> Cell:
    if value is None:
        return Cell("unknown", key)
    return Cell(show(value, "time"), key, share(value, whole) if whole else "")


def share(value: float, whole: float) -> str:
    """A part of a whole in per cent, with one decimal where it is small.

    >>> share(1.0, 3.0), share(1.0, 30.0), share(0.0, 1.0)
    ('33 %', '3.3 %', '0 %')
    """
    percent = 100 * value / whole
    return f"{percent:.1f} %" if 0 < abs(percent) < 9.95 else f"{percent:.0f} %"


def _rate(value: float | None, key: str, basis: str) -> Cell:
    """A rate over more than the transfer is marked: the true one is no less."""
    return Cell(("" if value is None or basis == BASES[0] else "≥ ") + show(value, "bandwidth", 3), key)


def _size(value: int | None, key: str) -> Cell:
    return Cell("unknown" if value is None else binary(value), key)


def _count(value: int | None, key: str) -> Cell:
    return Cell("?" if value is None else f"{value:,}", key)


def _ranks(found: Numbers) -> Table:
    told = any(row.waiting is not None for row in found.ranks)
    rows = []
    for i, row in enumerate(found.ranks):
        at = f"ranks.{i}."
        waiting = (_time(row.waiting, at + "waiting", row.span),) if told else ()
        parts = (
            (row.busy, "busy"),
            (row.compute, "compute"),
            (row.exposed, "exposed"),
            (row.hidden, "hidden"),
            (row.idle, "idle"),
        )
        cells = [_time(value, at + name, row.span) for value, name in parts]
        rows.append((Cell(row.label, at + "label"), *cells[:3], *waiting, *cells[3:]))
    header = ("", "busy", "compute", "exposed", *(("of it waiting",) if told else ()), "hidden", "idle")
    weights = tuple(row.exposed or 0.0 for row in found.ranks)
    note = "Exposed: communication with no compute beside it; hidden: with. Busy is compute and exposed together."
    return Table("ranks", "Each rank", note, header, rows, kept=16, weights=weights)


def _groups(found: Numbers) -> Table:
    many = any(row.group for row in found.groups)
    rows = []
    for i, row in enumerate(found.groups):
        at = f"groups.{i}."
        last = f"{row.last} ({100 * row.last_times / max(1, row.told):.0f} %)" if row.last is not None else "unknown"
        known = row.known > 0
        rows.append((
            Cell(row.op, at + "op"), *((Cell(row.group, at + "group"),) if many else ()),
            _count(row.count, at + "count"), _size(row.size, at + "size"), _count(row.ranks, at + "ranks"),
            _time(row.transfer if known else None, at + "transfer"), _time(row.waiting if known else None, at + "waiting"),
            Cell(last, at + "last"), _rate(row.algbw, at + "algbw", row.basis), _rate(row.busbw, at + "busbw", row.basis),
        ))  # fmt: skip
    header = (
        "",
        *(("group",) if many else ()),
        "times",
        "size",
        "ranks",
        "transfer",
        "waiting",
        "mostly last",
        "algbw",
        "busbw",
    )
    note = (
        "Sums. Transfer: after the last rank had come, rates are of it alone; waiting: of the rank that waited longest."
    )
    return Table("groups", "Collectives", note, header, rows, left=2 if many else 1, wide=("ranks",))


def _meetings(found: Numbers) -> Table:
    rows = []
    for i, row in enumerate(found.meetings):
        at = f"meetings.{i}."
        last = "unknown" if row.last is None else row.last if row.sure else f"{row.last}?"
        rows.append((
            Cell(f"{row.op} {row.number}", at + "number"), _time(row.start, at + "start"), _size(row.size, at + "size"),
            _time(row.transfer, at + "transfer"), _time(row.waiting, at + "waiting"), Cell(last, at + "last"),
            _time(row.margin if row.last is not None else None, at + "margin"), _rate(row.busbw, at + "busbw", row.basis),
        ))  # fmt: skip
    header = ("", "begins at", "size", "transfer", "waiting", "last", "behind by", "busbw")
    note = "The longest waits first; rank?: it came last by less than the clocks can tell."
    return Table("meetings", "Single collectives", note, header, rows, kept=10, left_out=found.meetings_left_out)


def _last(found: Numbers) -> Table:
    rows = [
        (
            Cell(row.label, f"last.{i}.label"), Cell(f"{row.times:,} of {row.of:,}", f"last.{i}.times"),
            _time(row.longest, f"last.{i}.longest"), _time(row.waited, f"last.{i}.waited"),
        )
        for i, row in enumerate(found.last)
    ]  # fmt: skip
    note = "Waiting for it: of whoever waited longest each time, and of all ranks together."
    if found.undecided:
        note += f" Of {counted(found.undecided, 'collective')} the clocks leave open who was last."
    return Table("last", "Who comes last", note, ("", "last", "longest waits", "all waits"), rows, kept=6)


def _parts(found: Numbers) -> Table:
    rows = [
        (Cell(f"{part} ({PART_WORDS[part]})"), _time(time, f"parts.{part}", found.path))
        for part, time in found.parts.items()
    ]
    told = [path_changes(found)] if len(found.ranks) > 1 else []
    if found.path_inferred:
        told.append(f"{counted(found.path_inferred, 'wait')} on it the files do not tell; order on streams does.")
    if found.path_skew:
        told.append(f"{counted(found.path_skew, 'time')} work began before its call, as clocks had it: taken as 0.")
    return Table("parts", "The critical path", " ".join(told), ("", "time"), rows)


def _causes(found: Numbers) -> Table:
    rows = [
        (
            Cell(row.name, f"causes.{i}.name"), Cell(row.part, f"causes.{i}.part"), _count(row.times, f"causes.{i}.times"),
            _time(row.time, f"causes.{i}.time", found.path),
        )
        for i, row in enumerate(found.causes)
    ]  # fmt: skip
    header = ("", "as", "times", "time")
    return Table("causes", "What is on it", "", header, rows, left=2, kept=10, left_out=found.causes_left_out)


def _what_ifs(found: Numbers) -> Table:
    rows = [
        (
            Cell(row.change, f"what_ifs.{i}.change"), _time(row.time, f"what_ifs.{i}.time"),
            _time(row.saved, f"what_ifs.{i}.saved", found.replayed), Cell(f"{row.speedup:.3g} x", f"what_ifs.{i}.speedup"),
            Cell("—") if row.ceiling is None else _time(row.ceiling, f"what_ifs.{i}.ceiling"),
        )
        for i, row in enumerate(found.what_ifs)
    ]  # fmt: skip
    note = "Ceiling: if what the change speeds up cost nothing."
    if found.replayed is not None:
        note += f" Held against the replay without a change, {show(found.replayed, 'time')}"
        note += f", {100 * (found.replay_error or 0):.1f} % off what was measured at most."
    header = ("", "time then", "saves", "speed-up", "ceiling")
    return Table("what_ifs", "What a change would bring", note, header, rows)


def _contention(found: Numbers) -> Table:
    rows = [
        (
            Cell(f"{row.what} beside the other", f"contention.{i}.what"), Cell(row.label, f"contention.{i}.label"),
            Cell(f"{row.factor:.2f} x", f"contention.{i}.factor"), Cell(f"{row.low:.2f} .. {row.high:.2f}"),
            _count(row.pairs, f"contention.{i}.pairs"),
        )
        for i, row in enumerate(found.contention)
    ]  # fmt: skip
    note = "How much longer it takes while the other is on, from pairs of the same work with and without; quartiles beside it."
    return Table("contention", "Contention", note, ("", "on", "longer", "half of pairs", "pairs"), rows, left=2, kept=4)


def _steps(found: Numbers) -> Table:
    rows = []
    for i, row in enumerate(found.steps):
        at, whole = f"steps.{i}.", sum(part or 0.0 for part in (row.compute, row.exposed, row.idle))
        parts = (row.compute, "compute"), (row.exposed, "exposed"), (row.idle, "idle")
        cells = [_time(value, at + name, whole) for value, name in parts]
        rows.append((Cell(f"step {row.number}", at + "number"), _time(row.time, at + "time"), *cells))
    note = "Time from the first rank's begin to the last one's end; the rest is the mean over ranks."
    header = ("", "time", "compute", "exposed", "idle")
    return Table("steps", "Steps", note, header, rows, kept=8, left_out=found.steps_left_out)


def _files(found: Numbers) -> Table:
    rows = [
        (
            Cell(row.label, f"ranks.{i}.label"), Cell(PurePath(row.source).name, f"ranks.{i}.source"),
            _time(row.offset, f"ranks.{i}.offset"), Cell(f"± {show(row.clock_error, 'time', 2)}", f"ranks.{i}.clock_error"),
        )
        for i, row in enumerate(found.ranks)
    ]  # fmt: skip
    note = "What was added to each file's clock to have all on one, and how far it may be off."
    return Table("files", "Files and clocks", note, ("", "file", "clock", "error"), rows, left=2, kept=0)


_TABLES: tuple[Callable[[Numbers], Table], ...] = (
    _ranks, _groups, _meetings, _last, _parts, _causes, _what_ifs, _contention, _steps, _files,
)  # fmt: skip
