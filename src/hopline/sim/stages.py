"""A pipeline's schedule, gone through: who does which micro-batch when, with what sending between stages takes.

What belongs here: 1F1B, and 1F1B interleaved over several chunks of a stage in Megatron's order (arXiv 2104.04473). A stage
does one thing at a time in its own order; what it makes is at the next stage ``hop`` seconds later, while it goes on. Times
are whole ticks of a common denominator.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from hopline.errors import SimulationError
from hopline.quantity import NON_NEGATIVE, exact
from hopline.records.step import Bubble

Task = tuple[bool, int, int]
"""Forward?, micro-batch, chunk of the stage."""


def order(stages: int, stage: int, microbatches: int, virtual: int = 1) -> list[Task]:
    """What ``stage`` does, in order: forwards that fill the pipeline, one forward and one backward in turn, backwards."""
    ahead = _passes(stages, microbatches, virtual, forward=True)
    back = _passes(stages, microbatches, virtual, forward=False)
    fill = stages - 1 - stage if virtual == 1 else 2 * (stages - 1 - stage) + (virtual - 1) * stages
    fill = min(fill, len(ahead))
    turns = [task for pair in zip(ahead[fill:], back, strict=False) for task in pair]
    return [*ahead[:fill], *turns, *back[len(ahead) - fill :]]


def _passes(stages: int, microbatches: int, virtual: int, forward: bool) -> list[Task]:
    """All forwards or backwards of a stage: groups of as many micro-batches as stages, each through all its chunks."""
    chunks = range(virtual) if forward else range(virtual - 1, -1, -1)
    return [
        (forward, batch, chunk)
        for first in range(0, microbatches, stages if virtual > 1 else microbatches)
        for chunk in chunks
        for batch in range(first, min(microbatches, first + (stages if virtual > 1 else microbatches)))
    ]


def simulate_stages(
    stages: int, microbatches: int, forward: float, backward: float, virtual: int = 1, hop: float = 0.0
) -> Bubble:
    """The time of all micro-batches; ``forward`` and ``backward`` are seconds of a stage with all its chunks for one.

    Raises SimulationError where stages would wait for one another for ever.
    """
    return Pipeline(stages, microbatches, virtual).bubble(forward, backward, hop)


@dataclass(frozen=True, slots=True)
class Critical:
    """What the longest way through a pipeline is made of: forwards and backwards of a chunk, and hops."""

    forwards: int
    backwards: int
    hops: int

    def time(self, forward: Fraction, backward: Fraction, hop: Fraction) -> Fraction:
        """Its length; of a chunk's forward and backward, and a hop."""
        return self.forwards * forward + self.backwards * backward + self.hops * hop


class Pipeline:
    """A pipeline that is asked for many times, and gone through only where its longest way may be another one.

    The time is the longest of ways that do not depend on times, so that it is convex in them: a way that is the longest for
    two hops, as parts of the work, is so for all between them.
    """

    def __init__(self, stages: int, microbatches: int, virtual: int = 1) -> None:
        self.stages, self.microbatches, self.virtual = stages, microbatches, virtual
        self._orders: list[list[Task]] = []
        self._known: dict[Fraction, list[tuple[Fraction, Critical]]] = {}

    def bubble(self, forward: float, backward: float, hop: float = 0.0) -> Bubble:
        """As ``simulate_stages`` has it."""
        ahead, back = exact(NON_NEGATIVE.check("forward", forward)), exact(NON_NEGATIVE.check("backward", backward))
        wire = exact(NON_NEGATIVE.check("time of a hop", hop))
        parts = ahead / self.virtual, back / self.virtual, wire if self.stages > 1 else Fraction(0)
        ideal = self.microbatches * (ahead + back)
        return Bubble(
            self.stages, self.microbatches, self.virtual, float(self._longest(parts).time(*parts)), float(ideal)
        )

    def _longest(self, parts: tuple[Fraction, Fraction, Fraction]) -> Critical:
        work = parts[0] + parts[1]
        if not work:
            return self._simulated(parts)
        known, hop = self._known.setdefault(parts[0] / work, []), parts[2] / work
        place = bisect_left(known, hop, key=lambda point: point[0])
        beside = known[max(0, place - 1) : place + 1]
        if place < len(known) and (known[place][0] == hop or (len(beside) == 2 and beside[0][1] == beside[1][1])):
            return known[place][1]
        found = self._simulated(parts)
        known.insert(place, (hop, found))
        return found

    def _simulated(self, parts: tuple[Fraction, Fraction, Fraction]) -> Critical:
        self._orders = self._orders or [
            order(self.stages, stage, self.microbatches, self.virtual) for stage in range(self.stages)
        ]
        ticks = lcm(*(part.denominator for part in parts))
        forward, backward, wire = (int(part * ticks) for part in parts)
        done, clocks = _ends(self._orders, self.virtual, {True: forward, False: backward}, wire)
        last = max(range(self.stages), key=clocks.__getitem__)
        return _critical(self._orders, last, done, {True: forward, False: backward}, wire)


