"""ucx_perftest: its box of any release, one row a second, in a batch, or the final row only.

What belongs here: the box's titles and rows. MB/s is 2^20 byte/s and a message rate rounds to whole messages
(``print_progress`` in UCX's src/tools/perf/perftest_run.c). The time columns say "latency" for a ping-pong (half a round
trip) and "overhead" for a stream, where they are the gap between messages. A row repeats one size: its interval counts,
the "overall" columns hold all intervals so far. The size stands in the box only where a run was started with ``-v`` or
alike, so it is worked out from bandwidth and time where nothing states it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from hopline.formats.drafts import BAD_VALUE, MIBS, TORN, US, Alarm, Draft, feed, log, plain, sane_size, sane_time
from hopline.formats.ucx_lines import Protocols
from hopline.formats.ucx_sizes import WORDS, Printed, common, stated_by
from hopline.quantity import show
from hopline.records.table import Floats, Log, Measure, Table

TOOL = "ucx_perftest"

_BOX = re.compile(rb"\|\s*(\w[\w ]*?)\s*:\s+(.*?)\s*\|$")
_KIND = re.compile(rb"\b(latency|overhead) \(usec\)")
_TITLES = re.compile(rb"\|\s*(?:(?:Stage|Test)\s*\|\s*)?#? ?iterations\s*\|(?:\s*(typical|[\d.]+%ile)\s*\|)?")
_COMMAND = re.compile(rb"\bucx_perftest\b.*")
_SIZE_OPTION = re.compile(rb"\s-s\s*(\d{1,18})\b(?![,\d])")
_TEST_OPTION = re.compile(rb"\s-t\s*(\w+)")
_NAME_LINE = re.compile(rb"\+-?([A-Za-z0-9_][\w/.]*?)-{2,}[-+]*\+$")
_ROW = re.compile(rb"(?:(\[thread \d+\])|(Final:)|([A-Za-z][\w/]*))?\s*((?:[\d.,]+\s+){3,7}[\d.,]+)(?:\s|$)")
_CSV = re.compile(
    rb"(?:[\w/.-]*,)*(iterations,(typical|[\d.]+_percentile)_lat,avg_lat,overall_lat,avg_bw,overall_bw,\S+)"
)
_FAILURES = (b"UCX  ERROR", b"Failed to run test", b"Connection refused", b"failed to connect")
_TESTS = re.compile(r"(?:ucp_)?((?:tag_sync|tag|put|get|am|stream|add|fadd|swap|cswap)(?:_lat|_bw|_mr)?)$")
_DESCRIBED = {
    r"tag sync": "tag_sync", r"tag": "tag", r"\bput\b": "put", r"\bget\b": "get", r"active message|\bam\b": "am",
    r"stream": "stream", r"fetch-and-add": "fadd", r"compare-and-swap": "cswap", r"swap": "swap", r"atomic add": "add",
}  # fmt: skip
"""Words of a test's description -> what moves the data; the first that is found counts."""

_ROUND_TRIPS = ("get_latency", "fadd_latency", "swap_latency", "cswap_latency")
NO_SIZE = "no message size is stated, and none fits bandwidth x time of all rows"
_STEADY = 0.02
"""Spread of intervals that make a plateau, over their middle."""
_SINKING = 1.05
_JITTER = 2.0


@dataclass(slots=True)
class _Draft(Draft):
    """One box, or the rows of one test of a batch."""

    measure: Measure | None = None
    percentile: str = ""
    described: str = ""
    stated: float | None = None
    printed: list[Printed] = field(default_factory=list)
    final: list[Printed] = field(default_factory=list)
    ended: bool = False
    """Iterations, which only grow, became fewer: rows without a label are another tool's from there on."""
    threads: set[bytes] = field(default_factory=set)
    last: bytes = b""
    groups: int = 0
    """Messages of how many sizes came so far."""


