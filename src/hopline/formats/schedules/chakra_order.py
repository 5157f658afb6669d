"""The order in which the nodes and collectives of Chakra traces are put into rows.

What belongs here: who stands behind whom. What each becomes is ``chakra_rows``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hopline.errors import FormatError
from hopline.formats.schedules.chakra_groups import Collective
from hopline.formats.schedules.chakra_nodes import Node, Trace
from hopline.formats.schedules.order import depths
from hopline.formats.schedules.posting import lined
from hopline.schedule.operations import NONE, RECV, SEND

Key = tuple[int, int]
"""Rank and node."""
ENDS = {"COMM_SEND": (SEND, "comm_dst", "comm_src"), "COMM_RECV": (RECV, "comm_src", "comm_dst")}
"""What a message's node becomes, and the attributes that name the other rank and its own."""


def ordered(
    name: str, traces: list[Trace], nodes: dict[Key, Node], collectives: list[Collective]
) -> list[Key | Collective]:
    """Nodes and collectives so that each stands behind what it depends on; messages as they may be posted (``posting``).

    Raises FormatError where they depend on one another in a circle.
    """
    units: list[Key | Collective] = list(collectives)
    number = {key: i for i, one in enumerate(collectives) for key in one.nodes.items()}
    named = set(number)
    for key in nodes:
        if key not in named:
            number[key] = len(units)
            units.append(key)
    edges = [(number[rank, on], number[rank, node.id]) for (rank, _), node in nodes.items() for on in node.data]
    for rank, trace in enumerate(traces):
        edges += pairwise(number[rank, node.id] for node in trace.nodes if (rank, node.id) in named)
    first, then = np.array(edges, np.int64).reshape(-1, 2).T
    depth = depths(len(units), first, then)
    if (depth < 0).any():
        raise FormatError(f"{name}: nodes of its traces depend on one another in a circle")
    if not any(node.type in ENDS for node in nodes.values()):
        return [units[i] for i in np.argsort(depth, kind="stable").tolist()]
    waits = [[late, early] for early, late in edges]
    return [units[i] for i in lined(list(range(len(units))), waits, _channels(units, nodes))]


def _channels(units: list[Key | Collective], nodes: dict[Key, Node]) -> list[int]:
    """A number for each end, pair of ranks and tag of messages; NONE for other units."""
    known: dict[tuple[int, int, int, int], int] = {}
    out = []
    for unit in units:
        node = None if isinstance(unit, Collective) else nodes[unit]
        if node is None or isinstance(unit, Collective) or node.type not in ENDS:
            out.append(NONE)
            continue
        kind, far, _ = ENDS[node.type]
        way = kind, unit[0], node.number(far), node.number("comm_tag", 0)
        out.append(known.setdefault(way, len(known)))
    return out
