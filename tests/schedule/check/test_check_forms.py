"""Malformed schedules and messages that do not meet: named, and nothing else looked at."""

from dataclasses import replace

import numpy as np
import pytest
from plain import BUFFERS, compute, copy, made, recv, reduce, send

from hopline.errors import UnknownNameError
from hopline.schedule import promises
from hopline.schedule.check.proof import check
from hopline.schedule.faults import FAULTS, Fault
from hopline.schedule.operations import Columns

PAIR = (send(0, 1, 4), recv(1, 0, 4))
MALFORMED = {
    "rank": (compute(2, 1), "rank 2 compute (row 2): rank is 2, expected 0 to 1"),
    "rank below": (compute(-1, 1), "rank is -1, expected 0 to 1"),
    "kind": (compute(0, 1, kind=9), "rank 0 operation of kind 9 (row 2): kind is 9, expected 0 to 4"),
    "peer": (send(0, 7, 4), "peer is 7, expected 0 to 1"),
    "no peer": (send(0, -1, 4), "peer is -1, expected 0 to 1"),
    "itself": (send(1, 1, 4), "peer is 1, expected another rank than its own"),
    "peer of a copy": (copy(0, 4, peer=1), "peer is 1, expected -1: it has no other end"),
    "after": (compute(0, 1, after=3), "after is 3, expected a row from 0 to 2, or -1"),
    "after below": (compute(0, 1, after=-2), "after is -2, expected a row from 0 to 2, or -1"),
    "after of another": (compute(0, 1, after=1), "after is 1, expected a row of the same rank"),
    "size": (send(0, 1, -4), "size is -4, expected 0 or more"),
    "buffer": (send(0, 1, 4, buffer=2), "buffer is 2, expected 0 to 1"),
    "source": (reduce(0, 4, source=2), "source is 2, expected 0 to 1"),
    "start": (send(0, 1, 4, at=61), "start is 61, expected a range inside of its buffer (data has 64 bytes"),
    "start below": (recv(1, 0, 4, at=-1), "start is -1, expected a range inside"),
    "huge": (recv(1, 0, 2**62, at=2**62), f"start is {2**62}, expected a range inside"),
    "other": (copy(0, 4, other=62), "other is 62, expected a range inside of its source"),
    "overlap": (reduce(0, 4, at=8, source=0, other=11), "other is 11, expected no overlap with what is written"),
}


@pytest.mark.parametrize(("row", "text"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_rows(row, text):
    checked = check(made(2, *PAIR, row))
    assert checked.faults[0].kind == "malformed"
    assert any(text in fault.text for fault in checked.faults), checked.faults
    assert checked.faults[0].rows == (2,)
    assert (checked.blocking, checked.buffered, checked.buffers) == (None, None, None)
    assert len(checked.unchecked) == 1


def test_the_first_of_many_is_named_and_the_rest_counted():
    checked = check(made(2, *[compute(5, 1) for _ in range(63)]))
    assert [fault.text for fault in checked.faults] == [
        "rank 5 compute (row 0): rank is 5, expected 0 to 1 (and 62 more)"
    ]


def test_right_at_the_edges():
    rows = (
        send(0, 1, 64),
        recv(1, 0, 64),
        copy(0, 32, at=32, source=0, other=0, after=0),
        send(0, 1, 0, at=64),
        recv(1, 0, 0, at=64),
    )
    assert check(made(2, *rows)).faults == ()


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ({"more": [(0, 9)]}, "more holds (0, 9): expected rows from 0 to 1"),
        ({"begun": [(-1, 0)]}, "begun holds (-1, 0): expected rows"),
        ({"more": [(0, 1)]}, "more holds (0, 1): expected two rows of one rank"),
    ],
)
def test_malformed_pairs(pairs, text):
    assert text in check(made(2, *PAIR, **pairs)).faults[0].text


def test_operations_on_buffers_where_there_are_none():
    assert "the schedule has none" in check(made(1, copy(0, 4), buffers=())).faults[0].text


