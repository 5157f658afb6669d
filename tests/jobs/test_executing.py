"""What becomes of what ranks tell: kept, gone on with, and not lost where a run ends badly."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import InputError, OutputError, RunError
from hopline.formats import samples as samples_file
from hopline.jobs import executing, schedules
from hopline.jobs.executing import execute
from hopline.jobs.schedule_labels import label
from hopline.records.executed import ClockError, Executed
from hopline.records.timeline import Timeline
from hopline.run.executing.given import Given, rank_told
from hopline.run.executing.repeating import Finished, Repeated
from hopline.run.executing.transports import Seat, find, torch_seat
from hopline.run.mpi import Started
from hopline.schedule.collectives.table import find as entry_of
from hopline.schedule.shape import Shape

STARTED = "2026-01-02T03:04:05+00:00"


def found(name="all_reduce-ring", ranks=2, size=100, **more):
    return schedules.built(entry_of(name), Shape(ranks, size, **more))


def done(schedule, times) -> Executed:
    rows = np.zeros(len(schedule), np.int64)
    line = Timeline(schedule.name, "m", "e", np.zeros(2, np.int64), rows[:0], (), (), 1, 1, rows, rows + 1)
    return Executed(schedule.name, 2, "mpi", ("h", "h"), times, times, ClockError(1e-6), 1e-6, 10, line)


@pytest.fixture
def ranks(monkeypatch):
    """Ranks that take 1, 2, 3, ... s; ``after`` so many repeats they raise what ``ends`` says."""

    class Ranks:
        after, ends, jobs = 10**9, RunError("the ranks failed"), []

        @contextmanager
        def run(self, jobs, transport, count):
            self.jobs = jobs
            yield self.events(jobs)

        def events(self, jobs):
            yield Started(("h", "h"), (("h", 2, 1),))
            made = 0
            for number, job in enumerate(jobs):
                for repeat in range(job.repeats):
                    if made == self.after:
                        raise self.ends
                    made += 1
                    yield Repeated(number, repeat, 10.0 + repeat, STARTED)
                yield Finished(number, done(job.schedule, tuple(1.0 + k for k in range(job.repeats))))

    monkeypatch.setattr(executing.platform, "node", lambda: "h")
    one = Ranks()
    monkeypatch.setattr(executing, "executing", one.run)
    return one


def times(file) -> dict[int, tuple[float, ...]]:
    return {sample.size: sample.times for sample in samples_file.load(str(file))}


def test_times_on_the_common_clock_are_kept_in_one_file(ranks, tmp_path):
    file, told = tmp_path / "deeper" / "r.jsonl", []
    ran = execute([found(), found(size=7)], "mpi", repeats=2, file=file, watch=lambda part, text: told.append(part))
    assert times(file) == {100: (1.0, 2.0), 7: (1.0, 2.0)}
    (first, _) = samples_file.begun(str(file)).lines
    sample = first.sample
    assert (sample.benchmark, sample.transport, sample.host, sample.ranks) == ("all_reduce-ring", "mpi", "h", 2)
    assert (sample.clock, sample.started) == (1e-6, STARTED)
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert ran.crowded == (("h", 2, 1),)
    assert not ran.nothing_new
    assert not ran.interrupted
    assert [job.warmups for job in ranks.jobs] == [2, 2]


def test_the_same_again_goes_on_where_it_ended(ranks, tmp_path):
    file = tmp_path / "r.jsonl"
    ranks.after, ranks.ends = 3, KeyboardInterrupt()
    ran = execute([found(), found(size=7)], "mpi", repeats=2, file=file)
    assert ran.interrupted
    assert times(file) == {100: (1.0, 2.0), 7: (10.0,)}
    assert ran.cells[1].sample.times == (10.0,)
    ranks.after = 10**9
    again = execute([found(), found(size=7)], "mpi", repeats=2, file=file)
    assert [job.repeats for job in ranks.jobs] == [1]
    assert [cell.earlier for cell in again.cells] == [2, 1]
    assert times(file) == {100: (1.0, 2.0), 7: (10.0, 1.0)}
    ranks.jobs = None
    third = execute([found(), found(size=7)], "mpi", repeats=2, file=file)
    assert third.nothing_new
    assert ranks.jobs is None, "no ranks were started"


def test_what_was_timed_before_ranks_failed_is_kept(ranks, tmp_path):
    file = tmp_path / "r.jsonl"
    ranks.after = 1
    ran = execute([found()], "mpi", repeats=3, file=file)
    assert str(ran.trouble) == "the ranks failed"
    assert times(file) == {100: (10.0,)}


def test_what_takes_long_is_kept_on_the_way_and_only_once(ranks, tmp_path, monkeypatch):
    monkeypatch.setattr(executing, "KEEP_EVERY", 0.0)
    file = tmp_path / "r.jsonl"
    ran = execute([found()], "mpi", repeats=3, file=file)
    assert [line.sample.times for line in samples_file.begun(str(file)).lines] == [(10.0,), (11.0,), (12.0,)]
    assert ran.cells[0].sample.times == (10.0, 11.0, 12.0)
    assert ran.cells[0].executed is not None
    ranks.after = 2
    again = execute([found(size=7)], "mpi", repeats=3, file=file)
    assert str(again.trouble) == "the ranks failed"
    assert times(file) == {100: (10.0, 11.0, 12.0), 7: (10.0, 11.0)}


def test_a_disk_that_is_full_on_the_way_is_told_once_and_nothing_counts_twice(ranks, monkeypatch):
    monkeypatch.setattr(executing, "KEEP_EVERY", 0.0)
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    ran = execute([found()], "mpi", repeats=3, file=Path("/dev/full"))
    assert "No space left" in str(ran.unwritten)
    assert ran.cells[0].sample.times == (10.0,)


def test_ranks_that_cannot_be_started_are_an_error(ranks, monkeypatch):
    @contextmanager
    def missing(*_):
        raise RunError("mpirun not found")
        yield

    monkeypatch.setattr(executing, "executing", missing)
    with pytest.raises(RunError, match="mpirun not found"):
        execute([found()], "mpi")


def test_a_full_disk_ends_the_run_and_loses_nothing_of_the_answer(ranks):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    ran = execute([found(), found(size=7)], "mpi", repeats=2, file=Path("/dev/full"))
    assert "No space left" in str(ran.unwritten)
    assert ran.cells[0].sample.times == (1.0, 2.0)


def test_somebody_elses_file_is_refused_before_anything_runs(ranks, tmp_path):
    (tmp_path / "notes").write_text("dear diary\n")
    with pytest.raises(OutputError, match="not a samples file"):
        execute([found()], "mpi", file=tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "dear diary\n"


def test_one_run_has_one_number_of_ranks():
    with pytest.raises(InputError, match=r"schedules of \[2, 3\] ranks"):
        execute([found(), found(ranks=3)], "mpi")


def test_labels_tell_schedules_apart():
    made = found("all_reduce-hierarchical_chunked", 4, levels=(2, 2), chunks=3)
    assert label(made) == "all_reduce-hierarchical_chunked,levels=2x2,chunks=3"
    assert label(found("broadcast-chain")) == "broadcast-chain"
    file = replace(found(), entry=None, shape=None)
    other = replace(found(size=99), entry=None, shape=None)
    assert label(file).startswith("all_reduce-ring@")
    assert label(file) != label(other)
    assert label(file) == label(replace(found(), entry=None))


def test_wrong_numbers_of_given_ranks_are_refused():
    class Three:
        size, rank, label = 3, 0, "mpi"

    with pytest.raises(InputError, match="the launcher started 3 ranks: expected 2"):
        execute([found()], "mpi", given=Given(Three(), Started(("a", "b", "c"))))


TORCHRUN = {"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "h0", "MASTER_PORT": "29500"}


def test_places_among_torch_ranks_are_read_off_the_environment():
    assert torch_seat(TORCHRUN) == Seat(1, 4, "env://")
    assert torch_seat({**TORCHRUN, "WORLD_SIZE": "1"}) is None
    assert torch_seat({}) is None
    srun = {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "8"}
    assert torch_seat({**srun, "MASTER_ADDR": "h0", "MASTER_PORT": "9"}) == Seat(2, 8, "tcp://h0:9")
    with pytest.raises(RunError, match="set MASTER_ADDR"):
        torch_seat(srun)


def test_who_we_are_is_read_off_the_environment():
    assert rank_told(TORCHRUN) == 1
    assert rank_told({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}) == 3
    assert rank_told({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "8"}) == 2
    assert rank_told({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}) is None, "a batch script"
    assert rank_told({**TORCHRUN, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}) == 1, "torchrun by srun"
    assert rank_told({"RANK": "0"}) is None
    assert rank_told({**TORCHRUN, "WORLD_SIZE": "1"}) is None
    assert rank_told({}) is None


class Broken:
    """A transport that fails in the middle of a job, and how all ranks end then."""

    rank, size, label, batches, most_tag, crowded = 0, 2, "gloo", False, 100, False

    def __init__(self):
        self.aborted, self.line = [], self

    def abort(self, code):
        """Noted."""
        self.aborted.append(code)

    def post(self, messages):
        """Nobody is there."""
        raise ConnectionError("another rank is gone: Connection closed by peer")


def test_a_given_rank_that_is_gone_ends_all_after_what_was_timed_is_kept(tmp_path, capsys):
    given = Given(Broken(), Started(("a", "b")))
    with given:
        ran = execute([found()], "gloo", given=given, file=tmp_path / "r.jsonl")
        assert not given.transport.aborted
    assert "rank 0 failed: another rank is gone" in str(ran.trouble)
    assert given.transport.aborted == [2]
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"hopline: {ran.trouble}"


@pytest.mark.parametrize(("error", "lines"), [(ConnectionError("gone"), 0), (RuntimeError("my own"), 1)])
def test_of_given_ranks_that_miss_another_the_first_alone_speaks(error, lines, capsys):
    transport = Broken()
    transport.rank = 1
    transport.post = lambda messages: (_ for _ in ()).throw(error)
    Given(transport, Started(())).attend()
    assert transport.aborted == [2]
    assert len(capsys.readouterr().err.splitlines()) == lines


def test_a_transport_that_is_missing_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(RunError, match=r"pip install 'hopline\[mpi\]'"):
        find("mpi")
    with pytest.raises(RunError, match=r"pip install 'hopline\[torch\]'"):
        find("gloo")
