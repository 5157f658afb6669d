"""Packets over paths of unequal delay: what a receiver holds until what is missing has come.

What belongs here: the clock of packets that leave back to back. Whole ticks, so that arrivals of one instant are one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact
from hopline.records.queue import Reordered

MOST_PACKETS = 5_000_000
_MOST_TICKS = 1 << 62


def reorder(
    packet: int, rate: float, delays: Sequence[float], packets: int, pattern: Sequence[int] | None = None
) -> Reordered:
    """``packets`` of ``packet`` bytes leave at ``rate`` byte/s; number i takes path ``pattern[i mod its length]``.

    Without a pattern the paths take turns. A packet is held when it has arrived and one before it has not. Raises InputError.
    """
    turns = list(range(len(delays))) if pattern is None else list(pattern)
    _check(packet, delays, packets, turns)
    gap = Fraction(packet) / exact(POSITIVE.check("rate", rate))
    late = [exact(NON_NEGATIVE.check("path delay", delay)) for delay in delays]
    tick = math.lcm(gap.denominator, *(delay.denominator for delay in late))
    whole = [int(delay * tick) for delay in late]
    small = int(gap * tick) * packets + max(whole) < _MOST_TICKS
    kind = np.int64 if small else object
    path = np.resize(np.array(turns), packets)
    arrived = np.arange(packets).astype(kind) * int(gap * tick) + np.array(whole, dtype=kind)[path]
    released = np.maximum.accumulate(arrived)
    held = _most_held(arrived, released)
    used = {turn: turns.count(turn) for turn in set(turns)}
    longest, shortest = max(late[turn] for turn in used), min(late[turn] for turn in used)
    fluid = sum((Fraction(n, len(turns)) * (longest - late[turn]) for turn, n in used.items()), Fraction(0))
    return Reordered(
        packets=held,
        size=held * packet,
        fluid=float(exact(rate) * fluid),
        bound=float(exact(rate) * (longest - shortest)),
        wait=float(Fraction(int((released - arrived).max()), tick)),
    )


def _most_held(arrived: NDArray[Any], released: NDArray[Any]) -> int:
    """The most packets in hand once all of an instant has been handled."""
    waits = released > arrived
    if not waits.any():
        return 0
    came, went = np.sort(arrived[waits]), released[waits]
    return int((np.arange(1, len(came) + 1) - np.searchsorted(went, came, side="right")).max())


def _check(packet: int, delays: Sequence[float], packets: int, turns: Sequence[int]) -> None:
    if packet < 1:
        raise InputError(f"packets of {packet} bytes: expected at least 1")
    if not 1 <= packets <= MOST_PACKETS:
        raise InputError(f"{packets:,} packets: expected 1 to {MOST_PACKETS:,}")
    if not delays:
        raise InputError("no path: expected the delay of one at least")
    bad = [turn for turn in turns if not 0 <= turn < len(delays)]
    if bad or not turns:
        raise InputError(
            f"the pattern takes path {bad[0] if bad else 'none'}: expected numbers from 0 to {len(delays) - 1}"
        )
