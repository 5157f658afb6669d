"""What is odd about a measured table, by name: why one line is not enough, and what to look at.

What belongs here: judgements that follow from the points and their fits, as Findings that say why in a line. How a list
of them looks is ``show``.

Each rule names its threshold in one table below. Times are medians; a fall or step counts only where it is larger than
what the table's own roughness explains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from hopline.curve import Floats
from hopline.quantity import show
from hopline.records.fit import Finding, Fit, HeldOut, interval
from hopline.records.table import Measure
from hopline.study.lines import Line
from hopline.study.points import Points

FALL = 0.1
"""A time that falls by this fraction to the next size is told."""
HUMP = 1.5
"""A hump rises to this multiple of what follows it."""
STEP = 1.25
"""A protocol switch costs this factor more than the line before it leads to."""
LOST = 0.8
"""The rate at the largest size, against the best one at a smaller size, below which the plateau is lost."""
SHORT = 0.5
"""Where latency is this share of the last time, the bandwidth was not reached."""
NOISY = 0.2
_SURE = 4.0
"""Times the roughness (a median): what chance alone seldom passes among twenty points."""
_SPARSE = 4.0
"""Sizes that grow by more than this factor from one to the next say little about those between."""
FIRST = 1.3
"""The first size counts as warming up where it takes this multiple of a larger one."""
_STEADY, _SHORTEST_TIMER = 1e-3, 20e-6
"""Times count as one and the same within this fraction, and as a timer's from so many seconds on."""
_ENOUGH = 5
"""Sizes from which on pieces are held against one line, and roughness is not put down to too few sizes."""
_FOLLOWING = 6
"""Sizes after a hump through which the line of the other way of sending is drawn."""


@dataclass(frozen=True, eq=False)
class Case:
    """What the rules look at."""

    points: Points
    measure: Measure
    line: Fit
    best: Fit
    errors: Floats

    @cached_property
    def roughness(self) -> float:
        """The median error on left-out sizes, |log|."""
        return float(np.median(self.errors))

    @cached_property
    def humps(self) -> list[tuple[int, int]]:
        """(first, last) index of every stretch above HUMP times all that follows, or more where the rest is rough."""
        time = self.points.time
        rise = time / np.append(np.minimum.accumulate(time[::-1])[::-1][1:], np.inf)
        calm = self.errors[rise[1:-1] <= HUMP]
        rough = float(np.median(calm)) if len(calm) else self.roughness
        return list(_runs(rise > max(HUMP, 1 + _SURE * rough)))

    def falls(self, least: float) -> float:
        """The fraction, ``least`` or what the table's roughness explains, by which a fall is one. A halving always is."""
        return max(least, min(_SURE * self.roughness, 0.5))

    @property
    def rate(self) -> Floats:
        """Bytes a second at each size."""
        return self.points.size / self.points.time


def findings(points: Points, line: Fit, best: Fit, errors: Floats) -> tuple[Finding, ...]:
    """All that is odd about ``points``; ``errors`` are |log| errors on left-out sizes (``local``)."""
    case = Case(points, line.measure, line, best, errors)
    return tuple(found for rule in RULES for found in rule(case))


def _humps(case: Case) -> Iterator[Finding]:
    """Times that rise to HUMP times what comes after, over one size or several."""
    size, time = case.points.size, case.points.time
    for first, last in case.humps:
        end = last + 1
        top = first + int(np.argmax(time[first:end]))
        low = end + int(np.argmin(time[end:]))
        below = f"{time[top] / time[low]:.3g} times the {show(time[low], 'time', 3)} of {show(size[low], 'size')}"
        if first == last == 0:
            continue
        if first == last:
            text = f"outlier at {show(size[top], 'size')}: {show(time[top], 'time', 3)}, {below}"
            yield Finding("outlier", text, float(size[top]), float(size[top]))
            continue
        span = f"{show(size[first], 'size')} to {show(size[last], 'size')}"
        text = f"latency hump from {span}: up to {show(time[top], 'time', 3)}, {below}"
        meets = _crossing(case.points, top, end)
        same = (
            f"; the two ways of sending cost the same at about {show(meets, 'size', 2)}: switch there" if meets else ""
        )
        yield Finding("hump", text + same, float(size[first]), float(size[last]))


def _crossing(points: Points, top: int, end: int) -> float | None:
    """Where the line that leads up to a hump meets the line of what follows it; None where they do not meet below it."""
    before, after = points.time[: top + 1], points.time[end : end + _FOLLOWING]
    if len(before) < 2 or len(after) < 2:
        return None
    up = Line.through(points.size[: top + 1], before)
    on = Line.through(points.size[end : end + _FOLLOWING], after)
    meets = (on.at(0) - up.at(0)) / (up.slope - on.slope) if up.slope > on.slope else -1.0
    return meets if 0 < meets < points.size[end] else None


def _first_touch(case: Case) -> Iterator[Finding]:
    """A first row that is slower than a larger size: it also pays for what is done once."""
    size, time = case.points.size, case.points.time
    if time[0] > max(FIRST, 1 + _SURE * case.roughness) * time[1:].min() and (not case.humps or case.humps[0][1] == 0):
        text = (
            f"the first size ({show(size[0], 'size')}) takes {time[0] / time[1:].min():.2g} times as long as a larger one: "
            "first touch or warm-up?"
        )
        yield Finding("first touch", text, float(size[0]), float(size[0]))


def _timer(case: Case) -> Iterator[Finding]:
    """Times that are one and the same, a round number of which make a second."""
    time = case.points.time
    rate = 1 / float(time.mean())
    near = abs(rate / 1000 - round(rate / 1000)) < _STEADY * max(rate / 1000, 1)
    if np.ptp(time) <= _STEADY * time.mean() and time.mean() >= _SHORTEST_TIMER and near and case.measure == "time":
        text = (
            f"every size takes {show(float(time.mean()), 'time')}: a timer ({rate:.0f} a second, interrupt moderation?), not "
            "the wire"
        )
        yield Finding("timer", text, float(case.points.size[0]), float(case.points.size[-1]))


