"""What a topology asks for: parameters with units and defaults, read from text.

What belongs here: from ``leaves=8,rate=50GB/s`` to checked numbers, and the parts that all topologies are built of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hopline.errors import InputError, MachineError, QuantityError, UnknownNameError
from hopline.machine.parts import Link, Memory, Node, Startup
from hopline.machine.topology import Connection, Machine
from hopline.quantity import bandwidth, count, time

MOST_NODES, MOST_CONNECTIONS = 1 << 20, 1 << 21
"""More do not fit into the memory of a small computer: about 1 kB a connection."""

Value = float | tuple[int, ...] | bool | None
Sort = Literal["count", "bandwidth", "time", "ratio", "dims", "flag"]


def _ratio(text: str) -> float:
    above, sign, below = text.partition(":")
    try:
        value = float(above) / float(below if sign else 1)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise QuantityError(f"{text!r} is not a ratio: expected a number above 0, like 2 or 3:2")
    return value


def _dims(text: str) -> tuple[int, ...]:
    parts = text.split("x")
    if not all(part.isascii() and part.isdigit() and 0 < len(part) < 10 and int(part) for part in parts):
        raise QuantityError(f"{text!r} is not a shape: expected whole numbers above 0, like 4x4x2")
    return tuple(map(int, parts))


def _flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise QuantityError(f"{text!r}: expected yes or no")
    return text == "yes"


READ: dict[Sort, Callable[[str], Value]] = {
    "count": count,
    "bandwidth": bandwidth,
    "time": time,
    "ratio": _ratio,
    "dims": _dims,
    "flag": _flag,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key; without a ``default`` text it must be given, with "" it may be left out. ``least`` is that of a count."""

    name: str
    sort: Sort
    about: str
    default: str | None = None
    least: int = 1

    def read(self, text: str) -> Value:
        """The value. Raises QuantityError."""
        value = READ[self.sort](text)
        if self.sort == "count" and isinstance(value, float) and value < self.least:
            raise QuantityError(f"{text!r}: expected at least {self.least}")
        return value


COMMON = (
    Parameter("latency", "time", "of each hop over a network link", "0s"),
    Parameter("startup", "time", "that a device pays for each message", "0s"),
    Parameter("memory", "bandwidth", "of each device's memory", ""),
)
"""All topologies have these."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one topology's parameters, by name."""

    topology: str
    given: Mapping[str, Value]

    def count(self, name: str) -> int:
        """A whole number."""
        value = self.given[name]
        return int(value) if isinstance(value, float) else 0

    def rate(self, name: str, instead: float | None = None) -> float:
        """Byte/s, or a ratio; ``instead`` where it was left out. Raises InputError where there is nothing instead."""
        value = self.given[name]
        if isinstance(value, float):
            return value
        if instead is None:
            raise InputError(f"{self.topology}: {name} is missing here: give it, like {name}=50GB/s")
        return instead

    def has(self, name: str) -> bool:
        """Whether it was given, or has a default."""
        return self.given[name] is not None

    def dims(self, name: str) -> tuple[int, ...]:
        """Whole numbers; () where it was left out."""
        value = self.given[name]
        return value if isinstance(value, tuple) else ()

    def flag(self, name: str) -> bool:
        """Yes or no."""
        return bool(self.given[name])

    def refuse(self, names: Sequence[str], where: str) -> None:
        """Raises InputError for any of ``names`` that was given, and means nothing ``where``."""
        for name in names:
            if self.has(name):
                raise InputError(f"{self.topology}: {name} means nothing {where}: leave it out")

    def uplink(self, below: float, above: int) -> float:
        """Byte/s of each of ``above`` links up, where ``below`` byte/s come from below: as told, else all of them.

        Raises InputError where both the rate and the oversubscription are told.
        """
        if self.has("uplink") and self.has("oversubscription"):
            raise InputError(f"{self.topology}: uplink and oversubscription say the same twice: give one of them")
        return self.rate("uplink", below / above / self.rate("oversubscription", 1.0))


@dataclass(slots=True)
class Parts:
    """A machine in the making."""

    values: Values
    links: dict[str, Link] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)

    def expect(self, nodes: int, connections: int) -> None:
        """Raises InputError where that many are too many, before they are made."""
        for what, number, most in (("nodes", nodes, MOST_NODES), ("connections", connections, MOST_CONNECTIONS)):
            if number > most:
                raise InputError(f"{self.values.topology} would have {number:.3g} {what}: expected at most {most:,}")

    def link(self, name: str, rate: float, latency: str = "latency") -> None:
        """A kind of link; ``latency`` is the parameter that tells its delay."""
        values = self.values
        startup = Startup(unsplit=values.rate("startup"))
        self.links[name] = Link(
            name, rate, startup, forwarding="cut-through", peak=rate, delay=values.rate(latency, values.rate("latency"))
        )

    def devices(self, names: list[str]) -> list[str]:
        """End nodes; their names."""
        memory = Memory(self.values.rate("memory")) if self.values.has("memory") else None
        self.nodes.update((name, Node(name, memory=memory)) for name in names)
        return names

    def switches(self, names: list[str]) -> list[str]:
        """Switches, whose latency is part of the hops; their names."""
        self.nodes.update((name, Node(name, "switch", 0.0)) for name in names)
        return names

    def join(self, a: str, b: str, link: str) -> None:
        """A cable."""
        self.connections.append(Connection((a, b), link))

    def made(self, title: str) -> Machine:
        """The machine; its name is the text that it was made of. Raises MachineError for fewer than two devices."""
        if sum(node.kind == "device" for node in self.nodes.values()) < 2:
            raise MachineError(
                f"{self.values.topology} has one device: expected at least 2, which can talk to each other"
            )
        return Machine(self.values.topology, title, self.links, self.nodes, tuple(self.connections))


def read(topology: str, text: str, parameters: tuple[Parameter, ...], example: str) -> Values:
    """The values in ``key=value,...`` of ``topology``. Raises UnknownNameError, InputError and QuantityError."""
    known = {parameter.name: parameter for parameter in (*parameters, *COMMON)}
    told: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, found, value = (word.strip() for word in part.partition("="))
        if not found or not value:
            raise InputError(f"{topology}: {part!r} is not key=value: expected like {example}")
        if key not in known:
            raise UnknownNameError(f"parameter of {topology}", key, known)
        if key in told:
            raise InputError(f"{topology}: {key} is given twice: expected once")
        told[key] = value
    missing = [name for name, parameter in known.items() if parameter.default is None and name not in told]
    if missing:
        raise InputError(f"{topology} needs {', '.join(missing)}: give it, like {example}")
    values: dict[str, Value] = {}
    for name, parameter in known.items():
        try:
            word = told.get(name, parameter.default)
            values[name] = parameter.read(word) if word else None
        except QuantityError as error:
            raise QuantityError(f"{topology}: {name}: {error}") from None
    return Values(f"{topology}:{text}" if text else topology, values)
