"""Clusters of SimGrid's platforms, which one element describes: flat ones, fat trees, tori, dragonflies.

What belongs here: from ``topo_parameters`` to nodes and cables, as ``src/kernel/routing/*Zone.cpp`` of SimGrid builds them.
Hosts are numbered in the order of ``radical``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, product

from hopline.formats.topologies.simgrid_parts import Platform, Wire, policy, wire
from hopline.formats.topologies.simgrid_values import bandwidth, counts, latency, radicals
from hopline.formats.topologies.xml import Element
from hopline.machine.parts import Memory, Node
from hopline.quantity import show


def hosts_of(cluster: Element) -> list[str]:
    """Names of the hosts. Raises FormatError."""
    before, after = cluster.text("prefix", ""), cluster.text("suffix", "")
    return [f"{before}{number}{after}" for number in radicals(cluster)]


def router_of(cluster: Element) -> str:
    """The router that the rest of a platform knows a cluster by."""
    given = cluster.text("router_id", "")
    return given or f"{cluster.text('prefix', '')}{cluster.text('id')}_router{cluster.text('suffix', '')}"


def add(platform: Platform, cluster: Element, alone: bool) -> None:
    """All of a cluster. ``alone``: no route leads into it from outside. Raises FormatError."""
    kind = cluster.text("topology", "FLAT").upper()
    if kind not in KINDS:
        raise cluster.wrong(f"the cluster has topology={kind}: expected one of {', '.join(KINDS)}")
    hosts, link = hosts_of(cluster), wire(cluster, cluster.text("id"), ("bw", "lat", "sharing_policy"), "SPLITDUPLEX")
    for name in hosts:
        platform.add(cluster, Node(name, memory=_limiter(platform, cluster, kind)))
    if link.policy == "FATPIPE":
        platform.refuse(f"the links of {link.name} are FATPIPE: flows do not share them, as they do a cable")
    if "loopback_bw" in cluster.attributes:
        platform.remark("loopbacks, by which a host sends to itself, are left out")
    KINDS[kind](platform, cluster, hosts, link)
    if kind != "FLAT" and not alone:
        platform.closed.add(router_of(cluster))
    if kind == "FLAT":
        _backbone(platform, cluster, len(hosts), link, alone)


def _limiter(platform: Platform, cluster: Element, kind: str) -> Memory | None:
    """What caps all that goes through a host, as its memory does elsewhere; None: nothing does."""
    if "limiter_link" not in cluster.attributes:
        return None
    if kind == "FAT_TREE":
        platform.refuse(f"limiter_link of {cluster.text('id')} caps its switches too: a machine caps links and devices")
    platform.remark(
        "a limiter_link stands as the memory of its host: each byte that comes, goes or passes takes one of it"
    )
    return Memory(bandwidth(cluster, "limiter_link"), {"send": 1.0, "receive": 1.0, "relay": 1.0, "reduce": 1.0})


def _flat(platform: Platform, cluster: Element, hosts: list[str], link: Wire) -> None:
    delay = latency(cluster, "bb_lat")
    platform.add(cluster, Node(router_of(cluster), "switch", delay))
    for host in hosts:
        platform.join(cluster, host, router_of(cluster), link)


def _backbone(platform: Platform, cluster: Element, hosts: int, link: Wire, alone: bool) -> None:
    """A backbone is crossed once by every flow, so no cable of the star can be it; it is harmless where it never binds."""
    if "bb_bw" not in cluster.attributes:
        return
    rate, shared = bandwidth(cluster, "bb_bw"), policy(cluster, "bb_sharing_policy", "SHARED") == "SHARED"
    flows = hosts if alone else 2 * hosts
    need = link.bandwidth * (flows if shared else 1)
    if rate < need:
        platform.refuse(
            f"all flows of {link.name} share a backbone of {show(rate, 'bandwidth')} ({hosts} hosts of "
            f"{show(link.bandwidth, 'bandwidth')}): a machine has cables between two nodes, and none that all ways cross"
        )
    else:
        platform.remark("a backbone that never binds stands as the latency of its cluster's router")


def _fat_tree(platform: Platform, cluster: Element, hosts: list[str], link: Wire) -> None:
    """``levels;down;up;count``: of each level, children and parents of a switch, and cables between two."""
    parts = cluster.text("topo_parameters").split(";")
    if len(parts) != 4:
        raise cluster.wrong("topo_parameters of a FAT_TREE: expected 'levels;down;up;count', like '2;4,4;1,2;1,2'")
    (levels,) = counts(cluster, parts[0], 1)
    down, up, cables = (counts(cluster, part, levels) for part in parts[1:])
    _expect(cluster, hosts, math.prod(down), " x ".join(map(str, down)))
    level = hosts
    for number in range(levels):
        above = math.prod(up[: number + 1]) * math.prod(down[number + 1 :])
        names = [f"{link.name}.sw{number + 1}.{place}" for place in range(above)]
        for name in names:
            platform.add(cluster, Node(name, "switch", 0.0))
        for child, parent in _tree_pairs(number, up, down):
            platform.join(cluster, level[child], names[parent], link, cables[number])
        level = names
    if max(cables) > 1:
        platform.remark("cables side by side are one link here; SimGrid gives each flow one of them, by its source")


def _tree_pairs(number: int, up: list[int], down: list[int]) -> Iterator[tuple[int, int]]:
    """Child and parent on levels ``number`` and ``number + 1``: their labels differ in one digit, that of the level.

    A label has a digit for each level, the first the fastest: which child below the level, which parent above.
    """
    low = math.prod(up[:number])
    for high, child, below in product(range(math.prod(down[number + 1 :])), range(down[number]), range(low)):
        for parent in range(up[number]):
            yield below + low * (child + down[number] * high), below + low * (parent + up[number] * high)


def _torus(platform: Platform, cluster: Element, hosts: list[str], link: Wire) -> None:
    """``3,2,2``: hosts along each dimension, the first the fastest."""
    text = cluster.text("topo_parameters")
    sizes = counts(cluster, text, text.count(",") + 1)
    _expect(cluster, hosts, math.prod(sizes), " x ".join(map(str, sizes)))
    stride = 1
    for size in sizes:
        for here in range(len(hosts) if size > 1 else 0):
            place = here // stride % size
            if place < size - 1 or size > 2:
                there = here + stride if place < size - 1 else here - (size - 1) * stride
                platform.join(cluster, hosts[here], hosts[there], link)
        stride *= size
    if 2 in sizes:
        platform.remark("where a dimension has 2 hosts one cable joins them: SimGrid has two, and its routes take one")


def _dragonfly(platform: Platform, cluster: Element, hosts: list[str], link: Wire) -> None:
    """``groups,blue;chassis,black;blades,green;nodes``: how many of each in the next, and cables between two."""
    parts = cluster.text("topo_parameters").split(";")
    if len(parts) != 4:
        raise cluster.wrong(
            "topo_parameters of a DRAGONFLY: expected 'groups,n;chassis,n;blades,n;nodes', like '3,4;4,3;5,1;2'"
        )
    (groups, blue), (chassis, black), (blades, green) = (counts(cluster, part, 2) for part in parts[:3])
    (nodes,) = counts(cluster, parts[3], 1)
    _expect(cluster, hosts, groups * chassis * blades * nodes, f"{groups} x {chassis} x {blades} x {nodes}")
    if groups > blades:
        raise cluster.wrong(
            f"{groups} groups and {blades} blades: SimGrid joins groups by blades, expected at least as many"
        )

    def router(group: int, case: int, blade: int) -> str:
        return f"{link.name}.r{group}.{case}.{blade}"

    places = list(product(range(groups), range(chassis), range(blades)))
    for number, place in enumerate(places):
        platform.add(cluster, Node(router(*place), "switch", 0.0))
        for host in hosts[number * nodes : (number + 1) * nodes]:
            platform.join(cluster, host, router(*place), link)
    for group, case in product(range(groups), range(chassis)):
        for one, two in combinations(range(blades), 2):
            platform.join(cluster, router(group, case, one), router(group, case, two), link, green)
    for group, blade in product(range(groups), range(blades)):
        for one, two in combinations(range(chassis), 2):
            platform.join(cluster, router(group, one, blade), router(group, two, blade), link, black)
    for one, two in combinations(range(groups), 2):
        platform.join(cluster, router(one, 0, two), router(two, 0, one), link, blue)
    if min(chassis, blades) > 1:
        platform.remark(
            "inside of a group SimGrid 3.32 counts one link between chassis too few or too many where a way changes blades "
            "and does not begin in chassis 0: ways are whole here"
        )


def _expect(cluster: Element, hosts: list[str], wanted: int, words: str) -> None:
    if len(hosts) != wanted:
        raise cluster.wrong(
            f"radical names {len(hosts)} hosts, topo_parameters are for {words} = {wanted}: expected as many"
        )


KINDS: dict[str, Callable[[Platform, Element, list[str], Wire], None]] = {
    "FLAT": _flat, "FAT_TREE": _fat_tree, "TORUS": _torus, "DRAGONFLY": _dragonfly,
}  # fmt: skip
"""What ``topology`` can say -> its builder."""
