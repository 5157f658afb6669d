"""Routes of SimGrid's platforms: lists of links between two ends, out of which cables are made where they make a graph.

What belongs here: which two nodes each link joins. A link of SimGrid has no ends; it has two here where all routes over it
agree, and is refused where they do not (a bus that several pairs share, a link that only goes one way).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from hopline.formats.topologies.simgrid_parts import Platform
from hopline.formats.topologies.xml import Element
from hopline.machine.parts import Node
from hopline.quantity import counted

_SOURCES = 256
"""Nodes whose routes are held against the shortest ways."""
_PASSES = 64
"""Times that routes are gone through, those of fewest links first, until all ends are known."""
Slot = tuple[str, int]
"""One of the two ends of a link, or (name of a node, -1)."""


@dataclass(frozen=True, slots=True)
class Route:
    """From one node to another over links, and back the same way."""

    ends: tuple[str, str]
    wires: tuple[str, ...]


@dataclass(slots=True)
class _Ends:
    """Which ends of links are at one place."""

    parent: dict[Slot, Slot] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def find(self, slot: Slot) -> Slot:
        while (up := self.parent.setdefault(slot, slot)) != slot:
            self.parent[slot] = self.parent[up]
            slot = up
        return slot

    def join(self, one: Slot, two: Slot) -> None:
        """Nodes stay the roots of their places."""
        one, two = self.find(one), self.find(two)
        if one != two:
            if two[1] < 0:
                one, two = two, one
            self.parent[two] = one

    def entrance(self, name: str, here: Slot, target: Slot | None) -> int:
        """By which end a route enters a link at ``here``; ``target``: where the link must lead. -1: not known yet."""
        if name not in self.used:
            return 0
        places = [self.find((name, end)) for end in (0, 1)]
        if self.find(here) in places:
            return places.index(self.find(here))
        if target is not None and self.find(target) in places:
            return 1 - places.index(self.find(target))
        return -1


def routes(platform: Platform, zone: Element, found: list[Route]) -> None:
    """Add those of a zone to ``found``. Raises FormatError for nodes and links that are not there."""
    one_way: dict[tuple[str, str], tuple[str, ...]] = {}
    for element in zone.children:
        if element.tag not in ("route", "zoneRoute", "ASroute"):
            continue
        names = ("src", "dst") if element.tag == "route" else ("gw_src", "gw_dst")
        ends = element.text(names[0]), element.text(names[1])
        for end in ends:
            if end not in platform.nodes and end not in platform.closed:
                raise element.wrong(f"there is no host or router {end!r}: expected one of this file")
        wires = tuple(part.text("id") for part in element.children if part.tag == "link_ctn")
        for name in wires:
            if name not in platform.wires:
                raise element.wrong(f"there is no link {name!r}: expected one of this file")
        if element.text("symmetrical", "YES").upper() != "YES":
            one_way[ends] = wires
        elif ends[0] == ends[1]:
            platform.remark("loopbacks, by which a host sends to itself, are left out")
        else:
            found.append(Route(ends, wires))
    _paired(platform, one_way, found)


def _paired(platform: Platform, one_way: dict[tuple[str, str], tuple[str, ...]], found: list[Route]) -> None:
    for (source, target), wires in one_way.items():
        if source == target:
            platform.remark("loopbacks, by which a host sends to itself, are left out")
        elif one_way.get((target, source)) != wires[::-1]:
            platform.refuse(f"the route from {source} to {target} goes another way than back: a cable goes both ways")
        elif (target, source) > (source, target):
            found.append(Route((source, target), wires))


def lay(platform: Platform, element: Element, found: list[Route]) -> None:
    """Cables for all routes, or a refusal that says which link stands against it."""
    for route in found:
        if not _usable(platform, route):
            return
    ends = _Ends()
    waiting = sorted(found, key=lambda route: len(route.wires))
    for _ in range(_PASSES):
        left = [route for route in waiting if not _walk(ends, route)]
        if not left:
            break
        if len(left) == len(waiting):
            platform.refuse(
                f"the routes do not tell which two nodes {_first_unknown(ends, left[0])} joins "
                "(a bus joins more): no cable is that"
            )
            return
        waiting = left
    else:
        platform.refuse("the routes tell only in many rounds which nodes their links join: expected a simpler platform")
        return
    names = _places(ends, platform, element)
    if names is not None:
        for name in (name for name in platform.wires if name in ends.used):
            pair = names[ends.find((name, 0))], names[ends.find((name, 1))]
            platform.join(element, *pair, platform.wires[name])
        _roundabout(platform, ends, found)


def _roundabout(platform: Platform, ends: _Ends, found: list[Route]) -> None:
    """Remark on routes that are longer than the shortest way, which is what other routings take."""
    near: dict[Slot, list[Slot]] = {}
    for name in ends.used:
        one, two = (ends.find((name, end)) for end in (0, 1))
        near.setdefault(one, []).append(two)
        near.setdefault(two, []).append(one)
    by_source: dict[str, list[Route]] = {}
    for route in found:
        by_source.setdefault(route.ends[0], []).append(route)
    longer = 0
    for source in list(by_source)[:_SOURCES]:
        away = _distances(near, ends.find((source, -1)))
        longer += sum(len(route.wires) > away[ends.find((route.ends[1], -1))] for route in by_source[source])
    if longer:
        platform.remark(
            f"{counted(longer, 'route')} over more links than the shortest way has: here ways are the shortest"
        )


def _distances(near: dict[Slot, list[Slot]], source: Slot) -> dict[Slot, int]:
    """Links from one place to all others."""
    away, queue = {source: 0}, deque([source])
    while queue:
        here = queue.popleft()
        for there in near.get(here, ()):
            if there not in away:
                away[there] = away[here] + 1
                queue.append(there)
    return away


def _usable(platform: Platform, route: Route) -> bool:
    words = f"the route from {route.ends[0]} to {route.ends[1]}"
    fat = next((name for name in route.wires if platform.wires[name].policy == "FATPIPE"), None)
    closed = next((end for end in route.ends if end in platform.closed), None)
    if not route.wires:
        platform.refuse(f"{words} has no link, so that it costs nothing: no cable is that")
    elif fat is not None:
        platform.refuse(f"link {fat!r} is FATPIPE: flows do not share it, as they do a cable")
    elif len(set(route.wires)) < len(route.wires):
        platform.refuse(f"{words} crosses a link twice: no path through cables does")
    elif closed is not None:
        platform.refuse(f"{closed} is the router of a cluster that no link joins to its hosts: no cable is that")
    else:
        return True
    return False


def _walk(ends: _Ends, route: Route) -> bool:
    """Fix the ends of a route's links; False where they are not known yet."""
    here: Slot = (route.ends[0], -1)
    steps: list[tuple[Slot, Slot, Slot]] = []
    for number, name in enumerate(route.wires):
        target = (route.ends[1], -1) if number == len(route.wires) - 1 else None
        into = ends.entrance(name, here, target)
        if into < 0:
            return False
        steps.append((here, (name, into), (name, 1 - into)))
        here = name, 1 - into
    for before, entered, _ in steps:
        ends.join(before, entered)
    ends.join(here, (route.ends[1], -1))
    ends.used.update(route.wires)
    return True


