"""One rank's loop: what may begin when, what is noted, and what is said where nothing can go on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from collective_shapes import shapes
from rooms import Held, Room, RoomTransport, Silent, hold

from hopline.errors import InputError, RunError
from hopline.records.timeline import Timeline
from hopline.run.executing import walk as walks
from hopline.run.executing.dressed import dressed
from hopline.run.executing.memory import HostMemory
from hopline.run.executing.part import parts_of
from hopline.run.executing.repeating import Job
from hopline.run.executing.transport import CONTROL_TAGS
from hopline.run.executing.walk import Walk
from hopline.schedule.collectives.table import COLLECTIVES, find
from hopline.schedule.matching import match
from hopline.schedule.operations import COMPUTE, COPY, DTYPES, FREE, NONE, RECV, REDUCE, SEND, Buffer, Columns, Schedule
from hopline.schedule.shape import Shape

SIZES = (0, 1, 7, 255, 1000)
MICROSECOND = 1_000_000
"""In picoseconds."""


def schedule(rows, ranks=2, size=64, **more) -> Schedule:
    """A schedule of rows that name what is not 0 (peer, after: NONE)."""
    usual = {"peer": NONE, "after": NONE}
    columns = {
        name: np.array([row.get(name, usual.get(name, 0)) for row in rows], dtype) for name, dtype in DTYPES.items()
    }
    return Schedule("made", ranks, Columns(**columns), (Buffer("a", size), Buffer("b", size)), **more)


def walked(made: Schedule, **options):
    """The stamps of rank 0 of a schedule in which it is alone."""
    part = parts_of(made)[0]
    return Walk(part, HostMemory([buffer.size for buffer in made.buffers]), Silent(), **options).run()


@pytest.mark.parametrize("name", sorted(COLLECTIVES))
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_every_collective_keeps_its_promise_and_the_rules_of_order(name, ranks):
    entry = find(name)
    levels = {"levels": (ranks,)} if "levels" in entry.uses else {}
    made = [entry.build(Shape(ranks, size, chunks=3, **levels)) for size in SIZES]
    held = hold([Job(one, 1, 0) for one in made], ranks)
    assert len(held.executed) == len(SIZES)
    for one, executed in zip(made, held.executed, strict=True):
        follows_order(one, executed.timeline)


def follows_order(made: Schedule, timeline: Timeline) -> None:
    """Nothing began before what it waits for had ended; no Recv ended before its Send began; the path is in order."""
    start, end, columns = timeline.start, timeline.end, made.columns
    for part in parts_of(made):
        rows, before = part.rows[part.waits[:, 0]], part.rows[part.waits[:, 1]]
        assert (start[rows] >= end[before]).all()
    assert (end >= start).all()
    mate = match(made)
    recvs = np.flatnonzero(columns.kind == RECV)
    slack = 1000 * MICROSECOND
    assert (end[recvs] + slack >= start[mate[recvs]]).all()
    assert timeline.finish.max(initial=0) == end.max(initial=0)
    assert all(a[2] <= b[2] + slack for a, b in itertools.pairwise(timeline.path))


@pytest.mark.parametrize("batches", [False, True])
def test_groups_go_one_after_another_where_a_transport_begins_messages_together(batches):
    made = find("all_reduce-ring").build(Shape(4, 64))
    held = hold([Job(made, 1, 0)], 4, batches=batches)
    part = parts_of(made)[0]
    groups = [[(message.sends, message.tag - CONTROL_TAGS) for message in group] for group in held.transports[0].seen]
    if batches:
        assert [len(group) for group in groups] == [2] * 6, "a send and a receive in each of 2 (n - 1) rounds"
    else:
        assert [len(group) for group in groups] == [1] * 12
    sends = [number for group in groups for is_send, number in group if is_send]
    assert sends == part.message[part.kind == SEND].tolist()


@pytest.mark.parametrize("name", sorted(COLLECTIVES))
def test_groups_in_order_wait_for_nothing_that_comes_later(name):
    entry = find(name)
    for ranks in (2, 3, 4, 7):
        for shape in shapes(entry, ranks, 1000):
            made = entry.build(shape)
            group, is_message = np.zeros(len(made), np.int64), np.isin(made.columns.kind, (SEND, RECV))
            for part in parts_of(made, grouped=True):
                group[part.rows] = part.group
                for pairs in (part.waits, part.begun):
                    rows, before = part.rows[pairs[:, 0]], part.rows[pairs[:, 1]]
                    assert (group[rows] >= group[before] + is_message[rows]).all(), shape
            mate = match(made)
            assert (group[is_message] == group[mate[is_message]]).all()
            assert not group.any() or set(group[is_message]) == set(range(1, group.max() + 1))


@pytest.mark.parametrize("name", ["alltoall-pairwise", "all_reduce-hierarchical_chunked"])
def test_each_group_begins_at_once(name):
    entry = find(name)
    made = entry.build(Shape(4, 640, chunks=3, **({"levels": (2, 2)} if "levels" in entry.uses else {})))
    held = hold([Job(made, 1, 0)], 4, batches=True)
    for transport, part in zip(held.transports, parts_of(made, grouped=True), strict=True):
        sizes = np.bincount(part.group[np.isin(part.kind, (SEND, RECV))])
        assert [len(begun) for begun in transport.seen] == sizes[sizes > 0].tolist()


def test_messages_that_wait_for_one_another_are_in_no_group():
    rows = [{**MEETS[0], "after": 3}, MEETS[1], {**MEETS[0], "rank": 1, "peer": 0}, {**MEETS[1], "rank": 0, "peer": 1}]
    rows = [{**row, "lane": FREE} for row in rows]
    parts_of(schedule(rows), grouped=True)
    rows[2]["after"] = 1
    with pytest.raises(InputError, match="row 0 waits for itself in a circle"):
        parts_of(schedule(rows), grouped=True)


def test_lanes_are_in_order_and_free_rows_are_not():
    rows = [{"kind": COMPUTE, "size": 300 * MICROSECOND, "lane": 3}, {"kind": COPY, "size": 4, "lane": 3, "source": 1}]
    bound, free = walked(schedule(rows, 1)), walked(schedule([{**row, "lane": FREE} for row in rows], 1))
    assert bound.end[0] - bound.start[0] >= 300_000
    assert bound.start[1] >= bound.end[0]
    assert free.end[1] < free.end[0]


def test_more_waits_for_the_end_and_begun_for_the_begin():
    rows = [
        {"kind": COMPUTE, "size": 300 * MICROSECOND, "lane": FREE},
        {"kind": COPY, "size": 4, "lane": FREE, "source": 1},
    ]
    pair = np.array([[1, 0]], np.int32)
    late, early = walked(schedule(rows, 1, more=pair)), walked(schedule(rows, 1, begun=pair))
    assert late.start[1] >= late.end[0]
    assert early.start[0] <= early.start[1] < early.end[0]


def test_computes_on_two_lanes_go_on_at_once():
    rows = [{"kind": COMPUTE, "size": 20_000 * MICROSECOND, "lane": lane} for lane in (0, 1)]
    stamps = walked(schedule(rows, 1))
    assert 20e6 <= stamps.finish - stamps.begin < 40e6


def test_a_walk_without_bytes_computes_nothing_and_writes_nothing():
    rows = [{"kind": COMPUTE, "size": 10**15}, {"kind": REDUCE, "size": 64, "source": 1}]
    made = schedule(rows, 1)
    memory = HostMemory([64, 64])
    stamps = Walk(parts_of(made)[0], memory, Silent(), empty=True).run()
    assert stamps.finish - stamps.begin < 10**9
    assert (memory.arrays[0] == 0xA5).all()


def test_sums_wrap_around_and_copies_copy():
    rows = [
        {"kind": REDUCE, "size": 3, "start": 1, "source": 1, "other": 2},
        {"kind": COPY, "size": 2, "start": 8, "source": 1, "other": 5},
    ]
    memory = HostMemory([64, 64])
    memory.load([np.full(64, 200, np.uint8), np.arange(100, 164, dtype=np.uint8)])
    Walk(parts_of(schedule(rows, 1))[0], memory, Silent()).run()
    assert memory.arrays[0][:10].tolist() == [200, 46, 47, 48, 200, 200, 200, 200, 105, 106]


def test_rows_that_wait_for_one_another_are_told_at_once():
    rows = [{"kind": COPY, "size": 4, "after": 1, "lane": FREE}, {"kind": COPY, "size": 4, "after": 0, "lane": FREE}]
    with pytest.raises(RunError, match=r"rank 0 is stuck, rows wait for one another: copy \(row 0\), copy \(row 1\)"):
        walked(schedule(rows, 1))


def test_a_message_that_never_comes_is_named(monkeypatch):
    made = schedule([{"kind": SEND, "rank": 1, "peer": 0, "size": 4}, {"kind": RECV, "peer": 1, "size": 4}])
    walk = Walk(parts_of(made)[0], HostMemory([64, 64]), RoomTransport(0, 2, Room()))
    walk.stall = 0.02
    with pytest.raises(RunError, match=r"nothing has moved for 0.02 s: recv from 1 \(row 1\)"):
        walk.run()


def test_ranks_set_out_when_they_are_told():
    walk = Walk(parts_of(schedule([{"kind": COPY, "size": 4}], 1))[0], HostMemory([64, 64]), Silent())
    at = walks.now() + 3_000_000
    assert walk.run(at).begin >= at


MEETS = [{"kind": SEND, "peer": 1, "size": 4}, {"kind": RECV, "rank": 1, "peer": 0, "size": 4}]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (MEETS[:1], r"send to 1 of rank 0 \(row 0\) meets no other end"),
        ([MEETS[0], {**MEETS[1], "size": 5}], "has 4 bytes, its Recv 5"),
        ([{**MEETS[0], "size": 65}, {**MEETS[1], "size": 65}], "about bytes 0 to 65 of a, which has 64"),
        ([{**MEETS[0], "start": -1}, MEETS[1]], "about bytes -1 to 3 of a"),
        ([{"kind": COPY, "size": 4, "source": 7}], "of buffer 7"),
        ([{"kind": REDUCE, "size": 4, "source": 1, "other": 61}], "about bytes 61 to 65 of b, which has 64"),
        ([{**MEETS[0], "peer": 0}, {**MEETS[1], "rank": 0}], "is to itself"),
    ],
)
def test_what_real_ranks_cannot_carry_out_is_refused(rows, said):
    with pytest.raises(InputError, match=said):
        parts_of(schedule(rows))


def test_messages_larger_than_mpi_counts_are_refused():
    rows = [{**row, "size": 2**31} for row in MEETS]
    with pytest.raises(InputError, match="has 2147483648 bytes: expected at most 2147483647"):
        parts_of(schedule(rows, size=2**32))


def test_messages_without_buffers_get_bytes_of_their_own_and_are_verified():
    rows = [
        {"kind": SEND, "peer": 1, "size": 40}, {"kind": RECV, "rank": 1, "peer": 0, "size": 40},
        {"kind": SEND, "peer": 2, "size": 30, "lane": 1}, {"kind": RECV, "rank": 2, "peer": 0, "size": 30},
        {"kind": SEND, "rank": 1, "peer": 2, "size": 20}, {"kind": RECV, "rank": 2, "peer": 1, "size": 20},
        {"kind": REDUCE, "rank": 2, "size": 1000},
    ]  # fmt: skip
    bare = schedule(rows, 3)
    made = dressed(Schedule("bare", 3, bare.columns))
    assert {buffer.name: buffer.size for buffer in made.buffers} == {
        "sent": 70, "received": 50, "sums": 1000, "added": 1000,
    }  # fmt: skip
    assert hold([Job(made, 2, 0)], 3).executed[0].checked == 90
    assert dressed(made) is made


def test_too_many_bytes_to_keep_are_refused():
    rows = [row for _ in range(2) for row in MEETS]
    columns = schedule(rows).columns
    sizes = np.full(4, 2**30 + 1, np.int64)
    made = Schedule("big", 2, Columns(**{**{n: getattr(columns, n) for n in DTYPES}, "size": sizes}))
    with pytest.raises(InputError, match=r"big: a rank sends 2.15e\+09 bytes: expected at most"):
        dressed(made)


def test_more_messages_than_tags_are_refused():
    rows = [row for _ in range(30) for row in MEETS]
    with pytest.raises(InputError, match="messages from one rank to another: expected at most 20"):
        hold([Job(schedule(rows), 1, 0)], 2, most_tag=20)


def test_a_schedule_for_other_ranks_is_refused():
    with pytest.raises(InputError, match="is for 2 ranks: expected as many, this run has 3"):
        hold([Job(schedule(MEETS), 1, 0)], 3, held=Held())
