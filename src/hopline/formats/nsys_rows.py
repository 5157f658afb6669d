"""Rows of an export of Nsight Systems as events, each of a process and of a GPU or thread.

What belongs here: which columns of which table say what. Whose trace they make is ``nsys``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopline.errors import FormatError
from hopline.formats.nsys_tables import Export
from hopline.formats.source import shown
from hopline.quantity import counted
from hopline.records.trace import CALL, KERNEL, MEMCPY, MEMSET, NONE, NOTE, SYNC, Index, Nanoseconds

GPU = (
    ("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL), ("CUPTI_ACTIVITY_KIND_MEMCPY", MEMCPY), ("CUPTI_ACTIVITY_KIND_MEMSET", MEMSET),
    ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", KERNEL), ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", SYNC),
)  # fmt: skip
"""Table -> kind of its rows."""
RUNTIME, NVTX, EVENTS = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
COPIES = {
    1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 9: "HtoH", 10: "PtoP",
}  # fmt: skip
"""CUpti_ActivityMemcpyKind."""
WAIT = 2
SYNCS = {1: "Event Sync", WAIT: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
"""CUpti_ActivitySynchronizationType, in the words of Kineto."""
RANGES = (59, 60, 70, 71)
"""Types of NVTX events that have an end: push and pop, start and end, and the same from NVTX text."""
NO_STREAM = (1 << 32) - 1
LATEST, LONGEST = 1 << 61, 30 * 24 * 3600 * 10**9
"""Nanoseconds: the end of a row (73 years, beyond any clock's time), and what one row may take (30 days)."""
PID = 24
"""A global id is hardware, virtual machine, process and thread; the thread has so many bits, and the process, too."""
LOW = (1 << PID) - 1


@dataclass(slots=True)
class Rows:
    """Events of one kind; all columns as long as ``start``."""

    kind: int
    start: Nanoseconds
    end: Nanoseconds
    owner: Nanoseconds
    """Process with its machine: a global id without its thread."""
    device: Nanoseconds
    lane: Nanoseconds
    """Stream, or thread."""
    correlation: Nanoseconds
    name: Index
    event: Nanoseconds
    """CUDA event that a stream waits for."""

    def only(self, marks: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return Rows(
            self.kind, self.start[marks], self.end[marks], self.owner[marks], self.device[marks], self.lane[marks],
            self.correlation[marks], self.name[marks], self.event[marks],
        )  # fmt: skip


@dataclass(slots=True)
class Names:
    """Numbers for texts."""

    strings: dict[int, str]
    texts: dict[str, int] = field(default_factory=dict)

    def code(self, text: str) -> int:
        """Number of a text."""
        return self.texts.setdefault(text, len(self.texts))

    def lack(self, ids: Nanoseconds) -> int:
        """How many of some ids have no text in StringIds."""
        unique, times = np.unique(ids, return_counts=True)
        return sum(count for one, count in zip(unique.tolist(), times.tolist(), strict=True) if one not in self.strings)

    def of_ids(self, ids: Nanoseconds) -> Index:
        """Numbers of texts that stand in StringIds."""
        return self.of_words(ids, {int(one): self.strings.get(int(one), f"name {one}") for one in np.unique(ids)})

    def of_words(self, keys: Nanoseconds, words: dict[int, str]) -> Index:
        """Numbers of texts by keys."""
        unique, place = np.unique(keys, return_inverse=True)
        codes = np.array([self.code(words.get(int(one), f"kind {one}")) for one in unique], np.int32)
        return codes[place] if len(unique) else np.empty(0, np.int32)


def gpu_rows(found: Export, table: str, kind: int, names: Names) -> Rows:
    """Rows of one table of GPU. Raises FormatError where a column is missing without which they say nothing."""
    columns = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "eventId")
    words = ("demangledName", "shortName", "copyKind", "syncType", "graphId")
    _expect(found, table, ("start", "end", "deviceId", "streamId"))
    values = found.numbers(table, (*columns, *words))
    owner = np.where(values["globalPid"] >= 0, values["globalPid"] >> PID, NONE)
    return _sane(found, table, Rows(
        kind, values["start"], values["end"], owner, values["deviceId"], values["streamId"], _known(values["correlationId"]),
        _work_names(found, table, kind, values, names), values["eventId"],
    ))  # fmt: skip


def _expect(found: Export, table: str, needed: Iterable[str]) -> None:
    """Raise FormatError for columns without which rows say nothing."""
    missing = [column for column in needed if column not in found.tables[table]]
    if missing:
        has = ", ".join(found.tables[table][:12])
        raise FormatError(
            f"{shown(found.path)}: {table} has no column {', '.join(missing)} (it has {has}): export it again"
        )


def _work_names(found: Export, table: str, kind: int, values: dict[str, Nanoseconds], names: Names) -> Index:
    if kind == MEMCPY:
        return names.of_words(values["copyKind"], {key: f"Memcpy {word}" for key, word in COPIES.items()})
    if kind == MEMSET:
        return names.of_words(values["copyKind"], {NONE: "Memset"})
    if kind == SYNC:
        return names.of_words(values["syncType"], SYNCS)
    if table.endswith("GRAPH_TRACE"):
        return names.of_words(
            values["graphId"], {int(one): f"CUDA graph {one}" for one in np.unique(values["graphId"])}
        )
    ids = np.where(values["demangledName"] >= 0, values["demangledName"], values["shortName"])
    if lacking := names.lack(ids):
        found.told.append(
            f"{shown(found.path)} has no name of {lacking:,} of {counted(len(ids), 'kernel')} (StringIds lacks them): whether "
            "they are communication is not known, so they stand as compute, and what is said of communication leaves them out"
        )
    return names.of_ids(ids)


def _known(correlation: Nanoseconds) -> Nanoseconds:
    """0 stands for none."""
    return np.where(correlation > 0, correlation, NONE)


def _sane(found: Export, table: str, rows: Rows) -> Rows:
    """Without rows that end before they start, or never (work that was not done when the profile ended)."""
    good = usable(rows)
    if not good.all():
        left = counted(int((~good).sum()), "row")
        found.told.append(f"{shown(found.path)}: {left} of {table} without a usable time left out")
    return rows.only(good)


def usable(rows: Rows) -> NDArray[np.bool_]:
    """Which rows have a start and an end that can be: some exports have the largest number for work that did not end."""
    real = (rows.start >= 0) & (rows.end >= rows.start) & (rows.end < LATEST)
    good: NDArray[np.bool_] = real & (rows.end - np.where(real, rows.start, 0) < LONGEST)
    return good


def call_rows(found: Export, names: Names) -> Rows:
    """Calls of the CUDA runtime and driver."""
    values = found.numbers(RUNTIME, ("start", "end", "globalTid", "correlationId", "nameId"))
    tid = values["globalTid"]
    empty = np.full(len(tid), NONE, np.int64)
    if RUNTIME not in found.tables:
        found.told.append(f"{shown(found.path)} has no {RUNTIME}: which call launched what is not known")
    return _sane(found, RUNTIME, Rows(
        CALL, values["start"], values["end"], tid >> PID, empty, tid & LOW, _known(values["correlationId"]),
        names.of_ids(values["nameId"]), empty,
    ))  # fmt: skip


def note_rows(found: Export, names: Names) -> Rows:
    """NVTX ranges; those without an end (marks, and what was open when the profile ended) are left out."""
    if NVTX not in found.tables:
        found.told.append(f"{shown(found.path)} has no {NVTX}: steps are not known; profile with --trace=cuda,nvtx")
    values = found.numbers(NVTX, ("start", "end", "globalTid", "eventType", "textId"))
    texts = found.column(NVTX, "text") or [""] * len(values["start"])
    code = names.of_ids(values["textId"])
    own = [at for at, text in enumerate(texts) if text]
    code[own] = [names.code(texts[at]) for at in own]
    ranges = np.isin(values["eventType"], RANGES) | (values["eventType"] == NONE)
    tid = values["globalTid"]
    empty = np.full(len(tid), NONE, np.int64)
    rows = Rows(NOTE, values["start"], values["end"], tid >> PID, empty, tid & LOW, empty, code, empty)
    return rows.only(ranges & usable(rows))


def give_owners(found: Export, gpu: list[Rows], calls: Rows) -> None:
    """Give work without a process (older exports) to the one that launched it, or to the only one there is."""
    owners = np.unique(calls.owner)
    for rows in gpu:
        lost = rows.owner < 0
        if not lost.any():
            continue
        if len(owners) == 1:
            rows.owner[lost] = owners[0]
            continue
        rows.owner[lost] = _launchers(rows.correlation[lost], calls)
        unknown = int((rows.owner < 0).sum())
        if unknown:
            found.told.append(f"{shown(found.path)}: of {unknown} rows on GPUs the process is not known: left out")


def _launchers(correlation: Nanoseconds, calls: Rows) -> Nanoseconds:
    """Process of the only call with each correlation; NONE where there is none, or more than one."""
    unique, first, times = np.unique(calls.correlation, return_index=True, return_counts=True)
    if not len(unique):
        return np.full(len(correlation), NONE, np.int64)
    place = np.searchsorted(unique, correlation).clip(max=len(unique) - 1)
    good = (unique[place] == correlation) & (times[place] == 1) & (correlation >= 0)
    return np.where(good, calls.owner[first[place]], NONE)
