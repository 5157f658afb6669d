"""Read what ``ibnetdiscover`` prints of an InfiniBand fabric.

What belongs here: blocks of switches, routers and channel adapters to nodes, and port lines to cables. Every cable is listed
by both of its ends. An adapter is a device: a host with several has several.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.source import shown
from hopline.formats.topologies.cabling import MOST_CABLES, MOST_NODES, Cabling
from hopline.formats.topologies.infiniband import rate
from hopline.formats.topologies.sketch import cleaned, machine_name
from hopline.machine.parts import Node
from hopline.machine.wiring import Fact, Wiring
from hopline.quantity import counted

_BLOCK = re.compile(r"(Switch|Ca|Rt)\s+(\d+)\s+\"([SHR]-[0-9a-fA-F]+)\"\s*(?:#\s*\"([^\"]*)\")?")
_PORT = re.compile(
    r"\[(\d+)\]\s*(?:\([0-9a-fA-F]+\))?\s*\"([SHR]-[0-9a-fA-F]+)\"\s*\[(\d+)\]\s*(?:\([0-9a-fA-F]+\))?(.*)$"
)
_NAMED = re.compile(r"\"([^\"]*)\"")
_SPEED = re.compile(r"\b(\d+x(?:SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR))\b")
_AGGREGATION = re.compile(r"aggregation node", re.IGNORECASE)
_HEAD = ("vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "#", "DBG", "Initiated", "Topology")
"""Beginnings of lines between blocks."""
UNSAID = "speed not said"

End = tuple[str, int]
"""Node and port."""


@dataclass(slots=True)
class _Fabric:
    blocks: dict[str, str] = field(default_factory=dict)
    """Nodes that have a block: what the block says they are called."""
    seen: dict[str, str] = field(default_factory=dict)
    """Nodes that a port line leads to: what it says they are called."""
    ports: dict[End, tuple[End, str]] = field(default_factory=dict)
    """Where each listed port leads, and how fast."""
    now: str = ""
    ignored: int = 0


def read(path: str) -> Wiring:
    """The fabric in the file at ``path``. Raises FormatError."""
    found = _Fabric()
    for line in numbered(path):
        _take(found, line)
    if not found.blocks:
        raise FormatError(f"{shown(path)} has no block of a switch or adapter: expected the output of ibnetdiscover")
    called = {**found.seen, **found.blocks}
    aggregating = {name for name, text in called.items() if _AGGREGATION.search(text)}
    links, one_sided, unlike = _links(found)
    names = _names(called, aggregating)
    if len(names) > MOST_NODES or len(links) > MOST_CABLES:
        raise FormatError(
            f"{shown(path)} has {len(names)} nodes and {len(links)} links: expected at most {MOST_NODES} and {MOST_CABLES}"
        )
    cabling, loops = Cabling(), 0
    for (one, _), (two, _), speed in links:
        loops += one == two
        if one in names and two in names and one != two:
            cabling.add((names[one], names[two]), speed, rate(speed))
    nodes = [Node(name, "device" if number.startswith("H") else "switch") for number, name in names.items()]
    nodes.sort(key=lambda node: node.kind == "switch")
    remarks = _remarks(found, aggregating, one_sided, unlike, loops) + cabling.remarks()
    facts = _facts(found, links, aggregating)
    return Wiring("ibnetdiscover", machine_name(path), tuple(nodes), cabling.cables(), facts, remarks)


def _take(found: _Fabric, line: Line) -> None:
    text = line.text.strip()
    if not text or text.startswith(_HEAD):
        return
    block, port = _BLOCK.match(text), _PORT.match(text)
    if block:
        if block[3] in found.blocks:
            raise line.wrong(f"{block[3]} has a block already: expected one for each node")
        found.now = block[3]
        found.blocks[block[3]] = block[4] or ""
    elif port:
        _port(found, line, port)
    elif text.startswith("["):
        raise line.wrong(f"{quoted(text)} is no whole port line: expected '[1] \"S-...\"[3] # ... 4xHDR' (is it cut?)")
    else:
        found.ignored += 1


def _port(found: _Fabric, line: Line, port: re.Match[str]) -> None:
    if not found.now:
        raise line.wrong("a port stands before the first block: expected a line like 'Switch 41 \"S-...\"'")
    here = found.now, line.integer(port[1], "a port", 0, 1 << 16)
    if here in found.ports:
        raise line.wrong(f"port {port[1]} of {found.now} stands here a second time: expected it once")
    there = port[2], line.integer(port[3], "a port", 0, 1 << 16)
    speed = _SPEED.search(port[4])
    found.ports[here] = there, speed[1] if speed else UNSAID
    named = _NAMED.search(port[4])
    found.seen.setdefault(port[2], named[1] if named else "")


def _links(found: _Fabric) -> tuple[list[tuple[End, End, str]], int, int]:
    """Each link once, how many only one end lists, and of how many both ends say another speed: the slower counts."""
    links: list[tuple[End, End, str]] = []
    one_sided = unlike = 0
    done: set[End] = set()
    for here, (there, speed) in found.ports.items():
        if here in done:
            continue
        done.add(here)
        back = found.ports.get(there)
        if back is not None and back[0] == here:
            done.add(there)
            if back[1] != speed:
                unlike += 1
                speed = min(speed, back[1], key=lambda label: rate(label) or float("inf"))
        else:
            one_sided += 1
        links.append((here, there, speed))
    return links, one_sided, unlike


def _names(called: dict[str, str], aggregating: set[str]) -> dict[str, str]:
    """What each node is called here: what it calls itself where nobody else does, with its number otherwise."""
    texts = {number: cleaned(text) for number, text in called.items() if number not in aggregating}
    counts = Counter(texts.values())
    return {
        number: text if text and counts[text] == 1 else f"{text}.{number}".lstrip(".") for number, text in texts.items()
    }


def _facts(found: _Fabric, links: list[tuple[End, End, str]], aggregating: set[str]) -> dict[str, Fact]:
    return {
        "switches": sum(number.startswith("S") for number in found.blocks),
        "host_adapters": sum(number.startswith("H") and number not in aggregating for number in found.blocks),
        "routers": sum(number.startswith("R") for number in found.blocks),
        "port_entries": len(found.ports),
        "distinct_links": len(links),
        "link_speeds": dict(Counter(speed for _, speed in found.ports.values()).most_common()),
        "host_ids_referenced": sum(number.startswith("H") for number in found.seen),
        "referenced_but_not_defined": len(found.seen.keys() - found.blocks.keys()),
        "aggregation_nodes": len(aggregating),
    }


def _remarks(found: _Fabric, aggregating: set[str], one_sided: int, unlike: int, loops: int) -> tuple[str, ...]:
    lone = [number for number in found.seen if number not in found.blocks and number not in aggregating]
    first = ", ".join(lone[:3]) + (", ..." if len(lone) > 3 else "")
    told = (
        (len(aggregating), "aggregation node", "(SHARP): sums up inside of switches and runs no rank, left out"),
        (len(lone), "node", f"without a block of its own ({first}): only the links that others list are known"),
        (one_sided, "link", "listed by one end only"),
        (unlike, "link", "with another speed at either end: the slower one is taken"),
        (loops, "link", "from a node to itself: left out"),
        (found.ignored, "line", "neither block nor port: left out"),
    )
    return tuple(f"{counted(count, thing)} {words}" for count, thing, words in told if count)
