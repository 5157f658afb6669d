"""What each range holds in the end: named by rank, bytes, and the row where it went wrong."""

import numpy as np
import pytest
from plain import compute, copy, made, recv, reduce, send

from hopline.schedule import promises
from hopline.schedule.check import barriers, following
from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import find
from hopline.schedule.operations import Buffer
from hopline.schedule.promises import Promise, given, wanted
from hopline.schedule.shape import Shape


def told(schedule):
    return {fault.kind: fault.text for fault in check(schedule).faults}


def summed(*rows, ranks=2):
    """Rank 0 shall hold the sum of 8 bytes of all ranks."""
    return made(ranks, *rows, promise=promises.reduce(ranks, 8))


GATHERED = (send(1, 0, 8), recv(0, 1, 8, buffer=1), reduce(0, 8))


def test_a_sum():
    assert check(summed(*GATHERED)).faults == ()


def test_a_contribution_that_nobody_sends():
    assert told(summed(*GATHERED, ranks=3)) == {
        "missing": "rank 0: bytes [0, 8) of data lack the contribution of rank 2; written last by rank 0 reduce (row 2), "
        "which adds bytes [0, 8) of scratch; that of rank 2 is in bytes [0, 8) of data at rank 2: nobody reads it there"
    }


def test_a_contribution_that_arrived_and_is_not_added():
    assert told(summed(*GATHERED[:2])) == {
        "missing": "rank 0: bytes [0, 8) of data lack the contribution of rank 1; nothing is ever written there; "
        "that of rank 1 is in bytes [0, 8) of scratch at rank 0, put there by rank 0 recv from 1 (row 1), "
        "which gets bytes [0, 8) of data from rank 1 send to 0 (row 0): nobody reads it there"
    }


def test_a_contribution_that_is_overwritten():
    assert told(summed(*GATHERED[:2], copy(0, 8))) == {
        "missing": "rank 0: bytes [0, 8) of data lack the contribution of rank 0; written last by rank 0 copy (row 2), "
        "which reads bytes [0, 8) of scratch; that of rank 0 is in bytes [0, 8) of data at rank 0: "
        "rank 0 copy (row 2) overwrites it before anybody reads it"
    }


def test_added_twice():
    assert told(summed(*GATHERED, reduce(0, 4, at=2))) == {
        "twice": "rank 0 reduce (row 3) adds the contribution of rank 1 to bytes [2, 6) of data, which have it already; "
        "it reads bytes [2, 6) of scratch, written by rank 0 recv from 1 (row 1), which gets bytes [2, 6) of data "
        "from rank 1 send to 0 (row 0)"
    }


def test_a_mistake_that_nobody_wants_is_none():
    assert check(summed(*GATHERED, reduce(0, 8, buffer=1, source=0, other=0))).faults == ()
    late = (send(0, 1, 8, after=2), recv(1, 0, 8, buffer=1), reduce(1, 8))
    assert check(summed(*GATHERED, *late)).faults == ()


def test_a_piece_cut_wrong():
    rows = (send(1, 0, 8), recv(0, 1, 8, buffer=1), reduce(0, 4), reduce(0, 4, at=4, other=3))
    assert told(summed(*rows)) == {
        "positions": "rank 0 reduce (row 3) adds bytes [3, 4) of data of rank 1 to bytes [4, 5) of data of rank 0: "
        "a piece is cut or placed wrong; it reads bytes [3, 4) of scratch, written by rank 0 recv from 1 (row 1), "
        "which gets bytes [3, 4) of data from rank 1 send to 0 (row 0)"
    }


def test_a_byte_that_is_left_out():
    rows = (send(1, 0, 7), recv(0, 1, 7, buffer=1), reduce(0, 7))
    text = told(summed(*rows))["missing"]
    assert text.startswith(
        "rank 0: bytes [7, 8) of data lack the contribution of rank 1; nothing is ever written there; "
        "that of rank 1 is in bytes [7, 8) of data at rank 1"
    )


def test_bytes_read_before_anything_is_written():
    assert told(summed(GATHERED[0], GATHERED[1] | {"start": 8}, GATHERED[2])) == {
        "unset": "rank 0 reduce (row 2) reads bytes [0, 8) of scratch, which hold nothing yet; bytes that fit are put into "
        "bytes [8, 16) of scratch by rank 0 recv from 1 (row 1), which gets bytes [0, 8) of data from rank 1 send to 0 (row 0)"
    }


