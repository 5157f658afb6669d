"""Operations, ranges and numbers in words.

What belongs here: what every fault's line is made of, and nothing that decides.
"""

from __future__ import annotations

import numpy as np

from hopline.schedule.operations import KINDS, RECV, SEND, Bytes, Schedule

_NAMED = 3


def operation(schedule: Schedule, row: int) -> str:
    """``rank 0 send to 1 (row 4)``."""
    columns = schedule.columns
    kind = int(columns.kind[row])
    name = KINDS[kind] if kind < len(KINDS) else f"operation of kind {kind}"
    peer = {SEND: f" to {columns.peer[row]}", RECV: f" from {columns.peer[row]}"}.get(kind, "")
    return f"rank {columns.rank[row]} {name}{peer} (row {row})"


def span(schedule: Schedule, buffer: int, start: int, size: int) -> str:
    """``bytes [0, 64) of data``."""
    return f"bytes [{start}, {start + size}) of {schedule.buffers[buffer].name}"


def more(count: int, what: str = "") -> str:
    """`` (and 62 more)``, or nothing."""
    return f" (and {count} more{what and ' ' + what})" if count > 0 else ""


def counted(count: int, what: str) -> str:
    """``1 message``, ``2 messages``."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def members(words: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> list[int]:
    """Numbers of the bits that are set in a mask of 64-bit words, shape (words,)."""
    bits: Bytes = np.unpackbits(words.view(np.uint8), bitorder="little")
    return [int(bit) for bit in np.flatnonzero(bits)]


def ranks(numbers: list[int]) -> str:
    """``rank 1``, ``ranks 1, 2 and 61 more``."""
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    shown = ", ".join(map(str, numbers[:_NAMED]))
    return f"ranks {shown}" + (f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else "")
