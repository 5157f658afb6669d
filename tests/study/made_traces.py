"""Small traces made by hand: kernels and collectives with their times, and jobs of many ranks whose true clocks are known."""

import numpy as np

from hopline.records.trace import KERNEL, NONE, Collective, Events, Lane, Step, Trace


def trace(rank, kernels=(), collectives=(), *, world=None, base=0, steps=(), absolute=True, source=None):
    """Kernels are (start, end, stream) or (start, end, stream, kind); collectives (op, start, end, fields of Collective)."""
    rows = [(start, end, stream, *(kind or [KERNEL]), None) for start, end, stream, *kind in kernels]
    rows += [(start, end, 20, KERNEL, (op, more)) for op, start, end, more in collectives]
    rows.sort(key=lambda row: (row[0], -row[1]))
    streams = sorted({row[2] for row in rows})
    columns = np.array([(row[3], 0, row[0], row[1], streams.index(row[2])) for row in rows], np.int64).reshape(-1, 5).T
    events = Events(
        columns[0].astype(np.uint8), columns[1].astype(np.int32), columns[2].copy(), columns[3].copy(),
        columns[4].astype(np.int32), np.full(len(rows), NONE, np.int64),
    )  # fmt: skip
    marked = tuple(Collective(row, r[4][0], **r[4][1]) for row, r in enumerate(rows) if r[4])
    return Trace(
        source or f"rank{rank}.json", rank, world, base, absolute, ("k",), tuple(Lane("stream", 0, s) for s in streams), events,
        marked, tuple(Step(*step) for step in steps),
    )  # fmt: skip


def job(tp, dp, pp, steps, rng, *, skew, jitter, drift=0.0, layers=3, named=True, messages=True, absolute=True):
    """Traces of tp x dp x pp ranks, and what must truly be added to each one's times for the first one's clock.

    All ends of a collective agree but for ``jitter`` ns; clocks are off by up to ``skew`` ns and ``drift`` s/s.
    """
    world = tp * dp * pp
    ranks = np.arange(world).reshape(pp, dp, tp)
    now = np.zeros(world)
    events = [[] for _ in range(world)]

    def compute(members, mean):
        now[members] += rng.uniform(0.7, 1.3, len(members)) * mean

    def collective(op, members, transfer, name):
        end = now[members].max() + transfer
        for rank in members:
            more = {"group": name, "ranks": tuple(int(r) for r in members)} if named else {}
            events[rank].append((op, now[rank], end + rng.uniform(0, jitter), more))
        now[members] = end + jitter

    def message(source, target, transfer):
        end = max(now[source], now[target]) + transfer
        events[source].append(("send", now[source], end + rng.uniform(0, jitter), {"peer": int(target)}))
        events[target].append(("recv", now[target], end + rng.uniform(0, jitter), {"peer": int(source)}))
        now[[source, target]] = end + jitter

    for _ in range(steps):
        for way in (1, -1):
            for stage in range(pp)[::way]:
                for replica in range(dp):
                    for _ in range(layers if tp > 1 else 0):
                        compute(ranks[stage, replica], 400e3)
                        collective("all_reduce", ranks[stage, replica], 60e3, f"tp{stage}.{replica}")
                    if messages and 0 <= stage + way < pp:
                        for k in range(tp):
                            compute(ranks[stage, replica, [k]], 300e3)
                            message(ranks[stage, replica, k], ranks[stage + way, replica, k], 30e3)
        for stage in range(pp):
            for k in range(tp if dp > 1 else 0):
                compute(ranks[stage, :, k], 200e3)
                collective("all_gather", ranks[stage, :, k], 150e3, f"dp{stage}.{k}")
    return _skewed(events, world, rng, skew, drift, absolute)


def _skewed(events, world, rng, skew, drift, absolute):
    """Give each rank a clock of its own."""
    ahead = np.rint(rng.uniform(-skew, skew, world)).astype(np.int64)
    rate = rng.uniform(-drift, drift, world)
    traces = []
    for rank in range(world):
        own = [
            (op, round(start * (1 + rate[rank])), round(end * (1 + rate[rank])), more)
            for op, start, end, more in events[rank]
        ]
        first = min((start for _, start, _, _ in own), default=0)
        shifted = [(op, start - first, end - first, more) for op, start, end, more in own]
        base = 10**18 + first + int(ahead[rank])
        traces.append(trace(rank, (), shifted, world=world, base=base, absolute=absolute))
    truth = np.array([t.base - int(ahead[t.rank]) for t in traces])
    return traces, truth - truth[0], rate
