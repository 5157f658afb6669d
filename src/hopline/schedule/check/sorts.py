"""Faults of one sort: the first ones, and how many there are.

What belongs here: what is told of many, and nothing that finds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hopline.schedule.check import words
from hopline.schedule.faults import Fault

MOST = 20
"""Faults of a sort that are told one by one."""


@dataclass(frozen=True, slots=True)
class Sort:
    """Faults of one kind in the order in which they are told, MOST at most; ``count``: of all. At least one.

    ``one`` and ``many`` say what the others are: ``(and 1 more range)``, ``(and 2 more ranges)``.
    """

    faults: tuple[Fault, ...]
    count: int
    one: str = ""
    many: str = ""

    @property
    def told(self) -> Fault:
        """The first, and how many more there are."""
        head, rest = self.faults[0], self.count - 1
        return replace(head, text=head.text + words.more(rest, self.one if rest == 1 else self.many))


def sort(faults: Iterable[Fault], count: int, one: str = "", many: str = "") -> list[Sort]:
    """As a list of one; an empty one for no faults."""
    found = tuple(faults)
    return [Sort(found, count, one, many)] if found else []
