r"""A log file as blocks of clean whole lines, in bounded memory.

What belongs here: what any tool's log can suffer on its way to us. Launchers put a rank's label before each line and
even inside lines, terminals leave colours, schedulers add times, an interrupted copy leaves NULs, and a crash leaves
its message. Not here: what a line of a tool means.

A line starts with its newline byte (``b"\n4 113.45\n8 81.96"`` holds two lines), so that a pattern that begins with
``\n`` finds line starts at the speed of memchr. Cleaning never adds or removes a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hopline.errors import FormatError
from hopline.formats.packing import Source
from hopline.formats.source import opened
from hopline.formats.source import shown as shown

BLOCK = 1 << 22
"""Bytes read at a time."""
LONGEST = 1 << 16
"""A line longer than this is no table row of any tool: it is cut out and counted."""

_FAILURES = (
    b"Test CUDA failure", b"Test NCCL failure", b"Test failure", b"NCCL WARN", b"CUDA error", b"CUDA failure",
    b"uncorrectable", b"illegal memory", b"Segmentation fault", b"out of memory", b"srun: error", b"slurmstepd: error",
    b"MPI_Abort", b"MPI_ABORT", b"exited on signal", b"nhandled ", b"core dumped", b"command not found", b"Aborted",
    b"Killed", b"DUE TO TIME LIMIT",
)  # fmt: skip
"""What a line of a failed run says, whichever tool or launcher says it."""
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])?")
_TAG = re.compile(rb"\[[\w.@-]*,\d+\]<std(?:out|err|diag)>: ?")
_HYDRA = re.compile(rb"\n[ \t]*\[\d+\](?=[ \t]*[\d#.\n])[^\n]*")
_HYDRA_LABEL = re.compile(rb"\[\d+\]")
_CLOCK = re.compile(
    rb"\n[ \t]*\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:?"
    rb"(?: std(?:out|err) [FP])?(?=[ \t\n])"
)
_SRUN = re.compile(rb"\n[ \t]*\d+:[ \t]*(?=#|\.\.\.|[\d.]+[ \t]+[\d.])")
_LABELS = (re.compile(rb"\n[ \t]*\d+:(?![ \t]*[\d.]+ +(?:bytes|[KMGT]?B) ) ?"), re.compile(rb"\n[ \t]*\[\d+\] ?"))
"""Of srun and Hydra; NetPIPE numbers its rows in the same way."""
_NEARLY_ALL = 0.8
_INK = re.compile(rb"\n[ \t]*[^\s]")
_LABELLED = re.compile(rb"\n[ \t]*(?:\[|\d+:|\d{4}-\d\d-)")
_BOM = b"\xef\xbb\xbf"
_NUL_RUN = re.compile(rb"\0+")
_CONTROL = bytes(set(range(1, 32)) - set(b"\t\n\v\f\r\x1b"))


class Block(NamedTuple):
    """Whole clean lines, each led by its newline byte; ``line`` is the number (from 1) of the first."""

    line: int
    text: bytes


def blocks(path: str, notes: list[str], keep: bool = False) -> Iterator[Block]:
    """Clean blocks of the file at ``path`` ("-" is standard input); what had to be left out is told in ``notes``.

    ``keep`` leaves a pipe's content for the next to open it. Raises FormatError, in one line, for what cannot be
    opened, holds nothing, or is binary from its start.
    """
    with opened(path, keep) as file:
        yield from _cleaned(path, file, notes)


def opening(path: str, most: int) -> bytes:
    """The first bytes of a file, however long its lines are, led by a newline. A pipe's content is kept."""
    with opened(path, keep=True) as file:
        return b"\n" + file.read(most).removeprefix(_BOM)


def document(path: str, most: int) -> bytes:
    """A file whose whole text is one thing (JSON). Raises FormatError for more than ``most`` bytes."""
    parts: list[bytes] = []
    size = 0
    with opened(path) as file:
        while data := file.read(BLOCK):
            parts.append(data)
            size += len(data)
            if size > most:
                raise FormatError(
                    f"{shown(path)} holds more than {most} bytes: too large to be read as one JSON document"
                )
    return b"".join(parts).removeprefix(_BOM)


def split(block: Block) -> Iterator[tuple[int, bytes]]:
    """The lines of a block with their numbers."""
    return enumerate(block.text.split(b"\n")[1:], block.line)


