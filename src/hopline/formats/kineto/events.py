"""Events as they stand in the file, decoded into the few fields that are used.

What belongs here: the fields of an event and of its arguments, and decoding many at once. Not here: where a block of events
begins and ends (``blocks``), what their values mean (``columns``, ``collectives``).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import DecodeError, Raw, Struct, ValidationError, field
from msgspec.json import Decoder, encode

_NOTHING = Raw(b"null")


class Event(Struct, gc=False):
    """One event. Values are whatever the file has; ``args`` stays text until somebody needs it."""

    ph: Any = None
    cat: Any = None
    name: Any = None
    pid: Any = None
    tid: Any = None
    ts: Any = None
    dur: Any = None
    args: Raw = _NOTHING


class Arguments(Struct, gc=False):
    """What an event says beside its times."""

    device: Any = None
    stream: Any = None
    correlation: Any = None
    waits_on: Any = field(name="wait_on_stream", default=None)
    recorded_by: Any = field(name="wait_on_cuda_event_record_corr_id", default=None)
    collective: Any = field(name="Collective name", default=None)
    sent: Any = field(name="In msg nelems", default=None)
    received: Any = field(name="Out msg nelems", default=None)
    dtype: Any = None
    group: Any = field(name="Process Group Name", default=None)
    ranks: Any = field(name="Process Group Ranks", default=None)
    count: Any = field(name="Group size", default=None)
    sequence: Any = field(name="Seq", default=None)
    source: Any = field(name="Src Rank", default=None)
    target: Any = field(name="Dst Rank", default=None)
    shapes: Any = field(name="Input Dims", default=None)
    types: Any = field(name="Input type", default=None)


class _Call(Struct, gc=False):
    correlation: Any = None


class _When(Struct, gc=False):
    ts: Decimal | None = None


WITHOUT = Arguments()
"""Of an event that says nothing."""
_EVENTS = Decoder(list[Event])
_ANYTHING = Decoder(list[Any])
_TIMES = Decoder(list[_When])
_ARGUMENTS = Decoder(list[Arguments | None])
_ONE = Decoder(Arguments)
_CALLS = Decoder(list[_Call])
_FIELDS = Event.__struct_fields__[:-1]


def decoded(text: bytes) -> list[Event]:
    """The events of a JSON array; what is in it and is no object is an event that says nothing.

    Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError for what is not JSON.
    """
    try:
        return _EVENTS.decode(text)
    except ValidationError:
        return [_loose(item) for item in _ANYTHING.decode(text)]


def _loose(item: object) -> Event:
    if not isinstance(item, dict):
        return Event()
    event = Event(args=Raw(encode(item.get("args"))))
    for name in _FIELDS:
        setattr(event, name, item.get(name))
    return event


def exact_times(text: bytes) -> list[Decimal | None] | None:
    """The times of the events of a JSON array, with all digits that they are written with; None where some are no numbers."""
    try:
        return [event.ts for event in _TIMES.decode(text)]
    except ValidationError:
        return None


def arguments(texts: Sequence[Raw]) -> list[Arguments]:
    """The arguments of events, decoded in one go; WITHOUT for those that have none or something odd."""
    try:
        found = _ARGUMENTS.decode(b"[" + b",".join(texts) + b"]")
    except (DecodeError, UnicodeDecodeError):
        found = [_each(text) for text in texts]
    return [item or WITHOUT for item in found]


def correlations(texts: Sequence[Raw]) -> list[Any]:
    """Only the correlation of each event's arguments; None where there is none."""
    try:
        return [call.correlation for call in _CALLS.decode(b"[" + b",".join(texts) + b"]")]
    except (DecodeError, UnicodeDecodeError):
        return [item.correlation for item in arguments(texts)]


def _each(text: Raw) -> Arguments | None:
    try:
        return _ONE.decode(text)
    except (DecodeError, UnicodeDecodeError):
        return None
