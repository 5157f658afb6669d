"""Hangs that were made, and whether they are told as what they are."""

import random

import pytest
from flight_dumps import SECOND, document, entry, numbered, save
from spent import at_most

from hopline.errors import InputError
from hopline.formats import flight
from hopline.show.document import plain
from hopline.show.hang import as_json, page
from hopline.study.hangs import explain


def hang(folder, calls, **more):
    """What the dumps of ranks say; ``calls``: entries by rank."""
    paths = [save(folder, rank, document(entries, **more)) for rank, entries in calls.items()]
    return explain([flight.read(path) for path in paths])


def healthy(ranks=4, count=10):
    return {rank: [entry(i) for i in range(count)] for rank in range(ranks)}


def test_a_job_without_a_defect_has_no_break(tmp_path):
    found = hang(tmp_path, healthy())
    assert found.breaks == ()
    assert found.compared == 10
    assert found.missing == ()
    assert {rank: call.sequence for rank, call in found.last.items()} == dict.fromkeys(range(4), 9)


def test_a_rank_that_never_came(tmp_path):
    calls = healthy()
    for rank in (0, 1, 3):
        calls[rank].append(entry(10, state="started"))
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.sequence, found.op, found.odd, found.waiting) == (
        "absent",
        10,
        "all_reduce",
        (2,),
        (0, 1, 3),
    )
    assert found.timeout == 600
    assert found.waited == pytest.approx(0.5)


def test_the_first_of_several_is_told(tmp_path):
    """Calls after the one that hangs are in the stream, too."""
    calls = healthy()
    for rank in (0, 1, 3):
        calls[rank] += [entry(10, state="started"), entry(11, state="scheduled"), entry(12, state="scheduled")]
    (found,) = hang(tmp_path, calls).breaks
    assert found.sequence == 10


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"op": "_all_gather_base"}, "op", "all_gather on rank 3"),
        ({"input_dtypes": ["BFloat16"], "output_dtypes": ["BFloat16"]}, "dtype", "BFloat16 on rank 3"),
        ({"input_sizes": [[512]], "output_sizes": [[512]]}, "size", "512 elements in and 512 elements out on rank 3"),
    ],
)
def test_a_rank_that_calls_something_else(tmp_path, change, kind, words):
    calls = healthy()
    for rank in range(4):
        calls[rank].append(entry(10, state="started", **(change if rank == 3 else {})))
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.odd) == (kind, (3,))
    assert words in found.detail
    assert "on ranks 0-2" in found.detail


def test_shapes_of_as_many_elements_are_the_same(tmp_path):
    calls = healthy()
    calls[1][4] = entry(4, input_sizes=[[32, 32]], output_sizes=[[2, 512]])
    assert hang(tmp_path, calls).breaks == ()


def test_scatter_and_gather_differ_at_their_root(tmp_path):
    calls = {rank: [entry(0, "scatter", input_sizes=[[4096]] if rank == 0 else [])] for rank in range(4)}
    for rank in range(4):
        calls[rank].append(entry(1, "gather", output_sizes=[[4096]] if rank == 2 else []))
    assert hang(tmp_path, calls).breaks == ()


def test_an_alltoall_that_does_not_add_up(tmp_path):
    calls = {
        rank: [entry(0, "all_to_all", state="started", input_sizes=[[10 + rank]], output_sizes=[[12]])]
        for rank in range(4)
    }
    (found,) = hang(tmp_path, calls).breaks
    assert found.kind == "size"
    assert "together they send 46 elements and expect 48" in found.detail
    for rank in range(4):
        calls[rank][0]["output_sizes"] = [[13 - rank]]
    (found,) = hang(tmp_path, calls).breaks
    assert found.kind == "stuck"


def test_all_in_it_and_none_done(tmp_path):
    calls = healthy()
    for rank in range(4):
        calls[rank].append(entry(10, state="started"))
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.odd, found.waiting) == ("stuck", (), (0, 1, 2, 3))
    calls[1][10] = entry(10, state="scheduled")
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.odd) == ("scheduled", (1,))


