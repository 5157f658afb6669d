"""Text that is JSON, or why it is not.

What belongs here: decoding events and what stands around them, telling text that is not finished from text that goes on and
text that is broken, and counting brackets where guesses do not help.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from msgspec import DecodeError
from msgspec.json import decode

from hopline.formats.kineto.events import Event, decoded
from hopline.formats.kineto.mending import mended
from hopline.formats.kineto.quotes import inside_strings

BORDER = re.compile(rb"\}\s*,\s*(?=\{)")
"""Between two events, and elsewhere too."""
LIKELY = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|args)"\s*:)')
"""Between two events, where the next begins as most do."""
_BYTE = re.compile(r"\(byte (\d+)\)")
_TURNS = np.zeros(256, np.int8)
_TURNS[list(b"{[")], _TURNS[list(b"}]")] = 1, -1


class BrokenError(Exception):
    """Text that is not JSON; ``at`` is the place in it, None where that is unknown."""

    def __init__(self, why: str, at: int | None) -> None:
        super().__init__(why)
        self.at = at


class UnfinishedError(BrokenError):
    """Text that is JSON so far."""


class OverError(BrokenError):
    """Text that goes on after the JSON has ended, at ``at``."""


def events(text: bytes) -> list[Event]:
    """The events of a JSON array. Raises BrokenError or one of its kinds."""
    with _explained(len(text)):
        return decoded(text)


def around(text: bytes, counts: dict[str, int]) -> dict[str, Any]:
    """A JSON object, mended where that helps. Raises BrokenError or one of its kinds."""
    try:
        with _explained(len(text) + 1):
            return dict(decode(text, type=dict[str, Any]))
    except (OverError, UnfinishedError):
        raise
    except BrokenError:
        with _explained(len(text) + 1):
            return dict(decode(mended(text, counts), type=dict[str, Any]))


@contextmanager
def _explained(size: int) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise BrokenError("its brackets are nested too deep", None) from None
    except (DecodeError, UnicodeDecodeError) as error:
        why = str(error)
        place = _BYTE.search(why)
        at = int(place[1]) if place else None
        if "trailing characters" in why:
            raise OverError(why, (at or 1) - 1) from None
        if "truncated" in why or (at is not None and at >= size - 1):
            raise UnfinishedError(why, at) from None
        raise BrokenError(why.removeprefix("JSON is malformed: ").partition(" (byte")[0], at) from None


def last_border(text: bytes) -> tuple[int, int] | None:
    """Where the last whole event ends and the next begins, found by counting brackets; None where there is none."""
    turns = _TURNS[np.frombuffer(text, np.uint8)]
    turns[inside_strings(text)] = 0
    places = np.flatnonzero(turns)
    depth = np.cumsum(turns[places], dtype=np.int32)
    ends = (depth == 0) & (turns[places] < 0) & (np.minimum.accumulate(depth) == 0)
    for place in places[ends][::-1].tolist():
        if border := BORDER.match(text, place):
            return place + 1, border.end()
    return None
