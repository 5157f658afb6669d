"""A queue whose sender sees it late: fluid delay equations, stepped where rates move, exact where they jump.

What belongs here: the clock. Laws are ``machine.loop``; LAWS maps each to the way in which it moves a rate.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction

from hopline.errors import InputError
from hopline.machine.loop import Integral, Law, Loop, Marking, Pause, Proportional
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact, show
from hopline.records.queue import Looped

MOST_STEPS, MOST_PAUSES = 400_000, 20_000
_STEPS = 100
"""In the shortest time of a law."""
Move = Callable[[float, float, float, float], float]
"""(rate, level seen at the begin and at the end of a step, its length) -> rate at its end."""


def simulate_loop(asked: Loop, delay: float, horizon: float) -> Looped:
    """The queue from 0 to ``horizon`` s, seen ``delay`` s late; before 0 it was as at 0.

    Levels lie in 0 .. capacity, rates in 0 .. line. Raises InputError where that takes too many steps.
    """
    NON_NEGATIVE.check("delay", delay)
    POSITIVE.check("horizon", horizon)
    if isinstance(asked.law, Pause):
        return _paused(asked, asked.law, delay, horizon)
    return _stepped(asked, *_MOVES[type(asked.law)](asked.law, asked), delay, horizon)


# --- rates that move: trapezoids, whose error falls with the square of the step


def _proportional(law: Law, asked: Loop) -> tuple[Move, float]:
    assert isinstance(law, Proportional)
    setpoint, time, service = law.setpoint, law.time, asked.service
    return (lambda rate, before, after, step: service + (setpoint - after) / time), time


def _integral(law: Law, asked: Loop) -> tuple[Move, float]:
    del asked
    assert isinstance(law, Integral)
    setpoint, time, both = law.setpoint, law.time, law.time * law.reset

    def move(rate: float, before: float, after: float, step: float) -> float:
        return rate - step * ((before + after) / 2 - setpoint) / both - (after - before) / time

    return move, min(time, math.sqrt(both))


def _marking(law: Law, asked: Loop) -> tuple[Move, float]:
    """Its own time is that of its linear form about the fixed point."""
    assert isinstance(law, Marking)
    increase, decrease, marks = law.increase, law.decrease, law.marks

    def move(rate: float, before: float, after: float, step: float) -> float:
        half = step / 2
        return (rate + half * (2 * increase - decrease * marks(before) * rate)) / (1 + half * decrease * marks(after))

    return move, 1 / math.sqrt(decrease * asked.service * law.pmax / (law.kmax - law.kmin))


_MOVES: dict[type, Callable[[Law, Loop], tuple[Move, float]]] = {
    Proportional: _proportional,
    Integral: _integral,
    Marking: _marking,
}
"""Law -> how it moves a rate, and its shortest time (s)."""


def _stepped(asked: Loop, move: Move, scale: float, delay: float, horizon: float) -> Looped:
    """Steps that divide the delay; what is shorter than a step is read between two."""
    late = math.ceil(delay / scale * _STEPS) if delay * _STEPS >= scale else 0
    step = delay / late if late else scale / _STEPS
    part = 0.0 if late else delay / step
    count = math.ceil(horizon / step)
    if count > MOST_STEPS:
        raise InputError(
            f"{show(horizon, 'time')} take {count:,} steps of {show(step, 'time')}: expected at most {MOST_STEPS:,}, so "
            f"a horizon of {show(MOST_STEPS * step, 'time')} at most"
        )
    line, service, top = asked.line, asked.service, math.inf if asked.capacity is None else asked.capacity
    start = asked.line if asked.start is None else min(asked.start, asked.line)
    level = asked.initial
    rate = start if not isinstance(asked.law, Proportional) else _within(move(0.0, level, level, 0.0), line)
    levels, rates, dropped, idle = [level], [rate], 0.0, 0.0
    for now in range(count):
        if late:
            before, after = levels[max(0, now - late)], levels[max(0, now + 1 - late)]
        else:
            before = level - part * (level - levels[max(0, now - 1)])
            after = level + (1 - part) * (max(0.0, level + step * (rate - service)) - level)
        then = _within(move(rate, before, after, step), line)
        level += step * ((rate + then) / 2 - service)
        rate = then
        if level > top:
            dropped, level = dropped + level - top, top
        elif level < 0:
            idle, level = idle - level, 0.0
        levels.append(level)
        rates.append(rate)
    times = [step * now for now in range(count + 1)]
    return _looped(delay, times, levels, rates, dropped, idle)


def _within(rate: float, line: float) -> float:
    return min(max(rate, 0.0), line)


# --- rates that jump: from event to event, exactly


def _paused(asked: Loop, law: Pause, delay: float, horizon: float) -> Looped:
    """The queue is linear between a threshold that is crossed, a signal that arrives, and its borders."""
    service, line, wait = exact(asked.service), exact(asked.line), exact(delay)
    top = None if asked.capacity is None else exact(asked.capacity)
    end, now, level = exact(horizon), Fraction(0), exact(asked.initial)
    sending, stopped, signals = True, False, deque[tuple[Fraction, bool]]()
    times, levels, rates = [0.0], [float(level)], [asked.line]
    dropped = idle = Fraction(0)
    while now < end:
        net = (line if sending else Fraction(0)) - service
        threshold = exact(law.xon if stopped else law.xoff)
        crossed = level <= threshold if stopped else level >= threshold
        if crossed:
            stopped = not stopped
            signals.append((now + wait, not stopped))
        if signals and signals[0][0] == now:
            sending = signals.popleft()[1]
            rates[-1] = float(line) if sending else 0.0
            continue
        if crossed:
            continue
        meets = [
            border for border in (threshold, Fraction(0), top) if border is not None and (border - level) * net > 0
        ]
        until = min([end, *(at for at, _ in signals), *(now + (border - level) / net for border in meets)])
        moved = level + net * (until - now)
        if moved < 0:
            idle, moved = idle - moved, Fraction(0)
        elif top is not None and moved > top:
            dropped, moved = dropped + moved - top, top
        now, level = until, moved
        times.append(float(now))
        levels.append(float(level))
        rates.append(rates[-1])
        if len(times) > MOST_PAUSES:
            raise InputError(
                f"more than {MOST_PAUSES:,} changes in {show(horizon, 'time')}: expected a shorter horizon"
            )
    return _looped(delay, times, levels, rates, float(dropped), float(idle))


def _looped(
    delay: float, times: Sequence[float], levels: Sequence[float], rates: Sequence[float], dropped: float, idle: float
) -> Looped:
    end = times[-1]
    early, late = _swing(times, levels, end / 4, end / 2), _swing(times, levels, 3 * end / 4, end)
    return Looped(delay, times, levels, rates, dropped, idle, late, late / early if early else None)


def _swing(times: Sequence[float], levels: Sequence[float], start: float, stop: float) -> float:
    """Highest less lowest level, of the breakpoints in between and of those at either side."""
    inside = [level for time, level in zip(times, levels, strict=True) if start <= time <= stop]
    return max(inside) - min(inside) if inside else 0.0
