"""A pipeline's schedule, gone through: who does which micro-batch when, with what sending between stages takes.

What belongs here: 1F1B, and 1F1B interleaved over several chunks of a stage in Megatron's order (arXiv 2104.04473). A stage
does one thing at a time in its own order; what it makes is at the next stage ``hop`` seconds later, while it goes on. Times
are whole ticks of a common denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    costs = {
        True: exact(NON_NEGATIVE.check("forward", forward)),
        False: exact(NON_NEGATIVE.check("backward", backward)),
    }
    wire = exact(NON_NEGATIVE.check("time of a hop", hop))
    orders = [order(stages, stage, microbatches, virtual) for stage in range(stages)]
    ticks = lcm(*((cost / virtual).denominator for cost in (*costs.values(), wire * virtual)))
    part = {way: int(cost / virtual * ticks) for way, cost in costs.items()}
    ends = _ends(orders, virtual, part, int(wire * ticks))
    ideal = microbatches * (costs[True] + costs[False])
    return Bubble(stages, microbatches, virtual, float(Fraction(max(ends), ticks)), float(ideal))


def _ends(orders: Sequence[Sequence[Task]], virtual: int, cost: dict[bool, int], wire: int) -> list[int]:
    """When each stage is done, in ticks: all stages go on as far as they can, until none can."""
    stages = len(orders)
    done: dict[tuple[bool, int, int], int] = {}
    clocks, places = [0] * stages, [0] * stages
    waiting = list(range(stages))
    while waiting:
        stage = waiting.pop()
        while places[stage] < len(orders[stage]):
            forward, batch, chunk = orders[stage][places[stage]]
            depth = chunk * stages + stage
            came = _before(done, forward, batch, depth, stages * virtual, wire if stages > 1 else 0)
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
    return clocks


def _before(
    done: dict[tuple[bool, int, int], int], forward: bool, batch: int, depth: int, depths: int, wire: int
) -> int | None:
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