def test_rings_that_lost_different_numbers_of_calls(tmp_path):
    """Aligned by place they would differ everywhere; by sequence they do not."""
    ops = ["all_reduce", "_all_gather_base", "broadcast"]
    calls = {rank: [entry(i, ops[i % 3]) for i in range(100)][20 + 7 * rank :] for rank in range(4)}
    found = hang(tmp_path, calls)
    assert found.breaks == ()
    assert found.compared == 73
    (remark,) = found.told
    assert remark.startswith("the dumps of ranks 0-3 begin with call 20 to 41")


def test_calls_that_were_coalesced_and_cut(tmp_path):
    """Three calls of one sequence; a ring that begins inside of them differs by what it lost only."""
    calls = {rank: [entry(3 * i + k, sequence=i) for i in range(10) for k in range(3)] for rank in range(2)}
    calls[1] = calls[1][10:]
    assert hang(tmp_path, calls, ranks=range(2)).breaks == ()
    calls[0] = [*calls[0][:-1], entry(29, "broadcast", sequence=9)]
    (found,) = hang(tmp_path, calls, ranks=range(2)).breaks
    assert (found.kind, found.sequence) == ("op", 9)
    assert "all_reduce, all_reduce, broadcast on rank 0" in found.detail


def test_an_alltoall_of_two_types(tmp_path):
    calls = {
        rank: [entry(0, "all_to_all", state="started", input_dtypes=["Float" if rank else "Half"] * 3)]
        for rank in range(4)
    }
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.odd) == ("dtype", (0,))


def test_members_of_groups_without_calls_are_missing_too(tmp_path):
    calls = {rank: [entry(i, group=("1", "tp")) for i in range(3)] for rank in range(2)}
    assert hang(tmp_path, calls, groups=[("1", "tp", [0, 1])]).missing == (2, 3)


def test_a_missing_rank_is_unknown_and_not_late(tmp_path):
    calls = {rank: mine for rank, mine in healthy().items() if rank != 2}
    for mine in calls.values():
        mine.append(entry(10, state="started"))
    found = hang(tmp_path, calls)
    assert found.missing == (2,)
    assert (found.breaks[0].kind, found.breaks[0].odd, found.breaks[0].unknown) == ("unknown", (), (2,))


def test_a_dump_that_lost_a_group_is_unknown(tmp_path):
    pair = [("9", "tp", [0, 1])]
    tp = entry(5, sequence=0, group=("9", "tp"), state="started")
    lost = {0: [tp], 1: [entry(i) for i in range(50, 60)]}
    found = hang(tmp_path, lost, groups=pair)
    by_group = {one.group.name: one for one in found.breaks}
    assert by_group["9"].unknown == (1,)
    assert by_group["9"].odd == ()


def test_what_follows_from_another_group_stands_behind_it(tmp_path):
    """Ranks 0 and 1 wait in their pair for rank 2's world, where rank 3 never came."""
    groups = [("1", "tp", [0, 1]), ("2", "tp", [2, 3])]
    calls = {
        0: [entry(0, sequence=0), entry(1, sequence=1, state="started")],
        1: [entry(0, sequence=0), entry(1, sequence=1, state="started")],
        2: [entry(0, sequence=0), entry(1, sequence=0, group=("2", "tp"), state="started")],
        3: [entry(0, sequence=0)],
    }
    found = hang(tmp_path, calls, groups=groups)
    assert [(one.group.name, one.odd) for one in found.breaks] == [("2", (3,)), ("0", (2, 3))]
    assert found.roots == 1
    assert found.circles == ()


def test_groups_in_another_order_wait_in_a_circle(tmp_path):
    a, b = ("1", "a"), ("2", "b")
    groups = [("1", "a", [0, 1]), ("2", "b", [0, 1])]
    calls = {
        0: [entry(0, sequence=0, group=a, state="started")],
        1: [entry(0, sequence=0, group=b, state="started")],
    }
    found = hang(tmp_path, calls, ranks=range(2), groups=groups)
    (circle,) = found.circles
    assert {one.group.name for one in circle} == {"1", "2"}
    assert found.roots == 2


