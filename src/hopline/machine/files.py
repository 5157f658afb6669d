"""Machine files: TOML with quantities written as people write them, to and from Machine.

What belongs here: the layout of the file. Each number is ``"64 GB/s"`` or ``{ value = "64 GB/s", source = "..." }``; a
link's ``bandwidth`` is what is reached one way and its ``peak`` the line rate one way by data sheet; a
node with ``count = 8`` stands for ``name0`` to ``name7``; in connections ``name*`` means all of them, and ``*`` at both ends
joins those of the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as File
from typing import Any, TypeVar, get_args

import msgspec

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, MachineError, UnknownNameError
from hopline.machine.parts import (
    TOUCHES,
    Duplex,
    Fitted,
    Forwarding,
    Kind,
    Link,
    Measure,
    Memory,
    Node,
    Operation,
    Startup,
    Sync,
)  # fmt: skip
from hopline.machine.schema import (
    FORMAT,
    VERSION,
    ConnectionEntry,
    FittedEntry,
    LinkEntry,
    MachineFile,
    NodeEntry,
    Number,
    OperationEntry,
    PieceEntry,
    Sourced,
    StartupEntry,
    SyncEntry,
)  # fmt: skip
from hopline.machine.topology import Connection, Machine
from hopline.quantity import Dimension, parse

_LARGEST_COUNT = 65536
_MOST_CONNECTIONS = 2_000_000
_Entry = TypeVar("_Entry")


def preset_names() -> list[str]:
    """The machines that come with hopline."""
    return sorted(file.stem for file in _PRESETS.glob("*.toml"))


_PRESETS = File(__file__).with_name("presets")


def preset_text(name: str) -> str:
    """The file of a preset as text. Raises UnknownNameError."""
    if name not in preset_names():
        raise UnknownNameError("preset", name, preset_names())
    return (_PRESETS / f"{name}.toml").read_text(encoding="utf-8")


def load(file: File) -> Machine:
    """Read a machine file. Raises MachineError naming the file and the key that is wrong."""
    return loads(text_of(file), str(file))


_LARGEST_FILE = 16 << 20


def text_of(file: File) -> str:
    """The text of a machine file. Raises MachineError where it cannot be one."""
    try:
        size = file.stat().st_size
        if size > _LARGEST_FILE:
            raise MachineError(f"{file}: {size} bytes are too many for a machine file")
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise MachineError(f"{file}: cannot be read as a machine file: {reason}") from None


def loads(text: str, name: str) -> Machine:
    """Read a machine from TOML ``text``; ``name`` is what errors call it."""
    try:
        raw = _decoded(msgspec.toml.decode(text))
        return _Reader().machine(raw)
    except RecursionError:
        raise MachineError(f"{name}: nested too deeply to be a machine file") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise MachineError(f"{name} is no machine file: {error}") from None
    except HoplineError as error:
        raise MachineError(f"{name}: {error}") from None


def _decoded(raw: dict[str, Any]) -> MachineFile:
    """The file's structures, built entry by entry so that an error names the link or node that it is in."""
    if (raw.get("hopline"), raw.get("version")) != (FORMAT, VERSION):
        found = f"hopline = {raw.get('hopline')!r} and version = {raw.get('version')!r}"
        raise MachineError(f'expected hopline = "{FORMAT}" and version = {VERSION}, got {found}')
    for family, entry in (("links", LinkEntry), ("nodes", NodeEntry), ("operations", OperationEntry)):
        members = raw.get(family)
        if isinstance(members, dict):
            raw[family] = {key: _converted(member, entry, f"{family}.{key}") for key, member in members.items()}
    return _converted(raw, MachineFile, "")


def _converted(value: Any, kind: type[_Entry], key: str) -> _Entry:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        where = (key + path.rstrip("`")).lstrip(".")
        known = next((get_args(names) for part, names in _CHOICES.items() if where.endswith(f".{part}")), ())
        listed = f"; known are {', '.join(known)}" if known else ""
        raise MachineError(f"{where}: {message}{listed}" if where else f"{message}{listed}") from None


_CHOICES = {"forwarding": Forwarding, "duplex": Duplex, "kind": Kind, "measure": Measure}


