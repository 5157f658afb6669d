"""Read Chakra execution traces: one file a rank, ``name.0.et``, ``name.1.et``, ...

What belongs here: which files belong together, what is in each, and whether a schedule can be made of them. What becomes of
nodes is ``chakra_rows``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath

from hopline.errors import FormatError, InputError
from hopline.formats.schedules.chakra_nodes import Trace
from hopline.formats.schedules.chakra_nodes import read as read_trace
from hopline.formats.schedules.chakra_rows import Composition
from hopline.formats.schedules.contents import Asked, Contents, Fact, Reading, counted, expect_no_size, idle, listed
from hopline.formats.schedules.ties import FILE_ORDER, open_ends
from hopline.formats.source import STDIN, shown
from hopline.schedule.pieces import Ints

_NAME = re.compile(r"(?P<prefix>.*?)\.(?P<rank>\d{1,7})(?P<rest>\.(?:et|json)(?:\.\w+)?)")
MOST_RANKS = 1 << 20


@dataclass(frozen=True, slots=True)
class ChakraPlan:
    """The trace of one rank, and where those of the others are; see Plan."""

    trace: Trace
    files: dict[int, str]
    """Rank -> path."""
    is_json: bool
    contents: Contents

    def reading(self, asked: Asked) -> Reading:
        """See Plan. Raises InputError where files of ranks are missing."""
        ranks = asked.ranks or 1 + max(self.files)
        collectives = any(node.type == "COMM_COLL" for node in self.trace.nodes)
        missing = sorted(set(range(ranks)) - set(self.files))
        where = shown(self.trace.path)
        expect_no_size(where, asked)
        if missing:
            raise InputError(f"{where}: there is no file of rank {listed(missing)} of {ranks} beside it")
        if asked.ranks is None and ranks == 1 and collectives:
            raise InputError(
                f"{where} has a collective, and no other rank's file stands beside it: put them there, "
                "or ask for 1 rank if there is no other"
            )
        extra = sorted(set(self.files) - set(range(ranks)))
        if extra:
            raise InputError(
                f"{where}: there are files of rank {listed(extra)} beside it, where {ranks} ranks were asked for"
            )
        traces = [self._trace(rank) for rank in range(ranks)]
        made = Composition(self.contents.name, traces, asked.collective)
        schedule, marks = made.schedule()
        tied = (FILE_ORDER,) if open_ends(schedule) else ()
        remarks = (*self.contents.remarks, *made.remarks(), *tied, *idle(ranks, schedule.columns.rank))
        return Reading(schedule, replace(self.contents, ranks=ranks), remarks, partial(_place, made, marks))

    def _trace(self, rank: int) -> Trace:
        path = self.files[rank]
        return self.trace if path == self.trace.path else read_trace(path, self.is_json)


def _place(made: Composition, marks: Ints, row: int) -> str:
    return made.place(int(marks[row]))


def read(path: str) -> ChakraPlan:
    """The plan of the binary trace at ``path`` and of those beside it. Raises FormatError."""
    return _plan(path, is_json=False)


def read_json(path: str) -> ChakraPlan:
    """The plan of the JSON trace at ``path`` and of those beside it. Raises FormatError."""
    return _plan(path, is_json=True)


def _plan(path: str, is_json: bool) -> ChakraPlan:
    trace = read_trace(path, is_json)
    name, files = siblings(path)
    return ChakraPlan(trace, files, is_json, _contents(trace, name, files, is_json))


def siblings(path: str) -> tuple[str, dict[int, str]]:
    """Name without rank, and the files of the same name and other ranks in its folder. Without a rank: rank 0, alone."""
    pure = PurePath(path)
    found = _NAME.fullmatch(pure.name)
    if path == STDIN or found is None:
        return (pure.name if path != STDIN else "chakra"), {0: path}
    files: dict[int, str] = {}
    try:
        names = os.listdir(pure.parent)
    except OSError as error:
        raise FormatError(f"{shown(str(pure.parent))} cannot be listed: {error.strerror}") from None
    for name in names:
        other = _NAME.fullmatch(name)
        if (
            other
            and (other["prefix"], other["rest"]) == (found["prefix"], found["rest"])
            and int(other["rank"]) < MOST_RANKS
        ):
            files.setdefault(int(other["rank"]), str(pure.parent / name))
    files[int(found["rank"])] = path
    return found["prefix"], files


def _contents(trace: Trace, name: str, files: dict[int, str], is_json: bool) -> Contents:
    collectives = [node for node in trace.nodes if node.type == "COMM_COLL"]
    sizes = [node.number("comm_size", 0) for node in collectives]
    facts: dict[str, Fact] = {
        "version": trace.version, "nodes": len(trace.nodes), "nodes_by_type": counted(node.type for node in trace.nodes),
        "comm_type": counted(node.collective for node in collectives), "comm_size_total": sum(sizes),
        "comm_size_distinct": tuple(sorted(set(sizes))),
    }  # fmt: skip
    if trace.nodes:
        facts |= {"first_id": trace.nodes[0].id, "first_name": trace.nodes[0].name}
    facts |= {
        "data_deps": sum(len(node.data) for node in trace.nodes), "ctrl_deps": sum(len(node.control) for node in trace.nodes),
        "files": len(files),
    }  # fmt: skip
    remarks = (
        (f"counts are those of {shown(trace.path)}; {len(files)} ranks' files stand there",) if len(files) > 1 else ()
    )
    return Contents("chakra-json" if is_json else "chakra", name, len(files), facts, None, remarks)
