"""Hangs that were made, and whether they are told as what they are."""

import random

import pytest
from flight_dumps import document, entry, save

from hopline.errors import InputError
from hopline.formats import flight
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
    assert found.circle == ()


def test_groups_in_another_order_wait_in_a_circle(tmp_path):
    a, b = ("1", "a"), ("2", "b")
    groups = [("1", "a", [0, 1]), ("2", "b", [0, 1])]
    calls = {
        0: [entry(0, sequence=0, group=a, state="started")],
        1: [entry(0, sequence=0, group=b, state="started")],
    }
    found = hang(tmp_path, calls, ranks=range(2), groups=groups)
    assert {one.name for one in found.circle} == {"1", "2"}
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