def excerpt(line: bytes, longest: int = 120) -> str:
    """A line of a log fit to be quoted: printable, single blanks, cut."""
    text = " ".join(line[: 4 * longest].decode("utf-8", "replace").split())
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def tells_failure(text: bytes) -> bool:
    """Whether a line, or any of many, says that something failed."""
    return any(map(text.__contains__, _FAILURES))


def quoted(line: int, raw: bytes) -> str:
    """The end of a message that lets the log speak for itself."""
    return f"; the log says at line {line}: {excerpt(raw)}"


def _cleaned(path: str, file: Source, notes: list[str]) -> Iterator[Block]:
    line, nuls, cut, text_seen = 1, False, 0, False
    for raw, junk in _whole_lines(file):
        cut += junk
        nuls = nuls or b"\0" in raw
        if not raw.strip(b"\n\0"):
            line += raw.count(b"\n")
            continue
        if (nuls or not text_seen) and _is_binary(raw):
            if not text_seen:
                raise FormatError(f"{shown(path)} is a binary file: expected the text output of a benchmark")
            notes.append(f"the file goes on with binary data from line {line}: left out")
            break
        text_seen = True
        yield Block(line, _clean(raw))
        line += raw.count(b"\n")
    if not text_seen:
        what = "only NUL bytes" if nuls else "no text but a line that never ends" if cut else "only empty lines"
        raise FormatError(f"{shown(path)} holds {what}: expected the text output of a benchmark")
    if nuls:
        notes.append("the file holds NUL bytes (interrupted or sparse copy?): left out")
    if cut:
        notes.append(f"{cut} {'line' if cut == 1 else 'lines'} longer than {LONGEST} bytes: left out")


def _whole_lines(file: Source) -> Iterator[tuple[bytes, int]]:
    """Blocks as read, but cut at line ends and led by a newline; with how many endless lines were cut out of each."""
    rest, junk, inside = b"", 0, False
    while data := file.read(BLOCK):
        end = data.rfind(b"\n")
        if inside and end < 0:
            continue
        if inside:
            start, inside = data.find(b"\n"), False
            data, end = data[start:], end - start
            rest = b""
        if end < 0:
            rest += data if not _only_nuls(data) else b"\0"
            if len(rest) > LONGEST and rest.strip(b"\0"):
                rest, inside, junk = b"", True, junk + 1
            continue
        yield b"\n" + rest + data[:end], junk
        junk, rest = 0, data[end + 1 :]
        if len(rest) > LONGEST and b"\0" in rest:
            rest = _NUL_RUN.sub(b"\0", rest)
    if rest or junk:
        yield b"\n" + rest, junk


_NULS = bytes(BLOCK)


def _only_nuls(data: bytes) -> bool:
    """Compared with a block of NULs, which runs at the speed of memcmp."""
    return data.startswith(b"\0") and data == _NULS[: len(data)]


def _is_binary(raw: bytes) -> bool:
    """More than one control byte in fifty, NULs aside."""
    text = raw.replace(b"\0", b"")
    return 50 * (len(text) - len(text.translate(None, _CONTROL))) > len(text)


def _clean(raw: bytes) -> bytes:
    """A block without NULs, carriage returns, colours, launchers' labels and clock times."""
    if b"\0" in raw:
        raw = _NUL_RUN.sub(b" ", raw)
    if _BOM in raw:
        raw = raw.replace(_BOM, b"")
    if b"\r" in raw:
        raw = raw.replace(b"\r", b" ")
    if b"\x1b" in raw:
        raw = _ANSI.sub(b"", raw)
    if b"]<std" in raw:
        raw = _TAG.sub(b" ", raw)
    return _unlabelled(raw) if _LABELLED.search(raw) else raw


def _unlabelled(raw: bytes) -> bytes:
    raw = _CLOCK.sub(b"\n", raw)
    everywhere = [pattern for pattern in _LABELS if _on_every_line(pattern, raw)]
    raw = _HYDRA.sub(lambda match: _HYDRA_LABEL.sub(b" ", match.group()), raw)
    raw = _SRUN.sub(b"\n", raw)
    for pattern in everywhere:
        raw = pattern.sub(b"\n", raw)
    return _CLOCK.sub(b"\n", raw)


def _on_every_line(label: re.Pattern[bytes], raw: bytes) -> bool:
    """Whether nearly all lines have a label, so that it is one whatever follows it."""
    labelled = len(label.findall(raw))
    return bool(labelled) and labelled >= _NEARLY_ALL * len(_INK.findall(raw))
