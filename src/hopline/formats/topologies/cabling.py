"""Cables as a file lists them, one by one, gathered to one entry for each pair of nodes.

What belongs here: what happens where a pair is joined several times. What a cable is, is the reader's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hopline.machine.parts import Duplex
from hopline.machine.wiring import Cable

MOST_NODES = 1 << 20
MOST_CABLES = 1 << 22
"""What one machine can hold here."""


@dataclass(frozen=True, slots=True)
class _Kind:
    label: str
    bandwidth: float | None
    latency: float | None
    duplex: Duplex


@dataclass(slots=True)
class Cabling:
    """Cables so far, by pair of nodes in the order in which pairs came."""

    _found: dict[tuple[str, str], dict[_Kind, int]] = field(default_factory=dict)

    def add(
        self, ends: tuple[str, str], label: str, bandwidth: float | None = None, latency: float | None = None,
        count: int = 1, duplex: Duplex = "full",
    ) -> None:  # fmt: skip
        """``count`` more cables between two nodes; see Cable."""
        kinds = self._found.get(ends)
        if kinds is None:
            kinds = self._found.setdefault(ends[::-1] if ends[::-1] in self._found else ends, {})
        kind = _Kind(label, bandwidth, latency, duplex)
        kinds[kind] = kinds.get(kind, 0) + count

    def cables(self) -> tuple[Cable, ...]:
        """One entry for each pair; unequal cables between two nodes become one that carries what all do together."""
        return tuple(_together(ends, kinds) for ends, kinds in self._found.items())

    def remarks(self) -> tuple[str, ...]:
        """What should be known of pairs that are joined by unequal cables."""
        unequal = [ends for ends, kinds in self._found.items() if len(kinds) > 1]
        if not unequal:
            return ()
        first, many = " - ".join(unequal[0]), len(unequal)
        words = f"{first} has" if many == 1 else f"{many} pairs of nodes (first {first}) have"
        return (f"{words} unequal cables side by side: taken as one of their rates together and the longest latency",)


def _together(ends: tuple[str, str], kinds: dict[_Kind, int]) -> Cable:
    if len(kinds) == 1:
        ((kind, count),) = kinds.items()
        return Cable(ends, kind.label, count, kind.bandwidth, kind.latency, kind.duplex)
    label = " + ".join(f"{count} x {kind.label}" if count > 1 else kind.label for kind, count in kinds.items())
    rates = [kind.bandwidth for kind in kinds]
    known = [rate * count for rate, count in zip(rates, kinds.values(), strict=True) if rate is not None]
    latencies = [kind.latency for kind in kinds if kind.latency is not None]
    half = all(kind.duplex == "half" for kind in kinds)
    return Cable(
        ends, label, 1, sum(known) if len(known) == len(rates) else None, max(latencies, default=None),
        "half" if half else "full",
    )  # fmt: skip
