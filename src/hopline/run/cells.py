"""The cells of a plan: which kind at which size between whom, in which order, and what a sample of one says.

What belongs here: from a plan and a number of ranks to cells and turns. What a kind does is ``kinds``.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from hopline.errors import InputError
from hopline.records.pairs import Pair
from hopline.records.sample import Sample
from hopline.run.ends import Cell
from hopline.run.kinds import BY_NAME
from hopline.run.plan import FEWEST_REPEATS, Plan

WINDOWLESS = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where ranks run: the host of each, and what carries their messages."""

    hosts: tuple[str, ...]
    transport: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run left of a cell: turns it had, and its times."""

    turns: int
    times: tuple[float, ...]

    def is_done(self, plan: Plan) -> bool:
        """Whether nothing is left to measure."""
        return self.turns >= plan.passes and len(self.times) >= FEWEST_REPEATS


NOTHING: Mapping[Cell, Earlier] = {}


def cells_of(plan: Plan, ranks: int) -> list[Cell]:
    """All cells of a plan on so many ranks. Raises InputError for a kind that needs more."""
    found: list[Cell] = []
    for kind in plan.chosen:
        if ranks < kind.needs:
            raise InputError(f"{kind.name} needs at least {kind.needs} ranks, this run has {ranks}: give it more")
        window = plan.window if kind.windowed else WINDOWLESS
        found += [Cell(kind.name, size, group, window) for group in kind.groups(ranks) for size in plan.sizes_of(kind)]
    return found


def order(plan: Plan, cells: Sequence[Cell], earlier: Mapping[Cell, Earlier] = NOTHING) -> list[Cell]:
    """The cell of every turn that is left: each pass holds all cells, kind by kind, shuffled anew.

    Pairs come in rounds in which no rank is in two pairs, so that the turns of each rank are spread over the whole time.
    """
    shuffled = random.Random(plan.seed)
    turns = list(chain.from_iterable(_pass(cells, shuffled) for _ in range(plan.passes)))
    seen: dict[Cell, int] = defaultdict(int)
    left = []
    for cell in turns:
        seen[cell] += 1
        known = earlier.get(cell)
        if known is None or seen[cell] > known.turns or (not known.is_done(plan) and seen[cell] == plan.passes):
            left.append(cell)
    return left


def _pass(cells: Sequence[Cell], shuffled: random.Random) -> list[Cell]:
    alone: dict[str, list[Cell]] = defaultdict(list)
    paired: dict[Pair, list[Cell]] = defaultdict(list)
    for cell in cells:
        if BY_NAME[cell.kind].paired:
            paired[cell.ranks[0], cell.ranks[1]].append(cell)
        else:
            alone[cell.kind].append(cell)
    turns = [cell for group in alone.values() for cell in shuffled.sample(group, len(group))]
    ranks = sorted({rank for pair in paired for rank in pair})
    return turns + [cell for pair in spread_pairs(ranks, shuffled) for cell in paired[pair]]


def spread_pairs(ranks: Sequence[int], shuffled: random.Random) -> list[Pair]:
    """All ordered pairs, in rounds: no rank is in two pairs of one round (circle method of round-robin tournaments)."""
    names: list[int | None] = [*shuffled.sample(ranks, len(ranks)), *([None] if len(ranks) % 2 else [])]
    rounds: list[list[Pair]] = []
    for _ in range(len(names) - 1):
        met = [(a, b) for a, b in zip(names, reversed(names), strict=True) if a is not None and b is not None]
        half = met[: len(met) // 2]
        rounds += [shuffled.sample(half, len(half)), [(b, a) for a, b in shuffled.sample(half, len(half))]]
        names = [names[0], names[-1], *names[1:-1]]
    shuffled.shuffle(rounds)
    return list(chain.from_iterable(rounds))


def blank(cell: Cell, place: Place) -> Sample:
    """A sample of the cell with one time of 0 s: its identity."""
    kind = BY_NAME[cell.kind]
    hosts = tuple(place.hosts[rank] for rank in cell.ranks)
    others = len(place.hosts) if kind.needs > 1 else len(cell.ranks)
    return Sample(
        benchmark=kind.benchmark,
        transport=kind.transport or place.transport,
        host=hosts[0],
        ranks=len(cell.ranks),
        size=cell.size,
        times=(0.0,),
        pair=(cell.ranks[0], cell.ranks[1]) if kind.paired else None,
        pairs=len(cell.ranks) // 2 if kind.halved else 1,
        window=cell.window,
        world=None if others == len(cell.ranks) else others,
        hosts=hosts if kind.paired or set(hosts) != {hosts[0]} else (),
    )


def sample_of(cell: Cell, place: Place, times: Sequence[float], clock: float, started: str) -> Sample:
    """What was timed, as a sample."""
    return replace(blank(cell, place), times=tuple(times), clock=clock, started=started)
