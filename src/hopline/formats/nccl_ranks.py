"""How many ranks an nccl-tests table was measured on, and what was measured: what its statements say together.

What belongs here: the bus factors and their inverse, and when statements agree. A log states the number of ranks three
times, and each statement can be damaged: the ``# Rank`` lines (their number, and the highest among them) and, unasked,
busbw/algbw. nThread, nGpus and nRanks of its first line tell what one process did, so they are not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hopline.records.table import Floats

_SLACK = 1e-9


def _twice(factor: float) -> float:
    """Ranks of busbw = algbw 2(n-1)/n."""
    return 2 / (2 - factor) if factor < 2 else math.inf


def _once(factor: float) -> float:
    """Ranks of busbw = algbw (n-1)/n."""
    return 1 / (1 - factor) if factor < 1 else math.inf


RANKS: dict[str, Callable[[float], float] | None] = {
    "all_reduce": _twice, "all_gather": _once, "reduce_scatter": _once, "alltoall": _once, "gather": _once,
    "scatter": _once, "broadcast": None, "reduce": None, "sendrecv": None, "hypercube": None,
}  # fmt: skip
"""Benchmark -> number of ranks from busbw/algbw; None where that ratio is 1 for any number of ranks."""

_REDUCTIONS = {b"sum", b"prod", b"min", b"max", b"avg", b"mulsum"}


@dataclass(frozen=True, slots=True)
class Ratio:
    """busbw/algbw of a table: the typical value and the interval that fits the printed digits of all rows."""

    typical: float
    low: float
    high: float
    single: bool = False
    """No row shows any bus traffic, though algbw is above 0: one rank."""

    @property
    def consistent(self) -> bool:
        """Whether one factor fits all rows."""
        return self.low <= self.high


def ratio(algbw: Floats, busbw: Floats, low: Floats, high: Floats, enough: float) -> Ratio | None:
    """The ratio of a table's usable rows, typical over those with algbw above ``enough``, or else over all."""
    moved = algbw > enough
    if not moved.any():
        moved = algbw > 0
    if not moved.any():
        return None
    with np.errstate(all="ignore"):
        ordered = busbw[moved] / algbw[moved]
    ordered = np.sort(ordered[np.isfinite(ordered)])
    if not len(ordered):
        return None
    middle = len(ordered) // 2
    typical = float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
    return Ratio(typical, float(low.max()) * (1 - _SLACK), float(high.min()) * (1 + _SLACK), not busbw.any())


def ratio_interval(algbw: Floats, busbw: Floats, half_algbw: Floats, half_busbw: Floats) -> tuple[Floats, Floats]:
    """Lowest and highest busbw/algbw that rounds to what is printed, row by row."""
    least, most = np.maximum(algbw - half_algbw, 0.0), algbw + half_algbw
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low = np.where(most > 0, (busbw - half_busbw) / most, -np.inf)
        high = np.where(least > 0, (busbw + half_busbw) / least, np.inf)
    return low, high


def benchmark(words: tuple[bytes, ...], names: tuple[str, ...], seen: Ratio | None) -> str:
    """What was measured, where type, operation, root and factor leave one reading; else ""."""
    _, redop, root = words
    if seen is None or not seen.consistent or seen.single:
        return ""
    reduces = redop in _REDUCTIONS
    if root not in (b"", b"-1"):
        return "reduce" if reduces else "broadcast" if seen.low > 0.99 else ""
    if reduces:
        return "all_reduce" if seen.low > 1 else "reduce_scatter" if seen.high < 1 and seen.high > 0.4 else ""
    if "redop" not in names and "root" not in names:
        return "all_gather"
    return "alltoall" if redop == b"" and seen.high < 1 else ""


NO_NUMBER = (1.0, 0.0)
"""An empty interval: no number of ranks has this factor."""


def interval(name: str, redop: bytes, seen: Ratio | None) -> tuple[float, float] | None:
    """Fewest and most ranks that the factor allows (the most may be infinite); None when it says nothing."""
    if seen is None or not seen.consistent or seen.single:
        return None
    inverse = RANKS.get(name)
    if not name and redop not in _REDUCTIONS and seen.high < 1:
        inverse = _once
    if inverse is None or seen.high <= 0:
        return None
    fewest, most = inverse(max(seen.low, 0.0)), inverse(seen.high)
    if math.isinf(fewest):
        return NO_NUMBER
    return max(1.0, math.ceil(fewest - _SLACK)), math.floor(most) if math.isfinite(most) else most


def agreed(listed: int, highest: int | None, allowed: tuple[float, float] | None) -> tuple[int | None, tuple[str, ...]]:
    """Number of ranks where the ``# Rank`` lines (how many, the highest + 1) and the factor agree; notes where not."""
    if allowed is not None and allowed[0] > allowed[1]:
        return None, ("no whole number of ranks fits busbw/algbw: number of ranks left open",)
    if not listed and highest is None:
        return (int(allowed[0]) if allowed and allowed[0] == allowed[1] else None), ()
    told = f"{listed} {'rank is' if listed == 1 else 'ranks are'} listed"
    if listed == highest and _fits(listed, allowed):
        return listed, ()
    if listed == highest:
        return None, (f"{told} but busbw/algbw says {_span(allowed)}: number of ranks left open",)
    told += f", the highest as rank {(highest or 0) - 1} of {highest}"
    if highest is not None and allowed is not None and allowed[0] == allowed[1] == highest:
        return highest, (f"{told}; busbw/algbw says {highest} too: the list is damaged",)
    if allowed is None:
        return None, (f"{told}: number of ranks left open",)
    return None, (f"{told}, but busbw/algbw says {_span(allowed)}: number of ranks left open",)


def contradictions(ranks: int | None, notes: tuple[str, ...]) -> tuple[str, ...]:
    """Of notes on the number of ranks those that set busbw/algbw against the rest; a damaged list alone is none."""
    return tuple(note for note in notes if ranks is None and "busbw" in note)


def _fits(ranks: int, allowed: tuple[float, float] | None) -> bool:
    return allowed is None or allowed[0] <= ranks <= allowed[1]


def _span(allowed: tuple[float, float] | None) -> str:
    low, high = allowed or (1, math.inf)
    if low == high:
        return f"{low:.0f}"
    return f"{low:.0f} to {high:.0f}" if math.isfinite(high) else f"at least {low:.0f}"
