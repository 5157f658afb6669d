"""Launches of all ranks in the making: what each host calls, what runs on which stream, and what that waits for.

What belongs here: from launches to the rows of a Schedule. A kernel is a Compute row; a launch is two more, the host's time
before the call and the lag after it; a collective is the rows of its algorithm on lanes of its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from hopline.schedule.collectives.table import find
from hopline.schedule.operations import COMPUTE, DTYPES, FREE, NONE, RECV, SEND, Columns, Schedule
from hopline.schedule.shape import Shape

HOST_LANE, STREAM_LANES = 200, 100
"""Lanes of a rank: of the host, and of stream 0; channels of collectives take those from 0 on."""
PICOSECONDS = 1e12
_TAG = 1 << 20
"""Tags of one collective; those of the next begin here."""
_PAYS_NOTHING = {"kind": COMPUTE, "lane": FREE, "peer": NONE, "after": NONE, "size": 0}


@dataclass(frozen=True, slots=True)
class Joined:
    """A collective of the program: number, what it is and who takes part; of a ``send`` the sender, then the receiver."""

    number: int
    op: str
    group: str
    sequence: int
    ranks: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Launch:
    """Something that a rank's host called.

    Attributes
    ----------
    call
        Row of the host's time before the call.
    gates
        Rows at whose ends the work can begin.
    rows
        Rows that the work is made of.
    on, after
        Other stream that it waits for by an event, and number of the launch there (NONE).
    thread
        0: the program's, 1: that of the backward pass.
    """

    rank: int
    thread: int
    stream: int
    name: str
    call: int
    gates: tuple[int, ...]
    rows: tuple[int, ...]
    on: int = NONE
    after: int = NONE
    joined: Joined | None = None


@dataclass(slots=True)
class Program:
    """What was launched so far."""

    ranks: int
    host: float
    lag: float
    noise: float
    draw: Random
    slow_host: dict[int, float] = field(default_factory=dict)
    rows: list[dict[str, int]] = field(default_factory=list)
    more: list[tuple[int, int]] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    syncs: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Rank -> row of the host's time before it waits for the GPU, and row of the end of that wait."""
    _last: dict[tuple[int, int], int] = field(default_factory=dict)
    _calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _messages: dict[tuple[str, int], Joined] = field(default_factory=dict)
    _joined: int = 0

    def kernel(self, rank: int, name: str, seconds: float, *, thread: int = 0, on: int = NONE) -> None:
        """A kernel on stream 0; ``on``: another stream whose last launch it waits for."""
        launch = self._launch(rank, thread, 0, name, on)
        row = self._row(kind=COMPUTE, rank=rank, lane=STREAM_LANES, size=self._noisy(seconds))
        self.more += [(row, gate) for gate in launch.gates]
        self._add(replace(launch, rows=(row,)))

    def collective(
        self,
        key: str,
        group: str,
        ranks: Sequence[int],
        size: int,
        stream: int,
        channel: int,
        *,
        thread: int,
        on: int = NONE,
    ) -> None:
        """All ``ranks`` launch one collective of COLLECTIVES on ``stream``."""
        made = find(key).build(Shape(len(ranks), size))
        joined = Joined(self._joined, find(key).benchmark, group, self._calls[group], tuple(ranks), size)
        self._joined += 1
        self._calls[group] += 1
        name = f"ncclDevKernel_{_KERNELS[joined.op]}_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        launches = [replace(self._launch(rank, thread, stream, name, on), joined=joined) for rank in ranks]
        base = len(self.rows)
        self._insert(made, ranks, channel, joined.number)
        for place, launch in enumerate(launches):
            first = [base + row for row in _first(made, place)]
            self.more += [(row, gate) for row in first for gate in launch.gates]
            self._add(
                replace(launch, rows=tuple(base + row for row in np.flatnonzero(made.columns.rank == place).tolist()))
            )

    def message(
        self, rank: int, peer: int, size: int, sends: bool, stream: int, channel: int, *, thread: int, on: int = NONE
    ) -> None:
        """One end of a message to or from ``peer``; ends meet in the order in which they are launched."""
        ends = (rank, peer) if sends else (peer, rank)
        group = f"p{ends[0]}-{ends[1]}"
        sequence = self._calls[f"{group} {sends}"]
        self._calls[f"{group} {sends}"] += 1
        if (group, sequence) not in self._messages:
            self._messages[group, sequence] = Joined(self._joined, "send", group, sequence, ends, size)
            self._joined += 1
        name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
        launch = replace(self._launch(rank, thread, stream, name, on), joined=self._messages[group, sequence])
        kind, lane = (SEND, 2 * channel) if sends else (RECV, 2 * channel + 1)
        row = self._row(kind=kind, rank=rank, peer=peer, lane=lane, size=size, other=stream if sends else stream + 1)
        self.more += [(row, gate) for gate in launch.gates]
        self._add(replace(launch, rows=(row,)))

    def sync(self, rank: int, tail: float) -> None:
        """The host waits for all work of the GPU, and is back ``tail`` seconds after its end."""
        call = self._host_row(rank, self._noisy(self.host))
        back = self._host_row(rank, round(tail * PICOSECONDS))
        self.more += [(back, row) for (who, _), last in self._last.items() if who == rank for row in self._ends(last)]
        self.syncs[rank] = (call, back)

    def schedule(self, name: str) -> Schedule:
        """All of it."""
        columns = {key: np.array([row[key] for row in self.rows], dtype) for key, dtype in DTYPES.items()}
        return Schedule(name, self.ranks, Columns(**columns), more=np.array(self.more, np.int32).reshape(-1, 2))

    def _launch(self, rank: int, thread: int, stream: int, name: str, on: int) -> Launch:
        call = self._host_row(rank, self._noisy(self.host))
        late = self._row(rank=rank, size=round(self.lag * PICOSECONDS), after=call)
        before = self._last.get((rank, stream), NONE)
        other = self._last.get((rank, on), NONE) if on != NONE else NONE
        ends = [row for launch in (before, other) if launch != NONE for row in self._ends(launch)]
        return Launch(rank, thread, stream, name, call, (late, *ends), (), on, other)

    def _ends(self, number: int) -> tuple[int, ...]:
        return self.launches[number].rows

    def _add(self, launch: Launch) -> None:
        self._last[launch.rank, launch.stream] = len(self.launches)
        self.launches.append(launch)

    def _row(self, **values: int) -> int:
        self.rows.append(dict.fromkeys(DTYPES, 0) | _PAYS_NOTHING | values)
        return len(self.rows) - 1

    def _host_row(self, rank: int, size: int) -> int:
        return self._row(rank=rank, lane=HOST_LANE, size=round(size * self.slow_host.get(rank, 1.0)))

    def _noisy(self, seconds: float) -> int:
        return max(1, round(seconds * math.exp(self.noise * self.draw.gauss(0.0, 1.0)) * PICOSECONDS))

    def _insert(self, made: Schedule, ranks: Sequence[int], channel: int, number: int) -> None:
        base, columns = len(self.rows), made.columns
        lists = {key: getattr(columns, key).tolist() for key in DTYPES}
        for values in zip(*lists.values(), strict=True):
            row = dict(zip(lists, values, strict=True))
            row["rank"] = ranks[row["rank"]]
            row["lane"] += 2 * channel if row["lane"] != FREE else 0
            row["after"] += base if row["after"] != NONE else 0
            if row["kind"] in (SEND, RECV):
                row["peer"], row["other"] = ranks[row["peer"]], row["other"] + number * _TAG
            self.rows.append(row)
        self.more += [(base + row, base + other) for row, other in made.more.tolist()]


_KERNELS = {
    "all_reduce": "AllReduce",
    "all_gather": "AllGather",
    "reduce_scatter": "ReduceScatter",
    "alltoall": "SendRecv",
}


def _first(made: Schedule, rank: int) -> list[int]:
    """Rows of a rank that nothing of the collective precedes on their lane."""
    found, lanes = [], set()
    for row in np.flatnonzero(made.columns.rank == rank).tolist():
        lane = int(made.columns.lane[row])
        if lane == FREE or lane not in lanes:
            found.append(row)
        lanes.add(lane)
    return found
