"""What each algorithm of a collective takes on a network, by its closed form.

What belongs here: from an entry of the table and a network to times: which shape it is asked for, into how many chunks it
cuts, and the form's parts as an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, InputError
from hopline.jobs.networks import Network
from hopline.machine.fabric import Level, Levels
from hopline.model.collective.nested import Seen, nested, seen
from hopline.model.collective.rounds import Cost, Form, bounds, cost
from hopline.model.collective.table import FORMS
from hopline.quantity import show
from hopline.records.contest import LeftOut, Timed
from hopline.records.estimate import Estimate, Term
from hopline.schedule.collectives.table import COLLECTIVES, Collective
from hopline.schedule.shape import Shape
from hopline.study.searching import lowest

MOST_CHUNKS = 1 << 16
"""More are not tried: a chunk then is small against any start-up."""
MOST_SEEN = 1 << 20
"""Messages of a schedule that is made to see which levels its rounds go over."""
_PROBE = 1 << 20
"""Bytes of a rank's piece in it."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What forms need of a network: levels of more than one member, what goes on at once, who receives a reshard."""

    levels: Levels
    channels: int
    targets: int

    @classmethod
    def of(cls, network: Network, channels: int | None = None) -> Ground:
        """``channels`` None: one for each NIC by which a group of the outermost level is reached."""
        several = [level for level in network.levels.levels if level.ranks > 1] or list(network.levels.levels[-1:])
        levels = Levels(several, network.levels.reduce, network.levels.copy, network.levels.name)
        outwards = several[-1].nics * math.prod(level.ranks for level in several[:-1])
        return cls(levels, channels or outwards, max(1, network.ranks // 2))

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
        return Ground(made, self.channels * nics, self.targets)


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


class Contender:
    """One algorithm on a ground; times are worked out once for each size."""

    def __init__(self, entry: Collective, ground: Ground) -> None:
        self.entry, self.ground = entry, ground
        self._form: Callable[[Shape], Form] = FORMS[entry.name]
        self._times: dict[int, Timed] = {}
        self._chunks: dict[int, int] = {}
        self._seconds: dict[tuple[int, int], float] = {}
        self._seen: Seen | None = None
        self._flat = len(ground.levels.curves) > 1 and "levels" not in entry.uses
        self._unseen = self._flat

    @property
    def cuts(self) -> bool:
        """Whether it cuts the message into chunks."""
        return "chunks" in self.entry.uses

    def shape(self, size: int, chunks: int = 1) -> Shape:
        """What its schedule is asked for. Raises InputError where it cannot be."""
        uses, ground = self.entry.uses, self.ground
        return Shape(
            ground.ranks,
            size,
            levels=tuple(level.ranks for level in ground.levels.levels) if "levels" in uses else (),
            chunks=chunks if self.cuts else 1,
            channels=ground.channels if "channels" in uses else 1,
            targets=ground.targets if "targets" in uses else 1,
        )

    def form(self, size: int, chunks: int = 1) -> Form:
        """Its rounds, on the levels of the ground."""
        shape = self.shape(size, chunks)
        form = self._form(shape)
        if not self._flat:
            return form
        return nested(form, self._what_is_seen(form), size, shape.chunks, self.ground.outermost)

    def chunks(self, size: int) -> int:
        """The number of chunks that is fastest, at most one a byte."""
        if size not in self._chunks:
            cut = self.cuts and size > 1
            self._chunks[size] = lowest(lambda k: self.seconds(size, k), min(size, MOST_CHUNKS)) if cut else 1
        return self._chunks[size]

    def seconds(self, size: int, chunks: int | None = None) -> float:
        """Time by closed form, of bounds the upper one; None: with the best chunks."""
        key = size, self.chunks(size) if chunks is None else chunks
        if key not in self._seconds:
            self._seconds[key] = cost(self.form(*key).rounds, self.ground.levels).time
        return self._seconds[key]

    def at(self, size: int) -> Timed:
        """Its time at ``size`` with the best chunks. Raises what its form raises."""
        if size not in self._times:
            self._times[size] = self._timed(size, self.chunks(size))
        return self._times[size]

    def _timed(self, size: int, chunks: int) -> Timed:
        form = self.form(size, chunks)
        low, high = bounds(form, self.ground.levels)
        parts = terms(cost(form.rounds, self.ground.levels), level_names(self.ground.levels))
        estimate = Estimate.of(self.entry.algorithm, parts, "sum")
        if low < high * (1 - 1e-12):
            estimate = replace(estimate, low=low, high=high)
        shape = self.shape(size, chunks)
        cut = self.cuts and size > 1
        around = (self.seconds(size, max(1, chunks // 2)), self.seconds(size, min(size, 2 * chunks))) if cut else None
        return Timed(self.entry.algorithm, size, estimate, shape.chunks, around, shape.channels)

    def _what_is_seen(self, form: Form) -> Seen | None:
        """Made once, uncut: how a pipeline's rounds lie is not known from it, what its ports carry is."""
        if self._unseen:
            self._unseen = False
            if form.count * self.ground.ranks <= MOST_SEEN:
                size = _PROBE * self.ground.ranks
                self._seen = seen(self.entry.build(self.shape(size)), self.ground.levels, size)
        return self._seen


def terms(found: Cost, names: Sequence[str]) -> list[Term]:
    """The parts of a closed form's time; those of the message always, others where they take time."""
    told = []
    for what, seconds in (("start-ups", found.start), ("bytes", found.bytes)):
        told += [Term(f"{what} {name}".strip(), time) for name, time in zip(names, seconds, strict=True)]
    told += [Term(name, time) for name, time in (("adding up", found.reduce), ("copying", found.copy)) if time]
    return told


def contenders(benchmark: str, ground: Ground, sizes: Iterable[int]) -> tuple[list[Contender], list[LeftOut]]:
    """The algorithms of ``benchmark`` that can be asked for all ``sizes``, and the others with the reason."""
    taking, left = [], []
    for entry in COLLECTIVES.values():
        if entry.benchmark != benchmark:
            continue
        contender = Contender(entry, ground)
        try:
            _check_levels(entry, ground)
            for size in sizes:
                contender.at(size)
        except HoplineError as error:
            left.append(LeftOut(entry.algorithm, str(error)))
        else:
            taking.append(contender)
    if not taking:
        reasons = "; ".join(f"{out.algorithm}: {out.reason}" for out in left)
        raise InputError(f"no algorithm of {benchmark} fits {ground.ranks} ranks: {reasons}")
    return taking, left


def _check_levels(entry: Collective, ground: Ground) -> None:
    """Raise InputError for an algorithm of levels where there is one: it would be another one under a second name."""
    several = len(ground.levels.levels) > 1 or (ground.channels > 1 and "channels" in entry.uses)
    if "levels" in entry.uses and not several and ground.ranks > 1:
        nics = " and one NIC" if "channels" in entry.uses else ""
        raise InputError(f"the network has one level{nics}")
