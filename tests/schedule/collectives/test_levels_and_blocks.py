"""What generators on levels, of blocks and of reshards promise beside their data: who sends where, and in which bytes."""

from __future__ import annotations

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.schedule import promises
from hopline.schedule.check.proof import check
from hopline.schedule.collectives import alltoall, bruck, hierarchy, many_rings, reshard
from hopline.schedule.drafting import Draft
from hopline.schedule.groups import neighbours, places, spans
from hopline.schedule.operations import COPY, RECV, SEND, Buffer
from hopline.schedule.pieces import overlaps, split
from hopline.schedule.shape import Shape


def outward(schedule, inside):
    """Rank, peer, channel and bytes of each message that leaves a group of ``inside`` ranks."""
    columns = schedule.columns
    rows = np.flatnonzero((columns.kind == SEND) & (columns.rank // inside != columns.peer // inside))
    return np.array([columns.rank[rows], columns.peer[rows], columns.lane[rows] // 2, columns.size[rows]]).T


def test_places_are_the_digits_of_ranks():
    assert spans((3, 1, 4)).tolist() == [1, 3, 3]
    assert places((3, 1, 4))[:, 10].tolist() == [1, 0, 3]
    assert neighbours((3, 2), 0).tolist() == [1, 2, 0, 4, 5, 3]
    assert neighbours((3, 2), 1, -1).tolist() == [3, 4, 5, 0, 1, 2]


@pytest.mark.parametrize("levels", [(8, 2), (4, 2, 3), (4, 1, 2), (6,), (5, 1)])
def test_each_ring_goes_through_a_group_before_it_leaves_it(levels):
    for ring in range(12):
        order = many_rings.order(levels, ring)
        assert sorted(order) == list(range(int(np.prod(levels))))
        for span in np.cumprod(levels):
            groups = order // span
            assert np.count_nonzero(groups != np.roll(groups, 1)) in (0, len(order) // span)


@pytest.mark.parametrize(("levels", "span"), [((8, 2), 8), ((4, 2, 3), 4), ((4, 2, 3), 8)])
def test_rings_leave_and_enter_each_group_at_ranks_of_their_own(levels, span):
    ranks = int(np.prod(levels))
    messages = outward(many_rings.all_reduce(Shape(ranks, 960, levels, channels=span)), span)
    ends = {(rank, peer, channel) for rank, peer, channel, _ in messages.tolist()}
    assert len(ends) == ranks
    assert sorted(rank for rank, _, _ in ends) == sorted(peer for _, peer, _ in ends) == list(range(ranks))


def test_only_the_own_shard_goes_outwards():
    shape = Shape(12, 1200, (3, 2, 2), chunks=4)
    for build in (hierarchy.all_reduce, hierarchy.all_reduce_chunked):
        schedule = build(shape)
        for inside, sent in ((3, 400 + 200), (6, 200)):
            messages = outward(schedule, inside)
            assert np.bincount(messages[:, 0], weights=messages[:, 3]).tolist() == [sent] * 12


def test_phases_of_a_chunk_are_on_different_levels_while_others_are_there():
    schedule = hierarchy.all_reduce_chunked(Shape(8, 800, (4, 2), chunks=5))
    assert len(schedule.rounds) == 5 + 3
    third = slice(schedule.rounds[3], schedule.rounds[4])
    assert set(schedule.columns.lane[third] // 2) == {0, 1}
    assert {start // 160 for start in schedule.columns.start[third]} == {0, 1, 2, 3}


@pytest.mark.parametrize("build", [alltoall.bruck, alltoall.hierarchical])
def test_packed_blocks_never_share_a_byte_of_the_scratch_buffer(build):
    for size in (11, 12 * 12 + 5):
        columns = build(Shape(12, size, (3, 2, 2))).columns
        written = (
            ((columns.kind == COPY) | (columns.kind == RECV))
            & (columns.buffer == alltoall.SCRATCH)
            & (columns.size > 0)
        )
        assert written.any()
        for rank in range(12):
            rows = np.flatnonzero(written & (columns.rank == rank))
            start, end = columns.start[rows], columns.start[rows] + columns.size[rows]
            order = start.argsort()
            assert np.all(end[order][:-1] <= start[order][1:])


def test_a_barrier_that_lacks_a_round_is_found():
    draft, ranks = Draft("barrier-short", 5, (Buffer("data", 0),), promises.nothing("barrier")), np.arange(5)
    for distance in bruck.distances(5)[:-1]:
        draft.begin_round()
        draft.messages(ranks, (ranks + distance) % 5, 0, 0)
    assert check(draft.made()).faults
    assert check(bruck.barrier(Shape(5, 0))).right


def test_two_splits_share_what_lies_in_both():
    start, size, one, other = (part.tolist() for part in overlaps(split(12, 3), split(12, 2)))
    assert (start, size, one, other) == ([0, 4, 6, 8], [4, 2, 2, 4], [0, 1, 1, 2], [0, 0, 1, 1])
    assert [len(part) for part in overlaps(split(0, 3), split(0, 2))] == [0] * 4


def test_a_reshard_sends_one_message_for_each_two_pieces_that_overlap():
    schedule = reshard.direct(Shape(7, 12, targets=4))
    sends = schedule.columns.kind == SEND
    pairs = zip(schedule.columns.rank[sends].tolist(), schedule.columns.peer[sends].tolist(), strict=True)
    assert sorted(pairs) == [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5), (2, 6)]


@pytest.mark.parametrize(("ranks", "targets"), [(4, 4), (4, 9), (1, 2)])
def test_somebody_must_hold_what_is_resharded(ranks, targets):
    with pytest.raises(InputError, match=f"targets is {targets}: expected fewer"):
        reshard.direct(Shape(ranks, 10, targets=targets))


def test_there_are_lanes_for_127_channels():
    assert check(many_rings.all_reduce(Shape(2, 500, channels=127))).right
    with pytest.raises(InputError, match="128 channels: expected at most 127"):
        many_rings.all_reduce(Shape(2, 500, channels=128))


def test_levels_must_hold_somebody():
    with pytest.raises(InputError, match="at least 1 member"):
        Shape(4, 1, (-2, -2))


@pytest.mark.parametrize(("ranks", "size"), [(2**31, 1), (4, 2**56 + 1), (4, 10**400)])
def test_shapes_fit_into_columns(ranks, size):
    with pytest.raises(InputError, match="expected at most"):
        Shape(ranks, size)
