"""perftest (ib_write_bw, ib_send_lat and the like): console output of any release.

What belongs here: perftest's titles, columns and units. "MB" is 2^20 bytes, whether printed as MB or MiB, and Gb is 1e9 bits
(``format_factor`` in its perftest_parameters.c). A latency is half a round trip, of read and atomic a whole one. A
bandwidth test streams messages over all queue pairs, so its table holds gaps; bidirectional tests print the sum of both
directions. Every row stands twice where server and client write to one file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hopline.formats import perftest_titles as titles
from hopline.formats.drafts import BAD_VALUE, TORN, TWICE, Alarm, feed, log, numbers, plain, sane_size, sane_time
from hopline.formats.perftest_table import TOOL, Rows, once, table
from hopline.formats.perftest_titles import Test
from hopline.records.table import Log

_SETTING = re.compile(rb"(?:^|\t|  )\s*([A-Za-z][\w*. -]*?)\s*:\s*(\S+)")
_ROW = re.compile(rb"\d+[ \t]+\d")
_COMMAND = re.compile(rb"\bib_(send|write|read|atomic)_(bw|lat)\b")
_ADDRESS = re.compile(rb"(local|remote) address: LID (0x0*[1-9a-f]\w*)")
"""Addresses of InfiniBand; those of Ethernet have LID 0."""
_FREQUENCY = b"Conflicting CPU frequency"
_FAILURES = (
    b"Couldn't ", b"Failed to ", b"Unable to ", b"Failed status", b"Completion with error", b"ailed to complete run_iter",
    b"not found", b"Can't ",
)  # fmt: skip
FACTS = {
    "Device": ("device", 0), "Connection type": ("connection", 0), "Transport type": ("transport", 0),
    "Link type": ("link", 0), "Number of qps": ("qps", 1), "Dual-port": ("dual_port", 0), "TX depth": ("tx_depth", 1),
    "CQ Moderation": ("cq_moderation", 1), "Mtu": ("mtu", 1), "Max inline data": ("max_inline", 1),
}  # fmt: skip
"""What a header line states -> the fact, and whether it is a whole number."""


def read(path: str) -> Log:
    """All tables of a perftest log, never merged; a row that client and server both printed counts once.

    Raises FormatError when the file cannot be read or no table in it has a usable row.
    """
    reader = Reader()
    notes = feed(path, reader)
    return reader.log(path, notes)


@dataclass(slots=True)
class Reader:
    """Where in the log we are."""

    drafts: list[Rows] = field(default_factory=list)
    alarm: Alarm = field(default_factory=lambda: Alarm(_FAILURES))
    test: Test = field(default_factory=Test)
    settings: dict[str, str | int] = field(default_factory=dict)
    addresses: dict[bytes, bytes] = field(default_factory=dict)
    headed: bool = False

    def line(self, raw: bytes, number: int, alarmed: bool) -> None:
        """One line."""
        text = raw.strip()
        if _ROW.match(text):
            self.row(text.split(), number)
        elif _FREQUENCY in text:
            if self.drafts:
                self.drafts[-1].warnings += 1
        elif text.startswith(b"#"):
            self.header(text)
        elif text.startswith(b"-----"):
            if self.drafts:
                self.drafts[-1].open = False
        else:
            self._told(text)
            if alarmed:
                self.alarm.hear(text, number)

    def _told(self, text: bytes) -> None:
        test = titles.test(text)
        if test is not None:
            self.begin(test)
        elif command := _COMMAND.search(text):
            self.begin(titles.of_command(command, text))
        elif address := _ADDRESS.match(text):
            self.addresses[address[1]] = address[2]
            if self.addresses.get(b"local") == self.addresses.get(b"remote"):
                self.settings["loopback"] = 1
        elif b":" in text:
            for name, value in _SETTING.findall(text):
                key, whole = FACTS.get(name.decode("ascii", "replace"), ("", 0))
                digits = re.match(rb"\d{1,9}", value)
                if key and (digits or not whole):
                    self.settings[key] = int(digits[0]) if whole and digits else plain(value)

    def begin(self, test: Test) -> None:
        """A test's name; a new one makes what was said before void."""
        if self.headed:
            self.settings, self.addresses, self.headed = {}, {}, False
        self.test = test

    def header(self, text: bytes) -> None:
        """Titles: a new table."""
        found = titles.columns(text)
        if not found.names:
            return
        last = self.drafts[-1] if self.drafts else None
        if last and not last.met and (last.titles, last.test) == (found, self.test):
            last.headers += 1
            last.facts |= self.settings
            return
        draft = Rows(self.test.benchmark, found.names, facts=dict(self.settings), test=self.test, titles=found)
        self.drafts.append(draft)
        self.headed = True

    def row(self, words: list[bytes], number: int) -> None:
        """Take a row, or note why not."""
        if not self.drafts:
            return
        draft = self.drafts[-1]
        values = numbers(words)
        if len(values) != len(draft.names):
            if draft.open:
                draft.drop(TORN, number)
            return
        row = [value * scale for value, scale in zip(values, draft.titles.scales, strict=True)]
        named = dict(zip(draft.names, row, strict=True))
        key = "bandwidth" if "bandwidth" in named else titles.time_column(draft.names)
        sane = sane_size(named["size"]) and sane_time(named[key]) and all(map(np.isfinite, row))
        if not sane or (key == "bandwidth" and not named["size"]):
            draft.drop(BAD_VALUE, number)
        elif tuple(words) in draft.printed:
            draft.drop(TWICE, number)
        else:
            draft.add(row, number)
            draft.printed[tuple(words)] = None

    def log(self, path: str, notes: Sequence[str]) -> Log:
        """All tables. Raises FormatError where none has a usable row."""
        drafts = once(self.drafts)
        tables = [table(draft) for draft in drafts if draft.rows]
        left = [event for draft in drafts if not draft.rows for event in draft.events]
        nothing = "no row: a table's header and nothing under it" if self.drafts else "no perftest table"
        return log(path, TOOL, tables, self.alarm, nothing, left, notes)
