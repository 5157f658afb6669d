"""A machine as text: what ``files`` reads back to an equal machine.

What belongs here: from nouns to the file's structures, with each number's source put back to it.
"""

from __future__ import annotations

import math

import msgspec

from hopline.curve import Piece
from hopline.machine.parts import Fitted, Link, Node, Operation, Startup, Sync
from hopline.machine.schema import (
    FORMAT,
    VERSION,
    ConnectionEntry,
    FittedEntry,
    LinkEntry,
    MachineFile,
    MemoryEntry,
    NodeEntry,
    Number,
    OperationEntry,
    PieceEntry,
    Sourced,
    StartupEntry,
    SyncEntry,
)  # fmt: skip
from hopline.machine.topology import Machine
from hopline.quantity import Dimension, write


def dumps(machine: Machine) -> str:
    """The machine as TOML that loads() reads back to an equal one."""
    writer = _Writer(machine)
    raw = MachineFile(
        hopline=FORMAT,
        version=VERSION,
        name=machine.name,
        title=machine.title,
        links={name: writer.link(link) for name, link in machine.links.items()},
        nodes={name: writer.node(node) for name, node in machine.nodes.items()},
        connections=[ConnectionEntry(c.ends, c.link) for c in machine.connections],
        operations={name: _operation(operation) for name, operation in machine.operations.items()},
    )
    return msgspec.toml.encode(raw).decode()


class _Writer:
    """From nouns to the file's structures, with each number's source put back to it."""

    def __init__(self, machine: Machine) -> None:
        self.sources = machine.sources

    def _number(self, key: str, value: float, dimension: Dimension) -> Number:
        text = write(value, dimension)
        return Sourced(text, self.sources[key]) if key in self.sources else text

    def _kept(self, key: str, value: float, dimension: Dimension, default: str) -> Number:
        """The number; the default, which the file then leaves out, for a 0 without a source."""
        return self._number(key, value, dimension) if value or key in self.sources else default

    def link(self, link: Link) -> LinkEntry:
        key = f"links.{link.name}"
        return LinkEntry(
            bandwidth=self._number(f"{key}.bandwidth", link.bandwidth, "bandwidth"),
            peak=None if link.peak is None else self._number(f"{key}.peak", link.peak, "bandwidth"),
            startup=self._startup(f"{key}.startup", link.startup),
            duplex=link.duplex,
            forwarding=link.forwarding,
            header=self._kept(f"{key}.header", link.header, "size", "0 B"),
            flit=None if link.flit is None else self._number(f"{key}.flit", link.flit, "size"),
            route_time=None if link.route_time is None else self._number(f"{key}.route_time", link.route_time, "time"),
            delay=self._kept(f"{key}.delay", link.delay, "time", "0 s"),
            pieces=[_piece(piece) for piece in link.curve.pieces] if link.curve and not link.operation else [],
            fitted=_fitted(link.fitted) if link.fitted and not link.operation else None,
            operation=link.operation,
        )

    def _startup(self, key: str, startup: Startup) -> StartupEntry:
        parts = {"software": startup.software, "dma": startup.dma, "whole": startup.unsplit}
        numbers = {part: self._kept(f"{key}.{part}", value, "time", "0 s") for part, value in parts.items()}
        entries = [SyncEntry(n, self._number(f"{key}.sync.{n}", time, "time")) for n, time in startup.sync.table]
        return StartupEntry(**numbers, sync="0 s" if startup.sync == Sync() else entries)

    def node(self, node: Node) -> NodeEntry:
        key = f"nodes.{node.name}"
        memory = None
        if node.memory is not None:
            bandwidth = self._number(f"{key}.memory.bandwidth", node.memory.bandwidth, "bandwidth")
            memory = MemoryEntry(bandwidth, dict(node.memory.touches))
        latency = None if node.latency is None else self._number(f"{key}.latency", node.latency, "time")
        return NodeEntry(node.kind, None, latency, node.nics, memory)


def _operation(operation: Operation) -> OperationEntry:
    return OperationEntry(
        benchmark=operation.benchmark,
        measure=operation.measure,
        pieces=[_piece(piece) for piece in operation.curve.pieces],
        fitted=_fitted(operation.fitted),
        points=[f"{write(size, 'size')}: {write(time, 'time')}" for size, time in operation.points],
        ranks=operation.ranks,
        tool=operation.tool,
        draws=["; ".join("{}: {}, {}".format(*_short(piece)) for piece in curve.pieces) for curve in operation.draws],
    )


def _piece(piece: Piece) -> PieceEntry:
    return PieceEntry(*_short(piece))


def _short(piece: Piece) -> tuple[str, str, str]:
    bandwidth = "" if math.isinf(piece.bandwidth) else write(piece.bandwidth, "bandwidth")
    return write(piece.low, "size"), write(piece.latency, "time"), bandwidth


def _fitted(fitted: Fitted) -> FittedEntry:
    ends = write(fitted.smallest, "size"), write(fitted.largest, "size")
    return FittedEntry(fitted.origin, *ends, fitted.mean_error, fitted.worst_error)
