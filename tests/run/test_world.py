"""Ranks that somebody else started: who tells of them, and how they end together. No MPI here."""

from __future__ import annotations

import contextlib
import signal
import threading
from types import SimpleNamespace

import pytest
from fakes import WAIT, FakeComm, Post, add, intact

from hopline.errors import DataMismatchError, RunError
from hopline.records.sample import Sample
from hopline.run import mpi_rank, world
from hopline.run.cells import Earlier, Place, cells_of
from hopline.run.comm import DATA_TAG
from hopline.run.kinds import kinds_of
from hopline.run.launcher import UNKNOWN, Launched, launched
from hopline.run.mpi import Progress, Started
from hopline.run.plan import Plan
from hopline.run.world import World, joined

HOSTS = ("a", "a", "b")
PLAN = Plan(kinds=kinds_of(["latency", "pairs"]), sizes=(8,), pair_sizes=(8,), seconds=0.1, passes=1, most=5)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"}, (3, 4)),
        ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, None),
        ({"PMI_SIZE": "2", "PMI_RANK": "0"}, (0, 2)),
        ({"MV2_COMM_WORLD_SIZE": "2", "MV2_COMM_WORLD_RANK": "1"}, (1, 2)),
        ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5", "SLURM_NTASKS": "8"}, (5, 8)),
        ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_JOB_ID": "77", "SLURM_LOCALID": "0"}, None),
        ({"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),
        (
            {
                "SLURM_STEP_NUM_TASKS": "2",
                "SLURM_PROCID": "1",
                "OMPI_COMM_WORLD_SIZE": "8",
                "OMPI_COMM_WORLD_RANK": "6",
            },
            (6, 8),
        ),
        ({"PMI_SIZE": "many", "PMI_RANK": "0"}, None),
        ({"PMI_SIZE": "2"}, None),
        ({"PMIX_RANK": "3"}, (3, UNKNOWN)),
        ({"PMIX_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, None),
    ],
)
def test_who_started_us(environment, told):
    found = launched(environment)
    assert (None if found is None else (found.rank, found.size)) == told


@pytest.fixture
def ranks(monkeypatch):
    """Three ranks on two hosts, of which the others attend."""
    monkeypatch.setattr(mpi_rank, "library", lambda: ("Some MPI 1.0", add))
    made = []

    def make(corrupt=intact):
        post = Post()
        made[:] = [World(FakeComm(rank, 3, post, corrupt), Started(HOSTS), Place(HOSTS, "mpi: x")) for rank in range(3)]
        threads = [threading.Thread(target=one.attend, daemon=True) for one in made[1:]]
        for thread in threads:
            thread.start()
        return made[0], threads, post

    return make


def gone(threads):
    for thread in threads:
        thread.join(WAIT)
    return not any(thread.is_alive() for thread in threads)


def test_the_leader_measures_with_all_and_lets_them_leave(ranks):
    first, threads, post = ranks()
    with first:
        for _ in range(2):
            with first.measuring(PLAN) as events:
                started, *rest = events
        assert all(thread.is_alive() for thread in threads)
    assert gone(threads)
    assert started == Started(HOSTS)
    samples = [event for event in rest if isinstance(event, Sample)]
    assert {sample.pair for sample in samples} == {None, (0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)}
    assert {sample.transport for sample in samples} == {"mpi: x"}
    assert next(sample.hosts for sample in samples if sample.pair == (2, 1)) == ("b", "a")
    assert any(isinstance(event, Progress) for event in rest)
    assert not post.letters


def test_leaving_without_a_plan(ranks):
    first, threads, _ = ranks()
    with first:
        pass
    assert gone(threads)


def test_an_error_of_the_user_of_events_lets_all_leave(ranks):
    first, threads, _ = ranks()
    with contextlib.suppress(ZeroDivisionError), first, first.measuring(PLAN) as events:
        for event in events:
            if isinstance(event, Progress) and event.ranks == (1, 2):
                raise ZeroDivisionError
    assert gone(threads)


def test_wrong_data_let_all_leave(ranks):
    def corrupt(rank, tag, data):
        if tag == DATA_TAG and rank == 2:
            data[0] ^= 1

    first, threads, _ = ranks(corrupt)
    with pytest.raises(DataMismatchError, match=r"^rank 2 "), first, first.measuring(PLAN) as events:
        list(events)
    assert gone(threads)


def collect(events, kept):
    """Keep samples; after the second, get a signal."""
    for event in events:
        if isinstance(event, Sample):
            kept.append(event)
            if len(kept) == 2:
                signal.raise_signal(signal.SIGTERM)


def test_a_signal_asks_to_stop_and_its_handler_goes(ranks):
    first, threads, _ = ranks()
    before = signal.getsignal(signal.SIGTERM)
    kept: list[Sample] = []
    with pytest.raises(KeyboardInterrupt), first, first.measuring(PLAN) as events:
        collect(events, kept)
    assert gone(threads)
    assert len(kept) == 2
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_was_measured_is_not_measured_again(ranks):
    first, threads, _ = ranks()
    cells = cells_of(PLAN, 3)
    with first, first.measuring(PLAN, dict.fromkeys(cells[1:], Earlier(1, (1.0,) * 5))) as events:
        samples = [event for event in events if isinstance(event, Sample)]
    assert gone(threads)
    assert [(sample.benchmark, sample.pair) for sample in samples] == [("latency", None)]


def test_a_failure_amid_a_burst_ends_all_with_one_line(ranks, monkeypatch, capsys):
    first, threads, post = ranks()
    monkeypatch.setattr(FakeComm, "Send_init", lambda *_: (_ for _ in ()).throw(MemoryError("no\nroom")))
    plan = Plan(kinds=("bw",), sizes=(8,), seconds=0.1, passes=1, most=5)
    with first, first.measuring(plan) as events:
        assert [type(event) for event in events] == [Started]
    assert gone(threads)
    assert (0, 2) in post.aborted
    assert "hopline: rank 0 failed: out of memory: no room" in capsys.readouterr().err.splitlines()


def test_mpi_that_knows_nothing_of_the_ranks_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(mpi_rank, "world", lambda: SimpleNamespace(rank=0, size=1))
    monkeypatch.setattr(mpi_rank, "library", lambda: ("Some MPI 1.0", add))
    with pytest.raises(RunError) as caught:
        joined(Launched(3, 8, "PMI_SIZE"))
    assert str(caught.value).startswith(
        "started as one of 8 ranks (PMI_SIZE=8), but mpi4py's MPI (Some MPI 1.0) knows of 1: the launcher and mpi4py "
    )


def test_mpi4py_that_is_missing_is_told(monkeypatch):
    def missing():
        raise ImportError("No module named 'mpi4py'")

    monkeypatch.setattr(mpi_rank, "world", missing)
    with pytest.raises(RunError, match="one of 2 ranks, but mpi4py cannot be used: No module named 'mpi4py'; use the"):
        joined(Launched(0, 2, "PMI_SIZE"))


def test_where_the_launcher_does_not_say_mpi_does(monkeypatch):
    told = Launched(0, UNKNOWN, "PMIX_RANK")
    places = [{"host": "a", "cores": [0, 1]}] * 2
    monkeypatch.setattr(mpi_rank, "library", lambda: ("Some MPI 1.0", add))
    monkeypatch.setattr(mpi_rank, "world", lambda: SimpleNamespace(rank=0, size=1))
    assert joined(told) is None
    monkeypatch.setattr(mpi_rank, "world", lambda: SimpleNamespace(rank=0, size=2, allgather=lambda _: places))
    assert joined(told).place == Place(("a", "a"), "mpi: Some MPI 1.0")


def test_alone_there_is_no_world(monkeypatch):
    monkeypatch.setattr(world, "launched", lambda: None)
    assert joined() is None


def test_more_ranks_than_cores_are_told(monkeypatch):
    places = [
        {"host": "a", "cores": [0]},
        {"host": "a", "cores": [0, 1]},
        {"host": "a", "cores": [1]},
        {"host": "b", "cores": [0]},
    ]
    comm = SimpleNamespace(allgather=lambda _: places)
    assert mpi_rank.start_event(comm)["crowded"] == [["a", 3, 2]]
    assert mpi_rank.start_event(comm)["hosts"] == ["a", "a", "a", "b"]
