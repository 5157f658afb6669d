"""Who a trace is from: rank and world.

What belongs here: reading them from what the file says of itself, and from its name. Nothing is guessed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NAMES = (
    re.compile(r"(?:^|[^a-z])rank[-_.=]?(\d{1,9})(?!\d)", re.IGNORECASE),
    re.compile(r"(?:^|[^a-z])worker[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE),
    re.compile(r"(?:^|[^a-z])gpu[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE),
)
_MOST = 1 << 24
"""Ranks that a job can have."""


@dataclass(slots=True)
class Identity:
    """Rank and number of ranks, None where unknown; ``told`` where they come from, if not from the file."""

    rank: int | None
    world: int | None
    told: list[str] = field(default_factory=list)


def identity(path: str, head: Mapping[str, Any]) -> Identity:
    """Who the trace in ``path`` is from; what the file says of itself goes first."""
    info = head.get("distributedInfo")
    info = info if isinstance(info, dict) else {}
    found = Identity(_count(info.get("rank")), _count(info.get("world_size")) or None)
    named = rank_in(path)
    if named is None:
        if found.rank is None:
            found.told.append("neither the file nor its name says the rank")
    elif found.rank is None:
        found.rank = named
        found.told.append(f"rank {named} is from the name of the file: it says nothing itself")
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
            return _count(ranks.pop())
    return None


def _count(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    return value if type(value) is int and 0 <= value < _MOST else None
