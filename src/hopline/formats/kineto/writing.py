"""Traces written as Kineto files, the way PyTorch's profiler of 2024 and later writes them.

What belongs here: the file: its head, an event a line, arrows from calls to what they launched, names of lanes. Times are
microseconds with three decimals after ``baseTimeNanoseconds``, so that no nanosecond is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from hopline.formats.schedules.bounded import new_file
from hopline.records.trace import NONE, NOTE, SYNC, Collective, Trace

CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "cuda_runtime", "cpu_op", "user_annotation")
"""By the number of the kind."""
NAMES = {
    "all_reduce": "allreduce", "all_gather": "_allgather_base", "reduce_scatter": "_reduce_scatter_base",
    "alltoall": "all_to_allv", "broadcast": "broadcast", "reduce": "reduce", "send": "send", "recv": "recv",
    "barrier": "barrier", "gather": "gather", "scatter": "scatter",
}  # fmt: skip
"""Collective -> what PyTorch calls it in the arguments of its kernel."""
_WIDTH = {"Float": 4, "BFloat16": 2, "Half": 2, "Double": 8, "Byte": 1, "Char": 1, "Int": 4, "Long": 8}
"""Bytes of an element, by PyTorch's name of its type."""
_LINES = 1 << 14
_SHOWN = 16
"""Ranks of a group that are written before the list is cut short, as PyTorch does."""


def write_kineto(trace: Trace, path: str) -> None:
    """Write a trace to a new file at ``path``, compressed where its name ends in ``.gz``.

    Raises OutputError where the file exists or cannot be written.
    """
    with new_file(path) as file:
        lines = _lines(trace)
        while block := list(islice(lines, _LINES)):
            file.write("".join(block).encode())


def _lines(trace: Trace) -> Iterator[str]:
    yield json.dumps(_head(trace))[:-1] + ',"traceEvents":[\n'
    yield ",\n".join(_named(trace))
    for event in _events(trace):
        yield ",\n" + event
    yield "\n]}\n"


def _head(trace: Trace) -> dict[str, Any]:
    device = trace.about.get("device", "")
    head: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}] if device else []}
    info: dict[str, Any] = (
        {} if trace.rank is None else {"backend": trace.about.get("backend", "nccl"), "rank": trace.rank}
    )
    info |= {} if trace.world is None else {"world_size": trace.world}
    groups = {each.group: each for each in trace.collectives if each.group}
    if groups:
        config = [
            {
                "pg_name": name,
                "pg_desc": name,
                "backend_config": "cuda:nccl",
                "ranks": list(each.ranks),
                "pg_size": each.count,
            }
            for name, each in groups.items()
        ]
        info |= {"pg_count": len(groups), "pg_config": config}
    head |= {"distributedInfo": info} if info else {}
    head |= {"baseTimeNanoseconds": trace.base} if trace.absolute else {}
    return head | {"displayTimeUnit": "ms", "traceName": trace.source}


def _named(trace: Trace) -> Iterator[str]:
    """Names of processes and threads."""
    processes: set[int | str] = set()
    for lane in trace.lanes:
        label = f"GPU {lane.place}" if lane.kind == "stream" else "CPU"
        if lane.place not in processes:
            processes.add(lane.place)
            yield _meta("process_name", lane.place, 0, {"name": "python"})
            yield _meta("process_labels", lane.place, 0, {"labels": label})
        name = f"stream {lane.number} " if lane.kind == "stream" else f"thread {lane.number} (python)"
        yield _meta("thread_name", lane.place, lane.number, {"name": name})


def _meta(name: str, pid: int | str, tid: int | str, args: dict[str, str]) -> str:
    return json.dumps({"name": name, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": args})


def _events(trace: Trace) -> Iterator[str]:
    events = trace.events
    collectives = {collective.row: collective for collective in trace.collectives}
    syncs = {
        row: {"wait_on_stream": on, "wait_on_cuda_event_record_corr_id": record}
        for row, on, record in zip(
            *(x.tolist() for x in (trace.syncs.row, trace.syncs.on, trace.syncs.record)), strict=True
        )
    }
    on_gpu = set(events.correlation[events.kind <= SYNC].tolist()) - {NONE}
    launched = set(events.correlation[events.kind > SYNC].tolist()) & on_gpu
    columns = (events.kind, events.name, events.start, events.end, events.lane, events.correlation)
    names = [json.dumps(name) for name in trace.names]
    for row, (kind, name, start, end, number, correlation) in enumerate(
        zip(*(c.tolist() for c in columns), strict=True)
    ):
        lane = trace.lanes[number]
        args: dict[str, Any] = {} if correlation == NONE else {"External id": correlation, "correlation": correlation}
        if kind <= SYNC:
            args |= {"device": lane.place, "context": 1, "stream": lane.number} | _sync(names[name], syncs.get(row))
        args |= _arguments(collectives[row]) if row in collectives else {}
        place = f'"pid":{json.dumps(lane.place)},"tid":{json.dumps(lane.number)}'
        yield (
            f'{{"ph":"X","cat":"{CATEGORIES[kind]}","name":{names[name]},{place},"ts":{_time(start)},'
            f'"dur":{_time(end - start)},"args":{json.dumps(args)}}}'
        )
        if correlation in launched and kind != NOTE:
            head = '"ph":"f","bp":"e"' if kind <= SYNC else '"ph":"s"'
            yield f'{{{head},"id":{correlation},{place},"ts":{_time(start)},"cat":"ac2g","name":"ac2g"}}'


def _sync(name: str, waits: dict[str, int] | None) -> dict[str, Any]:
    return {} if waits is None else {"cuda_sync_kind": json.loads(name), **waits}


def _arguments(collective: Collective) -> dict[str, Any]:
    """What the profiler writes at a kernel of NCCL; what the record does not know is left out."""
    args: dict[str, Any] = {"Collective name": NAMES.get(collective.op, collective.op)}
    ranks = collective.count or len(collective.ranks)
    width = _WIDTH.get(collective.dtype)
    if collective.size is not None and width is not None:
        whole = collective.size // width
        part = whole // ranks if ranks else whole
        sent, received = (part if collective.op == op else whole for op in ("all_gather", "reduce_scatter"))
        args |= {"In msg nelems": sent, "Out msg nelems": received}
    args |= {"Group size": ranks} if ranks else {}
    args |= {"dtype": collective.dtype, "In split size": "[]", "Out split size": "[]"} if collective.dtype else {}
    args |= {"Process Group Name": collective.group} if collective.group else {}
    if collective.ranks:
        cut = ", ..." if len(collective.ranks) > _SHOWN else ""
        args["Process Group Ranks"] = f"[{', '.join(map(str, collective.ranks[:_SHOWN]))}{cut}]"
    args |= {} if collective.sequence is None else {"Seq": collective.sequence}
    other = {"send": "Dst Rank", "recv": "Src Rank"}.get(collective.op)
    return args | ({other: collective.peer} if other and collective.peer != NONE else {})


def _time(nanoseconds: int) -> str:
    """Microseconds with all nanoseconds."""
    sign = "-" if nanoseconds < 0 else ""
    return f"{sign}{abs(nanoseconds) // 1000}.{abs(nanoseconds) % 1000:03d}"
