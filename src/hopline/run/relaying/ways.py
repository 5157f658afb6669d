"""The rules by which a relay sends a message on.

What belongs here: the table WAYS, and how a message is cut. What carries a rule out is ``moving``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hopline.errors import InputError, UnknownNameError
from hopline.schedule.pieces import split

Marks = Sequence[int] | None
"""How many bytes must be here before all that are here are sent on, again and again; None: any number."""


def _message(ends: Sequence[int]) -> Marks:
    return ends[-1:]


def _chunks(ends: Sequence[int]) -> Marks:
    return ends


def _anything(_ends: Sequence[int]) -> Marks:
    return None


WAYS: dict[str, Callable[[Sequence[int]], Marks]] = {
    "store-and-forward": _message,
    "pipelined": _chunks,
    "cut-through": _anything,
}
"""Way -> from the ends of the chunks to when bytes are sent on: once all are here, chunk by chunk, or as they come."""


def marks_of(way: str, ends: Sequence[int]) -> Marks:
    """When a relay sends on by the rule of that name. Raises UnknownNameError."""
    if way not in WAYS:
        raise UnknownNameError("way of relaying", way, WAYS)
    return WAYS[way](ends)


def ends_of(size: int, chunks: int) -> list[int]:
    """Where each chunk ends, in bytes: the first ``size % chunks`` chunks are one byte larger. Raises InputError."""
    if not 1 <= chunks <= size:
        raise InputError(f"{size} bytes in {chunks} chunks: expected at least 1 chunk, and a byte in each")
    return [int(end) for end in split(size, chunks)[1:]]
