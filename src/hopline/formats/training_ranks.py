"""Which steps the lines of a training log are of, where bars count anew in each epoch and several ranks print.

What belongs here: numbers of steps, ranks with and without a label, and lines that say a step again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hopline.quantity import counted

Entry = tuple[int, float, float, int, int]
"""Step, seconds, stamp, how often the program said that it starts, line."""
LAG, LAGS, LAG_SHARE = 64, 3, 0.02
"""Steps that a rank may be behind; how many goings back, and of how many lines, tell ranks that print in each other's way."""
FEW = 5
"""Steps of a rank, from which on it has a median."""


@dataclass(slots=True)
class Count:
    """How steps of one rank are numbered: a bar counts within its epoch, and a rounded number is known from the bar."""

    start: int = 0
    epoch: int = -1
    bar: int = 0
    base: int = 0
    ahead: int | None = None
    """Bar's count less the number of the step, of the last line that said both."""

    def number(self, step: int | None, bar: tuple[int, int] | None, start: int) -> int | None:
        """The step of a line; None: it does not say. ``bar``: epoch and count; ``start``: of the program, from 0."""
        if bar is None:
            return step
        epoch, count = bar
        if start != self.start or epoch < self.epoch:
            self.base = 0
        elif epoch > self.epoch >= 0:
            self.base += self.bar
        self.start, self.epoch, self.bar = start, epoch, count
        if step is not None:
            self.ahead = self.base + count - step
            return step
        return self.base + count - (self.ahead or 0)


def of_one(sides: Mapping[str, Sequence[Entry]], told: list[str]) -> Sequence[Entry]:
    """The steps that one rank printed: of several labels, those of the one with most, of as many the lowest."""
    best = min(sides, key=lambda label: (-len(sides[label]), len(label), label))
    if len(sides) > 1:
        told.append(f"{len(sides)} ranks print steps: those of label {best or 'none'} are taken")
    return sides[best]


def medians(sides: Mapping[str, Sequence[Entry]]) -> dict[str, float]:
    """Label -> median seconds of its steps, where several ranks print them with a label."""
    times = {label: np.array([one[1] for one in entries]) for label, entries in sides.items() if label}
    usable = {label: time[np.isfinite(time) & (time > 0)] for label, time in times.items()}
    found = {label: float(np.median(time)) for label, time in usable.items() if len(time) >= FEW}
    return found if len(found) > 1 else {}


def once(entries: Sequence[Entry], told: list[str]) -> list[Entry]:
    """Each step once: what says the step before it again is another rank's or a progress bar's; the longest time stands.

    Ranks without a label that are not in step go back by a few steps again and again: they are put in order.
    """
    if _in_each_others_way(entries):
        told.append(
            "several ranks print their steps without a label, and not in step: of each step the longest time stands"
        )
        entries = sorted(entries, key=lambda one: (one[3], one[0]))
        return _merged(entries)[0]
    kept, again = _merged(entries)
    if again:
        told.append(
            f"{counted(again, 'line')} say the step before them again (other ranks, or a progress bar): the longest time "
            "stands"
        )
    return kept


def _merged(entries: Sequence[Entry]) -> tuple[list[Entry], int]:
    kept: list[Entry] = []
    again = 0
    for entry in entries:
        if not kept or kept[-1][0] != entry[0] or kept[-1][3] != entry[3]:
            kept.append(entry)
            continue
        again += 1
        if not entry[1] <= kept[-1][1]:
            kept[-1] = (entry[0], entry[1] if np.isfinite(entry[1]) else kept[-1][1], *kept[-1][2:])
    return kept, again


def _in_each_others_way(entries: Sequence[Entry]) -> bool:
    if len(entries) < 2:
        return False
    step, start = (np.array([one[column] for one in entries], np.int64) for column in (0, 3))
    apart = np.diff(step)[np.diff(start) == 0]
    back, on = -apart[apart < 0], apart[apart > 0]
    often = len(on) > 0 and len(back) >= max(LAGS, LAG_SHARE * len(step))
    return often and int(back.max()) <= LAG * int(np.median(on))
