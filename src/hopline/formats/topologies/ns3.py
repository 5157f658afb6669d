"""Read topologies of HPCC's ns-3, and SimAI's variant of them.

What belongs here: a line of counts, the numbers of the switches, then ``src dst rate delay error_rate``, one line a link.
Nodes that are no switch are hosts; nodes have one count, so that ranks of a flow file are numbers of nodes. Read as HPCC does
(alibaba-edu/High-Precision-Congestion-Control, ``third.cc``): as many links as the first line says, and nothing after them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.source import shown
from hopline.formats.topologies.cabling import MOST_CABLES, MOST_NODES, Cabling
from hopline.formats.topologies.sketch import machine_name
from hopline.machine.parts import Node
from hopline.machine.wiring import Fact, Wiring
from hopline.quantity import counted

_LINK = re.compile(r"\s*\d+\s+\d+\s+[\d.]{1,40}\w{0,3}[Bb](?:ps|/s)\s+[\d.]{1,40}\w{0,4}(?:\s+\S+)?\s*$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Counts:
    """The first line. ``gpu`` is empty but in SimAI's files, which have NVLink switches and servers too."""

    nodes: int
    switches: int
    links: int
    nvswitches: int = 0
    gpus: int = 0
    gpu: str = ""


@dataclass(slots=True)
class _Said:
    """Links as they are written: how often each rate, delay and error rate comes, and the ends of each."""

    rates: Counter[str]
    delays: Counter[str]
    errors: Counter[str]
    ends: list[tuple[int, int]]
    lossy: int = 0


def read(path: str) -> Wiring:
    """The network in the file at ``path``. Raises FormatError."""
    waiting = (line for line in numbered(path) if line.text.strip())
    counts = _counts(next(waiting, None), path)
    names = _names(counts, waiting, path)
    said, cabling = _Said(Counter(), Counter(), Counter(), []), Cabling()
    for line in waiting:
        _link(line, names, said, cabling)
        if len(said.ends) == counts.links:
            break
    if len(said.ends) < counts.links:
        raise FormatError(
            f"{shown(path)} says {counts.links} links, and ends after {len(said.ends)}: expected all (is it cut?)"
        )
    shaped, others = _after(waiting)
    nodes = tuple(Node(name, "device" if name.startswith("host") else "switch") for name in names)
    remarks = _remarks(counts, said, shaped, others) + cabling.remarks()
    facts = _facts(counts, names, said, shaped)
    return Wiring("ns3", machine_name(path), nodes, cabling.cables(), facts, remarks)


def _counts(line: Line | None, path: str) -> Counts:
    if line is None:
        raise FormatError(f"{shown(path)} has no line: expected 'nodes switches links' first")
    words = line.text.split()
    if len(words) == 3:
        numbers = [line.integer(word, "a count") for word in words]
        counts = Counts(numbers[0], numbers[1], numbers[2])
    elif len(words) in (6, 7):
        nodes, gpus, nvswitches, switches, links = (line.integer(word, "a count") for word in words[:5])
        counts = Counts(nodes, switches + nvswitches, links, nvswitches, gpus, words[5])
    else:
        raise line.wrong(
            f"{len(words)} words: expected 'nodes switches links', or SimAI's 'nodes gpus_per_server nvswitches switches "
            "links gpu_type'"
        )
    if not 1 <= counts.nodes <= MOST_NODES or counts.links > MOST_CABLES:
        raise line.wrong(
            f"{counts.nodes} nodes and {counts.links} links: expected 1 to {MOST_NODES} and at most {MOST_CABLES}"
        )
    if counts.switches > counts.nodes:
        raise line.wrong(f"{counts.switches} switches among {counts.nodes} nodes: expected no more than nodes")
    return counts


def _names(counts: Counts, waiting: Iterator[Line], path: str) -> list[str]:
    """Of each node by its number; the switches are the numbers on the next lines, NVLink switches first."""
    names = [f"host{number}" for number in range(counts.nodes)]
    left = counts.switches
    while left:
        line = next(waiting, None)
        if line is None:
            raise FormatError(f"{shown(path)} ends before the numbers of its {counts.switches} switches")
        words = line.text.split()
        if len(words) > left:
            raise line.wrong(f"{quoted(words[left])} follows on the last of {counts.switches} switches: expected links")
        for word in words:
            number = line.integer(word, "a switch", 0, counts.nodes - 1)
            if not names[number].startswith("host"):
                raise line.wrong(f"switch {number} stands here a second time: expected each once")
            names[number] = f"{'nvswitch' if counts.switches - left < counts.nvswitches else 'switch'}{number}"
            left -= 1
    return names


def _link(line: Line, names: list[str], said: _Said, cabling: Cabling) -> None:
    words = line.text.split()
    if len(words) not in (4, 5):
        raise line.wrong(f"{quoted(line.text)} is no link: expected 'src dst rate delay error_rate'")
    one, two = (line.integer(word, "a node", 0, len(names) - 1) for word in words[:2])
    if one == two:
        raise line.wrong(f"node {one} is joined to itself: expected two different nodes")
    rate, delay = line.quantity(words[2], "a rate", "bandwidth"), line.quantity(words[3], "a delay", "time")
    error = words[4] if len(words) == 5 else "0"
    said.lossy += line.decimal(error, "an error rate") > 0
    said.rates[words[2]] += 1
    said.delays[words[3]] += 1
    said.errors[error] += 1
    said.ends.append((one, two))
    cabling.add((names[one], names[two]), words[2], rate, delay)


def _after(waiting: Iterator[Line]) -> tuple[int, int]:
    """Lines after the last link: those that look like links, and others."""
    shaped = others = 0
    for line in waiting:
        is_link = bool(_LINK.match(line.text))
        shaped += is_link
        others += not is_link
    return shaped, others


def _facts(counts: Counts, names: list[str], said: _Said, shaped: int) -> dict[str, Fact]:
    is_host = [name.startswith("host") for name in names]
    mixed = sum(is_host[one] != is_host[two] for one, two in said.ends)
    between = sum(not is_host[one] and not is_host[two] for one, two in said.ends)
    degrees = Counter(end for pair in said.ends for end in pair)
    facts: dict[str, Fact] = {
        "nodes": counts.nodes, "switches": counts.switches - counts.nvswitches, "hosts": sum(is_host),
        "links_header": counts.links, "link_rows_read": len(said.ends), "link_shaped_rows_after_the_count": shaped,
        "rates": dict(said.rates.most_common(100)), "delays": dict(said.delays.most_common(100)),
        "error_rates": dict(said.errors.most_common(100)), "host_switch_links": mixed, "switch_switch_links": between,
        "max_degree": max(degrees.values(), default=0),
    }  # fmt: skip
    if counts.gpu:
        facts |= {"nvswitches": counts.nvswitches, "gpus_per_server": counts.gpus, "gpu_type": counts.gpu}
    return facts


def _remarks(counts: Counts, said: _Said, shaped: int, others: int) -> tuple[str, ...]:
    out = []
    if shaped or others:
        out.append(
            f"{counted(shaped + others, 'line')} after the {counts.links} links that the first line says: left out, as HPCC "
            f"does ({shaped} of them like links)"
        )
    if said.lossy:
        out.append(f"{counted(said.lossy, 'link')} with an error rate above 0: lost packets are left out")
    return tuple(out)
