"""A queue, and the law by which its sender is slowed down when it sees the queue, late.

What belongs here: the laws as they are set, LAWS, and reading one from text. What they do over time is ``sim.loop``; delays
at which they begin to swing are ``model.feedback``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hopline.errors import InputError, QuantityError, UnknownNameError
from hopline.quantity import NON_NEGATIVE, POSITIVE, Dimension, parse


@dataclass(frozen=True, slots=True)
class Proportional:
    """r = B + (setpoint - q) / time: what is over the setpoint would be worked off in ``time`` s. q in bytes."""

    time: float
    setpoint: float

    def __post_init__(self) -> None:
        POSITIVE.check("time", self.time)
        NON_NEGATIVE.check("setpoint", self.setpoint)


@dataclass(frozen=True, slots=True)
class Integral:
    """r' = -(q - setpoint) / (time reset) - q' / time: proportional, with a memory of ``reset`` s."""

    time: float
    reset: float
    setpoint: float

    def __post_init__(self) -> None:
        POSITIVE.check("time", self.time)
        POSITIVE.check("reset", self.reset)
        NON_NEGATIVE.check("setpoint", self.setpoint)


@dataclass(frozen=True, slots=True)
class Marking:
    """r' = sources x step / period - (cut / period) p(q) r: additive increase, multiplicative decrease by ECN marks.

    p rises from 0 at ``kmin`` bytes to ``pmax`` at ``kmax``, and is 1 above it. ``step`` byte/s each ``period`` s.
    """

    kmin: float
    kmax: float
    step: float
    period: float
    pmax: float = 1.0
    cut: float = 0.5
    sources: float = 1.0

    def __post_init__(self) -> None:
        for name in ("step", "period", "pmax", "cut", "sources"):
            POSITIVE.check(name, getattr(self, name))
        if not 0 <= self.kmin < self.kmax:
            raise InputError(f"kmin {self.kmin:g} and kmax {self.kmax:g} bytes: expected 0 <= kmin < kmax")
        if self.pmax > 1 or self.cut > 1:
            raise InputError(f"pmax {self.pmax:g} and cut {self.cut:g}: expected at most 1, a part of all")

    @property
    def increase(self) -> float:
        """Byte/s² of all sources together."""
        return self.sources * self.step / self.period

    @property
    def decrease(self) -> float:
        """1/s, where every packet is marked."""
        return self.cut / self.period

    def marks(self, level: float) -> float:
        """The part of packets that is marked with ``level`` bytes in the queue."""
        if level > self.kmax:
            return 1.0
        return max(0.0, self.pmax * (level - self.kmin) / (self.kmax - self.kmin))


@dataclass(frozen=True, slots=True)
class Pause:
    """The sender stops after ``xoff`` bytes and goes again after ``xon`` (PFC)."""

    xoff: float
    xon: float

    def __post_init__(self) -> None:
        if not 0 <= self.xon < self.xoff:
            raise InputError(f"xon {self.xon:g} and xoff {self.xoff:g} bytes: expected 0 <= xon < xoff")


Law = Proportional | Integral | Marking | Pause


@dataclass(frozen=True, slots=True)
class Loop:
    """A queue under a law: byte/s served, byte/s that its senders can send, bytes that it holds (None: any) and starts with.

    ``start`` byte/s are sent at first by laws with a memory; None: the whole line.
    """

    law: Law
    service: float
    line: float
    capacity: float | None = None
    initial: float = 0.0
    start: float | None = None

    def __post_init__(self) -> None:
        POSITIVE.check("service", self.service)
        POSITIVE.check("line", self.line)
        NON_NEGATIVE.check("initial fill", self.initial)
        if self.capacity is not None and self.initial > NON_NEGATIVE.check("capacity", self.capacity):
            raise InputError(
                f"the queue starts with {self.initial:g} bytes and holds {self.capacity:g}: expected at most that"
            )
        if isinstance(self.law, Pause):
            self._check_pause(self.law)

    def _check_pause(self, law: Pause) -> None:
        if self.capacity is not None and law.xoff >= self.capacity:
            raise InputError(
                f"xoff is {law.xoff:g} bytes and the queue holds {self.capacity:g}: it is full before the stop, expected less"
            )


@dataclass(frozen=True, slots=True)
class Kind:
    """A law by name: words, its class, parameter -> (dimension or "part", what it is, default text or None), an example."""

    title: str
    law: Callable[..., Law]
    parameters: Mapping[str, tuple[Dimension | None, str, str | None]]
    example: str


LAWS: Mapping[str, Kind] = {
    "proportional": Kind(
        "rate in proportion to what the queue lacks",
        Proportional,
        {
            "time": ("time", "in which what is over the setpoint would be worked off", None),
            "setpoint": ("size", "bytes in the queue that it aims at", None),
        },
        "time=10us,setpoint=64KiB",
    ),
    "integral": Kind(
        "rate moved by the error and by its change (PI, as in QCN)",
        Integral,
        {
            "time": ("time", "of the proportional part", None),
            "reset": ("time", "of the memory", None),
            "setpoint": ("size", "bytes in the queue that it aims at", None),
        },
        "time=10us,reset=40us,setpoint=64KiB",
    ),
    "aimd": Kind(
        "additive increase, multiplicative decrease by ECN marks (DCQCN without its averages and stages)",
        Marking,
        {
            "kmin": ("size", "where marks begin", None),
            "kmax": ("size", "where their slope ends", None),
            "step": ("bandwidth", "of increase of one source in a period", None),
            "period": ("time", "of increase and of cuts", None),
            "pmax": (None, "marked at kmax", "100%"),
            "cut": (None, "of the rate that a period of marks takes away", "50%"),
            "sources": ("count", "that send", "1"),
        },
        "kmin=100KB,kmax=400KB,step=40Mb/s,period=55us,sources=8",
    ),
    "pause": Kind(
        "stop and go (PFC)",
        Pause,
        {"xoff": ("size", "at which it stops", None), "xon": ("size", "at which it goes again", None)},
        "xoff=200KiB,xon=150KiB",
    ),
}
"""How a sender answers to a queue."""


def read_law(text: str) -> Law:
    """The law of ``NAME:key=value,...``. Raises UnknownNameError, InputError and QuantityError."""
    name, _, rest = (part.strip() for part in text.partition(":"))
    if name not in LAWS:
        raise UnknownNameError("law", name, LAWS)
    kind, told = LAWS[name], {}
    for part in filter(None, rest.split(",")):
        key, found, value = (word.strip() for word in part.partition("="))
        if not found or not value:
            raise InputError(f"{name}: {part!r} is not key=value: expected like {kind.example}")
        if key not in kind.parameters:
            raise UnknownNameError(f"parameter of {name}", key, kind.parameters)
        if key in told:
            raise InputError(f"{name}: {key} is given twice: expected once")
        told[key] = value
    missing = [key for key, (_, _, default) in kind.parameters.items() if default is None and key not in told]
    if missing:
        raise InputError(f"{name} needs {', '.join(missing)}: give it, like {name}:{kind.example}")
    return kind.law(**{key: _value(name, key, told.get(key), kind) for key in kind.parameters})


def _value(name: str, key: str, text: str | None, kind: Kind) -> float:
    dimension, _, default = kind.parameters[key]
    word = text or default or ""
    try:
        return _part(word) if dimension is None else parse(word, dimension)
    except QuantityError as error:
        raise QuantityError(f"{name}: {key}: {error}") from None


def _part(text: str) -> float:
    number = text.removesuffix("%").strip()
    if text.endswith("%") and number.replace(".", "", 1).isdigit() and number.isascii():
        return float(number) / 100
    raise QuantityError(f"{text!r} is no percentage: expected one like 10%")
