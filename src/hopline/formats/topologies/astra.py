"""Read the network files of ASTRA-sim: the YAML of its analytical network, and the logical dimensions of its ns-3 network.

What belongs here: dimensions to nodes and cables. NPU numbers count the first dimension fastest. What the numbers mean stands
in astra-sim/astra-network-analytical: a GB is 2^30 bytes (``common/NetworkFunction.cpp``), a latency is nanoseconds of one
hop, and a message crosses a Switch in two hops (``congestion_unaware/basic-topology/Switch.cpp``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from hopline.errors import FormatError
from hopline.formats.lines import document
from hopline.formats.numbered import DECIMAL, Line, quoted
from hopline.formats.source import shown
from hopline.formats.topologies.astra_yaml import Entry, entries
from hopline.formats.topologies.cabling import MOST_CABLES, MOST_NODES
from hopline.formats.topologies.sketch import machine_name
from hopline.machine.parts import Node
from hopline.machine.wiring import Cable, Fact, Wiring

GB = 1 << 30
NANOSECONDS = 1e9
"""Of a second."""
KEYS = ("topology", "npus_count", "bandwidth", "latency")
SHAPES = {
    "ring": "Ring", "fullyconnected": "FullyConnected", "fc": "FullyConnected", "switch": "Switch", "sw": "Switch",
}  # fmt: skip
"""Names of shapes, with those of older files, in small letters without dashes -> how ASTRA-sim writes it now."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: ``npus`` along it, byte/s of a link one way, seconds of a hop."""

    number: int
    shape: str
    npus: int
    bandwidth: float
    latency: float


def read(path: str) -> Wiring:
    """The network of the YAML file at ``path``; refused where a rate or latency is a placeholder. Raises FormatError."""
    found = entries(path)
    for key in KEYS:
        if key not in found:
            raise FormatError(f"{shown(path)} has no {key}: expected {', '.join(KEYS)}, a list each")
    first = found["topology"]
    for key in KEYS[1:]:
        if len(found[key].values) != len(first.values):
            raise found[key].line.wrong(
                f"{key} has {len(found[key].values)} entries, topology {len(first.values)}: expected one for each dimension"
            )
    npus = [found["npus_count"].line.integer(text, "npus_count", 2) for text in found["npus_count"].values]
    placeholders = [(key, text) for key in KEYS[2:] for text in found[key].values if not DECIMAL.fullmatch(text)]
    facts = _facts(found, npus, bool(placeholders))
    name = machine_name(path)
    remarks = _remarks(found)
    refusal = _refusal(placeholders, first)
    if refusal:
        return Wiring("astra", name, facts=facts, remarks=remarks, refusal=refusal)
    rates, hops = (_numbers(found[key]) for key in KEYS[2:])
    if 0.0 in rates:
        raise found["bandwidth"].line.wrong("a bandwidth is 0: expected one above 0 for each dimension")
    dimensions = [
        Dimension(number, _shape(shape), n, rate * GB, hop / NANOSECONDS)
        for number, (shape, n, rate, hop) in enumerate(zip(first.values, npus, rates, hops, strict=True))
    ]
    return _built(name, dimensions, facts, remarks)


def _numbers(entry: Entry) -> list[float]:
    return [entry.line.decimal(text, entry.key) for text in entry.values]


def _shape(text: str) -> str:
    return SHAPES.get(text.lower().replace("_", "").replace("-", ""), "")


def _refusal(placeholders: list[tuple[str, str]], shapes: Entry) -> str:
    for key, text in placeholders:
        return f"its {key} is {quoted(text)}, which stands in place of a number: fill it in"
    for text in shapes.values:
        if not _shape(text):
            known = ", ".join(dict.fromkeys(SHAPES.values()))
            return f"a dimension has the shape {quoted(text)}: known are {known}"
    return ""


