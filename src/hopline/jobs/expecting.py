"""What a benchmark should show on a machine: from what was measured there, or from its links by formula.

What belongs here: which of the ways to know is taken, in the order of BASES, and the least time that the machine allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hopline.curve import Floats
from hopline.errors import HoplineError, MachineError
from hopline.jobs import layout, predictions
from hopline.jobs.benchmarks import RING, SENDS, by_parts, is_stream
from hopline.jobs.questions import Question, points_of
from hopline.machine.cuts import cuts
from hopline.model import library, sends
from hopline.model.algorithms import ALGORITHMS
from hopline.model.cuts import BENCHMARKS, least_time
from hopline.quantity import show
from hopline.records.estimate import Premise
from hopline.records.fit import Prediction
from hopline.study import ranks as across

DEFAULT_SIZES = tuple(float(8 << power) for power in range(25))
"""8 B to 128 MiB, as nccl-tests is usually asked."""

Least = tuple[tuple[float, str], ...]
"""For each size the least seconds that any algorithm takes, and what takes them."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The answer: times with 90 % intervals, what they come from, and the least time that is possible for each size.

    ``smallest`` and ``largest`` are the range that was measured; ``least`` is None where the machine states no line rates.
    """

    found: Prediction
    basis: str
    premises: tuple[Premise, ...] = ()
    smallest: float = 0.0
    largest: float = math.inf
    least: Least | None = None


def expect(question: Question) -> Expected:
    """Answer ``question``.

    Raises FitError for sizes outside of what was measured without ``extrapolate``, MachineError where the machine tells
    nothing of the benchmark, InputError where ranks are missing, and what reading its links raises.
    """
    for basis in BASES:
        answer = basis(question)
        if answer is not None:
            return _within_bounds(answer)
    raise MachineError(f"{question.machine.name} tells nothing of {question}: {'; '.join(_why(question))}")


def _within_bounds(answer: Expected) -> Expected:
    """Nothing is expected to be faster than the machine allows."""
    if not answer.least:
        return answer
    bound, found = np.array([seconds for seconds, _ in answer.least]), answer.found
    times = (np.maximum(column, bound) for column in (found.time, found.low, found.high))
    return replace(answer, found=Prediction(found.size, *times))


def reach(question: Question) -> tuple[float, float]:
    """Smallest and largest size that can be answered without extrapolation."""
    if question.measured is not None:
        points = points_of(question.measured)
        return float(points.size[0]), float(points.size[-1])
    return _common(question) if _other_counts_tell(question) else (0.0, math.inf)


def _why(question: Question) -> list[str]:
    """Why nothing is known, and what would help."""
    machine, known = question.machine, question.machine.operations
    if not question.benchmark:
        return ["which benchmark it is of is not known: name it (--benchmark)"]
    formulas = ", ".join((*ALGORITHMS, "latency", "bw"))
    reasons = [f"formulas are of {formulas}" if machine.connections else "it has no links to work it out from"]
    if question.ranks and question.benchmark in known:
        reasons.append(f"{question.benchmark} was measured there on an unknown number of ranks (as -n is left away)")
    elif known:
        names = list(known)
        reasons.append(f"measured there are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}")
    return [*reasons, "hopline fit LOG --save NAME makes a machine of a measured log"]


def _as_measured(question: Question) -> Expected | None:
    operation = question.measured
    if operation is None:
        return None
    points = points_of(operation)
    sizes = question.sizes or tuple(points.size.tolist())
    found = predictions.predict_within(operation.name, points, sizes, operation.benchmark, question.extrapolate)
    origin = operation.fitted.origin
    basis = origin if origin.startswith("measured") else f"measured: {origin}"
    counted = by_parts(operation.tool, operation.benchmark) and operation.ranks is None
    basis += f"; sizes are one rank's part, as {operation.tool} counts" if counted else ""
    return Expected(found, basis, (), float(points.size[0]), float(points.size[-1]), least(question, sizes))


def _other_counts_tell(question: Question) -> bool:
    return bool(question.others) and question.ranks is not None and question.benchmark in across.BENCHMARKS


def _common(question: Question) -> tuple[float, float]:
    """The range of sizes above 0 that all other numbers of ranks reach."""
    low = max(float(points.size[points.size > 0][0]) for points in question.others.values())
    return low, min(float(points.size[-1]) for points in question.others.values())


def _from_other_counts(question: Question) -> Expected | None:
    """The same collective, measured with other numbers of ranks."""
    if not _other_counts_tell(question) or question.ranks is None:
        return None
    counts = ", ".join(map(str, sorted(question.others)))
    low, high = _common(question)
    if low >= high:
        raise MachineError(f"{question.benchmark} on {counts} ranks was measured at no common sizes: expected the same")
    nearest = min(question.others, key=lambda count: abs(math.log(count / (question.ranks or count))))
    sizes = question.sizes or tuple(m for m in question.others[nearest].size.tolist() if low <= m <= high)
    outside = [m for m in sizes if not low <= m <= high]
    if outside:
        raise MachineError(
            f"{show(outside[0], 'size')} lies outside of the {show(low, 'size')} to {show(high, 'size')} measured of "
            f"{question.benchmark} on {counts} ranks, from which {question.ranks} ranks are worked out: ask inside of it"
        )
    given = {count: (points.size, points.time) for count, points in question.others.items()}
    found = across.predict(given, question.ranks, question.benchmark, sizes)
    basis = f"worked out from {counts} ranks as measured"
    premises = across.premises(given, question.ranks, question.benchmark)
    return Expected(found, basis, premises, low, high, least(question, sizes))


def _by_formula(question: Question) -> Expected | None:
    """A collective from the machine's links."""
    if not question.machine.connections or question.benchmark not in ALGORITHMS or question.benchmark in SENDS:
        return None
    laid = layout.layout(question.machine, question.devices)
    sizes = question.sizes or DEFAULT_SIZES
    asked = (len(question.devices), laid.sends, laid.per_node)
    found = library.times(question.benchmark, sizes, *asked, other=True)
    largest = library.estimate(question.benchmark, max(sizes), *asked)
    basis = f"by formula from the links of {question.machine.name}: {laid.note}; {largest.name} at {show(max(sizes), 'size')}"
    return Expected(found, basis, largest.premises, least=least(question, sizes))


