"""Headroom and thresholds from question to answer: what a lossless line needs, which fires first, and what is set wrongly.

What belongs here: composing ``model.headroom`` and ``model.thresholds``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hopline.errors import InputError, QuantityError, UnknownNameError
from hopline.model import headroom as model
from hopline.model import thresholds
from hopline.model.headroom import MEDIA, Line
from hopline.model.thresholds import Dcqcn, Switch
from hopline.quantity import parse, show
from hopline.records.headroom import Fault, Firing, Headroom

_LENGTH = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)\s*(k?m)")
_RATIO = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)(?:/(\d{1,6}))?")
_POWER = re.compile(r"2\^(-?\d{1,2})")


def length(text: str) -> float:
    """Metres of ``40m`` or ``2km``. Raises QuantityError."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        raise QuantityError(f"{text!r} is not a length: expected a number and m or km, like 40m")
    return float(found[1]) * (1000 if found[2] == "km" else 1)


def ratio(text: str) -> float:
    """``0.125``, ``1/8`` or ``2^-3`` (dynamic_th -3 of SONiC). Raises QuantityError."""
    power, found = _POWER.fullmatch(text.strip()), _RATIO.fullmatch(text.strip())
    if power is not None:
        return float(Fraction(2) ** int(power[1]))
    value = (
        Fraction(0) if found is None or (found[2] and not int(found[2])) else Fraction(found[1]) / int(found[2] or 1)
    )
    if value <= 0:
        raise QuantityError(f"{text!r} is no factor: expected a number above 0, like 1/8, 0.125 or 2^-3")
    return float(value)


def ecn(text: str, rate: float) -> tuple[float, float]:
    """(KMIN, KMAX) of ``100KB:400KB`` or of a simulator by name. Raises QuantityError, UnknownNameError and InputError."""
    low, colon, high = text.partition(":")
    if colon:
        return parse(low, "size"), parse(high, "size")
    return thresholds.ecn_of(text, rate)[:2]


def profile(text: str) -> tuple[float, float, float]:
    """(size, xon, xoff) in bytes of ``size=54272,xon=18432,xoff=35840``. Raises InputError."""
    told = dict.fromkeys(("size", "xon", "xoff"), "")
    for part in filter(None, text.split(",")):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in told:
            raise UnknownNameError("part of a profile", key, told)
        told[key] = value if not value.isdecimal() else f"{value}B"
    if not all(told.values()):
        raise InputError(f"{text!r} lacks a part: expected like size=54272,xon=18432,xoff=35840 (bytes)")
    size, xon, xoff = (parse(told[key], "size") for key in ("size", "xon", "xoff"))
    return size, xon, xoff


@dataclass(frozen=True, slots=True)
class Needed:
    """What a line needs: our account, others', what vendors set aside (bytes, and bytes a metre), faults of what is set."""

    line: Line
    own: Headroom
    others: tuple[Headroom, ...]
    vendors: dict[str, tuple[float, float]]
    faults: tuple[Fault, ...]
    longest: float | None


def line(
    rate: float, metres: float, frame: float, response: float = 0.0, reverse: float | None = None, medium: str = "cable",
    gaps: bool = False,
) -> Line:  # fmt: skip
    """A lossless line, see ``model.headroom.Line``; ``gaps`` counts preamble and gap. Raises UnknownNameError, InputError."""
    if medium not in MEDIA:
        raise UnknownNameError("medium", medium, MEDIA)
    return Line(rate, metres, frame, response, reverse, MEDIA[medium], 20.0 if gaps else 0.0)


def needed(asked: Line, set_to: float | None = None, told: tuple[float, float, float] | None = None) -> Needed:
    """The account; ``set_to`` bytes are configured, or ``told`` (size, xon, xoff) of a SONiC profile: its xoff is headroom."""
    own = model.headroom(asked)
    standard = model.in_bit_times(asked)
    room = told[2] if told is not None else set_to
    faults = [*([] if told is None else _profile_faults(*told)), *([] if room is None else _short(asked, own, room))]
    return Needed(
        line=asked,
        own=own,
        others=() if standard is None else (standard,),
        vendors=model.vendors(asked),
        faults=tuple(faults),
        longest=None if room is None else model.longest_cable(asked, room),
    )


def _profile_faults(size: float, xon: float, xoff: float) -> list[Fault]:
    """Of a profile that holds its own headroom; one with a small size borrows it from a pool."""
    if size >= xoff and size != xon + xoff:
        found = f"size {size:,.0f} B, xon + xoff {xon + xoff:,.0f} B"
        return [Fault("Size is not xon + xoff", found, f"size={xon + xoff:.0f}, where the headroom is the queue's own")]
    return []


