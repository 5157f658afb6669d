"""Traces made from a graph of causes, with the graph beside them: every event begins when the last of its causes allows it.

The longest chain is known by construction, so what a study of the trace says can be compared with it to the nanosecond.
"""

import sys
from dataclasses import dataclass, field

import numpy as np

from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import CALL, KERNEL, OP, SYNC, Collective, Events, Lane, Syncs, Trace

LAUNCH, FOLLOW, CALLING, RETURN, TRANSFER = 7_000, 1_300, 4_000, 2_500, 50_000
MAIN, BACKWARD, COMPUTE, COMMUNICATE, NO_STREAM = 0, 1, 2, 3, 4
LANES = (Lane("thread", 1, 1), Lane("thread", 1, 2), Lane("stream", 0, 7), Lane("stream", 0, 20), Lane("stream", 0, -1))


@dataclass
class Node:
    """An instant: the latest of its causes (node, nanoseconds, part of the path)."""

    rank: int
    causes: list = field(default_factory=list)
    at: int | None = None

    def time(self):
        """When it is."""
        if self.at is None:
            self.at = max((cause.time() + delay for cause, delay, _ in self.causes), default=0)
        return self.at

    def tight(self):
        """The cause that was ready last."""
        return max(self.causes, key=lambda cause: cause[0].time() + cause[1], default=None)


@dataclass
class Row:
    """An event to be."""

    kind: int
    name: str
    lane: int
    start: Node
    end: Node
    correlation: int = -1
    sync: tuple | None = None


class Rank:
    """A rank's program, written as it runs: the host goes on, streams follow."""

    def __init__(self, number):
        self.number, self.rows, self.thread = number, [], MAIN
        self.now = Node(number)
        self.last = {COMPUTE: None, COMMUNICATE: None}
        self.waits = {COMPUTE: [], COMMUNICATE: []}
        self.next = 1
        self.collectives = []

    def node(self, *causes):
        """An instant of this rank."""
        return Node(self.number, list(causes))

    def think(self, time, part="host"):
        """The host runs the program; nothing shows."""
        self.now = self.node((self.now, time, part))

    def operator(self, name, time):
        """The host runs an operator."""
        begun = self.now
        self.think(time)
        self.rows.append(Row(OP, name, self.thread, begun, self.now))

    def call(self, name, time=CALLING):
        """The host calls the runtime: when, and the call's number."""
        begun, correlation = self.now, self.next
        self.next += 1
        self.think(time)
        self.rows.append(Row(CALL, name, self.thread, begun, self.now, correlation))
        return begun, correlation

    def launch(self, stream, time, name="gemm"):
        """A kernel; ``time`` None: a collective, whose end the world gives."""
        begun, correlation = self.call("cudaLaunchKernel")
        causes = [(begun, LAUNCH, "launch")]
        if self.last[stream]:
            causes.append((self.last[stream], FOLLOW, "gap"))
        causes += [(waited, FOLLOW, "sync") for waited in self.waits[stream]]
        self.waits[stream] = []
        start = self.node(*causes)
        end = self.node() if time is None else self.node((start, time, "compute"))
        self.last[stream] = end
        self.rows.append(Row(KERNEL, name, stream, start, end, correlation))
        if time is None:
            self.collectives.append(self.rows[-1])

    def join(self, stream, other):
        """``stream`` waits for what ``other`` was given so far."""
        _, record = self.call("cudaEventRecord", 1_000)
        begun, correlation = self.call("cudaStreamWaitEvent", 1_000)
        told = LANES[other].number, record
        self.rows.append(Row(SYNC, "Stream Wait Event", stream, begun, begun, correlation, told))
        if self.last[other]:
            self.waits[stream].append(self.last[other])

    def hold(self, stream=None):
        """The host waits for a stream, or for all."""
        begun, correlation = self.now, self.next
        self.next += 1
        ends = [
            self.last[each] for each in ((COMPUTE, COMMUNICATE) if stream is None else (stream,)) if self.last[each]
        ]
        self.now = self.node((begun, RETURN, "host"), *((end, RETURN, "sync") for end in ends))
        name = "cudaDeviceSynchronize" if stream is None else "cudaStreamSynchronize"
        self.rows.append(Row(CALL, name, self.thread, begun, self.now, correlation))
        what, lane = ("Context Sync", NO_STREAM) if stream is None else ("Stream Sync", stream)
        self.rows.append(Row(SYNC, what, lane, begun, self.now, correlation, (-1, -1)))

    def switch(self, thread, time=900):
        """Another thread gets the word."""
        self.think(time)
        self.thread = thread

    def warm_up(self):
        """Launches on an idle stream and on a busy one, so that the trace shows what these cost."""
        for _ in range(4):
            self.launch(COMPUTE, 900)
            self.think(30_000)
        for _ in range(6):
            self.launch(COMPUTE, 60_000)
        self.hold()


def meet(ranks, transfer=TRANSFER):
    """Join the collectives of all ranks by order: none ends before ``transfer`` after the last has come."""
    part = "transfer" if len(ranks) > 1 else "communication"
    for together in zip(*(rank.collectives for rank in ranks), strict=True):
        for row in together:
            row.end.causes = [(other.start, transfer, part) for other in together]


