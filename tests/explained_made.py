"""Explained steps to show: small ones made of numbers, of any number of ranks, steps and collectives.

A step of a rank: kernels of its layers, beside each an all-gather that compute covers, then an all-reduce for which all wait.
The path is known: it goes over whoever comes last.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopline.records.breakdown import Breakdown
from hopline.records.contention import Slowdown
from hopline.records.critical import CriticalPath, Stretch
from hopline.records.explained import Explained, StepSpan
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import KERNEL, NONE, Collective, Events, Lane, Step, Trace
from hopline.records.what_if import Part, WhatIf, WhatIfs
from hopline.study.blame import blame
from hopline.study.rates import rates
from hopline.study.stragglers import stragglers
from hopline.study.waiting import untold, waited

LAYERS = ("gemm_kernel<float, 128, 64>", "softmax_warp_forward", "elementwise_kernel")
PAUSE = 20_000
"""Nanoseconds between two steps."""


def made(ranks=4, steps=3, collectives=True, layers=6, seed=1, names=LAYERS, gpu=True, known=True, findings=None):
    """An Explained; rank 1 % ranks is slow. ``known``: whether transfer can be told; ``gpu``: whether there is any work."""
    rng = np.random.default_rng(seed)
    rows = [[] for _ in range(ranks)]
    met, stretches, spans = [], [], []
    now = 0
    for step in range(steps):
        begin, ready = now, []
        for rank in range(ranks):
            at = begin + 5_000
            for layer in range(layers):
                took = int(rng.integers(40_000, 60_000) * (1.4 if rank == 1 % ranks else 1.0))
                rows[rank].append((names[layer % len(names)], 0, at, at + took, None))
                if collectives and layer:
                    rows[rank].append(
                        ("ncclDevKernel_AllGather_RING_LL", 1, at + 1_000, at + took - 9_000, "all_gather")
                    )
                at += took + 2_000
            ready.append(at)
        end = max(ready) + 60_000 if collectives else max(ready)
        last = int(np.argmax(ready))
        stretches.append(Stretch("launch", last, NONE, begin, begin + 5_000))
        stretches += _computed(rows[last], last, layers, collectives, ready[last])
        if collectives:
            for rank in range(ranks):
                rows[rank].append(("ncclDevKernel_AllReduce_RING_LL", 1, ready[rank], end, "all_reduce"))
            stretches.append(Stretch("transfer", last, NONE, ready[last], end))
        stretches.append(Stretch("idle", last, NONE, end, end + PAUSE))
        spans.append((step, begin, end))
        met.append((ready, end, last))
        now = end + PAUSE
    traces, orders = zip(*(_trace(rank, ranks, rows[rank] if gpu else [], spans) for rank in range(ranks)), strict=True)
    meetings = tuple(_meetings(traces, met, known)) if collectives and gpu else ()
    path = CriticalPath(0, now, tuple(_placed(stretches, rows, orders, collectives))) if gpu else None
    parts = tuple(_parts(trace, 0, now) for trace in traces)
    clocks = Clocks(np.zeros(ranks, np.int64), np.full(ranks, 900), np.zeros(ranks, np.int32), ("meetings",) * ranks)
    return Explained(
        traces=traces,
        clocks=clocks,
        what=f"{steps} steps" if steps > 1 else "step 0",
        start=0,
        end=now,
        meetings=meetings,
        breakdowns=parts,
        findings=findings or ("ranks wait for rank 1: it comes last in every all-reduce", "communication is exposed"),
        rates=rates(meetings),
        steps=tuple(
            StepSpan(n, a, b, {i: _parts(t, a, b) for i, t in enumerate(traces) if len(t.events)}) for n, a, b in spans
        ),
        path=path,
        blame=blame(path, traces, clocks, meetings) if path else None,
        stragglers=stragglers(traces, meetings) if meetings else None,
        waited=waited(traces, meetings, parts),
        untold=untold(traces, meetings, parts),
        what_ifs=_asked(now, ranks) if path else None,
        told=("rank 9 of the group has no trace",),
    )


def partly(known, **more):
    """One of ``made`` in which transfer is known of the first ``known`` meetings only."""
    explained = made(**more)
    meetings = tuple(
        meeting if place < known else replace(meeting, transfer=None, last=None)
        for place, meeting in enumerate(explained.meetings)
    )
    parts = explained.breakdowns
    return replace(
        explained,
        meetings=meetings,
        rates=rates(meetings),
        stragglers=stragglers(explained.traces, meetings),
        waited=waited(explained.traces, meetings, parts),
        untold=untold(explained.traces, meetings, parts),
    )


def _asked(now, ranks):
    """Answers as ``study.what_if`` gives them, from the top of the head."""
    time = now * 1e-9
    bind = (Part("compute", time / 2),)
    slow = (Slowdown("compute", None, 1.12, 1.05, 1.2, 40, "40 pairs"),)
    asked = (
        WhatIf("communication", 2.0, "communication 2 times as fast", time, 0.94 * time, 0.88 * time, bind),
        WhatIf("straggler", None, "rank 1 as fast as the median", time, 0.75 * time, None, bind),
        WhatIf("compute", 0.9, "kernels 0.9 times as fast", time, 1.06 * time, 0.3 * time, bind),
    )
    return WhatIfs(time, time, (0.004,) * ranks, 0.88 * time, bind, slow, asked)


def _computed(rows, last, layers, collectives, ready):
    """Stretches of the kernels of the slowest rank in this step, and of the pauses between them."""
    kernels = [i for i, row in enumerate(rows) if row[1] == 0][-layers:]
    for this, after in zip(kernels, [*kernels[1:], None], strict=True):
        yield Stretch("compute", last, this, rows[this][2], rows[this][3])
        yield Stretch("launch", last, NONE, rows[this][3], ready if after is None else rows[after][2])


def _placed(stretches, rows, orders, collectives):
    """Rows as they stand in the events, which are ordered by start."""
    for s in stretches:
        row = s.row
        if s.part == "transfer":
            row = next(i for i, r in enumerate(rows[s.trace]) if r[4] == "all_reduce" and r[3] == s.end)
        yield s if row == NONE else Stretch(s.part, s.trace, int(orders[s.trace][row]), s.start, s.end)


def _trace(rank, world, rows, spans):
    order = sorted(range(len(rows)), key=lambda i: (rows[i][2], -rows[i][3]))
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows))
    names = tuple(dict.fromkeys(row[0] for row in rows))
    ordered = [rows[i] for i in order]
    events = Events(
        np.full(len(rows), KERNEL, np.uint8),
        np.array([names.index(row[0]) for row in ordered], np.int32),
        np.array([row[2] for row in ordered], np.int64),
        np.array([row[3] for row in ordered], np.int64),
        np.array([row[1] for row in ordered], np.int32),
        np.full(len(rows), NONE, np.int64),
    )
    collectives = tuple(
        Collective(i, row[4], 1 << 20, group="0", count=world) for i, row in enumerate(ordered) if row[4]
    )
    lanes = (Lane("stream", 0, 7), Lane("stream", 0, 20))
    marks = tuple(Step(number, start, end) for number, start, end in spans)
    return Trace(f"rank{rank}.json", rank, world, 0, True, names, lanes, events, collectives, marks), place


def _meetings(traces, met, known):
    rows = [[c.row for c in trace.collectives if c.op == "all_reduce"] for trace in traces]
    every = np.arange(len(traces), dtype=np.int32)
    for number, (ready, end, last) in enumerate(met):
        starts = np.array(ready, np.int64)
        late = np.sort(starts)
        yield Meeting(
            "all_reduce", "0", number, every, np.array([r[number] for r in rows], np.int32), starts,
            np.full(len(traces), end), size=1 << 20, ranks=len(traces),
            transfer=int(end - starts.max()) if known and len(traces) > 1 else None, last=last if known and len(traces) > 1 else None,
            margin=int(late[-1] - late[-2]) if len(late) > 1 else 0,
        )  # fmt: skip


def length(pieces):
    """Nanoseconds covered by (start, end) pairs, the slow and plain way."""
    total, until = 0, None
    for start, end in sorted(pieces):
        begin = start if until is None else max(start, until)
        total += max(0, end - begin)
        until = end if until is None else max(until, end)
    return total


def _parts(trace, start, end):
    marks = trace.is_communication()
    cut = [
        (max(start, a), min(end, b), m)
        for a, b, m in zip(trace.events.start.tolist(), trace.events.end.tolist(), marks, strict=True)
    ]
    inside = [(a, b, m) for a, b, m in cut if b > a]
    everything = length([(a, b) for a, b, _ in inside])
    compute = length([(a, b) for a, b, m in inside if not m])
    talks = [(a, b) for a, b, m in inside if m]
    return (
        Breakdown(start, end, everything, compute, compute, sum(b - a for a, b in talks), length(talks))
        if marks.size
        else None
    )
