"""Blame: what the time of a critical path is due to.

What belongs here: sums of a path's stretches under names, and what they bound. How they are found is ``study``.
"""

from __future__ import annotations

from dataclasses import dataclass

BETWEEN = "between operators"
"""The host runs the program, and no operator or call shows."""


@dataclass(frozen=True, slots=True)
class Item:
    """So much of the path under one name, in so many stretches; nanoseconds."""

    name: str
    time: int
    count: int


@dataclass(frozen=True, slots=True)
class Met:
    """So much of the path in one collective.

    Attributes
    ----------
    op, group, number
        As ``records.meeting`` has them; "" and None where the collective met no other trace.
    trace, row
        Where it stands on the path.
    part
        ``transfer`` or ``communication``.
    time
        Nanoseconds.
    """

    op: str
    group: str
    number: int | None
    trace: int
    row: int
    part: str
    time: int


@dataclass(frozen=True, slots=True)
class Blame:
    """The path's time by part, by rank, by kernel, by collective, and of the host by what it ran; each from the most.

    Attributes
    ----------
    time
        Of the whole path, nanoseconds.
    parts
        By words of ``records.critical.PARTS``: together the whole path.
    ranks
        By trace, as people speak of it: together the whole path.
    kernels
        Of ``compute`` and ``copy``, by short name.
    collectives
        Of ``transfer`` and ``communication``.
    operators
        Of ``host``: by the outermost operator or call that ran, and BETWEEN.
    """

    time: int
    parts: tuple[Item, ...]
    ranks: tuple[Item, ...]
    kernels: tuple[Item, ...]
    collectives: tuple[Met, ...]
    operators: tuple[Item, ...]

    def part(self, name: str) -> int:
        """Nanoseconds of one part."""
        return next((item.time for item in self.parts if item.name == name), 0)

    @property
    def communication(self) -> int:
        """Nanoseconds of the path in collectives: what of communication nothing hides."""
        return self.part("transfer") + self.part("communication")

    @property
    def least(self) -> int:
        """The span lasts no less nanoseconds than these if all communication costs nothing: the rest is still to be done.

        Other paths may be longer then, so it is a bound and no forecast.
        """
        return self.time - self.communication

    @property
    def ceiling(self) -> float:
        """How many times faster it gets at most if all communication costs nothing; infinite if there is nothing else."""
        return self.time / self.least if self.least else float("inf")
