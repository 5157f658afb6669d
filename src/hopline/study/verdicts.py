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

LEVEL = 0.9
FALSE_ALARM = 0.05
"""Probability that a healthy table has a size that fails."""
ROUNDING = 0.005
"""A time may be this much below the least one: logs round."""


def judge(
    size: Floats, time: Floats, expected: Prediction, tolerance: float, least: Sequence[tuple[float, str]] | None = None
) -> tuple[Verdict, ...]:
    """A verdict for each size. ``expected`` is of the same sizes, NaN where nothing is known.

    ``least`` are (seconds, why) of the fastest that is possible at each size; None: the machine does not say.
    """
    top = np.log(expected.high / expected.time) * widening(int(np.isfinite(expected.time).sum()))
    limits = expected.time * np.exp(top) * (1 + tolerance)
    bounds = [None] * len(size) if least is None else list(least)
    rows = zip(size.tolist(), time.tolist(), expected.time.tolist(), limits.tolist(), bounds, strict=True)
    return tuple(_verdict(*row) for row in rows)


def widening(sizes: int) -> float:
    """Factor from the half-width that holds one size with LEVEL to one that holds all of ``sizes`` on one side."""
    normal = NormalDist()
    each = 1 - FALSE_ALARM / max(sizes, 1)
    return normal.inv_cdf(each) / normal.inv_cdf((1 + LEVEL) / 2)


def _verdict(size: float, time: float, expected: float, limit: float, bound: tuple[float, str] | None) -> Verdict:
    least = None if bound is None else bound[0]
    if bound is not None and time < bound[0] * (1 - ROUNDING):
        reason = f"impossible: {show(time, 'time')} is less than the {show(bound[0], 'time')} that {bound[1]} takes"
        return Verdict(size, time, "fail", reason, _known(expected), _known(limit), least)
    if not np.isfinite(expected):
        return Verdict(size, time, "unknown", "outside of what the machine tells", None, None, least)
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


FAR_OFF, OFF = 3.0, 1.3
"""Factors from which a table counts as carried by something else, and as slower at all."""
_PARTS = 3


def hint(verdicts: Sequence[Verdict]) -> str:
    """What the failures look like together, by where in the range of sizes they are; "" where nothing fails."""
    if not any(verdict.outcome == "fail" for verdict in verdicts):
        return ""
    ratios = [v.time / v.expected for v in verdicts if v.expected]
    if len(ratios) < _PARTS or any(v.reason.startswith("impossible") for v in verdicts):
        return ""
    third = len(ratios) // _PARTS
    small, large = (float(np.median(part)) for part in (ratios[:third], ratios[-third:]))
    return next((text for test, text in HINTS if test(small, large)), "").format(small=small, large=large)


HINTS: tuple[tuple[Callable[[float, float], bool], str], ...] = (
    (
        lambda small, large: large > FAR_OFF,
        "large messages take {large:.3g} times the expected: as if another path carried them (TCP sockets in place of the "
        "fabric? a plugin or container hook missing? NCCL_DEBUG=INFO names the network)",
    ),
    (
        lambda small, large: small > OFF and large > OFF,
        "small messages take {small:.3g} and large ones {large:.3g} times the expected: slower throughout",
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
    (lambda small, large: True, "single sizes are slow: noise, or a protocol switch at another size than expected"),
)
"""(test of the median factors of small and of large messages, what it looks like), the first that fits."""
