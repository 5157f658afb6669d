"""Flat algorithms on nested levels: which level each round goes over, and what the busiest ports carry.

What belongs here: closed forms of algorithms that know of no levels, on networks that have several. A schedule made once says
who sends to whom; that does not depend on the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from hopline.machine.fabric import Levels
from hopline.model.collective.rounds import Form, Rounds, Step
from hopline.schedule.operations import SEND, Index, Schedule, channel


@dataclass(frozen=True, slots=True)
class Load:
    """What one port carries: messages, and their bytes as a part of the size."""

    level: int
    messages: int
    part: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Of a schedule on levels: the levels that each round goes over, and the busiest ports of each level.

    ``pieces``: at most as many is a message cut into. ``whole``: bytes from which on no message is empty, if any has bytes:
    below them some may not be sent at all.
    """

    rounds: tuple[tuple[int, ...], ...]
    loads: tuple[Load, ...]
    pieces: int
    whole: int


def seen(schedule: Schedule, fabric: Levels, size: int) -> Seen:
    """Read off ``schedule``, made for ``size`` bytes, uncut."""
    columns = schedule.columns
    rows = np.flatnonzero(columns.kind == SEND)
    ways = fabric.ways(columns.rank[rows], columns.peer[rows], channel(columns.lane[rows]))
    touched = np.zeros((len(schedule.rounds), len(fabric.curves)), bool)
    if len(touched):
        touched[np.searchsorted(schedule.rounds, rows, side="right") - 1, ways.curve] = True
    rounds = tuple(tuple(np.flatnonzero(levels).tolist()) for levels in touched if levels.any())
    loads = [
        load
        for level in range(len(fabric.curves))
        for ports in (ways.out, ways.into)
        for load in _busiest(level, ports[ways.curve == level], columns.size[rows][ways.curve == level] / size)
    ]
    sizes = columns.size[rows]
    smallest = int(sizes[sizes > 0].min(initial=size))
    return Seen(rounds, tuple(dict.fromkeys(loads)), schedule.ranks, -(-size // smallest))


def _busiest(level: int, ports: Index, parts: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Iterator[Load]:
    """The port with the most messages, and that with the most bytes."""
    if not len(ports):
        return
    messages, carried = np.bincount(ports), np.bincount(ports, weights=parts)
    for port in {int(messages.argmax()), int(np.where(messages, carried, -1.0).argmax())}:
        yield Load(level, int(messages[port]), float(carried[port]))


def nested(form: Form, flat: Seen | None, size: int, chunks: int) -> Form:
    """``form``, whose rounds know of no levels, on levels of which ``flat`` was seen.

    Where the rounds are those of the schedule, each goes over the slowest of the levels it was seen on; else over the slowest
    of all. That is an upper bound, since a rank may be ahead of others. Lower bounds are what single ports carry (``chunks``
    makes as many messages of each), those of the form, and, where it is exact on one level, its rounds each over the fastest
    of its levels: some chain of messages that wait for one another has one of each round. ``flat`` None: nothing was seen.
    """
    plain = tuple(step for step in form.rounds if isinstance(step, Rounds))
    told = flat is not None and len(flat.rounds) == form.count and plain == form.rounds
    rounds: tuple[Step, ...] = tuple(_on_levels(plain, flat.rounds)) if flat is not None and told else form.rounds
    chain = tuple(step for step in rounds if isinstance(step, Rounds))
    least = list(form.least) or [chain if len(chain) == len(rounds) else ()]
    if flat is not None and size >= flat.whole:
        least += [(_carried(load, max(0, size - flat.pieces), chunks),) for load in flat.loads]
    return Form(rounds, form.sent, tuple(least))


def _carried(load: Load, size: int, chunks: int) -> Rounds:
    """``size``: bytes less one for each piece, since pieces that are smaller than others may be this port's."""
    carried = size * load.part
    messages = load.messages * max(1, min(chunks, int(carried / load.messages)))
    return Rounds(messages, carried / messages, level=load.level)


def _on_levels(rounds: tuple[Rounds, ...], levels: Sequence[tuple[int, ...]]) -> Iterator[Rounds]:
    begun = 0
    for alike in rounds:
        if alike.size is None:
            yield alike
            continue
        own = levels[begun : begun + alike.count]
        begun += alike.count
        for among, same in groupby(own):
            yield replace(alike, count=len(list(same)), level=among)
