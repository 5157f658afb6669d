"""An MSCCL algorithm as its XML file has it: algo > gpu > tb > step.

What belongs here: from text to numbers in their ranges. What a step does is ``msccl``. Documents with a DTD are refused
before anything in them is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from hopline.errors import FormatError, UnknownNameError
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import LONGEST, MOST, pieces
from hopline.formats.source import shown

STEPS = ("s", "r", "rcs", "rrc", "rrs", "rrcs", "re", "cpy", "nop")
BUFFERS = ("i", "o", "s")
MOST_RANKS = 1 << 16
MOST_CHUNKS = 1 << 24
_INTEGER = re.compile(r"-?\d{1,18}")
_PARENTS = {"algo": "", "gpu": "algo", "tb": "gpu", "step": "tb"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a thread block; ``source`` and ``target``: buffer and chunk. ``waits``: thread block and step, or None."""

    type: str
    source: tuple[str, int]
    target: tuple[str, int]
    count: int
    waits: tuple[int, int] | None
    marked: bool
    line: int


@dataclass(slots=True)
class Block:
    """A thread block: its peers (-1: none), and its channel."""

    id: int
    send: int
    recv: int
    channel: int
    line: int
    steps: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Gpu:
    """``chunks``: how many each buffer has."""

    id: int
    chunks: dict[str, int]
    blocks: dict[int, Block] = field(default_factory=dict)


@dataclass(slots=True)
class Algorithm:
    """The whole file; ``sizes``: least and most bytes it is made for."""

    name: str
    collective: str
    protocol: str
    ranks: int
    channels: int
    chunks: int
    in_place: bool
    sizes: tuple[int, int] | None
    gpus: dict[int, Gpu] = field(default_factory=dict)


def parse(path: str) -> Algorithm:
    """The algorithm in the file at ``path``. Raises FormatError."""
    reader = _Reader(path)
    try:
        for data in pieces(path, MOST):
            reader.feed(data)
        reader.parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise FormatError(f"{shown(path)} is no whole XML document: {excerpt(str(error).encode())}") from None
    return reader.done()


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self._algorithm = Algorithm("", "", "", 0, 0, 0, False, None)
        self._gpu = Gpu(-1, {})
        self._block = Block(-1, -1, -1, 0, 0)
        self._open: list[str] = []
        self._fed = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda _: self._open.pop()
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.EntityDeclHandler = self._refuse_doctype

    def feed(self, data: bytes) -> None:
        self.parser.Parse(data, False)
        self._fed += len(data)
        if self._fed - self.parser.CurrentByteIndex > LONGEST:
            raise self._wrong(f"an element is longer than {LONGEST} bytes: expected an MSCCL algorithm")

    def done(self) -> Algorithm:
        found = self._algorithm
        if not found.ranks:
            raise FormatError(f"{shown(self.path)} has no element 'algo': expected an MSCCL algorithm")
        missing = next((rank for rank in range(found.ranks) if rank not in found.gpus), None)
        if missing is not None:
            raise FormatError(
                f"{shown(self.path)} has ngpus {found.ranks} and {len(found.gpus)} elements 'gpu': "
                f"expected one with id {missing}"
            )
        return found

    def _refuse_doctype(self, *_: object) -> None:
        raise self._wrong("a document type or entity is declared here: expected plain elements")

    def _wrong(self, what: str) -> FormatError:
        return FormatError(f"{shown(self.path)} line {self.parser.CurrentLineNumber}: {what}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else ""
        if _PARENTS.get(name) != parent:
            raise self._wrong(
                f"element {excerpt(name.encode(), 40)!r} in {parent or 'the document'}: expected algo > gpu > tb > step"
            )
        self._open.append(name)
        _BEGINS[name](self, _Values(attributes, name, self._wrong))

    def _begin_algo(self, values: _Values) -> None:
        sizes = None
        if "minBytes" in values.texts and "maxBytes" in values.texts:
            sizes = values.number("minBytes", 0), values.number("maxBytes", 0)
        self._algorithm = Algorithm(
            values.text("name", ""), values.text("coll"), values.text("proto", "Simple"),
            values.number("ngpus", 1, MOST_RANKS), values.number("nchannels", 1),
            values.number("nchunksperloop", 1, MOST_CHUNKS), values.number("inplace", 0, 1, default=0) == 1, sizes,
        )  # fmt: skip

    def _begin_gpu(self, values: _Values) -> None:
        number = values.number("id", 0, self._algorithm.ranks - 1)
        if number in self._algorithm.gpus:
            raise self._wrong(f"gpu {number} stands here a second time: expected each once")
        chunks = {buffer: values.number(f"{buffer}_chunks", 0, MOST_CHUNKS) for buffer in BUFFERS}
        self._gpu = self._algorithm.gpus[number] = Gpu(number, chunks)

    def _begin_tb(self, values: _Values) -> None:
        number = values.number("id", 0)
        if number in self._gpu.blocks:
            raise self._wrong(f"gpu {self._gpu.id} has thread block {number} a second time: expected each once")
        send, recv = (values.number(name, -1, self._algorithm.ranks - 1) for name in ("send", "recv"))
        if self._gpu.id in (send, recv):
            raise self._wrong(f"thread block {number} of gpu {self._gpu.id} sends to or receives from its own gpu")
        channel, line = values.number("chan", 0), self.parser.CurrentLineNumber
        self._block = self._gpu.blocks[number] = Block(number, send, recv, channel, line)

    def _begin_step(self, values: _Values) -> None:
        number = values.number("s", 0)
        if number != len(self._block.steps):
            raise self._wrong(f"step {number} of thread block {self._block.id}: expected step {len(self._block.steps)}")
        block, step = values.number("depid", -1, default=-1), values.number("deps", -1, default=-1)
        self._block.steps.append(Step(
            values.name("type", STEPS),
            (values.name("srcbuf", BUFFERS), values.number("srcoff", -1)),
            (values.name("dstbuf", BUFFERS), values.number("dstoff", -1)),
            values.number("cnt", 0, MOST_CHUNKS), (block, max(step, 0)) if block >= 0 else None,
            values.number("hasdep", 0, 1, default=0) == 1, self.parser.CurrentLineNumber,
        ))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Values:
    """The attributes of an element, checked as they are taken."""

    texts: Mapping[str, str]
    element: str
    wrong: Callable[[str], FormatError]

    def text(self, name: str, default: str | None = None) -> str:
        value = self.texts.get(name, default)
        if value is None:
            raise self.wrong(f"{self.element} has no {name}")
        return value

    def number(self, name: str, least: int, most: int = (1 << 62) - 1, default: int | None = None) -> int:
        text = self.text(name, None if default is None else str(default))
        expected = f"{least} or more" if most == (1 << 62) - 1 else f"{least} to {most}"
        if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
            raise self.wrong(f"{name}={excerpt(text.encode(), 40)!r} in {self.element}: expected {expected}")
        return int(text)

    def name(self, name: str, known: tuple[str, ...]) -> str:
        value = self.text(name)
        if value not in known:
            raise self.wrong(str(UnknownNameError(name, excerpt(value.encode(), 40), known)))
        return value


_BEGINS: dict[str, Callable[[_Reader, _Values], None]] = {
    "algo": _Reader._begin_algo, "gpu": _Reader._begin_gpu, "tb": _Reader._begin_tb, "step": _Reader._begin_step,
}  # fmt: skip
