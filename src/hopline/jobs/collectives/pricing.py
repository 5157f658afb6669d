"""What each algorithm of a collective takes on a network, by its closed form.

What belongs here: from an entry of the table and a network to times: which shape it is asked for, into how many chunks it
cuts or over how many rings it goes, and the form's parts as an estimate.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from hopline.errors import HoplineError, InputError
from hopline.jobs.collectives.ground import Ground, level_names
from hopline.model.collective.nested import Seen, nested, seen
from hopline.model.collective.rounds import Cost, Form, bounds, cost
from hopline.model.collective.table import FORMS
from hopline.quantity import counted
from hopline.records.contest import CHUNK, RING, TIE, LeftOut, Parts, Timed
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


class Contender:
    """One algorithm on a ground; times are worked out once for each size."""

    def __init__(self, entry: Collective, ground: Ground) -> None:
        self.entry, self.ground = entry, ground
        self._form: Callable[[Shape], Form] = FORMS[entry.name]
        self._times: dict[int, Timed] = {}
        self._numbers: dict[int, int] = {}
        self._seconds: dict[tuple[int, int], float] = {}
        self._known: list[tuple[int, float]] | None = [] if ground.rises else None
        self._seen: Seen | None = None
        self._flat = len(ground.levels.curves) > 1 and "levels" not in entry.uses
        self._unseen = self._flat

    @property
    def parts(self) -> Parts:
        """What it makes several of: chunks of the message, or rings; "": neither."""
        return CHUNK if "chunks" in self.entry.uses else RING if "channels" in self.entry.uses else ""

    @property
    def searched(self) -> bool:
        """Whether their number is the fastest of all, and not one that was asked for."""
        return self.parts == CHUNK or (self.parts == RING and self.ground.channels is None)

    def shape(self, size: int, chunks: int = 1, rings: int | None = None) -> Shape:
        """What its schedule is asked for; ``rings`` None: the best number. Raises InputError where it cannot be."""
        uses, ground = self.entry.uses, self.ground
        if rings is None:
            rings = self.number(size) if self.parts == RING else ground.channels or ground.nics
        return Shape(
            ground.ranks,
            size,
            levels=tuple(level.ranks for level in ground.levels.levels) if "levels" in uses else (),
            chunks=chunks if "chunks" in uses else 1,
            channels=rings if "channels" in uses else 1,
            targets=ground.targets if "targets" in uses else 1,
        )

    def form(self, size: int, number: int = 1) -> Form:
        """Its rounds with as many chunks or rings, on the levels of the ground."""
        shape = self._shape(size, number)
        form = self._form(shape)
        if not self._flat:
            return form
        return nested(form, self._what_is_seen(form), size, shape.chunks)

    def number(self, size: int) -> int:
        """The number of chunks that is fastest, at most one a byte, or of rings, at most two a NIC; else that asked for."""
        if size not in self._numbers:
            self._numbers[size] = self._best(size)
            if self._known is not None:
                insort(self._known, (size, self.seconds(size, self._numbers[size])))
        return self._numbers[size]

    def seconds(self, size: int, number: int | None = None) -> float:
        """Time by closed form, of bounds the upper one; None: with the best number of chunks or rings."""
        key = size, self.number(size) if number is None else number
        if key not in self._seconds:
            self._seconds[key] = cost(self.form(*key).rounds, self.ground.levels).time
        return self._seconds[key]

    def least(self, size: int) -> float:
        """What it takes no less than: its time at the next smaller size that is known, where more bytes never take less."""
        before = bisect(self._known or [], (size, math.inf))
        return self._known[before - 1][1] if self._known and before else 0.0

    def at(self, size: int) -> Timed:
        """Its time at ``size`` with the best number of chunks or rings. Raises what its form raises."""
        if size not in self._times:
            self._times[size] = self._timed(size, self.number(size))
        return self._times[size]

    def _shape(self, size: int, number: int) -> Shape:
        return self.shape(size, number, number if self.parts == RING else 1)

    def _best(self, size: int) -> int:
        def taken(number: int) -> float:
            return self.seconds(size, number)

        if self.parts == CHUNK:
            return lowest(taken, min(size, MOST_CHUNKS)) if size > 1 else 1
        if self.parts == "":
            return 1
        nics = self.ground.nics
        return self.ground.channels or min((lowest(taken, 2 * nics), nics, 2 * nics), key=lambda k: (taken(k), k))

    def _timed(self, size: int, number: int) -> Timed:
        form = self.form(size, number)
        low, high = bounds(form, self.ground.levels)
        told = terms(cost(form.rounds, self.ground.levels), level_names(self.ground.levels))
        estimate = Estimate.of(self.entry.algorithm, told, "sum")
        if low < high * (1 - 1e-12):
            estimate = replace(estimate, low=low, high=high)
        shape = self._shape(size, number)
        twice = min(size, 2 * number) if self.parts == CHUNK else 2 * number
        around = (
            (self.seconds(size, max(1, number // 2)), self.seconds(size, twice)) if self.searched and size > 1 else None
        )
        return Timed(self.entry.algorithm, size, estimate, shape.chunks, around, shape.channels, self.parts)

    def _what_is_seen(self, form: Form) -> Seen | None:
        """Made once, uncut: how a pipeline's rounds lie is not known from it, what its ports carry is."""
        if self._unseen:
            self._unseen = False
            if form.count * self.ground.ranks <= MOST_SEEN:
                size = _PROBE * self.ground.ranks
                self._seen = seen(self.entry.build(self._shape(size, 1)), self.ground.levels, size)
        return self._seen


def terms(found: Cost, names: Sequence[str]) -> list[Term]:
    """The parts of a closed form's time; those of the message always, others where they take time."""
    told = []
    for what, seconds in (("start-ups", found.start), ("bytes", found.bytes)):
        told += [Term(f"{what} {name}".strip(), time) for name, time in zip(names, seconds, strict=True)]
    told += [Term(name, time) for name, time in (("adding up", found.reduce), ("copying", found.copy)) if time]
    return told


def fastest(taking: Iterable[Contender], size: int) -> list[Contender]:
    """All that no other beats, in their order. Those with a number to search come last, and only where they may win."""
    found: list[tuple[float, Contender]] = []
    least = math.inf
    for contender in sorted(taking, key=lambda one: one.searched):
        if contender.least(size) <= least * (1 + TIE):
            found.append((contender.seconds(size), contender))
            least = min(least, found[-1][0])
    best = {id(contender) for time, contender in found if time <= least * (1 + TIE)}
    return [contender for contender in taking if id(contender) in best]


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
        raise InputError(f"no algorithm of {benchmark} fits {counted(ground.ranks, 'rank')}: {reasons}")
    return taking, left


def _check_levels(entry: Collective, ground: Ground) -> None:
    """Raise InputError for an algorithm of levels where there is one: it would be another one under a second name."""
    several = len(ground.levels.levels) > 1 or ((ground.channels or ground.nics) > 1 and "channels" in entry.uses)
    if "levels" in entry.uses and not several and ground.ranks > 1:
        nics = " and one NIC" if "channels" in entry.uses else ""
        raise InputError(f"the network has one level{nics}")
