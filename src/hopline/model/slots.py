"""What bounds a sender with slots, what a target asks for, and what is lost when slots do not come back.

What belongs here: closed forms about ``machine.slots.Slots``. The exact rate of all together is ``sim.slots_steady``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import InputError
from hopline.machine.slots import Slots
from hopline.model.limits import target_rate_needs
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact


@dataclass(frozen=True, slots=True)
class Limit:
    """What one thing alone would allow, in requests per second."""

    name: str
    rate: float


def hold(turn: Fraction, poll: float) -> Fraction:
    """Least seconds that a slot given back at a poll is away again: the turnaround up to the next poll, at least one interval.

    Submitted at a poll, it cannot be released at that same poll: polls come before submits.
    """
    if not poll:
        return turn
    interval = exact(poll)
    return max(1, math.ceil(turn / interval)) * interval


def limits(asked: Slots) -> tuple[Limit, ...]:
    """What bounds the rate, each alone, the smallest first; what sets no bound is left out.

    ``slots``: count / hold, since a slot is given back at a poll and not before its turnaround (each release of a slot is at
    least ``hold`` after the one before it). ``completions``: batch / poll. ``wire``: bandwidth / size.
    """
    rates = {
        "issue": 1 / exact(asked.issue) if asked.issue else None,
        "completions": asked.batch / exact(asked.poll) if asked.poll and asked.batch is not None else None,
        "slots": _by_slots(asked),
        "wire": 1 / asked.wire if asked.wire else None,
    }
    found = [(rate, name) for name, rate in rates.items() if rate is not None]
    return tuple(Limit(name, float(rate)) for rate, name in sorted(found, key=lambda pair: pair[0]))


def _by_slots(asked: Slots) -> Fraction | None:
    if asked.count is None:
        return None
    loads = range(1, asked.count + 1) if asked.loaded else (asked.count,)
    held = {load: hold(asked.turn(load), asked.poll) for load in loads}
    return max(load / time for load, time in held.items()) if all(held.values()) else None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a target asks of each part.

    Attributes
    ----------
    target, rate
        Byte/s, and requests per second.
    issue
        Most seconds between two submits.
    batch
        Least completions at a poll, at the poll interval there is; None: they are not polled.
    poll
        Most seconds between two polls, at the batch there is; None: no batch.
    slots_at_once, slots
        Least slots where each completion releases at once (Little: rate x turnaround), and where they wait for polls; None:
        no number with a known turnaround.
    bandwidth
        Least byte/s of the wire.
    """

    target: float
    rate: float
    issue: float
    batch: int | None
    poll: float | None
    slots_at_once: int | None
    slots: int | None
    bandwidth: float


def needs(asked: Slots, target: float) -> Needs:
    """Necessary for ``target`` byte/s, each alone. Raises InputError for a target of 0 or requests without bytes."""
    goal = exact(POSITIVE.check("target rate", target))
    rate = goal / exact(POSITIVE.check("size", asked.size))
    return Needs(
        target=float(goal),
        rate=float(rate),
        issue=float(1 / rate),
        batch=math.ceil(rate * exact(asked.poll)) if asked.poll else None,
        poll=float(asked.batch / rate) if asked.poll and asked.batch is not None else None,
        slots_at_once=_least(asked, target, 0.0),
        slots=_least(asked, target, asked.poll),
        bandwidth=float(goal),
    )


def _least(asked: Slots, target: float, poll: float) -> int | None:
    """The least slots that hold as many requests as the rate keeps away."""
    for load in range(1, len(asked.loaded) + 1):
        if load >= target_rate_needs(target, asked.size, float(hold(asked.turn(load), poll))).concurrency:
            return load
    return (
        None
        if asked.loaded
        else max(1, target_rate_needs(target, asked.size, float(hold(asked.turn(1), poll))).in_flight)
    )


def buffers(
    period: float, busy: float, poll: float = 0.0, first: float | None = None, batch: int | None = None
) -> int | None:
    """Least buffers with which a producer that fills one every ``period`` s never waits; None: no number is enough.

    A buffer is busy from the begin of its filling for ``busy`` s, and then until the next poll. It is wanted again
    ``n period`` later. The longest wait for a poll is P - g + ((first - busy) mod g) with P the poll interval, g the greatest
    common divisor of P and the period: fillings fall on all phases that are g apart (what is filled in no time at a poll waits
    for the next). A batch below P / period never keeps up.
    """
    apart, work = exact(POSITIVE.check("period", period)), exact(NON_NEGATIVE.check("busy time", busy))
    if not poll:
        return max(1, math.ceil(work / apart))
    interval = exact(POSITIVE.check("poll interval", poll))
    if batch is not None and batch * apart < interval:
        return None
    step = Fraction(
        math.gcd(apart.numerator * interval.denominator, interval.numerator * apart.denominator),
        apart.denominator * interval.denominator,
    )
    start = interval if first is None else exact(first)
    phase = (start - work) % step
    wait = interval if not work and not phase else interval - step + phase
    return max(1, math.ceil((work + wait) / apart))


def deterministic(count: int, base: float, service: float) -> tuple[float, ...]:
    """Turnaround with 1 .. count in flight where each is served for ``service`` s, one after another: max(base + s, k s)."""
    _queue(count, base, service)
    return tuple(max(base + service, load * service) for load in range(1, count + 1))


def exponential(count: int, base: float, service: float) -> tuple[float, ...]:
    """Mean turnaround with 1 .. count in flight where service takes ``service`` s on average, exponentially distributed.

    Exact mean value analysis of a closed loop of a delay and one queue (Reiser and Lavenberg 1980): R(k) = s (1 + Q(k - 1)),
    X(k) = k / (base + R(k)), Q(k) = X(k) R(k).
    """
    _queue(count, base, service)
    found, waiting = [], 0.0
    for load in range(1, count + 1):
        response = service * (1 + waiting)
        waiting = load * response / (base + response)
        found.append(base + response)
    return tuple(found)


def _queue(count: int, base: float, service: float) -> None:
    if count < 1:
        raise InputError(f"{count} requests in flight: expected at least 1")
    NON_NEGATIVE.check("turnaround", base)
    POSITIVE.check("service time", service)


QUEUES: dict[str, Callable[[int, float, float], tuple[float, ...]]] = {
    "deterministic": deterministic,
    "exponential": exponential,
}
"""How a far end serves -> turnaround by requests in flight."""


def with_timeout(count: int, turn: float, timeout: float, share: float) -> float:
    """Requests per second that are answered where ``share`` of all hold their slot for ``timeout`` s, and slots bind.

    Little: count = rate x mean hold, so (1 - share) count / ((1 - share) turn + share timeout). With a dead endpoint in an
    open pool that is its share of the requests; with lost completions it is the part that is lost.
    """
    mean = (1 - share) * turn + share * timeout
    return (1 - share) * count / mean if mean else math.inf


def leak_times(rates: Sequence[float], share: float) -> tuple[float, ...]:
    """Seconds until 1, 2, ... slots are lost for good, where ``share`` of the completions never come: Σ 1 / (share x rate).

    ``rates[j]``: requests per second with j slots gone. The last entry is when nothing moves any more.
    """
    POSITIVE.check("share of completions that are lost", share)
    times, now = [], 0.0
    for rate in rates:
        now += 1 / (share * rate)
        times.append(now)
    return tuple(times)
