"""Traces of a made step in which kernels and transfers slow one another down by known factors."""

from dataclasses import replace

import numpy as np

from hopline.jobs.what_ifs import inferred
from hopline.records.trace import NONE, Events
from hopline.sim.activities import simulate_activities


def contended(traces, factors):
    """The traces again, with ``factors`` (2, ranks) between kernels and transfers, and the seconds that the step then takes."""
    base = inferred(list(traces))
    made = replace(base.activities, slowdown=np.asarray(factors, np.float64))
    played = simulate_activities(made)
    again = []
    for number, trace in enumerate(traces):
        low = base.span[0] - (int(trace.base) - int(traces[0].base))
        mine = np.flatnonzero((made.rank == number) & (base.event != NONE))
        events = trace.events
        start, end = events.start.copy(), events.end.copy()
        start[base.event[mine]], end[base.event[mine]] = (
            played.ready[mine] // 1000 + low,
            played.end[mine] // 1000 + low,
        )
        last = int(played.end[made.rank == number].max()) // 1000 + low
        waits = [
            row
            for row in range(len(events))
            if trace.names[events.name[row]] in ("cudaDeviceSynchronize", "ProfilerStep#1")
        ]
        end[waits] = last
        order = np.lexsort((-end, start))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        columns = (events.kind, events.name, start, end, events.lane, events.correlation)
        again.append(
            replace(
                trace,
                events=Events(*(column[order].copy() for column in columns)),
                collectives=tuple(replace(each, row=int(place[each.row])) for each in trace.collectives),
                syncs=replace(trace.syncs, row=place[trace.syncs.row].astype(np.int32)),
                steps=tuple(replace(step, end=last) for step in trace.steps),
            )
        )
    return again, played.ticks * 1e-12
