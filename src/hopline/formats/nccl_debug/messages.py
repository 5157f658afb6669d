"""What a message of NCCL says: the table of patterns.

What belongs here: patterns and the fact each adds, for all versions that were met. Tuning tables are ``tuning``, what calls
say is ``calls``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from hopline.records.nccl_log import Search

_GBPS = 1e9


@dataclass(slots=True)
class Found:
    """What was found up to a line."""

    flavour: str = ""
    version: str = ""
    git: str = ""
    ranks: set[int] = field(default_factory=set)
    nodes: set[int] = field(default_factory=set)
    networks: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    plugins: dict[str, None] = field(default_factory=dict)
    tuner: tuple[str, str] = ("", "")
    connections: Counter[str] = field(default_factory=Counter)
    devices: Counter[int] = field(default_factory=Counter)
    direct: int = 0
    channels: int | None = None
    listed: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    facts: Counter[str] = field(default_factory=Counter)
    searches: dict[Search, None] = field(default_factory=dict)


def _version(found: Found, match: re.Match[str]) -> None:
    found.flavour, found.version = match[1], match[2]


def _git(found: Found, match: re.Match[str]) -> None:
    found.git = match[1].strip()


def _communicator(found: Found, match: re.Match[str]) -> None:
    found.ranks.add(int(match[1]))
    if match[2]:
        found.nodes.add(int(match[2]))


def _ring(found: Found, match: re.Match[str]) -> None:
    found.listed += 1
    found.channels = int(match[2])


def _network(found: Found, match: re.Match[str]) -> None:
    found.networks[match[1].strip()] += 1


def _absent(found: Found, match: re.Match[str]) -> None:
    found.missing[match[1].strip()] += 1


def _plugin(found: Found, match: re.Match[str]) -> None:
    found.plugins[match[1].strip().rstrip(".")] = None


def _tuner(found: Found, match: re.Match[str]) -> None:
    found.tuner = (match[1].strip(), match[2] or "")


def _over(found: Found, match: re.Match[str]) -> None:
    way = match[1].strip()
    net = _NET.match(way)
    found.connections[f"NET/{net[1]}" if net else "/".join(way.split("/")[:2])] += 1
    if net:
        found.devices[int(net[2])] += 1
        found.direct += "/GDRDMA" in way


def _environment(found: Found, match: re.Match[str]) -> None:
    found.environment[match[1]] = match[2].strip().rstrip(".")


def _counted(*names: str) -> Callable[[Found, re.Match[str]], None]:
    def add(found: Found, match: re.Match[str]) -> None:
        del match
        for name in names:
            found.facts[name] += 1

    return add


def _numbers(*names: str) -> Callable[[Found, re.Match[str]], None]:
    def add(found: Found, match: re.Match[str]) -> None:
        found.facts.update(
            {name: int(value) - found.facts[name] for name, value in zip(names, match.groups(), strict=True)}
        )

    return add


def _listing(name: str) -> Callable[[Found, re.Match[str]], None]:
    """How many entries ``[0]name [1]name`` a list has."""

    def add(found: Found, match: re.Match[str]) -> None:
        found.facts[name] = max(found.facts[name], len(re.findall(r"\[\d+\]", match[1])))

    return add


def _nothing(name: str) -> Callable[[Found, re.Match[str]], None]:
    def add(found: Found, match: re.Match[str]) -> None:
        del match
        found.facts.setdefault(name, 0)

    return add


def _search(found: Found, match: re.Match[str]) -> None:
    pattern, channels, within, between, wires, net, same = match.groups()
    one = Search(
        int(pattern), int(channels), float(within) * _GBPS, float(between) * _GBPS, wires or "", net or "", same == "1"
    )
    found.searches[one] = None


_NET = re.compile(r"NET/(.+?)/(\d+)")
_PATTERNS: tuple[tuple[str, str, Callable[[Found, re.Match[str]], None]], ...] = (
    ("Channel ", r"Channel (\d+)/(\d+) :(?:\s+\d+)+\s*$", _ring),
    (" via ", r"(?:Channel|Ring) \d+(?:/\d+)? : \d+(?:\[\w+\])? -> \d+(?:\[\w+\])?.* via (.+?)(?: comm .*)?$", _over),
    ("Trees ", r"Trees \[", _counted("trees_lines")),
    ("network", r"Using network (.+)$", _network),
    ("not found", r"network (.+?) not found", _absent),
    ("nvls channels", r"(\d+) coll channels, (?:\d+ collnet channels, )?(\d+) nvls channels, (\d+) p2p channels",
     _numbers("coll_channels", "nvls_channels", "p2p_channels")),
    ("coll channels", r"(\d+) coll channels, (\d+) p2p channels", _numbers("coll_channels", "p2p_channels")),
    ("Init COMPLETE", r"Init COMPLETE", _counted("init_complete")),
    ("Connected all rings", r"Connected all rings", _counted("connected_rings")),
    ("Connected all trees", r"Connected all trees", _counted("connected_trees")),
    ("anks ", r"\bn[Rr]anks (\d+)(?: nNodes (\d+))?", _communicator),
    ("set by environment", r"([A-Z]\w+) set by environment to (.*)$", _environment),
    ("Could not find", r"Could not find: (.+?)(?:\.? Using .*|\.?$)", _plugin),
    ("Using", r"TUNER/Plugin: Using (.+?)(?: \((v\d+)\))?$", _tuner),
    ("NET/IB", r"NET/IB : No device found", _nothing("ib_devices")),
    ("NET/IB", r"NET/IB : Using ((?:\s*\[\d+\]\S+)+)", _listing("ib_devices")),
    ("NET/Socket", r"NET/Socket : Using ((?:\s*\[\d+\]\S+)+)", _listing("socket_interfaces")),
    ("git version", r"NCCL git version (.+)$", _git),
    ("NCCL version", r"\b(NCCL) version (\d\S*)", _version),
    ("Pattern ", r"Pattern (\d+), crossNic \d+, nChannels (\d+), (?:bw|speed) ([\d.]+)/([\d.]+), type (\w+)/(\w+)"
     r"(?:, sameChannels (\d))?", _search),
    ("MSCCL", r"MSCCL", _counted("msccl_lines")),
)  # fmt: skip
"""(text that all such messages hold, pattern, what it adds)."""
PATTERNS = tuple((key, re.compile(pattern), add) for key, pattern, add in _PATTERNS)
VERSION_LINE = re.compile(rb"\n[^\n]{0,200}?\b(NCCL|RCCL) version (\d[\w.+-]*)")
"""A line of its own, without a head."""


def take(found: Found, text: str) -> None:
    """Add what a message says; many say nothing that is asked for."""
    for key, pattern, add in PATTERNS:
        if key in text and (match := pattern.search(text)):
            add(found, match)
