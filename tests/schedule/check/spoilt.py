"""Mutants: ways to spoil a right schedule. Each takes a schedule and a generator of chance, and gives a spoilt one or None."""

from dataclasses import replace

import numpy as np

from hopline.schedule.operations import COPY, DTYPES, NONE, RECV, REDUCE, SEND, Columns


def edited(schedule, **columns):
    """With other columns."""
    values = {
        name: np.array(columns.get(name, getattr(schedule.columns, name)), dtype) for name, dtype in DTYPES.items()
    }
    return replace(schedule, columns=Columns(**values))


def one(schedule, row, **values):
    """With other values in one row."""
    columns = {}
    for name, value in values.items():
        columns[name] = getattr(schedule.columns, name).copy()
        columns[name][row] = value
    return edited(schedule, **columns)


def picked(schedule, order):
    """Rows in another order, some left out or twice; who waited for one that is gone waits for nothing."""
    order = np.asarray(order)
    place = np.full(len(schedule) + 1, NONE, np.int64)
    place[order] = np.arange(len(order))
    columns = {name: getattr(schedule.columns, name)[order] for name in DTYPES}
    columns["after"] = place[columns["after"]]
    pairs = {}
    for name in ("more", "begun"):
        moved = place[getattr(schedule, name)].reshape(-1, 2)
        pairs[name] = moved[(moved != NONE).all(axis=1)].astype(np.int32)
    made = Columns(**{name: columns[name].astype(dtype) for name, dtype in DTYPES.items()})
    return replace(schedule, columns=made, rounds=np.empty(0, np.int64), **pairs)


def some(schedule, rng, kinds, where=None):
    """A row of one of ``kinds``, with bytes if any has; None: there is none."""
    fits = np.isin(schedule.columns.kind, kinds) & (True if where is None else where)
    rows = np.flatnonzero(fits & (schedule.columns.size > 0))
    rows = rows if len(rows) else np.flatnonzero(fits)
    return int(rng.choice(rows)) if len(rows) else None


def mate(schedule, row):
    """The other end, by counting."""
    c = schedule.columns
    kinds = (SEND, RECV) if c.kind[row] == SEND else (RECV, SEND)
    ends = [
        np.flatnonzero((c.kind == kind) & (c.rank == a) & (c.peer == b) & (c.other == c.other[row]))
        for kind, a, b in ((kinds[0], c.rank[row], c.peer[row]), (kinds[1], c.peer[row], c.rank[row]))
    ]
    return int(ends[1][np.flatnonzero(ends[0] == row)[0]])


def without(*kinds):
    def mutant(schedule, rng):
        row = some(schedule, rng, kinds)
        return None if row is None else picked(schedule, np.delete(np.arange(len(schedule)), row))

    return mutant


def missing_pair(schedule, rng):
    row = some(schedule, rng, [SEND])
    return None if row is None else picked(schedule, np.delete(np.arange(len(schedule)), [row, mate(schedule, row)]))


def wrong_peer(schedule, rng):
    row = some(schedule, rng, [SEND, RECV])
    if row is None or schedule.ranks == 2:
        return None
    others = set(range(schedule.ranks)) - {int(schedule.columns.rank[row]), int(schedule.columns.peer[row])}
    return one(schedule, row, peer=int(rng.choice(sorted(others))))


def wrong_tag(schedule, rng):
    row = some(schedule, rng, [SEND, RECV])
    return None if row is None else one(schedule, row, other=schedule.columns.other[row] + 77)


def resized_end(schedule, rng):
    row = some(schedule, rng, [SEND, RECV])
    if row is None or not schedule.columns.size[row]:
        return None
    return one(schedule, row, size=schedule.columns.size[row] - 1)


def short_shard(schedule, rng):
    row = some(schedule, rng, [SEND])
    if row is None or not schedule.columns.size[row]:
        return None
    return one(schedule, [row, mate(schedule, row)], size=schedule.columns.size[row] - 1)


def moved(kinds, column, buffer):
    """The range of one row starts a byte later, or earlier where there is no room."""

    def mutant(schedule, rng):
        row = some(schedule, rng, kinds)
        if row is None or not schedule.columns.size[row]:
            return None
        first, size = (int(getattr(schedule.columns, name)[row]) for name in (column, "size"))
        room = schedule.buffers[int(getattr(schedule.columns, buffer)[row])].size
        shift = 1 if first + size < room else -1
        return one(schedule, row, **{column: first + shift}) if first + shift >= 0 else None

    return mutant


def reduced_twice(schedule, rng):
    row = some(schedule, rng, [REDUCE])
    return None if row is None else picked(schedule, np.insert(np.arange(len(schedule)), row, row))


def copied_instead(schedule, rng):
    row = some(schedule, rng, [REDUCE])
    return None if row is None else one(schedule, row, kind=COPY)


