"""What a replayed step goes to: its critical path, walked back from the last end.

What belongs here: the walk over a replay. The path through a trace as it was measured is ``critical_path``.
"""

from __future__ import annotations

from collections import Counter

from hopline.records.replay import Replay
from hopline.records.what_if import SILENT, UNEXPLAINED, Part
from hopline.schedule.activities import HOST, KINDS, NONE, SYNC, Activities, Picoseconds

TICK = 1e-12


def parts(activities: Activities, replay: Replay, quick: Picoseconds) -> tuple[Part, ...]:
    """Seconds of each part of the path, the largest first; together they are the whole replay.

    ``quick``: what a launch and a succession usually take, shape (ranks, 2), picoseconds: more is ``unexplained``.
    """
    if not len(activities):
        return ()
    kind, rank, usually = activities.kind.tolist(), activities.rank.tolist(), quick.tolist()
    ready, start, end = (column.tolist() for column in (replay.ready, replay.start, replay.end))
    cause, last = replay.cause.tolist(), replay.last.tolist()
    spent: Counter[str] = Counter()
    row = int(replay.end.argmax())
    while row != NONE:
        spent[KINDS[kind[row]]] += end[row] - start[row]
        row = last[row]
        before = cause[row]
        if before == NONE:
            spent["before"] += ready[row]
        elif (lag := ready[row] - end[before]) > 0:
            launched = kind[before] in (HOST, SYNC)
            if launched and kind[row] in (HOST, SYNC):
                spent[SILENT] += lag
            else:
                usual = min(lag, usually[rank[row]][0 if launched else 1])
                spent["launch" if launched else "gap"] += usual
                spent[UNEXPLAINED] += lag - usual
        row = before
    return tuple(Part(name, ticks * TICK) for name, ticks in spent.most_common() if ticks)
