"""The least that has to go so that a graph has no cycle: of its arcs, or of what stands behind them.

What belongs here: the search, exact within a budget and else between two bounds. Each arc stands for a set of things (bits
of an integer) and is gone when all of them are. One bit an arc asks for the fewest arcs (a minimum feedback arc set); bits
that are flows ask for the fewest flows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hopline.study.deadlock_cycles import Budget, grouped, shortest_cycle

Arc = tuple[int, int]
Bits = Mapping[Arc, int]
LIMIT = 1_500_000
"""Arcs that one search may look at: about a second."""
_WORD = 4096
"""Bits that are compared in the time that an arc takes."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Bits that are taken (all cycles are gone with them), and how many there are at least in any such set."""

    taken: int
    least: int

    @property
    def most(self) -> int:
        """How many are taken here."""
        return self.taken.bit_count()


def smallest(bits: Bits, limit: int = LIMIT) -> Cut:
    """The fewest bits without which no cycle is left; bounds where ``limit`` arcs are looked at before it is known.

    Branch and bound: of a shortest cycle one arc must go, so each is tried in turn, those tried before it being kept.
    Cycles that share no bit bound from below what is still to come.
    """
    first = feedback(bits)
    best = 0
    for arc in first:
        best |= bits[arc]
    search = _Search(bits, best, Budget(limit))
    root = search.bound(0)[0]
    search.run()
    return Cut(search.best, min(search.best.bit_count(), root if search.budget.left < 0 else search.best.bit_count()))


