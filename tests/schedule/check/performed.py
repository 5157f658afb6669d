"""Schedules really done: bytes move, in any order that the rules allow. Knows the rules of operations.py, and nothing of check.

Each operation has three events: it begins, touches its bytes, ends. What each waits for is written down below from the rules;
an order of all events is one performance. Sums are of random 64-bit numbers, one for each byte, modulo 2^64.
"""

from collections import defaultdict

import numpy as np

from hopline.schedule.operations import COPY, FREE, NONE, RECV, REDUCE, SEND
from hopline.schedule.promises import EVERY

BEGIN, TOUCH, END = range(3)


class Stage:
    """A schedule, and what each event waits for, where sends block or are buffered."""

    def __init__(self, schedule):
        self.schedule = schedule
        columns = schedule.columns
        self.rows = [
            dict(
                zip(
                    ("kind", "lane", "buffer", "source", "rank", "peer", "after", "start", "size", "other"),
                    row,
                    strict=True,
                )
            )
            for row in zip(
                *(
                    getattr(columns, n).tolist()
                    for n in ("kind", "lane", "buffer", "source", "rank", "peer", "after", "start", "size", "other")
                ),
                strict=True,
            )
        ]
        self.mate = self._mates()

    def _mates(self):
        ways, mate = defaultdict(lambda: ([], [])), {}
        for i, row in enumerate(self.rows):
            if row["kind"] in (SEND, RECV):
                ends = (row["rank"], row["peer"]) if row["kind"] == SEND else (row["peer"], row["rank"])
                ways[(*ends, row["other"])][row["kind"]].append(i)
        self.alone = 0
        for sends, recvs in ways.values():
            self.alone += abs(len(sends) - len(recvs))
            mate.update(zip(sends, recvs, strict=False))
            mate.update(zip(recvs, sends, strict=False))
        return mate

    def needs(self, blocking):
        """Event -> events before it; an event is (row, BEGIN | TOUCH | END)."""
        needs, lanes = {}, {}
        for i, row in enumerate(self.rows):
            begin = [] if row["after"] == NONE else [(row["after"], END)]
            if row["lane"] != FREE:
                lane = (row["rank"], row["lane"])
                begin += [(lanes[lane], END)] if lane in lanes else []
                lanes[lane] = i
            needs[i, BEGIN], needs[i, TOUCH], needs[i, END] = begin, [(i, BEGIN)], [(i, TOUCH)]
            other = self.mate.get(i)
            if row["kind"] == RECV and other is not None:
                needs[i, TOUCH].append((other, TOUCH))
            if row["kind"] == SEND and blocking and other is not None:
                needs[i, TOUCH].append((other, BEGIN))
                needs[i, END].append((other, TOUCH))
        for pairs, event in ((self.schedule.more, END), (self.schedule.begun, BEGIN)):
            for row, before in pairs.tolist():
                needs[row, BEGIN].append((before, event))
        return needs

    def perform(self, blocking, weight, act=lambda row: None):
        """Do events as they become ready, the least ``weight(row, event)`` first; the events done, in order."""
        needs = self.needs(blocking)
        left = {event: len(before) for event, before in needs.items()}
        after = defaultdict(list)
        for event, before in needs.items():
            for one in before:
                after[one].append(event)
        ready = [event for event, count in left.items() if not count]
        done = []
        while ready:
            event = min(ready, key=lambda e: weight(*e))
            ready.remove(event)
            done.append(event)
            if event[1] == TOUCH:
                act(event[0])
            for then in after[event]:
                left[then] -= 1
                if not left[then]:
                    ready.append(then)
        return done

    def ends(self, blocking):
        """Whether all comes to its end: which events are reached does not depend on the order."""
        return len(self.perform(blocking, lambda row, event: 0)) == 3 * len(self.rows)


def pasts(stage):
    """Of each row, the set (bits) of rows that have touched their bytes before it does in every performance; sends buffered."""
    needs, bits = stage.needs(blocking=False), {}
    for event in stage.perform(False, lambda row, event: 0):
        past = 0
        for before in needs[event]:
            past |= bits[before] | (1 << before[0] if before[1] == TOUCH else 0)
        bits[event] = past
    return [bits[i, TOUCH] for i in range(len(stage.rows))]


def touched(row):
    """(buffer, start, writes) of what a row touches."""
    if not row["size"]:
        return []
    main = [(row["buffer"], row["start"], row["kind"] != SEND)]
    return main + ([(row["source"], row["other"], False)] if row["kind"] in (REDUCE, COPY) else [])


