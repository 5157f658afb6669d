"""Schedules on real ranks: every collective verified, a corrupt transport caught, and nothing left behind."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from needs import REAL_RANKS

from hopline.errors import DataMismatchError, RunError
from hopline.formats.samples import load
from hopline.run.executing import launching
from hopline.run.executing.launching import executing
from hopline.run.executing.repeating import Finished, Job, Repeated
from hopline.run.mpirun import find_mpirun
from hopline.schedule.collectives.table import COLLECTIVES, find
from hopline.schedule.matching import match
from hopline.schedule.operations import RECV
from hopline.schedule.shape import Shape

MIB = 2**20
WAIT = 60.0
NESTED = {4: (2, 2)}
FLAGS = ("--bind-to", "none", "--oversubscribe", "--allow-run-as-root")
COMMAND = (sys.executable, "-P", "-m", "hopline", "run")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--no-python", "--nproc-per-node")
pytestmark = REAL_RANKS
TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
ON_BOTH = pytest.mark.parametrize("transport", ["mpi", pytest.param("gloo", marks=TORCH)])


def sizes(ranks: int) -> tuple[int, ...]:
    """Those that schedules are proved at: nothing, one byte, pieces of unequal size or none, and many bytes."""
    return tuple(dict.fromkeys((0, 1, 7, ranks - 1, ranks, ranks + 1, MIB + 3)))


def built(name: str, ranks: int, size: int):
    entry = find(name)
    levels = {"levels": NESTED.get(ranks, (ranks,))} if "levels" in entry.uses else {}
    channels = {"channels": 2} if "channels" in entry.uses else {}
    return entry.build(Shape(ranks, size, chunks=3, targets=max(1, ranks // 2), **levels, **channels))


def finished(jobs, transport: str, ranks: int):
    with executing(jobs, transport, ranks) as events:
        return [event.executed for event in events if isinstance(event, Finished)]


def verified(names, sizes, transport: str, ranks: int):
    """All of them in one launch, verified; the schedules and what came of them."""
    made = [built(name, ranks, size) for name in names for size in sizes]
    found = finished([Job(one, 1, 0) for one in made], transport, ranks)
    assert [executed.name for executed in found] == [one.name for one in made]
    for one, executed in zip(made, found, strict=True):
        assert executed.checked == int(one.promise.wanted.size.sum())
        assert min(executed.times) > 0
    return made, found


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_collective_on_mpi_ends_with_what_it_promises(ranks):
    made, found = verified(COLLECTIVES, sizes(ranks), "mpi", ranks)
    for schedule, executed in zip(made, found, strict=True):
        timeline, mate = executed.timeline, match(schedule)
        recvs = np.flatnonzero(schedule.columns.kind == RECV)
        slack = 2e12 * executed.clock.error
        assert (timeline.end[recvs] + slack >= timeline.start[mate[recvs]]).all(), "received before it was sent"
    errors = [executed.clock.error for executed in found]
    assert np.median(errors) < 1e-3
    inside = [abs(executed.clock.offset) <= executed.clock.error for executed in found]
    assert np.mean(inside) > 0.95, "ranks of one host share a clock, so the truth is no offset"


def test_more_ranks_than_cores_are_verified_too():
    verified(COLLECTIVES, sizes(7), "mpi", 7)


@TORCH
def test_every_collective_on_gloo_ends_with_what_it_promises():
    verified(COLLECTIVES, sizes(4), "gloo", 4)


@TORCH
def test_messages_in_groups_as_nccl_takes_them_are_verified(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    jobs = [Job(built(name, 4, 8195), 1, 0) for name in COLLECTIVES]
    with executing(jobs, "gloo", 4, program="grouped_rank") as events:
        assert len([event for event in events if isinstance(event, Finished)]) == len(jobs)


@ON_BOTH
def test_a_transport_that_corrupts_one_byte_is_caught_and_named(monkeypatch, transport):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    jobs = [Job(built("all_reduce-ring", 3, 3000), 2, 0)]
    with (
        pytest.raises(DataMismatchError) as caught,
        executing(jobs, transport, 3, program="corrupt_rank") as events,
    ):
        list(events)
    said = str(caught.value)
    assert f"all_reduce-ring over {transport}, repeat 1: rank 2 holds a wrong byte: buffer data, offset 5 is 0x" in said
    assert ", expected 0x" in said
    assert "\n" not in said


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run in, which is home to nothing else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMPI_MCA_btl_sm_backing_directory", str(tmp_path))
    monkeypatch.setenv("HOPLINE_TEST_PLACE", str(tmp_path))
    for name in list(os.environ):
        if name.startswith(("OMPI_COMM", "PMI", "PMIX", "PRTE", "SLURM")) or name in ("RANK", "WORLD_SIZE"):
            monkeypatch.delenv(name)
    return tmp_path


def run(*words: str, ranks: int = 0, by: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """``hopline run words``, started by ``by``, or by mpirun where ``ranks`` are given."""
    launcher = (find_mpirun(), "-n", str(ranks), *FLAGS) if ranks else by
    return subprocess.run([*launcher, *COMMAND, *words], capture_output=True, text=True, timeout=WAIT, check=False)


@contextlib.contextmanager
def running(*words: str, ranks: int = 0):
    """The same, still running; killed in the end."""
    launcher = (find_mpirun(), "-n", str(ranks), *FLAGS) if ranks else ()
    process = subprocess.Popen([*launcher, *COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def processes(place: Path) -> dict[int, list[str]]:
    """Command lines of the processes that were started in this test, by number, those that have ended aside."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"HOPLINE_TEST_PLACE={place}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_text().split("\0")
    found.pop(os.getpid(), None)
    return found


