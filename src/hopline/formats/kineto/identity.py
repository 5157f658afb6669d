"""Who a trace is from: rank and world.

What belongs here: reading them from what the file says of itself, and from its name. Nothing is guessed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hopline.formats.kineto.head import MOST_RANKS, info_of, number_in

_NAMES = (
    re.compile(r"(?:^|[^a-z])rank[-_.=]?(\d{1,9})(?!\d)", re.IGNORECASE),
    re.compile(r"(?:^|[^a-z])worker[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE),
    re.compile(r"(?:^|[^a-z])gpu[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE),
)


@dataclass(slots=True)
class Identity:
    """Rank and number of ranks, None where unknown; ``told`` where they come from, if not from the file."""

    rank: int | None
    world: int | None
    told: list[str] = field(default_factory=list)


def identity(path: str, head: Mapping[str, Any]) -> Identity:
    """Who the trace in ``path`` is from; what the file says of itself goes first."""
    told: list[str] = []
    info = info_of(head, told)
    found = Identity(number_in(info, "rank", 0, told), number_in(info, "world_size", 1, told), told)
    named = rank_in(path)
    if named is None:
        if found.rank is None:
            found.told.append("neither the file nor its name says the rank")
    elif found.rank is None:
        found.rank = named
        found.told.append(f"rank {named} is from the name of the file: it says none itself")
    elif found.rank != named:
        found.told.append(f"the name of the file says rank {named}, the file itself {found.rank}: the latter is taken")
    if found.rank is not None and found.world is not None and found.rank >= found.world:
        found.told.append(
            f"the file says rank {found.rank} of {found.world}: expected a rank below the number of ranks"
        )
    return found


def rank_in(path: str) -> int | None:
    """The rank that the name of a file says, or None."""
    name = os.path.basename(path)
    for pattern in _NAMES:
        ranks = {int(text) for text in pattern.findall(name)}
        if len(ranks) == 1:
            rank = ranks.pop()
            return rank if rank < MOST_RANKS else None
    return None
