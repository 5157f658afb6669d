"""A step solved backwards: what each input would have to be, alone, for a time to be reached.

What belongs here: how far an input is looked at, and what of the answer is whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from hopline.errors import InputError, SimulationError
from hopline.jobs import bucket_counts
from hopline.jobs.step_inputs import changed, inputs
from hopline.jobs.step_parts import Parts
from hopline.model.sensitivity import Input
from hopline.model.solving import nearest
from hopline.records.step import Reached

_FAR = 1e6
"""How many times better or worse an input is looked at."""
_NOTHING = 1e-9
"""Part of what an input is below which it may as well be nothing."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is aimed at: seconds of the step, or with ``budget`` of communication alone."""

    seconds: float
    budget: bool = False

    def of(self, parts: Parts) -> float:
        """The seconds that count."""
        if not self.budget:
            return parts.seconds()
        return math.fsum(price.time for price in parts.sending.parts(parts.amounts()))


def reached(parts: Parts, aim: Aim) -> Iterator[Reached]:
    """Every input alone. One that has no say in what is aimed at is left out."""
    for name, told in inputs(parts).items():
        seconds = lru_cache(maxsize=None)(_asked(parts, aim, name))
        good, bad = _extremes(parts, name, told)
        if seconds(good) == seconds(bad) == seconds(told.value):
            continue
        tried: list[float] = []
        value = nearest(_holds(seconds, aim.seconds, tried), told.value, good, bad)
        if value is not None:
            value = _whole(name, told, value, lambda value, seconds=seconds: seconds(value) <= aim.seconds)  # type: ignore[misc]
        yield Reached(name, told.dimension, told.value, value, min(tried), told.more)
    if parts.cut and not aim.budget:
        yield from _buckets(parts, aim)


def _holds(seconds: Callable[[float], float], target: float, tried: list[float]) -> Callable[[float], bool]:
    def holds(value: float) -> bool:
        tried.append(seconds(value))
        return tried[-1] <= target

    return holds


def _asked(parts: Parts, aim: Aim, name: str) -> Callable[[float], float]:
    return lambda value: allowed(lambda: aim.of(changed(parts, name, value)))


def _extremes(parts: Parts, name: str, told: Input) -> tuple[float, float]:
    """An input as good and as bad as it is looked at."""
    most, least = told.value * _FAR, told.value / _FAR
    if told.more:
        return most, least
    if name == "bytes sent":
        return float(len(parts.amounts()) if parts.cut else 0), most
    if name.startswith("gradients"):
        return 0.0, parts.whole
    return (least if name == "compute" else told.floor), most


def _whole(name: str, told: Input, value: float, holds: Callable[[float], bool]) -> float:
    """What is counted is whole, and what is next to nothing is nothing, where that reaches it, too."""
    if name == "requests in flight":
        return float(math.ceil(value))
    if told.dimension == "size":
        return float(math.floor(value))
    if not told.more and value < _NOTHING * told.value and holds(told.floor):
        return told.floor
    return value


def _buckets(parts: Parts, aim: Aim) -> Iterator[Reached]:
    """The numbers of buckets that reach it, and the sizes that make as many."""
    found = bucket_counts.reaching(parts, aim.seconds)
    best = bucket_counts.exactly(parts, bucket_counts.best(parts))
    first, last = (found.first, found.last) if found else (None, None)
    yield Reached("buckets", "count", len(parts.amounts()), first, best, until=last)
    if parts.sending.size:
        sizes = [count and bucket_counts.size_of(parts, count, aim.seconds) for count in (first, last)]
        yield Reached("bucket size", "size", max(parts.amounts()), sizes[0] or None, best, until=sizes[1] or None)


def allowed(seconds: Callable[[], float]) -> float:
    """Seconds; without end where there can be no such step."""
    try:
        return seconds()
    except (InputError, SimulationError):
        return math.inf
