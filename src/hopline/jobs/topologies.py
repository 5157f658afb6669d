"""Topology files that other tools write: what they say, and the machine that can be made of them.

What belongs here: from a file to wiring and on to a machine, and where ranks sit on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hopline.errors import FormatError, QuantityError
from hopline.jobs.loading import resolve
from hopline.machine.topology import Machine
from hopline.machine.wiring import Wiring
from hopline.quantity import bandwidth as parse_bandwidth


@dataclass(frozen=True, slots=True)
class Placed:
    """Where ranks sit: rank r is on ``places[r]``; ``held`` is how many each switch next to them holds."""

    places: tuple[str, ...]
    held: Mapping[str, int]


def is_topology(path: str) -> bool:
    """Whether a file is one of another tool's topologies; False where it is none, or cannot be read."""
    try:
        resolve("hopline.formats.topologies.table:recognise")(path)
    except FormatError:
        return False
    return True


def understood(path: str) -> tuple[Wiring, str]:
    """What a file says, and of which kind it is in words. Raises FormatError where it is of no known kind, or malformed."""
    kind = resolve("hopline.formats.topologies.table:recognise")(path)
    found: Wiring = resolve(kind.reader)(path)
    return found, kind.title


def rates(given: tuple[str, ...]) -> dict[str, float]:
    """``LABEL=BANDWIDTH`` texts as byte/s by label. Raises QuantityError."""
    found = {}
    for text in given:
        label, sign, value = text.rpartition("=")
        if not sign or not label.strip():
            raise QuantityError(f"--rate {text!r}: expected LABEL=BANDWIDTH, like NV=25GB/s")
        found[label.strip()] = parse_bandwidth(value)
    return found


def machine(path: str) -> Machine:
    """The machine of a file that says all rates. Raises what ``understood`` and ``Wiring.machine`` do."""
    return understood(path)[0].machine()


def placed(found: Wiring, nodes: str, per_node: int, order: str) -> Placed:
    """Ranks on the nodes of a list like ``n[0-3,7]``; ``order``: block or cyclic.

    Raises FormatError for a malformed list and for nodes that the file does not have.
    """
    places: tuple[str, ...] = resolve("hopline.formats.topologies.slurm:placement")(found, nodes, per_node, order)
    held: dict[str, int] = resolve("hopline.formats.topologies.slurm:held")(found, places)
    return Placed(places, held)
