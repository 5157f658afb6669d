"""Is a measured table what it should be: pass or fail for each size, with the reason.

What belongs here: the rules. What is expected, and the least time the machine allows, come in as arguments.

A size fails where it is slower than the upper end of its interval, widened so that a healthy table of so many sizes is
blamed with a probability of about 5 % (errors of log time taken as normal and independent: approximate), and by the
tolerance beyond that. It fails as impossible where it is faster than the least bytes that must cross the machine's
tightest cut allow at line rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

from hopline.curve import Floats
from hopline.quantity import show
from hopline.records.fit import Prediction
from hopline.records.verdict import Verdict
from hopline.study.chance import LEVEL

FALSE_ALARM = 0.05
"""Probability that a healthy table has a size that fails."""
ROUNDING = 0.005
"""A time may be this much below the least one: logs round."""
IMPOSSIBLE = "impossible"
"""How the reason of a time below the least one begins."""
TOO_FAST = (
    "faster than the links of this machine can carry: the ranks ran elsewhere than taken here (a node more or less, --on), "
    "sizes or ranks are not what they are taken for, or the machine states too slow a link"
)
FAR_OFF, OFF = 3.0, 1.3
"""Factors from which a table counts as carried by something else, and as slower at all."""
_PARTS = 3
"""Small, middle and large messages; with fewer sizes nothing is said of them."""
_SPAN = 256
"""Factor from the smallest to the largest size above which a table shows small and large messages."""


def judge(
    size: Floats,
    time: Floats,
    expected: Prediction,
    tolerance: float,
    least: Sequence[tuple[float, str]] | None = None,
    seen: Floats | None = None,
    silent: str = "nothing is known to hold it against",
) -> tuple[Verdict, ...]:
    """A verdict for each size. ``expected`` is of the same sizes, NaN where nothing is known and ``silent`` says why.

    ``least`` are (seconds, why) of the fastest that is possible at each size; None: the machine does not say. ``seen`` are
    times of the same sizes when all was well, NaN where there are none: what is no slower passes, whatever its neighbours say.
    """
    known = np.isfinite(expected.time) & (expected.time > 0)
    middle, high = (np.where(known, values, np.nan) for values in (expected.time, expected.high))
    limits = middle * (high / middle) ** widening(int(known.sum()))
    limits = (limits if seen is None else np.fmax(limits, np.where(known, seen, np.nan))) * (1 + tolerance)
    bounds = [None] * len(size) if least is None else list(least)
    rows = zip(size.tolist(), time.tolist(), middle.tolist(), limits.tolist(), bounds, strict=True)
    return tuple(_verdict(*row, silent) for row in rows)


def widening(sizes: int) -> float:
    """Factor from the half-width that holds one size with LEVEL to one that holds all of ``sizes`` on one side."""
    normal = NormalDist()
    each = 1 - FALSE_ALARM / max(sizes, 1)
    return normal.inv_cdf(each) / normal.inv_cdf((1 + LEVEL) / 2)


def _verdict(
    size: float, time: float, expected: float, limit: float, bound: tuple[float, str] | None, silent: str
) -> Verdict:
    least = None if bound is None else bound[0]
    if bound is not None and time < bound[0] * (1 - ROUNDING):
        reason = f"{IMPOSSIBLE}: {show(time, 'time')} is less than the {show(bound[0], 'time')} that {bound[1]} takes"
        return Verdict(size, time, "fail", reason, _known(expected), _known(limit), least)
    if not np.isfinite(expected):
        return Verdict(size, time, "unknown", silent, None, None, least)
    if time > limit:
        passing = f"up to {show(limit, 'time')} would pass"
        reason = f"slower: {time / expected:.3g} times the expected {show(expected, 'time')}; {passing}"
        return Verdict(size, time, "fail", reason, expected, limit, least)
    return Verdict(size, time, "pass", _praise(time, expected, limit), expected, limit, least)


def _praise(time: float, expected: float, limit: float) -> str:
    """Said where a time is as far below what was expected as the limit is above."""
    return f"faster: {expected / time:.3g} times" if time * limit < expected * expected else ""


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def hint(verdicts: Sequence[Verdict]) -> str:
    """What the failures look like together, by where in the range of sizes they are; "" where nothing fails."""
    if not any(verdict.outcome == "fail" for verdict in verdicts):
        return ""
    known = [(v.size, v.time / v.expected) for v in verdicts if v.expected]
    if any(v.reason.startswith(IMPOSSIBLE) for v in verdicts):
        return TOO_FAST
    if len(known) < _PARTS:
        return ""
    third = len(known) // _PARTS if known[-1][0] >= _SPAN * known[0][0] else len(known)
    small, large = (float(np.median([ratio for _, ratio in part])) for part in (known[:third], known[-third:]))
    slow = [v.size for v in verdicts if v.outcome == "fail"]
    where = show(slow[0], "size") if len(slow) == 1 else f"{show(slow[0], 'size')} to {show(slow[-1], 'size')}"
    text = next(text for test, text in HINTS if test(small, large))
    count = "one size is" if len(slow) == 1 else f"{len(slow)} sizes are"
    return text.format(small=small, large=large, where=where, count=count)


HINTS: tuple[tuple[Callable[[float, float], bool], str], ...] = (
    (
        lambda small, large: large > FAR_OFF,
        "large messages take {large:.3g} times the expected: as if another path carried them (TCP sockets in place of the "
        "fabric? a plugin or container hook missing? NCCL_DEBUG=INFO names the network)",
    ),
    (
        lambda small, large: small > OFF and large > OFF,
        "small messages take {small:.3g} and large ones {large:.3g} times the expected: slower throughout (lower clocks, busy "
        "hosts, another machine than was taken?)",
    ),
    (
        lambda small, large: large > OFF,
        "only large messages are slow ({large:.3g} times): bandwidth is missing (a link or NIC down, fewer channels, a path "
        "shared with others?)",
    ),
    (
        lambda small, large: small > OFF,
        "only small messages are slow ({small:.3g} times): start-up has grown (busy hosts, another protocol, interrupts?)",
    ),
    (
        lambda small, large: True,
        "{count} slow ({where}), most are as expected: noise, or a change of protocol or algorithm that comes at another "
        "size than expected",
    ),
)
"""(test of the median factors of the small and of the large third, what it looks like), the first that fits."""
