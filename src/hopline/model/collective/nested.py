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
from hopline.model.collective.rounds import Abreast, Form, Rounds, Step
from hopline.schedule.operations import SEND, Index, Schedule, channel


@dataclass(frozen=True, slots=True)
class Load:
    """What one port carries: messages, and their bytes as a part of the size."""

    level: int
    messages: int
    part: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Of a schedule on levels: the innermost and the outermost level of each round, and the busiest ports of each level.

    ``whole``: bytes from which on no message is empty, if any has bytes: below them some may not be sent at all.
    """

    rounds: tuple[tuple[int, int], ...]
    loads: tuple[Load, ...]
    whole: int


def seen(schedule: Schedule, fabric: Levels, size: int) -> Seen:
    """Read off ``schedule``, made for ``size`` bytes, uncut."""
    columns = schedule.columns
    rows = np.flatnonzero(columns.kind == SEND)
    ways = fabric.ways(columns.rank[rows], columns.peer[rows], channel(columns.lane[rows]))
    inner, outer = np.full(len(schedule.rounds), len(fabric.curves)), np.full(len(schedule.rounds), -1)
    if len(outer):
        number = np.searchsorted(schedule.rounds, rows, side="right") - 1
        np.minimum.at(inner, number, ways.curve)
        np.maximum.at(outer, number, ways.curve)
    rounds = tuple((low, high) for low, high in zip(inner.tolist(), outer.tolist(), strict=True) if high >= 0)
    loads = [
        load
        for level in range(len(fabric.curves))
        for ports in (ways.out, ways.into)
        for load in _busiest(level, ports[ways.curve == level], columns.size[rows][ways.curve == level] / size)
    ]
    sizes = columns.size[rows]
    smallest = int(sizes[sizes > 0].min(initial=size))
    return Seen(rounds, tuple(dict.fromkeys(loads)), -(-size // smallest))


def _busiest(level: int, ports: Index, parts: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Iterator[Load]:
    """The port with the most messages, and that with the most bytes."""
    if not len(ports):
        return
    messages, carried = np.bincount(ports), np.bincount(ports, weights=parts)
    for port in {int(messages.argmax()), int(np.where(messages, carried, -1.0).argmax())}:
        yield Load(level, int(messages[port]), float(carried[port]))


def nested(form: Form, flat: Seen | None, size: int, chunks: int, outermost: int) -> Form:
    """``form``, whose rounds know of no levels, on levels of which ``flat`` was seen.

    Where the rounds are those of the schedule, each goes over the outermost of its levels; else all go over the outermost one
    of the network. That is an upper bound, since a rank may be ahead of others. Lower bounds are what single ports carry
    (``chunks`` makes as many messages of each), those of the form, and, where it is exact on one level, its rounds each over
    the innermost of its levels, or the fastest where that is not seen: then some chain of messages that wait for one another
    has one of each round. ``flat`` None: nothing was seen.
    """
    plain = tuple(step for step in form.rounds if isinstance(step, Rounds))
    told = flat is not None and len(flat.rounds) == form.count and plain == form.rounds
    loads = flat.loads if flat is not None and size >= flat.whole else ()
    least = [*form.least, *((_carried(load, size, chunks),) for load in loads)]
    if flat is not None and told:
        rounds: tuple[Step, ...] = tuple(_on_levels(plain, [high for _, high in flat.rounds]))
        chain = tuple(_on_levels(plain, [low for low, _ in flat.rounds]))
    else:
        rounds = tuple(_outermost(step, outermost) for step in form.rounds)
        chain = plain if plain == form.rounds else ()
    least += [] if form.least else [chain]
    return Form(rounds, form.sent, tuple(least))


def _outermost(step: Step, level: int) -> Step:
    if isinstance(step, Abreast):
        return Abreast(step.count, tuple(tuple(replace(alike, level=level) for alike in way) for way in step.ways))
    return replace(step, level=level)


def _carried(load: Load, size: int, chunks: int) -> Rounds:
    messages = load.messages * chunks
    return Rounds(messages, size * load.part / messages, level=load.level)


def _on_levels(rounds: tuple[Rounds, ...], levels: Sequence[int]) -> Iterator[Rounds]:
    begun = 0
    for alike in rounds:
        if alike.size is None:
            yield alike
            continue
        own = levels[begun : begun + alike.count]
        begun += alike.count
        for level, same in groupby(own):
            yield replace(alike, count=len(list(same)), level=level)
