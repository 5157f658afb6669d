"""The time of a collective from the curve of one send: what is paid once, what each step costs, what the bytes take.

What belongs here: closed forms of ring, tree, doubling and direct collectives, and the best of them. No events: who waits
for whom inside of a step is not told apart.

A send pays its launch and one hop. A collective is one kernel: it pays the launch once, a hop for each step that must come
after another, and for the bytes what one long send of all that a rank sends takes beyond an empty one:

    t = launch + near steps x near hop + far steps x far hop + bytes / (bandwidth x efficiency)

Multiplying the whole α of a send by the steps, as the plain α-β form does, charges the launch at each step. How α divides is
not seen in sends, so hops and what protocols pay more are premises, taken from NCCL's own tuning (``protocols``). Each
algorithm goes by the protocol that is fastest at the size. A host that needs longer to hand over the call
than the device to serve it sets the pace: then the time is the host's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from hopline.curve import Curve, Floats
from hopline.errors import InputError, UnknownNameError
from hopline.model.algorithms import ALGORITHMS, NCCL, Steps
from hopline.model.protocols import FAR_RING, NET_OVERHEAD, PROTOCOLS, Protocol
from hopline.quantity import NON_NEGATIVE
from hopline.records.estimate import Estimate, Premise, Term
from hopline.records.fit import Prediction

_NINETY = 1.645
"""Standard deviations to either side that hold 90 % of a normal distribution."""
ERROR = 0.15
"""Relative model error, one standard deviation: predictions from vidur's H100 sends against the all-reduce of NCCL 2.29.2 on
2, 4 and 8 H100 by aiconfigurator (validation/collectives.py prints it)."""
FAR_ERROR = 0.65
"""The same where the network is used. There are no tables of several nodes to measure it on. Of two healthy logs of GH200 on
two nodes (Slingshot), one of 8 ranks is predicted within 30 % up to 2 KiB and from 16 MiB on, and up to 3.9 times too fast in
between; one of 2 ranks up to 5.4 times too fast, at 1 MiB."""
OTHER_START, OTHER_STARTS = 0.5, {"alltoall": 1.1}
"""More error, in log time, of what does not depend on size where library and host are not those of the sends, and benchmarks
where it is another. On logs of 8 A100 with NCCL 2.8 start-ups were 1.7 (all_reduce), 2.1 (all_gather) and 6.6 times (alltoall)
those of this model, and messages from 64 MiB on within 25 %."""
HOST_ERROR = 0.3
"""The same of the host's time for a call, where one is given."""

BESIDE_ALL_REDUCE = {"all_gather": 0.6735 / 0.7424, "reduce_scatter": 0.6731 / 0.7424, "alltoall": 0.5968 / 0.7424}
"""Part of an all-reduce's bandwidth that others reach: efficiencies fitted on B200 by SimuMax (b200_bf16_ceperm.json)."""


@dataclass(frozen=True, slots=True)
class Sends:
    """What one send takes, inside a node and between nodes.

    Attributes
    ----------
    near, far
        α-β curves; ``far`` over one NIC. One of them may be missing where no rank needs it.
    rails
        NICs of a node that work at once.
    wires
        Of the near sends: ``nvlink`` or ``pci``.
    host
        Seconds that the host takes for a call; 0: launches do not wait for it (graphs, one call after another).
    """

    near: Curve | None = None
    far: Curve | None = None
    rails: int = 1
    wires: str = "nvlink"
    host: float = 0.0

    def __post_init__(self) -> None:
        if self.near is None and self.far is None:
            raise InputError("neither near nor far sends: expected the curve of one send")
        if self.rails < 1:
            raise InputError(f"{self.rails} rails: expected at least 1")
        if self.wires not in ("nvlink", "pci"):
            raise UnknownNameError("kind of wires", self.wires, ("nvlink", "pci"))
        NON_NEGATIVE.check("host time of a call", self.host)

    @property
    def launch(self) -> float:
        """What a send pays once: α less one hop. Near small sends go by LL, far ones by Simple."""
        ll, simple = PROTOCOLS[0], PROTOCOLS[-1]
        if self.near is not None:
            return max(0.0, self.near.pieces[0].latency - ll.hop["ring", self.wires])
        assert self.far is not None
        return max(0.0, self.far.pieces[0].latency - simple.hop["ring", "net"])


@dataclass(frozen=True, slots=True)
class Way:
    """One algorithm by one protocol: seconds that do not depend on the size, and those of the bytes."""

    algorithm: str
    protocol: str
    launch: float
    steps: float
    bytes: Floats

    @property
    def time(self) -> Floats:
        """Seconds on the device for each size."""
        return np.asarray(self.launch + self.steps + self.bytes)


def ways(
    benchmark: str,
    size: ArrayLike,
    ranks: int,
    sends: Sends,
    per_node: int | None = None,
    algorithms: Sequence[str] = NCCL,
) -> list[Way]:
    """Every algorithm by every protocol, for ``size`` bytes as nccl-tests counts them (any shape).

    ``per_node``: ranks of each node; None: all are in one. Raises InputError for ranks that no such nodes hold.
    """
    if benchmark not in ALGORITHMS:
        raise UnknownNameError("collective", benchmark, ALGORITHMS)
    nodes = _nodes(ranks, per_node, sends)
    known = ALGORITHMS[benchmark]
    for name in algorithms:
        if name not in {a for made in ALGORITHMS.values() for a in made}:
            raise UnknownNameError("algorithm", name, {a for made in ALGORITHMS.values() for a in made})
    names = [name for name in known if name in algorithms] or list(known)
    sizes = np.asarray(size, dtype=float)
    sizes = sizes / BESIDE_ALL_REDUCE.get(benchmark, 1.0)
    return [_way(name, p, known[name](ranks, nodes), sizes, sends, nodes) for name in names for p in PROTOCOLS]


