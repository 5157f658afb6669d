"""Calls that were put in together, as PyTorch's recorder writes them: healthy jobs are healthy, and hangs are where they are."""

import pytest
from flight_dumps import batch, document, entry, numbered, save

from hopline.formats import flight
from hopline.records.flight import COMPLETED, UNKNOWN
from hopline.show.document import plain
from hopline.show.hang import page
from hopline.study.hangs import explain


def hang(folder, calls, **more):
    """What the dumps of ranks say; ``calls``: entries by rank."""
    paths = [save(folder, rank, document(entries, **more)) for rank, entries in calls.items()]
    return explain([flight.read(path) for path in paths])


def pipeline(ranks, rounds, state="completed", skip=()):
    """Batches in which each rank sends to the next and receives from the one before; ``skip``: ranks without the last."""
    calls = {rank: [] for rank in range(ranks)}
    for number in range(1, rounds + 1):
        for rank, mine in calls.items():
            ops = [f"send {rank}->{rank + 1}"] * (rank + 1 < ranks) + [f"recv {rank}<-{rank - 1}"] * (rank > 0)
            last = number == rounds
            if not (last and rank in skip):
                mine += batch(number, ops, state if last else "completed")
    return {rank: numbered(mine) for rank, mine in calls.items()}


@pytest.mark.parametrize("ranks", [2, 4])
def test_batches_of_sends_and_receives_that_are_done(tmp_path, ranks):
    found = hang(tmp_path, pipeline(ranks, 5), ranks=range(ranks))
    assert found.breaks == ()
    assert found.messages == 5 * (ranks - 1)
    assert "No defect" in plain(page(found))


def test_batches_are_done_in_rings_that_lost_different_numbers(tmp_path):
    calls = pipeline(2, 30)
    for mine in calls.values():
        for one in mine:
            if one["input_sizes"]:
                one["input_sizes"] = one["output_sizes"] = [[one["p2p_seq_id"]]]
    found = hang(tmp_path, {0: calls[0][10:], 1: calls[1][21:]}, ranks=range(2))
    assert found.breaks == ()


@pytest.mark.parametrize("end", ["coalesced", "ALLGATHER_coalesced"])
def test_collectives_that_were_coalesced(tmp_path, end):
    ops = ["_all_gather_base", "_broadcast_oop"]
    calls = {
        rank: numbered([*batch(1, ops, end=end), entry(0, sequence=2), *batch(3, ops, end=end)]) for rank in range(4)
    }
    assert hang(tmp_path, calls).breaks == ()
    for rank in (0, 1, 3):
        calls[rank] = numbered([*calls[rank], entry(0, sequence=4, state="started")])
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.sequence, found.odd) == ("absent", 4, (2,))


def test_a_batch_that_hangs_names_who_is_not_in_it(tmp_path):
    """Ranks 0 to 2 are in the last batch, rank 3 is not: what 0 and 1 wait for is met, and follows."""
    found = hang(tmp_path, pipeline(4, 3, state="started", skip=(3,)))
    assert [(one.kind, one.odd, one.op, one.meets) for one in found.breaks[: found.roots]] == [
        ("absent", (3,), "send 2->3", "recv 3<-2")
    ]
    assert "Rank 3 never made recv 3<-2, which would meet send 2->3" in plain(page(found))


def test_a_batch_that_is_met_and_not_done_is_stuck(tmp_path):
    found = hang(tmp_path, pipeline(3, 3, state="started"), ranks=range(3))
    assert [one.kind for one in found.breaks] == ["stuck"]
    assert "look at the network" in plain(page(found))


def test_without_what_closes_it_a_batch_is_unknown(tmp_path):
    calls = pipeline(2, 3)
    for mine in calls.values():
        mine.pop()
    calls[0] = numbered([*calls[0], entry(0, "send 0->1", sequence=3, state="scheduled")])
    dump = flight.read(save(tmp_path, 0, document(calls[0], ranks=range(2))))
    assert [call.state for call in dump.calls] == [COMPLETED] * 4 + [UNKNOWN] * 2
    found = hang(tmp_path, calls, ranks=range(2))
    assert all(0 not in one.waiting for one in found.breaks)
    assert any("whether they are done is not known" in remark for remark in found.told)


def test_dumps_of_active_calls_only(tmp_path):
    """What closes a batch that is done is left out, and what is in it stays for ever."""
    calls = pipeline(2, 6)
    active = {rank: [one for one in mine if one["state"] == "scheduled"] for rank, mine in calls.items()}
    assert hang(tmp_path, active, ranks=range(2)).breaks == ()


def test_a_coalesced_call_of_its_own_is_no_end_of_a_batch(tmp_path):
    calls = {rank: [entry(0, "reduce_scatter_tensor_coalesced", state="started")] for rank in range(4)}
    (found,) = hang(tmp_path, calls).breaks
    assert (found.kind, found.op) == ("stuck", "reduce_scatter")
