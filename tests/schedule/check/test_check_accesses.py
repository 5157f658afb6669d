"""Bytes overwritten before their reader is done, read before they are written; and how many buffers would mend it."""

import pytest
from plain import compute, copy, made, recv, reduce, send

from hopline.errors import InputError
from hopline.schedule.check import cells, pasts
from hopline.schedule.check.proof import check
from hopline.schedule.operations import FREE


def faults(schedule):
    return [(fault.kind, fault.rows) for fault in check(schedule).faults]


def test_a_receive_over_bytes_that_are_still_sent():
    checked = check(made(2, send(0, 1, 8), recv(1, 0, 8), send(1, 0, 8, at=16), recv(0, 1, 8, at=4)))
    assert [(fault.kind, fault.text) for fault in checked.faults] == [
        ("overwritten", "rank 0 recv from 1 (row 3) may overwrite bytes [4, 8) of data before rank 0 send to 1 (row 0) "
         "is done reading them; 2 buffers used in turn would do")
    ]  # fmt: skip


def test_a_send_of_bytes_that_are_still_to_come():
    rows = (send(0, 1, 8), recv(1, 0, 8), send(1, 2, 4, at=2), recv(2, 1, 4))
    assert faults(made(3, *rows)) == [("early", (2, 1))]
    rows = (*rows[:2], send(1, 2, 4, at=2, after=1), rows[3])
    assert faults(made(3, *rows)) == []


def test_two_writes_at_once():
    rows = (send(0, 2, 8), recv(2, 0, 8, lane=1), send(1, 2, 8), recv(2, 1, 8, at=7, lane=3))
    assert faults(made(3, *rows)) == [("clash", (3, 1))]


def test_sums_into_the_same_bytes_must_be_in_order():
    assert faults(made(1, reduce(0, 8, lane=1), reduce(0, 8, lane=2, other=8))) == [("clash", (1, 0))]
    assert faults(made(1, reduce(0, 8, lane=1), reduce(0, 8, lane=2, other=8, after=0))) == []


def test_a_send_has_read_its_bytes_when_its_receive_ends():
    """Rank 1 answers when it has received; what rank 0 then overwrites has left, though its own send may not have ended."""
    rows = (send(0, 1, 8), recv(1, 0, 8), send(1, 0, 0, after=1), recv(0, 1, 0), copy(0, 8))
    assert faults(made(2, *rows)) == []


def test_a_receive_writes_only_after_its_send_has_begun():
    """Rank 0 posts its receive at once, but rank 1 sends only what rank 0 has sent before."""
    rows = (recv(0, 1, 8, lane=1), send(0, 1, 8, lane=0), recv(1, 0, 8), send(1, 0, 8, after=2))
    assert faults(made(2, *rows)) == []


def test_that_a_send_blocks_puts_nothing_in_order():
    """Rank 0's send would wait for a receive that comes after rank 1's other one; buffered, it does not."""
    rows = (send(1, 0, 8), recv(0, 1, 8), send(0, 1, 0), recv(1, 0, 0, after=0), copy(0, 8, lane=4, after=2))
    assert faults(made(2, *rows)) == [("clash", (4, 1))]


def test_on_no_lane_nothing_is_ordered_by_its_place():
    assert faults(made(1, copy(0, 8, lane=FREE), copy(0, 8, source=0, buffer=1, at=8, other=0, lane=FREE))) == [
        ("early", (1, 0))
    ]
    assert (
        faults(made(1, copy(0, 8, lane=FREE), copy(0, 8, source=0, buffer=1, at=8, other=0, lane=FREE, after=0))) == []
    )


def test_that_it_has_begun_does_not_mean_that_it_is_done():
    rows = (copy(0, 8, lane=0), copy(0, 8, source=0, buffer=1, at=8, other=0, lane=1))
    assert faults(made(1, *rows, begun=[(1, 0)])) == [("early", (1, 0))]
    assert faults(made(1, *rows, more=[(1, 0)])) == []


def pipeline(chunks, slots, credit, late=0):
    """Rank 0 sends chunks into ``slots`` buffers of rank 1 in turn, which copies each away, on another lane, and says so.

    Chunk i waits for the word that chunk i - credit is copied.
    """
    rows, words = [], {}
    for i in range(chunks):
        at = 8 * (i % slots)
        got = words.get(i - credit, -1)
        rows += [send(0, 1, 1, after=got), recv(1, 0, 1, at=at, buffer=1, lane=1)]
        rows += [copy(1, 1, at=i, other=at, lane=3, after=len(rows) - 1)]
        words[i] = len(rows) + 1
        rows += [send(1, 0, 0, tag=1, lane=4, after=len(rows) - 1), recv(0, 1, 0, tag=1, lane=5)]
    return made(2, *rows)


@pytest.mark.parametrize("credit", [1, 2, 3, 5])
def test_buffers_used_in_turn(credit):
    """With ``credit`` chunks under way, so many buffers are needed, and fewer are overwritten."""
    assert check(pipeline(12, credit, credit)).faults == ()
    assert check(pipeline(12, credit, credit)).buffers == 1
    if credit > 1:
        checked = check(pipeline(12, 1, credit))
        assert [fault.kind for fault in checked.faults] == ["overwritten"]
        assert checked.buffers == credit
        assert f"; {credit} buffers used in turn would do (and" in checked.faults[0].text


def test_buffers_do_not_mend_a_sum_into_bytes_that_are_sent():
    checked = check(made(2, send(0, 1, 8), recv(1, 0, 8), reduce(0, 8)))
    assert [fault.kind for fault in checked.faults] == ["overwritten"]
    assert checked.buffers is None
    assert "in turn" not in checked.faults[0].text


def test_one_range_of_bytes_is_told_where_cuts_of_others_go_through_it():
    rows = (send(0, 1, 8), recv(1, 0, 8), send(0, 1, 2, at=3, lane=2), recv(1, 0, 2, at=20), copy(0, 8))
    text = check(made(2, *rows)).faults[0].text
    assert "rank 0 copy (row 4) may overwrite bytes [0, 8) of data before rank 0 send to 1 (row 0)" in text
    assert text.endswith(" (and 1 more)")


def test_too_large_to_follow_is_told(monkeypatch):
    rows = (send(0, 1, 8), recv(1, 0, 8), send(1, 0, 0, after=1), recv(0, 1, 0), copy(0, 8))
    monkeypatch.setattr(pasts, "DEEP", 4)
    checked = check(made(2, *rows))
    assert checked.right
    assert checked.buffers is None
    assert checked.unchecked[0].startswith("order of accesses: too large, 1 lanes x 5 operations to follow")


def test_cuts_have_a_limit(monkeypatch):
    cuts = cells.distinct(cells.np.arange(0, 100, 10))
    monkeypatch.setattr(cells, "MOST", 4)
    with pytest.raises(InputError, match="ranges of bytes to follow"):
        cells.carried(cuts, *(cells.np.array([value]) for value in (0, 1000, 100)))


def test_compute_touches_nothing():
    assert check(made(1, compute(0, 10**12, at=50, lane=0), compute(0, 10**12, at=50, lane=1))).right
