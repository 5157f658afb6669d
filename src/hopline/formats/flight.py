"""Dumps of PyTorch's flight recorder: the last communication calls of one rank, as pickle or JSON.

What belongs here: the layout. What dumps of several ranks mean together is ``study.hangs``. Layout: PyTorch,
``torch/csrc/distributed/c10d/FlightRecorder.hpp`` and ``FlightRecorderDetail.hpp`` (versions 2.x: groups as pairs, separate
numbers for collectives and for sends and receives; 1.x: one ``seq_id``; before: a bare list).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise
from pathlib import PurePath
from typing import Any

import msgspec

from hopline.errors import FormatError
from hopline.formats.inert_pickle import read as read_pickle
from hopline.formats.kineto.identity import rank_in
from hopline.formats.kineto.names import operation
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import usable, whole
from hopline.formats.source import STDIN, shown
from hopline.records.hang import STATES, Call, Dump, Group, Shape

MOST = 1 << 27
"""Bytes of a dump."""
MOST_TENSORS, MOST_DIMENSIONS = 1 << 16, 64
"""Of a call, and of a tensor."""
MOST_GROUPS, MOST_FRAMES, MOST_TEXT, MOST_NAME = 1 << 14, 256, 1 << 12, 80
"""Groups of a dump, frames of a call, and letters of a path and of a name that are looked at."""
_NAME = re.compile(r"(?:\w+:)?(?P<op>[\w.-]{1,80})(?: (?P<a>\d{1,9})(?P<way>->|<-)(?P<b>\d{1,9}))?")
_RANK = re.compile(r"(\d{1,9})(?:\.\w{1,8})*$")
_LIBRARY = re.compile(r"[/\\](?:torch|c10d|site-packages[/\\]torch)[/\\]|^torch[/\\]|_bootstrap|^<")
_Shared = dict[int, Any]
"""What was made of a list, by its id: in a pickle, many calls can hold the same one."""
_SECONDS = 1e-3


def read(path: str) -> Dump:
    """The dump at ``path``. Raises FormatError in one line, and runs nothing that a pickle asks for."""
    usable(path, "flight recorder dump")
    data = whole(path, MOST)
    where = shown(path)
    document = _json(data, where) if is_json(data) else read_pickle(data, where)
    if isinstance(document, list):
        document = {"entries": document, "version": "1.0 (a bare list)"}
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        keys = ", ".join(map(str, document)) if isinstance(document, dict) else type(document).__name__
        raise FormatError(f"{where} has no list of entries ({excerpt(keys.encode())}): expected a flight recorder dump")
    return _dump(path, document)


def is_json(data: bytes) -> bool:
    """Whether a dump is JSON rather than a pickle."""
    return data.lstrip()[:1] in (b"{", b"[")


def rank_of(path: str) -> int | None:
    """The rank that a dump's name says (``nccl_trace_rank_3``), else the number that ends it: the dump itself has none."""
    if path == STDIN:
        return None
    named = rank_in(path)
    found = _RANK.search(PurePath(path).name)
    return named if named is not None else int(found[1]) if found else None


