"""A queue under a law that sees it late: at which delay it begins to swing, and what it does at several.

What belongs here: composing ``model.feedback``, which knows the limits, and ``sim.loop``, which runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopline.errors import InputError
from hopline.machine.loop import Integral, Loop, Marking, Pause, Proportional
from hopline.model import feedback
from hopline.records.queue import Looped
from hopline.sim.loop import simulate_loop

_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Stability:
    """What theory says of a law: it settles below ``limit`` s of delay, without any swing up to ``calm`` s.

    None: no such delay is known; 0: it swings at any. ``why`` is the formula in words.
    """

    limit: float | None
    calm: float | None
    why: str


@dataclass(frozen=True, slots=True)
class LoopAnswer:
    """A law at several delays."""

    asked: Loop
    horizon: float
    stability: Stability
    runs: tuple[Looped, ...]


_STOP_AND_GO = "stop and go has no fixed point: it swings at any delay"


def stability(asked: Loop) -> Stability:
    """The delay at which the linear form of a law begins to swing for good. Raises InputError where it has no fixed point."""
    law = asked.law
    if isinstance(law, Pause):
        return Stability(0.0, 0.0, _STOP_AND_GO)
    if isinstance(law, Proportional):
        gain = 1 / law.time
        return Stability(
            feedback.proportional_limit(gain),
            feedback.proportional_calm(gain),
            "delay / time = π/2; no swing up to 1/e",
        )
    if isinstance(law, Integral):
        limit = feedback.integral_limit(1 / law.time, 1 / (law.time * law.reset))
        return Stability(limit, None, "first root of s² + (s + 1/reset)/time exp(-s T) on the imaginary axis")
    c, k, _ = marking_point(asked, law)
    return Stability(
        feedback.marking_limit(c, k),
        None,
        "first root of s² + c s + k exp(-s T) on the imaginary axis, about the fixed point",
    )


def marking_point(asked: Loop, law: Marking) -> tuple[float, float, float]:
    """(damping, gain, level in bytes) of additive increase and multiplicative decrease about its fixed point."""
    return feedback.marking_constants(asked.service, law.increase, law.decrease, law.kmin, law.kmax, law.pmax)


def loops(asked: Loop, delays: Sequence[float], horizon: float | None = None) -> LoopAnswer:
    """Run the law at each delay for ``horizon`` s; None: long enough to see whether it settles. Raises InputError."""
    found = stability(asked)
    end = _long(asked, found, max(delays)) if horizon is None else horizon
    return LoopAnswer(asked, end, found, tuple(simulate_loop(asked, delay, end) for delay in delays))


def _long(asked: Loop, found: Stability, delay: float) -> float:
    """Some thirty swings: a swing of the proportional law lasts four delays at its limit."""
    law = asked.law
    if isinstance(law, Pause):
        turn = 2 * delay + (law.xoff - law.xon) / asked.service
        rises = asked.line - asked.service
        return 8 * (2 * delay + turn + (law.xoff / rises if rises > 0 else turn))
    if isinstance(law, Marking):
        c, k, _ = marking_point(asked, law)
        return min(60 / math.sqrt(k) + 20 / c, 3000 / math.sqrt(k))
    return 30 * max(4 * (found.limit or 0.0), 4 * delay)


def pause_swing(asked: Loop, delay: float) -> tuple[float, float, float]:
    """(highest, lowest, idle in each turn) in bytes, of stop and go. Raises InputError for another law."""
    if not isinstance(asked.law, Pause):
        raise InputError(f"{asked.law} does not stop and go")
    return feedback.pause_swing(asked.line, asked.service, delay, asked.law.xoff, asked.law.xon)


def gentler(asked: Loop, delay: float) -> Loop | None:
    """The same law, so much slower that ``delay`` s are half of its limit; None where a law cannot be made so."""
    law = asked.law
    if isinstance(law, Proportional):
        return replace(asked, law=replace(law, time=law.time * 2 * delay / feedback.proportional_limit(1 / law.time)))
    if isinstance(law, Integral):
        limit = feedback.integral_limit(1 / law.time, 1 / (law.time * law.reset))
        return replace(asked, law=replace(law, time=law.time * 2 * delay / limit, reset=law.reset * 2 * delay / limit))
    if isinstance(law, Marking):
        return _wider(asked, law, delay)
    return None


def _wider(asked: Loop, law: Marking, delay: float) -> Loop | None:
    """A flatter slope of marks: kmax further up, by doubling and bisection."""
    low, high = 1.0, 2.0

    def holds(factor: float) -> bool:
        wider = replace(law, kmax=law.kmin + factor * (law.kmax - law.kmin))
        c, k, _ = marking_point(asked, wider)
        return feedback.marking_limit(c, k) >= 2 * delay

    while not holds(high):
        low, high = high, 2 * high
        if high > 1 << 20:
            return None
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return replace(asked, law=replace(law, kmax=law.kmin + high * (law.kmax - law.kmin)))