def _falls(case: Case) -> Iterator[Finding]:
    """Neighbouring sizes where the larger is faster by more than the table's roughness."""
    least = case.falls(FALL)
    ends = {last for _, last in case.humps}
    points = zip(case.points.size.tolist(), case.points.time.tolist(), strict=True)
    for i, ((m0, t0), (m1, t1)) in enumerate(pairwise(points)):
        if t1 < (1 - least) * t0 and i not in ends and not (i == 0 and any(_first_touch(case))):
            sizes = f"from {show(m0, 'size')} to {show(m1, 'size')}"
            text = f"time falls by {100 * (1 - t1 / t0):.0f} % {sizes}: another protocol, or noise"
            yield Finding("fall", text, m0, m1)


def _switches(case: Case) -> Iterator[Finding]:
    """Breaks between pieces at which the time steps up or the slope changes for sure."""
    curve = case.best.curve
    for i, (before, after) in enumerate(pairwise(curve.pieces)):
        at = after.low
        step = float(after.latency + at / after.bandwidth) / float(before.latency + at / before.bandwidth)
        apart = _differ(
            [d.pieces[i].bandwidth for d in case.best.draws], [d.pieces[i + 1].bandwidth for d in case.best.draws]
        )
        if step > STEP or step < 1 / STEP:
            way = "up" if step > 1 else "down"
            text = f"protocol switch near {show(at, 'size', 3)}: the time steps {way} by a factor {max(step, 1 / step):.3g}"
            yield Finding("switch", text, at, at)
        elif apart:
            rates = f"bandwidth {_rate(before.bandwidth)} before, {_rate(after.bandwidth)} after"
            text = f"two regimes meet near {show(at, 'size', 3)}: {rates}"
            yield Finding("regimes", text, at, at)


def _lost_plateau(case: Case) -> Iterator[Finding]:
    """A rate that was better at a smaller size."""
    rate, size = case.rate, case.points.size
    best = int(np.argmax(rate))
    if rate[-1] < (1 - case.falls(1 - LOST)) * rate[best] and best < len(rate) - 1:
        text = (
            f"the rate falls from {show(rate[best], 'bandwidth', 3)} at {show(size[best], 'size')} to "
            f"{show(rate[-1], 'bandwidth', 3)} at {show(size[-1], 'size')}: neither is the plateau "
            "(out of a cache, or a slow path?)"
        )
        yield Finding("lost plateau", text, float(size[best]), float(size[-1]))


def _short(case: Case) -> Iterator[Finding]:
    """A table that ends before bandwidth counts."""
    last = case.best.curve.pieces[-1]
    share = last.latency / float(case.best.curve.time(case.points.size[-1]))
    if share > SHORT:
        what = "the least gap" if case.measure == "gap" else "latency"
        text = (
            f"range too short: {what} still makes up {100 * share:.0f} % of the time at {show(case.points.size[-1], 'size')}, "
            "so the bandwidth is not reached; measure larger sizes"
        )
        yield Finding("short range", text, float(case.points.size[-1]), float(case.points.size[-1]))


def _noise(case: Case) -> Iterator[Finding]:
    if case.roughness > NOISY:
        size = case.points.size
        growing = float(np.median(size[1:] / np.maximum(size[:-1], 1.0)))
        word = "noisy, or too few sizes" if growing > _SPARSE or len(size) < _ENOUGH else "noisy"
        text = f"{word}: sizes left out are missed by {100 * math.expm1(case.roughness):.0f} % (median)"
        yield Finding("noise", text, float(size[0]), float(size[-1]))


def _line_enough(case: Case) -> Iterator[Finding]:
    """Why one line is not enough, in numbers: of sizes left out, or where a miss beside a break spoils those, of all."""
    if case.best.curve != case.line.curve and len(case.points) >= _ENOUGH:
        spoilt = case.best.held_out.mean >= case.line.held_out.mean
        of = "the measured" if spoilt else "left-out"
        line, best = ((f.inside if spoilt else f.held_out) for f in (case.line, case.best))
        text = (
            f"one line is not enough: it misses {of} sizes by {_percent(line)}, "
            f"{len(case.best.curve.pieces)} pieces by {_percent(best)}"
        )
        yield Finding("pieces", text, float(case.points.size[0]), float(case.points.size[-1]))


def _percent(error: HeldOut) -> str:
    return f"{100 * error.mean:.0f} % (worst {100 * error.worst:.0f} %)"


def _doubt(case: Case) -> Iterator[Finding]:
    """Errors too large to use the curve; a size that is left out beside a break may be missed by the step alone."""
    fit = case.best
    if max(fit.inside.mean, case.roughness) > NOISY or fit.inside.worst > 2 * NOISY:
        text = "do not trust this fit: its errors are large; is the log noisy, or two regimes in one?"
        yield Finding("doubt", text, fit.smallest, fit.largest)


RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    _line_enough, _timer, _first_touch, _humps, _switches, _falls, _lost_plateau, _short, _noise, _doubt,
)  # fmt: skip


def _runs(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Iterator[tuple[int, int]]:
    """(first, last) index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    yield from ((int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _differ(first: list[float], second: list[float]) -> bool:
    (low0, high0), (low1, high1) = interval(first), interval(second)
    return high0 < low1 or high1 < low0


def _rate(bandwidth: float) -> str:
    return show(bandwidth, "bandwidth", 3) if np.isfinite(bandwidth) else "no growth with size"
