"""From steps and a rule of choice to the way of each flow.

What belongs here: distances to targets, many at a time, and following them. What may follow what is ``states``; which of
several equally good steps is taken is a Choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hopline.errors import MachineError
from hopline.machine.graph import Graph, Hops, Index, Start
from hopline.machine.routing.states import Ends, Steps, spread

Longs = NDArray[np.int64]
AT_ONCE = 1 << 21
"""States and steps that are worked on at a time: some 100 MB at most."""
FAR = np.iinfo(np.int64).max
_MOST_FANOUT = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class Fork:
    """Flows that stand where several steps are equally good; all of shape (flows,).

    Attributes
    ----------
    here, source, target
        Numbers of nodes: where each is, where it comes from and goes to.
    channel
        Tells flows of one pair apart.
    ways
        So many equally good steps there are.
    passed
        Product of ``ways`` at all earlier nodes of the flow.
    """

    here: Index
    source: Index
    target: Index
    channel: Index
    ways: Longs
    passed: Longs


@dataclass(frozen=True, slots=True)
class Choice:
    """``pick`` gives a number for each flow; the step taken is that number modulo ``ways``, in the order of the file.

    ``alike``: only among steps over a link of the same name as the first one's.
    """

    pick: Callable[[Graph, Fork], Longs]
    alike: bool = False


class NoWayError(MachineError):
    """A flow that has no way; ``flow`` is its number."""

    def __init__(self, message: str, flow: int) -> None:
        super().__init__(message)
        self.flow = flow


def walk(graph: Graph, ends: Ends, steps: Steps, choice: Choice, origin: Index, target: Index, channel: Index) -> Hops:
    """The way of each flow from node ``origin`` to node ``target``. Raises NoWayError."""
    moves = origin != target
    flows: list[Longs] = []
    edges: list[Index] = []

    def add(flow: Longs, edge: Index) -> None:
        flows.append(flow)
        edges.append(edge)

    led = np.flatnonzero(moves & (ends.lead[origin] >= 0))
    add(led, ends.lead[origin[led]])
    for flow, edge in _inner(graph, steps, choice, (origin, target, channel), (ends.at[origin], ends.at[target])):
        add(flow, edge)
    last = np.flatnonzero(moves & (ends.lead[target] >= 0))
    add(last, ends.lead[target[last]] ^ 1)
    flow = np.concatenate(flows)
    start = np.concatenate([[0], np.cumsum(np.bincount(flow, minlength=len(origin)))]).astype(np.int64)
    return Hops(start, np.concatenate(edges)[np.argsort(flow, kind="stable")].astype(np.int32))


def _inner(
    graph: Graph, steps: Steps, choice: Choice, flows: tuple[Index, Index, Index], ends: tuple[Index, Index]
) -> Iterator[tuple[Longs, Index]]:
    """(flows, the next edge of each) until all have come from where they enter to where they leave."""
    enter, leave = ends
    order = np.argsort(leave, kind="stable")
    order = order[enter[order] != leave[order]]
    ways = np.diff(steps.first)
    for part in _blocks(leave[order], max(1, AT_ONCE // (steps.states + len(steps.edge)))):
        some = order[part]
        targets, row = np.unique(leave[some], return_inverse=True)
        cost = distances(steps, targets, row, steps.begin[enter[some]])
        lost = np.flatnonzero(cost[row, steps.begin[enter[some]]] == FAR)
        if len(lost):
            raise _no_way(graph, flows, int(some[lost[0]]))
        many = max(1, AT_ONCE // max(1, int(ways.max(initial=1))))
        for i in range(0, len(some), many):
            own = some[i : i + many]
            yield from _follow(graph, steps, choice, flows, own, cost, row[i : i + many], enter[own])


def _blocks(sorted_keys: Index, many: int) -> Iterator[slice]:
    """Runs of at most ``many`` different keys."""
    begins = np.flatnonzero(np.diff(sorted_keys, prepend=-1))[::many].tolist()
    for i, j in pairwise([*begins, len(sorted_keys)]):
        yield slice(i, j)


def distances(steps: Steps, targets: Index, row: Longs, begin: Index) -> Longs:
    """Cost from each state to each target, shape (targets, states); FAR: not reached.

    Breadth first from all targets at once, until the states ``begin`` are reached for the targets numbered ``row``.
    """
    states = steps.states
    cost = np.full(len(targets) * states, FAR, np.int64)
    front = (np.arange(len(targets))[:, None] * states + steps.goals[targets]).ravel()
    cost[front] = 0
    wanted = np.unique(row * states + begin)
    while len(front) and len(wanted := wanted[cost[wanted] == FAR]):
        if _met(steps, cost, wanted, len(front)):
            break
        here = front % states
        position, of = spread(steps.back_first, here)
        key = (front - here)[of] + steps.back[position]
        new = cost[key] == FAR
        key, value = key[new], (cost[front] + steps.cost[here])[of[new]]
        np.minimum.at(cost, key, value)
        front = np.unique(key)
    return cost.reshape(len(targets), states)


def _met(steps: Steps, cost: Longs, wanted: Longs, front: int) -> bool:
    """Whether all ``wanted`` states are one step from what was reached: then they have their costs.

    Looked up only where they are few beside the ``front``, so that a wide layer is not reached for the sake of few (S. Beamer
    et al., 2012).
    """
    if len(wanted) >= front:
        return False
    here = wanted % steps.states
    position, of = spread(steps.first, here)
    there = steps.there[position]
    behind = cost[(wanted - here)[of] + there]
    reached = behind != FAR
    best = np.full(len(wanted), FAR)
    np.minimum.at(best, of[reached], behind[reached] + steps.cost[there[reached]])
    met = bool((best != FAR).all())
    if met:
        cost[wanted] = best
    return met


def _follow(
    graph: Graph, steps: Steps, choice: Choice, flows: tuple[Index, Index, Index], own: Longs, cost: Longs, row: Longs,
    enter: Index,
) -> Iterator[tuple[Longs, Index]]:  # fmt: skip
    """Step by step along falling costs, all flows ``own`` at once."""
    origin, target, channel = (values[own] for values in flows)
    state, passed = steps.begin[enter].astype(np.int64), np.ones(len(own), np.int64)
    going = np.flatnonzero(cost[row, state] > 0)
    while len(going):
        position, ways = _good(graph, steps, choice.alike, cost, row[going], state[going])
        here = (state[going] % len(graph.names)).astype(np.int32)
        fork = Fork(here, origin[going], target[going], channel[going], ways, passed[going])
        taken = position[np.cumsum(ways) - ways + choice.pick(graph, fork) % ways]
        yield own[going], steps.edge[taken]
        passed[going] = np.minimum(passed[going] * ways, _MOST_FANOUT)
        state[going] = steps.there[taken]
        going = going[cost[row[going], state[going]] > 0]


def _good(graph: Graph, steps: Steps, alike: bool, cost: Longs, row: Longs, state: Longs) -> tuple[Start, Longs]:
    """Positions of the steps that lead nearer and are quickest, flow by flow, and how many each flow has."""
    position, of = spread(steps.first, state)
    there = steps.there[position]
    behind = cost[row[of], there]
    good = (behind != FAR) & (behind + steps.cost[there] * (behind != FAR) == cost[row, state][of])
    position, of = position[good], of[good]
    quick = _quickest(graph, steps.edge[position], of)
    position, of = position[quick], of[quick]
    ways = np.bincount(of, minlength=len(state))
    if alike:
        link = graph.link[steps.edge[position]]
        same = link == link[np.cumsum(ways) - ways][of]
        position, ways = position[same], np.bincount(of[same], minlength=len(state))
    return position, ways


def _quickest(graph: Graph, edge: Index, of: Longs) -> NDArray[np.bool_]:
    """Which steps of flow ``of`` a device takes: those over its fastest links (inside of its node); a switch takes any."""
    rate = graph.rate[edge]
    new = np.flatnonzero(np.diff(of, prepend=-1))
    best = np.maximum.reduceat(rate, new) if len(new) else rate
    fast: NDArray[np.bool_] = rate >= np.repeat(best, np.diff([*new, len(of)]))
    return fast | ~graph.is_device[graph.origin[edge]]


def _no_way(graph: Graph, flows: tuple[Index, Index, Index], flow: int) -> NoWayError:
    a, b = (int(ends[flow]) for ends in flows[:2])
    parts = [f"{graph.names[node]} reaches {len(island(graph, node)) - 1} other nodes" for node in (a, b)]
    text = f"no way leads from {graph.names[a]} to {graph.names[b]} of {graph.machine.name}: of its {len(graph.names)} nodes"
    return NoWayError(f"{text} {parts[0]}, {parts[1]}: join these islands, or place ranks on one of them", flow)


def island(graph: Graph, node: int) -> set[int]:
    """All nodes that a node can reach, itself among them."""
    found, front = {node}, np.array([node])
    while len(front):
        position, _ = spread(graph.first, front)
        front = np.unique(graph.target[graph.leaving[position]])
        front = front[[int(n) not in found for n in front]]
        found.update(front.tolist())
    return found
