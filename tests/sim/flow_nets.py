"""Small networks for the tests of flows: routes that are said, drawn ones, and a fat tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
from sim_drawn import Row, message, schedule_of

from hopline.machine.resources import Resources, Routes
from hopline.schedule.operations import FREE, Schedule

Use = tuple[int, float]


def routes_of(uses: Sequence[Sequence[Use]], latency: Sequence[float]) -> Routes:
    """Routes from lists of (resource, weight)."""
    start = np.cumsum([0, *map(len, uses)]).astype(np.int64)
    flat = [use for flow in uses for use in flow]
    resource, weight = ([use[i] for use in flat] for i in (0, 1))
    return Routes(start, np.array(resource, np.int32), np.array(weight, float), np.array(latency, float))


class Said(Resources):
    """(sender, receiver) -> the resources it takes, with a latency in ps; capacities in byte/ps."""

    def __init__(
        self,
        capacity: Sequence[float],
        ways: Mapping[tuple[int, int], Sequence[Use]],
        latency: Mapping[tuple[int, int], int],
    ) -> None:
        self.name, self.reduce, self.copy = "said", 1e-12, 0.0
        self.ranks = 1 + max(rank for pair in ways for rank in pair)
        self._capacity, self.ways, self.latency = np.array(capacity) * 1e12, ways, latency

    @property
    def capacity(self):
        """Byte/s."""
        return self._capacity

    def routes(self, sender, receiver, channel):
        """As said."""
        pairs = list(zip(sender.tolist(), receiver.tolist(), strict=True))
        return routes_of([self.ways[pair] for pair in pairs], [self.latency.get(pair, 0) * 1e-12 for pair in pairs])

    def resource(self, number):
        """A letter."""
        return chr(ord("A") + number)


class FatTree(Resources):
    """Hosts under leaves, each leaf on every spine, all links alike and full duplex; host d is reached over spine d mod spines."""

    def __init__(self, leaves: int, hosts: int, spines: int, hop: float = 0.0, rate: float = 50e9) -> None:
        self.name, self.reduce, self.copy = "tree", 0.0, 0.0
        self.leaves, self.hosts, self.spines, self.hop, self.rate = leaves, hosts, spines, hop, rate
        self.ranks = leaves * hosts

    @property
    def capacity(self):
        """Up and down of hosts, then of leaves."""
        return np.full(2 * self.ranks + 2 * self.leaves * self.spines, self.rate)

    def routes(self, sender, receiver, channel):
        """Up and down inside a leaf, and over a spine between leaves."""
        spine, base = receiver % self.spines, 2 * self.ranks
        up = base + sender // self.hosts * self.spines + spine
        down = base + (self.leaves + receiver // self.hosts) * self.spines + spine
        far = sender // self.hosts != receiver // self.hosts
        ways = np.stack([sender, self.ranks + receiver, up, down], axis=1)
        taken = np.stack([far | True, far | True, far, far], axis=1)
        start = np.concatenate([[0], np.cumsum(taken.sum(axis=1))]).astype(np.int64)
        return Routes(start, ways[taken].astype(np.int32), np.ones(start[-1]), np.where(far, 4, 2) * self.hop)

    def resource(self, number):
        """Its number."""
        return f"link {number}"


def at_once(flows: Sequence[tuple[int, int, int]], ranks: int) -> Schedule:
    """(sender, receiver, bytes), all ready at 0."""
    rows: list[Row] = []
    for tag, (sender, receiver, size) in enumerate(flows):
        rows += message(sender, receiver, size, tag, (FREE, FREE))
    return schedule_of(ranks, rows)


def any_net(random: Random, ranks: int) -> Said:
    """Few resources of like capacities, so that many fill together; any route, also none; weights and latencies."""
    count = random.randint(1, 6)
    capacity = [random.choice([1.0, 0.5, 0.3, 0.1, 0.7]) for _ in range(count)]
    weights = random.choice([(1.0,), (1.0, 2.0), (1.0, 0.5, 3.0, 0.0)])
    ticks = random.choice([(0,), (1, 3), (0, 2), (5,)])
    least = random.choice([0, 1])
    ways, latency = {}, {}
    for pair in ((a, b) for a in range(ranks) for b in range(ranks)):
        used = sorted(random.sample(range(count), random.randint(least, min(3, count))))
        ways[pair] = [(number, random.choice(weights)) for number in used]
        latency[pair] = random.choice(ticks)
    return Said(capacity, ways, latency)
