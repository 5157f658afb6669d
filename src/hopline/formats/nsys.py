"""Exports of Nsight Systems (SQLite): one Trace for each process and GPU.

What belongs here: which rows are which events, and of whom. Reading columns is ``nsys_tables``, finding steps ``nsys_steps``;
names of communication kernels are those of ``kineto.names``. An export does not say which rank a process is, unless it traced
MPI: only where it has one trace the name of the file may tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hopline.errors import FormatError
from hopline.formats.kineto.head import LATEST, SINCE_1970
from hopline.formats.kineto.identity import rank_in
from hopline.formats.kineto.names import communication
from hopline.formats.kineto.repeats import REPEATED, repeats
from hopline.formats.nsys_rows import (
    EVENTS,
    GPU,
    LOW,
    NO_STREAM,
    PID,
    Names,
    Rows,
    call_rows,
    give_owners,
    gpu_rows,
    note_rows,
)
from hopline.formats.nsys_steps import steps
from hopline.formats.nsys_tables import Export, export
from hopline.formats.source import shown
from hopline.quantity import counted
from hopline.records.trace import (
    CALL,
    KERNEL,
    MEMCPY,
    MEMSET,
    NONE,
    NOTE,
    SYNC,
    Collective,
    Events,
    Index,
    Lane,
    Nanoseconds,
    Syncs,
    Trace,
)

_SESSION = "TARGET_INFO_SESSION_START_TIME"
_MPI = re.compile(r"MPI Rank (\d{1,7})")


def read_traces(path: str) -> list[Trace]:
    """One trace for each process and GPU of the export at ``path``, by process and GPU.

    Raises FormatError where the file is no export, is damaged, or holds no work of a GPU.
    """
    with export(path) as found:
        names = Names(found.texts("StringIds", "id", "value"))
        gpu = [gpu_rows(found, table, kind, names) for table, kind in GPU if table in found.tables]
        calls, notes = call_rows(found, names), note_rows(found, names)
        if not any(len(rows.start) for rows in gpu if rows.kind != SYNC):
            tables = ", ".join(name for name in sorted(found.tables) if name.startswith("CUPTI")) or "no CUPTI table"
            raise FormatError(
                f"{shown(path)} has no work of a GPU ({tables}): profile with 'nsys profile --trace=cuda,nvtx'"
            )
        give_owners(found, gpu, calls)
        sides = _Sides(found, [*gpu, calls], notes, tuple(names.texts))
        return sides.traces()


# --- traces -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sides:
    """All rows, to be given to processes and their GPUs."""

    found: Export
    rows: list[Rows]
    notes: Rows
    names: tuple[str, ...]

    def traces(self) -> list[Trace]:
        """See ``read_traces``."""
        places = sorted({
            place for rows in self.rows if rows.kind <= MEMSET
            for place in zip(rows.owner.tolist(), rows.device.tolist(), strict=True) if place[0] >= 0
        })  # fmt: skip
        if not places:
            raise FormatError(f"{shown(self.found.path)}: of no work on a GPU the process is known: export it again")
        ranks = _ranks(self.found)
        base, absolute = _base(self.found)
        made = [self._trace(owner, device, places) for owner, device in places]
        alone = rank_in(self.found.path) if len(made) == 1 else None
        told = tuple(self.found.told) + self._unnamed(places, ranks, alone)
        return [
            replace(trace, rank=ranks.get(owner, alone), base=base, absolute=absolute, told=(*told, *trace.told))
            for (owner, _), trace in zip(places, made, strict=True)
        ]

    def _unnamed(self, places: list[tuple[int, int]], ranks: dict[int, int], alone: int | None) -> tuple[str, ...]:
        if alone is not None or all(owner in ranks for owner, _ in places):
            return ()
        return (
            f"{shown(self.found.path)} does not say which rank a process is, nor how many ranks the job has: traces are told "
            "apart by process and GPU, and collectives may have members that are not here",
        )

    def _trace(self, owner: int, device: int, places: list[tuple[int, int]]) -> Trace:
        mine = [rows.only(self._belongs(rows, owner, device, places)) for rows in self.rows]
        notes = self.notes.only(self.notes.owner == owner)
        events, lanes, order = _events([*mine, notes], device, owner & LOW)
        used, name = np.unique(events.name, return_inverse=True)
        names = tuple(self.names[one] for one in used)
        event = np.concatenate([rows.event for rows in (*mine, notes)])[order]
        columns = (events.kind, name.astype(np.int32), events.start, events.end, events.lane, events.correlation)
        events = Events(*columns)
        marked = events.kind == NOTE
        again = sum(len(rows.start) for rows in (*mine, notes)) - len(events)
        told = (f"{counted(again, 'event')} {REPEATED}",) if again else ()
        found, why = steps(names, events.name[marked], events.start[marked], events.end[marked], events.lane[marked])
        label = f"{self.found.path}:process {owner & LOW}:GPU {device}" if len(places) > 1 else self.found.path
        return Trace(
            label, None, None, 0, False, names, lanes, events, _collectives(events, names), found,
            _syncs(self.found, events, event, owner), _counts(events), self._about(owner, device),
            (*told, why) if why else told,
        )  # fmt: skip

    def _belongs(self, rows: Rows, owner: int, device: int, places: list[tuple[int, int]]) -> NDArray[np.bool_]:
        """Work of this GPU; calls of the process, without those that launched work of another GPU of it."""
        mine: NDArray[np.bool_] = rows.owner == owner
        if rows.kind != CALL:
            here: NDArray[np.bool_] = mine & (rows.device == device)
            return here
        others = [place[1] for place in places if place[0] == owner and place[1] != device]
        for other in self.rows if others else ():
            if other.kind <= MEMSET:
                away = other.correlation[(other.owner == owner) & np.isin(other.device, others)]
                mine &= ~np.isin(rows.correlation, away[away >= 0])
        return mine

    def _about(self, owner: int, device: int) -> dict[str, str]:
        known = self.found.texts("TARGET_INFO_GPU", "id", "name")
        cards = self.found.numbers("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid"))
        at = np.flatnonzero((cards["cudaId"] == device) & ((cards["pid"] == owner & LOW) | (cards["pid"] == NONE)))
        card = known.get(int(cards["gpuId"][at[0]]) if len(at) else device, "")
        about = {"process": str(owner & LOW), "device": str(device)}
        return about | ({"device name": card} if card else {})


def _events(parts: list[Rows], device: int, process: int) -> tuple[Events, tuple[Lane, ...], Nanoseconds]:
    """Events in order, each once, their lanes, and which rows of the parts they are."""
    kind = np.concatenate([np.full(len(rows.start), rows.kind, np.uint8) for rows in parts])
    start, end, number, correlation = (
        np.concatenate([getattr(rows, name) for rows in parts]) for name in ("start", "end", "lane", "correlation")
    )
    name = np.concatenate([rows.name for rows in parts])
    order = np.lexsort((-end, start))
    on_gpu = kind <= SYNC
    stream = np.where(number == NO_STREAM, NONE, number)
    unique, place = np.unique(2 * stream + on_gpu, return_inverse=True)
    lanes = tuple(
        Lane("stream", device, key >> 1) if key & 1 else Lane("thread", process, key >> 1) for key in unique.tolist()
    )
    lane: Index = place.astype(np.int32)
    events = Events(kind[order], name[order], start[order], end[order], lane[order], correlation[order])
    again = repeats(events)
    return (events, lanes, order) if again is None else (events.only(~again), lanes, order[~again])


def _collectives(events: Events, names: tuple[str, ...]) -> tuple[Collective, ...]:
    """Communication kernels. An export tells neither group nor size; an op that the name does not tell is ``sendrecv``."""
    kernels = np.flatnonzero(events.kind == KERNEL)
    known = {code: communication(names[code]) for code in np.unique(events.name[kernels]).tolist()}
    talks = {code: found for code, found in known.items() if found is not None}
    rows = kernels[np.isin(events.name[kernels], list(talks))]
    made = []
    for row, code in zip(rows.tolist(), events.name[rows].tolist(), strict=True):
        op, algorithm, protocol = talks[code]
        made.append(Collective(row, op or "sendrecv", algorithm=algorithm, protocol=protocol))
    return tuple(made)


def _syncs(found: Export, events: Events, event: Nanoseconds, owner: int) -> Syncs:
    """Waits of streams for CUDA events: the last record of the event that was called before the wait was."""
    waits = np.flatnonzero((events.kind == SYNC) & (event >= 0))
    records = found.numbers(EVENTS, ("eventId", "streamId", "correlationId", "globalPid"))
    mine = (records["globalPid"] == NONE) | (records["globalPid"] >> PID == owner)
    ids, streams, calls = (records[name][mine] for name in ("eventId", "streamId", "correlationId"))
    order = np.lexsort((calls, ids))
    ids, streams, calls = ids[order], streams[order], calls[order]
    on, record = np.full(len(waits), NONE, np.int64), np.full(len(waits), NONE, np.int64)
    for at, row in enumerate(waits.tolist()):
        first, last = np.searchsorted(ids, (event[row], event[row] + 1))
        place = first + int(np.searchsorted(calls[first:last], events.correlation[row])) - 1
        if place >= first:
            on[at], record[at] = streams[place], calls[place]
    return Syncs(waits.astype(np.int32), on, record)


def _counts(events: Events) -> dict[str, int]:
    words = {
        KERNEL: "kernel",
        MEMCPY: "gpu_memcpy",
        MEMSET: "gpu_memset",
        SYNC: "cuda_sync",
        CALL: "cuda_runtime",
        NOTE: "nvtx",
    }
    counts = np.bincount(events.kind, minlength=NOTE + 1)
    return {"events": len(events)} | {f"X:{word}": int(counts[kind]) for kind, word in words.items() if counts[kind]}


def _ranks(found: Export) -> dict[int, int]:
    """Process -> rank, where a thread is called ``MPI Rank 3``."""
    values = found.numbers("ThreadNames", ("globalTid", "nameId"))
    strings = found.texts("StringIds", "id", "value")
    ranks: dict[int, int] = {}
    for tid, name in zip(values["globalTid"].tolist(), values["nameId"].tolist(), strict=True):
        match = _MPI.search(strings.get(name, ""))
        if match is not None:
            ranks[tid >> PID] = int(match[1])
    return ranks


def _base(found: Export) -> tuple[int, bool]:
    """Nanoseconds since 1970 of time 0, and whether the export tells."""
    values = found.numbers(_SESSION, ("utcEpochNs",))["utcEpochNs"].tolist()[:1]
    if not values or values[0] == NONE:
        return 0, False
    if not SINCE_1970 < values[0] < LATEST:
        found.told.append(
            f"{shown(found.path)}: utcEpochNs of {_SESSION} is {values[0]}: expected nanoseconds since 1970, between 2001 and "
            "2255; it counts as not said"
        )
        return 0, False
    return values[0], True
