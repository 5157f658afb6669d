"""The ground of a contest: what closed forms need of a network.

What belongs here: its levels, its changes, and both in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from hopline.curve import Curve, Piece
from hopline.jobs.networks import Network
from hopline.machine.fabric import Level, Levels
from hopline.quantity import show


@dataclass(frozen=True, slots=True)
class Ground:
    """What forms need of a network: levels of more than one member, rings at once (None: searched), who receives a reshard."""

    levels: Levels
    channels: int | None
    targets: int

    @classmethod
    def of(cls, network: Network, channels: int | None = None) -> Ground:
        """Of a network; ``channels`` None: as many rings as are fastest at each size."""
        several = [level for level in network.levels.levels if level.ranks > 1] or list(network.levels.levels[-1:])
        levels = Levels(several, network.levels.reduce, network.levels.copy, network.levels.name)
        return cls(levels, channels, max(1, network.ranks // 2))

    @property
    def nics(self) -> int:
        """NICs by which a group of the outermost level is reached."""
        *inner, outer = self.levels.levels
        return outer.nics * math.prod(level.ranks for level in inner)

    @property
    def rises(self) -> bool:
        """Whether more bytes never take less time on any level: a fitted curve may fall where its protocol changes."""
        return all(
            before.latency + after.low / before.bandwidth <= after.latency + after.low / after.bandwidth
            for curve in self.levels.curves
            for before, after in pairwise(curve.pieces)
        )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.levels.ranks

    @property
    def outermost(self) -> int:
        """Number of the outermost level."""
        return len(self.levels.curves) - 1

    def changed(
        self, level: int, latency: float = 1.0, bandwidth: float = 1.0, nics: int = 1, reduce: float = 1.0
    ) -> Ground:
        """Start-up, bandwidth and NICs of a level, and the time to add up a byte, each times a factor."""
        old = self.levels.levels[level]
        pieces = (Piece(p.low, p.latency * latency, p.bandwidth * bandwidth) for p in old.curve.pieces)
        new = Level(old.ranks, Curve(tuple(pieces)), old.nics * nics)
        levels = [*self.levels.levels[:level], new, *self.levels.levels[level + 1 :]]
        made = Levels(levels, self.levels.reduce * reduce, self.levels.copy, self.levels.name)
        return Ground(made, self.channels, self.targets)


def level_names(levels: Levels) -> tuple[str, ...]:
    """How people speak of each level; "" where there is one; groups of the innermost of two are nodes."""
    if len(levels.levels) <= 2:
        return ("inside nodes", "between nodes") if len(levels.levels) == 2 else ("",)
    spans = [1]
    for level in levels.levels:
        spans.append(spans[-1] * level.ranks)
    inner = f"inside groups of {spans[1]}"
    return (inner, *(f"between groups of {span}" for span in spans[1:-1]))


def prices(ground: Ground) -> str:
    """What a message costs on each level, and adding up, in words; "" where there is nobody to send to."""
    told: list[str] = []
    if ground.ranks == 1:
        return ""
    for name, level in zip(level_names(ground.levels), ground.levels.levels, strict=True):
        first, last = level.curve.pieces[0], level.curve.pieces[-1]
        cost = f"{show(first.latency, 'time')} + bytes at {show(last.bandwidth, 'bandwidth')}"
        cost += f" (in {len(level.curve.pieces)} pieces)" if first is not last else ""
        cost += f" on each of {level.nics} NICs" if level.nics > 1 else ""
        told.append(f"{name}: {cost}" if name else f"a message takes {cost}")
    told += [f"adding up at {show(1 / ground.levels.reduce, 'bandwidth')}"] if ground.levels.reduce else []
    return "; ".join(told)
