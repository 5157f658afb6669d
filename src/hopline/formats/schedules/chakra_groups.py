"""Which collective of one rank's Chakra trace is which of another's.

What belongs here: process groups, and the collectives of all ranks one by one. What becomes of them is ``chakra_rows``.

The k-th collective of a process group on one of its ranks is the k-th on all. A group is formed of the ranks that name it
(``pg_name``); collectives without a group are of all ranks. ``comm_size`` is what each rank puts in, as ASTRA-sim has it
(Ring.cc): the larger buffer, by which a Shape counts, is that times the number of ranks for all_gather and gather.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.schedules.chakra_nodes import Node, Trace
from hopline.formats.schedules.contents import listed
from hopline.formats.source import shown

BENCHMARKS = {
    "ALL_REDUCE": "all_reduce", "REDUCE": "reduce", "ALL_GATHER": "all_gather", "GATHER": "gather", "SCATTER": "scatter",
    "BROADCAST": "broadcast", "ALL_TO_ALL": "alltoall", "REDUCE_SCATTER": "reduce_scatter",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter", "BARRIER": "barrier",
}  # fmt: skip
MOST_BYTES = 1 << 40
"""That a rank puts in, sends or receives."""
FROM_EACH = ("all_gather", "gather")
"""Those of which a rank puts in its piece only."""


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective: benchmark, bytes as a Shape counts them, and rank -> id of its node there."""

    benchmark: str
    size: int
    nodes: dict[int, int] = field(default_factory=dict)

    @property
    def members(self) -> list[int]:
        """Its ranks."""
        return sorted(self.nodes)


def is_collective(node: Node) -> bool:
    """Whether a node is a collective itself. The call on a CPU that launches one has no ``comm_size``, and takes its time."""
    return node.type == "COMM_COLL" and ("comm_size" in node.attributes or not node.attributes.get("is_cpu_op"))


def collectives(traces: list[Trace]) -> list[Collective]:
    """The collectives of all traces, by rank 0's order, then rank 1's, ... Raises FormatError where they do not agree."""
    found: dict[tuple[str, int], Collective] = {}
    first: dict[tuple[str, int], str] = {}
    counts: dict[str, dict[int, int]] = {}
    for rank, trace in enumerate(traces):
        for node in filter(is_collective, trace.nodes):
            name = _group(node)
            turns = counts.setdefault(name, {})
            key = name, turns.get(rank, 0)
            turns[rank] = key[1] + 1
            told = f"{node.collective} of {node.number('comm_size')} bytes"
            if first.setdefault(key, told) != told:
                here = f"collective {key[1]} of {_words(name)}"
                raise FormatError(
                    f"{shown(trace.path)}: node {node.id} is {told}: expected {first[key]}, as on other ranks in {here}"
                )
            size = node.number("comm_size")
            if not 0 <= size <= MOST_BYTES:
                raise FormatError(
                    f"{shown(trace.path)}: node {node.id} has comm_size {size}: expected 0 to {MOST_BYTES}"
                )
            found.setdefault(key, Collective(BENCHMARKS[node.collective], size)).nodes[rank] = node.id
    for name, turns in counts.items():
        _check(name, turns, traces)
    return [_sized(collective) for collective in found.values()]


def groups(traces: list[Trace]) -> dict[str, list[int]]:
    """Process groups by name, and the ranks that name them."""
    found: dict[str, list[int]] = {}
    for rank, trace in enumerate(traces):
        for name in {_group(node) for node in filter(is_collective, trace.nodes)} - {""}:
            found.setdefault(name, []).append(rank)
    return found


def _group(node: Node) -> str:
    return str(node.attributes.get("pg_name", ""))


def _words(name: str) -> str:
    return f"process group {excerpt(name.encode(), 40)!r}" if name else "the group of all ranks"


def _check(name: str, turns: dict[int, int], traces: list[Trace]) -> None:
    """Raise FormatError where a rank has fewer collectives of a group than another."""
    most = max(turns.values())
    expected = range(len(traces)) if not name else sorted(turns)
    short = next((rank for rank in expected if turns.get(rank, 0) < most), None)
    if short is not None:
        raise FormatError(
            f"{shown(traces[short].path)}: rank {short} has {turns.get(short, 0)} collectives of {_words(name)}, "
            f"another rank {most}: expected equally many"
        )


def _sized(collective: Collective) -> Collective:
    each = collective.benchmark in FROM_EACH
    size = collective.size * (len(collective.nodes) if each else 1)
    return Collective(collective.benchmark, size, collective.nodes)


def told(found: dict[str, list[int]], most: int = 4) -> list[str]:
    """Remarks on who was taken for the members of groups."""
    shown_groups = [
        f"{excerpt(name.encode(), 40)!r}: ranks {listed(ranks)}" for name, ranks in list(found.items())[:most]
    ]
    rest = [f"and {len(found) - most} more"] if len(found) > most else []
    return (
        [f"process groups are taken to be the ranks that name them ({'; '.join([*shown_groups, *rest])})"]
        if found
        else []
    )
