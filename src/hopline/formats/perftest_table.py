"""From perftest's rows to Tables.

What belongs here: what a row's columns give together: gaps, units that must agree, rows that two processes printed, and what
the settings of a run say about its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hopline.formats import perftest_titles as titles
from hopline.formats.drafts import TWICE, Draft
from hopline.formats.lines import excerpt
from hopline.formats.perftest_titles import Test, Titles
from hopline.quantity import show
from hopline.records.table import Floats, Table

TOOL = "perftest"


@dataclass(slots=True)
class Rows(Draft):
    """A draft with the titles of its columns, and its rows as printed."""

    test: Test = field(default_factory=Test)
    titles: Titles = field(default_factory=Titles)
    printed: dict[tuple[bytes, ...], None] = field(default_factory=dict)
    """The rows as printed, in order."""
    open: bool = True
    """No line has ended the table yet: what follows it may be another tool's."""
    warnings: int = 0
    headers: int = 1


def once(drafts: list[Rows]) -> list[Rows]:
    """The drafts without those whose rows all stand in another of the same test: the other side's copy.

    Both sides end with the same row. Each copy goes to one table, and each table takes one copy.
    """
    kept: dict[int, Rows] = {}
    waiting: dict[tuple[Test, Titles, tuple[bytes, ...]], int] = {}
    for number, draft in enumerate(drafts):
        key = (draft.test, draft.titles, next(reversed(draft.printed), ()))
        place = waiting.pop(key, None) if draft.printed else None
        if place is None or not _copies(draft, kept[place]):
            kept[number] = draft
            if draft.headers == 1:
                waiting[key] = number
            continue
        large, small = sorted((kept[place], draft), key=lambda one: len(one.rows), reverse=True)
        large.events += small.events + [(TWICE, line) for line in small.lines]
        large.warnings, large.headers = large.warnings + small.warnings, 2
        kept[place] = large
    return list(kept.values())


def _copies(one: Rows, other: Rows) -> bool:
    small, large = sorted((one.printed.keys(), other.printed.keys()), key=len)
    return small <= large


def table(draft: Rows) -> Table:
    """The Table of a draft that has rows."""
    columns = draft.columns()
    test = draft.test
    facts = draft.facts
    facts |= {"title": test.title, "distinct_rows": len(draft.rows), "header_lines": draft.headers}
    facts |= {"cpu_frequency_warnings": draft.warnings, "first_row": _quoted(draft, 0), "last_row": _quoted(draft, -1)}
    draft.ranks = 2
    if draft.warnings:
        draft.notes.append(f"CPU frequency warnings ({draft.warnings}): perftest counts time in CPU cycles")
    if facts.get("loopback"):
        draft.notes.append("a loopback (both ends have one address): it says nothing about the network")
    if "bandwidth" in columns:
        facts["unit"] = draft.titles.unit
        draft.benchmark = draft.benchmark or "bw"
        return _bandwidth_table(draft, columns)
    key = titles.time_column(draft.names)
    columns = {"size": columns["size"], "time": columns[key], **columns}
    if not test.benchmark:
        draft.notes.append("the log does not name the test: a read or atomic latency would be a whole round trip")
    elif test.round_trip:
        draft.notes.append("a whole round trip: the initiator waits for the answer")
    return draft.table(TOOL, "time", columns)


def _quoted(draft: Rows, place: int) -> str:
    return excerpt(b" ".join(list(draft.printed)[place]))


def _bandwidth_table(draft: Rows, columns: dict[str, Floats]) -> Table:
    """Gaps from the bandwidth, or from the message rate where its printed digits say more."""
    directions = 2 if draft.test.bidirectional else 1
    size, rate = columns["size"], columns["bandwidth"]
    columns["time"] = gaps = size * directions / rate
    if "message_rate" in columns and np.all(columns["message_rate"] > 0):
        by_count = directions / columns["message_rate"]
        finer = _spread(draft, "message_rate") < _spread(draft, "bandwidth")
        columns["time"] = np.where(finer, by_count, gaps)
        spread = _spread(draft, "message_rate") + _spread(draft, "bandwidth")
        if np.any(np.abs(by_count / gaps - 1) > 1.01 * spread + 1e-6):
            draft.notes.append("bandwidth and message rate of a row do not agree: the bandwidth counts")
            columns["time"] = gaps
    if "bandwidth_peak" in columns and not np.all(columns["bandwidth_peak"] > 0):
        peak = columns["bandwidth_peak"]
        columns["bandwidth_peak"] = np.where(peak > 0, peak, np.nan)
        if not np.any(peak > 0):
            del columns["bandwidth_peak"]
            draft.notes.append("BW peak 0 means that it was not measured (duration mode)")
    if directions == 2:
        draft.notes.append("bandwidth is the sum of both directions: a gap is 2 x size / bandwidth, for each direction")
    mtu = draft.facts.get("mtu")
    if draft.facts.get("connection") == "UD" and mtu == size.max():
        draft.notes.append(
            f"range too short: UD messages end at the MTU ({show(size.max(), 'size')}), below any plateau"
        )
    return draft.table(TOOL, "gap", columns)


def _spread(draft: Rows, name: str) -> Floats:
    """Half a unit of the last printed digit over the value, row by row."""
    place = draft.names.index(name)
    scale = draft.titles.scales[place]
    halves = np.array([titles.half(words[place]) for words in draft.printed]) * scale
    return np.asarray(halves / np.array([row[place] for row in draft.rows]), float)