def _short(asked: Line, own: Headroom, room: float) -> list[Fault]:
    if room >= own.total:
        return []
    fits = model.longest_cable(asked, room)
    found = f"{room:,.0f} B are set, {own.total:,.0f} B can arrive"
    if fits is None:
        bare = model.headroom(replace(asked, metres=0.0)).total
        return [Fault("Headroom too small for any cable", found, f"at least {bare:,.0f} B, without a cable")]
    return [Fault("Cable too long for the headroom", found, f"a cable of {fits:.4g} m at most, or {own.total:,.0f} B")]


@dataclass(frozen=True, slots=True)
class Order:
    """ECN against PFC in a shared buffer.

    Attributes
    ----------
    switch
        The shared pool and its thresholds.
    reserved, used
        Bytes of headroom of all ports and classes, and of other queues, taken from the buffer.
    together
        Bytes that a port needs where all its classes stop at the same instant.
    firings
        For several numbers of congested queues.
    flips, full
        The fewest congested queues with which pauses come before any mark, and before all packets are marked; None: none do.
    late
        With ``growth`` bytes that still come before marks work: the fewest with which pauses come although ECN marked first.
    dcqcn
        The rules of the DCQCN paper for this buffer.
    enough
        The least alpha with which ECN begins first with all ports congested; None: no alpha, or a static threshold.
    """

    switch: Switch
    reserved: float
    used: float
    together: float
    ports: int
    classes: int
    firings: tuple[Firing, ...]
    flips: int | None
    full: int | None
    growth: float
    late: int | None
    dcqcn: Dcqcn
    enough: float | None
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer as it is set: bytes, ports, lossless classes, thresholds as in ``Switch``; other queues hold ``used``."""

    size: float
    ports: int
    classes: int
    ecn: tuple[float, float]
    alpha: float | None = None
    xoff: float | None = None
    xon: float | None = None
    senders: int = 1
    feeds: str = "own"
    used: float = 0.0


def order(buffer: Buffer, room: float, rate: float, reaction: float = 0.0, counts: Sequence[int] = ()) -> Order:
    """Which fires first, with ``room`` bytes of headroom for each port and class; marks work after ``reaction`` s.

    Raises InputError where headroom takes the whole buffer.
    """
    if buffer.senders > buffer.ports:
        raise InputError(
            f"{buffer.senders} ingress ports feed a queue of a switch of {buffer.ports}: expected at most that"
        )
    most = buffer.ports if buffer.feeds == "one" else buffer.ports // buffer.senders
    reserved = model.reserve(room, buffer.ports, buffer.classes)
    if reserved >= buffer.size:
        raise InputError(
            f"headroom of {room:,.0f} B x {buffer.ports} ports x {buffer.classes} classes takes {show(reserved, 'size')} of a "
            f"buffer of {show(buffer.size, 'size')}: fewer lossless classes, shorter cables or a larger buffer"
        )
    free = buffer.size - reserved - buffer.used
    if free <= 0:
        shared = show(buffer.size - reserved, "size")
        raise InputError(f"others use {show(buffer.used, 'size')} of {shared} that are shared: expected less")
    switch = Switch(free, buffer.ecn, buffer.alpha, buffer.xoff, buffer.senders, buffer.feeds)
    growth = max(0, buffer.senders - 1) * rate * reaction
    one, rule = (
        thresholds.firing(switch, 1),
        thresholds.dcqcn(buffer.size, buffer.ports, room, _beta(buffer), buffer.classes),
    )
    return Order(
        switch=switch,
        reserved=reserved,
        used=buffer.used,
        together=model.together(room, buffer.classes),
        ports=buffer.ports,
        classes=buffer.classes,
        firings=tuple(thresholds.firing(switch, count) for count in counts or _counts(most)),
        flips=_within(thresholds.turning(switch, buffer.ecn[0]), most),
        full=_within(thresholds.turning(switch, buffer.ecn[1]), most),
        growth=growth,
        late=_within(thresholds.turning(switch, buffer.ecn[0] + growth), most),
        dcqcn=rule,
        enough=thresholds.alpha_for(switch, buffer.ports, buffer.ecn[0]) if buffer.alpha is not None else None,
        faults=(
            *thresholds.ordered(buffer.ecn, one.pause, one.threshold, buffer.xon),
            *thresholds.too_high(buffer.xoff, rule.pause),
        ),
    )


def _beta(buffer: Buffer) -> float:
    """The paper's threshold is beta / classes of what is free; 8, its own, under a static Xoff."""
    return 8.0 if buffer.alpha is None else buffer.alpha * buffer.classes


def _counts(ports: int) -> list[int]:
    """1, 2, 4, ... and all."""
    return sorted({min(1 << power, ports) for power in range(12)})


def _within(count: int | None, ports: int) -> int | None:
    """Not more queues than there are ports."""
    return None if count is None or count > ports else count
