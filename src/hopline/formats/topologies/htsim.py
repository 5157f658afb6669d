"""Read htsim's fat trees (``.topo``).

What belongs here: header and tiers to nodes and cables, as htsim builds them (Broadcom/csg-htsim, ``sim/datacenter/
fat_tree_topology.cpp``): tier 0 are the racks' switches, speeds and latencies are those of the links down from a tier, and
``Bundle`` cables join a pair. A Gb is 10^9 bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.source import shown
from hopline.formats.topologies.cabling import MOST_CABLES, MOST_NODES
from hopline.formats.topologies.sketch import machine_name
from hopline.machine.parts import Node
from hopline.machine.wiring import Cable, Fact, Wiring

GBPS = 1e9 / 8
NANOSECONDS = 1e9
"""Of a second."""
HEADER = {"nodes": 1, "tiers": 2, "podsize": 1}
"""Word of the header -> least number."""
TIER = {
    "downlink_speed_gbps": ("speeds_Gbps", 1), "downlink_latency_ns": ("downlink_latency_ns", 0),
    "radix_down": ("radix_down", 1), "radix_up": ("radix_up", 1), "bundle": ("bundle", 1),
    "oversubscribed": ("oversubscribed", 1), "switch_latency_ns": ("switch_latency_ns", 0), "queue_up": ("queue_up", 1),
    "queue_down": ("queue_down", 1),
}  # fmt: skip
"""Word of a tier -> the fact it makes, and its least number."""
NEEDED = ("downlink_speed_gbps", "downlink_latency_ns", "radix_down", "radix_up")
LAYERS = ("tor", "agg", "core")


@dataclass(slots=True)
class _Topo:
    document: str
    header: dict[str, int] = field(default_factory=dict)
    tiers: dict[int, dict[str, int]] = field(default_factory=dict)
    now: int = -1


def read(path: str) -> Wiring:
    """The fat tree in the file at ``path``; refused where its counts contradict each other. Raises FormatError."""
    found = _Topo(shown(path))
    for line in numbered(path):
        words = line.text.split()
        if words and not words[0].startswith("#"):
            _take(found, line, words)
    _complete(found)
    name, facts = machine_name(path), _facts(found)
    refusal = _contradiction(found)
    if refusal:
        return Wiring("htsim", name, facts=facts, refusal=refusal)
    nodes, cables = _built(found)
    return Wiring("htsim", name, nodes, cables, facts, _remarks(found))


def _take(found: _Topo, line: Line, words: list[str]) -> None:
    word = words[0].lower()
    if len(words) != 2:
        raise line.wrong(f"{quoted(line.text)}: expected a word and a number, like 'Radix_Down 8'")
    if word == "tier":
        found.now = line.integer(words[1], "Tier", 0, 2)
        if found.now in found.tiers:
            raise line.wrong(f"tier {found.now} stands here a second time: expected each once")
        found.tiers[found.now] = {}
        return
    into, least = (
        (found.header, HEADER.get(word)) if found.now < 0 else (found.tiers[found.now], TIER.get(word, ("", None))[1])
    )
    if least is None:
        known = ", ".join(HEADER) if found.now < 0 else ", ".join(TIER)
        raise line.wrong(f"unknown word {quoted(words[0])}: expected one of {known}, in small or capital letters")
    if word in into:
        raise line.wrong(f"{words[0]} stands here a second time: expected it once")
    into[word] = line.integer(words[1], words[0], least, 3 if word == "tiers" else 1 << 40)


def _complete(found: _Topo) -> None:
    """Raises FormatError where something is missing that htsim needs."""
    for word in HEADER:
        if word not in found.header:
            raise FormatError(f"{found.document} has no {word}: expected {', '.join(HEADER)} before the tiers")
    tiers = found.header["tiers"]
    for tier in range(tiers):
        if tier not in found.tiers:
            raise FormatError(f"{found.document} says {tiers} tiers, and has no block of tier {tier}")
        missing = [word for word in NEEDED if word not in found.tiers[tier] and (word, tier) != ("radix_up", tiers - 1)]
        if missing:
            raise FormatError(f"{found.document}: tier {tier} has no {missing[0]}: expected {', '.join(NEEDED)}")


def _facts(found: _Topo) -> dict[str, Fact]:
    facts: dict[str, Fact] = {**found.header, "tier_blocks": len(found.tiers)}
    blocks = [found.tiers[tier] for tier in sorted(found.tiers)]
    for word, (fact, _) in TIER.items():
        if any(word in block for block in blocks):
            facts[fact] = tuple(str(block.get(word, "-")) for block in blocks)
    return facts


@dataclass(frozen=True, slots=True)
class _Plan:
    """How many of each; ``up`` and ``down`` are cables of a switch by tier, ``bundle`` those of one pair."""

    pods: int
    racks: int
    """Of a pod, as ``aggs``."""
    aggs: int
    cores: int


def _value(found: _Topo, tier: int, word: str, default: int = 1) -> int:
    return found.tiers[tier].get(word, default)


def _plan(found: _Topo) -> _Plan:
    nodes, pod = found.header["nodes"], found.header["podsize"]
    racks = pod // _value(found, 0, "radix_down")
    aggs = racks * _value(found, 0, "radix_up") // _value(found, 1, "radix_down")
    pods = nodes // pod
    cores = 0
    if found.header["tiers"] == 3:
        cores = pods * aggs * _value(found, 1, "radix_up") // _value(found, 2, "radix_down")
    return _Plan(pods, racks, aggs, cores)


def _contradiction(found: _Topo) -> str:
    """Why htsim could not build it; empty: it can."""
    plan, tiers = _plan(found), found.header["tiers"]
    nodes, pod = found.header["nodes"], found.header["podsize"]
    down, up = ([_value(found, tier, word) for tier in range(tiers)] for word in ("radix_down", "radix_up"))
    bundle = [_value(found, tier, "bundle") for tier in range(tiers)]
    ports = {
        f"{nodes} nodes are no whole number of pods of {pod}": nodes % pod,
        f"a pod of {pod} is no whole number of racks of {down[0]}": pod % down[0],
        f"racks' bundles of {bundle[0]}: a host has one cable": bundle[0] - 1,
        f"{plan.pods} pods in two tiers: expected one": (plan.pods - 1) if tiers == 2 else 0,
        f"{up[0]} cables up from a rack do not reach {plan.aggs} switches of tier 1 by {bundle[1]} each":
            plan.aggs * bundle[1] - up[0],
        f"{down[1]} cables down from tier 1 do not reach {plan.racks} racks by {bundle[1]} each":
            plan.racks * bundle[1] - down[1],
    }  # fmt: skip
    if tiers == 3:
        of_each = plan.cores // max(plan.aggs, 1)
        ports[f"{plan.cores} core switches do not share out among {plan.aggs} switches of tier 1"] = plan.cores % max(
            plan.aggs, 1
        )
        ports[f"{up[1]} cables up from tier 1 do not reach {of_each} core switches by {bundle[2]} each"] = (
            of_each * bundle[2] - up[1]
        )
        ports[f"{down[2]} cables down from a core switch do not reach {plan.pods} pods by {bundle[2]} each"] = (
            plan.pods * bundle[2] - down[2]
        )
    wrong = next((what for what, rest in ports.items() if rest), "")
    return wrong or _oversubscribed(found) or _too_large(found, plan)


def _oversubscribed(found: _Topo) -> str:
    """Whether what a tier says of its oversubscription is what its cables make."""
    for tier in range(found.header["tiers"] - 1):
        below = _value(found, tier, "radix_down") * _value(found, tier, "downlink_speed_gbps")
        above = _value(found, tier, "radix_up") * _value(found, tier + 1, "downlink_speed_gbps")
        said = _value(found, tier, "oversubscribed")
        if below != said * above:
            given = "" if "oversubscribed" in found.tiers[tier] else ", which is htsim's where none is given"
            return f"tier {tier} has {below} Gb/s down and {above} up: that is not Oversubscribed {said}{given}"
    return ""


def _too_large(found: _Topo, plan: _Plan) -> str:
    nodes = found.header["nodes"]
    cables = nodes + plan.pods * plan.racks * plan.aggs + plan.pods * plan.cores
    if nodes <= MOST_NODES and cables <= MOST_CABLES:
        return ""
    return f"it has {nodes} hosts and {cables} pairs of joined nodes: expected at most {MOST_NODES} and {MOST_CABLES}"


def _built(found: _Topo) -> tuple[tuple[Node, ...], tuple[Cable, ...]]:
    plan, hosts = _plan(found), found.header["nodes"]
    counts = plan.pods * plan.racks, plan.pods * plan.aggs, plan.cores
    nodes = [Node(f"h{number}") for number in range(hosts)]
    for tier, (layer, count) in enumerate(zip(LAYERS, counts, strict=True)):
        if count:
            latency = _value(found, tier, "switch_latency_ns", 0) / NANOSECONDS
            nodes += [Node(f"{layer}{number}", "switch", latency) for number in range(count)]
    ends = [(0, f"h{host}", f"tor{host // _value(found, 0, 'radix_down')}") for host in range(hosts)]
    for pod in range(plan.pods):
        aggs = range(pod * plan.aggs, (pod + 1) * plan.aggs)
        racks = range(pod * plan.racks, (pod + 1) * plan.racks)
        ends += [(1, f"tor{rack}", f"agg{agg}") for rack in racks for agg in aggs]
    for agg in range(counts[1]):
        ends += [(2, f"agg{agg}", f"core{core}") for core in range(agg % plan.aggs, plan.cores, plan.aggs)]
    kinds = [_kind(found, tier) for tier in range(found.header["tiers"])]
    return tuple(nodes), tuple(Cable((low, high), *kinds[tier]) for tier, low, high in ends)


def _kind(found: _Topo, tier: int) -> tuple[str, int, float, float]:
    """Label, cables of a pair, byte/s of one and seconds of the links down from a tier."""
    rate = _value(found, tier, "downlink_speed_gbps")
    latency = _value(found, tier, "downlink_latency_ns") / NANOSECONDS
    return f"tier {tier} {rate}Gb/s", _value(found, tier, "bundle"), rate * GBPS, latency


def _remarks(found: _Topo) -> tuple[str, ...]:
    out = []
    tiers = [found.tiers[tier] for tier in range(found.header["tiers"])]
    if any("switch_latency_ns" not in tier for tier in tiers):
        out.append("where a tier has no Switch_Latency_ns it is 0, as in htsim")
    if any("queue_up" in tier or "queue_down" in tier for tier in tiers):
        out.append("sizes of queues are counted and left out: a machine has no buffers")
    beyond = sorted(set(found.tiers) - set(range(found.header["tiers"])))
    if beyond:
        out.append(
            f"a block of tier {re.sub(r'[^0-9, ]', '', str(beyond))} stands beyond the {len(tiers)} tiers: left out"
        )
    return tuple(out)