def test_columns_that_hold_no_integers():
    schedule = made(2, *PAIR)
    columns = {name: getattr(schedule.columns, name) for name in Columns.__slots__}
    broken = replace(schedule, columns=Columns(**columns | {"rank": columns["rank"].astype(float)}))
    assert check(broken).faults[0].text == "column rank holds float64: expected integers"


@pytest.mark.parametrize("rounds", [[1], [0, 2, 1], [0, 3]])
def test_rounds_out_of_order(rounds):
    assert (
        "expected 0 first, in order, up to 2" in check(replace(made(2, *PAIR), rounds=np.array(rounds))).faults[0].text
    )


def test_a_message_across_rounds():
    checked = check(replace(made(2, *PAIR), rounds=np.array([0, 1])))
    assert checked.faults == (
        Fault("rounds", "rank 0 send to 1 (row 0) ends in another round with rank 1 recv from 0 (row 1)", (0, 1)),
    )


def test_a_wait_for_a_later_round():
    checked = check(replace(made(1, compute(0, 1, lane=0, after=1), compute(0, 1, lane=1)), rounds=np.array([0, 1])))
    assert [fault.kind for fault in checked.faults] == ["rounds"]


@pytest.mark.parametrize(
    "promise",
    [
        promises.all_reduce(3, 8),
        promises.broadcast(2, 65),
        promises.sendrecv(2, 8),
        promises.Promise("x", promises.given(0, 0, 4), promises.wanted(0, 0, 4, 5, 0)),
        promises.Promise("x", promises.given(0, 0, 4, buffer=-1), promises.wanted(0, 0, 4, 0, 0)),
        promises.Promise("x", promises.given(0, 0, 4), promises.wanted(0, 0, 4, 0, 62)),
    ],
)
def test_promises_of_what_is_not_there(promise):
    checked = check(made(2, *PAIR, promise=promise, buffers=BUFFERS[:1]))
    assert checked.faults[0].text.startswith("the promise ")


def test_a_send_without_a_receive_says_what_might_be_meant():
    checked = check(made(2, send(0, 1, 4, tag=3), recv(1, 0, 4, tag=4)))
    assert [fault.kind for fault in checked.faults] == ["unreceived", "unsent"]
    assert checked.faults[0].text == (
        "rank 0 send to 1 (row 0) of 4 bytes, tag 3, meets nothing: rank 0 sends 1 there, rank 1 receives 0; "
        "rank 1 recv from 0 (row 1), tag 4, meets nothing either"
    )
    assert checked.unchecked == ("waits, order of accesses and data: messages do not meet",)


def test_a_receive_without_a_send():
    checked = check(made(2, *PAIR, recv(1, 0, 4)))
    assert [fault.text for fault in checked.faults] == [
        "rank 1 recv from 0 (row 2) of 4 bytes, tag 0, meets nothing: rank 1 receives 2 there, rank 0 sends 1"
    ]


def test_sizes_that_differ():
    checked = check(made(2, send(0, 1, 4), recv(1, 0, 5), send(0, 1, 4), recv(1, 0, 3)))
    assert checked.faults == (
        Fault("sizes", "rank 0 send to 1 (row 0) has 4 bytes, rank 1 recv from 0 (row 1) has 5 (and 1 more)", (0, 1)),
    )
    assert (checked.blocking, checked.buffered) == (True, True)
    assert checked.unchecked == ("order of accesses and data: sizes differ",)


def test_facts():
    checked = check(made(3, *PAIR, compute(2, 500), name="drawn"))
    assert (checked.name, checked.ranks, checked.operations, checked.messages, checked.size) == ("drawn", 3, 3, 1, 4)
    assert checked.right
    assert checked.unchecked == ("data: nothing is promised",)


def test_without_buffers_only_messages_are_checked():
    checked = check(made(2, *PAIR, buffers=()))
    assert checked.right
    assert checked.buffers is None
    assert checked.unchecked == ("order of accesses and data: there are no buffers",)


def test_kinds_of_fault_are_those_of_the_table():
    assert Fault("twice", "x").help == FAULTS["twice"]
    with pytest.raises(UnknownNameError, match="kind of fault"):
        Fault("thrice", "x")
