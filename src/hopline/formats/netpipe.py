"""NetPIPE: the lines of a running NPmpi, NPtcp and the like, as saved or as a mail archive keeps them.

What belongs here: NetPIPE's rows. Until release 4 sizes are in bytes and Mbps is 2^20 bit/s; release 5 prints every number in
a unit of its own, Mbps is 1e6 bit/s, and sizes from 1 MB on are rounded to three decimals. The time is that of one way. Where
messages go both ways at once the rows look the same, and only bandwidth x time over size, which is then 2, tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from hopline.formats.drafts import BAD_VALUE, US, Alarm, Draft, bounded, log, numbers, plain, sane_size, sane_time
from hopline.formats.lines import Block, blocks, split
from hopline.formats.words import half
from hopline.quantity import convert
from hopline.records.table import Floats, Log, Table

TOOL = "netpipe"
_NUMBER = rb"[\d.]+(?:e[+-]?\d+)?"
_ROW = re.compile(
    rb"(\d{1,9}):\s+([\d.]{1,19}) +(bytes|[KMGT]?B)\s+(\d+) times -->\s+(%b) +([KMGT]?bps)\s+in\s+(%b) +([num]?secs?)\b"
    % (_NUMBER, _NUMBER)
)
_SIZES = {b"bytes": 1.0, b"B": 1.0, b"KB": 1e3, b"MB": 1e6, b"GB": 1e9, b"TB": 1e12}
_RATES = {b"bps": 0.125, b"Kbps": 125.0, b"Mbps": 1.25e5, b"Gbps": 1.25e8, b"Tbps": 1.25e11}
_OLD_RATES = {b"Mbps": convert(1, "Mib/s")}
_TIMES = {b"n": 1e-9, b"u": US, b"m": 1e-3, b"s": 1.0}
"""First letter of a unit of time -> seconds."""
_START = re.compile(rb"Now starting the main loop")
_HOST = re.compile(rb"(\d+): ([A-Za-z][\w.-]*)")
_ENTITIES = {b"&nbsp;": b" ", b"&gt;": b">", b"&lt;": b"<", b"&amp;": b"&", b"<br>": b" ", b"<p>": b" "}
_NAMES = ("size", "time", "bandwidth", "repeats")
CUT = "torn row: a part is missing"


@dataclass(slots=True)
class _Draft(Draft):
    """A draft with its first and last row as printed, and half of the last digit of size, bandwidth and time of each."""

    number: int = -1
    first: bytes = b""
    last: bytes = b""
    halves: list[tuple[float, float, float]] = field(default_factory=list)


def read(path: str) -> Log:
    """All runs of a NetPIPE log, never merged. Raises FormatError where it cannot be read or holds no usable row."""
    notes: list[str] = []
    alarm = Alarm()
    drafts: list[_Draft] = []
    hosts: list[str] = []
    for block in blocks(path, notes):
        bounded(path, sum(draft.met for draft in drafts))
        alarmed = alarm.sounds(block.text)
        for number, raw in split(_without_entities(block)):
            text = raw.strip()
            match = _ROW.match(text)
            if _START.search(text) or (match and (not drafts or _restarts(match, drafts[-1]))):
                drafts.append(_Draft("latency", _NAMES, title=" ".join(hosts)))
                hosts = []
            if match:
                _row(drafts[-1], match, number)
            elif b" times -->" in text and drafts:
                drafts[-1].drop(CUT, number)
            elif host := _HOST.fullmatch(text):
                hosts.append(plain(host[2]))
            if alarmed and not match:
                alarm.hear(text, number)
    tables = [_table(draft) for draft in drafts if draft.rows]
    left = [event for draft in drafts if not draft.rows for event in draft.events]
    nothing = "no row: NetPIPE started and printed none" if drafts else "no NetPIPE row"
    return log(path, TOOL, tables, alarm, nothing, left, notes)


def _without_entities(block: Block) -> Block:
    text = block.text
    if b"&gt;" in text or b"&nbsp;" in text or b"<br>" in text:
        for entity, plain_text in _ENTITIES.items():
            text = text.replace(entity, plain_text)
    return Block(block.line, text)


def _restarts(match: re.Match[bytes], draft: _Draft) -> bool:
    """Whether a row's number begins another run."""
    return int(match[1]) <= draft.number


def _row(draft: _Draft, match: re.Match[bytes], line: int) -> None:
    draft.number = int(match[1])
    rates = _OLD_RATES if match[3] == b"bytes" else _RATES
    values = numbers(match.group(2, 4, 5, 7))
    if not values or match[6] not in rates:
        draft.drop(BAD_VALUE, line)
        return
    scales = (_SIZES[match[3]], rates[match[6]], _TIMES[match[8][:1]])
    size, repeats, rate, time = values
    size, rate, time = round(size * scales[0], 3), rate * scales[1], time * scales[2]
    if not (sane_size(size) and size > 0 and sane_time(time)):
        draft.drop(BAD_VALUE, line)
        return
    draft.add((size, time, rate, repeats), line)
    draft.halves.append((half(match[2]) * scales[0], half(match[5]) * scales[1], half(match[7]) * scales[2]))
    draft.first, draft.last = draft.first or match[0], match[0]


def _table(draft: _Draft) -> Table:
    draft.facts = {"first_row": plain(draft.first), "last_row": plain(draft.last)}
    draft.ranks = 2
    columns = draft.columns()
    halves = np.array(draft.halves)
    if np.any(halves[:, 0] > 1):
        draft.notes.append("sizes from 1 MB on are printed rounded (to 0.05 % at most)")
    if not _agrees(columns, halves, 1):
        draft.notes.append(
            "bandwidth is twice size / time: messages went both ways at once" if _agrees(columns, halves, 2)
            else "bandwidth does not agree with size / time: the time counts"
        )  # fmt: skip
    return draft.table(TOOL, "time", columns)


def _agrees(columns: dict[str, Floats], halves: Floats, ways: int) -> bool:
    """Whether the printed digits of all rows allow bandwidth x time = ways x size."""
    rate, time = columns["bandwidth"], columns["time"]
    low = (rate - halves[:, 1]) * (time - halves[:, 2])
    high = (rate + halves[:, 1]) * (time + halves[:, 2])
    size = ways * columns["size"]
    return bool(np.all((low <= size * 1.01) & (size <= high * 1.01)))