def _facts(found: Mapping[str, Entry], npus: list[int], placeholders: bool) -> dict[str, Fact]:
    written = {key: tuple(_short(text) for text in found[key].values) for key in ("bandwidth", "latency")}
    facts: dict[str, Fact] = {
        "dims": len(npus), "topology": tuple(found["topology"].values), "npus_count": tuple(npus), "npus": math.prod(npus),
        "bandwidth_GBps_as_written": written["bandwidth"], "bandwidth_bytes_per_s": "none(placeholder)",
        "latency_ns": written["latency"],
    }  # fmt: skip
    if not placeholders:
        facts["bandwidth_bytes_per_s"] = tuple(_whole(rate * GB) for rate in _numbers(found["bandwidth"]))
        facts["latency_ns"] = tuple(_numbers(found["latency"]))
    return facts


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value


def _short(text: str) -> str:
    return f"{float(text):.15g}" if DECIMAL.fullmatch(text) else text


def _remarks(found: Mapping[str, Entry]) -> tuple[str, ...]:
    others = [key for key in found if key not in KEYS]
    out = ["a GB is 2^30 bytes in ASTRA-sim: its rates are 7.4 % above those of the same name elsewhere"]
    if any(_shape(text) == "Switch" for text in found["topology"].values):
        out.append("a Switch counts its latency twice, once in and once out")
    if others:
        out.append(f"left out: {', '.join(others[:6])}")
    return tuple(out)


def _built(name: str, dimensions: list[Dimension], facts: dict[str, Fact], remarks: tuple[str, ...]) -> Wiring:
    npus = math.prod(d.npus for d in dimensions)
    cables = sum(npus * (d.npus - 1) // 2 if d.shape == "FullyConnected" else npus for d in dimensions)
    if npus > MOST_NODES or cables > MOST_CABLES:
        refusal = f"it has {npus} NPUs and about {cables} cables: expected at most {MOST_NODES} and {MOST_CABLES}"
        return Wiring("astra", name, facts=facts, remarks=remarks, refusal=refusal)
    nodes = [Node(f"npu{number}") for number in range(npus)]
    found: list[Cable] = []
    stride = 1
    for dimension in dimensions:
        for group, members in enumerate(_groups(npus, stride, dimension.npus)):
            if dimension.shape == "Switch":
                nodes.append(Node(f"switch{dimension.number}.{group}", "switch", 0.0))
            found += _cables(dimension, group, members)
        stride *= dimension.npus
    return Wiring("astra", name, tuple(nodes), tuple(found), facts, remarks)


def _groups(npus: int, stride: int, along: int) -> Iterator[list[str]]:
    """NPUs that differ in one dimension only, of which numbers are ``stride`` apart."""
    for block in range(0, npus, stride * along):
        for first in range(block, block + stride):
            yield [f"npu{first + stride * place}" for place in range(along)]


def _cables(dimension: Dimension, group: int, members: list[str]) -> Iterator[Cable]:
    label = f"dim {dimension.number} {dimension.shape}"
    switch = f"switch{dimension.number}.{group}"
    ring = [*members, members[0]] if len(members) > 2 else members
    ends = {
        "Ring": pairwise(ring), "FullyConnected": combinations(members, 2), "Switch": ((one, switch) for one in members)
    }  # fmt: skip
    for pair in ends[dimension.shape]:
        yield Cable(pair, label, 1, dimension.bandwidth, dimension.latency)


def read_logical(path: str) -> Wiring:
    """The logical dimensions of an ns-3 network: counted, and refused, since they name no link. Raises FormatError."""
    import msgspec

    try:
        found = msgspec.json.decode(document(path, 1 << 20))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is no JSON: {quoted(str(error))}") from None
    dims = found.get("logical-dims") if isinstance(found, dict) else None
    if not isinstance(dims, list) or not dims:
        raise FormatError(f'{shown(path)} has no list logical-dims: expected one like ["8", "2"]')
    line = Line(shown(path), 1, "")
    counts = tuple(line.integer(str(value), "a logical dimension", 1) for value in dims)
    kinds = sorted({"string" if isinstance(value, str) else "number" for value in dims})
    facts: dict[str, Fact] = {
        "logical_dims": counts, "dims": len(counts), "npus": math.prod(counts), "element_type": " and ".join(kinds),
    }  # fmt: skip
    refusal = (
        "it only says how ranks are numbered; links and rates stand in the physical topology file of ns-3: read that"
    )
    return Wiring("astra-logical", machine_name(path), facts=facts, refusal=refusal)
