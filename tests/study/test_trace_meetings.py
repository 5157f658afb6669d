"""Meetings: matched by group and order, what did not match, who was last, transfer against waiting."""

import numpy as np
import pytest
from made_traces import job, trace

from hopline.errors import InputError
from hopline.study.groups import ranks_text
from hopline.study.meetings import meet, meetings
from hopline.study.rates import rates
from hopline.study.stragglers import sentences, stragglers

US = 1000


def pair(first, second, *, world=2, **more):
    """Two traces on one clock."""
    return [trace(0, (), first, world=world, **more), trace(1, (), second, world=world, **more)]


def reduces(*times, **more):
    return [("all_reduce", start * US, end * US, more) for start, end in times]


def test_transfer_is_after_the_last_arrival():
    found = meet(pair(reduces((0, 100), (200, 230)), reduces((70, 100), (210, 230))))
    first, second = found.meetings
    assert (first.transfer, first.last, first.margin, first.number) == (30 * US, 1, 70 * US, 0)
    assert first.waits.tolist() == [70 * US, 0]
    assert (second.transfer, second.number, second.rivals) == (20 * US, 1, (0,))
    assert found.told == ()


def test_transfer_of_who_came_and_left_last_is_until_the_others_left():
    """Rank 3 comes at 90 and ends at 160, the others wait since 0 and end at 100: 10 us of transfer, not 70."""
    ranks = [trace(r, (), reduces(*[(i * 500, i * 500 + 100) for i in range(8)]), world=4) for r in range(3)]
    late = [(i * 500 + (90 if i == 4 else 0), i * 500 + (160 if i == 4 else 100)) for i in range(8)]
    found = meetings([*ranks, trace(3, (), reduces(*late), world=4)])[4]
    assert (found.last, found.transfer, found.shortest) == (3, 10 * US, 70 * US)


@pytest.mark.parametrize("op", ["broadcast", "reduce", "gather", "sendrecv"])
def test_of_what_does_not_wait_for_all_nothing_is_told(op):
    rows = [[(op, start * US, 100 * US, {"size": 4096})] for start in (0, 70)]
    (found,) = meetings(pair(*rows))
    assert (found.transfer, found.last, found.margin) == (None, None, 0)
    assert found.waits.tolist() == [0, 0]


def test_missing_ranks_are_named_by_group_or_by_world():
    named = {"group": "dp", "ranks": (0, 1, 4, 5)}
    (found,) = meetings(pair(reduces((0, 100), **named), reduces((60, 100), **named), world=8))
    assert (found.missing, found.transfer, found.last, found.ranks) == ((4, 5), None, None, 4)
    assert found.shortest == 40 * US
    whole = meet(pair(reduces((0, 100)), reduces((60, 100)), world=4))
    assert whole.meetings[0].missing == (2, 3)
    assert any("no trace of ranks 2, 3" in sentence for sentence in whole.told)


def test_where_no_file_says_how_many_ranks_there_are_nothing_is_told():
    found = meet(pair(reduces((0, 100)), reduces((60, 100)), world=None))
    assert found.meetings[0].transfer is None
    assert any("no file says how many" in sentence for sentence in found.told)


def test_a_number_of_members_is_enough_to_know_that_all_are_here():
    (found,) = meetings(pair(reduces((0, 100), count=2), reduces((60, 100), count=2), world=None))
    assert (found.transfer, found.ranks) == (40 * US, 2)


def test_two_traces_of_one_rank_are_refused():
    with pytest.raises(InputError, match=r"a\.json and b\.json are both of rank 0: give one trace of each rank"):
        meet([trace(0, source="a.json"), trace(0, source="b.json")])


def test_traces_of_different_jobs_are_refused():
    with pytest.raises(InputError, match=r"of a job of 2 ranks, .* of one of 4"):
        meet([trace(0, world=2), trace(1, world=4)])


