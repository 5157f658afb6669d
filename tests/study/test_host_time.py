"""What is the host's time and what is idle: the same for the path through what was measured and for its replay."""

import numpy as np
import pytest
from field import FIELD, needed

from hopline.formats.kineto.reader import read_traces
from hopline.jobs.explaining import explain
from hopline.jobs.what_ifs import question, what_ifs
from hopline.records.trace import CALL, KERNEL, NOTE, OP, Events, Lane, Step, Trace
from hopline.study.dependencies import LONGEST, depend
from hopline.study.host_time import SILENCE, HostTime, host_time, submitted
from hopline.study.what_if import Question

MS, US = 1_000_000, 1_000
STREAM, MAIN, OTHER, SILENT = range(4)
LANES = (Lane("stream", 0, 7), Lane("thread", 1, 1), Lane("thread", 1, 2), Lane("thread", 1, 3))


def trace(rows, steps=()):
    """``rows``: (kind, name, start, end, lane, correlation), in any order."""
    rows = sorted(rows, key=lambda row: (row[2], -row[3]))
    names = sorted({row[1] for row in rows})
    columns = list(zip(*((row[0], names.index(row[1]), *row[2:]) for row in rows), strict=True))
    kinds = (np.uint8, np.int32, np.int64, np.int64, np.int32, np.int64)
    events = Events(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))
    return Trace("one.json", 0, 1, 0, True, tuple(names), LANES, events, (), tuple(steps))


def step(silent=0, call=8 * US, kernels=30, length=3 * MS):
    """A kernel every 100 us from a call each; after ten of them nothing shows for ``silent``. The eleventh call lasts ``call``."""
    rows, at = [], 50 * US
    for number in range(kernels):
        at += silent if number == 10 else 0
        took = call if number == 10 else 8 * US
        rows.append((OP, "aten::add", at, at + took + 10 * US, MAIN, -1))
        rows.append((CALL, "cudaLaunchKernel", at + 5 * US, at + 5 * US + took, MAIN, number + 1))
        begin = at + 5 * US + (took if took > LONGEST else 6 * US)
        rows.append((KERNEL, "add", begin, begin + 20 * US, STREAM, number + 1))
        at += took + 92 * US
    end = at + length
    return trace([*rows, (NOTE, "ProfilerStep#1", 0, end, MAIN, -1)], [Step(1, 0, end)])


def answers(one, text="host=2"):
    return what_ifs([one], [question(text)])


def parts(found):
    return {part.name: part.time for part in found}


def test_time_of_intervals():
    seen = HostTime(np.array([10, 100]), np.array([30, 200]))
    assert seen.within(np.array([0, 20, 30, 150, 200]), np.array([300, 110, 100, 160, 300])).tolist() == [
        120,
        20,
        0,
        10,
        0,
    ]
    assert list(seen.back(250, 5)) == [(False, 200), (True, 100), (False, 30), (True, 10), (False, 5)]
    assert list(seen.back(150, 120)) == [(True, 120)]
    assert list(seen.back(90, 40)) == [(False, 40)]
    assert HostTime(np.array([], np.int64), np.array([], np.int64)).within(np.array([1]), np.array([5])).tolist() == [0]


@pytest.mark.parametrize(("gap", "seen"), [(SILENCE - 1, True), (SILENCE, False)])
def test_only_a_long_silence_is_not_the_host(gap, seen):
    rows = [(OP, "a", 0, 100, MAIN, -1), (OP, "b", 100 + gap, 200 + gap, OTHER, -1)]
    found = host_time(one := trace(rows), depend(one))
    assert found.within(np.array([0]), np.array([200 + gap])).tolist() == [200 + gap if seen else 200]


@pytest.mark.parametrize(
    ("lane", "name", "seen"),
    [(MAIN, "DataLoader", True), (SILENT, "DataLoader", False), (MAIN, "ProfilerStep#1", False)],
    ids=["named by a thread that runs", "by one that runs nothing", "the mark of a step"],
)
def test_what_encloses_a_silence(lane, name, seen):
    """A span that the program names fills it, unless it is the step, or of a thread that runs nothing else."""
    end = 5 * SILENCE
    rows = [(OP, "a", 0, 100, MAIN, -1), (NOTE, name, 0, end, lane, -1), (OP, "b", end - 100, end, MAIN, -1)]
    one = trace(rows, [Step(1, 0, end)] if "Profiler" in name else [])
    found = host_time(one, depend(one))
    assert found.within(np.array([0]), np.array([end])).tolist() == [end if seen else 200]