def _nodes(ranks: int, per_node: int | None, sends: Sends) -> int:
    own = ranks if per_node is None else per_node
    if ranks < 2 or own < 1 or ranks % own:
        raise InputError(f"{ranks} ranks, {own} a node: expected at least 2 ranks on nodes that hold equally many")
    if own > 1 and sends.near is None:
        raise InputError(f"{own} ranks a node, and no near sends: expected their curve")
    if own < ranks and sends.far is None:
        raise InputError(f"{ranks // own} nodes, and no far sends: expected their curve")
    return ranks // own


def _way(name: str, protocol: Protocol, steps: Steps, size: Floats, sends: Sends, nodes: int) -> Way:
    kind = "tree" if name == "tree" else "ring"
    near, far = protocol.hop[kind, sends.wires], protocol.hop[kind, "net"]
    slow = FAR_RING if name == "ring" and protocol.name == "Simple" and nodes > 1 else 1.0
    if name == "ring" and nodes > 1:
        near = max(near, NET_OVERHEAD)
    more = protocol.base[kind] - PROTOCOLS[0].base["ring"]
    parts = [_bytes(sends.near, steps.out * size), _bytes(sends.far, steps.across * size / sends.rails)]
    moved = np.maximum(*parts) if steps.together else parts[0] + parts[1]
    launch = sends.launch + more
    hops = steps.near * near + steps.far * far
    return Way(name, protocol.name, launch * slow, hops * slow, moved / protocol.efficiency[kind])


def _bytes(curve: Curve | None, size: Floats) -> Floats:
    """What a send of ``size`` takes beyond an empty one."""
    if curve is None:
        return np.zeros_like(size)
    return np.asarray(np.maximum(curve.time(size) - curve.pieces[0].latency, 0.0))


def times(
    benchmark: str,
    size: ArrayLike,
    ranks: int,
    sends: Sends,
    per_node: int | None = None,
    algorithms: Sequence[str] = NCCL,
    other: bool = False,
) -> Prediction:
    """Times of the best way for each size, never less than the host's, with their 90 % interval.

    ``other``: on another library or host than the sends were measured with (OTHER_START). The interval holds the model's
    relative ERROR. Where a host time is given the lower end still is the device's, because calls that follow one another
    may hide it, and the upper end holds the host's own error.
    """
    sizes = np.atleast_1d(np.asarray(size, dtype=float))
    found = ways(benchmark, sizes, ranks, sends, per_node, algorithms)
    every = np.array([way.time for way in found])
    device = every.min(axis=0)
    still = np.array([way.launch + way.steps for way in found])[every.argmin(axis=0)] / device
    start = OTHER_STARTS.get(benchmark, OTHER_START) if other else 0.0
    factor = np.exp(_NINETY * np.hypot(_error(ranks, per_node)[0], start * still))
    high = np.maximum(device * factor, sends.host * math.exp(_NINETY * HOST_ERROR))
    return Prediction(sizes, np.maximum(device, sends.host), device / factor, high)


def _error(ranks: int, per_node: int | None) -> tuple[float, str]:
    """The model's relative error, and what it was learnt from."""
    near = per_node is None or per_node == ranks
    return (ERROR, "one H100 machine") if near else (FAR_ERROR, "two logs of two nodes")


def estimate(
    benchmark: str, size: float, ranks: int, sends: Sends, per_node: int | None = None, algorithms: Sequence[str] = NCCL
) -> Estimate:
    """The best way for one size: its launch, steps and bytes, and what the host adds."""
    best = min(ways(benchmark, size, ranks, sends, per_node, algorithms), key=lambda way: float(way.time))
    found = times(benchmark, size, ranks, sends, per_node, algorithms)
    terms = [
        Term("launch", best.launch, "fewer, larger calls"),
        Term("steps", best.steps, "fewer steps in a row: a tree, fewer ranks, sums in the switch"),
        Term("bytes", float(best.bytes), "more bandwidth, or fewer bytes a rank"),
        Term("waiting for the host", max(0.0, sends.host - float(best.time)), "graphs, or fewer calls"),
    ]
    made = Estimate.of(
        f"{benchmark} by {best.algorithm}, {best.protocol}",
        terms,
        "sum",
        _premises(sends, best, *_error(ranks, per_node)),
    )
    return replace(made, low=float(found.low[0]), high=float(found.high[0]))


def _premises(sends: Sends, best: Way, error: float, learnt_from: str) -> tuple[Premise, ...]:
    share = 100 * best.steps / float(best.time)
    return (
        Premise(
            "hops and protocols as in NCCL's tuning.cc (5067397)", "unknown", f"{share:.0f} % of the time are hops"
        ),
        Premise(
            f"the model's relative error is {error:g} ({learnt_from})",
            "unknown",
            "other machines may differ more",
        ),
        Premise(
            "no sums in the switch (NVLS, SHARP)", "unknown", "large all-reduces may be a quarter faster", matters=True
        ),
        Premise(
            "the host hands over calls in time", "unknown" if sends.host == 0 else "holds", matters=sends.host == 0
        ),
    )
