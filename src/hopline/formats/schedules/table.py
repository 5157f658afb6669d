"""SCHEDULE_FORMATS: how each kind of schedule file is recognised, read and written.

What belongs here: the table, and the functions that go by it. A file's kind is told by its content, never by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import FormatError, UnknownNameError
from hopline.formats.lines import excerpt, opening
from hopline.formats.schedules import (
    chakra,
    goal,
    goal_writing,
    msccl,
    msccl_writing,
    mscclpp,
    schedgen,
    traffic_csv,
    traffic_htsim,
    traffic_ns3,
)
from hopline.formats.schedules.bounded import usable
from hopline.formats.schedules.chakra_nodes import is_metadata
from hopline.formats.schedules.chakra_wire import number
from hopline.formats.schedules.contents import Asked, Contents, Expand, Plan, Reading
from hopline.formats.source import forget, kept, shown
from hopline.schedule.operations import Schedule

_WINDOW = 1 << 20
"""Bytes that are looked at."""
_GOAL = re.compile(rb"\s*(?:(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)\s*)*(?:num_ranks\s+\d|rank\s+\d+\s*\{)")
_GRAPH = re.compile(rb'"workload_graph"\s*:')
_PLAN = re.compile(rb'"gpus"\s*:\s*\[')
_MATRIX = re.compile(
    rb"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*Nodes[ \t]+\d+[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*Connections[ \t]+\d"
)
_FLOWS = re.compile(rb"\s*\d+[ \t]*\r?\n\s*(?:\d+[ \t]+){5}\d+(?:\.\d*)?[ \t]*(?:\r?\n|$)")
_CONFIG = re.compile(rb'"(?:ptrn|comm_size|datasize)"\s*:')


@dataclass(frozen=True, slots=True)
class ScheduleFormat:
    """One kind of file. ``write`` is None where it is only read."""

    name: str
    title: str
    recognises: Callable[[bytes], bool]
    read: Callable[[str], Plan]
    write: Callable[[Schedule, str, float, float], tuple[str, ...]] | None = None


def _chakra(start: bytes) -> bool:
    """Whether a file begins with the length of a message, and that with Chakra's GlobalMetadata."""
    try:
        size, begin = number(start, 0)
    except (IndexError, FormatError):
        return False
    return 0 < size <= len(start) - begin and is_metadata(start[begin : begin + size])


def _json(pattern: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    return lambda start: start.lstrip()[:1] == b"{" and bool(pattern.search(start))


def _columns(start: bytes) -> bool:
    """Whether the first line that is no comment names the columns of a table of traffic."""
    lines = (line for line in start[: 1 << 14].decode("utf-8", "replace").split("\n"))
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return traffic_csv.is_head(first)


def _msccl(start: bytes) -> bool:
    return start.lstrip()[:1] == b"<" and b"<algo" in start


_ROWS = [
    ScheduleFormat("goal", "GOAL (LogGOPSim, ATLAHS)", lambda start: bool(_GOAL.match(start)), goal.read, goal_writing.write),
    ScheduleFormat(
        "msccl", "MSCCL algorithm (XML)", _msccl, msccl.read,
        lambda schedule, path, _reduce, _copy: msccl_writing.write(schedule, path),
    ),
    ScheduleFormat("chakra-json", "Chakra execution trace (JSON)", _json(_GRAPH), chakra.read_json),
    ScheduleFormat("mscclpp", "MSCCL++ execution plan (JSON)", _json(_PLAN), mscclpp.read),
    ScheduleFormat("schedgen", "configuration of Schedgen2 (no schedule)", _json(_CONFIG), schedgen.refuse),
    ScheduleFormat("traffic", "table of messages (CSV: src,dst,bytes)", _columns, traffic_csv.read),
    ScheduleFormat("ns3-flow", "flows of HPCC's ns-3", lambda start: bool(_FLOWS.match(start)), traffic_ns3.read),
    ScheduleFormat("htsim-cm", "htsim connections (.cm)", lambda start: bool(_MATRIX.match(start)), traffic_htsim.read),
    ScheduleFormat("chakra", "Chakra execution trace (.et)", _chakra, chakra.read),
]  # fmt: skip
SCHEDULE_FORMATS: dict[str, ScheduleFormat] = {row.name: row for row in _ROWS}
"""Name -> kind, in the order in which they are tried."""


def recognise(path: str) -> ScheduleFormat:
    """The kind of the schedule file at ``path``; "-" is standard input. Raises FormatError where it is none."""
    usable(path)
    start = opening(path, _WINDOW)[1:]
    found = next((row for row in SCHEDULE_FORMATS.values() if row.recognises(start)), None)
    if found is None:
        forget(path)
        known = ", ".join(row.title for row in SCHEDULE_FORMATS.values() if row.name != "schedgen")
        raise FormatError(f"{shown(path)} is no schedule file that hopline knows{_begin(start)}: expected {known}")
    return found


def _begin(start: bytes) -> str:
    first = next((line for line in start.split(b"\n") if line.strip()), b"")
    return f" (it begins with {excerpt(first, 40)!r})" if first.strip(b"\0") else ""


def plan(path: str, format: str | None = None) -> Plan:  # noqa: A002
    """What the file at ``path`` holds, ready to be asked. ``format``: a key of SCHEDULE_FORMATS; None: by its content.

    Raises FormatError, in one line, for everything that is wrong with the file.
    """
    with kept(path):
        return (_format(format) if format else recognise(path)).read(path)


def contents(path: str, format: str | None = None) -> Contents:  # noqa: A002
    """What the file at ``path`` holds by its own count."""
    return plan(path, format).contents


def read(path: str, asked: Asked, format: str | None = None) -> Reading:  # noqa: A002
    """The schedule in the file at ``path``, with what should be known of it.

    Raises
    ------
    FormatError
        Where the file is wrong, or no schedule can be made of it.
    InputError
        Where it needs to be asked for something else (a size, other ranks).
    """
    return plan(path, format).reading(asked)


def read_schedule(
    path: str, ranks: int | None = None, size: int | None = None, collective: Expand | None = None
) -> Schedule:
    """The schedule in the file at ``path``; see ``read`` and Asked."""
    return read(path, Asked(size, ranks, collective)).schedule


def write_schedule(
    schedule: Schedule,
    path: str,
    format: str,  # noqa: A002
    reduce: float = 0.0,
    copy: float = 0.0,
) -> tuple[str, ...]:
    """Write ``schedule`` to a new file at ``path``.

    Parameters
    ----------
    format
        A key of SCHEDULE_FORMATS that can be written.
    reduce, copy
        Seconds a byte of a Reduce and of a Copy, for formats that have times in their place (GOAL).

    Returns
    -------
    What a reader of the file should know.

    Raises
    ------
    FormatError
        Where the format cannot say it.
    OutputError
        Where the file exists or cannot be written.
    """
    found = _format(format)
    if found.write is None:
        able = ", ".join(row.name for row in SCHEDULE_FORMATS.values() if row.write)
        raise FormatError(f"{found.title} is only read: expected one of {able}")
    return found.write(schedule, path, reduce, copy)


def _format(name: str) -> ScheduleFormat:
    if name not in SCHEDULE_FORMATS:
        raise UnknownNameError("schedule format", name, SCHEDULE_FORMATS)
    return SCHEDULE_FORMATS[name]
