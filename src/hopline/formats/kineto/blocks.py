"""A trace file cut into blocks of whole events, in bounded memory.

What belongs here: finding ``traceEvents`` among the other keys, borders between events, and the end. A border is a guess
(``}``, a comma, ``{``) that decoding proves: ``[`` + text + ``]`` is JSON only where the text is whole events. So no bracket
is counted and the text is decoded once. Not here: what packs the bytes (``container``), what is no JSON (``proofs``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from hopline.errors import FormatError
from hopline.formats.kineto.events import Event
from hopline.formats.kineto.mending import mended
from hopline.formats.kineto.proofs import BORDER, LIKELY, BrokenError, OverError, UnfinishedError, around, last_border
from hopline.formats.kineto.proofs import events as parsed
from hopline.formats.kineto.strangers import StrangerError, what_it_is
from hopline.formats.lines import excerpt
from hopline.formats.packing import Source

BLOCK = 1 << 19
"""Bytes decoded at a time: what fits the caches is decoded faster."""
LONGEST = 1 << 26
"""Bytes of all that stands before the events, or after them, or of one event, at most."""
_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_TRIES = 3
"""Guesses at a border, from the end, before brackets are counted after all; and at which ``traceEvents`` is the one."""
_BLANK = b" \t\r\n"
_OPENING = b'{"":0'
"""Stands for all that came before, where what follows the events is decoded."""
Found = tuple[bytes, list[Event], bool]
"""Text, the events in it, and whether they were the last."""


@dataclass(slots=True)
class Document:
    """The text of one trace, read once by ``blocks``; what stands around the events is in ``head`` when that is done."""

    source: Source
    name: str
    head: dict[str, Any] = field(default_factory=dict)
    mends: dict[str, int] = field(default_factory=dict)
    """Defect -> how many were mended."""
    events: int = 0
    told: list[str] = field(default_factory=list)
    _rest: bytes = b""
    _at: int = 0
    """Bytes of the text before ``_rest``."""
    _ended: bool = False

    def blocks(self) -> Iterator[tuple[bytes, list[Event]]]:
        """Text of a JSON array and its events, block by block. Raises FormatError."""
        bare = self._open()
        closed = False
        while not closed:
            self._fill(BLOCK)
            text, events, closed = self._next(bare)
            self.events += len(events)
            if events:
                yield text, events
        self._close(bare)

    # --- around the events ----------------------------------------------------------------------------------------

    def _open(self) -> bool:
        """Move to the first event; whether the file is a list of events without anything around it."""
        size = BLOCK
        self._fill(size)
        self._rest = self._rest.removeprefix(b"\xef\xbb\xbf")
        start = self._rest.lstrip(_BLANK)
        if start[:1] not in (b"{", b"["):
            raise StrangerError(f"{self.name} {what_it_is(start)}: expected a trace in JSON")
        if start.startswith(b"["):
            self._take(len(self._rest) - len(start) + 1)
            return True
        while not self._found_key():
            if self._ended or size >= LONGEST:
                raise StrangerError(f"{self.name} {what_it_is(start, self._ended)}: expected a trace with traceEvents")
            size *= 4
            self._fill(size)
            start = self._rest
        return False

    def _found_key(self) -> bool:
        for match in islice(_KEY.finditer(self._rest), _TRIES):
            text = self._rest[: match.start()]
            try:
                self.head = around(text + b'"":0}', self.mends)
            except BrokenError:
                continue
            self.head.pop("", None)
            self._take(match.end())
            return True
        return False

    def _close(self, bare: bool) -> None:
        self._fill(LONGEST)
        rest = self._rest.rstrip(b"\0" + _BLANK)
        if b"\0" in self._rest[len(rest) :]:
            self.told.append("the file ends in NUL bytes (an interrupted copy?): left out")
        if bare:
            if rest:
                raise self._twice(0)
            return
        try:
            more = around(_OPENING + rest, self.mends)
        except OverError as error:
            raise self._twice(_after(error)) from None
        except UnfinishedError:
            raise self._cut_short("in what follows them") from None
        except BrokenError as error:
            raise self._refusal(str(error), _after(error)) from None
        if "traceEvents" in more:
            raise FormatError(f"{self.name} has traceEvents twice: expected one list of events; split the file")
        more.pop("", None)
        self.head |= more

    # --- events ---------------------------------------------------------------------------------------------------

    def _next(self, bare: bool) -> Found:
        """The next events, mended where that helps."""
        try:
            return self._block(bare)
        except BrokenError:
            self._mend()
        try:
            return self._block(bare)
        except BrokenError as error:
            raise self._refusal(str(error), (error.at or 1) - 1) from None

    def _mend(self) -> None:
        ends = [len(self._rest)] if self._ended else [match.end() for match in BORDER.finditer(self._rest)]
        end = ends[-1] if ends else 0
        self._rest = mended(self._rest[:end], self.mends) + self._rest[end:]

    def _block(self, bare: bool) -> Found:
        """As many whole events as there are so far."""
        for end, after in self._borders():
            text = b"[" + self._rest[:end] + b"]"
            try:
                events = parsed(text)
            except UnfinishedError:
                continue
            except OverError as error:
                return self._up_to(error.at or 0)
            self._take(after)
            return text, events, False
        if self._ended:
            return self._last(bare)
        if len(self._rest) > LONGEST:
            raise self._refusal(f"no event ends within {LONGEST} bytes", 0)
        self._fill(2 * len(self._rest))
        return b"", [], False

    def _last(self, bare: bool) -> Found:
        """What is left at the end of the file."""
        try:
            events = parsed(b"[" + self._rest)
        except OverError as error:
            return self._up_to(error.at or 0)
        except UnfinishedError:
            return self._unclosed(bare)
        text = b"[" + self._rest
        self._take(len(self._rest))
        return text, events, True

    def _up_to(self, over: int) -> Found:
        """The events before the list of them ends, ``over`` bytes after its bracket."""
        text = (b"[" + self._rest[: over - 1]).rstrip(_BLANK)
        events = parsed(text)
        self._take(over - 1)
        return text, events, True

    def _unclosed(self, bare: bool) -> Found:
        """The events of a list without an end, which is legal where nothing is around it and all are whole."""
        text = b"[" + self._rest.rstrip(b"\0" + _BLANK).removesuffix(b",") + b"]"
        try:
            events = parsed(text) if bare else None
        except BrokenError:
            events = None
        if events is None:
            end, _ = last_border(self._rest.rstrip(_BLANK + b",") + b",{") or (0, 0)
            self.events += len(parsed(b"[" + self._rest[:end] + b"]"))
            raise self._cut_short("inside of one")
        self._take(len(self._rest))
        self.told.append("the list of events is not closed; its last event is whole")
        return text, events, True

    def _borders(self) -> Iterator[tuple[int, int]]:
        """Where an event may end and the next begin, from the last on; then where one certainly does."""
        found = self._guesses(LIKELY) or self._guesses(BORDER)
        yield from found
        if found and not self._ended and (certain := last_border(self._rest)):
            yield certain

    def _guesses(self, pattern: re.Pattern[bytes]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        width = 1 << 12
        while not found and width < 16 * len(self._rest):
            start = max(0, len(self._rest) - width)
            found = [(match.start() + 1, match.end()) for match in pattern.finditer(self._rest, start)]
            width *= 16
        return found[: -_TRIES - 1 : -1]

    # --- bytes ----------------------------------------------------------------------------------------------------

    def _fill(self, size: int) -> None:
        """Have ``size`` bytes, or all there are."""
        parts, have = [self._rest], len(self._rest)
        while have < size and not self._ended:
            data = self.source.read(size - have)
            parts.append(data)
            have += len(data)
            self._ended = not data
        if len(parts) > 1:
            self._rest = b"".join(parts)

    def _take(self, size: int) -> None:
        self._rest = self._rest[size:]
        self._at += size

    # --- refusals -------------------------------------------------------------------------------------------------

    def _refusal(self, why: str, at: int) -> FormatError:
        text = excerpt(self._rest[max(0, at - 20) : at + 40])
        hint = "; it holds NUL bytes (an interrupted or sparse copy?)" if b"\0" in self._rest[at : at + 4] else ""
        return FormatError(
            f"{self.name} is no JSON after {self.events} events, near byte {self._at + at} ({why}): expected a trace; "
            f"the text there is {text!r}{hint}"
        )

    def _cut_short(self, where: str) -> FormatError:
        return FormatError(
            f"{self.name} is cut after {self.events} whole events, at byte {self._at + len(self._rest)}, {where}: "
            "expected all of the trace; copy it again, or wait until the profiler has written it"
        )

    def _twice(self, at: int) -> FormatError:
        text = excerpt(self._rest[at : at + 40])
        return FormatError(
            f"{self.name} goes on after its JSON has ended, at byte {self._at + at} ({text!r}): expected one trace in a file; "
            "split it"
        )


def _after(error: BrokenError) -> int:
    """The place of an error in what follows the events."""
    return max(0, (error.at or 0) - len(_OPENING))
