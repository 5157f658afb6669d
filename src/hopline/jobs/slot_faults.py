"""Who else stalls when an endpoint is dead or completions are lost: simulated, beside what a formula says.

What belongs here: composing ``model.slots`` and ``sim.slots_faults`` for each way of sharing the slots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hopline.errors import InputError
from hopline.machine.slots import Slots
from hopline.model.slots import hold, leak_times, limits, with_timeout
from hopline.sim.slots_faults import FaultRun, Faults, simulate_faults
from hopline.sim.slots_steady import steady

_ANSWERS, _MOST, _FEWEST = 20_000, 1_000_000, 50
OPEN = "one pool, in turn"


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """One way of sharing: its name, requests per second that are answered by formula and simulated, and the run."""

    name: str
    formula: float
    run: FaultRun

    @property
    def rate(self) -> float:
        """Requests per second, simulated."""
        return self.run.rate()


@dataclass(frozen=True, slots=True, eq=False)
class Stalls:
    """What is left of the rate.

    Attributes
    ----------
    healthy
        Requests per second without any fault.
    binds
        What binds then.
    shared
        Each way of sharing.
    leaks
        Seconds until half of the slots and all are lost, where completions are lost for good.
    """

    healthy: float
    binds: str
    shared: tuple[Shared, ...]
    leaks: tuple[float, float] | None

    def over_time(self) -> dict[str, list[tuple[float, float]]]:
        """(s, answered requests so far) of each way of sharing, to where one stalls four times over, or the end."""
        stalled = [way.run.stalled for way in self.shared if way.run.stalled is not None]
        ends = [float(way.run.answered[-1]) for way in self.shared if way.run.stalled is None]
        until = min(4 * max(stalled), min(ends, default=float("inf"))) if stalled else min(ends)
        return {way.name: answered_over_time(way.run, until) for way in self.shared}


def stalls(asked: Slots, faults: Faults, answers: int | None = None) -> Stalls:
    """Simulate the faults in an open pool and with at most ``cap`` slots for each endpoint (default: its even share).

    ``answers``: requests that are answered before the run ends; None: ten times what it takes until all slots are gone.
    """
    answers = answers or _until_gone(asked, faults)
    healthy = steady(asked).rate
    if healthy is None:
        raise InputError(
            "nothing takes any time here, so there is no rate to lose: expected --turnaround, --poll or --issue"
        )
    ways = [Shared(OPEN, _open(asked, faults, healthy), simulate_faults(asked, replace(faults, cap=None), answers))]
    if faults.dead and faults.endpoints > 1 and asked.count is not None:
        cap = faults.cap or max(1, asked.count // faults.endpoints)
        run = simulate_faults(asked, replace(faults, cap=cap), answers)
        ways.append(Shared(f"at most {cap} for each", _capped(asked, faults, cap, healthy), run))
    lost_for_good = faults.lost_every is not None and faults.timeout is None
    found = limits(asked)
    return Stalls(
        healthy, found[0].name if found else "", tuple(ways), _leaks(asked, faults) if lost_for_good else None
    )


def _until_gone(asked: Slots, faults: Faults) -> int:
    """Answers of ten times as many requests as it takes until all slots are gone."""
    part = share(faults)
    requests = min(max(_ANSWERS, round(10 * (asked.count or 1) / part) if part else 0), _MOST)
    return max(_FEWEST, round(requests * (1 - part)))


def share(faults: Faults) -> float:
    """Part of the requests in an open pool that hold their slot without an answer."""
    lost = 1 / faults.lost_every if faults.lost_every else 0.0
    return 1 - (1 - faults.dead / faults.endpoints) * (1 - lost)


def _open(asked: Slots, faults: Faults, healthy: float) -> float:
    """Without a timeout all slots end up with what never answers."""
    part = share(faults)
    if not part or asked.count is None:
        return healthy
    if faults.timeout is None:
        return 0.0
    return min(
        (1 - part) * healthy, with_timeout(asked.count, float(hold(asked.turn(1), asked.poll)), faults.timeout, part)
    )


def _capped(asked: Slots, faults: Faults, cap: int, healthy: float) -> float:
    """The dead hold what they may, the others share the rest: (S - k) / S of the rate where slots bind."""
    assert asked.count is not None
    others = faults.endpoints - faults.dead
    left = min(asked.count - faults.dead * cap, others * cap)
    if left <= 0 or faults.lost_every is not None:
        pool = asked if left <= 0 else replace(asked, count=left)
        return 0.0 if faults.timeout is None else _open(pool, faults, healthy)
    return steady(replace(asked, count=left)).rate or healthy


def _leaks(asked: Slots, faults: Faults) -> tuple[float, float]:
    assert asked.count is not None
    rates = [limits(replace(asked, count=left))[0].rate for left in range(asked.count, 0, -1)]
    times = leak_times(rates, share(faults))
    return times[(asked.count + 1) // 2 - 1], times[-1]


def answered_over_time(run: FaultRun, until: float, points: int = 200) -> list[tuple[float, float]]:
    """(s, requests answered so far) at equal distances from 0 to ``until`` s."""
    times = np.linspace(0.0, until, points + 1)
    return list(
        zip(times.tolist(), np.searchsorted(run.answered, times, side="right").astype(float).tolist(), strict=True)
    )
