"""Which Recv meets which Send, against a queue for each way."""

import numpy as np
import pytest

from hopline.schedule.collectives.table import find
from hopline.schedule.matching import match
from hopline.schedule.operations import COMPUTE, DTYPES, NONE, RECV, SEND, Columns, Schedule
from hopline.schedule.shape import Shape


def schedule(*rows, ranks=4):
    """Rows (kind, rank, peer, tag), all on one lane."""
    values = {
        "kind": [r[0] for r in rows],
        "rank": [r[1] for r in rows],
        "peer": [r[2] for r in rows],
        "other": [r[3] for r in rows],
    }
    columns = {name: np.array(values.get(name, [0] * len(rows)), dtype) for name, dtype in DTYPES.items()}
    columns["after"][:] = NONE
    return Schedule("drawn", ranks, Columns(**columns))


def queued(made):
    """The same with a list for each way."""
    columns, mate, ways = made.columns, [NONE] * len(made), {}
    for kind in (SEND, RECV):
        for row in np.flatnonzero(columns.kind == kind).tolist():
            ends = (columns.rank[row], columns.peer[row])
            way = (*(ends if kind == SEND else ends[::-1]), columns.other[row])
            if kind == SEND:
                ways.setdefault(way, []).append(row)
            elif ways.get(way):
                mate[row] = ways[way].pop(0)
                mate[mate[row]] = row
    return mate


def test_the_kth_send_meets_the_kth_receive():
    made = schedule((SEND, 0, 1, 0), (SEND, 0, 1, 0), (COMPUTE, 2, NONE, 0), (RECV, 1, 0, 0), (RECV, 1, 0, 0))
    assert match(made).tolist() == [3, 4, NONE, 0, 1]


def test_tags_are_ways_of_their_own():
    made = schedule((SEND, 0, 1, 5), (SEND, 0, 1, 7), (RECV, 1, 0, 7), (RECV, 1, 0, 5))
    assert match(made).tolist() == [3, 2, 1, 0]


def test_what_has_no_other_end_meets_nothing():
    made = schedule((SEND, 0, 1, 0), (RECV, 2, 1, 0), (SEND, 1, 0, 0), (SEND, 0, 9, 0), (RECV, 1, 0, 0))
    assert match(made).tolist() == [4, NONE, NONE, NONE, 0]


def test_no_rows():
    assert match(schedule()).tolist() == []


@pytest.mark.parametrize("seed", range(40))
def test_drawn_messages(seed):
    rng = np.random.default_rng(seed)
    rows = [
        (int(rng.integers(0, 2)), int(rank), int(rank + 1 + rng.integers(0, 3)) % 4, int(rng.integers(-1, 2)))
        for rank in rng.integers(0, 4, 60)
    ]
    made = schedule(*rows)
    assert match(made).tolist() == queued(made)


@pytest.mark.parametrize("shuffled", [False, True])
def test_both_ways_of_matching_agree_on_a_ring(shuffled):
    made = find("all_reduce-ring").build(Shape(5, 23))
    if shuffled:
        order = np.random.default_rng(1).permutation(len(made))
        columns = {name: getattr(made.columns, name)[order] for name in DTYPES}
        made = Schedule("shuffled", made.ranks, Columns(**columns))
    assert match(made).tolist() == queued(made)
