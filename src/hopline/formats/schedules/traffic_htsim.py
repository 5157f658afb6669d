"""Read htsim's connection matrices (``.cm``): ``0->30 start 0 size 2000000``, one line a connection.

What belongs here: its lines, as Broadcom/csg-htsim reads them (``sim/datacenter/connection_matrix.cpp``). What its triggers
can say and a schedule cannot is in ``traffic_triggers``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.schedules.contents import Fact
from hopline.formats.schedules.traffic import MOST_RANKS, Flows, TrafficPlan, contents
from hopline.formats.schedules.traffic_triggers import Trigger, Triggers
from hopline.formats.source import shown
from hopline.quantity import counted

HEADER = ("Nodes", "Connections", "Triggers", "Failures")
NUMBERS = ("size", "id", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
_ENDS = re.compile(r"(\d{1,9})->(\d{1,9})", re.ASCII)
_DECIMAL = re.compile(r"(\d{1,18})(?:\.(\d*))?", re.ASCII)


@dataclass(slots=True)
class _Matrix:
    path: str
    header: dict[str, int] = field(default_factory=dict)
    flows: Flows = field(default_factory=Flows)
    triggers: Triggers = field(default_factory=Triggers)
    failures: int = 0
    priorities: set[int] = field(default_factory=set)
    endless: int = 0
    """Connections of size 0, which htsim keeps sending."""


def read(path: str) -> TrafficPlan:
    """The plan of the connection matrix at ``path``. Raises FormatError."""
    found = _Matrix(path)
    for line in numbered(path):
        words = line.text.split()
        if words and not words[0].startswith("#"):
            _take(found, line, words)
    for name in HEADER[:2]:
        if name not in found.header:
            raise FormatError(f"{shown(path)} has no {name}: expected 'Nodes 32' and 'Connections 18' at its top")
    counts = (len(found.flows), len(found.triggers.known), found.failures)
    for name, count in zip(HEADER[1:], counts, strict=True):
        if found.header.get(name, 0) != count:
            raise FormatError(f"{shown(path)} says {found.header.get(name, 0)} {name}, and has {count} (is it cut?)")
    waits, refusal = found.triggers.waits(found.flows)
    found.flows.waits.extend(waits)
    if found.endless:
        refusal = (
            f"{counted(found.endless, 'connection')} of size 0, which htsim sends for ever: expected a size above 0"
        )
    held = contents("htsim-cm", path, found.header["Nodes"], found.flows, _facts(found), _remarks(found), refusal)
    return TrafficPlan(path, held, found.flows)


def _take(found: _Matrix, line: Line, words: list[str]) -> None:
    kinds: dict[str, Callable[[_Matrix, Line, list[str]], None]] = {"trigger": _trigger, "failure": _failure}
    kinds |= dict.fromkeys(HEADER, _head)
    ends = _ENDS.fullmatch(words[0])
    if ends:
        _connection(found, line, words, (int(ends[1]), int(ends[2])))
    elif words[0] in kinds:
        kinds[words[0]](found, line, words)
    else:
        raise line.wrong(f"{quoted(words[0])}: expected a connection like '0->30 start 0 size 2000000'")


def _head(found: _Matrix, line: Line, words: list[str]) -> None:
    if len(words) != 2 or words[0] in found.header:
        raise line.wrong(f"{quoted(line.text)}: expected '{words[0]} N', once")
    if len(found.flows):
        raise line.wrong(f"{words[0]} stands below connections: expected it at the top")
    found.header[words[0]] = line.integer(words[1], words[0], 0, MOST_RANKS)


def _connection(found: _Matrix, line: Line, words: list[str], ends: tuple[int, int]) -> None:
    said: dict[str, int] = {}
    values = iter(words[1:])
    for word in values:
        text = next(values, "")
        if word in said:
            raise line.wrong(f"{word} stands here a second time: expected it once")
        if word == "start":
            said[word] = _start(line, text)
        elif word in NUMBERS:
            said[word] = line.integer(text, word, 0 if word in ("size", "prio") else 1)
        else:
            raise line.wrong(f"unknown word {quoted(word)}: expected start, {', '.join(NUMBERS)}")
    nodes = found.header.get("Nodes", 0)
    if max(ends) >= nodes:
        raise line.wrong(f"there is no node {max(ends)}: expected 0 to {nodes - 1}, as 'Nodes {nodes}' says")
    if "size" not in said:
        raise line.wrong("the connection has no size: expected one like 'size 2000000'")
    if ("start" in said) == ("trigger" in said):
        raise line.wrong("expected either 'start TIME' or 'trigger ID' of a connection")
    found.endless += not said["size"]
    found.triggers.note(len(found.flows), said)
    found.priorities.add(said.get("prio", -1))
    found.flows.add(line, ends[0], ends[1], said["size"], said.get("start", 0))


def _start(line: Line, text: str) -> int:
    """Whole picoseconds: newer htsim's unit. A fraction of one can only be meant as the microseconds of older files."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise line.wrong(f"start is {quoted(text)}: expected picoseconds, 0 or more")
    if (found[2] or "").strip("0"):
        raise line.wrong(
            f"start is {text}, and no whole number of picoseconds: files of older htsim have microseconds; write picoseconds"
        )
    return int(found[1])


def _trigger(found: _Matrix, line: Line, words: list[str]) -> None:
    found.triggers.add(line, Trigger.of(line, words))


def _failure(found: _Matrix, _line: Line, _words: list[str]) -> None:
    found.failures += 1


def _facts(found: _Matrix) -> dict[str, Fact]:
    late = sum(start > 0 for start in found.flows.start)
    return {
        "nodes": found.header["Nodes"], "connections": len(found.flows), "triggers": len(found.triggers.known),
        "failures": found.failures, "bytes": found.flows.bytes(), "started_later": late,
        "started_by_triggers": len(found.triggers.started),
    }  # fmt: skip


def _remarks(found: _Matrix) -> list[str]:
    out = []
    if any(found.flows.start):
        out.append("starts are picoseconds, as csg-htsim and UEC's htsim read them; older htsim took microseconds")
    if found.failures:
        out.append(f"{counted(found.failures, 'failure')} of links or switches: left out")
    if len(found.priorities) > 1:
        out.append("priorities of connections are left out: all are alike here")
    return out
