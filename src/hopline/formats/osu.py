"""OSU micro-benchmarks (OMB): point-to-point, multi-pair and collective tests of any release.

What belongs here: OMB's titles and columns. MB is 1e6 bytes; latency is half a round trip between two ranks, an average
over ranks in collectives. A bandwidth test streams messages, so its table holds gaps, never latencies: the time a
message adds to the stream of one pair in one direction, which is size / bandwidth, times the number of pairs where the
printed bandwidth is the sum over pairs (mbw_mr), times two where it is the sum of both directions (bibw).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hopline.errors import FormatError
from hopline.formats.drafts import bounded
from hopline.formats.lines import blocks, excerpt, quoted, shown, split, tells_failure
from hopline.formats.ucx_lines import Protocols
from hopline.quantity import convert
from hopline.records.table import Fact, Floats, Log, Measure, Table, count_dropped

TOOL = "osu"

_TITLE = re.compile(r"OSU (?P<name>.+? Test)\s*(?:v|\(Version )?(?P<version>\d[\w.]*)?")
_BENCHMARKS = {
    r"multiple bandwidth|message rate": "mbw_mr", r"bi-?dir\w*\W+bandwidth": "bibw", r"multi latency": "multi_lat",
    r"multi-?(?:threaded|process) latency": "latency_mt", r"all-?to-?allv": "alltoallv", r"all-?to-?all": "alltoall",
    r"allgatherv": "all_gatherv", r"allgather": "all_gather", r"allreduce": "all_reduce",
    r"reduce[_-]scatter": "reduce_scatter", r"reduce": "reduce", r"bcast|broadcast": "broadcast", r"gatherv": "gatherv",
    r"gather": "gather", r"scatterv": "scatterv", r"scatter": "scatter", r"barrier": "barrier", r"put": "put",
    r"get": "get", r"bandwidth": "bw", r"latency": "latency",
}  # fmt: skip
"""Part of a title -> benchmark, in nccl-tests' words where it has them; the first that is found counts."""
_VARIANTS = {r"non-?blocking": "nonblocking_", r"persistent": "persistent_", r"neighbo": "neighborhood_"}
_PAIR_TESTS = ("latency", "bw", "bibw", "put_latency", "put_bw", "get_latency", "get_bw")

_US, _MBS = convert(1, "us"), convert(1, "MB/s")
_COLUMNS = {
    "size": ("size", 1.0), "latency(us)": ("time", _US), "avglatency(us)": ("time", _US), "overall(us)": ("time", _US),
    "minlatency(us)": ("time_min", _US), "maxlatency(us)": ("time_max", _US), "iterations": ("iterations", 1.0),
    "bandwidth(mb/s)": ("bandwidth", _MBS), "bi-bandwidth(mb/s)": ("bandwidth", _MBS), "mb/s": ("bandwidth", _MBS),
    "messages/s": ("message_rate", 1.0), "compute(us)": ("compute", _US), "purecomm.(us)": ("communication", _US),
    "overlap(%)": ("overlap", 0.01), "coll.init(us)": ("start", _US), "mpi_test(us)": ("test", _US),
    "mpi_wait(us)": ("wait", _US), "p50taillat(us)": ("time_p50", _US), "p90taillat(us)": ("time_p90", _US),
    "p99taillat(us)": ("time_p99", _US), "validation": ("validation", 1.0),
}  # fmt: skip
"""Title of a column without blanks -> its name here and what one of the printed unit is in SI."""

_SETTING = re.compile(r"\[ *(pairs|window size): *([1-9]\d{0,8}) *\]")
_MEMORY = re.compile(r"Send Buffer on \w+ \((\w+)\) and Receive Buffer on \w+ \((\w+)\)")
_HOSTS = re.compile(rb"[\w.-]+[ ,]+[\w.-]+")
_ROW = re.compile(rb"\d+(?:\.\d+)?(?:[ \t]|$)")

FAILED = "validation failed"
TORN = "torn row: not as many numbers as columns"
BAD_VALUE = "the time or bandwidth cannot be: not above 0, or beyond all reason"
LATE = "row after an interruption of its table"


