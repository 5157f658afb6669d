"""Changes of activities: what is faster, free, or earlier.

What belongs here: from activities and a number to other activities, and what that takes to be so. Which changes there are, by
name, is ``what_if``; cutting into buckets is ``buckets``, another machine ``swapping``, one rank ``catching_up``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopline.quantity import counted
from hopline.records.what_if import Swap
from hopline.schedule.activities import (
    COMMUNICATION,
    HOST,
    SYNC,
    TRANSFER,
    Activities,
    Picoseconds,
)
from hopline.study.replaying import Inferred


class Priced(NamedTuple):
    """Seconds of a collective after its last rank has come, and the algorithm by which it takes them."""

    time: float
    algorithm: str


Price = Callable[[str, int, tuple[int, ...]], Priced | None]
"""(op, bytes, ranks of the job) -> what a collective takes; None where no algorithm does what it does."""
MOVES = (TRANSFER, COMMUNICATION)
PICOSECONDS = 1e12


@dataclass(frozen=True, slots=True)
class Setting:
    """What a change may go by: how much, and what collectives take elsewhere."""

    value: float | None = None
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """Activities after a change, what they stand on, whom it is about, and what collectives then take.

    ``surely``: the same where communication of which waiting is not known stays as it was; None where there is none. The
    change can bring all between the two.
    """

    activities: Activities
    premises: tuple[str, ...] = ()
    who: str = ""
    prices: tuple[Swap, ...] = ()
    surely: Activities | None = None


def faster(*kinds: int) -> Callable[[Inferred, Setting], Changed]:
    """Work of these kinds takes 1 / value of its time."""

    def change(inferred: Inferred, setting: Setting) -> Changed:
        value = setting.value or 1.0
        work = np.rint(inferred.activities.work / np.where(of_kind(inferred.activities, kinds), value, 1.0)).astype(
            np.int64
        )
        return _moved(inferred, kinds, work)

    return change


def free(*kinds: int) -> Callable[[Inferred, Setting], Changed]:
    """Work of these kinds takes no time: what still waits for it does not wait longer than for the last to come."""

    def change(inferred: Inferred, _: Setting) -> Changed:
        made = inferred.activities
        work = np.where(of_kind(made, kinds), 0, made.work)
        return _moved(inferred, kinds, work)

    return change


def earlier(inferred: Inferred, _: Setting) -> Changed:
    """Collectives begin when their inputs are there and their stream is free, however late they were launched."""
    made = inferred.activities
    moves = of_kind(made, MOVES)
    launches = moves[made.done[:, 0]] & of_kind(made, (HOST, SYNC))[made.done[:, 1]]
    awaits = np.zeros(len(made), np.bool_)
    lane = inferred.lane
    elsewhere = ~launches & moves[made.done[:, 0]] & (lane[made.done[:, 0]] != lane[made.done[:, 1]])
    awaits[made.done[elsewhere, 0]] = True
    drops = launches & awaits[made.done[:, 0]]
    blind = int(np.count_nonzero(moves & ~awaits))
    told = f"{counted(blind, 'kernel')} of collectives keep their launch: the trace does not tell what work they waited for"
    return Changed(
        replace(made, done=made.done[~drops], lag=made.lag[~drops]),
        ("inputs are ready with the last work that a stream waited for", *([told] if blind else [])),
    )


def of_kind(made: Activities, kinds: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether each activity is of one of these kinds."""
    return np.isin(made.kind, kinds)


def _moved(inferred: Inferred, kinds: tuple[int, ...], work: Picoseconds) -> Changed:
    """Other work, and what is said where waiting cannot be told from transfer."""
    made = replace(inferred.activities, work=work)
    count = int(np.count_nonzero(made.kind == COMMUNICATION)) if COMMUNICATION in kinds else 0
    told = f"{counted(count, 'kernel')} of communication may have waiting in it, which counts as transfer"
    if not count:
        return Changed(made)
    sure = np.where(made.kind == COMMUNICATION, inferred.activities.work, work)
    return Changed(made, (told,), surely=replace(made, work=sure))
