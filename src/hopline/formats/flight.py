"""Dumps of PyTorch's flight recorder: the last communication calls of one rank, as pickle or JSON.

What belongs here: the layout. What dumps of several ranks mean together is ``study.hangs``. Layout: PyTorch,
``torch/csrc/distributed/c10d/FlightRecorder.hpp`` and ``FlightRecorderDetail.hpp`` (versions 2.x: groups as pairs, separate
numbers for collectives and for sends and receives; 1.x: one ``seq_id``; before: a bare list).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import PurePath
from typing import Any

import msgspec

from hopline.errors import FormatError
from hopline.formats import flight_values as values
from hopline.formats.flight_batches import CLOSES, settled
from hopline.formats.flight_values import MOST_GROUPS, Shared, once
from hopline.formats.inert_pickle import read as read_pickle
from hopline.formats.kineto.identity import rank_in
from hopline.formats.kineto.names import operation
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import usable, whole
from hopline.formats.source import STDIN, shown
from hopline.quantity import counted
from hopline.records.flight import STARTED, STATES, Call, Dump, Group

MOST, MOST_CALLS = 1 << 27, 1 << 18
"""Bytes and calls of a dump. A recorder keeps 2,000 calls unless told; a pickle can hold one call millions of times."""
_NAME = re.compile(r"(?:\w+:)?(?P<op>[\w.-]{1,80})(?: (?P<a>\d{1,9})(?P<way>->|<-)(?P<b>\d{1,9}))?")
_STATUS = "pg_status"
_RANK = re.compile(r"(\d{1,9})(?:\.\w{1,8})*$")


def read(path: str) -> Dump:
    """The dump at ``path``. Raises FormatError in one line, and runs nothing that a pickle asks for."""
    usable(path, "flight recorder dump")
    data = whole(path, MOST)
    where = shown(path)
    document = _json(data, where) if is_json(data) else read_pickle(data, where)
    if isinstance(document, list):
        document = {"entries": document, "version": "1.0 (a bare list)"}
    if isinstance(document, dict) and _STATUS in document:
        document.setdefault("entries", [])  # dump_json leaves out a list without entries
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        keys = ", ".join(map(str, document)) if isinstance(document, dict) else type(document).__name__
        raise FormatError(f"{where} has no list of entries ({excerpt(keys.encode())}): expected a flight recorder dump")
    if len(document["entries"]) > MOST_CALLS:
        raise FormatError(
            f"{where} has {len(document['entries']):,} calls: expected at most {MOST_CALLS:,}, as a recorder keeps"
        )
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
    shared: Shared = {}
    calls: list[Call] = []
    for number, entry in enumerate(document["entries"]):
        calls.append(_call(entry, number, where, shared, calls))
    ordered = sorted(_once(calls), key=lambda call: call.record)
    records = [call.record for call in ordered]
    gaps = any(b - a > 1 for a, b in pairwise(records))
    return Dump(
        path, rank_of(path), values.name(document.get("version", "not told")), settled(ordered, gaps),
        _groups(document.get("pg_config"), ordered, shared), _reached(document, calls), records[:1] == [0], gaps,
        tuple(f"{where} {odd}" for odd in _oddities(records, document, len(calls))), any(map(_tells_start, calls)),
    )  # fmt: skip


def _once(calls: Iterable[Call]) -> Iterator[Call]:
    """Without those that say all that another of the same record says."""
    first: dict[int, Call] = {}
    for call in calls:
        if first.setdefault(call.record, call) is call or first[call.record] != call:
            yield call


def _tells_start(call: Call) -> bool:
    """Whether a call shows that the recorder sees kernels start (``TORCH_NCCL_ENABLE_TIMING``, which is off by default)."""
    return call.state == STARTED or (call.started is not None and call.started != call.completed)


def _oddities(records: list[int], document: Mapping[Any, Any], count: int) -> Iterator[str]:
    if not records and document.get(_STATUS):
        yield "has no calls, but the state of groups that made some: it may have active calls only, and none was"
    if count > len(records):
        yield f"has {counted(count - len(records), 'call')} a second time, alike in all: each counts once"
    twice = [record for record, times in Counter(records).items() if times > 1]
    if twice:
        yield f"has record {twice[0]} twice"
    times = [text for entry in document["entries"] if (text := values.untold(entry))]
    if times:
        yield f"has {counted(len(times), 'call')} with a time that is none ({times[0]}): it counts as not told"
    config = document.get("pg_config")
    told = [one.get("ranks") for one in config.values() if isinstance(one, dict)] if isinstance(config, dict) else []
    ranks = [value for value in told if value and not _ranks(value) and not _is_shortened(value)]
    if ranks:
        yield f"has groups whose ranks are none ({values.plain(ranks[0])}): they count as not told"


# --- one call -----------------------------------------------------------------------------------------------------


def _call(entry: Any, number: int, where: str, shared: Shared, before: list[Call]) -> Call:
    if not isinstance(entry, dict):
        raise FormatError(f"{where}: entry {number} is a {type(entry).__name__}: expected a call with its fields")
    place = f"{where}: entry {number}"
    found = _NAME.fullmatch(values.text(entry, "profiling_name", place))
    if found is None:
        raise FormatError(
            f"{place} is called {values.plain(entry['profiling_name'])}: expected a name like 'nccl:all_reduce'"
        )
    state = values.text(entry, "state", place)
    if state not in STATES:
        raise FormatError(f"{place} has state {values.plain(state)}: expected one of {', '.join(STATES)}")
    op = _op(found["op"], entry)
    point = _point(entry, op, place, before)
    source, target = (found["a"], found["b"]) if found["way"] != "<-" else (found["b"], found["a"])
    return Call(
        record=values.whole(entry, ("record_id", "id"), place), group=_group(entry), sequence=_sequence(entry, point, place),
        op=op, state=state, point=point, source=_number(source), target=_number(target),
        inputs=values.sizes(entry, "input_sizes", place, shared), outputs=values.sizes(entry, "output_sizes", place, shared),
        dtypes=(values.words(entry, "input_dtypes", shared), values.words(entry, "output_dtypes", shared)),
        created=values.time(entry, "time_created"), started=values.time(entry, "time_discovered_started"),
        completed=values.time(entry, "time_discovered_completed"),
        timeout=values.timeout(entry), where=values.where(entry.get("frames"), shared),
    )  # fmt: skip


def _op(word: str, entry: Mapping[Any, Any]) -> str:
    """Its usual word, or as it is where that is unknown; a barrier is one, though an all-reduce makes it.

    ``reduce_scatter_tensor_coalesced`` is a call of its own: it has sizes, which the end of a batch has not.
    """
    if word.endswith(CLOSES) and not entry.get("input_sizes") and not entry.get("output_sizes"):
        return CLOSES
    return "barrier" if word.endswith("barrier") else operation(word) or word


def _point(entry: Mapping[Any, Any], op: str, place: str, before: list[Call]) -> bool:
    """Whether it is a send or receive, or closes some; old dumps do not say: what closes a batch is as what is before it."""
    if "is_p2p" in entry:
        return values.truth(entry, "is_p2p", place)
    return op in ("send", "recv") or (op == CLOSES and bool(before) and before[-1].point)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _sequence(entry: Mapping[Any, Any], point: bool, place: str) -> int:
    return values.whole(entry, ("p2p_seq_id" if point else "collective_seq_id", "seq_id"), place)


def _group(entry: Mapping[Any, Any]) -> str:
    """Name of the group: first of a pair, or alone, or the number of the group."""
    value = entry.get("process_group", entry.get("pg_name"))
    if isinstance(value, tuple | list) and value:
        value = value[0]
    return values.name(value) if isinstance(value, str) else values.name(entry.get("pg_id", ""))


# --- groups -------------------------------------------------------------------------------------------------------


def _groups(config: Any, calls: Iterable[Call], shared: Shared) -> dict[str, Group]:
    """Groups of ``pg_config``, and those that only calls name."""
    found: dict[str, Group] = {}
    if isinstance(config, dict):
        for key, value in islice(config.items(), MOST_GROUPS):
            told = value if isinstance(value, dict) else {}
            name = values.name(told.get("name") or key)
            found[name] = Group(name, values.name(told.get("desc")), once(shared, "ranks", told.get("ranks"), _ranks))
    for call in calls:
        found.setdefault(call.group, Group(call.group))
    return found


def _ranks(value: Any) -> tuple[int, ...]:
    """``"[0, 1]"``, or a list; () where it is shortened or something else."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            return ()
    whole = isinstance(value, list | tuple) and all(type(one) is int and 0 <= one < 1 << 31 for one in value)
    return tuple(sorted(set(value))) if whole else ()


def _is_shortened(ranks: Any) -> bool:
    return isinstance(ranks, str) and "..." in ranks


def _reached(document: Mapping[Any, Any], calls: list[Call]) -> dict[str, int]:
    """Sequence of the last collective that each group has put into a stream.

    ``pg_status`` goes by the process's own numbers of groups, which only entries join with names.
    """
    found = {call.group: call.sequence for call in sorted(calls, key=lambda one: one.sequence) if not call.point}
    status = document.get(_STATUS)
    if not isinstance(status, dict):
        return found
    names = {
        values.name(entry.get("pg_id")): call.group for entry, call in zip(document["entries"], calls, strict=True)
    }
    for key, value in status.items():
        last = value.get("last_enqueued_collective") if isinstance(value, dict) else None
        last = int(last) if isinstance(last, str) and last.isascii() and last.isdigit() and len(last) < 19 else last
        name = names.get(values.name(key))
        if name is not None and isinstance(last, int) and last >= 0:
            found[name] = max(last, found.get(name, -1))
    return found
