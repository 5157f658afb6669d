"""ECN against PFC in a shared buffer: which fires first, at how many congested queues that turns, and faults of settings.

What belongs here: closed forms. Sizes are bytes. A dynamic threshold is alpha x what is free of the shared pool; a
buffer's own level counts against it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from hopline.errors import InputError, UnknownNameError
from hopline.quantity import NON_NEGATIVE, POSITIVE, binary, exact, show
from hopline.records.headroom import Fault, Firing

ECN_MAPS: Mapping[str, Mapping[int, tuple[float, float, float]]] = {
    "hpcc": {25: (100e3, 400e3, 0.2), 50: (200e3, 800e3, 0.2), 100: (400e3, 1600e3, 0.2)},
    "simai": {200: (300e3, 1200e3, 0.8), 400: (800e3, 3200e3, 0.2)},
}
"""Simulator -> Gb/s -> (KMIN, KMAX in bytes, PMAX); their KB are thousands.

HPCC's ns-3 (simulation/run.py, mix/config_doc.txt) and SimAI (SimAI.conf).
"""


def ecn_of(name: str, rate: float) -> tuple[float, float, float]:
    """(KMIN, KMAX, PMAX) that ``name`` uses at ``rate`` byte/s. Raises UnknownNameError and InputError."""
    if name not in ECN_MAPS:
        raise UnknownNameError("ECN setting", name, ECN_MAPS)
    speed = rate * 8 / 1e9
    if speed not in ECN_MAPS[name]:
        known = ", ".join(f"{gb} Gb/s" for gb in ECN_MAPS[name])
        raise InputError(f"{name} has no ECN setting for {speed:g} Gb/s: it has {known}; else give KMIN:KMAX")
    return ECN_MAPS[name][int(speed)]


FEEDS: Mapping[str, tuple[str, int]] = {
    "own": ("each congested queue is filled from ingress ports of its own", 0),
    "one": ("one ingress port feeds all of them: the worst case", 1),
}
"""How ingress buffers share egress queues -> (words, whether one ingress buffer holds all queues' bytes)."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A shared buffer with thresholds.

    Attributes
    ----------
    pool
        Bytes that all queues share: the buffer less headroom and what is reserved.
    ecn
        KMIN and KMAX of an egress queue.
    alpha
        Dynamic threshold of an ingress buffer (port and class): alpha x free.
    xoff
        Static threshold instead, bytes.
    senders
        Ingress ports that feed a congested queue, in equal parts.
    feeds
        A name of FEEDS.
    """

    pool: float
    ecn: tuple[float, float]
    alpha: float | None = None
    xoff: float | None = None
    senders: int = 1
    feeds: str = "own"

    def __post_init__(self) -> None:
        POSITIVE.check("shared buffer", self.pool)
        NON_NEGATIVE.check("KMIN", self.ecn[0])
        NON_NEGATIVE.check("KMAX", self.ecn[1])
        if (self.alpha is None) == (self.xoff is None):
            raise InputError("PFC needs one threshold: give alpha (dynamic) or xoff (static)")
        POSITIVE.check("threshold", self.alpha or self.xoff or 0.0)
        if self.senders < 1:
            raise InputError(f"{self.senders} ingress ports feed a queue: expected at least 1")
        if self.feeds not in FEEDS:
            raise UnknownNameError("way of feeding", self.feeds, FEEDS)

    def share(self, queues: int) -> Fraction:
        """Egress queues' bytes that one ingress buffer holds, in queues."""
        return Fraction(queues if FEEDS[self.feeds][1] else 1, self.senders)


def firing(switch: Switch, queues: int) -> Firing:
    """What comes first when ``queues`` egress queues grow alike.

    An ingress buffer holds share x q, and pauses at alpha (pool - queues q): q = alpha pool / (share + alpha queues). With a
    static xoff: q = xoff / share.
    """
    if queues < 1:
        raise InputError(f"{queues} congested queues: expected at least 1")
    share = switch.share(queues)
    if switch.alpha is not None:
        pause = exact(switch.alpha) * exact(switch.pool) / (share + exact(switch.alpha) * queues)
    else:
        pause = exact(switch.xoff or 0.0) / share
    low, high = (exact(level) for level in switch.ecn)
    first = "PFC" if pause <= low else ("ECN" if pause <= high else "ECN at pmax")
    return Firing(queues, float(pause * share), float(pause), first)  # type: ignore[arg-type]


def turning(switch: Switch, level: float) -> int | None:
    """The fewest congested queues with which pauses come at ``level`` bytes in each or before; None: with none that fit.

    alpha pool / (share + alpha m) <= level, solved for m.
    """
    threshold, at = switch.alpha, exact(level)
    if at == 0:
        return None
    all_of_it, senders = FEEDS[switch.feeds][1], switch.senders
    if threshold is not None:
        alpha, reach = exact(threshold), exact(threshold) * exact(switch.pool) / at
        per_queue = alpha + (Fraction(1, senders) if all_of_it else 0)
        fixed = Fraction(0) if all_of_it else Fraction(1, senders)
        return max(1, math.ceil((reach - fixed) / per_queue))
    reach = exact(switch.xoff or 0.0) / at * senders
    if all_of_it:
        return max(1, math.ceil(reach))
    return 1 if reach <= 1 else None


def alpha_for(switch: Switch, queues: int, level: float) -> float | None:
    """The least alpha with which ``queues`` queues reach ``level`` bytes each before a pause; None: the pool is too small."""
    free = exact(switch.pool) - queues * exact(level)
    return float(switch.share(queues) * exact(level) / free) if free > 0 else None


# --- the rules of the DCQCN paper (SIGCOMM 2015), with all ports and priorities at their worst


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """Bytes: the highest static PFC threshold, the ECN threshold under it, and that under a dynamic PFC threshold."""

    pause: float
    naive: float
    dynamic: float


def dcqcn(buffer: float, ports: int, flight: float, beta: float = 8.0, classes: int = 8) -> Dcqcn:
    """Thresholds for which ECN always comes before PFC: ``flight`` is the headroom of a port and class (t_flight).

    t_PFC <= (B - classes n t_flight) / (classes n); t_ECN < t_PFC / n, since one ingress port can feed all n egress queues;
    with t_PFC = beta (B - classes n t_flight - s) / classes: t_ECN < beta (B - classes n t_flight) / (classes n (beta + 1)).
    Raises InputError where headroom takes all.
    """
    if ports < 1 or classes < 1:
        raise InputError(f"{ports} ports and {classes} classes: expected at least 1 of each")
    queues = ports * classes
    left = exact(buffer) - queues * exact(NON_NEGATIVE.check("headroom", flight))
    if left <= 0:
        raise InputError(
            f"headroom for {ports} ports x {classes} classes takes {show(queues * flight, 'size')} of a buffer of "
            f"{show(buffer, 'size')}: fewer lossless classes, shorter cables or a larger buffer"
        )
    times = exact(POSITIVE.check("beta", beta))
    return Dcqcn(
        pause=float(left / queues),
        naive=float(left / queues / ports),
        dynamic=float(times * left / (queues * (times + 1))),
    )


# --- faults of settings


def ordered(ecn: tuple[float, float], pause: float, threshold: float, xon: float | None) -> list[Fault]:
    """Faults of the order KMIN <= KMAX < pause, and xon < threshold.

    ``pause``: bytes in the egress queue when pause is sent; ``threshold``: in the ingress buffer.
    """
    low, high = ecn
    found = []
    if low > high:
        found.append(Fault("KMIN above KMAX", f"KMIN {_b(low)} > KMAX {_b(high)}", "exchange them"))
    if high >= pause:
        found.append(
            Fault(
                "KMAX not below Xoff",
                f"KMAX {_b(high)} >= {_b(pause)}, at which pause is sent: not every packet is marked before",
                f"KMAX below {_b(pause)}, or a higher Xoff (alpha)",
            )
        )
    if xon is not None and xon >= threshold:
        found.append(
            Fault(
                "Xon not below Xoff",
                f"Xon {_b(xon)} >= Xoff {_b(threshold)}: it goes again before it has stopped",
                f"Xon below {_b(threshold)}, by a frame or two",
            )
        )
    return found


def too_high(xoff: float | None, most: float) -> list[Fault]:
    """A static Xoff for which the buffer is full before every port and class has reached it; ``most`` bytes fit."""
    if xoff is None or xoff <= most:
        return []
    found = f"{_b(xoff)} for every port and class, and {_b(most)} fit: all of them together overflow before they pause"
    return [Fault("Xoff too high for all ports", found, f"Xoff at most {_b(most)}, or a dynamic one (alpha)")]


def _b(size: float) -> str:
    return binary(size)
