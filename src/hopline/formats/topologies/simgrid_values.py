"""Numbers of SimGrid's platforms, which stand with their units inside of attributes.

What belongs here: its units (``src/xbt/xbt_parse_units.cpp``), and lists of host numbers. B is a byte, b a bit; k, M, ... are
powers of 1000, Ki, Mi, ... of 1024.
"""

from __future__ import annotations

import re
from fractions import Fraction

from hopline.formats.numbered import quoted
from hopline.formats.topologies.cabling import MOST_NODES
from hopline.formats.topologies.xml import Element

_PREFIXES = {prefix: 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))} | {
    f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)
}
_ATOMS = {"Bps": Fraction(1), "bps": Fraction(1, 8)}
BANDWIDTHS = {prefix + atom: scale * value for prefix, scale in _PREFIXES.items() for atom, value in _ATOMS.items()}
TIMES = {f"{prefix}s": Fraction(1, 1000**power) for power, prefix in enumerate(("", "m", "u", "n", "p"))} | {
    "m": Fraction(60), "h": Fraction(3600), "d": Fraction(86400), "w": Fraction(604800)
}  # fmt: skip
"""Unit -> its value in byte/s, in s."""
_LARGEST = 10**300
_NUMBER = re.compile(
    r"\s*([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?)\s*([A-Za-z]*)\s*", re.ASCII
)
_RADICAL = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9}))?\s*", re.ASCII)


def bandwidth(element: Element, name: str) -> float:
    """Byte/s, above 0. Raises FormatError."""
    value = _value(element, name, BANDWIDTHS, "125MBps or 1Gbps")
    if value <= 0:
        raise element.wrong(f"{element.tag} has {name}={quoted(element.text(name))}: expected a rate above 0")
    return value


def latency(element: Element, name: str) -> float:
    """Seconds, 0 where it is not given. Raises FormatError."""
    return _value(element, name, TIMES, "50us") if name in element.attributes else 0.0


def _value(element: Element, name: str, units: dict[str, Fraction], like: str) -> float:
    """A number with its unit; SimGrid takes Bps and s where there is none."""
    text = element.text(name)
    found = _NUMBER.fullmatch(text)
    unit = found[2] or next(unit for unit, value in units.items() if value == 1) if found else ""
    if found is None or unit not in units:
        raise element.wrong(f"{element.tag} has {name}={quoted(text)}: expected a number and a unit, like {like}")
    value = Fraction(found[1]) * units[unit]
    if not 0 <= value < _LARGEST:
        raise element.wrong(f"{element.tag} has {name}={quoted(text)}: expected a finite number, 0 or more")
    return float(value)


def bare(element: Element, names: tuple[str, ...]) -> int:
    """How many of the attributes have no unit, and are not 0."""
    return sum(
        1
        for name in names
        if (text := element.attributes.get(name, "0").strip())[-1:].isdigit() and float(_number(text))
    )


def _number(text: str) -> str:
    found = _NUMBER.fullmatch(text)
    return found[1] if found else "0"


def radicals(cluster: Element) -> list[int]:
    """Numbers of a cluster's hosts: ``1-29,58,60``. Raises FormatError."""
    out: list[int] = []
    text = cluster.text("radical")
    for part in text.split(","):
        found = _RADICAL.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if last < first or len(out) + last - first >= MOST_NODES:
            raise cluster.wrong(
                f"radical={quoted(text)}: expected ranges like 0-99 or 1-29,58, of at most {MOST_NODES} hosts"
            )
        out += range(first, last + 1)
    return out


def counts(cluster: Element, parts: str, wanted: int) -> list[int]:
    """``wanted`` numbers of at least 1 out of topo_parameters, parted by commas. Raises FormatError."""
    words = [word.strip() for word in parts.split(",")]
    if len(words) != wanted or not all(
        word.isascii() and word.isdigit() and 0 < int(word) < MOST_NODES for word in words
    ):
        raise cluster.wrong(
            f"topo_parameters={quoted(cluster.text('topo_parameters'))}: expected {wanted} numbers of at least 1 in "
            f"{quoted(parts)}"
        )
    return [int(word) for word in words]
