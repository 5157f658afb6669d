"""Does a barrier hold: nobody leaves before everybody has entered.

What belongs here: who has heard of whom, over the graph of waits where sends are buffered.
"""

from __future__ import annotations

import numpy as np

from hopline.errors import InputError
from hopline.schedule.check import words
from hopline.schedule.check.keeping import whole
from hopline.schedule.check.pasts import Past, Words
from hopline.schedule.check.sorts import MOST, Sort, sort
from hopline.schedule.faults import Fault
from hopline.schedule.operations import Schedule

_WORD = 64
_ROOM = 2 << 30


def faults(schedule: Schedule, past: Past) -> list[Sort]:
    """Pairs of ranks of which one may leave first. Raises InputError where that is too much.

    A rank enters before its operations begin and leaves when all are done; so one of its operations must come after one of
    each other rank.
    """
    count, size = past.count, -(-schedule.ranks // _WORD)
    if count * size * 8 > _ROOM:
        raise InputError(
            f"{count} operations x {schedule.ranks} ranks to follow: expected at most {_ROOM / 1e9:.1f} GB"
        )
    rank = schedule.columns.rank
    heard = np.zeros((count, size), np.uint64)
    heard[np.arange(len(rank)), rank // _WORD] = np.uint64(1) << (rank % _WORD).astype(np.uint64)
    past.steps().carry(heard, np.bitwise_or)
    known = np.zeros((schedule.ranks, size), np.uint64)
    every = np.arange(schedule.ranks)
    known[every, every // _WORD] = np.uint64(1) << (every % _WORD).astype(np.uint64)
    np.bitwise_or.at(known, rank, heard[: len(rank)])
    short = np.flatnonzero(~whole(known, schedule.ranks))
    found = (_early(schedule, leaves, known[leaves]) for leaves in short[:MOST].tolist())
    return sort(found, len(short), "rank leaves early", "ranks leave early")


def _early(schedule: Schedule, leaves: int, known: Words) -> Fault:
    missing = sorted(set(range(schedule.ranks)) - set(words.members(known)))
    rows = np.flatnonzero(schedule.columns.rank == leaves)
    text = f"rank {leaves} may leave before {words.ranks(missing)} entered: nothing it waits for comes after them"
    return Fault("barrier", text, tuple(int(row) for row in rows[-1:]))