def _first_unknown(ends: _Ends, route: Route) -> str:
    """For a message: the link at which a route could not go on."""
    here: Slot = (route.ends[0], -1)
    for number, name in enumerate(route.wires):
        target = (route.ends[1], -1) if number == len(route.wires) - 1 else None
        into = ends.entrance(name, here, target)
        if into < 0:
            return f"link {name!r}"
        here = name, 1 - into
    return f"link {route.wires[-1]!r}"


def _places(ends: _Ends, platform: Platform, element: Element) -> dict[Slot, str] | None:
    """A node for each place where links meet: one of the file, or a junction. None: it is no graph, and refused."""
    names: dict[Slot, str] = {}
    owners: dict[Slot, str] = {}
    for slot in ends.parent:
        if slot[1] < 0:
            other = owners.setdefault(ends.find(slot), slot[0])
            if other != slot[0]:
                platform.refuse(
                    f"the routes put {other} and {slot[0]} at one place: one of their links joins more than two nodes"
                )
                return None
    for name in (name for name in platform.wires if name in ends.used):
        places = [ends.find((name, end)) for end in (0, 1)]
        if places[0] == places[1]:
            platform.refuse(
                f"link {name!r} begins and ends at one place: it is a bus that several routes share, and no cable"
            )
            return None
        for place in places:
            if place not in names and place not in owners:
                names[place] = f"junction{len(names)}"
                platform.add(element, Node(names[place], "switch", 0.0))
    return owners | names