def unordered(stage):
    """Pairs of rows that touch the same bytes, one of them writing, in no order."""
    past, ranks = pasts(stage), defaultdict(list)
    for i, row in enumerate(stage.rows):
        if row["kind"] in (SEND, RECV, REDUCE, COPY):
            ranks[row["rank"]] += [(i, row["size"], *touch) for touch in touched(row)]
    found = set()
    for touches in ranks.values():
        for n, (i, size, buffer, start, writes) in enumerate(touches):
            for j, other, place, first, too in touches[:n]:
                meet = buffer == place and start < first + other and first < start + size and (writes or too)
                if meet and i != j and not past[i] >> j & 1 and not past[j] >> i & 1:
                    found.add((min(i, j), max(i, j)))
    return found


class Data:
    """Random bytes of all ranks, what operations do to them, and what the promise makes of them."""

    def __init__(self, stage, seed):
        self.stage, schedule = stage, stage.schedule
        rng = np.random.default_rng(seed)
        self.bytes = [
            [rng.integers(0, 2**64, b.size, np.uint64) for b in schedule.buffers] for _ in range(schedule.ranks)
        ]
        self.first = [[buffer.copy() for buffer in rank] for rank in self.bytes]
        self.air = {}

    def act(self, i):
        """Touch the bytes of row ``i``."""
        row = self.stage.rows[i]
        kind, size = row["kind"], row["size"]
        if kind not in (SEND, RECV, REDUCE, COPY) or not self.stage.schedule.buffers:
            return
        own = self.bytes[row["rank"]]
        here = slice(row["start"], row["start"] + size)
        if kind == SEND:
            self.air[i] = own[row["buffer"]][here].copy()
        elif kind == RECV:
            own[row["buffer"]][here] = self.air.pop(self.stage.mate[i])
        else:
            there = own[row["source"]][row["other"] : row["other"] + size]
            own[row["buffer"]][here] = there + (own[row["buffer"]][here] if kind == REDUCE else np.uint64(0))

    def kept(self):
        """Whether every rank holds what the promise wants."""
        wanted = self.stage.schedule.promise.wanted
        columns = (wanted.rank, wanted.buffer, wanted.start, wanted.size, wanted.origin, wanted.source, wanted.other)
        for rank, buffer, start, size, origin, source, other in zip(*(c.tolist() for c in columns), strict=True):
            ranks = range(len(self.first)) if origin == EVERY else [origin]
            total = np.zeros(size, np.uint64)
            for r in ranks:
                total += self.first[r][source][other : other + size]
            if not np.array_equal(self.bytes[rank][buffer][start : start + size], total):
                return False
        return True


def drawn(stage, blocking, seed):
    """One performance with random data, in an order drawn anew: rows, ranks or kinds of event are late as chance has it."""
    rng = np.random.default_rng(seed)
    rows, ranks, events = (
        rng.random(len(stage.rows)),
        rng.random(stage.schedule.ranks) * rng.integers(0, 3),
        rng.random(3),
    )
    rank = [row["rank"] for row in stage.rows]
    data = Data(stage, seed)
    done = stage.perform(blocking, lambda row, event: rows[row] + ranks[rank[row]] + events[event], data.act)
    return len(done) == 3 * len(stage.rows) and data.kept()


def kept_in_rows(schedule):
    """Whether the promise is kept where operations run in the order of rows, as far as the rules let them; sends buffered."""
    stage = Stage(schedule)
    data = Data(stage, 1)
    stage.perform(False, lambda row, event: row, data.act)
    return data.kept()


def leaves_early(stage):
    """Whether a rank can end before another begins: none of its touches comes after one of the other's."""
    past, ranks = pasts(stage), stage.schedule.ranks
    heard = [{rank} for rank in range(ranks)]
    for i, row in enumerate(stage.rows):
        heard[row["rank"]] |= {stage.rows[j]["rank"] for j in range(len(stage.rows)) if past[i] >> j & 1}
    return any(len(ranks_heard) < ranks for ranks_heard in heard)


def verdict(schedule, seeds=range(3)):
    """What is wrong: a set of alone, sizes, deadlock, blocks, race, data, barrier; later ones only where they can be told."""
    stage = Stage(schedule)
    if stage.alone:
        return {"alone"}
    found = set()
    if any(
        row["kind"] == SEND and row["size"] != stage.rows[stage.mate[i]]["size"] for i, row in enumerate(stage.rows)
    ):
        found.add("sizes")
    if not stage.ends(blocking=True):
        found.add("blocks" if stage.ends(blocking=False) else "deadlock")
    if found & {"sizes", "deadlock"}:
        return found
    if schedule.buffers and unordered(stage):
        found.add("race")
    if schedule.promise.collective == "barrier":
        return found | ({"barrier"} if leaves_early(stage) else set())
    if "race" not in found:
        ways = (False,) if "blocks" in found else (False, True)
        outcomes = {drawn(stage, blocking, seed) for blocking in ways for seed in seeds}
        assert len(outcomes) == 1, "without a race, all performances end alike"
        found |= set() if outcomes == {True} else {"data"}
    return found
