"""Feedback that comes late: how late it may be, what is lost, how the queue drains, and which delay makes a loop swing.

What belongs here: closed forms. T_f <= Q_free / (λ - B); λ = B stops the growth, only λ < B drains.
"""

from __future__ import annotations

import math
from fractions import Fraction

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact
from hopline.records.queue import Bound, Episode, Remedies


def _number(name: str, value: float) -> Fraction:
    return exact(NON_NEGATIVE.check(name, value))


def bound(free: float, arrival: float, service: float, delay: float) -> Bound:
    """The longest delay with ``free`` bytes (C7: to fill them exactly is no overflow), and what ``delay`` s cost."""
    room, wait = _number("free bytes", free), _number("delay", delay)
    net = _number("arrival", arrival) - _number("service", service)
    excess = max(Fraction(0), net * wait)
    longest = float(room / net) if net > 0 else None
    return Bound(longest, float(excess), float(max(Fraction(0), excess - room)), excess > room)


def episode(
    before: float, after: float, service: float, delay: float, capacity: float | None = None, initial: float = 0.0
) -> Episode:
    """A queue with ``initial`` bytes at which ``before`` byte/s arrive, and ``after`` from ``delay`` s on.

    Raises InputError where it starts with more than it holds.
    """
    level, wait, serves = _number("initial fill", initial), _number("delay", delay), _number("service", service)
    room = None if capacity is None else _number("capacity", capacity)
    if room is not None and level > room:
        raise InputError(f"the queue starts with {initial:g} bytes and holds {capacity:g}: expected at most that")
    grows, then = _number("arrival", before) - serves, _number("arrival afterwards", after) - serves
    reached = max(Fraction(0), level + grows * wait)
    lost = Fraction(0) if room is None else max(Fraction(0), reached - room)
    at = reached - lost
    first = (room - level) / grows if lost and room is not None else None
    endless = room is not None and then > 0
    if first is None and endless and room is not None:
        first = wait + (room - at) / then
    drain = Fraction(0) if at == 0 and then <= 0 else (at / -then if then < 0 else None)
    return Episode(
        dropped=None if endless else float(lost),
        first_drop=None if first is None else float(first),
        occupancy=float(at),
        drain=None if drain is None else float(drain),
        empty=None if drain is None else float(wait + drain),
    )


def remedies(
    before: float, service: float, delay: float, capacity: float, initial: float = 0.0, drain: float | None = None
) -> Remedies:
    """Which single change would lose nothing: an earlier signal, a larger buffer, an earlier threshold, a slower sender.

    ``drain``: seconds in which the queue is to be empty after the feedback.
    """
    found = bound(capacity - initial, before, service, delay)
    excess, wait = exact(found.excess), exact(delay)
    threshold = exact(capacity) - excess
    free = exact(capacity) - exact(initial)
    full = min(exact(capacity), exact(initial) + excess)
    after = None
    if drain is not None:
        need = exact(service) - full / exact(POSITIVE.check("time to drain", drain))
        after = float(need) if need >= 0 else None
    return Remedies(
        delay=found.longest,
        capacity=float(exact(initial) + excess),
        threshold=float(threshold) if threshold >= 0 else None,
        arrival=float(exact(service) + free / wait) if wait else math.inf,
        after=after,
    )


# --- delays at which a loop begins to swing: the first root of its linear equation on the imaginary axis


def proportional_limit(gain: float) -> float:
    """Seconds at which q' = -k q(t - T) stops to settle: k T = π/2 (``gain`` k in 1/s)."""
    return math.pi / 2 / POSITIVE.check("gain", gain)


def proportional_calm(gain: float) -> float:
    """Seconds up to which q' = -k q(t - T) has no swing at all: k T = 1/e."""
    return 1 / math.e / POSITIVE.check("gain", gain)


def integral_limit(gain: float, integral: float) -> float:
    """Seconds at which r' = -a q(t - T) - b q'(t - T), q' = r - B stops to settle (a in 1/s², b in 1/s).

    s² + (b s + a) exp(-s T) = 0 at s = iω: ω² = (b² + sqrt(b⁴ + 4a²)) / 2, T = atan(b ω / a) / ω.
    Without b (an integral alone) it swings at any delay.
    """
    a, b = POSITIVE.check("integral gain", integral), NON_NEGATIVE.check("gain", gain)
    turn = math.sqrt((b * b + math.hypot(b * b, 2 * a)) / 2)
    return math.atan2(b * turn, a) / turn


def marking_limit(damping: float, gain: float) -> float:
    """Seconds at which s² + c s + k exp(-s T) = 0 stops to settle (``damping`` c in 1/s, ``gain`` k in 1/s²).

    That is additive increase and multiplicative decrease by marks, about its fixed point, see ``marking_constants``.
    ω² = (sqrt(c⁴ + 4k²) - c²) / 2, T = atan(c / ω) / ω.
    """
    c, k = POSITIVE.check("damping", damping), POSITIVE.check("gain", gain)
    square = 2 * k * k / (math.hypot(c * c, 2 * k) + c * c)
    turn = math.sqrt(square)
    return math.atan2(c, turn) / turn


def marking_constants(
    service: float, increase: float, decrease: float, least: float, most: float, chance: float
) -> tuple[float, float, float]:
    """(c, k, level) of r' = A - D p(q(t - T)) r about its fixed point r = B: c = A / B, k = D B p', level q* (bytes).

    ``increase`` A in byte/s², ``decrease`` D in 1/s; p rises from 0 at ``least`` bytes to ``chance`` at ``most``.
    Raises InputError where no mark probability on that slope holds the rate.
    """
    marks = increase / (decrease * POSITIVE.check("service", service))
    if not 0 < marks < chance:
        raise InputError(
            f"marks would have to reach {marks:.3g} of packets to hold the rate, and ECN marks at most {chance:g}: "
            "a smaller increase, a deeper cut, a larger pmax"
        )
    slope = chance / (most - least)
    return increase / service, decrease * service * slope, least + marks / slope


def pause_swing(line: float, service: float, delay: float, stop: float, go: float) -> tuple[float, float, float]:
    """(highest, lowest, idle) of a sender at ``line`` that stops ``delay`` s after ``stop`` bytes and goes again after ``go``.

    Bytes; ``idle`` is what the service misses in each turn because the queue ran empty: B T - go where that is above 0.
    """
    wait, serves = _number("delay", delay), exact(POSITIVE.check("service", service))
    high = exact(stop) + max(Fraction(0), exact(line) - serves) * wait
    low = exact(go) - serves * wait
    return float(high), float(max(Fraction(0), low)), float(max(Fraction(0), -low))
