"""The layout of a machine file, as msgspec structures: text as it stands there, unknown keys refused.

What belongs here: which keys there are. ``files`` reads them into the nouns, ``writing`` makes them of the nouns.
"""

from __future__ import annotations

import msgspec

from hopline.machine.parts import Duplex, Forwarding, Kind, Measure

FORMAT = "machine"
VERSION = 1


class _Struct(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Frozen, and strict about keys."""


class Sourced(_Struct, frozen=True):
    """A quantity and where it is from."""

    value: str
    source: str


Number = str | Sourced


class SyncEntry(_Struct, frozen=True):
    """Synchronisation of so many ranks."""

    ranks: int
    time: Number


class StartupEntry(_Struct, frozen=True):
    """The parts of a link's start-up."""

    software: Number = "0 s"
    dma: Number = "0 s"
    sync: Number | list[SyncEntry] = "0 s"
    whole: Number = "0 s"


class PieceEntry(_Struct, frozen=True):
    """A piece of a fitted curve; without a bandwidth its time does not grow."""

    from_size: str
    latency: str
    bandwidth: str = ""


class FittedEntry(_Struct, frozen=True):
    """What a curve was learnt from."""

    origin: str
    smallest: str
    largest: str
    mean_error: float
    worst_error: float


class OperationEntry(_Struct, frozen=True):
    """What a benchmark measured as a whole: the curve, what it was learnt from, and what else it might be.

    A point is ``"1024 B: 20.35 us"``; a draw is ``"0 B: 5.3 us, 24 GB/s; 8192 B: 9 us,"``: from which size, latency and
    bandwidth of each piece, without a bandwidth where time does not grow.
    """

    benchmark: str
    measure: Measure
    pieces: list[PieceEntry]
    fitted: FittedEntry
    points: list[str]
    ranks: int | None = None
    tool: str = ""
    draws: list[str] = []


class LinkEntry(_Struct, frozen=True):
    """One link. ``operation`` stands in for ``pieces`` and ``fitted``, which are then that operation's."""

    bandwidth: Number
    peak: Number | None = None
    startup: StartupEntry = StartupEntry()
    duplex: Duplex = "full"
    forwarding: Forwarding = "store-and-forward"
    header: Number = "0 B"
    flit: Number | None = None
    route_time: Number | None = None
    delay: Number = "0 s"
    pieces: list[PieceEntry] = []
    fitted: FittedEntry | None = None
    operation: str = ""


class MemoryEntry(_Struct, frozen=True):
    """A device's memory."""

    bandwidth: Number
    touches: dict[str, float] = {}


class NodeEntry(_Struct, frozen=True):
    """A node, or with ``count`` a family of them."""

    kind: Kind = "device"
    count: int | None = None
    latency: Number | None = None
    nics: int = 1
    memory: MemoryEntry | None = None


class ConnectionEntry(_Struct, frozen=True):
    """Two ends (or families) and the link between them."""

    ends: tuple[str, str]
    link: str


class MachineFile(_Struct, frozen=True):
    """The whole file."""

    hopline: str
    version: int
    name: str
    nodes: dict[str, NodeEntry]
    links: dict[str, LinkEntry] = {}
    title: str = ""
    connections: list[ConnectionEntry] = []
    operations: dict[str, OperationEntry] = {}
