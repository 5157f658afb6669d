"""Read Slurm's ``topology.conf``, and place the ranks of a job on its nodes.

What belongs here: switches, their nodes and switches, to nodes and cables; from a node list to the node of each rank. Not
here: the grammar of lists (``hostlist``). Keywords and comments: ``topology.conf(5)``. The file says who is joined and
not how fast: LinkSpeed is a number that Slurm does not use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hopline.errors import FormatError, InputError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.source import shown
from hopline.formats.topologies.cabling import MOST_NODES, Cabling
from hopline.formats.topologies.hostlist import expand
from hopline.formats.topologies.sketch import machine_name
from hopline.machine.parts import Node
from hopline.machine.wiring import Fact, Wiring
from hopline.quantity import counted

_PAIR = re.compile(r"\s*(\w+)\s*=\s*(\"[^\"]*\"|\S+)", re.ASCII)
_TIMES = re.compile(r"(\d{1,9})(?:\(x(\d{1,9})\))?", re.ASCII)
KEYS = ("switchname", "nodes", "switches", "linkspeed")
NODE, UPLINK = "node link", "switch link"
"""Labels of cables: rates are given by them."""
ORDERS = ("block", "cyclic")
"""How ranks go round nodes: srun --distribution, of which block fills a node first."""


@dataclass(slots=True)
class _Tree:
    """``below``: of each switch, the names right under it, and what the file calls the speed of these links."""

    nodes: dict[str, list[str]] = field(default_factory=dict)
    switches: dict[str, list[str]] = field(default_factory=dict)
    speed: dict[str, str] = field(default_factory=dict)
    line: dict[str, Line] = field(default_factory=dict)


def read(path: str) -> Wiring:
    """The tree in the file at ``path``. Raises FormatError; a file of blocks is refused."""
    found = _Tree()
    for line in _joined(path):
        text = line.text.split("#", 1)[0].strip()
        if text:
            _take(found, line, _pairs(line, text))
    if not found.line:
        raise FormatError(f"{shown(path)} has no SwitchName: expected lines like 'SwitchName=s0 Nodes=n[0-3]'")
    _check(found)
    names = list(dict.fromkeys(name for nodes in found.nodes.values() for name in nodes))
    if len(names) > MOST_NODES:
        raise FormatError(f"{shown(path)} has {len(names)} nodes: expected at most {MOST_NODES}")
    cabling = Cabling()
    for switch in found.line:
        speed = f", LinkSpeed {found.speed[switch]}" if switch in found.speed else ""
        for name in found.nodes.get(switch, ()):
            cabling.add((name, switch), NODE + speed)
        for name in found.switches.get(switch, ()):
            cabling.add((name, switch), UPLINK + speed)
    nodes = [Node(name) for name in names] + [Node(name, "switch") for name in found.line]
    remarks = _remarks(found, names)
    return Wiring("slurm", machine_name(path), tuple(nodes), cabling.cables(), _facts(found, names), remarks)


def refuse_yaml(path: str) -> Wiring:
    """Say why a ``topology.yaml`` is not read."""
    refusal = (
        "it is a topology.yaml, which may hold several topologies: give a tree as topology.conf (SwitchName=... lines)"
    )
    return Wiring("slurm-yaml", machine_name(path), refusal=refusal)


def refuse_blocks(path: str) -> Wiring:
    """Say why a file of the block plugin is not a tree."""
    refusal = "its blocks (BlockName) say which nodes are near, and name no switch: give a tree (SwitchName=... lines)"
    return Wiring("slurm-block", machine_name(path), refusal=refusal)


def _joined(path: str) -> Iterator[Line]:
    """Lines, those that end in a backslash with what follows on them."""
    begun: Line | None = None
    parts: list[str] = []
    for line in numbered(path):
        begun = begun or line
        parts.append(line.text.rstrip().removesuffix("\\"))
        if not line.text.rstrip().endswith("\\"):
            yield Line(begun.document, begun.number, " ".join(parts))
            begun, parts = None, []
    if begun is not None:
        yield Line(begun.document, begun.number, " ".join(parts))


def _pairs(line: Line, text: str) -> dict[str, str]:
    """``Key=value`` of a line, keys in small letters."""
    pairs: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _PAIR.match(text, at)
        if found is None:
            raise line.wrong(f"{quoted(text[at:].strip())}: expected Key=value, like 'SwitchName=s0 Nodes=n[0-3]'")
        key = found[1].lower()
        if key not in KEYS:
            raise line.wrong(f"unknown key {quoted(found[1])}: expected SwitchName, Nodes, Switches or LinkSpeed")
        if key in pairs:
            raise line.wrong(f"{found[1]} stands here a second time: expected it once in a line")
        pairs[key] = found[2].strip('"')
        at = found.end()
    return pairs


def _take(found: _Tree, line: Line, pairs: Mapping[str, str]) -> None:
    name = pairs.get("switchname", "")
    if not name:
        raise line.wrong("no SwitchName: expected a line like 'SwitchName=s0 Nodes=n[0-3]'")
    if name in found.line:
        raise line.wrong(f"switch {quoted(name)} stands here a second time: expected each once")
    if ("nodes" in pairs) == ("switches" in pairs):
        raise line.wrong(f"switch {quoted(name)}: expected either Nodes or Switches under it")
    found.line[name] = line
    for key, into in (("nodes", found.nodes), ("switches", found.switches)):
        if key in pairs:
            try:
                into[name] = expand(pairs[key])
            except FormatError as error:
                raise line.wrong(str(error)) from None
    if "linkspeed" in pairs:
        found.speed[name] = pairs["linkspeed"]


def _check(found: _Tree) -> None:
    """Raises FormatError for switches that are not there, or lie under themselves, and for one name of two things."""
    for switch, below in found.switches.items():
        for name in below:
            if name not in found.line:
                raise found.line[switch].wrong(f"there is no switch {quoted(name)}: expected a line of its own for it")
    for switch, nodes in found.nodes.items():
        for name in nodes:
            if name in found.line:
                raise found.line[switch].wrong(
                    f"{quoted(name)} is a node here and a switch elsewhere: expected other names"
                )
    waiting = Counter(name for below in found.switches.values() for name in below)
    free = [name for name in found.line if not waiting[name]]
    done = 0
    while free:
        switch = free.pop()
        done += 1
        for name in found.switches.get(switch, ()):
            waiting[name] -= 1
            if not waiting[name]:
                free.append(name)
    if done < len(found.line):
        circle = next(name for name in found.line if waiting[name])
        raise found.line[circle].wrong(f"switch {quoted(circle)} lies under itself: expected a tree")


def _facts(found: _Tree, names: list[str]) -> dict[str, Fact]:
    under = Counter(name for below in found.switches.values() for name in below)
    sizes = Counter(len(nodes) for nodes in found.nodes.values())
    return {
        "nodes": len(names),
        "switches": len(found.line),
        "leaf_switches": len(found.nodes),
        "top_switches": sum(not under[name] for name in found.line),
        "nodes_per_leaf": {str(size): count for size, count in sorted(sizes.items())},
    }


def _remarks(found: _Tree, names: list[str]) -> tuple[str, ...]:
    several = Counter(name for nodes in found.nodes.values() for name in nodes)
    parents = Counter(name for below in found.switches.values() for name in below)
    tops = sum(not parents[name] for name in found.line)
    shared = sum(n > 1 for n in several.values()), sum(n > 1 for n in parents.values())
    counts = {
        f"{counted(shared[0], 'node')} under several switches": shared[0] > 0,
        f"{shared[1]} of the switches under several switches": shared[1] > 0,
        f"{tops} switches hang under none: no way leads between them": tops > 1,
        "Slurm does not use LinkSpeed, and has no unit for it: it only tells cables apart here": bool(found.speed),
        "a line of the file is taken as one link to each thing under a switch: Slurm has no counts of links": bool(
            names
        ),
    }
    return tuple(text for text, told in counts.items() if told)


def placement(wiring: Wiring, nodes: str, tasks_per_node: int | str = 1, order: str = "block") -> tuple[str, ...]:
    """The node of each rank, in the order of ranks.

    Parameters
    ----------
    nodes
        A list like ``n[3-5],n0``. Its order is kept. Slurm itself sorts what is asked for with ``--nodelist`` (sbatch(1): "the
        node names will be sorted by Slurm"): give what a job got, ``SLURM_JOB_NODELIST``.
    tasks_per_node
        So many ranks on each; or as Slurm has it in ``SLURM_TASKS_PER_NODE``, ``8(x2),4``.
    order
        ``block`` fills a node before the next; ``cyclic`` gives each node one rank in turn (srun(1), ``--distribution``).

    Raises FormatError for a malformed list, and InputError for nodes that the wiring does not have, nodes that come twice, an
    unknown order, or other counts than nodes.
    """
    names = expand(nodes)
    devices = {node.name for node in wiring.nodes if node.kind == "device"}
    unknown = [name for name in names if name not in devices]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise InputError(f"{wiring.name} has no node {', '.join(unknown[:3])}{more}: expected nodes of that file")
    twice = next((name for name, times in Counter(names).items() if times > 1), "")
    if twice:
        raise InputError(
            f"node {twice} stands twice in the list: expected each once (tasks per node say how many ranks)"
        )
    if order not in ORDERS:
        raise InputError(f"order {order!r}: expected one of {', '.join(ORDERS)}")
    tasks = _tasks(tasks_per_node, len(names))
    if sum(tasks) > MOST_NODES:
        raise InputError(f"{sum(tasks)} ranks: expected at most {MOST_NODES}")
    if order == "block":
        return tuple(name for name, count in zip(names, tasks, strict=True) for _ in range(count))
    turns = range(max(tasks))
    return tuple(name for turn in turns for name, count in zip(names, tasks, strict=True) if turn < count)


def _tasks(given: int | str, nodes: int) -> list[int]:
    """Ranks on each node."""
    if isinstance(given, int):
        if given < 1:
            raise InputError(f"{given} tasks per node: expected at least 1")
        return [given] * nodes
    counts: list[int] = []
    for part in given.split(","):
        found = _TIMES.fullmatch(part.strip())
        if found is None or not int(found[1]) or len(counts) + int(found[2] or 1) > MOST_NODES:
            raise InputError(f"tasks per node {part.strip()!r}: expected a number like 8, or several like 8(x2),4")
        counts += [int(found[1])] * int(found[2] or 1)
    if len(counts) == 1:
        return counts * nodes
    if len(counts) != nodes:
        raise InputError(f"tasks per node {given!r} are for {len(counts)} nodes: the list has {nodes}")
    return counts


NOWHERE = "no switch"


def leaves(wiring: Wiring, places: tuple[str, ...]) -> tuple[str, ...]:
    """The switch next to each rank; the first one where a node hangs under several, NOWHERE where it hangs under none."""
    switches = {node.name for node in wiring.nodes if node.kind == "switch"}
    above: dict[str, str] = {}
    for here, there in (ends for cable in wiring.cables for ends in (cable.ends, cable.ends[::-1])):
        if there in switches:
            above.setdefault(here, there)
    return tuple(above.get(place, NOWHERE) for place in places)


def held(wiring: Wiring, places: tuple[str, ...]) -> dict[str, int]:
    """How many ranks each leaf switch holds, in the order of ranks."""
    return dict(Counter(leaves(wiring, places)))