class _Reader:
    """One pass over a decoded file; keeps the source of each number by its key."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}

    def machine(self, raw: MachineFile) -> Machine:
        nodes: dict[str, Node] = {}
        for node in (node for name, entry in raw.nodes.items() for node in self._nodes(name, entry)):
            if node.name in nodes:
                raise MachineError(f"node {node.name} is there twice: a family of nodes has a member of that name")
            nodes[node.name] = node
        operations = {name: self._operation(name, entry) for name, entry in raw.operations.items()}
        links = {name: self._link(name, entry, operations) for name, entry in raw.links.items()}
        pairs = tuple(c for entry in raw.connections for c in _connections(entry, raw.nodes))
        return Machine(raw.name, raw.title, links, nodes, pairs, self.sources, operations)

    def _number(self, key: str, entry: Number, dimension: Dimension) -> float:
        text = entry if isinstance(entry, str) else entry.value
        if isinstance(entry, Sourced):
            self.sources[key] = entry.source
        try:
            return parse(text, dimension)
        except HoplineError as error:
            raise MachineError(f"{key}: {error}") from None

    def _operation(self, name: str, raw: OperationEntry) -> Operation:
        key = f"operations.{name}"
        points = tuple(self._point(f"{key}.points[{i}]", text) for i, text in enumerate(raw.points))
        curve, fitted = self._curve(f"{key}.pieces", raw.pieces), self._fitted(f"{key}.fitted", raw.fitted)
        if curve is None or fitted is None:
            raise MachineError(f"{key} has no pieces")
        draws = tuple(self._drawn(f"{key}.draws[{i}]", draw) for i, draw in enumerate(raw.draws))
        found = Operation(raw.benchmark, raw.ranks, raw.measure, curve, fitted, points, draws, raw.tool)
        if found.name != name:
            raise MachineError(f"{key}: expected its benchmark and ranks as its name, {found.name}")
        return found

    def _point(self, key: str, text: str) -> tuple[float, float]:
        size, time = _parted(key, text, ":")
        return self._number(key, size, "size"), self._number(key, time, "time")

    def _drawn(self, key: str, text: str) -> Curve:
        pieces = []
        for part in text.split(";"):
            low, line = _parted(key, part, ":")
            pieces.append(self._piece(key, low, *_parted(key, line, ",")))
        return _made(key, Curve, tuple(pieces))

    def _link(self, name: str, raw: LinkEntry, operations: Mapping[str, Operation]) -> Link:
        key = f"links.{name}"
        learnt = operations.get(raw.operation)
        if raw.operation and (learnt is None or raw.pieces or raw.fitted):
            known = ", ".join(operations) or "none"
            raise MachineError(
                f"{key}.operation is {raw.operation!r}: expected one of [operations] ({known}), and no pieces"
            )
        if learnt is not None and learnt.measure == "gap":
            raise MachineError(
                f"{key}.operation is {raw.operation!r}, which holds the gap of a stream and no latency: expected one of times"
            )
        return Link(
            name=name,
            bandwidth=self._number(f"{key}.bandwidth", raw.bandwidth, "bandwidth"),
            startup=self._startup(f"{key}.startup", raw.startup),
            duplex=raw.duplex,
            forwarding=raw.forwarding,
            header=self._number(f"{key}.header", raw.header, "size"),
            flit=None if raw.flit is None else self._number(f"{key}.flit", raw.flit, "size"),
            route_time=None if raw.route_time is None else self._number(f"{key}.route_time", raw.route_time, "time"),
            delay=self._number(f"{key}.delay", raw.delay, "time"),
            curve=learnt.curve if learnt else self._curve(f"{key}.pieces", raw.pieces),
            fitted=learnt.fitted if learnt else self._fitted(f"{key}.fitted", raw.fitted),
            operation=raw.operation,
            peak=None if raw.peak is None else self._number(f"{key}.peak", raw.peak, "bandwidth"),
        )

    def _startup(self, key: str, raw: StartupEntry) -> Startup:
        entries = raw.sync if isinstance(raw.sync, list) else [SyncEntry(ranks=2, time=raw.sync)]
        table = tuple((e.ranks, self._number(f"{key}.sync.{e.ranks}", e.time, "time")) for e in entries)
        parts = {
            part: self._number(f"{key}.{part}", getattr(raw, part), "time") for part in ("software", "dma", "whole")
        }
        return Startup(parts["software"], parts["dma"], Sync(table), unsplit=parts["whole"])

    def _curve(self, key: str, raw: list[PieceEntry]) -> Curve | None:
        pieces = tuple(self._piece(key, piece.from_size, piece.latency, piece.bandwidth) for piece in raw)
        return _made(key, Curve, pieces) if pieces else None

    def _piece(self, key: str, low: str, latency: str, bandwidth: str) -> Piece:
        rate = self._number(key, bandwidth, "bandwidth") if bandwidth else math.inf
        return Piece(self._number(key, low, "size"), self._number(key, latency, "time"), rate)

    def _fitted(self, key: str, raw: FittedEntry | None) -> Fitted | None:
        if raw is None:
            return None
        smallest, largest = self._number(key, raw.smallest, "size"), self._number(key, raw.largest, "size")
        return _made(key, Fitted, raw.origin, smallest, largest, raw.mean_error, raw.worst_error)

    def _nodes(self, name: str, raw: NodeEntry) -> Iterator[Node]:
        if raw.count is not None and not 1 <= raw.count <= _LARGEST_COUNT:
            raise MachineError(f"nodes.{name}.count is {raw.count}: expected 1 to {_LARGEST_COUNT}")
        for each in [name] if raw.count is None else [f"{name}{i}" for i in range(raw.count)]:
            yield self._node(each, raw)

    def _node(self, name: str, raw: NodeEntry) -> Node:
        key = f"nodes.{name}"
        latency = None if raw.latency is None else self._number(f"{key}.latency", raw.latency, "time")
        memory = None
        if raw.memory is not None:
            bandwidth = self._number(f"{key}.memory.bandwidth", raw.memory.bandwidth, "bandwidth")
            touches: dict[str, float] = dict(TOUCHES.items())
            memory = Memory(bandwidth, touches | raw.memory.touches)
        return Node(name, raw.kind, latency, raw.nics, memory)


def _made(key: str, noun: Callable[..., _Entry], *values: Any) -> _Entry:
    """The noun, with the key that it stands under in what it says of wrong values."""
    try:
        return noun(*values)
    except HoplineError as error:
        raise MachineError(f"{key}: {error}") from None


def _parted(key: str, text: str, mark: str) -> tuple[str, str]:
    first, found, second = text.partition(mark)
    if not found:
        raise MachineError(f"{key}: {text[:60]!r} has no {mark!r}: expected it between two quantities")
    return first.strip(), second.strip()


def _connections(raw: ConnectionEntry, nodes: dict[str, NodeEntry]) -> Iterator[Connection]:
    a, b = (_expand(end, nodes) for end in raw.ends)
    if not (raw.ends[0].endswith("*") and raw.ends[1].endswith("*") and raw.ends[0] != raw.ends[1]):
        pairs_there = len(a) * len(b)
        if pairs_there > _MOST_CONNECTIONS:
            raise MachineError(f"{raw.ends[0]} - {raw.ends[1]} joins {pairs_there} pairs: at most {_MOST_CONNECTIONS}")
    both = raw.ends[0].endswith("*") and raw.ends[1].endswith("*")
    if both and raw.ends[0] == raw.ends[1]:
        pairs = [(x, y) for i, x in enumerate(a) for y in a[i + 1 :]]
    elif both:
        if len(a) != len(b):
            raise MachineError(
                f"connection {raw.ends[0]} - {raw.ends[1]} joins {len(a)} nodes with {len(b)}: expected as many"
            )
        pairs = list(zip(a, b, strict=True))
    else:
        pairs = [(x, y) for x in a for y in b]
    for pair in pairs:
        yield Connection(pair, raw.link)


def _expand(end: str, nodes: dict[str, NodeEntry]) -> list[str]:
    if not end.endswith("*"):
        return [end]
    name = end[:-1]
    if name not in nodes or nodes[name].count is None:
        raise UnknownNameError("node with a count", name, [n for n, e in nodes.items() if e.count is not None])
    return [f"{name}{i}" for i in range(nodes[name].count or 0)]