@dataclass(slots=True)
class _Draft:
    """A table while its lines are read."""

    title: str
    version: str
    hosts: str
    benchmark: str
    columns: tuple[tuple[str, float], ...] = ()
    open: bool = True
    first: int = 0
    facts: dict[str, Fact] = field(default_factory=dict)
    rows: list[list[float]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    events: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bidirectional: bool = False

    @property
    def met(self) -> int:
        """All rows under the header."""
        return len(self.rows) + len(self.events)


def read(path: str) -> Log:
    """All tables of an OMB log, never merged.

    Raises FormatError when the file cannot be read or no table in it has a usable row.
    """
    notes: list[str] = []
    reader = _Reader()
    for block in blocks(path, notes):
        bounded(path, sum(draft.met for draft in reader.drafts))
        reader.alarmed = tells_failure(block.text)
        for number, raw in split(block):
            reader.line(raw.strip(), number)
    drafts = [draft for draft in reader.drafts if draft.columns]
    for draft in drafts:
        draft.facts.update(reader.protocols.facts())
    tables = [table for table in map(_table, drafts) if table is not None]
    if not tables:
        raise FormatError(f"{shown(path)}: {reader.nothing()}")
    if reader.error is not None:
        notes.append(f"an error stands beside the rows, first at line {reader.error[0]}: {excerpt(reader.error[1])}")
    empty = [draft for draft in drafts if not draft.rows]
    notes += [f"no usable row under the header of {draft.title!r}" for draft in empty]
    left = sorted((event for draft in empty for event in draft.events), key=lambda event: event[1])
    return Log(path, TOOL, tuple(tables), count_dropped(left), tuple(notes))


@dataclass(slots=True)
class _Reader:
    """Where in the log we are."""

    drafts: list[_Draft] = field(default_factory=list)
    hosts: str = ""
    error: tuple[int, bytes] | None = None
    alarmed: bool = False
    protocols: Protocols = field(default_factory=Protocols)

    def line(self, raw: bytes, number: int) -> None:
        """One stripped line."""
        if self.protocols.line(raw):
            return
        if raw[:1] == b"#":
            self._comment(raw[1:].decode("utf-8", "replace").strip())
        elif _ROW.match(raw) and self.drafts and self.drafts[-1].columns:
            _row(self.drafts[-1], raw.split(), number)
        elif raw:
            if self.drafts and self.drafts[-1].rows:
                self.drafts[-1].open = False
            self.hosts = excerpt(raw) if len(raw) < 200 and _HOSTS.fullmatch(raw) else ""
            if self.alarmed and self.error is None and tells_failure(raw):
                self.error = (number, raw)

    def _comment(self, text: str) -> None:
        title = _TITLE.match(text)
        if title:
            name, version = title["name"], title["version"] or ""
            self.drafts.append(_Draft(name, version, self.hosts, _benchmark(name)))
        elif self.drafts:
            draft = self.drafts[-1]
            columns = _columns(text)
            if columns and draft.columns:
                draft = _Draft(draft.title, draft.version, draft.hosts, draft.benchmark)
                self.drafts.append(draft)
            if columns:
                draft.columns = columns
                draft.bidirectional = draft.benchmark == "bibw" or "bi-bandwidth" in text.lower()
            draft.facts.update(_stated(text))

    def nothing(self) -> str:
        """Why there is no table."""
        said = (quoted(*self.error) if self.error else "") + self.protocols.said
        events = [event for draft in self.drafts for event in draft.events]
        if events:
            return f"no usable row: {', '.join(map(str, count_dropped(events)))}{said}"
        if self.drafts:
            last = self.drafts[-1]
            version = f" v{last.version}" if last.version else ""
            return f"no row: the header of {last.title + version!r} and nothing under it{said}"
        return f"no OSU table{said}"


def _benchmark(title: str) -> str:
    title = title.lower()
    name = next((name for part, name in _BENCHMARKS.items() if re.search(part, title)), "")
    if name in ("put", "get"):
        name += "_bw" if "bandwidth" in title else "_latency"
    return "".join(prefix for part, prefix in _VARIANTS.items() if re.search(part, title)) + name


def _columns(text: str) -> tuple[tuple[str, float], ...]:
    """Columns of a header line; empty for any other comment. Titles hold blanks, so they are parted by two or more."""
    titles = [re.sub(r"\s", "", title).lower() for title in re.split(r"\s{2,}|\t", text)]
    known = [_COLUMNS.get(title) for title in titles]
    if known[0] is None or not {"time", "bandwidth"} & {column[0] for column in known if column}:
        return ()
    named = tuple(column or (f"?{title}", 1.0) for column, title in zip(known, titles, strict=True))
    return named if len({name for name, _ in named}) == len(named) else ()


def _stated(text: str) -> Iterator[tuple[str, Fact]]:
    """Pairs, window and kinds of memory (H host, D device, M managed) that a comment states."""
    for name, value in _SETTING.findall(text):
        yield name.split()[0], int(value)
    memory = _MEMORY.search(text)
    if memory:
        yield from (("memory_send", memory[1]), ("memory_receive", memory[2]))


def _row(draft: _Draft, words: list[bytes], line: int) -> None:
    """Take a row, or note why not."""
    draft.first = draft.first or line
    if not draft.open:
        if len(words) == len(draft.columns) and words[0].isdigit() and int(words[0][:20]) > draft.rows[-1][0]:
            draft.events.append((LATE, line))
        return
    names = [name for name, _ in draft.columns]
    verdict = words[-1] if names[-1] == "validation" else b""
    if names[-1] == "validation" and len(words) == len(names):
        key = "validation_pass" if verdict == b"Pass" else "validation_fail"
        draft.facts[key] = int(str(draft.facts.get(key, 0))) + 1
        words = words[:-1]
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != len(names) - (names[-1] == "validation"):
        draft.events.append((TORN, line))
    elif verdict not in (b"", b"Pass"):
        draft.events.append((FAILED, line))
    elif not _sound(dict(zip(names, values, strict=False))):
        draft.events.append((BAD_VALUE, line))
    else:
        draft.rows.append(values)
        draft.printed.append(b" ".join(words[:2]).decode("ascii", "replace"))


def _sound(row: dict[str, float]) -> bool:
    value = row.get("time", row.get("bandwidth", 0.0))
    size = row.get("size", 0.0)
    return 1e-12 < value < 1e18 and 0 <= size < 2**63 and size == int(size) and ("time" in row or size > 0)


def _table(draft: _Draft) -> Table | None:
    if not draft.rows:
        return None
    columns: dict[str, Floats] = {}
    for place, (name, scale) in enumerate(draft.columns):
        if name != "validation" and not name.startswith("?"):
            column = np.array([row[place] for row in draft.rows])
            columns[name] = column if scale == 1.0 else column * scale
    columns.setdefault("size", np.zeros(len(draft.rows)))
    measure: Measure = "time" if "time" in columns else "gap"
    pairs = draft.facts.get("pairs")
    if measure == "gap":
        messages = (pairs if isinstance(pairs, int) else 1) * (2 if draft.bidirectional else 1)
        columns["time"] = columns["size"] * messages / columns["bandwidth"]
        _note_gap(draft, messages)
    facts: dict[str, Fact] = {"title": draft.title, "version": draft.version, **draft.facts}
    facts |= {"first_row": draft.printed[0], "last_row": draft.printed[-1]}
    return Table(
        TOOL, draft.benchmark, measure, columns, draft.met, _ranks(draft.benchmark, pairs), draft.first, draft.hosts,
        count_dropped(draft.events), tuple(draft.notes), facts,
    )  # fmt: skip


def _note_gap(draft: _Draft, messages: int) -> None:
    if draft.bidirectional:
        draft.notes.append("bandwidth is the sum of both directions: a gap is 2 x size / bandwidth, for each direction")
    elif messages > 1:
        draft.notes.append(f"bandwidth is the sum over {messages} pairs: a gap is for each pair")
    elif draft.benchmark == "mbw_mr" and "pairs" not in draft.facts:
        draft.notes.append("the number of pairs is not stated: a gap is for all pairs together")


def _ranks(benchmark: str, pairs: Fact) -> int | None:
    if isinstance(pairs, int) and pairs > 0:
        return 2 * pairs
    return 2 if benchmark in _PAIR_TESTS else None