def _json(data: bytes, where: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{where} is no whole JSON: {excerpt(str(error).encode())}") from None


def _dump(path: str, document: dict[Any, Any]) -> Dump:
    where = shown(path)
    shared: _Shared = {}
    calls = [_call(entry, number, where, shared) for number, entry in enumerate(document["entries"])]
    ordered = sorted(calls, key=lambda call: call.record)
    records = [call.record for call in ordered]
    gaps = any(b - a > 1 for a, b in pairwise(records))
    return Dump(
        path, rank_of(path), _name(document.get("version", "not told")), tuple(ordered),
        _groups(document.get("pg_config"), ordered), _reached(document, calls), bool(records) and records[0] == 0, gaps,
        _oddities(where, records),
    )  # fmt: skip


def _oddities(where: str, records: list[int]) -> tuple[str, ...]:
    if not records:
        return (f"{where} has no calls: the recorder was off, or nothing was called",)
    twice = [record for record, times in Counter(records).items() if times > 1]
    return (f"{where} has record {twice[0]} twice",) if twice else ()


# --- one call -----------------------------------------------------------------------------------------------------


def _call(entry: Any, number: int, where: str, shared: _Shared) -> Call:
    if not isinstance(entry, dict):
        raise FormatError(f"{where}: entry {number} is a {type(entry).__name__}: expected a call with its fields")
    place = f"{where}: entry {number}"
    found = _NAME.fullmatch(_text(entry, "profiling_name", place))
    if found is None:
        raise FormatError(
            f"{place} is called {_plain(entry['profiling_name'])}: expected a name like 'nccl:all_reduce'"
        )
    state = _text(entry, "state", place)
    if state not in STATES:
        raise FormatError(f"{place} has state {_plain(state)}: expected one of {', '.join(STATES)}")
    op = _op(found["op"])
    point = bool(entry.get("is_p2p", op in ("send", "recv")))
    source, target = (found["a"], found["b"]) if found["way"] != "<-" else (found["b"], found["a"])
    scale = 1 if "time_created_ns" in entry else 1000
    return Call(
        record=_whole(entry, ("record_id", "id"), place), group=_group(entry), sequence=_sequence(entry, point, place),
        op=op, state=state, point=point, source=_number(source), target=_number(target),
        inputs=_sizes(entry, "input_sizes", place, shared), outputs=_sizes(entry, "output_sizes", place, shared),
        dtypes=(_words(entry, "input_dtypes", shared), _words(entry, "output_dtypes", shared)),
        created=_time(entry, ("time_created_ns", "time_created_us"), scale),
        started=_time(entry, ("time_discovered_started_ns", "time_discovered_started_us"), scale),
        completed=_time(entry, ("time_discovered_completed_ns", "time_discovered_completed_us"), scale),
        timeout=_timeout(entry), where=_where(entry.get("frames"), shared),
    )  # fmt: skip


def _op(word: str) -> str:
    """Its usual word, or as it is where that is unknown; a barrier is one, though an all-reduce makes it."""
    return "barrier" if word.endswith("barrier") else operation(word) or word


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _text(entry: Mapping[Any, Any], key: str, place: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise FormatError(f"{place} has {key}={_plain(value)}: expected text; is it a flight recorder dump?")
    return value


def _whole(entry: Mapping[Any, Any], keys: tuple[str, ...], place: str) -> int:
    value = next((entry[key] for key in keys if key in entry), None)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise FormatError(f"{place} has {keys[0]}={_plain(value)}: expected a whole number from 0 on")
    return value


def _sequence(entry: Mapping[Any, Any], point: bool, place: str) -> int:
    return _whole(entry, ("p2p_seq_id" if point else "collective_seq_id", "seq_id"), place)


def _group(entry: Mapping[Any, Any]) -> str:
    """Name of the group: first of a pair, or alone, or the number of the group."""
    value = entry.get("process_group", entry.get("pg_name"))
    if isinstance(value, tuple | list) and value:
        value = value[0]
    return _name(value) if isinstance(value, str) else _name(entry.get("pg_id", ""))


def _sizes(entry: Mapping[Any, Any], key: str, place: str, shared: _Shared) -> tuple[Shape, ...]:
    """Shapes of tensors; of one list of a pickle that many calls share, once."""
    value = entry.get(key, ())
    if not isinstance(value, list | tuple) or len(value) > MOST_TENSORS:
        raise FormatError(f"{place} has {key} {_plain(value)}: expected a list of shapes")
    if id(value) not in shared:
        shared[id(value)] = tuple(_shape(one, key, place) for one in value)
    found: tuple[Shape, ...] = shared[id(value)]
    return found


def _shape(value: Any, key: str, place: str) -> Shape:
    whole = isinstance(value, list | tuple) and len(value) <= MOST_DIMENSIONS
    if not whole or not all(isinstance(one, int) and 0 <= one < 1 << 63 for one in value):
        raise FormatError(f"{place} has a shape {_plain(value)} in {key}: expected whole numbers")
    return tuple(value)


def _words(entry: Mapping[Any, Any], key: str, shared: _Shared) -> tuple[str, ...]:
    value = entry.get(key, ())
    if not isinstance(value, list | tuple) or len(value) > MOST_TENSORS:
        return ()
    if id(value) not in shared:
        shared[id(value)] = tuple(_name(one) or "?" for one in value)
    found: tuple[str, ...] = shared[id(value)]
    return found


def _time(entry: Mapping[Any, Any], keys: tuple[str, ...], scale: int) -> int | None:
    value = next((entry[key] for key in keys if key in entry), None)
    return value * scale if isinstance(value, int) and 0 < value < 1 << 63 else None


def _timeout(entry: Mapping[Any, Any]) -> float | None:
    value = entry.get("timeout_ms")
    return value * _SECONDS if isinstance(value, int | float) and 0 < value < 1e15 else None


def _where(frames: Any, shared: _Shared) -> str:
    """The innermost frame that is the user's: ``train.py:120 step``; frames come innermost first."""
    if not isinstance(frames, list):
        return ""
    if id(frames) not in shared:
        shared[id(frames)] = next(filter(None, map(_frame, frames[:MOST_FRAMES])), "")
    return str(shared[id(frames)])


def _frame(frame: Any) -> str:
    """A frame of the user's program, or "" for those of libraries."""
    file = frame.get("filename") if isinstance(frame, dict) else None
    if not isinstance(file, str) or _LIBRARY.search(file[:MOST_TEXT]):
        return ""
    return f"{_name(PurePath(file[:MOST_TEXT]).name)}:{_name(frame.get('line', ''))} {_name(frame.get('name', ''))}".strip()


def _name(value: Any) -> str:
    """Text or a number as a name that can be printed; "" for anything else, of which a pickle can make what has no end."""
    if not isinstance(value, str | int | float):
        return ""
    text = str(value)[:MOST_NAME]
    return text if text.isprintable() else repr(text)[1:-1]


def _plain(value: Any) -> str:
    """A value for a message: of what holds others its type alone."""
    return (
        excerpt(repr(value).encode(), 60)
        if isinstance(value, str | int | float | None)
        else f"a {type(value).__name__}"
    )


# --- groups -------------------------------------------------------------------------------------------------------


def _groups(config: Any, calls: Iterable[Call]) -> dict[str, Group]:
    """Groups of ``pg_config``, and those that only calls name."""
    found: dict[str, Group] = {}
    if isinstance(config, dict):
        for key, value in islice(config.items(), MOST_GROUPS):
            name, about, ranks = (
                value.get(one, "") if isinstance(value, dict) else "" for one in ("name", "desc", "ranks")
            )
            name = _name(name if isinstance(name, str) and name else key)
            found[name] = Group(name, _name(about), _ranks(ranks))
    for call in calls:
        found.setdefault(call.group, Group(call.group))
    return found


def _ranks(value: Any) -> tuple[int, ...]:
    """``"[0, 1]"``, or a list; () where it is shortened or something else."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.MsgspecError:
            return ()
    whole = isinstance(value, list | tuple) and all(isinstance(one, int) and 0 <= one < 1 << 31 for one in value)
    return tuple(sorted(set(value))) if whole else ()


def _reached(document: Mapping[Any, Any], calls: list[Call]) -> dict[str, int]:
    """Sequence of the last collective that each group has put into a stream.

    ``pg_status`` goes by the process's own numbers of groups, which only entries join with names.
    """
    found = {call.group: call.sequence for call in sorted(calls, key=lambda one: one.sequence) if not call.point}
    status = document.get("pg_status")
    if not isinstance(status, dict):
        return found
    names = {_name(entry.get("pg_id")): call.group for entry, call in zip(document["entries"], calls, strict=True)}
    for key, value in status.items():
        last = value.get("last_enqueued_collective") if isinstance(value, dict) else None
        last = int(last) if isinstance(last, str) and last.isascii() and last.isdigit() and len(last) < 19 else last
        name = names.get(_name(key))
        if name is not None and isinstance(last, int) and last >= 0:
            found[name] = max(last, found.get(name, -1))
    return found
