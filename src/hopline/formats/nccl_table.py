"""From the rows and statements of an nccl-tests log to Tables.

What belongs here: which rows must not be used and why, and the facts that a table's rows and statements give together.
Rows of all tables of one layout lie in the same columns; each Table gets its stretch of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopline.formats.nccl_layout import IN_PLACE, SCALE, Layout, is_verdict
from hopline.formats.nccl_ranks import Ratio, agreed, benchmark, contradictions, interval, ratio
from hopline.formats.nccl_rows import BAD_TIME, ERROR_INSIDE, TORN, WRONG, ZERO_SIZE, Rows
from hopline.quantity import show
from hopline.records.table import Fact, Floats, Table, count_dropped

_ENOUGH = 5 * SCALE["algbw"]
"""Above this algbw two decimals show the bus factor to a thousandth."""


_HALVES_DIFFER = 1.5

Events = list[tuple[str, int]]
"""(reason, line) of each row that must not be used."""
_Columns = Mapping[str, Floats]


@dataclass(slots=True)
class Draft:
    """A table whose rows are still being gathered, with what the lines around it said."""

    number: int
    layout: Layout
    benchmark: str
    version: str
    listed: int
    highest: int | None
    average: float | None = None
    out_of_bounds: float | None = None
    largest: int | None = None
    told: dict[str, Fact] = field(default_factory=dict)
    right_halves: list[int] = field(default_factory=list)
    torn: Events = field(default_factory=list)


def tables(drafts: list[Draft], stores: list[Rows]) -> tuple[list[Table], Events]:
    """The tables that hold a usable row, in file order, and the unusable rows of those that hold none."""
    found: dict[int, Table] = {}
    for rows in stores:
        columns = rows.columns()
        for number, reason, line in rows.torn:
            drafts[number].torn.append((reason, line))
        if columns:
            found |= _of_layout(drafts, rows, columns)
    left = [event for draft in drafts if draft.number not in found for event in draft.torn + _rest(draft)]
    return [found[number] for number in sorted(found)], left


def _of_layout(drafts: list[Draft], rows: Rows, columns: dict[str, Floats]) -> dict[int, Table]:
    owner, line = columns.pop("?table"), columns.pop("?line")
    reasons = {
        ZERO_SIZE: (columns["size"] == 0) | (columns["count"] == 0),
        WRONG: _wrong(columns),
        BAD_TIME: ~(np.isfinite(columns["time"]) & (columns["time"] > 0)),
    }
    numbers, starts = np.unique(owner, return_index=True)
    ends = np.append(starts[1:], len(owner))
    bad = np.logical_or.reduce(list(reasons.values()))
    dropped = _dropped(reasons, bad, owner, line)
    verdicts = {name: column for name, column in columns.items() if is_verdict(name)}
    kept_before = np.concatenate([[0], np.cumsum(~bad)])
    kept = {name: column[~bad] if bad.any() else column for name, column in columns.items() if not is_verdict(name)}
    _no_time_of_zero(kept)
    found = {}
    for number, start, end in zip(numbers.astype(int).tolist(), starts.tolist(), ends.tolist(), strict=True):
        draft, events = drafts[number], dropped.get(number, [])
        part = slice(int(kept_before[start]), int(kept_before[end]))
        if part.start == part.stop:
            draft.torn += events
            continue
        own = {name: column[part] for name, column in kept.items()}
        judged = {name: column[start:end] for name, column in verdicts.items()}
        found[number] = _table(draft, rows, own, _Met(end - start, int(line[start]), events, judged))
    return found


def _wrong(columns: _Columns) -> NDArray[np.bool_]:
    """Rows with a wrong element in either half; ``error`` is a deviation, wrong only where marked so (infinite)."""
    wrong = np.zeros(len(columns["size"]), bool)
    for name, column in columns.items():
        if is_verdict(name):
            wrong |= (column > 0) if name.startswith("wrong") else np.isinf(column)
    return wrong


def _dropped(
    reasons: Mapping[str, NDArray[np.bool_]], bad: NDArray[np.bool_], owner: Floats, line: Floats
) -> dict[int, Events]:
    """Table number -> its events; of several reasons the first counts."""
    places = np.flatnonzero(bad)
    first = np.argmax(np.stack([mask[places] for mask in reasons.values()]), axis=0) if len(places) else places
    names = list(reasons)
    events: dict[int, Events] = {}
    for number, which, row in zip(owner[places].tolist(), first.tolist(), line[places].tolist(), strict=True):
        events.setdefault(int(number), []).append((names[which], int(row)))
    return events


def _no_time_of_zero(columns: dict[str, Floats]) -> None:
    """An in-place time that cannot be is NaN: the out-of-place half of its row is good."""
    time = columns["time" + IN_PLACE]
    if not np.all(time > 0):
        columns["time" + IN_PLACE] = np.where(time > 0, time, np.nan)


@dataclass(frozen=True, slots=True)
class _Met:
    """All complete rows of one table, unusable ones included."""

    count: int
    line: int
    events: Events
    verdicts: _Columns


def _table(draft: Draft, rows: Rows, own: dict[str, Floats], met: _Met) -> Table:
    low, high = own.pop("?low"), own.pop("?high")
    mixed = rows.kinds[draft.number]
    words = next(iter(mixed))
    seen = ratio(own["algbw"], own["busbw"], low, high, _ENOUGH)
    name = draft.benchmark or (benchmark(words, draft.layout.names, seen) if len(mixed) == 1 else "")
    torn = sorted(draft.torn + _rest(draft), key=_line)
    facts = _facts(draft, own, met)
    facts["bad_rows"], facts["zero_size_rows"] = len(torn), sum(reason == ZERO_SIZE for reason, _ in met.events)
    ranks, notes = _ranks(draft, name, words[1], seen, facts)
    against = (*contradictions(ranks, notes), *_cut_short(draft, own["size"]))
    if len(mixed) > 1:
        kinds = sorted({" ".join(part.decode("ascii", "replace") for part in parts if part) for parts in mixed})
        notes += (f"the table mixes {len(kinds)} kinds of rows ({', '.join(kinds[:6])}): sizes come several times",)
    out, inside = (float(own["busbw" + suffix].max()) for suffix in ("", IN_PLACE))
    if min(out, inside) > 0 and max(out, inside) > _HALVES_DIFFER * min(out, inside):
        notes += (f"in-place reaches {inside / out:.2g} times the busbw of out-of-place",)
    if draft.layout.assumed:
        notes += (f"no header line: layout {draft.layout.letter} assumed from the number of columns",)
    return Table(
        "nccl-tests", name, "time", own, met.count, ranks, met.line,
        dropped=count_dropped(sorted(met.events + torn, key=_line)), notes=notes, facts=facts, contradictions=against,
    )  # fmt: skip


_FAR = 4
"""A table that ends this factor below the largest size that was asked for did not end by its steps."""


def _cut_short(draft: Draft, size: Floats) -> tuple[str, ...]:
    """A run that stopped before the sizes it was asked for, without the lines that end it."""
    ended = draft.average is not None or draft.out_of_bounds is not None
    if ended or draft.largest is None or draft.largest < _FAR * size.max():
        return ()
    reach = (
        f"stops at {show(size.max(), 'size')} though the run was asked for sizes up to {show(draft.largest, 'size')}"
    )
    return (f"the table {reach}, and its last lines are missing: the run died, or the log was cut",)


def _line(event: tuple[str, int]) -> int:
    return event[1]


def _rest(draft: Draft) -> Events:
    """Right halves whose left half was not met: the others belong to a torn row that is counted already."""
    halves = [(line, True) for line in draft.right_halves]
    halves += [(line, False) for reason, line in draft.torn if reason in (TORN, ERROR_INSIDE)]
    alone: Events = []
    waiting = 0
    for line, right in sorted(halves):
        if not right:
            waiting += 1
        elif waiting:
            waiting -= 1
        else:
            alone.append((TORN, line))
    return alone


def _facts(draft: Draft, own: _Columns, met: _Met) -> dict[str, Fact]:
    facts: dict[str, Fact] = {
        "layout": draft.layout.letter,
        "ranks_listed": draft.listed,
        "rank_highest": draft.highest,
        "peak_busbw": float(own["busbw"].max()),
        "peak_busbw_in_place": float(own["busbw" + IN_PLACE].max()),
        **_correctness(met.verdicts),
    }
    if draft.version:
        facts["version"] = draft.version
    facts |= draft.told
    if draft.average is not None:
        facts["average_busbw"] = draft.average
    if draft.largest is not None:
        facts["largest_asked"] = draft.largest
    if draft.out_of_bounds is not None:
        facts["out_of_bounds"] = draft.out_of_bounds
    return facts


def _correctness(verdicts: _Columns) -> dict[str, Fact]:
    """``wrong`` (rows with wrong elements, or N/A when nothing was checked); ``max_error`` in the old layout."""
    known = [column[~np.isnan(column)] for column in verdicts.values()]
    if not any(len(column) for column in known):
        return {"wrong": "N/A"}
    if "error" in verdicts:
        return {"max_error": max(float(column.max()) for column in known if len(column))}
    return {"wrong": int(np.logical_or.reduce([column > 0 for column in verdicts.values()]).sum())}


def _ranks(
    draft: Draft, name: str, redop: bytes, seen: Ratio | None, facts: dict[str, Fact]
) -> tuple[int | None, tuple[str, ...]]:
    """The number of ranks with notes; what the factor says is put down in ``facts``."""
    facts["factor"] = seen.typical if seen else None
    facts["ranks_from_factor"] = None
    if seen is None:
        return agreed(draft.listed, draft.highest, None)
    if seen.single and draft.listed <= 1 and (draft.highest or 1) == 1:
        facts["ranks_from_factor"] = (1, 1)
        return 1, ("busbw is 0 in every row: one rank, no network was used",)
    if not seen.consistent:
        told = f" ({draft.listed} listed)" if draft.listed else ""
        typical = f"typically {seen.typical:.4g}"
        return None, (f"no factor fits busbw/algbw of all rows ({typical}): number of ranks left open{told}",)
    allowed = interval(name, redop, seen)
    if name == "all_reduce" and seen.high < 1:
        return None, (
            f"busbw is below algbw ({seen.typical:.4g}), impossible for all_reduce: number of ranks left open",
        )
    if allowed and np.isfinite(allowed[1]) and allowed[0] <= allowed[1]:
        facts["ranks_from_factor"] = (int(allowed[0]), int(allowed[1]))
    return agreed(draft.listed, draft.highest, allowed)
