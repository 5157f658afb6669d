"""ucc_perftest: the console table of UCC's collective benchmark.

What belongs here: its header and columns (tools/perf/ucc_pt_benchmark.cc of UCC). Size is count x element size: of an
all-gather it is what one rank gives, and the result is that times the number of ranks. GB/s is 1e9 byte/s; the maximum of
bandwidths belongs to the minimum of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from hopline.formats.drafts import (
    BAD_VALUE,
    GBS,
    TORN,
    US,
    Alarm,
    Draft,
    feed,
    log,
    numbers,
    plain,
    sane_size,
    sane_time,
)
from hopline.formats.nccl_ranks import Ratio, agreed, interval
from hopline.records.table import Fact, Floats, Log, Table

TOOL = "ucc_perftest"
_HALF = 0.005
"""Half a unit of the last digit of times and bandwidths."""

_SETTING = re.compile(rb"(Collective|Memory type|Datatype|Reduction|Inplace|small|large):?\s+(\S.*)")
_HEADER = re.compile(rb"Count\s+Size\s+Time, us(\s+(?:Bus )?Bandwidth, GB/s)?")
_ROW = re.compile(rb"(?:\d+|N/A)\s+(?:\d+|N/A)\s+[\d.]")
_TIMES = ("count", "size", "time", "time_min", "time_max")
_BANDWIDTHS = ("bandwidth", "bandwidth_max", "bandwidth_min")
_SCALES = {"count": 1.0, "size": 1.0, "time": US, "time_min": US, "time_max": US} | dict.fromkeys(_BANDWIDTHS, GBS)
_WORDS = {
    "allreduce": "all_reduce", "allgather": "all_gather", "allgatherv": "all_gatherv", "reduce_scatter": "reduce_scatter",
    "reduce_scatterv": "reduce_scatterv", "bcast": "broadcast", "alltoall": "alltoall", "alltoallv": "alltoallv",
    "barrier": "barrier", "gather": "gather", "gatherv": "gatherv", "scatter": "scatter", "scatterv": "scatterv",
    "reduce": "reduce", "memcpy": "memcpy",
}  # fmt: skip
_PER_RANK = ("all_gather", "all_gatherv", "gather", "gatherv", "scatter", "scatterv")
_FAILURES = (b"UCC  ERROR", b"UCC perftest error", b"ucc error", b"ucc_perftest: error")


def read(path: str) -> Log:
    """All tables of a ucc_perftest log, never merged. Raises FormatError where it cannot be read or no row is usable."""
    reader = _Reader()
    notes = feed(path, reader)
    drafts = [draft for draft in reader.drafts if draft.names]
    tables = [_table(draft) for draft in drafts if draft.rows]
    left = [event for draft in drafts if not draft.rows for event in draft.events]
    nothing = "no row: a table's header and nothing under it" if drafts else "no ucc_perftest table"
    return log(path, TOOL, tables, reader.alarm, nothing, left, notes)


@dataclass(slots=True)
class _Reader:
    """Where in the log we are."""

    drafts: list[Draft] = field(default_factory=list)
    alarm: Alarm = field(default_factory=lambda: Alarm(_FAILURES))
    settings: dict[str, str] = field(default_factory=dict)
    section: str = ""
    ended: bool = False
    """A line that is no row came after the last table's rows: what follows may be another tool's."""

    def line(self, raw: bytes, number: int, alarmed: bool) -> None:
        """One stripped line."""
        text = raw.strip()
        if header := _HEADER.match(text):
            self._open(header[1] is not None)
        elif _ROW.match(text):
            if self.drafts:
                _row(self.drafts[-1], text.split(), number, self.ended)
        elif setting := _SETTING.match(text):
            name = plain(setting[1])
            if name == "Collective":
                self.settings = {}
            self.settings[f"{self.section} {name}" if name in ("small", "large") else name] = plain(setting[2])
        elif text in (b"Warmup:", b"Iterations:"):
            self.section = plain(text[:-1])
        if not _ROW.match(text) and self.drafts and self.drafts[-1].rows:
            self.ended = True
        if alarmed:
            self.alarm.hear(text, number)

    def _open(self, full: bool) -> None:
        draft = Draft(
            _WORDS.get(self.settings.get("Collective", "").lower(), ""), _TIMES + (_BANDWIDTHS if full else ())
        )
        draft.facts = _facts(self.settings)
        self.drafts.append(draft)
        self.ended = False


def _facts(settings: dict[str, str]) -> dict[str, Fact]:
    names = {"Memory type": "memory", "Datatype": "type", "Reduction": "redop", "Inplace": "in_place"}
    return {fact: settings[name] for name, fact in names.items() if name in settings}


def _row(draft: Draft, words: list[bytes], number: int, ended: bool) -> None:
    """Take a row, or note why not. A barrier has no size: 0; a bandwidth that is N/A is left open.

    Size over count is that of an element in all rows: where it is not, the row is another tool's.
    """
    if len(words) != len(draft.names):
        if not ended:
            draft.drop(TORN, number)
        return
    filled = [(b"0" if place < 2 else b"nan") if word == b"N/A" else word for place, word in enumerate(words)]
    values = [value * _SCALES[name] for name, value in zip(draft.names, numbers(filled), strict=False)]
    if len(values) != len(words):
        draft.drop(TORN, number)
    elif not (sane_size(values[1]) and all(map(sane_time, values[2:5]))):
        draft.drop(BAD_VALUE, number)
    elif not draft.rows or values[0] * draft.rows[0][1] == values[1] * draft.rows[0][0]:
        draft.add(values, number)


def _table(draft: Draft) -> Table:
    columns = {name: column for name, column in draft.columns().items() if not np.all(np.isnan(column))}
    if "bandwidth" in columns and draft.benchmark in ("all_reduce", "reduce_scatter"):
        _ranks(draft, columns)
    if draft.benchmark in _PER_RANK:
        draft.notes.append("size is what one rank gives or gets, not the whole buffer")
    return draft.table(TOOL, "time", columns)


def _ranks(draft: Draft, columns: dict[str, Floats]) -> None:
    """The number of ranks from bandwidth x time / size, which is the bus factor of nccl-tests."""
    size, time, bandwidth = columns["size"], columns["time"], columns["bandwidth"]
    shown = (bandwidth > 0) & (size > 0)
    if not shown.any():
        return
    size, time, bandwidth = size[shown], time[shown], bandwidth[shown]
    low = (bandwidth - _HALF * GBS) * (time - _HALF * US) / size
    high = (bandwidth + _HALF * GBS) * (time + _HALF * US) / size
    seen = Ratio(float(np.median(bandwidth * time / size)), float(low.max()), float(high.min()))
    allowed = interval(draft.benchmark, b"", seen)
    draft.facts["factor"] = seen.typical
    if allowed and allowed[0] <= allowed[1] < np.inf:
        draft.facts["ranks_from_factor"] = (int(allowed[0]), int(allowed[1]))
    draft.state_ranks(*agreed(0, None, allowed))
