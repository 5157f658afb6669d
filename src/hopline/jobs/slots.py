"""Slots from question to answer: both end times, the steady rate, what binds, what would help, what a target asks for.

What belongs here: composing ``model.slots`` and the clocks of ``sim``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hopline.errors import InputError
from hopline.machine.slots import MOST_SLOTS, Slots
from hopline.model.slots import QUEUES, Limit, Needs, limits, needs
from hopline.quantity import show
from hopline.sim.slots import SlotTimes, simulate_slots
from hopline.sim.slots_steady import Steady, steady

_MOST_SWEPT = 1_000_000
_SEARCH_STEPS, _MOST_SEARCHED = 40_000, MOST_SLOTS
_AHEAD, _NOTABLE = 4, 1.005
_CLOSE = 1 - 1e-12
"""An interval that is 1 / rate in floats may miss the rate by their last digit."""


@dataclass(frozen=True, slots=True)
class Lever:
    """One change: bytes per second that it gives (None: unbounded), and the factor gained."""

    change: str
    rate: float | None
    gain: float | None


@dataclass(frozen=True, slots=True)
class Swept:
    """The same requests with another number of slots."""

    slots: int
    transfer_end: float | None
    release_end: float | None
    rate: float | None


@dataclass(frozen=True, slots=True)
class Target:
    """What a target needs, and the least change of these slots that reaches it, found with the exact rate; None: none does."""

    needs: Needs
    changed: Slots | None


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """All about one setup; ``times`` is None where no number of requests was asked for."""

    asked: Slots
    requests: int | None
    times: SlotTimes | None
    steady: Steady
    limits: tuple[Limit, ...]
    levers: tuple[Lever, ...]
    swept: tuple[Swept, ...]
    target: Target | None

    @property
    def rate(self) -> float | None:
        """Byte/s in the long run; None: unbounded."""
        return _bytes(self.asked, self.steady)

    @property
    def binds(self) -> tuple[str, ...]:
        """The smallest of the limits, several where they are alike."""
        return tuple(limit.name for limit in self.limits if limit.rate <= self.limits[0].rate * (1 + 1e-12))


def _bytes(asked: Slots, found: Steady) -> float | None:
    return None if found.rate is None else found.rate * asked.size


def slots(asked: Slots, requests: int | None = None, target: float | None = None) -> Answer:
    """One look at a setup. Raises InputError as the models do."""
    found = steady(asked)
    return Answer(
        asked=asked,
        requests=requests,
        times=None if requests is None else simulate_slots(asked, requests),
        steady=found,
        limits=limits(asked),
        levers=_levers(asked, found),
        swept=sweep(asked, requests),
        target=None if target is None else _target(asked, target),
    )


Change = tuple[str, Slots]
_CHANGES: tuple[Callable[[Slots], Change | None], ...] = (
    lambda a: (f"{a.count * 2} slots", replace(a, count=a.count * 2)) if a.count and 2 * a.count <= _most(a) else None,
    lambda a: (f"a request every {show(a.issue / 2, 'time')}", replace(a, issue=a.issue / 2)) if a.issue else None,
    lambda a: (f"{a.batch * 2} completions at a poll", replace(a, batch=a.batch * 2)) if a.poll and a.batch else None,
    lambda a: (f"a poll every {show(a.poll / 2, 'time')}", _polled_twice(a)) if a.poll else None,
    lambda a: ("release at each completion", replace(a, poll=0.0, first_poll=None)) if a.poll else None,
    lambda a: ("release at each completion", replace(a, moderation=None)) if a.moderation else None,
    lambda a: (f"requests of {show(a.size * 2, 'size')}", replace(a, size=a.size * 2)) if a.size else None,
    lambda a: ("half the turnaround", _faster(a)) if a.turnaround or a.loaded else None,
    lambda a: (f"a wire of {show(a.bandwidth * 2, 'bandwidth')}", _wider(a)) if a.bandwidth else None,
)  # fmt: skip
"""What could be changed, each alone."""


def _most(asked: Slots) -> int:
    """The most slots of which the turnaround is known."""
    return len(asked.loaded) or MOST_SLOTS


def _polled_twice(asked: Slots) -> Slots:
    return replace(asked, poll=asked.poll / 2, first_poll=None)


def _wider(asked: Slots) -> Slots:
    return replace(asked, bandwidth=2 * (asked.bandwidth or 0.0))


def _faster(asked: Slots) -> Slots:
    return replace(asked, turnaround=asked.turnaround / 2, loaded=tuple(_whole(time / 2) for time in asked.loaded))


def _levers(asked: Slots, found: Steady) -> tuple[Lever, ...]:
    """Those that change the steady rate, the best first."""
    now, levers = _bytes(asked, found), []
    for change in _CHANGES:
        made = change(asked)
        if made is None or not now:
            continue
        rate = _bytes(made[1], steady(made[1], _SEARCH_STEPS))
        gain = None if rate is None else rate / now
        if gain is None or gain >= _NOTABLE:
            levers.append(Lever(made[0], rate, gain))
    return tuple(sorted(levers, key=lambda lever: -(lever.gain or float("inf"))))


def sweep(asked: Slots, requests: int | None) -> tuple[Swept, ...]:
    """The same with 1, 2, 4, ... slots, to twice as many as there are; none where their number is not told."""
    if asked.count is None:
        return ()
    least = asked.moderation.count if asked.moderation and asked.moderation.time is None else 1
    most = min(2 * asked.count, _most(asked))
    counts = sorted({1 << power for power in range(20) if least <= 1 << power <= most} | {asked.count, most})
    timed = requests if requests and requests * len(counts) <= _MOST_SWEPT else None
    rows = []
    for count in counts:
        changed = replace(asked, count=count)
        times = simulate_slots(changed, timed) if timed else None
        rate = _bytes(changed, steady(changed, _SEARCH_STEPS))
        ends = (None, None) if times is None else (times.transfer_end, times.release_end)
        rows.append(Swept(count, ends[0], ends[1], rate))
    return tuple(rows)


def _target(asked: Slots, target: float) -> Target:
    """First what each part needs alone, then as many slots as the exact rate asks for with it."""
    found = needs(asked, target)
    changed = replace(
        asked,
        issue=min(asked.issue, found.issue),
        batch=max(asked.batch, found.batch)
        if asked.poll and asked.batch is not None and found.batch is not None
        else asked.batch,
        bandwidth=None if asked.bandwidth is None else max(asked.bandwidth, found.bandwidth),
    )
    if asked.count is None or _reaches(changed, target):
        return Target(found, changed)
    most = min(_MOST_SEARCHED, _most(asked))
    low, high = asked.count, min(most, max(asked.count, found.slots_at_once or most))
    while not _reaches(replace(changed, count=high), target):
        if high >= most:
            return Target(found, None)
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(replace(changed, count=middle), target) else (middle, high)
    return Target(found, replace(changed, count=high))


def _reaches(asked: Slots, target: float) -> bool:
    rate = _bytes(asked, steady(asked, _SEARCH_STEPS))
    return rate is None or rate >= target * _CLOSE


def interpolated(points: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """Turnaround for 1, 2, ... requests in flight from points (in flight, s), linear between them and level below the first.

    Whole picoseconds. Raises InputError for points that do not ascend.
    """
    loads = [load for load, _ in points]
    if not points or loads != sorted(set(loads)) or loads[0] < 1:
        raise InputError(f"turnarounds are told for {loads} in flight: expected numbers that ascend, at least 1")
    found = [points[0][1]] * loads[0]
    for (before, low), (load, high) in pairwise(points):
        found += [low + (high - low) * (k - before) / (load - before) for k in range(before + 1, load + 1)]
    return tuple(map(_whole, found))


def _whole(time: float) -> float:
    """Rounded to whole picoseconds, so that all times have a common tick."""
    return float(f"{time * 1e12:.0f}e-12")


def queued(kind: str, count: int, base: float, service: float) -> tuple[float, ...]:
    """Turnaround at a far end that serves requests one after another, to four times ``count`` in flight, in whole ps."""
    return tuple(map(_whole, QUEUES[kind](_AHEAD * count, base, service)))


def by_load(asked: Slots) -> list[tuple[int, float, float]]:
    """(in flight, turnaround in s, requests per second) at 1, 2, 4, ... in flight, to the last that is known."""
    most = len(asked.loaded)
    loads = sorted({1 << power for power in range(most.bit_length()) if 1 << power <= most} | {most})
    turns = [(load, float(asked.turn(load))) for load in loads]
    return [(load, turn, load / turn if turn else float("inf")) for load, turn in turns]
