"""What a file says of the number of ranks where it does not say one number.

What belongs here: its statements in words, and whether a number that the user states agrees with one of them. How statements
become one number is ``formats``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hopline.errors import InputError
from hopline.records.table import Table


@dataclass(frozen=True, slots=True)
class _Said:
    """Fewest and most ranks by one statement of a file."""

    least: float
    most: float
    by: str

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.least:g} by {self.by}"
        return f"{self.least:g} {'or more' if math.isinf(self.most) else f'to {self.most:g}'} by {self.by}"


def why_unknown(table: Table) -> str:
    """Why a table whose number of ranks is not known does not tell it."""
    said = _statements(table)
    if not said:
        return "the number of ranks is not in the file (-n)"
    return f"the number of ranks is open: the file says {_joined(said)} (-n)"


def refuse_other_ranks(ranks: int | None, table: Table) -> None:
    """Raise InputError where ``ranks`` agrees with nothing that a table without one number of ranks says."""
    said = _statements(table)
    if ranks is None or table.ranks is not None or not said:
        return
    if not any(one.least <= ranks <= one.most for one in said):
        raise InputError(f"-n {ranks}: the log says {_joined(said)}; expected a number that agrees with it")


def _joined(said: list[_Said]) -> str:
    return ", ".join(map(str, said))


def _statements(table: Table) -> list[_Said]:
    """By the ranks that are listed (some may be lost, so that there may be more), and by busbw/algbw."""
    highest, span, found = table.facts.get("rank_highest"), table.facts.get("ranks_from_factor"), []
    if isinstance(highest, int):
        whole = table.facts.get("ranks_listed") == highest
        found.append(_Said(highest, highest if whole else math.inf, f"its list, which has rank {highest - 1}"))
    if isinstance(span, tuple):
        least, most = (float(one) for one in span)
        found.append(_Said(least, most, "busbw/algbw"))
    return found