def test_the_host_runs_from_the_mark_of_a_step_to_its_first_event():
    one = trace([(OP, "a", 5 * MS, 6 * MS, MAIN, -1)], [Step(1, 0, 40 * MS)])
    found = host_time(one, depend(one))
    assert (found.start.tolist(), found.end.tolist()) == ([0], [6 * MS])


@pytest.mark.parametrize("silent", [12 * MS, 200 * MS])
def test_a_silence_stays_however_fast_the_host(silent):
    with_it, without = step(silent, kernels=300), step(kernels=300)
    for text in ("host=2", "host=1000"):
        more = answers(with_it, text)
        if silent > 100 * MS:
            assert not more.answers
            assert "nothing is seen of the host" in more.refused
            continue
        (one,), (other,) = more.answers, answers(without, text).answers
        assert one.before - other.before == pytest.approx(silent * 1e-9)
        assert one.after - other.after == pytest.approx(silent * 1e-9, rel=0.01)
        assert one.ceiling - other.ceiling == pytest.approx(silent * 1e-9, rel=0.01)
        assert any("shows nothing of the host, and stays" in premise for premise in more.premises)
    assert parts(more.binds)["silent"] == pytest.approx(silent * 1e-9, rel=0.02)


def test_a_short_silence_is_the_host():
    (one,) = answers(step(5 * MS)).answers
    assert one.gain == pytest.approx(0.5, abs=0.01)


def test_a_launch_that_loads_code_is_the_host():
    """6 ms in one call: all of it goes with the host, and the path has it as host and not as launch."""
    found = answers(one := step(call=6 * MS, length=100 * US))
    (half,) = found.answers
    assert half.gain == pytest.approx(0.5, abs=0.01)
    assert half.ceiling < 0.1 * half.before
    seen = {item.name: item.time * 1e-9 for item in explain([one], questions=()).blame.parts}
    assert seen["host"] > 0.95 * half.before
    assert seen.get("launch", 0) < 0.01 * half.before


def test_when_a_call_hands_its_work_over():
    one = step(call=6 * MS)
    depends = depend(one)
    call = np.flatnonzero(one.events.end - one.events.start == 6 * MS)
    handed = submitted(one, depends)
    assert handed[call].tolist() == (one.events.end[call] - depends.launching).tolist()
    others = np.setdiff1d(np.arange(len(one.events)), call)
    assert handed[others].tolist() == one.events.start[others].tolist()


@pytest.mark.parametrize("silent", [0, 5 * MS, 30 * MS])
@pytest.mark.parametrize("call", [8 * US, 400 * US, 6 * MS])
def test_path_and_replay_agree(silent, call):
    agree(explain([step(silent, call)], questions=[Question("host", 2.0)]), 1e-4)


def agree(explained, within):
    """The host's part of both, and what neither sees."""
    path = {item.name: item.time * 1e-9 for item in explained.blame.parts}
    played = parts(explained.what_ifs.binds)
    whole = explained.what_ifs.replayed
    assert played.get("host", 0.0) == pytest.approx(path.get("host", 0.0), abs=within * whole)
    unseen = sum(played.get(name, 0.0) for name in ("before", "silent", "unexplained"))
    assert unseen == pytest.approx(path.get("idle", 0.0), abs=within * whole)


@needed
@pytest.mark.parametrize(
    "name",
    [
        "hta-amd-mi250.json.gz",
        "hta-triton.json.gz",
        "hta-critpath-alexnet.json.gz",
        "hta-backward-thread.json",
        "dlrm-8rank",
    ],
)
def test_path_and_replay_agree_on_traces_of_the_field(name):
    place = FIELD / "traces" / name
    files = sorted(map(str, place.iterdir())) if place.is_dir() else [str(place)]
    agree(explain(read_traces(files), questions=[Question("host", 2.0)]), 0.01)


@needed
def test_nothing_is_faster_where_nothing_is_seen():
    """A step of 13.3 s of which 1.5 ms have events, and one of 413 ms with 0.1 ms: by the span of the step's mark."""
    for name in ("hta-triton.json.gz", "hta-backward-thread.json"):
        found = what_ifs(read_traces([str(FIELD / "traces" / name)]), [question("host=2")])
        assert found.refused or found.answers[0].gain < 0.01


@needed
def test_the_host_of_mi250_is_the_limit():
    """Of 9.5 ms a launch takes 6.5: without the host next to nothing is left."""
    found = what_ifs(read_traces([str(FIELD / "traces" / "hta-amd-mi250.json.gz")]), [question("host=2")])
    assert found.answers[0].gain > 0.45
    assert found.answers[0].ceiling < 0.1 * found.replayed
