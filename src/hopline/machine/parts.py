"""The parts a machine is made of: start-up, link, memory, node.

What belongs here: what is true of one piece of hardware when nothing runs, in SI. How they join is ``topology``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from hopline.curve import Curve
from hopline.errors import MachineError, UnknownNameError
from hopline.quantity import NON_NEGATIVE, POSITIVE

Duplex = Literal["full", "half"]
Forwarding = Literal["store-and-forward", "cut-through", "wormhole"]
Kind = Literal["device", "switch"]
Touch = Literal["send", "receive", "relay", "reduce"]
Measure = Literal["time", "gap"]


@dataclass(frozen=True, slots=True)
class Sync:
    """Synchronisation time against the number of ranks that take part: (ranks, seconds) in growing order.

    Between two entries it is linear in log2(ranks) (a dissemination barrier takes log2 n rounds); outside of the table
    the nearest entry holds.
    """

    table: tuple[tuple[int, float], ...] = ((2, 0.0),)

    def __post_init__(self) -> None:
        ranks = [n for n, _ in self.table]
        if not ranks or ranks != sorted(set(ranks)) or ranks[0] < 1:
            raise MachineError(f"sync table has ranks {ranks}: expected growing numbers of at least 1")
        for n, time in self.table:
            NON_NEGATIVE.check(f"sync time of {n} ranks", time)

    def time(self, ranks: int) -> float:
        """Seconds to synchronise ``ranks`` ranks."""
        below = [entry for entry in self.table if entry[0] <= ranks]
        above = [entry for entry in self.table if entry[0] > ranks]
        if not below or not above:
            return (below or above)[-1 if below else 0][1]
        (n0, t0), (n1, t1) = below[-1], above[0]
        return t0 + (t1 - t0) * math.log2(ranks / n0) / math.log2(n1 / n0)

    def covers(self, ranks: int) -> bool:
        """Whether the table reaches to ``ranks``, so that time() need not hold its last entry."""
        return len(self.table) == 1 or self.table[0][0] <= ranks <= self.table[-1][0]


@dataclass(frozen=True, slots=True)
class Startup:
    """What an end node pays before the first byte leaves, in seconds: the parts of α.

    ``unsplit`` is a start-up that was only measured as a whole.
    """

    software: float = 0.0
    dma: float = 0.0
    sync: Sync = field(default_factory=Sync)
    unsplit: float = 0.0

    def __post_init__(self) -> None:
        for name in ("software", "dma", "unsplit"):
            NON_NEGATIVE.check(f"start-up {name}", getattr(self, name))

    def total(self, ranks: int = 2) -> float:
        """α for a transfer that synchronises ``ranks`` ranks."""
        return self.unsplit + self.software + self.dma + self.sync.time(ranks)

    def parts(self, ranks: int = 2) -> dict[str, float]:
        """The parts that are not zero, by name."""
        named = {"software": self.software, "DMA": self.dma, "synchronisation": self.sync.time(ranks)}
        return {k: v for k, v in ({"start-up": self.unsplit} | named).items() if v > 0}


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a link's curve was learnt from: the log, the measured range in bytes, its relative error on held-out points."""

    origin: str
    smallest: float
    largest: float
    mean_error: float
    worst_error: float

    def __post_init__(self) -> None:
        for name in ("smallest", "largest", "mean_error", "worst_error"):
            NON_NEGATIVE.check(f"fitted {name}", getattr(self, name))
        if self.smallest > self.largest:
            raise MachineError(
                f"fitted range from {self.smallest:g} to {self.largest:g} bytes: expected the smaller first"
            )


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operation of ``ranks`` ranks costs here as a whole, as a benchmark measured it (None: the log did not say).

    ``measure`` is ``time`` (start to completion) or ``gap`` (time a message adds to a stream). ``points`` are (size in
    bytes, seconds) in order of size; ``draws`` are curves of as many pieces that are equally likely given the points.
    ``tool`` printed them: tools count sizes in ways of their own.
    """

    benchmark: str
    ranks: int | None
    measure: Measure
    curve: Curve
    fitted: Fitted
    points: tuple[tuple[float, float], ...]
    draws: tuple[Curve, ...] = ()
    tool: str = ""

    def __post_init__(self) -> None:
        _one_of("measure", self.measure, get_args(Measure))
        sizes = [size for size, _ in self.points]
        if not self.benchmark or not sizes or sizes != sorted(set(sizes)):
            raise MachineError(f"operation {self.name}: expected a benchmark's name, and points in order of size")
        if self.ranks is not None and self.ranks < 1:
            raise MachineError(f"operation {self.name} has {self.ranks} ranks: expected at least 1")
        for _, time in self.points:
            POSITIVE.check(f"a time of operation {self.name}", time)
        pieces = {len(curve.pieces) for curve in self.draws} - {len(self.curve.pieces)}
        if pieces:
            raise MachineError(
                f"a draw of operation {self.name} has {pieces.pop()} pieces: expected as many as the curve, "
                f"{len(self.curve.pieces)}"
            )

    @property
    def name(self) -> str:
        """Its key in the file: ``all_reduce.8``, or the benchmark alone."""
        return self.benchmark if self.ranks is None else f"{self.benchmark}.{self.ranks}"


@dataclass(frozen=True, slots=True)
class Link:
    """One link of one NIC. ``bandwidth`` is one way; ``curve`` replaces start-up and bandwidth where it was fitted.

    ``bandwidth`` is what a transfer reaches, fitted or measured where somebody did; ``peak`` is the line rate one way by
    data sheet, byte/s, None where it is not given. No cost is worked out with ``peak``: it is what costs are held against.
    ``header`` (bytes) is what cut-through waits for, ``flit`` (bytes) and ``route_time`` (s per hop) are the wormhole's;
    None: not known. ``operation`` names the one whose curve this is, where there is one. ``delay`` (s) is that of the cable,
    which whoever sends over it pays, devices and switches alike.
    """

    name: str
    bandwidth: float
    startup: Startup = field(default_factory=Startup)
    duplex: Duplex = "full"
    forwarding: Forwarding = "store-and-forward"
    header: float = 0.0
    flit: float | None = None
    route_time: float | None = None
    curve: Curve | None = None
    fitted: Fitted | None = None
    peak: float | None = None
    operation: str = ""
    delay: float = 0.0

    def __post_init__(self) -> None:
        POSITIVE.check(f"bandwidth of link {self.name}", self.bandwidth)
        if self.peak is not None:
            POSITIVE.check(f"peak of link {self.name}", self.peak)
        NON_NEGATIVE.check(f"header of link {self.name}", self.header)
        NON_NEGATIVE.check(f"delay of link {self.name}", self.delay)
        if self.flit is not None:
            POSITIVE.check(f"flit of link {self.name}", self.flit)
        for part, size in (("header", self.header), ("flit", self.flit or 0.0)):
            if not float(size).is_integer():
                raise MachineError(f"{part} of link {self.name} is {size!r} bytes: expected a whole number")
        if self.route_time is not None:
            NON_NEGATIVE.check(f"route time of link {self.name}", self.route_time)
        _one_of("duplex", self.duplex, get_args(Duplex))
        _one_of("forwarding", self.forwarding, get_args(Forwarding))

    def cost(self, ranks: int = 2) -> Curve:
        """α-β curve of a send by an end node over this link, with a synchronisation of ``ranks``."""
        if self.curve is None:
            return Curve.line(self.startup.total(ranks) + self.delay, self.bandwidth)
        return self.curve.delayed(self.startup.sync.time(ranks) + self.delay)


@dataclass(frozen=True, slots=True)
class Memory:
    """Device memory: bandwidth in byte/s and how often each byte of a transfer touches it."""

    bandwidth: float
    touches: Mapping[str, float] = field(default_factory=lambda: dict(TOUCHES.items()))

    def __post_init__(self) -> None:
        POSITIVE.check("memory bandwidth", self.bandwidth)
        for name, times in self.touches.items():
            _one_of("memory touch", name, TOUCHES)
            POSITIVE.check(f"memory touches of {name}", times)

    def share(self, *uses: Touch) -> float:
        """Byte/s that each of ``uses`` gets when they go on at once."""
        return self.bandwidth / sum(self.touches.get(use, TOUCHES[use]) for use in uses)


TOUCHES: dict[Touch, float] = {"send": 1.0, "receive": 1.0, "relay": 2.0, "reduce": 3.0}
"""Times a byte crosses the memory: read; write; written then read; local read, incoming read, write."""


@dataclass(frozen=True, slots=True)
class Node:
    """A device (end node: pays software, has memory and NICs) or a switch (pays only ``latency``; None: not known)."""

    name: str
    kind: Kind = "device"
    latency: float | None = None
    nics: int = 1
    memory: Memory | None = None

    def __post_init__(self) -> None:
        _one_of("kind of node", self.kind, get_args(Kind))
        if self.latency is not None:
            NON_NEGATIVE.check(f"latency of {self.name}", self.latency)
        if self.nics < 1:
            raise MachineError(f"node {self.name} has {self.nics} NICs: expected at least 1")
        if self.kind == "switch" and self.memory is not None:
            raise MachineError(f"switch {self.name} has a memory: only devices have one")


def _one_of(what: str, value: str, known: Mapping[str, object] | tuple[str, ...] | Mapping[Touch, float]) -> None:
    if value not in known:
        raise UnknownNameError(what, value, known)