def none_left(place: Path) -> bool:
    until = time.monotonic() + 10
    while processes(place) and time.monotonic() < until:
        time.sleep(0.05)
    return not processes(place)


def ranks_of(place: Path) -> list[int]:
    """Ranks of our own, once they run."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        found = [pid for pid, words in processes(place).items() if launching.RANK_PROGRAM in words and "-m" in words]
        found = [pid for pid in found if not {"-n", launching.SPAWN_PROGRAM} & set(processes(place).get(pid, ["-n"]))]
        if len(found) >= 2:
            return sorted(found)
        time.sleep(0.02)
    raise AssertionError("no ranks")


def kept(file: Path) -> dict[int, int]:
    """How many repeats of each size a samples file has."""
    found = Counter[int]()
    for line in file.read_bytes().splitlines(keepends=True) if file.exists() else ():
        if line.endswith(b"\n"):
            told = json.loads(line)
            found[told["size"]] += len(told["times"])
    return dict(found)


def wait_for(file: Path, size: int, repeats: int) -> None:
    until = time.monotonic() + WAIT
    while kept(file).get(size, 0) < repeats and time.monotonic() < until:
        time.sleep(0.02)
    assert kept(file)[size] >= repeats


REPEATS = {"mpi": 200, "gloo": 60}
LONG = ("all_reduce-ring", "--size", "1KiB,1MiB", "--repeats")


@pytest.mark.parametrize(
    ("transport", "name"),
    [("mpi", signal.SIGINT), ("mpi", signal.SIGTERM), pytest.param("gloo", signal.SIGINT, marks=TORCH)],
)
def test_an_interrupt_keeps_what_was_timed_and_the_same_again_goes_on(place, name, transport):
    file, repeats = place / "r.jsonl", REPEATS[transport]
    words = (*LONG, str(repeats), "-n", "2", "--transport", transport, "--out", str(file))
    with running(*words) as process:
        wait_for(file, 1024, 1)
        process.send_signal(name)
        out, err = process.communicate(timeout=WAIT)
    assert process.returncode == 130, err
    assert "the same command again goes on from there" in err
    assert "Traceback" not in err
    assert "1 KiB" in out
    assert none_left(place)
    before = sum(kept(file).values())
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert sum(one["earlier"] for one in answer["runs"]) == before
    assert kept(file) == {1024: repeats, MIB: repeats}
    assert {sample.size: len(sample.times) for sample in load(str(file))} == kept(file)
    assert none_left(place)


@pytest.mark.parametrize("which", [0, 1])
@ON_BOTH
def test_a_killed_rank_is_one_line_and_what_was_timed_is_kept(place, which, transport):
    file = place / "r.jsonl"
    words = ("-n", "2", "--transport", transport, "--out", str(file), "--repeats", "50")
    with running("all_reduce-ring", "--size", "1KiB,32MiB", *words) as process:
        wait_for(file, 1024, 50)
        os.kill(ranks_of(place)[which], signal.SIGKILL)
        out, err = process.communicate(timeout=WAIT)
    *before, last = err.strip().splitlines()
    assert process.returncode == 2
    assert not [line for line in before if line.startswith("hopline: ")]
    assert last.startswith("hopline: the ranks failed")
    assert "signal 9" in last
    assert "Traceback" not in err
    assert "1 KiB" in out
    assert none_left(place)
    assert kept(file)[1024] == 50
    again = run("all_reduce-ring", "--size", "1KiB", *words, "--json")
    assert json.loads(again.stdout)["nothing_new"]


@ON_BOTH
def test_ranks_end_when_who_started_them_is_killed_and_what_was_timed_is_kept(place, transport):
    file = place / "r.jsonl"
    with running(*LONG, "30000", "-n", "2", "--transport", transport, "--out", str(file)) as process:
        wait_for(file, 1024, 1)
        assert len(ranks_of(place)) == 2
        process.kill()
        process.wait(WAIT)
        assert none_left(place)
    (sample,) = load(str(file))
    assert len(sample.times) == kept(file)[1024]


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_full_disk_is_one_line_after_the_answer(place, ranks):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    own = () if ranks else ("-n", "2")
    done = run("all_reduce-ring", "--size", "1KiB,2KiB", "--repeats", "3", "--out", "/dev/full", *own, ranks=ranks)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("hopline: ")]
    assert "/dev/full: samples could not be written: No space left on device" in line
    assert "1 KiB" in done.stdout
    assert none_left(place)


def test_ranks_that_were_given_are_used_and_the_first_alone_answers(place):
    done = run("all_reduce-ring", "--size", "64KiB", "--repeats", "5", "--json", ranks=3)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (one,) = answer["runs"]
    assert one["transport"].startswith("mpi: ")
    assert one["ranks"] == 3
    assert len(one["times"]) == 5
    assert one["checked_bytes"] == 3 * 64 * 1024
    assert bool(answer["crowded"]) is (len(os.sched_getaffinity(0)) < 3)
    again = run("all_reduce-ring", "--size", "64KiB", "--repeats", "7", "--json", "--out", answer["file"], ranks=3)
    (one,) = json.loads(again.stdout)["runs"]
    assert (one["earlier"], len(one["times"])) == (5, 7)
    assert kept(Path(answer["file"])) == {64 * 1024: 7}
    assert none_left(place)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("all_reduce-ring --size 5kg", "unknown unit 'kg'"),
        ("all_reduce-ring --size 8B -n 9", "the launcher started 2; leave -n out"),
        ("all_reduce-rung --size 8B", "unknown schedule or file 'all_reduce-rung'"),
    ],
)
def test_what_is_wrong_ends_given_ranks_with_one_message(place, words, told):
    done = run(*words.split(), ranks=2)
    assert done.returncode != 0
    assert done.stderr.count(told) == 1
    assert done.stdout == ""
    assert none_left(place)


@TORCH
def test_torchrun_gives_ranks(place):
    words = ("all_reduce-ring", "--size", "8KiB,1B", "--repeats", "3", "--json", "--transport", "gloo")
    done = run(*words, by=(*TORCHRUN, "4"))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    first, second = answer["runs"]
    assert (first["transport"], first["ranks"], len(first["times"]), first["checked_bytes"]) == ("gloo", 4, 3, 32768)
    assert (second["size"], second["checked_bytes"]) == (1, 4)
    assert bool(answer["crowded"]) is (len(os.sched_getaffinity(0)) < 4)
    assert answer["premises"][0]["status"] == ("broken" if answer["crowded"] else "holds")
    assert none_left(place)


@TORCH
def test_wrong_ranks_beside_torchrun_are_one_line(place):
    done = run("all_reduce-ring", "--size", "8B", "-n", "3", "--transport", "gloo", by=(*TORCHRUN, "2"))
    assert done.returncode != 0
    assert [line for line in done.stderr.splitlines() if line.startswith("hopline: ")] == [
        "hopline: -n 3: the launcher started 2; leave -n out (see hopline run --help)"
    ]
    assert done.stdout == ""
    assert none_left(place)


@contextlib.contextmanager
def stepped(*words: str, ranks: int = 2):
    """Ranks as srun starts them, each told its place in a job step; killed in the end."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = str(found.getsockname()[1])
    step = {"SLURM_STEP_NUM_TASKS": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [
        subprocess.Popen([*COMMAND, *words], env={**os.environ, **step, "SLURM_PROCID": str(rank)}, **pipes)
        for rank in range(ranks)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


@TORCH
def test_ranks_of_a_job_step_meet_where_they_are_told(place):
    words = ("broadcast-chain", "--size", "8KiB", "--repeats", "3", "--json", "--transport", "gloo")
    with stepped(*words) as (first, second):
        out, err = first.communicate(timeout=WAIT)
        assert second.communicate(timeout=WAIT) == ("", "")
    assert (first.returncode, second.returncode) == (0, 0), err
    (one,) = json.loads(out)["runs"]
    assert (one["transport"], one["ranks"], len(one["times"]), one["checked_bytes"]) == ("gloo", 2, 3, 16384)


@TORCH
def test_a_given_rank_that_is_killed_is_one_line_and_what_was_timed_is_kept(place):
    file = place / "r.jsonl"
    words = ("all_reduce-ring", "--size", "1KiB,32MiB", "--repeats", "50", "--transport", "gloo", "--out", str(file))
    with stepped(*words, ranks=3) as (first, second, third):
        wait_for(file, 1024, 50)
        second.kill()
        out, err = first.communicate(timeout=WAIT)
        assert third.communicate(timeout=WAIT) == ("", "")
    assert (first.returncode, third.returncode) == (2, 2)
    (line,) = err.splitlines()
    assert line.startswith("hopline: rank 0 failed: another rank is gone: ")
    assert "1 KiB" in out
    assert kept(file)[1024] == 50
    assert none_left(place)


def test_a_rank_that_fails_says_why(monkeypatch):
    made = built("all_reduce-ring", 2, 100)
    job = Job(made, 1, 0)
    monkeypatch.setattr(launching, "parts_of", lambda _: [])
    object.__setattr__(job, "schedule", built("all_reduce-ring", 3, 100))
    object.__setattr__(job.schedule, "ranks", 2)
    with pytest.raises(RunError, match=r"the ranks failed: rank [01]: "), executing([job], "mpi", 2) as events:
        list(events)


def test_leaving_early_leaves_no_rank(place):
    jobs = [Job(built("all_reduce-ring", 2, 100), 10**6, 0)]
    with executing(jobs, "mpi", 2) as events:
        assert any(isinstance(event, Repeated) for event in (next(events) for _ in range(3)))
        assert len(ranks_of(place)) == 2
    assert none_left(place)
