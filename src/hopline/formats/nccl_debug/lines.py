r"""NCCL's messages in a log, wherever in a line they stand.

What belongs here: what surrounds a message: ``host:pid:tid [device] file:line NCCL INFO ``. Several processes write into one
line, benchmarks' rows are torn by messages, and some logs have only the end of that head. What a message says is ``messages``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hopline.formats.lines import Block, split

_MARK = re.compile(rb"NCCL (INFO|WARN|ERROR|TRACE)\b ?")
_HEAD = re.compile(
    rb"([A-Za-z0-9][\w.-]*):(\d+):(\d+)(?: \[-?\d+\])?(?: [^\s\[\]]+:\d+| \d{4}-[\d :.T-]+| \[[^\[\]]{4,40}\])*\s*$"
)
_WINDOW = 400
"""Bytes before the mark that are looked at for a head."""
_ROW = re.compile(rb"(?:^|\s)(\d+(?:\.\d+)?)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(?:\d+|N/A|[\d.e+-]+)\S*\s*$")
_US = 1e-6


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes
    ----------
    level
        INFO, WARN, ...
    host, process
        "" where the head is cut off.
    text
        What it says, up to the next message in its line.
    before
        Bytes of the line before its head.
    line
        Number of its line, from 1.
    """

    level: str
    host: str
    process: str
    text: str
    before: bytes
    line: int

    @property
    def measured(self) -> float | None:
        """Seconds of the out-of-place half of a benchmark's row that the message tore, where it did."""
        row = _ROW.search(self.before)
        return float(row[1]) * _US if row else None


def messages(block: Block) -> Iterator[Message]:
    """All messages of a block of lines."""
    if b"NCCL " not in block.text:
        return
    for number, line in split(block):
        if b"NCCL " in line:
            yield from _messages(line, number)


def _messages(line: bytes, number: int) -> Iterator[Message]:
    marks = list(_MARK.finditer(line))
    if not marks:
        return
    heads = [_HEAD.search(line, max(0, mark.start() - _WINDOW), mark.start()) for mark in marks]
    starts = [head.start() if head else mark.start() for mark, head in zip(marks, heads, strict=True)]
    ends = [*starts[1:], len(line)]
    from_ = 0
    for mark, head, start, end in zip(marks, heads, starts, ends, strict=True):
        host = head[1].decode() if head else ""
        process = f"{host}:{head[2].decode()}" if head else ""
        text = line[mark.end() : max(end, mark.end())].decode("utf-8", "replace").rstrip()
        yield Message(mark[1].decode(), host, process, text, line[from_:start], number)
        from_ = end