def read(path: str) -> Log:
    """All boxes of a ucx_perftest log, never merged.

    Raises FormatError when the file cannot be read or no box in it has a usable row.
    """
    reader = _Reader()
    notes = feed(path, reader)
    reader.close_group()
    tables = [table for table in (_table(draft, reader.protocols) for draft in reader.drafts) if table is not None]
    left = [event for draft in reader.drafts if not draft.rows for event in draft.events]
    nothing = "no row: a box and nothing under it" if reader.drafts else "no ucx_perftest result"
    return log(path, TOOL, tables, reader.alarm, nothing + reader.protocols.said, left, notes)


@dataclass(slots=True)
class _Reader:
    """Where in the log we are."""

    drafts: list[_Draft] = field(default_factory=list)
    protocols: Protocols = field(default_factory=Protocols)
    alarm: Alarm = field(default_factory=lambda: Alarm(_FAILURES))
    box: dict[str, str] = field(default_factory=dict)
    measure: Measure | None = None
    option_test: str = ""
    option_size: float | None = None
    csv: bool = False

    def line(self, raw: bytes, number: int, alarmed: bool) -> None:
        """One stripped line."""
        text = raw.strip()
        if alarmed:
            self.alarm.hear(text, number)
        if text[:1] == b"[" and self.protocols.line(text):
            return
        if text[:1] == b"|":
            self._boxed(text)
        elif text[:1] == b"+":
            name = _NAME_LINE.match(text)
            if name and self.drafts:
                self.named(plain(name[1]))
        elif match := _CSV.match(text):
            self.csv = True
            self._open(match[2])
        elif command := _COMMAND.search(text):
            size, test = _SIZE_OPTION.search(command[0]), _TEST_OPTION.search(command[0])
            self.option_size = float(size[1]) if size else None
            self.option_test = plain(test[1]) if test else ""
        elif self.drafts:
            self._row(text, number)

    def _boxed(self, text: bytes) -> None:
        if kind := _KIND.search(text):
            self.measure = "time" if kind[1] == b"latency" else "gap"
        elif titles := _TITLES.match(text):
            self._open(titles[1] or b"")
        elif entry := _BOX.match(text):
            if entry[1] == b"API":
                self.box = {}
            self.box[plain(entry[1])] = plain(entry[2])

    def _open(self, percentile: bytes) -> None:
        self.close_group()
        draft = _Draft(percentile=plain(percentile), measure=self.measure, described=self.box.get("Test", ""))
        size = self.box.get("Message size", "")
        draft.stated = float(size) if size.isdigit() and len(size) < 19 else self.option_size
        match = _TESTS.match(self.option_test)
        draft.benchmark = match[1] if match and not draft.described else ""
        self.drafts.append(draft)
        self.box = {}

    def named(self, name: str) -> None:
        """A test of a batch, such as ``tag_lat/1024``: a test of its own or one more size of the last."""
        self.close_group()
        last = self.drafts[-1]
        tests = [match[1] for part in name.split("/") if (match := _TESTS.match(part))]
        if tests and tests[0] != last.benchmark:
            if last.benchmark or last.rows:
                last = _Draft(percentile=last.percentile, measure=self.measure)
                self.drafts.append(last)
            last.benchmark = tests[0]
        last.stated = None

    def close_group(self) -> None:
        """No more rows of one size: its intervals, or else its final row."""
        if not self.drafts:
            return
        draft = self.drafts[-1]
        rows = draft.printed or draft.final[-1:]
        size = (common(rows) if draft.stated is None else draft.stated) if rows else math.nan
        for printed in rows:
            if sane_size(size):
                draft.add((size, *printed.values()), printed.line)
                draft.last = printed.text
            else:
                draft.drop(NO_SIZE, printed.line)
        if draft.printed or draft.final:
            draft.groups += 1
        draft.facts["final_rows"] = int(str(draft.facts.get("final_rows", 0))) + len(draft.final)
        draft.printed, draft.final = [], []

    def _row(self, text: bytes, number: int) -> None:
        draft = self.drafts[-1]
        match = _ROW.match(text.replace(b",", b" ") if self.csv else text)
        if match is None:
            if text.startswith((b"[thread", b"Final:")):
                draft.drop(TORN, number)
            return
        if match[3]:
            self.named(plain(match[3]))
            draft = self.drafts[-1]
        if match[1]:
            draft.threads.add(match[1])
        words = match[4].split()
        bare = not any(match.group(1, 2, 3))
        if bare and (len(words) != WORDS or match.end(4) < len(text) or draft.final or draft.ended):
            return
        printed = Printed.of(words, number, bool(match[2] or match[3]))
        if bare and printed and draft.printed and printed.iterations <= draft.printed[-1].iterations:
            draft.ended = True
            return
        if printed is None:
            draft.drop(TORN, number)
        elif not (sane_time(printed.time * US) and sane_time(printed.bandwidth * MIBS)):
            draft.drop(BAD_VALUE, number)
        else:
            (draft.final if match[2] or match[3] else draft.printed).append(printed)


