"""Which of several equally good steps a flow takes.

What belongs here: a function for each rule, from the flows at a fork to numbers.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from hopline.machine.graph import Graph
from hopline.machine.routing.walking import Choice, Fork, Longs


def by_channel(graph: Graph, fork: Fork) -> Longs:
    """Channel c takes the c-th."""
    del graph
    return fork.channel.astype(np.int64)


def by_target(graph: Graph, fork: Fork) -> Longs:
    """The target's place among devices, leaf by leaf, over the product of earlier choices (Zahavi 2010), plus the channel."""
    return graph.by_leaf[fork.target] // fork.passed + fork.channel


def by_hash(graph: Graph, fork: Fork, seed: int = 0) -> Longs:
    """SplitMix64 (Steele, Lea, Flood 2014) over seed, source, target, channel and the node where the choice is made."""
    del graph
    mixed = np.full(len(fork.here), seed, np.uint64)
    for part in (fork.source, fork.target, fork.channel, fork.here):
        mixed = _mix(mixed ^ part.astype(np.uint64))
    return (mixed >> np.uint64(1)).astype(np.int64)


def _mix(value: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.uint64]:
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


BY_CHANNEL, BY_TARGET = Choice(by_channel, alike=True), Choice(by_target)


def hashed(seed: int) -> Choice:
    """``by_hash`` with a seed."""
    return Choice(partial(by_hash, seed=seed))