Done = dict[tuple[bool, int, int], int]
"""Forward?, micro-batch and place in the whole model (chunk x stages + stage) -> when it is done."""


def _ends(orders: Sequence[Sequence[Task]], virtual: int, cost: dict[bool, int], wire: int) -> tuple[Done, list[int]]:
    """When each task and each stage is done, in ticks: all stages go on as far as they can, until none can."""
    stages = len(orders)
    done: Done = {}
    clocks, places = [0] * stages, [0] * stages
    waiting = list(range(stages))
    while waiting:
        stage = waiting.pop()
        while places[stage] < len(orders[stage]):
            forward, batch, chunk = orders[stage][places[stage]]
            depth = chunk * stages + stage
            came = _before(done, forward, batch, depth, stages * virtual, wire)
            if came is None:
                break
            clocks[stage] = done[forward, batch, depth] = max(clocks[stage], came) + cost[forward]
            places[stage] += 1
            waiting.append((stage + 1 if forward else stage - 1) % stages)
    if any(place < len(tasks) for place, tasks in zip(places, orders, strict=True)):
        batches = len({batch for _, batch, _ in orders[0]})
        raise SimulationError(
            f"{batches} micro-batches in {virtual} interleaved chunks on {stages} stages wait for one another for ever: "
            f"micro-batches must be a multiple of stages, like {-(-batches // stages) * stages}"
        )
    return done, clocks


def _critical(orders: Sequence[Sequence[Task]], stage: int, done: Done, cost: dict[bool, int], wire: int) -> Critical:
    """Back from the last task of ``stage``: to what a task got, where that came last, else to what its stage did before."""
    stages = len(orders)
    depths = max(depth for _, _, depth in done) + 1
    places = [{task: place for place, task in enumerate(tasks)} for tasks in orders]
    task: Task | None = orders[stage][-1]
    counts = {True: 0, False: 0}
    hops = 0
    while task is not None:
        forward, batch, chunk = task
        counts[forward] += 1
        depth = chunk * stages + stage
        start = done[forward, batch, depth] - cost[forward]
        first, turns = forward and depth == 0, not forward and depth == depths - 1
        if not first and _before(done, forward, batch, depth, depths, wire) == start:
            hops += not turns
            depth += 0 if turns else -1 if forward else 1
            stage, task = depth % stages, (forward or turns, batch, depth // stages)
        else:
            place = places[stage][task]
            task = orders[stage][place - 1] if place else None
    return Critical(counts[True], counts[False], hops)


def _before(done: Done, forward: bool, batch: int, depth: int, depths: int, wire: int) -> int | None:
    """When what a task needs is there; None: it is not made yet. The last forward turns round on its own stage."""
    if forward:
        if depth == 0:
            return 0
        made = done.get((True, batch, depth - 1))
    elif depth == depths - 1:
        return done.get((True, batch, depth))
    else:
        made = done.get((False, batch, depth + 1))
    return None if made is None else made + wire
