"""Random schedules and fabrics for the tests of the engines."""

from __future__ import annotations

from random import Random

import numpy as np

from hopline.curve import Curve
from hopline.machine.fabric import Fabric, Level, Levels, Ways
from hopline.schedule.operations import COMPUTE, COPY, DTYPES, FREE, NONE, RECV, REDUCE, SEND, Columns, Schedule

Row = dict[str, int]


class Tangled(Fabric):
    """Few ports of which any message may take any two, or one twice."""

    def __init__(self, ranks: int, ports: int, curves: tuple[Curve, ...]) -> None:
        self.name, self.ranks, self.ports, self.curves = "tangled", ranks, ports, curves
        self.reduce, self.copy = 1e-12, 0.0

    def ways(self, sender, receiver, channel):
        """Some ports for each pair and channel."""
        pair = sender.astype(np.int64) * 7919 + receiver * 104729 + channel * 31
        return Ways(
            *((pair // k % n).astype(np.int32) for k, n in ((1, len(self.curves)), (3, self.ports), (5, self.ports)))
        )

    def port(self, number):
        """Its number."""
        return f"port {number}"


def schedule_of(ranks: int, rows: list[Row], more=(), begun=(), rounds=(), name: str = "drawn") -> Schedule:
    """Rows as dicts; what is not said is 0, and NONE for peer and after."""
    unset = {"peer": NONE, "after": NONE}
    columns = {key: np.array([row.get(key, unset.get(key, 0)) for row in rows], dtype) for key, dtype in DTYPES.items()}
    pairs = (np.array(wait, np.int32).reshape(-1, 2) for wait in (more, begun))
    starts = np.array(rounds, np.int64)
    return Schedule(name, ranks, Columns(**columns), rounds=starts, **dict(zip(("more", "begun"), pairs, strict=True)))


def message(
    sender: int, receiver: int, size: int, tag: int = 0, lanes: tuple[int, int] = (0, 1), **more: int
) -> list[Row]:
    """A Send and its Recv; ``after`` and ``after_recv``."""
    after = {"after": more.get("after", NONE)}, {"after": more.get("after_recv", NONE)}
    shared = {"size": size, "other": tag}
    send = {"kind": SEND, "rank": sender, "peer": receiver, "lane": lanes[0], **shared, **after[0]}
    return [send, {"kind": RECV, "rank": receiver, "peer": sender, "lane": lanes[1], **shared, **after[1]}]


def work(rank: int, ticks: int, lane: int = 1, **more: int) -> Row:
    """A Compute."""
    return {"kind": COMPUTE, "rank": rank, "size": ticks, "lane": lane, **more}


def any_schedule(random: Random, tidy: bool = False) -> Schedule:
    """Messages and work of up to five ranks, in an order in which most can run.

    ``tidy``: each channel has its lanes, and every row stands below what it waits for.
    """
    ranks = random.randint(1, 5)
    lanes = (1, 3) if tidy else random.choice([(0, 1), (0, 1, 2, 3), (0, FREE), (FREE,)])
    rows: list[Row] = []
    more, begun = [], []
    for _ in range(random.randint(0, 25)):
        if random.random() < 0.7:
            sender, receiver = random.randrange(ranks), random.randrange(ranks)
            size = random.choice([0, 1, 5, 5, 9])
            lane = random.choice(lanes)
            pair = (lane - 1, lane) if tidy else (lane, random.choice(lanes))
            ends = message(sender, receiver, size, random.randrange(2), pair)
            if sender == receiver and ends[0]["lane"] == ends[1]["lane"]:
                ends[0]["lane"] = ends[1]["lane"] = FREE
            if not tidy and random.random() < 0.2:
                ends.reverse()
        else:
            ends = [work(random.randrange(ranks), random.choice([0, 0, 3, 8]), random.choice(lanes))]
            ends[0]["kind"] = random.choice([REDUCE, COPY, COMPUTE])
        above = len(rows)
        for end in ends:
            before = [row for row, other in enumerate(rows[: above if tidy else None]) if other["rank"] == end["rank"]]
            if before and random.random() < 0.4:
                end["after"] = random.choice(before)
            for pairs in (more, begun):
                if before and random.random() < 0.15:
                    pairs += [(len(rows), random.choice(before)) for _ in range(random.randint(1, 2))]
            place = len(rows)
            if not tidy and random.random() < 0.02:
                end["after"] = random.randrange(place + 1)
            rows.append(end)
    rounds = sorted({0, *(random.randrange(len(rows)) for _ in range(random.randrange(3)))}) if rows else [0]
    order = random.sample(more, len(more)), random.sample(begun, len(begun))
    return schedule_of(ranks, rows, *order, rounds)


def any_fabric(random: Random, ranks: int) -> Fabric:
    """Uniform, of two levels or tangled, with messages of a few ticks, some of none."""
    curves = [Curve.line(random.choice([0, 0, 1e-12, 4e-12]), random.choice([1e12, 5e11, np.inf])) for _ in range(2)]
    kind = random.choice(["uniform", "levels", "tangled"])
    if kind == "tangled":
        return Tangled(ranks, random.randint(1, 4), tuple(curves))
    if kind == "levels" and ranks % 2 == 0:
        return Levels(
            [Level(2, curves[0], random.randint(1, 2)), Level(ranks // 2, curves[1])], reduce=2e-12, copy=1e-12
        )
    return Levels.uniform(ranks, curves[0], random.randint(1, 2), reduce=random.choice([0.0, 1e-12]))


def crowd(random: Random) -> Schedule:
    """Hundreds of messages that are ready in a few ticks, among few ranks."""
    ranks = random.randint(2, 6)
    rows: list[Row] = []
    for tag in range(random.randint(100, 300)):
        sender, receiver = random.sample(range(ranks), 2)
        rows.append(work(sender, random.choice([0, 0, 1, 7, 40]), FREE))
        last = len(rows) - 1
        rows += message(sender, receiver, random.choice([0, 1, 2, 3, 50]), tag, (FREE, FREE), after=last)
    return schedule_of(ranks, rows)