def test_a_receive_without_a_send(tmp_path):
    calls = healthy(2)
    calls[1].append(entry(10, "recv 1<-0", sequence=1, state="started", input_sizes=[], input_dtypes=[]))
    (found,) = hang(tmp_path, calls, ranks=range(2)).breaks
    assert (found.kind, found.odd, found.waiting, found.op) == ("absent", (0,), (1,), "recv 1<-0")
    calls[0].append(entry(10, "send 0->1", sequence=1, state="started", input_sizes=[[7]]))
    (found,) = hang(tmp_path, calls, ranks=range(2)).breaks
    assert (found.kind, found.detail) == ("size", "7 elements are sent and 1,024 expected")


def test_sends_that_met_are_no_break(tmp_path):
    calls = {
        0: [entry(i, "send 0->1", sequence=i) for i in range(20)],
        1: [entry(i, "recv 1<-0", sequence=i) for i in range(20)][7:],
    }
    assert hang(tmp_path, calls, ranks=range(2)).breaks == ()


def test_groups_of_one_name_and_other_members_are_two(tmp_path):
    calls = {rank: [entry(i, group=("5", "tp")) for i in range(3 if rank < 2 else 9)] for rank in range(4)}
    paths = [
        save(tmp_path, rank, document(mine, groups=[("5", "tp", [0, 1] if rank < 2 else [2, 3])]))
        for rank, mine in calls.items()
    ]
    found = explain([flight.read(path) for path in paths])
    assert [group.ranks for group in found.groups] == [(0, 1), (2, 3)]
    assert found.breaks == ()


def test_files_of_one_rank_and_of_none(tmp_path):
    one = flight.read(save(tmp_path, 1, document(healthy()[1])))
    with pytest.raises(InputError, match="both of rank 1"):
        explain([one, one])
    with pytest.raises(InputError, match="does not say which rank"):
        explain([flight.read(save(tmp_path, "x", document(healthy()[1])))])


def brute_force(calls, count):
    """First sequence at which not every rank is done; ranks that did not come."""
    for sequence in range(count):
        here = {rank: [e for e in mine if e["collective_seq_id"] == sequence] for rank, mine in calls.items()}
        if any(not mine or mine[0]["state"] != "completed" for mine in here.values()):
            return sequence, tuple(rank for rank, mine in here.items() if not mine)
    return None


@pytest.mark.parametrize("seed", range(12))
def test_random_hangs_against_brute_force(tmp_path, seed):
    """Ranks stop anywhere; all that is after the shortest cannot be done; the recorder keeps the last few of each."""
    rng = random.Random(seed)
    reach = [rng.randint(20, 30) for _ in range(4)]
    least = min(reach)
    calls = {
        rank: [entry(i, state="completed" if i < least else "started") for i in range(n)]
        for rank, n in enumerate(reach)
    }
    told = brute_force(calls, 30)
    kept = {rank: mine[-rng.randint(12, 20) :] for rank, mine in calls.items()}
    found = hang(tmp_path, kept)
    assert (found.breaks[0].sequence, found.breaks[0].odd) == told if told else found.breaks == ()


# --- who waits for whom -------------------------------------------------------------------------------------------


def untimed(record, group, **more):
    """A call in flight of a recorder that does not see kernels start, as it is by default."""
    return entry(record, group=group, sequence=1, state="scheduled", **more)


def done(record, **more):
    """A call that such a recorder has as done."""
    return entry(record, **more) | {"time_discovered_started_ns": None}


def test_groups_in_different_orders_where_no_start_is_seen(tmp_path):
    """Both ranks have made both calls, and nothing says which kernel runs: the orders differ, which is the cause."""
    a, b = ("1", "tp"), ("2", "dp")
    groups = [("1", "tp", [0, 1]), ("2", "dp", [0, 1])]
    calls = {0: [done(0), untimed(1, a), untimed(2, b)], 1: [done(0), untimed(1, b), untimed(2, a)]}
    found = hang(tmp_path, calls, ranks=range(2), groups=groups)
    (circle,) = found.circles
    assert {one.group.name for one in circle} == {"1", "2"}
    text = plain(page(found))
    assert "all_reduce of group 1 waits for rank 1, which waits in all_reduce of group 2" in text
    assert "in different orders" in text
    assert "network" not in text + str(as_json(found))


