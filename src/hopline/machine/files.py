"""Machine files: TOML with quantities written as people write them, to and from Machine.

What belongs here: the layout of the file. Each number is ``"64 GB/s"`` or ``{ value = "64 GB/s", source = "..." }``; a
node with ``count = 8`` stands for ``name0`` to ``name7``; in connections ``name*`` means all of them, and ``*`` at both ends
joins those of the same number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import resources
from pathlib import Path as File

import msgspec

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, MachineError, UnknownNameError
from hopline.machine.parts import TOUCHES, Duplex, Fitted, Forwarding, Kind, Link, Memory, Node, Startup, Sync
from hopline.machine.topology import Connection, Machine
from hopline.quantity import Dimension, parse, write

FORMAT = "machine"
VERSION = 1
_LARGEST_COUNT = 65536


class _Struct(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    pass


class _Sourced(_Struct, frozen=True):
    value: str
    source: str


_Number = str | _Sourced


class _SyncEntry(_Struct, frozen=True):
    ranks: int
    time: _Number


class _Startup(_Struct, frozen=True):
    software: _Number = "0 s"
    dma: _Number = "0 s"
    sync: _Number | list[_SyncEntry] = "0 s"
    whole: _Number = "0 s"


class _Piece(_Struct, frozen=True):
    from_size: str
    latency: str
    bandwidth: str = ""


class _Fitted(_Struct, frozen=True):
    origin: str
    smallest: str
    largest: str
    mean_error: float
    worst_error: float


class _Link(_Struct, frozen=True):
    bandwidth: _Number
    startup: _Startup = _Startup()
    duplex: Duplex = "full"
    forwarding: Forwarding = "store-and-forward"
    header: _Number = "0 B"
    flit: _Number | None = None
    route_time: _Number | None = None
    pieces: list[_Piece] = []
    fitted: _Fitted | None = None


class _Memory(_Struct, frozen=True):
    bandwidth: _Number
    touches: dict[str, float] = {}


class _Node(_Struct, frozen=True):
    kind: Kind = "device"
    count: int | None = None
    latency: _Number | None = None
    nics: int = 1
    memory: _Memory | None = None


class _Connection(_Struct, frozen=True):
    ends: tuple[str, str]
    link: str


class _File(_Struct, frozen=True):
    hopline: str
    version: int
    name: str
    links: dict[str, _Link]
    nodes: dict[str, _Node]
    title: str = ""
    connections: list[_Connection] = []


def preset_names() -> list[str]:
    """The machines that come with hopline."""
    folder = resources.files("hopline.machine") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def preset_text(name: str) -> str:
    """The file of a preset as text. Raises UnknownNameError."""
    if name not in preset_names():
        raise UnknownNameError("preset", name, preset_names())
    return (resources.files("hopline.machine") / "presets" / f"{name}.toml").read_text(encoding="utf-8")


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
        raw = msgspec.toml.decode(text, type=_File)
        if (raw.hopline, raw.version) != (FORMAT, VERSION):
            raise MachineError(
                f'expected hopline = "{FORMAT}" and version = {VERSION}, got {raw.hopline!r}, {raw.version}'
            )
        return _Reader().machine(raw)
    except RecursionError:
        raise MachineError(f"{name}: nested too deeply to be a machine file") from None
    except msgspec.DecodeError as error:
        raise MachineError(f"{name}: {error}") from None
    except HoplineError as error:
        raise (
            type(error)(f"{name}: {error}") if type(error) is MachineError else MachineError(f"{name}: {error}")
        ) from None


class _Reader:
    """One pass over a decoded file; keeps the source of each number by its key."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}

    def machine(self, raw: _File) -> Machine:
        nodes: dict[str, Node] = {}
        for node in (node for name, entry in raw.nodes.items() for node in self._nodes(name, entry)):
            if node.name in nodes:
                raise MachineError(f"node {node.name} is there twice: a family of nodes has a member of that name")
            nodes[node.name] = node
        links = {name: self._link(name, entry) for name, entry in raw.links.items()}
        pairs = tuple(c for entry in raw.connections for c in _connections(entry, raw.nodes))
        return Machine(raw.name, raw.title, links, nodes, pairs, self.sources)

    def _number(self, key: str, entry: _Number, dimension: Dimension) -> float:
        text = entry if isinstance(entry, str) else entry.value
        if isinstance(entry, _Sourced):
            self.sources[key] = entry.source
        try:
            return parse(text, dimension)
        except HoplineError as error:
            raise MachineError(f"{key}: {error}") from None

    def _link(self, name: str, raw: _Link) -> Link:
        key = f"links.{name}"
        return Link(
            name=name,
            bandwidth=self._number(f"{key}.bandwidth", raw.bandwidth, "bandwidth"),
            startup=self._startup(f"{key}.startup", raw.startup),
            duplex=raw.duplex,
            forwarding=raw.forwarding,
            header=self._number(f"{key}.header", raw.header, "size"),
            flit=None if raw.flit is None else self._number(f"{key}.flit", raw.flit, "size"),
            route_time=None if raw.route_time is None else self._number(f"{key}.route_time", raw.route_time, "time"),
            curve=self._curve(f"{key}.pieces", raw.pieces),
            fitted=self._fitted(f"{key}.fitted", raw.fitted),
        )

    def _startup(self, key: str, raw: _Startup) -> Startup:
        entries = raw.sync if isinstance(raw.sync, list) else [_SyncEntry(ranks=2, time=raw.sync)]
        table = tuple((e.ranks, self._number(f"{key}.sync.{e.ranks}", e.time, "time")) for e in entries)
        parts = {
            part: self._number(f"{key}.{part}", getattr(raw, part), "time") for part in ("software", "dma", "whole")
        }
        return Startup(parts["software"], parts["dma"], Sync(table), unsplit=parts["whole"])

    def _curve(self, key: str, raw: list[_Piece]) -> Curve | None:
        pieces = tuple(
            Piece(
                self._number(key, piece.from_size, "size"),
                self._number(key, piece.latency, "time"),
                self._number(key, piece.bandwidth, "bandwidth") if piece.bandwidth else float("inf"),
            )
            for piece in raw
        )
        return Curve(pieces) if pieces else None

    def _fitted(self, key: str, raw: _Fitted | None) -> Fitted | None:
        if raw is None:
            return None
        smallest, largest = self._number(key, raw.smallest, "size"), self._number(key, raw.largest, "size")
        return Fitted(raw.origin, smallest, largest, raw.mean_error, raw.worst_error)

    def _nodes(self, name: str, raw: _Node) -> Iterator[Node]:
        if raw.count is not None and not 1 <= raw.count <= _LARGEST_COUNT:
            raise MachineError(f"nodes.{name}.count is {raw.count}: expected 1 to {_LARGEST_COUNT}")
        for each in [name] if raw.count is None else [f"{name}{i}" for i in range(raw.count)]:
            yield self._node(each, raw)

    def _node(self, name: str, raw: _Node) -> Node:
        key = f"nodes.{name}"
        latency = None if raw.latency is None else self._number(f"{key}.latency", raw.latency, "time")
        memory = None
        if raw.memory is not None:
            bandwidth = self._number(f"{key}.memory.bandwidth", raw.memory.bandwidth, "bandwidth")
            touches: dict[str, float] = dict(TOUCHES.items())
            memory = Memory(bandwidth, touches | raw.memory.touches)
        return Node(name, raw.kind, latency, raw.nics, memory)


