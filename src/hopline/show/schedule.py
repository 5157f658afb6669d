"""What a schedule is and whether it is right.

What belongs here: the pages of ``hopline schedule``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hopline.quantity import counted, show
from hopline.records.timeline import TICK
from hopline.schedule.collectives.table import Collective
from hopline.schedule.faults import Fault
from hopline.schedule.operations import FREE, KINDS, NONE, RECV, SEND, Schedule
from hopline.show.document import Block, Grid, Heading, Line


def collectives(entries: Iterable[Collective]) -> list[Block]:
    """A line for each entry, under its collective."""
    blocks: list[Block] = []
    by_benchmark: dict[str, list[Collective]] = {}
    for entry in entries:
        by_benchmark.setdefault(entry.benchmark, []).append(entry)
    for benchmark, some in by_benchmark.items():
        rows = [(entry.name, entry.about, _uses(entry)) for entry in some]
        blocks += [Heading(benchmark), Grid(("", "", ""), rows, left=3)]
    return blocks


def _uses(entry: Collective) -> str:
    options = [f"--{'hierarchy' if name == 'levels' else name}" for name in entry.uses]
    return f"({', '.join(options)})" if options else ""


def summary(schedule: Schedule) -> list[Block]:
    """Counts, buffers and what is promised."""
    columns = schedule.columns
    counts = [(f"{kind}s", f"{int((columns.kind == i).sum()):,}") for i, kind in enumerate(KINDS)]
    rows = [(name, count) for name, count in counts if count != "0"]
    rows += [("rounds", f"{len(schedule.rounds):,}")] if len(schedule.rounds) else []
    rows += [("sent by a rank", show(int(schedule.sent.max(initial=0)), "size") + " at most")]
    rows += [(f"buffer {buffer.name}", show(buffer.size, "size")) for buffer in schedule.buffers]
    rows += [("promise", "none" if schedule.promise is None else schedule.promise.collective)]
    return [Heading(f"{schedule.name}, {counted(schedule.ranks, 'rank')}"), Grid(("", ""), rows, left=2)]


def operations(schedule: Schedule, rank: int | None, most: int) -> list[Block]:
    """The first operations, of all ranks or of one."""
    columns = schedule.columns
    kept = [row for row in range(len(schedule)) if rank is None or columns.rank[row] == rank]
    rows = [
        (str(row), f"{columns.rank[row]}", _lane(schedule, row), operation(schedule, row), _after(schedule, row))
        for row in kept[:most]
    ]
    blocks: list[Block] = [Heading("Operations"), Grid(("row", "rank", "lane", "", "after row"), rows, left=5)]
    return [*blocks, Line(f"  and {len(kept) - most:,} more", "faint")] if len(kept) > most else blocks


def _lane(schedule: Schedule, row: int) -> str:
    lane = int(schedule.columns.lane[row])
    return "free" if lane == FREE else str(lane)


def _after(schedule: Schedule, row: int) -> str:
    after = int(schedule.columns.after[row])
    more = schedule.more[schedule.more[:, 0] == row, 1].tolist()
    begun = [f"begin of {other}" for other in schedule.begun[schedule.begun[:, 0] == row, 1].tolist()]
    return ", ".join([*([str(after)] if after != NONE else []), *map(str, more), *begun])


def operation(schedule: Schedule, row: int) -> str:
    """One operation in words."""
    columns = schedule.columns
    kind, size = int(columns.kind[row]), int(columns.size[row])
    if KINDS[kind] == "compute":
        return f"compute {show(size * TICK, 'time')}"
    place = _place(schedule, int(columns.buffer[row]), int(columns.start[row]), size)
    if kind in (SEND, RECV):
        tag = f", tag {columns.other[row]}" if columns.other[row] else ""
        return f"{KINDS[kind]} {place} {'to' if kind == SEND else 'from'} {columns.peer[row]}{tag}"
    source = _place(schedule, int(columns.source[row]), int(columns.other[row]), size)
    return f"{KINDS[kind]} {source} into {place}"


def _place(schedule: Schedule, buffer: int, start: int, size: int) -> str:
    if not schedule.buffers:
        return show(size, "size")
    return f"{schedule.buffers[buffer].name}[{start}:{start + size}]"


def proof(name: str, faults: Sequence[Fault], proved: Sequence[str], unchecked: Sequence[str]) -> list[Block]:
    """What was proved, or what is wrong."""
    right = (
        f"{name} is right." if not unchecked else f"{name}: nothing wrong was found, and not all could be looked at."
    )
    verdict = Line(f"{name} is wrong:", "bad") if faults else Line(right, "strong" if unchecked else "good")
    blocks: list[Block] = [verdict]
    for fault in faults:
        blocks += [Line(f"  {fault.kind}: {fault.text}", "bad")]
    blocks += [Line(f"  {text}", "faint") for text in dict.fromkeys(fault.help for fault in faults)]
    blocks += [Line(f"  {text}") for text in proved]
    return [*blocks, *(Line(f"  not checked: {text}", "faint") for text in unchecked)]


def contents(name: str, facts: Mapping[str, object], said: Sequence[str]) -> list[Block]:
    """What a file says by its own count."""
    rows = [(key, _fact(value)) for key, value in facts.items()]
    return [Heading(name), Grid(("", ""), rows, left=2), *remarks(said)]


def remarks(said: Sequence[str]) -> list[Block]:
    """What should be known of a file."""
    return [Line(f"note: {remark}", "faint") for remark in said]


def refused(reason: str) -> Line:
    """Why no schedule can be made of a file."""
    return Line(f"no schedule: {reason}", "bad")


def _fact(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {count}" for key, count in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
