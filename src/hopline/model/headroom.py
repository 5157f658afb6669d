"""PFC headroom: what still arrives after a queue has said stop, term by term, and the cable that it allows.

What belongs here: the account in bytes, the same in the bit times of others, and tables of vendors. Rates are byte/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, POSITIVE, exact, show
from hopline.records.headroom import Headroom, Term

PAUSE_FRAME = 64
"""Bytes (IEEE 802.1Qbb), without preamble and gap."""
LIGHT = 5e-9
"""Seconds for a metre of cable: the round figure; Cisco's PFC white paper says 4.76 ns in copper and 5.13 ns in fibre."""
MEDIA: Mapping[str, float] = {"cable": LIGHT, "copper": 4.76e-9, "fibre": 5.13e-9}
"""What a cable is of -> seconds a metre."""


@dataclass(frozen=True, slots=True)
class Line:
    """A lossless line: byte/s, metres, largest frames (bytes) here and backwards, seconds until the far end obeys.

    ``extra`` bytes are added to each frame (20 for preamble and gap); ``reverse`` None: as large as ``frame``.
    """

    rate: float
    metres: float
    frame: float
    response: float = 0.0
    reverse: float | None = None
    per_metre: float = LIGHT
    extra: float = 0.0

    def __post_init__(self) -> None:
        POSITIVE.check("rate", self.rate)
        POSITIVE.check("seconds a metre", self.per_metre)
        POSITIVE.check("largest frame", self.frame)
        for name in ("metres", "response", "extra"):
            NON_NEGATIVE.check(name, getattr(self, name))
        if self.reverse is not None:
            NON_NEGATIVE.check("largest frame backwards", self.reverse)

    @property
    def propagation(self) -> float:
        """Seconds along the cable, one way."""
        return float(exact(self.metres) * exact(self.per_metre))


def headroom(line: Line) -> Headroom:
    """What arrives at most after the queue reached its threshold: frame backwards + pause + cable twice + response + frame.

    The pause waits for a frame that has just begun to leave, travels, is obeyed; then one more frame may have begun, and what
    is on the cable still comes.
    """
    rate, one_way = exact(line.rate), exact(line.metres) * exact(line.per_metre)
    frame, extra = exact(line.frame), exact(line.extra)
    back = frame if line.reverse is None else exact(line.reverse)
    parts = (
        ("frame backwards", "that the pause waits for", back + (extra if back else 0)),
        ("pause frame", "", PAUSE_FRAME + extra),
        ("cable, the pause goes out", f"{line.metres:g} m", rate * one_way),
        ("response", f"{show(line.response, 'time')} until the sender stops", rate * exact(line.response)),
        ("frame forward", "that has just begun", frame + extra),
        ("cable, what is on it comes in", f"{line.metres:g} m", rate * one_way),
    )
    return _account("bytes on the wire", rate, parts)


def _account(name: str, rate: Fraction, parts: tuple[tuple[str, str, Fraction], ...]) -> Headroom:
    total = sum((size for _, _, size in parts), Fraction(0))
    cable = sum((size for what, _, size in parts if what.startswith("cable")), Fraction(0))
    terms = tuple(Term(what, why, float(size)) for what, why, size in parts)
    return Headroom(name, terms, float(total), float(total / rate), float(cable))


def longest_cable(line: Line, room: float) -> float | None:
    """Metres for which ``room`` bytes suffice; None: not even for none."""
    needs = exact(headroom(line).total)
    cable = 2 * exact(line.rate) * exact(line.metres) * exact(line.per_metre)
    left = exact(room) - (needs - cable)
    return float(left / (2 * exact(line.rate) * exact(line.per_metre))) if left >= 0 else None


# --- the same in the bit times of IEEE 802.1Qbb, as besthub.dev's "headroom part 2" lists them

INTERFACE_BITS: Mapping[int, int] = {10: 8_192, 25: 6_144, 40: 24_576, 100: 122_880}
"""Gb/s -> bit times of an interface (PHY and MAC), each way."""
RESPONSE_BITS: Mapping[int, int] = {10: 30_720, 25: 40_960, 40: 60_416, 100: 201_728}
"""Gb/s -> bit times until a sender obeys."""
_FRAME_BITS, _PAUSE_BITS, _NO_DROP_BITS = 73_888, 672, 18_560
"""A 9216 B frame and a pause frame with preamble and gap, and a 2300 B frame of the lossless class."""


def in_bit_times(line: Line) -> Headroom | None:
    """The sum of the standard's terms at this rate and length; None for a rate that its tables have not got."""
    speed = int(line.rate * 8 / 1e9)
    if speed not in INTERFACE_BITS or speed * 1e9 != line.rate * 8:
        return None
    rate = exact(line.rate)
    cable = rate * exact(line.metres) * exact(line.per_metre)
    parts = (
        ("frame backwards", "9216 B and 20 B of preamble and gap", Fraction(_FRAME_BITS, 8)),
        ("pause frame", "64 B and 20 B", Fraction(_PAUSE_BITS, 8)),
        ("interfaces, twice", "PHY and MAC", Fraction(2 * INTERFACE_BITS[speed], 8)),
        ("cable, twice", f"{line.metres:g} m", 2 * cable),
        ("response", "of MAC and PHY by the standard", Fraction(RESPONSE_BITS[speed], 8)),
        ("frame forward", "2300 B of the lossless class and 20 B", Fraction(_NO_DROP_BITS, 8)),
    )
    return _account("bit times of 802.1Qbb", rate, parts)


VENDORS: Mapping[str, Mapping[int, tuple[tuple[float, float], ...]]] = {
    "a SONiC profile, 100 Gb/s, with a shared headroom pool": {
        100: ((5, 165_568), (40, 177_632), (300, 268_736)),
    },
}
"""Whose -> Gb/s -> (metres, bytes of headroom), ascending. SONiC: pg_lossless profiles of a switch guide (5, 40, 300 m)."""


def vendors(line: Line) -> dict[str, tuple[float, float]]:
    """Whose -> (bytes of headroom, bytes for each metre more) at this rate and length, linear between their lengths.

    Those who do not say are left out.
    """
    found: dict[str, tuple[float, float]] = {}
    for name, table in VENDORS.items():
        points = table.get(int(line.rate * 8 / 1e9), ())
        for (near, low), (far, high) in pairwise(points):
            if near <= line.metres <= far:
                slope = (high - low) / (far - near)
                found[name] = (low + slope * (line.metres - near), slope)
                break
    return found


def reserve(each: float, ports: int, classes: int) -> float:
    """Bytes for all ports and lossless classes: classes can be paused one after another, so each needs the whole."""
    if ports < 1 or classes < 1:
        raise InputError(f"{ports} ports and {classes} lossless classes: expected at least 1 of each")
    return float(exact(each) * ports * classes)


def together(each: float, classes: int) -> float:
    """Bytes at a port whose classes are all paused at the same instant: the wire is theirs together, only pauses add up."""
    return each + (classes - 1) * PAUSE_FRAME