def _connections(raw: _Connection, nodes: dict[str, _Node]) -> Iterator[Connection]:
    a, b = (_expand(end, nodes) for end in raw.ends)
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


def _expand(end: str, nodes: dict[str, _Node]) -> list[str]:
    if not end.endswith("*"):
        return [end]
    name = end[:-1]
    if name not in nodes or nodes[name].count is None:
        raise UnknownNameError("node with a count", name, [n for n, e in nodes.items() if e.count is not None])
    return [f"{name}{i}" for i in range(nodes[name].count or 0)]


# --- writing ------------------------------------------------------------------------------------------------------


def dumps(machine: Machine) -> str:
    """The machine as TOML that loads() reads back to an equal one."""
    writer = _Writer(machine)
    raw = _File(
        hopline=FORMAT,
        version=VERSION,
        name=machine.name,
        title=machine.title,
        links={name: writer.link(link) for name, link in machine.links.items()},
        nodes={name: writer.node(node) for name, node in machine.nodes.items()},
        connections=[_Connection(c.ends, c.link) for c in machine.connections],
    )
    return msgspec.toml.encode(raw).decode()


class _Writer:
    """From nouns to the file's structures, with each number's source put back to it."""

    def __init__(self, machine: Machine) -> None:
        self.sources = machine.sources

    def _number(self, key: str, value: float, dimension: Dimension) -> _Number:
        text = write(value, dimension)
        return _Sourced(text, self.sources[key]) if key in self.sources else text

    def link(self, link: Link) -> _Link:
        key = f"links.{link.name}"
        return _Link(
            bandwidth=self._number(f"{key}.bandwidth", link.bandwidth, "bandwidth"),
            startup=self._startup(f"{key}.startup", link.startup),
            duplex=link.duplex,
            forwarding=link.forwarding,
            header=self._number(f"{key}.header", link.header, "size") if link.header else "0 B",
            flit=None if link.flit is None else self._number(f"{key}.flit", link.flit, "size"),
            route_time=None if link.route_time is None else self._number(f"{key}.route_time", link.route_time, "time"),
            pieces=[_piece(piece) for piece in link.curve.pieces] if link.curve else [],
            fitted=_fitted(link.fitted),
        )

    def _startup(self, key: str, startup: Startup) -> _Startup:
        parts = {"software": startup.software, "dma": startup.dma, "whole": startup.unsplit}
        numbers = {part: self._number(f"{key}.{part}", value, "time") for part, value in parts.items() if value}
        entries = [_SyncEntry(n, self._number(f"{key}.sync.{n}", time, "time")) for n, time in startup.sync.table]
        return _Startup(**numbers, sync="0 s" if startup.sync == Sync() else entries)

    def node(self, node: Node) -> _Node:
        key = f"nodes.{node.name}"
        memory = None
        if node.memory is not None:
            bandwidth = self._number(f"{key}.memory.bandwidth", node.memory.bandwidth, "bandwidth")
            memory = _Memory(bandwidth, dict(node.memory.touches))
        latency = None if node.latency is None else self._number(f"{key}.latency", node.latency, "time")
        return _Node(node.kind, None, latency, node.nics, memory)


def _piece(piece: Piece) -> _Piece:
    bandwidth = "" if math.isinf(piece.bandwidth) else write(piece.bandwidth, "bandwidth")
    return _Piece(write(piece.low, "size"), write(piece.latency, "time"), bandwidth)


def _fitted(fitted: Fitted | None) -> _Fitted | None:
    if fitted is None:
        return None
    ends = write(fitted.smallest, "size"), write(fitted.largest, "size")
    return _Fitted(fitted.origin, *ends, fitted.mean_error, fitted.worst_error)