def _table(draft: _Draft, protocols: Protocols) -> Table | None:
    if not draft.rows:
        return None
    rank = re.fullmatch(r"([\d.]+?)(?:\.0)?(?:%ile|_percentile)", draft.percentile)
    draft.names = ("size", *(f"time_p{rank[1]}" if rank and name == "time_p50" else name for name in Printed.NAMES))
    columns = draft.columns()
    measure = draft.measure or ("time" if "lat" in draft.benchmark + draft.described.lower() else "gap")
    if draft.measure is None:
        by = "by the test's name" if draft.described or draft.benchmark else "as gaps between messages"
        draft.notes.append(f"no line says whether times are latencies or gaps: taken {by}")
    draft.benchmark = _benchmark(draft, measure, protocols)
    draft.facts |= {"time_column": "latency" if measure == "time" else "overhead", "percentile": draft.percentile}
    draft.facts |= {"last_row": plain(draft.last), **protocols.facts()}
    draft.ranks = 2
    if draft.benchmark in _ROUND_TRIPS:
        draft.notes.append("a whole round trip: the initiator waits for the answer")
    if len(draft.threads) > 1:
        draft.notes.append(f"rows of {len(draft.threads)} threads: each is the share of one")
    if draft.described:
        draft.facts["title"] = draft.described
    if draft.stated is None:
        draft.notes.append(stated_by(columns["size"], columns["time"], columns["bandwidth"], draft.groups))
    if draft.groups == 1 and len(draft.rows) > 2:
        draft.notes += _over_time(columns["bandwidth"], columns["bandwidth_overall"])
    return draft.table(TOOL, measure, columns)


def _benchmark(draft: _Draft, measure: Measure, protocols: Protocols) -> str:
    """``put_bw``, ``tag_latency``: what moves the data, and how it was measured; "" where a latency's kind is unknown."""
    told = draft.benchmark or draft.described.lower() or protocols.operation.lower().replace("ucp_", "ucp ")
    base = re.sub(r"_(?:lat|bw|mr)$", "", draft.benchmark) if draft.benchmark else ""
    if not base:
        base = next((word for pattern, word in _DESCRIBED.items() if re.search(pattern, told)), "")
    if not base:
        return "bw" if measure == "gap" else ""
    return f"{base}_{'latency' if measure == 'time' else 'bw'}"


def _over_time(interval: Floats, overall: Floats) -> list[str]:
    """Whether the second half of the intervals is steady, and what the overall column then misses."""
    later = interval[len(interval) // 2 :]
    middle = float(np.median(later))
    if np.ptp(later) <= _STEADY * middle:
        if overall[-1] > _SINKING * middle and np.all(np.diff(overall) <= 0):
            return [f"the log's overall column keeps sinking: the interval column is the plateau "
                    f"({show(middle, 'bandwidth')})"]  # fmt: skip
        return []
    if interval.max() < _JITTER * interval.min():
        return []
    return [f"unstable, no plateau: intervals from {show(interval.min(), 'bandwidth')} to "
            f"{show(interval.max(), 'bandwidth')}"]  # fmt: skip