def reduced_instead(schedule, rng):
    row = some(schedule, rng, [COPY])
    return None if row is None else one(schedule, row, kind=REDUCE)


def waits_for_nothing(schedule, rng):
    row = some(schedule, rng, [SEND, RECV, REDUCE, COPY], schedule.columns.after != NONE)
    return None if row is None else one(schedule, row, after=NONE)


def waits_for_the_beginning(schedule, rng):
    row = some(schedule, rng, [SEND, RECV, REDUCE, COPY], schedule.columns.after != NONE)
    if row is None:
        return None
    pair = np.array([[row, schedule.columns.after[row]]], np.int32)
    return replace(one(schedule, row, after=NONE), begun=np.concatenate([schedule.begun, pair]))


def swapped(schedule, rng):
    """Two operations of one kind on one lane, what they do exchanged: peers, ranges and tags."""
    columns = schedule.columns
    row = some(schedule, rng, [SEND, RECV])
    if row is None:
        return None
    same = (
        (columns.kind == columns.kind[row]) & (columns.rank == columns.rank[row]) & (columns.lane == columns.lane[row])
    )
    others = np.setdiff1d(np.flatnonzero(same), row)
    if not len(others):
        return None
    two = [row, int(rng.choice(others))]
    values = {name: getattr(columns, name)[two[::-1]] for name in ("peer", "buffer", "start", "size", "other")}
    return one(schedule, two, **values)


def on_one_lane(schedule, rng):
    """Sends and receives of all ranks on one lane, in the order of rows."""
    return edited(schedule, lane=schedule.columns.lane & 0xFE)


def sends_first(schedule, rng):
    """On one lane, and in each round all sends before all receives."""
    number = np.searchsorted(schedule.rounds, np.arange(len(schedule)), side="right")
    return on_one_lane(picked(schedule, np.lexsort((schedule.columns.kind != SEND, number))), rng)


def free_lane(schedule, rng):
    """One row on no lane at all."""
    row = some(schedule, rng, [SEND, RECV, REDUCE, COPY])
    return None if row is None else one(schedule, row, lane=255)


def aliased(schedule, rng):
    """Everything that goes to another buffer goes to the first, as far as it fits."""
    if len(schedule.buffers) == 1:
        return None
    return edited(schedule, buffer=np.zeros(len(schedule)), source=np.zeros(len(schedule)))


def other_buffer(schedule, rng):
    row = some(schedule, rng, [SEND, RECV])
    if row is None or len(schedule.buffers) < 2:
        return None
    return one(schedule, row, buffer=(int(schedule.columns.buffer[row]) + 1) % len(schedule.buffers))


def waits_for_itself(schedule, rng):
    """A row waits for one that waits for it."""
    columns = schedule.columns
    row = some(schedule, rng, [SEND, RECV, REDUCE, COPY], columns.after != NONE)
    if row is None:
        return None
    return one(schedule, int(columns.after[row]), after=row)


def out_of_range(schedule, rng):
    row = some(schedule, rng, range(5))
    return None if row is None else one(schedule, row, rank=schedule.ranks)


def negative_size(schedule, rng):
    row = some(schedule, rng, range(5))
    return None if row is None else one(schedule, row, size=-1)


def foreign_after(schedule, rng):
    columns = schedule.columns
    row = some(schedule, rng, range(5))
    others = np.flatnonzero(columns.rank != columns.rank[row]) if row is not None else []
    return one(schedule, row, after=int(rng.choice(others))) if len(others) else None


MUTANTS = {
    "a send is missing": without(SEND),
    "a receive is missing": without(RECV),
    "a message is missing": missing_pair,
    "a wrong peer": wrong_peer,
    "a wrong tag": wrong_tag,
    "one end a byte smaller": resized_end,
    "both ends a byte smaller": short_shard,
    "received a byte off": moved([RECV], "start", "buffer"),
    "sent a byte off": moved([SEND], "start", "buffer"),
    "added a byte off": moved([REDUCE], "start", "buffer"),
    "read a byte off": moved([REDUCE, COPY], "other", "source"),
    "reduced twice": reduced_twice,
    "not reduced": without(REDUCE),
    "not copied": without(COPY),
    "copied instead of reduced": copied_instead,
    "reduced instead of copied": reduced_instead,
    "waits for nothing": waits_for_nothing,
    "waits for the beginning": waits_for_the_beginning,
    "two messages swapped": swapped,
    "all on one lane": on_one_lane,
    "sends first, all on one lane": sends_first,
    "one on no lane": free_lane,
    "buffers are one": aliased,
    "another buffer": other_buffer,
    "waits for itself": waits_for_itself,
    "rank out of range": out_of_range,
    "negative size": negative_size,
    "waits for another rank": foreign_after,
}