def test_an_unset_byte_is_told_once_where_it_is_first_read():
    late = (send(0, 1, 8, buffer=1), recv(1, 0, 8, buffer=1), send(1, 0, 8, buffer=1, after=1), recv(0, 1, 8, buffer=0))
    schedule = made(2, *late, promise=promises.broadcast(2, 8, root=1))
    assert told(schedule) == {"unset": "rank 0 send to 1 (row 0) reads bytes [0, 8) of scratch, which hold nothing yet"}


def passed_on(*rows, ranks=2):
    """Every rank shall hold rank 0's 8 bytes."""
    return made(ranks, *rows, promise=promises.broadcast(ranks, 8))


def test_a_broadcast():
    assert check(passed_on(send(0, 1, 8), recv(1, 0, 8))).faults == ()


def test_never_written():
    assert told(passed_on(send(0, 1, 8), recv(1, 0, 8), ranks=4)) == {
        "unwritten": "rank 2: bytes [0, 8) of data hold nothing in the end: expected bytes [0, 8) of data of rank 0 (and 1 more range)"
    }


def test_other_bytes_of_the_right_rank():
    assert told(passed_on(send(0, 1, 4), recv(1, 0, 4, at=4), send(0, 1, 4), recv(1, 0, 4))) == {
        "misplaced": "rank 1: bytes [4, 8) of data hold bytes [0, 4) of data of rank 0: expected bytes [4, 8) of data of rank 0; "
        "written last by rank 1 recv from 0 (row 1), which gets bytes [0, 4) of data from rank 0 send to 1 (row 0)"
    }


def test_another_rank_s_bytes():
    promise = Promise("x", given([0, 1], 0, 8), wanted(2, 0, 8, 0, 0))
    assert told(made(3, send(1, 2, 8), recv(2, 1, 8), promise=promise)) == {
        "origin": "rank 2: bytes [0, 8) of data hold bytes [0, 8) of data of rank 1: expected bytes [0, 8) of data of rank 0; "
        "written last by rank 2 recv from 1 (row 1), which gets bytes [0, 8) of data from rank 1 send to 2 (row 0)"
    }


def test_a_sum_where_one_rank_s_bytes_were_promised():
    promise = Promise("x", given([0, 1], 0, 8), wanted(0, 0, 8, 0, 0))
    assert (
        "hold the sum of bytes [0, 8) of data of ranks 0, 1: expected bytes"
        in told(made(2, *GATHERED, promise=promise))["origin"]
    )


def test_data_is_followed_behind_a_race_in_the_order_of_rows():
    every = promises.all_reduce(2, 8)
    back = (send(0, 1, 8, after=2), recv(1, 0, 8, after=0))
    assert told(made(2, *GATHERED, *back, promise=every)) == {}
    back = (send(0, 1, 8), recv(1, 0, 8, after=0))
    assert list(told(made(2, *GATHERED, *back, promise=every))) == ["early"]
    assert list(told(made(2, *GATHERED[:2], reduce(0, 7), *back, promise=every))) == ["early", "missing"]


def test_data_is_followed_where_only_buffered_sends_pass():
    """Both send first on one lane, and overwrite what they sent before the other has received."""

    def swap(first):
        rows = []
        for rank in (0, 1):
            rows += [send(rank, 1 - rank, 8, lane=0), copy(rank, 8, source=1, lane=0, at=0, other=0)]
            rows += [recv(rank, 1 - rank, 8, at=first, buffer=1, lane=0)]
        gave = Promise("x", given([0, 0, 1, 1], 0, 8, [0, 1, 0, 1]), wanted([0, 1], 8, 8, [1, 0], 0, buffer=1))
        return made(2, *rows, promise=gave)

    right = check(swap(8))
    assert [fault.kind for fault in right.faults] == ["blocks"]
    assert (right.blocking, right.buffered, right.unchecked) == (False, True, ())
    assert [fault.kind for fault in check(swap(9)).faults] == ["blocks", "unwritten", "misplaced"]


