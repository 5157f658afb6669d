"""TOPOLOGY_FORMATS: how each kind of topology file is recognised, and by name which reader takes it.

What belongs here: the table. A file's kind is told by its content, never by its name; ``jobs`` resolves the reader, so that
recognising a file loads none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.lines import excerpt, opening
from hopline.formats.schedules.bounded import usable
from hopline.formats.source import forget, shown
from hopline.formats.topologies.xml import root

_WINDOW = 1 << 20
"""Bytes that are looked at."""
_ANSI = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_MATRIX = re.compile(rb"(?m)^[ \t|]*GPU\d+[ \t|]+(?:X|NV\d+|NVB|PIX|PXB|PSB|PHB|NODE|SYS|SOC|QPI)(?:[ \t|\r]|$)")
_TACCL = re.compile(rb'"gpus_per_node"\s*:')
_LOGICAL = re.compile(rb'"logical-dims"\s*:')
_NS3 = re.compile(
    rb"\s*\d+[ \t]+\d+[ \t]+\d+(?:[ \t]+\d+[ \t]+\d+[ \t]+[A-Za-z]\w*(?:[ \t]+\d+)?)?[ \t]*\r?\n"
    rb"(?:[ \t]*\d[\d \t]*\r?\n|[ \t]*\r?\n)*[ \t]*\d+[ \t]+\d+[ \t]+[\d.]{1,40}\w{0,8}(?:bps|Bps|b/s|B/s)[ \t]"
)
_IBNET = re.compile(rb'(?m)^[ \t]*(?:Switch|Ca|Rt)[ \t]+\d+[ \t]+"[SHR]-[0-9a-fA-F]+"')

Recogniser = Callable[[bytes], bool]
"""Takes the first bytes of a file, unpacked, without a byte order mark."""


@dataclass(frozen=True, slots=True)
class TopologyFormat:
    """One kind of file. ``reader`` is ``module:function`` with the signature ``read(path: str) -> Wiring``."""

    name: str
    title: str
    recognises: Recogniser
    reader: str


def _rooted(name: str) -> Recogniser:
    """Whether the root element of an XML document has this name."""
    return lambda start: root(start) == name


def _lines(*patterns: bytes) -> Recogniser:
    """Whether there is a line that begins with each of these, in small or capital letters."""
    found = [re.compile(rb"(?mi)^[ \t]*" + pattern) for pattern in patterns]
    return lambda start: all(pattern.search(start) for pattern in found)


def _json(pattern: re.Pattern[bytes]) -> Recogniser:
    return lambda start: start.lstrip()[:1] == b"{" and bool(pattern.search(start))


_HERE = "hopline.formats.topologies"
_ROWS = [
    TopologyFormat("nccl-topo", "NCCL or RCCL topology (XML)", _rooted("system"), f"{_HERE}.nccl_topo:read"),
    TopologyFormat("nccl-graph", "NCCL graph (XML)", _rooted("graphs"), f"{_HERE}.nccl_graph:read"),
    TopologyFormat("hwloc", "hwloc (lstopo XML)", _rooted("topology"), f"{_HERE}.hwloc:read"),
    TopologyFormat("taccl", "TACCL topology (JSON)", _json(_TACCL), f"{_HERE}.taccl:read"),
    TopologyFormat(
        "topo-m", "nvidia-smi topo -m", lambda start: bool(_MATRIX.search(_ANSI.sub(b"", start))),
        f"{_HERE}.topo_matrix:read",
    ),
    TopologyFormat("simgrid", "SimGrid platform (XML)", _rooted("platform"), f"{_HERE}.simgrid:read"),
    TopologyFormat(
        "astra", "ASTRA-sim network (YAML)", _lines(rb"topology[ \t]*:", rb"npus_count[ \t]*:"), f"{_HERE}.astra:read"
    ),
    TopologyFormat(
        "astra-logical", "ASTRA-sim logical dimensions (JSON, no machine)", _json(_LOGICAL), f"{_HERE}.astra:read_logical"
    ),
    TopologyFormat("htsim", "htsim fat tree (.topo)", _lines(rb"nodes[ \t]+\d", rb"tiers[ \t]+\d"), f"{_HERE}.htsim:read"),
    TopologyFormat("ibnetdiscover", "ibnetdiscover", lambda start: bool(_IBNET.search(start)), f"{_HERE}.ibnetdiscover:read"),
    TopologyFormat("slurm", "Slurm topology.conf", _lines(rb"switchname[ \t]*="), f"{_HERE}.slurm:read"),
    TopologyFormat("slurm-block", "Slurm blocks (no machine)", _lines(rb"blockname[ \t]*="), f"{_HERE}.slurm:refuse_blocks"),
    TopologyFormat(
        "slurm-yaml", "Slurm topology.yaml (no machine)", _lines(rb"-[ \t]+topology[ \t]*:"), f"{_HERE}.slurm:refuse_yaml"
    ),
    TopologyFormat("ns3", "HPCC or SimAI topology (ns-3)", lambda start: bool(_NS3.match(start)), f"{_HERE}.ns3:read"),
]  # fmt: skip
TOPOLOGY_FORMATS: dict[str, TopologyFormat] = {row.name: row for row in _ROWS}
"""Name -> kind, in the order in which they are tried."""


def recognise(path: str) -> TopologyFormat:
    """The kind of the topology file at ``path``; "-" is standard input. What a pipe held is kept for its reader.

    Raises FormatError where it cannot be read, or is of no known kind.
    """
    usable(path, "topology")
    try:
        start = opening(path, _WINDOW)[1:]
        found = next((row for row in TOPOLOGY_FORMATS.values() if row.recognises(start)), None)
        if found is None:
            known = ", ".join(row.title for row in TOPOLOGY_FORMATS.values())
            raise FormatError(f"{shown(path)} is no topology that hopline knows{_begin(start)}: expected {known}")
    except FormatError:
        forget(path)
        raise
    return found


def _begin(start: bytes) -> str:
    first = next((line for line in start.split(b"\n") if line.strip(b"\0 \t\r")), b"")
    return f" (it begins with {excerpt(first, 40)!r})" if first else ""