def trace_of(rank, shift=0, *, syncs=True):
    """The trace of a rank on a clock that is ``shift`` behind, and the row of each of its collectives."""
    rows = sorted(
        (row for row in rank.rows if syncs or row.kind != SYNC), key=lambda row: (row.start.time(), -row.end.time())
    )
    names = sorted({row.name for row in rows})
    where = {id(row): at for at, row in enumerate(rows)}

    def column(values, dtype=np.int64):
        return np.array(list(values), dtype)

    events = Events(
        column((row.kind for row in rows), np.uint8),
        column((names.index(row.name) for row in rows), np.int32),
        column(row.start.time() - shift for row in rows),
        column(row.end.time() - shift for row in rows),
        column((row.lane for row in rows), np.int32),
        column(row.correlation for row in rows),
    )
    met = tuple(Collective(where[id(row)], "all_reduce", group="0") for row in rank.collectives)
    told = [row for row in rows if row.sync]
    waits = Syncs(
        column((where[id(row)] for row in told), np.int32),
        column(row.sync[0] for row in told),
        column(row.sync[1] for row in told),
    )
    return Trace(f"rank{rank.number}.json", rank.number, None, 0, True, tuple(names), LANES, events, met, syncs=waits)


def brought_together(ranks, shifts=None, *, syncs=True, transfer=TRANSFER):
    """(traces, clocks, meetings) of ranks whose clocks are known."""
    shifts = shifts or [0] * len(ranks)
    traces = [trace_of(rank, shift, syncs=syncs) for rank, shift in zip(ranks, shifts, strict=True)]
    zeros = np.zeros(len(ranks), np.int32)
    clocks = Clocks(np.array(shifts, np.int64), zeros.astype(np.int64), zeros, ("given",) * len(ranks))
    meetings = []
    for number in range(len(ranks[0].collectives) if len(ranks) > 1 else 0):
        row = np.array([trace.collectives[number].row for trace in traces], np.int32)
        start = np.array([rank.collectives[number].start.time() for rank in ranks])
        end = np.array([rank.collectives[number].end.time() for rank in ranks])
        order, every = np.sort(start), np.arange(len(ranks), dtype=np.int32)
        last, margin = int(start.argmax()), int(order[-1] - order[-2])
        met = Meeting("all_reduce", "0", number, every, row, start, end, (), 8, len(ranks), transfer, last, margin)
        meetings.append(met)
    return traces, clocks, meetings


def longest(ranks):
    """(part, rank, start, end) of the longest chain, in order of time, neighbours of one part and rank joined."""
    sys.setrecursionlimit(100_000)
    rows = (row for rank in ranks for row in rank.rows if row.kind != SYNC)
    node = max(rows, key=lambda row: (row.end.time(), row.kind == KERNEL, row.start.time(), row.end.rank)).end
    chain = []
    while node.causes:
        cause, _, part = node.tight()
        chain.append((part, node.rank, cause.time(), node.time()))
        node = cause
    return joined(reversed(chain))


def joined(stretches):
    """Neighbours of one part and rank as one, those without length left out."""
    out = []
    for part, rank, start, end in stretches:
        if end == start:
            continue
        if out and out[-1][:2] == (part, rank) and out[-1][3] == start:
            out[-1] = (part, rank, out[-1][2], end)
        else:
            out.append((part, rank, start, end))
    return out


def drawn(rng, ranks, actions):
    """Ranks with the same collectives in the same order, and all else drawn."""
    made = [Rank(number) for number in range(ranks)]
    for rank in made:
        rank.think(int(rng.integers(1, 90_000)), "idle")
        rank.warm_up()
    for _ in range(actions):
        if rng.random() < 0.15:
            for rank in made:
                if rng.random() < 0.5:
                    rank.join(COMMUNICATE, COMPUTE)
                rank.launch(COMMUNICATE, None, "ncclDevKernel_AllReduce_RING_LL")
        for rank in made:
            act(rng, rank)
    for rank in made:
        rank.hold()
    meet(made)
    return made


def act(rng, rank):
    """Something that a program does."""
    choice = rng.random()
    if choice < 0.5:
        rank.launch(COMPUTE, int(rng.integers(2_000, 120_000)))
    elif choice < 0.6:
        rank.join(*((COMPUTE, COMMUNICATE) if rng.random() < 0.5 else (COMMUNICATE, COMPUTE)))
    elif choice < 0.65:
        rank.launch(COMMUNICATE, int(rng.integers(2_000, 90_000)), "copy_kernel")
    elif choice < 0.75:
        rank.hold(None if rng.random() < 0.3 else int(rng.choice((COMPUTE, COMMUNICATE))))
    elif choice < 0.85:
        rank.switch(int(rng.choice((MAIN, BACKWARD))))
        rank.operator("aten::mm", int(rng.integers(5_000, 50_000)))
    else:
        rank.operator("aten::add", int(rng.integers(2_000, 90_000)))
        rank.think(int(rng.integers(1, 20_000)))
