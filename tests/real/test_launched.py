"""``hopline measure`` as a user starts it: alone, under mpirun, in a batch script; interrupted and gone on with."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import REAL_RANKS

from hopline.formats.samples import load
from hopline.run.mpirun import find_mpirun

WAIT = 60.0
FLAGS = ("--bind-to", "none", "--oversubscribe", "--allow-run-as-root")
MEASURE = (sys.executable, "-P", "-m", "hopline", "measure")


pytestmark = REAL_RANKS


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run in, which is home to nothing else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMPI_MCA_btl_sm_backing_directory", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in list(os.environ):
        if name.startswith(("OMPI_COMM", "PMI", "PMIX", "PRTE", "SLURM")):
            monkeypatch.delenv(name)
    return tmp_path


def run(*words: str, ranks: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """``hopline measure words``, under mpirun where ``ranks`` are given."""
    launcher = (find_mpirun(), "-n", str(ranks), *FLAGS) if ranks else ()
    return subprocess.run(
        [*launcher, *MEASURE, *words],
        capture_output=True, text=True, timeout=WAIT, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@contextlib.contextmanager
def running(*words: str, ranks: int = 0):
    """The same, still running; killed in the end."""
    launcher = (find_mpirun(), "-n", str(ranks), *FLAGS) if ranks else ()
    command = [*launcher, *MEASURE, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(text: str) -> list[str]:
    """The lines of ours, mpirun's aside."""
    return [line for line in text.splitlines() if line.startswith("hopline: ")]


def wait_for_lines(file: Path, count: int) -> None:
    until = time.monotonic() + WAIT
    while (not file.exists() or file.read_bytes().count(b"\n") < count) and time.monotonic() < until:
        time.sleep(0.02)
    assert file.read_bytes().count(b"\n") >= count


def rank_of(word: str, rank: int) -> int:
    """Process id of the rank of mpirun whose command line has ``word``."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (entry / "environ").read_bytes().split(b"\0")
            if f"OMPI_COMM_WORLD_RANK={rank}".encode() in variables and word in (entry / "cmdline").read_text():
                return int(entry.name)
    raise AssertionError(f"no rank {rank} runs {word}")


def test_ranks_that_were_given_are_used_and_the_first_alone_answers(place):
    done = run("--what", "latency,bw,mbw,barrier,pairs", "--sizes", "8B", "--seconds", "1s", "--json", ranks=4)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    samples = answer["samples"]
    assert {sample["transport"].split(":")[0] for sample in samples} == {"mpi"}
    assert all(sample["transport"] != "mpi" for sample in samples)
    assert len([sample for sample in samples if sample["pair"]]) == 24
    assert {sample["ranks"] for sample in samples if sample["benchmark"] == "barrier"} == {2, 4}
    assert len(said(done.stderr)) == 1
    assert load(answer["file"])
    assert bool(answer["crowded"]) is (len(os.sched_getaffinity(0)) < 4)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--seconds 5kg", "hopline: --seconds: '5kg'"),
        ("--what speed", "hopline: unknown measurement 'speed'"),
        ("--ranks 9 --what pairs", "hopline: --ranks 9: the launcher started 3; leave --ranks out"),
        ("--what mbw", "mbw needs at least 4 ranks, this run has 3"),
        ("--sizes 8B --out .", ". is a folder: expected a file"),
    ],
)
def test_what_is_wrong_ends_all_ranks_with_one_message(place, words, told):
    done = run(*words.split(), ranks=3)
    assert done.returncode == 2
    assert told in done.stderr
    assert len([line for line in said(done.stderr) if "samples go to" not in line]) == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_help_is_printed_once(place):
    done = run("--help", ranks=2)
    assert done.returncode == 0
    assert done.stdout.count("Usage: ") == 1


def test_a_signal_to_the_first_rank_keeps_what_was_measured_and_the_same_again_goes_on(place):
    file = place / "s.jsonl"
    words = ("--what", "pairs", "--seconds", "40s", "--out", str(file))
    with running(*words, ranks=3) as process:
        wait_for_lines(file, 3)
        os.kill(rank_of(str(file), 0), signal.SIGTERM)
        out, err = process.communicate(timeout=WAIT)
    assert process.returncode == 130, err
    assert "hopline: interrupted" in err
    assert "All ordered pairs of 3 ranks" in out
    begun = len(load(str(file)))
    done = run(*words[:2], "--seconds", "500ms", *words[4:], ranks=3)
    assert done.returncode == 0, done.stderr
    assert f"0 of 12 measurements were finished, {begun} begun" in done.stdout
    again = run(*words, ranks=3)
    assert "12 of 12 measurements were finished, so nothing was measured now" in again.stdout
    assert len(load(str(file))) == 12


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_mpirun_that_is_ended_leaves_samples_and_no_rank(place, name):
    file = place / "s.jsonl"
    with running("--what", "bw", "--seconds", "40s", "--out", str(file), ranks=2) as process:
        wait_for_lines(file, 2)
        process.send_signal(name)
        process.communicate(timeout=WAIT)
    assert load(str(file))
    with pytest.raises(AssertionError, match="no rank"):
        rank_of(str(file), 0)


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_run_of_our_own_keeps_what_was_measured_and_goes_on(place, name):
    file = place / "s.jsonl"
    words = ("--sizes", "8B,64B,1KiB", "--what", "latency,bw", "--out", str(file))
    with running(*words, "--seconds", "40s") as process:
        wait_for_lines(file, 2)
        process.send_signal(name)
        _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 130
    assert "the same command again goes on from there" in err
    begun = len(load(str(file)))
    done = run(*words, "--seconds", "300ms")
    assert done.returncode == 0, done.stderr
    assert f"0 of 6 measurements were finished, {begun} begun" in done.stdout
    other = run("--sizes", "8B", "--what", "bw", "--window", "8", "--out", str(file))
    assert other.returncode == 2
    assert "window 64" in other.stderr
    assert "window 8" in other.stderr


def test_a_batch_script_is_no_rank(place):
    batch = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}
    done = run("--sizes", "8B", "--seconds", "50ms", "--json", **batch)
    assert done.returncode == 0, done.stderr
    assert {sample["transport"] for sample in json.loads(done.stdout)["samples"]} == {"mpi"}


def test_a_launcher_of_another_mpi_is_one_clear_error(place):
    first = run("--sizes", "8B", PMI_SIZE="2", PMI_RANK="0")
    assert first.returncode == 2
    assert "started as one of 2 ranks (PMI_SIZE=2), but mpi4py's MPI" in first.stderr
    assert len(first.stderr.splitlines()) == 1
    other = run("--sizes", "8B", PMI_SIZE="2", PMI_RANK="1")
    assert (other.returncode, other.stdout, other.stderr) == (0, "", "")
