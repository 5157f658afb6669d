"""COLLECTIVES: every algorithm of every collective, by name.

What belongs here: the table. The messages are in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import UnknownNameError
from hopline.schedule.collectives import rings
from hopline.schedule.operations import Schedule
from hopline.schedule.shape import Shape


@dataclass(frozen=True, slots=True)
class Collective:
    """One algorithm: ``build`` makes its schedule.

    ``uses``: the fields of Shape beside ranks and size that it reads. ``exact``: its closed form is the simulated time on a
    uniform network; else lower and upper bounds are given.
    """

    benchmark: str
    algorithm: str
    build: Callable[[Shape], Schedule]
    uses: tuple[str, ...] = ()
    exact: bool = True
    about: str = ""

    @property
    def name(self) -> str:
        """Its key in COLLECTIVES."""
        return f"{self.benchmark}-{self.algorithm}"


def _table(*entries: Collective) -> dict[str, Collective]:
    return {entry.name: entry for entry in entries}


COLLECTIVES: dict[str, Collective] = _table(
    Collective("all_reduce", "ring", rings.all_reduce, about="pieces round a ring, added up, then handed round"),
    Collective("reduce_scatter", "ring", rings.reduce_scatter, about="pieces round a ring, added up"),
    Collective("all_gather", "ring", rings.all_gather, about="pieces handed round a ring"),
)


def find(name: str) -> Collective:
    """The entry of ``name``. Raises UnknownNameError."""
    if name not in COLLECTIVES:
        raise UnknownNameError("schedule", name, COLLECTIVES)
    return COLLECTIVES[name]