def test_groups_in_one_order_are_no_circle(tmp_path):
    a, b = ("1", "tp"), ("2", "dp")
    groups = [("1", "tp", [0, 1]), ("2", "dp", [0, 1])]
    calls = {rank: [done(0), untimed(1, a), untimed(2, b)] for rank in range(2)}
    found = hang(tmp_path, calls, ranks=range(2), groups=groups)
    assert found.circles == ()
    assert [one.group.name for one in found.breaks[: found.roots]] == ["1"]
    assert "TORCH_NCCL_ENABLE_TIMING was off" in plain(page(found))


def test_a_late_gpu_is_named_only_where_starts_are_seen(tmp_path):
    calls = {rank: [done(0), done(1, state="scheduled")] for rank in range(4)}
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.odd, found.timed) == ("stuck", (), False)


def test_a_chain_of_sends_ends_at_who_waits_for_nobody(tmp_path):
    """Rank 3 sits in its program; 2, 1 and 0 wait one for the other, and the first to begin waiting is 0."""
    calls = {
        0: [entry(0), entry(5, "send 0->1", sequence=1, state="started")],
        1: [entry(0), entry(6, "send 1->2", sequence=1, state="started")],
        2: [entry(0), entry(9, "send 2->3", sequence=1, state="started")],
        3: [entry(0)],
    }
    for mine in calls.values():
        mine[:] = [one | {"record_id": i} for i, one in enumerate(mine)]
    found = hang(tmp_path, calls)
    assert [(one.op, one.odd) for one in found.breaks] == [
        ("send 2->3", (3,)),
        ("send 0->1", (1,)),
        ("send 1->2", (2,)),
    ]
    assert found.roots == 1


def test_two_that_send_to_each_other_wait_in_a_circle(tmp_path):
    calls = {rank: [entry(0, f"send {rank}->{1 - rank}", sequence=1, state="started")] for rank in range(2)}
    found = hang(tmp_path, calls, ranks=range(2))
    assert found.roots == 2
    (circle,) = found.circles
    assert {(one.op, one.meets) for one in circle} == {("send 0->1", "recv 1<-0"), ("send 1->0", "recv 0<-1")}
    text = plain(page(found))
    assert "Rank 1 never made recv 1<-0, which would meet send 0->1" in text
    assert "Rank 0 never made recv 0<-1, which would meet send 1->0" in text


def test_one_group_in_a_circle_is_named_once(tmp_path):
    calls = {
        0: [entry(0), entry(1, "recv 0<-1", sequence=1, state="started")],
        1: [entry(0), entry(1, state="started")],
    }
    found = hang(tmp_path, calls, ranks=range(2))
    assert as_json(found)["circle"] == ["0"]
    assert "the calls of group 0 in different orders" in plain(page(found))


def test_what_follows_from_a_circle_is_no_cause_of_another_break(tmp_path):
    """Ranks 0 and 1 in a circle, and apart from them rank 3 that never came to the call of 2."""
    groups = [("1", "a", [0, 1]), ("2", "b", [0, 1]), ("3", "c", [2, 3])]
    calls = {
        0: [untimed(0, ("1", "a")), untimed(1, ("2", "b"))],
        1: [untimed(0, ("2", "b")), untimed(1, ("1", "a"))],
        2: [untimed(0, ("3", "c"))],
        3: [entry(0, sequence=0, group=("3", "c"))],
    }
    calls[2].insert(0, entry(0, sequence=0, group=("3", "c")))
    calls[2][1]["record_id"] = 1
    found = hang(tmp_path, calls, groups=groups)
    assert (found.roots, len(found.circles)) == (3, 1)
    assert found.breaks[0].odd == (3,)


# --- what is not a hang, and what is not known --------------------------------------------------------------------


