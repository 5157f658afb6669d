"""Lists of messages as schedules: each is a Send and a Recv that nothing orders, and begins when its file says.

What belongs here: from flows to rows. What a file's lines mean is ``traffic_csv``, ``traffic_ns3``, ``traffic_htsim``.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from hopline.errors import FormatError
from hopline.formats.numbered import Line
from hopline.formats.schedules.contents import Asked, Contents, Fact, Reading, expect_no_size, expect_ranks, idle, total
from hopline.formats.source import STDIN, shown
from hopline.schedule.operations import COMPUTE, DTYPES, FREE, NONE, RECV, SEND, Columns, Schedule
from hopline.schedule.pieces import Ints

MOST_RANKS = 1 << 22
LATEST = (1 << 62) - 1
"""Picoseconds: 53 days."""


@dataclass(slots=True)
class Flows:
    """Flows so far, in the order of the file: arrays, since there may be millions.

    ``start`` is picoseconds; ``waits`` has pairs (flow, other, received): a flow begins when another is sent, or received.
    """

    source: array[int] = field(default_factory=lambda: array("q"))
    target: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    line: array[int] = field(default_factory=lambda: array("q"))
    waits: list[tuple[int, int, bool]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.size)

    def add(self, line: Line, source: int, target: int, size: int, start: int = 0) -> None:
        """One more. Raises FormatError for a message of a rank to itself."""
        if source == target:
            raise line.wrong(
                f"rank {source} sends {size} bytes to itself: expected two different ranks (leave such lines out)"
            )
        if start > LATEST:
            raise line.wrong(f"it begins after {start} ps: expected at most {LATEST}")
        self.source.append(source)
        self.target.append(target)
        self.size.append(size)
        self.start.append(start)
        self.line.append(line.number)

    @property
    def highest(self) -> int:
        """The highest rank that sends or receives."""
        return max((*self.source, *self.target), default=-1)

    def bytes(self) -> int:
        """All together, however many."""
        return total(np.array(self.size, np.int64))


def name_of(path: str) -> str:
    """What to call the messages of a file."""
    return (
        "traffic"
        if path == STDIN
        else PurePath(path).name.removesuffix(".gz").rpartition(".")[0] or PurePath(path).name
    )


def contents(
    format_: str,
    path: str,
    ranks: int,
    flows: Flows,
    facts: dict[str, Fact],
    remarks: Sequence[str] = (),
    refusal: str = "",
) -> Contents:
    """What a file of messages holds. Raises FormatError where it holds none."""
    if not len(flows):
        raise FormatError(f"{shown(path)} holds no message: expected at least one")
    ends = np.concatenate([np.array(part, np.int32) for part in (flows.source, flows.target)])
    first = min(flows.start)
    begins = f"the first message begins {first / 1e12:g} s after 0: all times have that wait in them" if first else ""
    told = (*remarks, *([begins] if begins else []), *idle(ranks, ends))
    return Contents(format_, name_of(path), ranks, facts, None, told, refusal)


@dataclass(frozen=True, slots=True)
class TrafficPlan:
    """A file of messages; see Plan."""

    path: str
    contents: Contents
    flows: Flows

    def reading(self, asked: Asked) -> Reading:
        """See Plan."""
        if self.contents.refusal:
            raise FormatError(f"{shown(self.path)}: {self.contents.refusal}")
        expect_ranks(shown(self.path), self.contents.ranks, asked)
        expect_no_size(shown(self.path), asked)
        made, flow = schedule(self.contents.name, self.contents.ranks, self.flows)
        lines = self.flows.line
        return Reading(made, self.contents, self.contents.remarks, lambda row: f"line {lines[int(flow[row])]}")


def schedule(name: str, ranks: int, flows: Flows) -> tuple[Schedule, Ints]:
    """The schedule of flows, and the flow of each row.

    Of each flow: a Compute until it starts, where it does not start at once, its Send, and its Recv in the row below. All
    stand on the lane FREE. The k-th Send of a pair meets its k-th Recv.
    """
    begin, count = np.array(flows.start, np.int64), len(flows)
    late = (begin > 0).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(2 + late)])[:-1]
    send = first + late
    rows = int(2 * count + late.sum())
    columns: dict[str, NDArray[np.generic]] = {key: np.zeros(rows, dtype) for key, dtype in DTYPES.items()}
    columns["lane"][:] = FREE
    columns["peer"][:] = columns["after"][:] = NONE
    source, target = (np.array(part, np.int32) for part in (flows.source, flows.target))
    size = np.array(flows.size, np.int64)
    for at, kind, rank, peer in ((send, SEND, source, target), (send + 1, RECV, target, source)):
        columns["kind"][at], columns["rank"][at], columns["peer"][at], columns["size"][at] = kind, rank, peer, size
    waiting = np.flatnonzero(late)
    at = first[waiting]
    columns["kind"][at], columns["rank"][at], columns["size"][at] = COMPUTE, source[waiting], begin[waiting]
    columns["after"][send[waiting]] = at
    more = _wait(columns["after"], send, flows.waits)
    flow = np.repeat(np.arange(count), 2 + late)
    return Schedule(name, ranks, Columns(**columns), more=more), flow  # type: ignore[arg-type]


def _wait(after: NDArray[np.generic], send: Ints, waits: list[tuple[int, int, bool]]) -> NDArray[np.int32]:
    """Fill in the first wait of each Send; further ones are given back as pairs."""
    more: list[tuple[int, int]] = []
    for flow, other, received in waits:
        row, on = int(send[flow]), int(send[other]) + received
        if after[row] == NONE:
            after[row] = on
        else:
            more.append((row, on))
    return np.array(more, np.int32).reshape(-1, 2)
