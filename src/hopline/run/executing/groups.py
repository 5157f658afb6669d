"""Messages that begin together.

What belongs here: NCCL carries out what it is given one group after another, so that a message in a later group waits for all
of the earlier ones. Groups are numbered over all ranks: both ends of a message are in one, and whatever a message waits for,
at either end, is in an earlier one. Ranks that go through them in order never wait in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.errors import InputError
from hopline.schedule.operations import NONE, Index, Schedule
from hopline.schedule.pieces import Ints


def groups_of(schedule: Schedule, mate: Index, pairs: Sequence[Ints | Index]) -> Ints:
    """Number of the group of each row; other rows are in that of the last message that they wait for, or in group 0.

    Parameters
    ----------
    mate
        The other end of each message, by row.
    pairs
        Each of shape (k, 2): the first row waits for the second.

    Raises
    ------
    InputError
        Where rows wait for one another.
    """
    rows = np.arange(len(schedule))
    node = np.where(mate == NONE, rows, np.minimum(rows, mate))
    later, earlier = node[np.vstack(pairs).astype(np.int64)].T
    waits = np.bincount(later, minlength=len(rows)).tolist()
    order = np.argsort(earlier, kind="stable")
    bounds = np.searchsorted(earlier[order], np.arange(len(rows) + 1)).tolist()
    then, is_message = later[order].tolist(), (mate != NONE).tolist()
    group = [0] * len(rows)
    free = [row for row in np.unique(node).tolist() if not waits[row]]
    for row in free:
        group[row] += is_message[row]
        for other in then[bounds[row] : bounds[row + 1]]:
            group[other] = max(group[other], group[row])
            waits[other] -= 1
            if not waits[other]:
                free.append(other)
    if any(waits):
        row = next(row for row, left in enumerate(waits) if left)
        raise InputError(
            f"{schedule.name}: row {row} waits for itself in a circle: hopline schedule check tells all of it"
        )
    return np.array(group, np.int64)[node]