def test_ranges_cut_by_others_are_followed_through_all_hops():
    """The last rank takes single bytes out of what came whole over four hops, each of them shifted."""
    rows, last = [], -1
    for hop in range(4):
        rows += [send(hop, hop + 1, 8, at=hop, after=last), recv(hop + 1, hop, 8, at=hop + 1)]
        last = len(rows) - 1
    rows += [copy(4, 1, at=7 - byte, buffer=1, source=0, other=4 + byte) for byte in range(8)]
    mirrored = wanted(4, np.arange(8), 1, 0, np.arange(8)[::-1], buffer=1)
    assert check(made(5, *rows, promise=Promise("x", given(0, 0, 8), mirrored))).faults == ()
    straight = wanted(4, 0, 8, 0, 0, buffer=1)
    assert (
        "hold bytes [0, 1) of data of rank 0"
        in told(made(5, *rows, promise=Promise("x", given(0, 0, 8), straight)))["misplaced"]
    )


@pytest.mark.parametrize("ranks", [63, 64, 65, 130])
def test_masks_of_more_than_one_word(ranks):
    schedule = find("all_reduce-ring").build(Shape(ranks, ranks))
    assert check(schedule).faults == ()
    rows = [row for rank in range(1, ranks - 1) for row in (send(rank, 0, 1), recv(0, rank, 1, buffer=1), reduce(0, 1))]
    short = made(ranks, *rows, promise=promises.reduce(ranks, 1), buffers=(Buffer("data", 1), Buffer("scratch", 1)))
    assert f"lack the contribution of rank {ranks - 1}; written" in told(short)["missing"]


def test_too_much_to_follow_is_told(monkeypatch):
    monkeypatch.setattr(following, "_ROOM", 10)
    checked = check(summed(*GATHERED))
    assert checked.right
    assert checked.unchecked[0].startswith("data: too large, ")


def test_progress_is_heard():
    heard = []
    check(find("all_reduce-ring").build(Shape(4, 64)), progress=lambda share, what: heard.append((share, what)))
    assert {what for _, what in heard} == {
        "matching messages",
        "looking for deadlock",
        "ordering accesses",
        "following the bytes",
    }
    assert all(0 <= share <= 1 for share, _ in heard)
    assert [share for share, _ in heard] == sorted(share for share, _ in heard)


def barrier(*rows, ranks=3):
    return made(ranks, *rows, promise=promises.nothing("barrier"), buffers=())


def to_all(ranks, hops):
    """Dissemination: in round i everybody tells who is hops[i] further on."""
    rows, last = [], {}
    for hop in hops:
        here = {}
        for rank in range(ranks):
            to = (rank + hop) % ranks
            rows += [send(rank, to, 0, after=last.get(rank, -1)), recv(to, rank, 0)]
            here[to] = len(rows) - 1
        last = here
    return rows


@pytest.mark.parametrize(
    ("ranks", "hops"), [(1, ()), (2, (1,)), (3, (1, 2)), (5, (1, 2, 4)), (70, (1, 2, 4, 8, 16, 32, 64))]
)
def test_a_barrier(ranks, hops):
    assert check(barrier(*to_all(ranks, hops), ranks=ranks)).faults == ()


def test_a_barrier_that_misses_a_rank():
    checked = check(barrier(*to_all(5, (1, 2)), ranks=5))
    assert [fault.text for fault in checked.faults] == [
        "rank 0 may leave before rank 1 entered: nothing it waits for comes after them (and 4 more ranks leave early)"
    ]


def test_a_barrier_needs_every_rank():
    assert "rank 0 may leave before rank 2 entered" in told(barrier(*to_all(2, (1,))))["barrier"]
    assert told(barrier(compute(0, 1), ranks=1)) == {}


def test_a_barrier_too_large(monkeypatch):
    monkeypatch.setattr(barriers, "_ROOM", 1)
    assert check(barrier(*to_all(3, (1, 2)))).unchecked[-1].startswith("barrier: too large, 12 operations x 3 ranks")


def test_data_behind_a_race_is_not_followed_where_rows_stand_in_another_order():
    rows = (recv(1, 0, 8), send(0, 1, 8), copy(1, 8, buffer=1, source=0, lane=3))
    checked = check(passed_on(*rows))
    assert [fault.kind for fault in checked.faults] == ["early"]
    assert checked.unchecked == ("data: it depends on who wins a race",)
