"""Many files: shared out, read by other processes, the same as one by one."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from trace_texts import EVENTS, kernel, text

from hopline.errors import FormatError
from hopline.formats.kineto import reader, workers
from hopline.formats.kineto.reader import read_traces


@pytest.fixture
def files(tmp_path):
    paths = []
    for rank in range(5):
        events = [*EVENTS[: 3 + rank % 3], kernel("ncclDevKernel_AllReduce_Sum(x)", 70 + rank, 5, 80)]
        path = tmp_path / f"rank{rank}.json"
        path.write_text(text(events, distributedInfo={"rank": rank}))
        paths.append(str(path))
    return paths


@pytest.fixture
def eager(monkeypatch):
    """Three processes for anything."""
    monkeypatch.setattr(reader, "WORTH", 1)
    monkeypatch.setattr(reader, "cores", lambda: 3)


def same(first, second):
    for one, other in zip(first, second, strict=True):
        assert all(
            np.array_equal(getattr(one.events, column.name), getattr(other.events, column.name))
            for column in fields(one.events)
        )
        assert (one.source, one.rank, one.names, one.lanes, one.collectives, one.counts, one.told) == (
            other.source, other.rank, other.names, other.lanes, other.collectives, other.counts, other.told,
        )  # fmt: skip
        assert not other.events.start.flags.writeable


def test_other_processes_read_the_same(files, eager, monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **more: started.append(popen(*args, **more)) or started[-1])
    seen = []
    together = read_traces(files, lambda done, total: seen.append((done, total)))
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    monkeypatch.setattr(reader, "cores", lambda: 1)
    same(read_traces(files), together)
    total = sum(os.path.getsize(path) for path in files)
    assert seen == sorted(seen)
    assert {of for _, of in seen} == {total}
    assert len(started) == 2


def test_small_files_start_no_process(files, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    seen = []
    assert [trace.rank for trace in read_traces(files, lambda *told: seen.append(told))] == list(range(5))
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("at", range(5))
def test_the_first_bad_file_is_named_whoever_reads_it(files, eager, at):
    for path in files[at:]:
        Path(path).write_text("oops")
    with pytest.raises(FormatError, match=f"rank{at}.json begins with 'oops'"):
        read_traces(files)


def test_where_no_process_can_be_started_we_read_it_all(files, eager, monkeypatch):
    for broken in ("", "/nonexistent/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", broken)
        assert [trace.rank for trace in read_traces(files)] == list(range(5))


def test_interrupted_processes_are_gone(files, eager, monkeypatch):
    started = []
    popen = subprocess.Popen

    def slow(command, **more):
        started.append(popen([sys.executable, "-c", "import time; time.sleep(60)"], **more))
        return started[-1]

    def interrupt(done, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", slow)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        read_traces(files, interrupt)
    assert time.monotonic() - begin < 10
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2


def test_shares_are_even():
    rng = np.random.default_rng(1)
    for groups in range(1, 6):
        weights = rng.integers(0, 100, 20).tolist()
        shares = workers.shared_out(weights, groups)
        loads = [sum(weights[at] for at in share) for share in shares]
        assert sorted(at for share in shares for at in share) == list(range(20))
        assert max(loads) - min(loads) <= max(weights)


def test_paths_that_look_like_options(files, eager, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = ["-x.json", "-", "a b.json", "--"]
    for name, path in zip(names, files, strict=False):
        os.replace(path, tmp_path / name)
    monkeypatch.setattr(reader, "cores", lambda: 8)
    assert len(read_traces([names[0], names[2], names[3]])) == 3
    assert reader._weight("-") == 0
