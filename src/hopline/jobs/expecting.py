"""What a benchmark should show on a machine: from what was measured there, or from its links by formula.

What belongs here: which of the ways to know is taken, in the order of BASES, and the least time that the machine allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.errors import HoplineError, MachineError
from hopline.jobs import layout, predictions
from hopline.jobs.routes import SENDS
from hopline.machine.cuts import cuts
from hopline.machine.parts import Operation
from hopline.machine.topology import Machine
from hopline.model import collectives
from hopline.model.algorithms import ALGORITHMS
from hopline.model.cuts import BENCHMARKS, least_time
from hopline.quantity import show
from hopline.records.busbw import FACTORS
from hopline.records.estimate import Premise
from hopline.records.fit import Prediction
from hopline.study import ranks as across

DEFAULT_SIZES = tuple(float(8 << power) for power in range(25))
"""8 B to 128 MiB, as nccl-tests is usually asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: a benchmark (in nccl-tests' words and counting of sizes) of ``ranks`` ranks (None: not known).

    ``places`` are the devices of the ranks, none: the machine's first ones. ``sizes`` in bytes, none: those measured.
    """

    machine: Machine
    benchmark: str
    ranks: int | None
    sizes: tuple[float, ...] = ()
    places: tuple[str, ...] = ()
    extrapolate: bool = False

    @property
    def measured(self) -> Operation | None:
        """What was measured of this very operation."""
        return self.machine.operations.get(self.benchmark if self.ranks is None else f"{self.benchmark}.{self.ranks}")


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The answer: times with 90 % intervals, what they come from, and the least time that is possible for each size.

    ``smallest`` and ``largest`` are the range that was measured; ``least`` are (seconds, over which cut), None where the
    machine states no line rates.
    """

    found: Prediction
    basis: str
    premises: tuple[Premise, ...] = ()
    smallest: float = 0.0
    largest: float = float("inf")
    least: tuple[tuple[float, str], ...] | None = None


def benchmark_of(name: str) -> str:
    """A benchmark in hopline's words, from nccl-tests', OSU's or MPI's (``all_reduce_perf``, ``MPI_Allreduce``)."""
    bare = re.sub(r"^(osu|mpi|nccl)_|_perf(_mpi)?$", "", name.strip().lower().replace("-", "_"))
    known = {re.sub("_", "", word): word for word in (*FACTORS, *BENCHMARKS, "barrier")}
    return known.get(_SAME.get(bare, bare).replace("_", ""), bare)


_SAME = {"bcast": "broadcast", "all_to_all": "alltoall"}


def expect(question: Question) -> Expected:
    """Answer ``question``.

    Raises FitError for sizes outside of what was measured without ``extrapolate``, MachineError where the machine tells
    nothing of the benchmark, and what reading its links raises.
    """
    for basis in BASES:
        answer = basis(question)
        if answer is not None:
            return answer
    known = ", ".join(question.machine.operations) or "none"
    raise MachineError(
        f"{question.machine.name} tells nothing of {_asked(question)}: it has no links to work it out from, and measured "
        f"operations are {known}; measured ones are added by hopline fit LOG... --save"
    )


def _asked(question: Question) -> str:
    return question.benchmark + (f" on {question.ranks} ranks" if question.ranks else "")


def _as_measured(question: Question) -> Expected | None:
    operation = question.measured
    if operation is None:
        return None
    points = predictions.points_of(operation)
    sizes = question.sizes or tuple(points.size.tolist())
    found = predictions.predict_within(operation.name, points, sizes, operation.benchmark, question.extrapolate)
    basis = f"measured: {operation.fitted.origin}"
    return Expected(found, basis, (), float(points.size[0]), float(points.size[-1]), least(question, sizes))


def _from_other_counts(question: Question) -> Expected | None:
    """The same collective, measured with other numbers of ranks."""
    name, ranks = question.benchmark, question.ranks
    known = {
        operation.ranks: predictions.points_of(operation)
        for operation in question.machine.operations.values()
        if operation.benchmark == name and operation.ranks and operation.ranks > 1
    }
    if not known or ranks is None or name not in across.BENCHMARKS:
        return None
    low, high = max(p.size[0] for p in known.values()), min(p.size[-1] for p in known.values())
    sizes = question.sizes or tuple(m for m in next(iter(known.values())).size.tolist() if max(low, 1) <= m <= high)
    outside = [m for m in sizes if not max(low, 1) <= m <= high]
    if outside:
        raise MachineError(
            f"{show(outside[0], 'size')} lies outside of the {show(low, 'size')} to {show(high, 'size')} measured of {name} "
            f"on {', '.join(map(str, sorted(known)))} ranks, from which {ranks} ranks are worked out: ask inside of it"
        )
    given = {count: (points.size, points.time) for count, points in known.items()}
    found = across.predict(given, ranks, name, sizes)
    basis = f"worked out from {', '.join(map(str, sorted(known)))} ranks as measured"
    return Expected(found, basis, across.premises(given, ranks, name), float(low), float(high), least(question, sizes))


def _by_formula(question: Question) -> Expected | None:
    """A collective from the machine's links."""
    if not question.machine.connections or question.benchmark not in ALGORITHMS:
        return None
    places = layout.devices(question.machine, question.ranks, question.places)
    laid = layout.layout(question.machine, places)
    sizes = question.sizes or DEFAULT_SIZES
    asked = (question.benchmark, len(places), laid.sends, laid.per_node)
    found = collectives.times(asked[0], sizes, *asked[1:], other=True)
    largest = collectives.estimate(asked[0], max(sizes), *asked[1:])
    basis = f"by formula from the links of {question.machine.name}: {laid.note}; {largest.name} at {show(max(sizes), 'size')}"
    return Expected(found, basis, largest.premises, 0.0, float("inf"), least(question, sizes))


def _by_route(question: Question) -> Expected | None:
    """Single sends, or a stream of them, from the links between two devices; a ring of sends from its slowest pair."""
    name = question.benchmark
    stream = predictions.is_stream(name)
    if not question.machine.connections or not (stream or name in SENDS):
        return None
    places = layout.devices(question.machine, question.ranks if name == "sendrecv" else 2, question.places)
    pairs = list(zip(places, (*places[1:], places[0]), strict=True)) if name == "sendrecv" else [(places[0], places[1])]
    sizes = np.array([m for m in question.sizes or DEFAULT_SIZES if m > 0 or not stream])
    curve, pair = max(
        ((layout.send(question.machine, *pair), pair) for pair in pairs), key=lambda one: one[0].time(sizes[-1])
    )
    time = curve.time(sizes)
    rate = sizes / curve.at(sizes)[1]
    between = f"by formula from the links between {pair[0]} and {pair[1]} of {question.machine.name}"
    error = np.exp(_SEND_ERROR)
    if stream:
        found = Prediction(sizes, rate, rate / error, time * error)
        premise = Premise(
            "a stream's gap lies between size / bandwidth and a whole send", "unknown", "measure it: hopline fit"
        )
    else:
        found = Prediction(sizes, time, time / error, time * error)
        premise = Premise(
            f"a send is within {100 * _SEND_ERROR:.0f} % of its links' α and β", "unknown", "measure it: hopline fit"
        )
    return Expected(found, between, (premise,), 0.0, float("inf"), least(question, sizes))


_SEND_ERROR = 0.2
"""Half-width (log) of a send that was not measured here: one α-β line through H100 and A100 sends is off by 3 to 10 % in the
mean (vidur's tables)."""

BASES: tuple[Callable[[Question], Expected | None], ...] = (_as_measured, _from_other_counts, _by_formula, _by_route)


def least(question: Question, sizes: Sequence[float] | Floats) -> tuple[tuple[float, str], ...] | None:
    """The least time of each size, and the cut that sets it; None where the machine states no line rates or layout."""
    machine = question.machine
    stated = machine.connections and not any(link.fitted for link in machine.links.values())
    if not stated or question.benchmark not in BENCHMARKS:
        return None
    try:
        around = cuts(machine, layout.devices(machine, question.ranks, question.places))
    except HoplineError:
        return None
    bounds = [least_time(question.benchmark, float(size), around) for size in sizes]
    return tuple(
        (b.time, f"moving {show(b.bytes, 'size', 3)} across {b.where} at {show(b.rate, 'bandwidth', 3)}")
        for b in bounds
    )
