"""Schedules drawn by chance: few ranks, all kinds, lanes and FREE, after, more and begun. Most are wrong in some way, some are not."""

import numpy as np

from hopline.schedule.operations import COMPUTE, COPY, DTYPES, FREE, NONE, RECV, REDUCE, SEND, Buffer, Columns, Schedule
from hopline.schedule.promises import Promise, given, nothing, wanted

ROOM = 6


def messages(rng, ranks, count):
    """Rows of messages and local operations, as dictionaries, in an order in which a Recv may stand above its Send."""
    rows = []
    for _ in range(count):
        rank, size = int(rng.integers(ranks)), int(rng.integers(0, 3))
        places = [int(rng.integers(0, ROOM - size + 1)) for _ in range(2)]
        lane = lambda: int(rng.choice([0, 1, 2, FREE]))  # noqa: E731
        if ranks > 1 and rng.random() < 0.6:
            peer = (rank + int(rng.integers(1, ranks))) % ranks
            tag = int(rng.integers(0, 2))
            send = {
                "kind": SEND,
                "rank": rank,
                "peer": peer,
                "start": places[0],
                "size": size,
                "other": tag,
                "lane": lane(),
            }
            recv = send | {"kind": RECV, "rank": peer, "peer": rank, "start": places[1], "buffer": 1, "lane": lane()}
            rows += [send | {"buffer": int(rng.integers(2))}, recv | {"buffer": int(rng.integers(2))}]
        else:
            kind = int(rng.choice([REDUCE, COPY, COMPUTE]))
            buffer = int(rng.integers(2))
            own = {
                "kind": kind,
                "rank": rank,
                "peer": NONE,
                "lane": lane(),
                "size": size,
                "start": places[0],
                "other": places[1],
            }
            rows.append(own | {"buffer": buffer, "source": 1 - buffer})
    return rows


def waits(rng, rows, share):
    """after, more and begun, mostly on earlier rows of the rank."""
    pairs = {"more": [], "begun": []}
    for i, row in enumerate(rows):
        row["after"] = NONE
        mine = [j for j, other in enumerate(rows) if other["rank"] == row["rank"] and (j < i or rng.random() < 0.02)]
        if mine and rng.random() < share:
            row["after"] = int(rng.choice(mine))
        for name in pairs:
            if mine and rng.random() < share / 3:
                pairs[name].append((i, int(rng.choice(mine))))
    return {name: np.array(found, np.int32).reshape(-1, 2) for name, found in pairs.items()}


def promise(rng, ranks):
    """A barrier, or sums and pieces here and there."""
    if rng.random() < 0.2:
        return nothing("barrier")
    gave = given(np.arange(ranks), 0, ROOM)
    rank, start, other = int(rng.integers(ranks)), *rng.integers(0, ROOM - 1, 2).tolist()
    origin = int(rng.integers(-1, ranks))
    return Promise(
        "drawn", gave, wanted(rank, start, int(rng.integers(0, 3)), origin, other, buffer=int(rng.integers(2)))
    )


def schedule(seed):
    """One of them, small."""
    rng = np.random.default_rng(seed)
    ranks = int(rng.integers(1, 5))
    rows = messages(rng, ranks, int(rng.integers(1, 9)))
    if rng.random() < 0.5:
        rows = [rows[i] for i in rng.permutation(len(rows))]
    pairs = waits(rng, rows, rng.choice([0.3, 0.95]))
    unset = {"buffer": 0, "source": 0, "peer": NONE}
    columns = {
        name: np.array([row.get(name, unset.get(name)) for row in rows], dtype) for name, dtype in DTYPES.items()
    }
    buffers = (Buffer("data", ROOM), Buffer("scratch", ROOM))
    return Schedule(f"drawn-{seed}", ranks, Columns(**columns), buffers, promise(rng, ranks), **pairs)
