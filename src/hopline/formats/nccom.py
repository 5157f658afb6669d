"""nccom-test (AWS Neuron): the console table and the JSON report.

What belongs here: its columns and units. Some releases print bandwidths in GiB/s, others in GB/s, both titled
GB/s; size over time tells which. The command line names operation and ranks where it stands in the log.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec
import numpy as np

from hopline.errors import FormatError
from hopline.formats import nccl_ranks
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
from hopline.formats.lines import document, excerpt, shown
from hopline.formats.words import half
from hopline.quantity import convert
from hopline.records.table import Fact, Floats, Log, Table

TOOL = "nccom-test"
MOST = 1 << 26
"""Bytes of a JSON report."""

_UNITS = {"GB/s": GBS, "GiB/s": convert(1, "GiB/s")}
_ENOUGH = 5 * GBS
_TITLES = {
    "size(B)": ("size", 1.0), "count(elems)": ("count", 1.0), "type": ("?type", 1.0), "algorithm": ("?algorithm", 1.0),
    "algbw(GB/s)": ("algbw", 1.0), "busbw(GB/s)": ("busbw", 1.0), "time(us)": ("time", US), "time:avg(us)": ("time", US),
    "total_input_size(B)": ("size_in", 1.0), "total_output_size(B)": ("size_out", 1.0),
}  # fmt: skip
_PERCENTILE = re.compile(r"time:(p[\d.]+)\(us\)")
_ASSUMED = ("size(B)", "count(elems)", "type", "time:avg(us)", "algbw(GB/s)", "busbw(GB/s)")
_ROW = re.compile(rb"\d+[ \t]+\d+[ \t]")
_COMMAND = re.compile(rb"\bnccom-test\s.*")
_WORDS = {
    b"allr": "all_reduce", b"all_reduce": "all_reduce", b"allg": "all_gather", b"all_gather": "all_gather",
    b"redsct": "reduce_scatter", b"reduce_scatter": "reduce_scatter", b"sendrecv": "sendrecv", b"alltoall": "alltoall",
    b"permute": "permute", b"alltoallv": "alltoallv",
}  # fmt: skip
_WORKERS = re.compile(rb"\s(?:-r|--nworkers)[ =](\d{1,7})\b")
_AVERAGE = re.compile(rb"Avg bus bandwidth:\s*([\d.]+)\s*GB/s")
_FAILURES = (b"Failure running", b"errors found", b"is not running", b"test failed")


@dataclass(slots=True)
class _Draft(Draft):
    """A draft with how exactly its numbers are printed."""

    assumed: bool = False
    listed: int | None = None
    halves: list[tuple[float, ...]] = field(default_factory=list)
    """Half a unit of the last digit of time, algbw and busbw, row by row."""
    average: float | None = None


def read(path: str) -> Log:
    """All tables of a nccom-test log, never merged. Raises FormatError where it cannot be read or no row is usable."""
    reader = _Reader()
    notes = feed(path, reader)
    tables = [_table(draft) for draft in reader.drafts if draft.rows]
    left = [event for draft in reader.drafts if not draft.rows for event in draft.events]
    nothing = "no row: a table's header and nothing under it" if reader.drafts else "no nccom-test table"
    return log(path, TOOL, tables, reader.alarm, nothing, left, notes)


@dataclass(slots=True)
class _Reader:
    """Where in the log we are."""

    drafts: list[_Draft] = field(default_factory=list)
    alarm: Alarm = field(default_factory=lambda: Alarm(_FAILURES))
    benchmark: str = ""
    listed: int | None = None
    open: bool = False

    def line(self, raw: bytes, number: int, alarmed: bool) -> None:
        """One stripped line."""
        text = raw.strip()
        if text.startswith(b"size(B)"):
            self.header([plain(word) for word in text.split()], False)
        elif _ROW.match(text):
            self.row(text.split(), number)
        elif average := _AVERAGE.match(text):
            if self.drafts and (value := numbers([average[1]])):
                self.drafts[-1].average = value[0]
            self.open = False
        elif command := _COMMAND.search(text):
            words = command[0].split()
            self.benchmark = next((_WORDS[word] for word in words if word in _WORDS), "")
            workers = _WORKERS.search(command[0])
            self.listed = int(workers[1]) if workers else None
        if alarmed:
            self.alarm.hear(text, number)

    def header(self, titles: list[str], assumed: bool) -> None:
        """Titles: a new table."""
        names = tuple(_column(title)[0] for title in titles)
        if not {"size", "time", "algbw", "busbw"} <= set(names) or len(set(names)) != len(names):
            return
        self.drafts.append(_Draft(self.benchmark, names, assumed=assumed, listed=self.listed))
        self.open = True

    def row(self, words: list[bytes], number: int) -> None:
        """The words under the titles."""
        if not self.open:
            if len(words) != len(_ASSUMED) or not words[2][:1].isalpha():
                return
            self.header(list(_ASSUMED), True)
        draft = self.drafts[-1]
        values = _values(draft.names, words)
        if not values:
            draft.drop(TORN, number)
            return
        named = dict(zip(draft.names, values, strict=True))
        sane = sane_size(named["size"]) and sane_time(named["time"]) and all(map(np.isfinite, values))
        if not sane or named["algbw"] < 0 or named["busbw"] < 0:
            draft.drop(BAD_VALUE, number)
            return
        draft.add(values, number)
        draft.halves.append(tuple(half(words[draft.names.index(name)]) for name in ("time", "algbw", "busbw")))


def _column(title: str) -> tuple[str, float]:
    if title in _TITLES:
        return _TITLES[title]
    percentile = _PERCENTILE.fullmatch(title)
    return (f"time_{percentile[1]}", US) if percentile else (f"?{title}", 1.0)


def _values(names: tuple[str, ...], words: list[bytes]) -> list[float]:
    """A row in SI, but for the bandwidths; empty where it is not whole."""
    if len(words) != len(names):
        return []
    found = numbers(b"0" if name.startswith("?") else word for name, word in zip(names, words, strict=True))
    return [value * (US if name.startswith("time") else 1.0) for name, value in zip(names, found, strict=bool(found))]


def _table(draft: _Draft) -> Table:
    columns = draft.columns()
    halves = np.array(draft.halves)
    unit = _unit(columns["size"] / columns["time"], columns["algbw"], halves[:, 1], halves[:, 0] * US / columns["time"])
    facts: dict[str, Fact] = {"unit": unit or None, "workers_stated": draft.listed}
    if draft.assumed:
        draft.notes.append("no header line: columns assumed from their number")
    if not unit:
        draft.notes.append("algbw is neither GB/s nor GiB/s of size / time: bandwidth columns left out")
    scale = _UNITS.get(unit, GBS)
    if unit == "GiB/s":
        draft.notes.append("GB/s is GiB/s in this release (size / time tells)")
    if draft.average is not None and unit:
        facts["average_busbw"] = draft.average * scale
    draft.facts = facts
    algbw, busbw = columns.pop("algbw") * scale, columns.pop("busbw") * scale
    _ranks(draft, algbw, busbw, halves[:, 1:] * scale)
    if unit:
        columns |= {"algbw": algbw, "busbw": busbw}
    return draft.table(TOOL, "time", columns)


def _unit(rate: Floats, algbw: Floats, halves: Floats, spread: Floats) -> str:
    """The unit in which all printed bandwidths are size / time; GB/s where both are (too few digits to tell)."""
    for unit, scale in _UNITS.items():
        if np.all(np.abs(rate / scale - algbw) <= 1.01 * (halves + spread * rate / scale)):
            return unit
    return ""


def _ranks(draft: _Draft, algbw: Floats, busbw: Floats, halves: Floats) -> None:
    """Operation and number of ranks from the bus factor, against those stated."""
    low, high = nccl_ranks.ratio_interval(algbw, busbw, halves[:, 0], halves[:, 1])
    seen = nccl_ranks.ratio(algbw, busbw, low, high, _ENOUGH)
    draft.facts["factor"] = seen.typical if seen else None
    if not draft.benchmark and seen and seen.consistent and seen.low > 1:
        draft.benchmark = "all_reduce"
    allowed = nccl_ranks.interval(draft.benchmark, b"", seen)
    if allowed and np.isfinite(allowed[1]) and allowed[0] <= allowed[1]:
        draft.facts["ranks_from_factor"] = (int(allowed[0]), int(allowed[1]))
    if draft.listed is not None and seen and not seen.consistent:
        allowed = None
    draft.state_ranks(*nccl_ranks.agreed(draft.listed or 0, draft.listed, allowed))


class _Report(msgspec.Struct):
    results: list[dict[str, int | float | str | None]] = []


def read_json(path: str) -> Log:
    """A report that ``--report-to-json-file`` wrote: one table. Raises FormatError where it is not whole."""
    try:
        report = msgspec.json.decode(document(path, MOST), type=_Report)
    except (msgspec.DecodeError, UnicodeError) as error:
        told = excerpt(str(error).encode())
        raise FormatError(f"{shown(path)}: not a whole nccom-test report ({told}); copy it again") from None
    names = [name for row in report.results[:1] for name in row]
    reader = _Reader()
    reader.header(names, False)
    for number, row in enumerate(report.results, 1):
        words = [str(row.get(name)).encode() for name in names]
        if reader.drafts:
            reader.row(words, number)
    tables = [_table(draft) for draft in reader.drafts if draft.rows]
    left = [event for draft in reader.drafts if not draft.rows for event in draft.events]
    return log(path, TOOL, tables, reader.alarm, "a report without a result", left, ())