@dataclass(slots=True)
class _Search:
    bits: Bits
    best: int
    budget: Budget

    def run(self) -> None:
        """Depth first over what is taken and what must be kept."""
        todo: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while todo and self.budget.left >= 0:
            taken, kept = todo.pop()
            least, cycle = self.bound(taken)
            if self.budget.left < 0 or least >= self.best.bit_count():
                continue
            if not cycle:
                self.best = taken
                continue
            order = sorted(cycle, key=lambda arc: ((self.bits[arc] & ~taken).bit_count(), arc))
            masks = [self.bits[arc] for arc in order]
            for place in reversed(range(len(order))):
                then, keep = taken | masks[place], (*kept, *masks[:place])
                if all(mask & ~then for mask in keep):
                    todo.append((then, keep))

    def bound(self, taken: int) -> tuple[int, list[Arc]]:
        """The fewest bits of any set that holds ``taken``, at least; and a shortest cycle that is left (its arcs)."""
        first: list[Arc] = []
        least, used = taken.bit_count(), 0
        while self.budget.left >= 0:
            cycle = self._cycle(taken, used)
            if not cycle:
                break
            first = first or cycle
            least += min((self.bits[arc] & ~taken).bit_count() for arc in cycle)
            if least >= self.best.bit_count():
                break
            for arc in cycle:
                used |= self.bits[arc] & ~taken
        return least, first

    def _cycle(self, taken: int, used: int) -> list[Arc]:
        left = [arc for arc, mask in self.bits.items() if mask & ~taken and not mask & ~taken & used]
        self.budget.spend(len(self.bits) * (1 + self.best.bit_length() // _WORD))
        nodes, _ = shortest_cycle(grouped(left), self.budget)
        return list(zip(nodes, [*nodes[1:], *nodes[:1]], strict=True))


def feedback(bits: Bits) -> list[Arc]:
    """Arcs without which no cycle is left, few but not the fewest, in order.

    Nodes are put in a row from both ends, sinks last, sources first, else the one from which most goes out over what comes
    in (Eades, Lin and Smyth 1993); arcs that lead back then go, and come back where they close no cycle after all.
    """
    row = _row(bits)
    back = [arc for arc in bits if row[arc[0]] >= row[arc[1]]]
    order = Order({node: float(place) for node, place in row.items()})
    for origin, target in bits:
        if row[origin] < row[target]:
            order.add(origin, target)
    heavy = sorted(back, key=lambda arc: (-bits[arc].bit_count(), arc))
    return sorted(arc for arc in heavy if not order.add(*arc))


def _row(bits: Bits) -> dict[int, int]:
    out: dict[int, dict[int, int]] = {}
    into: dict[int, dict[int, int]] = {}
    for (origin, target), mask in bits.items():
        for one, other, where in ((origin, target, out), (target, origin, into)):
            where.setdefault(one, {})[other] = mask.bit_count()
    nodes = sorted({*out, *into})
    excess = {node: sum(out.get(node, {}).values()) - sum(into.get(node, {}).values()) for node in nodes}
    heap = [(_key(node, out, into, excess), node) for node in nodes]
    heapq.heapify(heap)
    front: list[int] = []
    rear: list[int] = []
    left = set(nodes)
    while heap:
        key, node = heapq.heappop(heap)
        if node not in left or key != _key(node, out, into, excess):
            continue
        left.discard(node)
        (rear if key[0] == 0 else front).append(node)
        touched = {*out.get(node, ()), *into.get(node, ())} & left
        for other in touched:
            excess[other] += into.get(other, {}).pop(node, 0) - out.get(other, {}).pop(node, 0)
            heapq.heappush(heap, (_key(other, out, into, excess), other))
    return {node: place for place, node in enumerate([*front, *reversed(rear)])}


def _key(
    node: int, out: Mapping[int, Mapping[int, int]], into: Mapping[int, Mapping[int, int]], excess: Mapping[int, int]
) -> tuple[int, int]:
    """Sinks, then sources, then by what goes out more than comes in; loops of a node onto itself do not count."""
    if not set(out.get(node, ())) - {node}:
        return (0, 0)
    if not set(into.get(node, ())) - {node}:
        return (1, 0)
    return (2, -excess[node])


class Order:
    """A graph without cycles that grows: nodes have places so that every arc leads forward (Pearce and Kelly 2006)."""

    def __init__(self, place: dict[int, float] | None = None) -> None:
        self._place = place or {}
        self._out: dict[int, dict[int, int]] = {}
        self._into: dict[int, dict[int, int]] = {}
        self.looked = 0
        """Arcs that were looked at to keep the order."""

    def add(self, origin: int, target: int) -> bool:
        """Add an arc (once more) unless it would close a cycle; whether it was."""
        for node in (origin, target):
            self._place.setdefault(node, float(len(self._place)))
        if target not in self._out.get(origin, ()) and not self._ordered(origin, target):
            return False
        for one, other, where in ((origin, target, self._out), (target, origin, self._into)):
            arcs = where.setdefault(one, {})
            arcs[other] = arcs.get(other, 0) + 1
        return True

    def add_all(self, arcs: Iterable[Arc]) -> bool:
        """Add all or none."""
        added: list[Arc] = []
        for arc in arcs:
            if not self.add(*arc):
                self.remove_all(added)
                return False
            added.append(arc)
        return True

    def remove_all(self, arcs: Iterable[Arc]) -> None:
        """Take arcs away once each."""
        for origin, target in arcs:
            for one, other, where in ((origin, target, self._out), (target, origin, self._into)):
                where[one][other] -= 1
                if not where[one][other]:
                    del where[one][other]

    def _ordered(self, origin: int, target: int) -> bool:
        """Move what lies between so that ``origin`` stands before ``target``; False where it cannot."""
        place = self._place
        low, high = place[target], place[origin]
        if high < low:
            return True
        ahead = self._reached(target, self._out, lambda node: place[node] <= high)
        if origin in ahead:
            return False
        behind = self._reached(origin, self._into, lambda node: place[node] >= low)
        moved = [*sorted(behind, key=place.__getitem__), *sorted(ahead, key=place.__getitem__)]
        for node, at in zip(moved, sorted(place[node] for node in moved), strict=True):
            place[node] = at
        return True

    def _reached(self, start: int, arcs: Mapping[int, Mapping[int, int]], within: Callable[[int], bool]) -> set[int]:
        seen = {start}
        stack = [start]
        while stack:
            ends = arcs.get(stack.pop(), ())
            self.looked += len(ends)
            for other in ends:
                if other not in seen and within(other):
                    seen.add(other)
                    stack.append(other)
        return seen
