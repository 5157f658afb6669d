"""Which evidence of a step a file is: told from its content, never from its name.

What belongs here: for each kind how it is recognised and, by name, which reader takes it. ``jobs`` resolves the name, so
recognising a file loads no reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats import training_lines
from hopline.formats.kinds import recognise
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import usable
from hopline.formats.schedules.chakra_nodes import is_metadata
from hopline.formats.schedules.chakra_wire import number
from hopline.formats.source import opened, shown

SQLITE = b"SQLite format 3\0"
LOOK = 1 << 20
"""Bytes looked at."""
MOST_LOG = 1 << 26
"""Bytes of a log in which the first step must stand."""
_BLOCK = 512
"""Bytes of a head in a tar archive; content follows in multiples of it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One kind of file.

    Attributes
    ----------
    name, title
        Key of EVIDENCE, and what people call it.
    recognises
        Takes the first bytes, unpacked.
    reader
        ``module:function``, which takes a path.
    """

    name: str
    title: str
    recognises: Callable[[bytes], bool]
    reader: str


def _json(*patterns: bytes) -> Callable[[bytes], bool]:
    """JSON in which all patterns are found."""
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda data: (
        data.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] in (b"{", b"[") and all(one.search(data) for one in compiled)
    )


def _either(*tests: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    return lambda data: any(test(data) for test in tests)


_GLOBAL = re.compile(rb"\(?[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n")
"""How a pickle begins that looks up a name."""


def _pickle(data: bytes) -> bool:
    """A pickle: by its protocol, or (protocols 0 and 1) by first instructions, those of harmful ones among them."""
    by_protocol = data[:1] == b"\x80" and data[1:2] <= b"\x05" and len(data) > 2
    return by_protocol or data[:2] in (b"(d", b"(l", b"}q", b"]q") or _GLOBAL.match(data) is not None


def _protobuf(data: bytes) -> bool:
    """Chakra: a message with its length before it, which is GlobalMetadata."""
    try:
        size, begin = number(data[:16], 0)
    except (IndexError, FormatError):
        return False
    return 0 < size <= len(data) - begin and is_metadata(data[begin : begin + size])


_ROWS = (
    Evidence(
        "nsys", "Nsight Systems export (SQLite)", lambda data: data.startswith(SQLITE), "hopline.formats.nsys:read_traces",
    ),
    Evidence(
        "flight", "PyTorch flight recorder dump",
        _either(
            _pickle, _json(rb'"entries"\s*:', rb'"(?:pg_config|pg_status|profiling_name|nccl_comm_state)"\s*:'),
            _json(rb'\A\s*\[\s*\{', rb'"profiling_name"\s*:'), _json(rb'"pg_config"\s*:', rb'"pg_status"\s*:'),
        ), "hopline.formats.flight:read",
    ),
    Evidence(
        "kineto", "PyTorch (Kineto) or other Chrome trace",
        _either(
            _json(rb'"traceEvents"\s*:'), _json(rb'\A\s*\[\s*\{', rb'"ph"\s*:'),
            _json(rb'"(?:deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:'),
        ), "hopline.formats.kineto.reader:read_trace",
    ),
    Evidence(
        "execution", "execution trace (Chakra or PyTorch)",
        _either(_protobuf, _json(rb'"workload_graph"\s*:'), _json(rb'"schema"\s*:', rb'"nodes"\s*:')),
        "hopline.formats.execution_traces:read",
    ),
    Evidence("log", "training log with step times", lambda _: False, "hopline.formats.training_logs:read"),
)  # fmt: skip
EVIDENCE: dict[str, Evidence] = {row.name: row for row in _ROWS}
"""Name -> kind, in the order in which they are tried; a log is any text with a line of a known step."""

_LOOKS = (
    (rb"\A\x7fELF", "a program"), (rb"\APK\x03\x04", "a zip archive: unpack it first"), (rb"\A%PDF", "a PDF document"),
    (rb"\A\x89PNG|\A\xff\xd8\xff|\AGIF8", "a picture"), (rb"(?i)\A\s*<(?:!doctype )?html", "a web page"), (rb"\A\s*<", "XML"),
    (rb"\A\x93NUMPY", "a numpy array"), (rb"\A\0+\Z", "nothing but zeros (a sparse or unfinished copy?)"),
)  # fmt: skip
_JSON = re.compile(rb'\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]]|$|-?\d[\d.eE+-]*\s*(?:[,\]]|$)|(?:true|false|null)\b))')
"""How JSON begins; a line of a log may begin with a time in brackets."""
_RAW_NSYS = (".nsys-rep", ".qdrep", ".qdstrm")


def kind_of(path: str) -> str:
    """The key of EVIDENCE for the file at ``path``.

    Raises FormatError where it is none, with what it looks like and what is read.
    """
    usable(path, "trace, dump or log")
    data = _start(path)
    content = _inside(data)
    found = next((row.name for row in _ROWS if row.recognises(content)), None)
    if found is None and _has_steps(path, content):
        found = "log"
    if found is None:
        known = ", ".join(row.title for row in _ROWS)
        raise FormatError(f"{shown(path)} {_looks(path, content)}; hopline explains: {known}")
    return found


def _start(path: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    with opened(path, keep=True) as file:
        while size < LOOK and (data := file.read(LOOK)):
            parts.append(data)
            size += len(data)
    return b"".join(parts)[:LOOK]


def _inside(data: bytes) -> bytes:
    """What the first file of a tar archive begins with; anything else as it is."""
    at = 0
    while data[at + 257 : at + 262] == b"ustar":
        try:
            size = int(data[at + 124 : at + 136].strip(b"\0 ") or b"0", 8)
        except ValueError:
            return data
        if data[at + 156 : at + 157] in (b"0", b"\0", b"7"):
            return data[at + _BLOCK : at + _BLOCK + size]
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
    return data


def _has_steps(path: str, start: bytes) -> bool:
    """Whether a text has a step; binary files are not searched."""
    if b"\0" in start[:4096] and not start.strip(b"\0"):
        return False
    found = training_lines.lines(path, lambda _: None, keep=True, most=MOST_LOG)
    return any(True for line in found for _ in training_lines.steps(line.text))


def _looks(path: str, data: bytes) -> str:
    if path.endswith(_RAW_NSYS):
        return "is a report of Nsight Systems: make a SQLite file of it with 'nsys export --type sqlite'"
    words = next((words for pattern, words in _LOOKS if re.search(pattern, data)), "")
    if words:
        return f"looks like {words}"
    try:
        return f"looks like output of {recognise(path).title}: 'hopline fit' reads it"
    except FormatError:
        pass
    first = next((line for line in data.splitlines() if line.strip()), b"")
    if _JSON.match(first):
        return f"is JSON of something else ({excerpt(first, 60)})"
    return f"is of no known kind (it begins {excerpt(first, 60)!r})"
