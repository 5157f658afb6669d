"""The row that did it is named: of a piece taken from or put to a wrong place, and in which order faults are told."""

import numpy as np
import pytest
from plain import compute, copy, made, recv, reduce, send
from spoilt import mate, one

from hopline.schedule import promises
from hopline.schedule.check import sorts
from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COPY, RECV, REDUCE, SEND
from hopline.schedule.shape import Shape


def built(name, ranks=4, size=64):
    return COLLECTIVES[name].build(Shape(ranks, size, chunks=4))


def shifted(schedule, row, column, buffer):
    """With one range of ``row`` a piece further on; None: there is no room."""
    first, size = int(getattr(schedule.columns, column)[row]), int(schedule.columns.size[row])
    room = schedule.buffers[int(getattr(schedule.columns, buffer)[row])].size
    start = (first + size) % max(room, 1)
    return one(schedule, row, **{column: start}) if size and start + size <= room and start != first else None


@pytest.mark.parametrize(
    "name", ["all_reduce-ring", "reduce_scatter-ring", "all_gather-ring", "broadcast-chain", "alltoall-pairwise"]
)
@pytest.mark.parametrize(
    ("kind", "column", "buffer"),
    [(SEND, "start", "buffer"), (RECV, "start", "buffer"), (REDUCE, "start", "buffer"), (REDUCE, "other", "source"),
     (COPY, "start", "buffer"), (COPY, "other", "source")],
)  # fmt: skip
def test_whoever_takes_or_puts_a_piece_in_a_wrong_place_is_named(name, kind, column, buffer):
    """Among what is told first of each kind, by its own row or by the other end of its message."""
    schedule = built(name)
    for row in np.flatnonzero(schedule.columns.kind == kind).tolist():
        spoilt = shifted(schedule, row, column, buffer)
        if spoilt is not None:
            named = {other for fault in check(spoilt).faults for other in fault.rows}
            assert named & ({row, mate(schedule, row)} if kind in (SEND, RECV) else {row}), row


def test_two_sends_that_changed_places():
    schedule = built("all_reduce-ring", size=1024)
    columns = schedule.columns
    two = np.flatnonzero((columns.kind == SEND) & (columns.rank == 0))[:2]
    fault = next(f for f in check(one(schedule, two, start=columns.start[two[::-1]])).faults if f.kind == "positions")
    assert fault.text == (
        "rank 1 reduce (row 2) adds bytes [512, 768) of data of rank 0 to bytes [768, 1024) of data of rank 1: "
        "a piece is cut or placed wrong; it reads bytes [768, 1024) of scratch, written by rank 1 recv from 0 (row 1), "
        "which gets bytes [512, 768) of data from rank 0 send to 1 (row 0) (and 1 more)"
    )
    assert fault.rows == (2, 1, 0)


def test_what_was_put_in_a_wrong_place_and_overwritten_there():
    schedule = built("all_reduce-ring", size=1024)
    fault = check(one(schedule, 43, start=256)).faults[0]
    assert fault.text == (
        "rank 0: bytes [768, 1024) of data lack the contribution of ranks 1, 2, 3; nothing is ever written there; "
        "what belongs there is put into bytes [256, 512) of data by rank 0 recv from 3 (row 43), which gets "
        "bytes [768, 1024) of data from rank 3 send to 0 (row 42); rank 0 recv from 3 (row 59) overwrites it before "
        "anybody reads it (and 2 more ranges)"
    )
    assert fault.rows == (43, 42, 59)


def test_of_two_that_do_not_fit_the_one_that_is_not_wanted_is_traced():
    """Rank 0's own bytes were replaced by others of its own; what came from rank 1 is right."""
    rows = (copy(0, 4, source=0, other=4), send(1, 0, 4), recv(0, 1, 4, buffer=1), reduce(0, 4))
    (fault,) = check(made(2, *rows, promise=promises.reduce(2, 4))).faults
    assert fault.kind == "unset"
    given = promises.Promise("x", promises.given([0, 1], 0, 8), promises.wanted(0, 0, 4, promises.EVERY, 0))
    (fault,) = check(made(2, *rows, promise=given)).faults
    assert fault.text == (
        "rank 0 reduce (row 3) adds bytes [0, 4) of data of rank 1 to bytes [4, 8) of data of rank 0: a piece is cut or "
        "placed wrong; it adds to bytes [0, 4) of data, written by rank 0 copy (row 0), which reads bytes [4, 8) of data"
    )
    assert fault.rows == (3, 0)


def test_what_was_written_wrong_first_is_told_first():
    """Rank 3 passes its wrong bytes on to rank 1."""
    rows = (send(0, 3, 4, at=4), recv(3, 0, 4), send(3, 1, 4, after=1), recv(1, 3, 4), send(0, 2, 4), recv(2, 0, 4))
    given = promises.Promise("x", promises.given(0, 0, 8), promises.wanted([1, 2, 3], 0, 4, 0, 0))
    checked = check(made(4, *rows, promise=given))
    assert [(fault.kind, fault.rows) for fault in checked.found] == [("misplaced", (1, 0)), ("misplaced", (3, 2))]
    assert checked.faults[0].text == checked.found[0].text + " (and 1 more range)"


def test_bytes_side_by_side_with_one_thing_wrong_are_told_together():
    rows = (send(0, 1, 8), recv(1, 0, 8), copy(1, 1, at=20, source=0, other=3, after=1))
    wanted = promises.wanted(1, 20, [8, 1], 0, 0, buffer=[0, 1])
    checked = check(made(2, *rows, promise=promises.Promise("x", promises.given(0, 0, 8), wanted)))
    assert [fault.text.split(" hold")[0] for fault in checked.found] == [
        "rank 1: bytes [21, 28) of data", "rank 1: bytes [20, 21) of scratch", "rank 1: bytes [20, 21) of data",
    ]  # fmt: skip


def test_many_are_told_one_by_one_up_to_a_number():
    checked = check(made(2, *[compute(5, 1) for _ in range(63)]))
    assert [fault.rows for fault in checked.found] == [(row,) for row in range(sorts.MOST)]
    assert checked.faults[0].text.endswith("(and 62 more)")
    assert all("more" not in fault.text for fault in checked.found)
    lone = [send(0, 1, 4, tag=tag) for tag in range(30)]
    assert len(check(made(2, *lone)).found) == sorts.MOST
    assert check(made(2, send(0, 1, 4), recv(1, 0, 4, tag=1))).faults[0].rows == (0, 1)


def test_all_is_proved_only_where_data_was_followed():
    right = made(2, send(1, 0, 8), recv(0, 1, 8, buffer=1), reduce(0, 8), promise=promises.reduce(2, 8))
    assert check(right).proved
    unpromised = check(made(2, send(0, 1, 8), recv(1, 0, 8)))
    assert (unpromised.right, unpromised.proved) == (True, False)
    assert unpromised.unchecked == ("data: nothing is promised",)
    messages = check(made(2, send(0, 1, 8), recv(1, 0, 8), buffers=(), promise=promises.nothing("all_reduce")))
    assert (messages.right, messages.proved) == (True, False)
    assert messages.unchecked == ("order of accesses and data: there are no buffers",)
    assert check(made(2, send(0, 1, 8), recv(1, 0, 8), compute(1, 3), buffers=())).unchecked == messages.unchecked
    assert not check(made(2, send(0, 1, 8))).proved
