"""ROUTINGS: the rules by which ways are chosen, by name.

What belongs here: the table, and finding a routing by its text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hopline.errors import InputError, UnknownNameError
from hopline.machine.graph import Graph, Hops, Index
from hopline.machine.routing import tiers
from hopline.machine.routing.choices import BY_CHANNEL, BY_TARGET, hashed
from hopline.machine.routing.states import Ends, plain
from hopline.machine.routing.walking import Choice, walk

Routing = Callable[[Graph, Index, Index, Index], Hops]
"""(graph, origin nodes, target nodes, channels) -> the way of each flow. Raises MachineError where no way leads."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A routing and what it does in words."""

    about: str
    route: Routing


def _fewest(choice: Choice, graph: Graph, origin: Index, target: Index, channel: Index) -> Hops:
    """The fewest hops, among these the fewest devices that send on."""
    ends = Ends.of(graph)
    return walk(graph, ends, plain(graph, ends), choice, origin, target, channel)


def _up_down(choice: Choice, graph: Graph, origin: Index, target: Index, channel: Index) -> Hops:
    return tiers.route(graph, choice, origin, target, channel)


def ecmp(seed: int = 0) -> Routing:
    """Equal ways by a hash of source, target, channel and node."""
    return partial(_fewest, hashed(seed))


ROUTINGS: dict[str, Rule] = {
    "shortest": Rule(
        "the fewest hops; of equal links channel c takes the c-th in the order of the file",
        partial(_fewest, BY_CHANNEL),
    ),
    "d-mod-k": Rule(
        "the fewest hops; of k equal ones by the target's number d: d mod k, then floor(d / k) mod the next k, ...",
        partial(_fewest, BY_TARGET),
    ),
    "ecmp": Rule("the fewest hops; of equal ones by a hash of source, target, channel and node", ecmp()),
    "up-down": Rule(
        "the fewest hops away from the devices, then back, never up again (no deadlock); of equal ones as d-mod-k",
        partial(_up_down, BY_TARGET),
    ),
}


def find(text: str) -> Routing:
    """The routing of a name; ``ecmp:seed=7`` draws another hash. Raises UnknownNameError and InputError."""
    name, _, seed = text.partition(":seed=")
    if name not in ROUTINGS:
        raise UnknownNameError("routing", name, ROUTINGS)
    if name == text:
        return ROUTINGS[name].route
    if name != "ecmp" or not (seed.isascii() and seed.isdigit()) or len(seed) > 18:
        raise InputError(f"routing {text!r}: expected {', '.join(ROUTINGS)}, or ecmp with a seed, like ecmp:seed=7")
    return ecmp(int(seed))
