"""What is said of hangs: on which ranks it holds, and which dumps say nothing."""

import pytest
from flight_dumps import document, entry, save

from hopline.formats import flight
from hopline.show.document import plain
from hopline.show.hang import as_json, page
from hopline.study.hangs import explain

ALL = "No defect: every call of each group is the same on all its ranks and done"
SOME = "every call that two or more of them have is the same on each and done"


def hang(folder, calls, **more):
    return explain([flight.read(save(folder, rank, document(mine, **more))) for rank, mine in calls.items()])


def healthy(ranks=4, count=10):
    return {rank: [entry(i) for i in range(count)] for rank in range(ranks)}


def test_no_defect_on_all_ranks_is_said_where_all_have_every_call(tmp_path):
    found = hang(tmp_path, healthy())
    assert ALL in plain(page(found))
    assert (found.held, found.empty, found.short) == ((0, 1, 2, 3), (), ())


@pytest.mark.parametrize("empty", [(2,), (0, 3)])
def test_a_dump_without_calls_is_said_with_the_verdict(tmp_path, empty):
    found = hang(tmp_path, healthy() | {rank: [] for rank in empty})
    text = plain(page(found))
    assert ALL not in text
    assert "No defect among ranks 0-1, 3: " + SOME in text or "No defect among ranks 1-2: " + SOME in text
    assert "rank 2 has nothing in it" in text or "ranks 0, 3 have nothing in them" in text
    assert "which may itself be the defect" in text
    assert found.empty == empty
    assert as_json(found)["empty"] == list(empty)
    assert as_json(found)["held"] == sorted({0, 1, 2, 3} - set(empty))


def test_a_dump_without_calls_of_groups_without_calls(tmp_path):
    """No group with calls has ranks 2 and 3 in it."""
    calls = [entry(i, group=("1", "tp")) for i in range(3)]
    groups = (("1", "tp", [0, 1]), ("2", "tp", [2, 3]))
    text = plain(page(hang(tmp_path, {0: calls, 1: calls, 2: [], 3: []}, groups=groups)))
    assert "No defect among ranks 0-1: " in text
    assert "The dumps of ranks 2-3 have nothing in them" in text


def test_a_dump_without_calls_beside_a_wait_and_where_nothing_can_be_compared(tmp_path):
    calls = healthy()
    for rank in (0, 1, 3):
        calls[rank].append(entry(10, state="started"))
    assert "The dump of rank 2 has nothing in it" in plain(page(hang(tmp_path, calls | {2: []})))
    text = plain(page(hang(tmp_path, {rank: [] for rank in range(4)})))
    assert "Nothing can be compared" in text
    assert "The dumps of ranks 0-3 have nothing in them" in text


def test_a_rank_without_a_dump_is_not_among_those_without_a_defect(tmp_path):
    text = plain(page(hang(tmp_path, healthy(3))))
    assert "There is no dump of rank 3" in text
    assert "No defect among ranks 0-2: " + SOME in text


def test_a_dump_that_ends_before_others_of_its_group(tmp_path):
    """A broadcast may be done on its root alone, so that a dump that lacks it shows no wait."""
    calls = healthy()
    calls[0] += [entry(10, "broadcast")]
    text = plain(page(hang(tmp_path, calls)))
    assert (
        "The dumps of ranks 1-3 do not come to call 10 of group 0 (default_pg) of ranks 0-3, which others have." in text
    )
    assert "No defect among ranks 0-3: " + SOME in text


def test_sends_and_receives_hold_the_ranks_that_they_join(tmp_path):
    calls = {0: [entry(0, "send 0->1", sequence=1)], 1: [entry(0, "recv 1<-0", sequence=1)], 2: [], 3: []}
    found = hang(tmp_path, calls)
    assert found.held == (0, 1)
    assert "No defect among ranks 0-1: " in plain(page(found))