def test_sizes_that_differed_before_are_told(tmp_path):
    calls = healthy()
    calls[2][4] = entry(4, input_sizes=[[999]], output_sizes=[[999]])
    found = hang(tmp_path, calls)
    assert (found.breaks, [(one.sequence, one.odd) for one in found.earlier]) == ((), [(4, (2,))])
    assert "No defect" not in plain(page(found))
    for mine in calls.values():
        mine.append(entry(10, state="started"))
    text = plain(page(hang(tmp_path, calls)))
    assert "999 elements in and 999 elements out on rank 2" in text
    assert "nothing earlier differs" not in text
    assert "look at the network" not in text


def test_gathers_of_uneven_pieces_are_alike(tmp_path):
    pieces = [[rank + 1] for rank in range(4)]
    calls = {
        rank: [
            entry(0, "all_gather", input_sizes=[pieces[rank]], output_sizes=pieces, state="started"),
        ]
        for rank in range(4)
    }
    (found,) = hang(tmp_path, calls).breaks
    assert found.kind == "stuck"
    calls[1][0]["output_sizes"] = [[1], [2], [3], [9]]
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.odd) == ("size", (1,))


def test_a_dump_of_another_time_is_not_blamed(tmp_path):
    """Others are done with 90 all-reduces that rank 3's dump lacks: they cannot be, so the dump is old or cut."""
    calls = {rank: [entry(i) for i in range(100 if rank < 3 else 10)] for rank in range(4)}
    found = hang(tmp_path, calls)
    assert [(one.rank, one.reached, one.done) for one in found.behind] == [(3, 9, 99)]
    assert "No defect" not in plain(page(found))
    for rank in range(3):
        calls[rank].append(entry(100, state="started"))
    (late,) = hang(tmp_path, calls).breaks
    assert (late.kind, late.odd, late.unknown) == ("unknown", (), (3,))


def test_a_dump_of_the_day_before_is_not_blamed(tmp_path):
    calls = healthy()
    for one in calls[1]:
        one.update({key: one[key] - 86400 * SECOND for key in one if key.startswith("time_") and one[key]})
    found = hang(tmp_path, calls)
    assert [(one.rank, one.group) for one in found.behind] == [(1, None)]
    assert "is of another run" in plain(page(found))


def test_a_broadcast_that_ends_early_is_no_sign_of_an_old_dump(tmp_path):
    calls = {rank: [entry(0), entry(1, "broadcast", state="started" if rank else "completed")] for rank in range(3)}
    calls[3] = [entry(0)]
    found = hang(tmp_path, calls)
    assert (found.behind, found.breaks[0].odd) == ((), (3,))


def test_how_long_is_told_only_where_it_is_known(tmp_path):
    calls = healthy()
    for rank in (0, 1, 3):
        calls[rank].append(entry(10, state="started"))
    text = plain(page(hang(tmp_path, calls)))
    assert "for at least" not in text
    assert "How long they wait is not in the dumps" in text
    calls[0][10]["time_created_ns"] -= 100 * SECOND
    text = plain(page(hang(tmp_path, calls)))
    assert "for at least 100.5 s of a timeout of 600.0 s" in text
    assert "How long" not in text


def test_many_calls_of_one_number_take_no_more_time_than_as_many_others(tmp_path):
    one = entry(0, sequence=1)
    path = save(tmp_path, 0, document([one] * 60_000))
    dump = flight.read(path)
    with at_most(3):
        assert explain([dump]).breaks == ()


def test_sizes_of_a_cut_ring_are_compared_under_one_number_only(tmp_path):
    """The dumps lost different numbers of calls, so the first that is not done need not be the same on both ranks."""
    calls = {
        0: numbered([entry(0), entry(0, "send 0->1", sequence=8, state="started", input_sizes=[[5]])])[1:],
        1: numbered([entry(0), entry(0, "recv 1<-0", sequence=9, state="started", output_sizes=[[6]])])[1:],
    }
    (found,) = hang(tmp_path, calls, ranks=range(2)).breaks
    assert found.kind == "stuck"
    calls[1][0]["p2p_seq_id"] = 8
    (found,) = hang(tmp_path, calls, ranks=range(2)).breaks
    assert found.kind == "size"
