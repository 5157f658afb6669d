"""Real ranks: they measure, they stop, and none is left behind."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import REAL_RANKS

from hopline.errors import RunError
from hopline.formats.samples import load
from hopline.records.sample import Sample
from hopline.run.cells import Earlier, cells_of, order
from hopline.run.kinds import kinds_of
from hopline.run.mpi import Progress, Started, measuring
from hopline.run.plan import Plan

WAIT = 30.0
MIB = 2**20


pytestmark = REAL_RANKS

DRIVER = """
import sys
from hopline.formats.samples import append
from hopline.records.sample import Sample
from hopline.run.mpi import measuring
from hopline.run.plan import Plan
path, seed = sys.argv[1], int(sys.argv[2])
try:
    with measuring(Plan(sizes=(8, 1024, 65536), seconds=60, most=100_000, within=1e-9, passes=40, seed=seed)) as events:
        for event in events:
            if isinstance(event, Sample):
                append(path, event)
                print("kept", flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def seed(tmp_path) -> int:
    """A seed that no other run has, so that this test's ranks are known by their command line."""
    return int.from_bytes(os.urandom(5), "big")


def ranks_of(seed: int) -> list[int]:
    """Process ids of the ranks whose plan has this seed, those that have ended aside."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if is_rank(entry, seed)]


def is_rank(entry: Path, seed: int) -> bool:
    try:
        words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    plans = [word for word in words if word.startswith("{") and "python" in words[0]]
    return any(json.loads(plan).get("seed") == seed for plan in plans)


def endless(seed: int) -> Plan:
    """A plan that does not end while a test lasts."""
    return Plan(sizes=(8,), seconds=60, most=10**6, within=1e-9, seed=seed)


def none_left(seed: int, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while ranks_of(seed) and time.monotonic() < until:
        time.sleep(0.05)
    return not ranks_of(seed)


def folder_of(pid: int) -> Path:
    """The private folder that a rank was started with."""
    return Path(Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0")[-1])


@pytest.fixture
def driver(tmp_path, seed):
    """A process that measures into a file until it is stopped, and has kept some samples already."""
    path = tmp_path / "samples.jsonl"
    process = subprocess.Popen([sys.executable, "-c", DRIVER, str(path), str(seed)], stdout=subprocess.PIPE, text=True)
    try:
        assert [process.stdout.readline() for _ in range(4)] == ["kept\n"] * 4
        first, _ = ranks_of(seed)
        folder = folder_of(first)
        assert folder.name.startswith("hopline-")
        yield process, path
        assert none_left(seed)
        assert not folder.exists()
    finally:
        process.kill()
        process.wait(WAIT)
        process.stdout.close()


def test_real_messages_are_timed_and_their_content_checked(seed):
    plan = Plan(sizes=(0, 8, 4096, 16 * MIB), seconds=2.0, most=60, seed=seed)
    with measuring(plan) as running:
        events = list(running)
    samples = [event for event in events if isinstance(event, Sample)]
    assert events[0] == Started((samples[0].host,) * 2, events[0].crowded)
    assert [sample.size for sample in samples] == [cell.size for cell in order(plan, cells_of(plan, 2))]
    assert any(isinstance(event, Progress) for event in events)
    cells: dict[int, Sample] = {}
    for sample in samples:
        cells[sample.size] = cells[sample.size] + sample if sample.size in cells else sample
    assert all(5 <= len(cell.times) <= 60 and min(cell.times) > 0 and cell.clock > 0 for cell in cells.values())
    assert {(cell.benchmark, cell.transport, cell.ranks) for cell in cells.values()} == {("latency", "mpi", 2)}
    assert min(cells[16 * MIB].times) > min(cells[8].times)
    assert none_left(seed)


def test_leaving_early_leaves_no_rank(seed):
    with measuring(endless(seed)) as events:
        assert isinstance(next(events), Started)
        assert isinstance(next(events), Progress)
        assert len(ranks_of(seed)) == 2
    assert none_left(seed)


def test_ctrl_c_keeps_what_was_measured(driver, seed):
    process, path = driver
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT) == 130
    assert none_left(seed, 2.0)
    assert {sample.size for sample in load(str(path))} <= {8, 1024, 65536}


@pytest.mark.parametrize("name", [signal.SIGKILL, signal.SIGTERM])
def test_ranks_end_when_who_started_them_is_killed(driver, seed, name):
    process, path = driver
    process.send_signal(name)
    assert process.wait(WAIT) == -name
    assert none_left(seed)
    assert load(str(path))


def test_ranks_end_when_mpirun_is_killed(seed):
    with measuring(endless(seed)) as events:
        next(events)
        first, _ = ranks_of(seed)
        folder = folder_of(first)
        launcher = Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(int(launcher), signal.SIGKILL)
        with pytest.raises(RunError, match="exit code -9"):
            list(events)
    assert none_left(seed)
    assert not folder.exists()


@pytest.mark.parametrize("which", [0, 1])
def test_a_rank_that_dies_is_a_run_error(seed, which):
    with measuring(endless(seed)) as events:
        next(events)
        os.kill(sorted(ranks_of(seed))[which], signal.SIGKILL)
        with pytest.raises(RunError, match="the ranks failed") as caught:
            list(events)
    assert "\n" not in str(caught.value)
    assert "signal 9" in str(caught.value)
    assert none_left(seed)


def test_a_rank_that_fails_says_why(seed, monkeypatch):
    monkeypatch.setattr(Plan, "to_json", lambda _: {"sizes": [8], "seconds": -1, "seed": seed})
    with pytest.raises(RunError, match=r"rank [0-9]+: time to measure -1"), measuring(Plan()) as events:
        list(events)
    assert none_left(seed)


def test_every_kind_is_measured(seed):
    names = kinds_of(["all"])
    plan = Plan(kinds=names, sizes=(8, 65536), pair_sizes=(64,), seconds=1.0, passes=1, most=20, seed=seed, ranks=4)
    with measuring(plan) as running:
        events = list(running)
    cells = {event.cell: event for event in events if isinstance(event, Sample)}
    found: dict[str, list[Sample]] = {}
    for sample in cells.values():
        found.setdefault(sample.benchmark + (" of pairs" if sample.pair else ""), []).append(sample)
    assert {name: len(samples) for name, samples in found.items()} == {
        "latency": 2, "bw": 2, "bibw": 2, "mbw_mr": 2, "copy": 2, "reduce_local": 2, "barrier": 2,
        "latency of pairs": 12, "bw of pairs": 12,
    }  # fmt: skip
    assert all(min(sample.times) > 0 for sample in cells.values())
    assert sorted(sample.pair for sample in found["bw of pairs"]) == sorted(itertools.permutations(range(4), 2))
    assert [len(event.hosts) for event in events if isinstance(event, Started)] == [2, 4]
    large = {sample.benchmark: min(sample.times) for sample in cells.values() if sample.size == 65536}
    assert large["copy"] < large["latency"] < 100 * large["copy"], "two copies through shared memory"
    assert none_left(seed)


def test_what_was_measured_earlier_is_not_measured_again(seed):
    plan = Plan(sizes=(8, 64), seconds=0.3, passes=2, most=10, seed=seed)
    first, second = cells_of(plan, 2)
    with measuring(plan, {first: Earlier(2, (1.0,) * 5), second: Earlier(1, (1.0,) * 3)}) as events:
        assert [event.size for event in events if isinstance(event, Sample)] == [64]
    assert none_left(seed)