def test_groups_are_kept_apart():
    """Tensor-parallel pairs named alike by members, and data-parallel ones of all."""

    def rank(r, late):
        tp = {"group": "tp", "ranks": (0, 1) if r < 2 else (2, 3)}
        return trace(
            r,
            (),
            [*reduces((late, 100 + 10 * (r // 2)), **tp), *reduces((200, 230), group="all", ranks=(0, 1, 2, 3))],
            world=4,
        )

    found = meetings([rank(r, late) for r, late in enumerate((0, 30, 50, 5))])
    assert [meeting.traces.tolist() for meeting in found] == [[0, 1], [2, 3], [0, 1, 2, 3]]
    assert [meeting.last for meeting in found[:2]] == [1, 2]
    assert [meeting.transfer for meeting in found[:2]] == [70 * US, 60 * US]


def test_members_are_taken_from_the_file_that_has_them():
    found = meetings(pair(reduces((0, 100), group="dp", ranks=(1, 0)), reduces((60, 100), group="dp"), world=8))
    assert [meeting.traces.tolist() for meeting in found] == [[0, 1]]
    assert found[0].transfer == 40 * US


def test_unnamed_groups_smaller_than_the_traces_are_not_matched():
    found = meet([trace(r, (), reduces((0, 100), count=2), world=4) for r in range(4)])
    assert found.shared == ()
    assert len(found.meetings) == 4
    assert any("4 traces have collectives of it, but it has 2 ranks" in sentence for sentence in found.told)


@pytest.mark.parametrize("shape", [(2, 4, 1, 6), (4, 2, 1, 3), (2, 2, 2, 4), (1, 4, 2, 5)])
def test_groups_that_no_file_names_are_not_made_up(shape):
    """All ranks do the same in the same order, but in groups of which the files say nothing."""
    traces, _, _ = job(*shape, np.random.default_rng(1), skew=0, jitter=5e3, named=False)
    found = meet(traces)
    assert not [m for m in found.shared if m.op != "send"]
    assert any("do not end together: there are several groups" in sentence for sentence in found.told)
    assert stragglers(traces, found.meetings).collectives == 0


def test_sequence_numbers_match_what_order_would_not():
    first = [("all_reduce", 100 * k * US, (100 * k + 50) * US, {"sequence": k}) for k in (3, 4, 6)]
    second = [("all_reduce", 100 * k * US, (100 * k + 50) * US, {"sequence": k}) for k in (4, 5, 6)]
    found = meet(pair(first, second))
    assert [(m.number, m.traces.tolist()) for m in found.meetings] == [(0, [0]), (1, [0, 1]), (2, [1]), (3, [0, 1])]
    assert any("rank 0 lacks 1 of 4 collectives (number 2)" in sentence for sentence in found.told)
    assert any("rank 1 lacks 1 of 4 collectives (number 0)" in sentence for sentence in found.told)


def test_ops_that_disagree_at_one_place_are_said():
    times = [(100 * k + 7 * k * k, 100 * k + 50 + 7 * k * k) for k in range(6)]
    ranks = [[*reduces(*times)] for _ in range(3)]
    ranks[2][3] = ("all_gather", *ranks[2][3][1:])
    found = meet([trace(r, (), row, world=3) for r, row in enumerate(ranks)])
    assert [m.traces.tolist() for m in found.shared] == [[0, 1, 2]] * 3 + [[0, 1]] + [[0, 1, 2]] * 2
    assert any("rank 2 has all_gather where most have all_reduce (number 3)" in sentence for sentence in found.told)


def test_sizes_that_differ_are_said_but_not_of_an_all_to_all():
    def rows(op, size):
        return [(op, 0, 100, {"size": size, "group": "g", "ranks": (0, 1)})]

    found = meet(pair(rows("all_reduce", 4), rows("all_reduce", 8)))
    assert found.meetings[0].size is None
    assert any("ranks tell different sizes of the same collectives (number 0)" in sentence for sentence in found.told)
    assert meet(pair(rows("alltoall", 4), rows("alltoall", 8))).meetings[0].size == 8


def test_a_rank_of_a_group_whose_trace_has_none_of_its_collectives_is_said():
    named = {"group": "dp", "ranks": (0, 1, 2)}
    found = meet(
        [*pair(reduces((0, 100), **named), reduces((60, 100), **named), world=3), trace(2, [(0, 9, 7)], world=3)]
    )
    assert found.meetings[0].transfer is None
    assert any("rank 2 has a trace with none of its collectives" in sentence for sentence in found.told)


def test_a_collective_that_ended_before_the_last_came_is_told_and_has_no_transfer():
    times = [(1000 * k, 1000 * k + 50) for k in range(12)]
    broken = [*times[:5], (5900, 5950), *times[6:]]
    rows = [[(*row, {"sequence": k}) for k, (*row, _) in enumerate(reduces(*one))] for one in (times, broken)]
    found = meet(pair(*rows))
    assert [m.number for m in found.shared if m.transfer is None] == [5]
    assert [m.number for m in found.shared if m.last is None] == [5]
    assert found.told[0].startswith("1 collective ended on one rank before the last had come")


def test_an_end_that_is_off_does_not_make_another_collective_of_it():
    times = [(1000 * k, 1000 * k + 50) for k in range(12)]
    broken = [*times[:5], (5000, 5950), *times[6:]]
    found = meet(pair(reduces(*times), reduces(*broken)))
    assert len(found.shared) == len(found.meetings) == 12
    assert found.told == ()


def kept(traces, keep):
    """Traces with only those collectives that ``keep`` says, by trace."""
    found = []
    for one, mask in zip(traces, keep, strict=True):
        rows = [
            (c.op, int(one.events.start[c.row]), int(one.events.end[c.row]), {"group": c.group, "ranks": c.ranks})
            for c, there in zip(one.collectives, mask, strict=True)
            if there
        ]
        found.append(trace(one.rank, (), rows, world=one.world, base=one.base))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("where", ["middle", "begin", "end", "one rank"])
def test_dropped_collectives_are_found_by_their_ends(seed, where):
    """Of 40 collectives at nearly regular distances ranks lack some; no two different ones may meet, whatever the clocks say."""
    rng = np.random.default_rng(seed)
    whole, _, _ = job(1, 4, 1, 40, rng, skew=3e8, jitter=5e3)
    keep = np.ones((4, 40), bool)
    for rank in range(4):
        if where == "middle" or (where == "one rank" and rank == 1):
            keep[rank, rng.choice(40, 3, replace=False)] = False
        elif where == "begin":
            keep[rank, : rng.integers(0, 4)] = False
        elif where == "end":
            keep[rank, 40 - rng.integers(0, 4) :] = False
    cut = kept(whole, keep)
    true = [
        dict(zip([c.row for c in one.collectives], np.flatnonzero(keep[r]), strict=True)) for r, one in enumerate(cut)
    ]
    found = meet(cut)
    ids = [{true[t][row] for t, row in zip(m.traces.tolist(), m.row.tolist(), strict=True)} for m in found.meetings]
    assert all(len(one) == 1 for one in ids)
    assert len(found.meetings) <= keep.any(axis=0).sum() + 1
    lacking = sum(40 - len(one.collectives) > 0 for one in cut)
    assert sum("lacks" in sentence for sentence in found.told) >= (lacking if where == "one rank" else 0)


def test_messages_meet_by_peer_and_order():
    first = [
        ("send", 0, 10, {"peer": 1, "size": 64}),
        ("recv", 20, 60, {"peer": 1}),
        ("send", 70, 80, {"peer": 1, "size": 8}),
    ]
    second = [("recv", 5, 12, {"peer": 0, "size": 64}), ("send", 40, 60, {"peer": 0}), ("recv", 70, 81, {"peer": 0})]
    found = meetings(pair(first, second))
    assert [(m.op, m.number, m.traces.tolist(), m.size) for m in found] == [
        ("send", 0, [0, 1], 64), ("send", 0, [1, 0], None), ("send", 1, [0, 1], 8)
    ]  # fmt: skip
    assert all(m.transfer is None and m.last is None and m.ranks == 2 for m in found)


def test_messages_without_a_counterpart_are_said():
    sends = [("send", 10 * k, 10 * k + 5, {"peer": 1}) for k in range(3)]
    recvs = [("recv", 10 * k, 10 * k + 5, {"peer": 0}) for k in range(2)]
    found = meet(pair(sends, recvs))
    assert found.shared == ()
    assert any("from rank 0 to rank 1: 3 sends, but 2 receives" in sentence for sentence in found.told)
    alone = meet(pair([("send", 0, 5, {"peer": 3})], [("recv", 0, 5, {})], world=4))
    assert [m.missing for m in alone.meetings] == [(3,), ()]
    assert any("messages to and from rank 3: there is no trace" in sentence for sentence in alone.told)
    assert any("do not say their peer" in sentence for sentence in alone.told)


def test_rates_say_what_their_time_is():
    whole = {"group": "g", "ranks": (0, 1), "size": 1_000_000}
    rows = pair(
        [*reduces((0, 100), **whole), ("broadcast", 200 * US, 300 * US, whole)],
        [*reduces((60, 100), **whole), ("broadcast", 250 * US, 300 * US, whole)],
    )
    reduce, broadcast = rates(meetings(rows))
    assert (reduce.basis, reduce.time, reduce.algbw) == ("transfer", pytest.approx(40e-6), pytest.approx(25e9))
    assert reduce.busbw == pytest.approx(25e9)
    assert (broadcast.basis, broadcast.algbw, broadcast.busbw) == ("seen", pytest.approx(10e9), pytest.approx(10e9))
    fewer = {**whole, "ranks": (0, 1, 2, 3)}
    (least,) = rates(meetings(pair(reduces((0, 100), **fewer), reduces((60, 100), **fewer), world=4)))
    assert (least.basis, least.algbw, least.busbw) == ("at least", pytest.approx(25e9), pytest.approx(37.5e9))


def test_stragglers_are_counted_with_what_they_cost():
    ranks = [trace(r, (), reduces(*[(500 * k, 500 * k + 100) for k in range(4)]), world=3) for r in range(2)]
    late = trace(2, (), reduces(*[(500 * k + (80 if k < 3 else -40), 500 * k + 100) for k in range(4)]), world=3)
    traces = [*ranks, late]
    found = stragglers(traces, meetings(traces))
    assert [(one.label, one.times, one.waited, one.longest) for one in found.ranks] == [
        ("rank 2", 3, 480 * US, 240 * US)
    ]
    assert (found.collectives, found.undecided, found.undecided_wait) == (4, 1, 40 * US)
    assert found.always is found.ranks[0]
    said = sentences(found)
    assert said[0].startswith("ranks wait for rank 2: it comes last always")
    assert said[1].startswith("in 1 of 4 collectives the clocks leave open who came last")


def test_where_nobody_waits_that_is_said():
    traces = pair(reduces((0, 100), (200, 300)), reduces((1, 100), (201, 300)))
    assert sentences(stragglers(traces, meetings(traces)))[0].startswith("ranks hardly wait for one another")
    assert sentences(stragglers([], [])) == ()


def test_ranks_are_named_in_runs():
    assert ranks_text([3]) == "rank 3"
    assert ranks_text([0, 1, 2, 5, 7, 8]) == "ranks 0-2, 5, 7, 8"