def _by_route(question: Question) -> Expected | None:
    """Single sends, or a stream of them, from the links between two devices; a ring of sends from its slowest pair."""
    ring = question.benchmark == RING
    if not question.machine.connections or not (question.paired or ring):
        return None
    sizes = question.sizes or DEFAULT_SIZES
    places = question.devices
    pairs = list(zip(places, (*places[1:], places[0]), strict=True)) if ring else [(places[0], places[1])]
    curves = {pair: layout.send(question.machine, *pair) for pair in pairs}
    first, second = max(curves, key=lambda pair: float(curves[pair].time(max(sizes))))
    stream = is_stream(question.benchmark)
    found = (sends.stream if stream else sends.single)(curves[first, second], sizes)
    premise = sends.STREAM_PREMISE if stream else sends.SINGLE_PREMISE
    basis = f"by formula from the links between {first} and {second} of {question.machine.name}"
    basis += "" if question.places else " (its first devices: --on names others)"
    return Expected(found, basis, (premise,), least=least(question, sizes))


BASES: tuple[Callable[[Question], Expected | None], ...] = (_as_measured, _from_other_counts, _by_formula, _by_route)


def least(question: Question, sizes: Sequence[float] | Floats) -> Least | None:
    """The least time of each size, and the cut that sets it; None where the machine states no line rates or layout.

    What must cross a cut is a part of the size, so one size tells all.
    """
    machine = question.machine
    links = [machine.links[connection.link] for connection in machine.connections]
    if not links or any(link.peak is None for link in links):
        return None
    benchmark = "bw" if question.paired and question.benchmark not in BENCHMARKS else question.benchmark
    if benchmark not in BENCHMARKS:
        return None
    try:
        around = cuts(machine, question.devices)
    except HoplineError:
        return None
    one = least_time(benchmark, 1.0, around)
    through = f"across {one.where} at {show(one.rate, 'bandwidth', 3)}"
    return tuple((m * one.time, f"moving {show(m * one.bytes, 'size', 3)} {through}") for m in map(float, sizes))
