"""Searches over whole numbers: the least of a cost that falls and then rises, and where an answer changes.

What belongs here: searches that know nothing of what they search in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer", bound=Hashable)
_SCANNED = 8
"""Neighbours that are looked at one by one: whole numbers make a convex cost rise and fall by a little."""


def lowest(cost: Callable[[int], float], most: int) -> int:
    """The number from 1 to ``most`` with the least ``cost``, the smaller of equals; cost: falls first, then rises.

    Powers of two find the octave, up to where the cost has risen twice; thirds the place in it, and neighbours what rounding
    to whole numbers does.
    """
    known: dict[int, float] = {}

    def at(number: int) -> float:
        if number not in known:
            known[number] = cost(number)
        return known[number]

    powers = [1]
    while powers[-1] < most and not _risen_twice([at(number) for number in powers[-3:]]):
        powers.append(min(most, 2 * powers[-1]))
    best = min(powers, key=lambda number: (at(number), number))
    low, high = max(1, best // 2), min(most, best * 2)
    while high - low > _SCANNED:
        third = (high - low) // 3
        if at(low + third) <= at(high - third):
            high -= third
        else:
            low += third
    for number in range(low, high + 1):
        at(number)
    return min(known, key=lambda number: (known[number], number))


def _risen_twice(costs: Sequence[float]) -> bool:
    return len(costs) == 3 and costs[0] < costs[1] < costs[2]


@dataclass(frozen=True, slots=True)
class Run(Generic[Answer]):
    """``answer`` from ``low`` to ``high``, both included."""

    low: int
    high: int
    answer: Answer


def runs(answers: Callable[[int], Sequence[Answer]], low: int, high: int, per_octave: int = 2) -> list[Run[Answer]]:
    """From ``low`` to ``high``, where which answer is right.

    ``answers`` gives all that are right at a number, the most wanted first; one that goes on being right is kept. Changes are
    found between points that stand ``per_octave`` to a doubling, and then bisected to the number: what comes and goes
    between two points is not seen.
    """
    points = _points(low, high, per_octave)
    found: list[Run[Answer]] = []
    begun, current = low, answers(low)[0]
    here = low
    for there in points[1:]:
        while current not in answers(there):
            change = _first_without(answers, current, here, there)
            found.append(Run(begun, change - 1, current))
            begun, here, current = change, change, answers(change)[0]
        here = there
    return [*found, Run(begun, high, current)]


def _first_without(answers: Callable[[int], Sequence[Answer]], answer: Answer, low: int, high: int) -> int:
    """The number up to ``high`` from which on ``answer`` is not right, which it is at ``low``."""
    while high - low > 1:
        middle = (low + high) // 2
        if answer in answers(middle):
            low = middle
        else:
            high = middle
    return high


def _points(low: int, high: int, per_octave: int) -> list[int]:
    numbers, step = [low], 2 ** (1 / per_octave)
    while numbers[-1] < high:
        numbers.append(min(high, max(numbers[-1] + 1, round(numbers[-1] * step))))
    return numbers
