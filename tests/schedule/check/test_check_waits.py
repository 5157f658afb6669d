"""Deadlock: whether it is one, only where sends block, and the ring in words."""

import numpy as np
import pytest
from drawing import schedule as drawn
from plain import compute, made, recv, send
from test_check_mutants import agrees

from hopline.schedule.check import order
from hopline.schedule.check.proof import check


def kinds(checked):
    return [fault.kind for fault in checked.faults]


def both_send_first(lane=0, buffers=()):
    """Case 19: rank 0 and rank 1 both send, then receive."""
    return made(2, send(0, 1, 8), recv(0, 1, 8, lane=lane), send(1, 0, 8), recv(1, 0, 8, lane=lane), buffers=buffers)


def test_both_ranks_send_then_receive_on_one_lane():
    checked = check(both_send_first())
    assert (checked.blocking, checked.buffered, kinds(checked)) == (False, True, ["blocks"])
    text, rows = checked.faults[0].text, checked.faults[0].rows
    assert text == (
        "where sends block, rank 0 send to 1 (row 0) waits for rank 1 recv from 0 (row 3), "
        "which stands behind rank 1 send to 0 (row 2), which waits for rank 0 recv from 1 (row 1), "
        "which stands behind rank 0 send to 1 (row 0) (4 operations never end); "
        "where sends are buffered it passes: let the receive not wait for the send"
    )
    assert sorted(rows) == [0, 1, 2, 3]


def test_on_two_lanes_it_passes():
    checked = check(both_send_first(lane=1))
    assert (checked.blocking, checked.buffered, checked.faults) == (True, True, ())


def test_the_receive_first_on_one_side_passes():
    checked = check(made(2, recv(0, 1, 8, lane=0), send(0, 1, 8), send(1, 0, 8), recv(1, 0, 8, lane=0), buffers=()))
    assert (checked.blocking, checked.buffered, checked.faults) == (True, True, ())


def test_both_receive_first_is_a_deadlock_always():
    checked = check(made(2, recv(0, 1, 8, lane=0), send(0, 1, 8), recv(1, 0, 8, lane=0), send(1, 0, 8), buffers=()))
    assert (checked.blocking, checked.buffered, kinds(checked)) == (False, False, ["deadlock"])
    assert checked.faults[0].text.startswith(
        "rank 0 recv from 1 (row 0) waits for rank 1 send to 0 (row 3), which stands behind"
    )


def test_a_receive_that_has_begun_lets_the_send_go():
    """As with MPI_Irecv: the send need only come after the beginning of the receive."""
    rows = (recv(0, 1, 8), send(0, 1, 8, lane=0), recv(1, 0, 8), send(1, 0, 8, lane=0))
    checked = check(made(2, *rows, begun=[(1, 0), (3, 2)], buffers=()))
    assert (checked.blocking, checked.buffered, checked.faults) == (True, True, ())
    checked = check(made(2, *rows, more=[(1, 0), (3, 2)], buffers=()))
    assert (checked.blocking, checked.buffered, kinds(checked)) == (False, False, ["deadlock"])


def test_beginnings_in_a_ring():
    checked = check(made(1, compute(0, 5, lane=0), compute(0, 5, lane=1), begun=[(0, 1), (1, 0)], buffers=()))
    assert kinds(checked) == ["order"]
    assert "rank 0 compute (row 0) waits for the beginning of rank 0 compute (row 1)" in checked.faults[0].text


def test_an_operation_that_waits_for_itself():
    checked = check(made(1, compute(0, 5, after=0), buffers=()))
    assert kinds(checked) == ["order"]
    assert (
        "rank 0 compute (row 0) comes after rank 0 compute (row 0) (1 operation never ends)" in checked.faults[0].text
    )


@pytest.mark.parametrize("ranks", [3, 12, 300])
def test_the_shortest_ring_is_told_and_a_long_one_is_cut(ranks):
    rows = [row for r in range(ranks) for row in (send(r, (r + 1) % ranks, 1), recv(r, (r - 1) % ranks, 1, lane=0))]
    checked = check(made(ranks, *rows, buffers=()))
    assert kinds(checked) == ["blocks"]
    assert len(checked.faults[0].rows) == 2 * ranks
    assert checked.faults[0].text.count("which") == (2 * ranks - 1 if ranks == 3 else 8)
    assert f"({2 * ranks} operations never end)" in checked.faults[0].text


def test_what_waits_behind_a_ring_is_not_named():
    rows = (compute(2, 1, lane=0), send(2, 0, 4, tag=1), recv(0, 2, 4, tag=1, lane=7, after=1))
    checked = check(made(3, *both_rows(), recv(0, 2, 4, tag=1, lane=7, after=1), *rows[:2], buffers=()))
    assert set(checked.faults[0].rows) == {0, 1, 2, 3}
    assert "(6 operations never end)" in checked.faults[0].text


def both_rows():
    return send(0, 1, 8), recv(0, 1, 8, lane=0), send(1, 0, 8), recv(1, 0, 8, lane=0)


def test_nothing_is_checked_behind_a_deadlock():
    checked = check(made(2, recv(0, 1, 8, lane=0), send(0, 1, 8), recv(1, 0, 8, lane=0), send(1, 0, 8)))
    assert checked.unchecked == ("order of accesses and data: it never comes to its end",)


@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_drawn_schedules_against_brute_force(first):
    for seed in range(first, first + 100):
        agrees(drawn(seed), f"seed {seed}")


def test_levels_of_a_deep_and_narrow_graph_go_on_node_by_node():
    rng, count = np.random.default_rng(5), 6000
    source = rng.integers(0, count - 1, 3 * count)
    target = np.minimum(source + 1 + rng.integers(0, 4, 3 * count), count - 1)
    source, target = np.concatenate([source, np.arange(count - 1)]), np.concatenate([target, np.arange(1, count)])
    level = order.levels(count, source.astype(np.int32), target.astype(np.int32))
    assert level.tolist() == list(range(count))
    closed = order.levels(
        count, np.append(source, count - 1).astype(np.int32), np.append(target, count - 100).astype(np.int32)
    )
    assert closed.tolist() == [*range(count - 100), *[-1] * 100]
