"""The Perfetto file of an explained step: everything is where it was, the path jumps with arrows, and nothing is lost silently."""

from __future__ import annotations

import gzip
import itertools
import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from explained_made import made

from hopline.errors import InputError, OutputError
from hopline.formats.overlay import check_name, write_overlay
from hopline.records.critical import CriticalPath
from hopline.records.meeting import Clocks


def written(explained, tmp_path, most=None, name="out.json"):
    path = tmp_path / name
    left = write_overlay(explained, str(path), most)
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    return json.loads(data), left


def slices(data, *categories):
    return [event for event in data["traceEvents"] if event["ph"] == "X" and event["cat"] in categories]


def processes(data):
    return {e["args"]["name"]: e["pid"] for e in data["traceEvents"] if e["name"] == "process_name"}


def test_every_work_is_there_at_its_time(tmp_path):
    explained = made(ranks=3)
    data, left = written(explained, tmp_path)
    assert left == data["otherData"]["works of GPUs left out"] == 0
    for i, trace in enumerate(explained.traces):
        found = [event for event in slices(data, "kernel") if event["pid"] == i + 1]
        assert len(found) == len(trace.events)
        for event in found:
            row = event["args"]["row"]
            assert event["name"] == trace.names[trace.events.name[row]]
            assert round(event["ts"] * 1000) == trace.events.start[row]
            assert round(event["dur"] * 1000) == trace.events.end[row] - trace.events.start[row]


def test_waiting_and_transfer_stand_apart(tmp_path):
    explained = made(ranks=4, steps=3)
    data, _ = written(explained, tmp_path)
    for i in range(4):
        waits = [round(e["dur"] * 1000) for e in slices(data, "waiting") if e["pid"] == i + 1]
        assert waits == [int(m.waits[i]) for m in explained.meetings if m.waits[i]]
    transfers = slices(data, "transfer")
    assert {event["args"]["last"] for event in slices(data, "waiting")} == {"rank 1"}
    assert len([event for event in transfers if event["pid"] <= 4]) == 12
    data, _ = written(made(known=False), tmp_path, name="unknown.json")
    assert not slices(data, "waiting")
    assert {event["args"]["last"] for event in slices(data, "communication")} == {"unknown"}


def test_the_path_is_whole_and_jumps_with_arrows(tmp_path):
    explained = made(ranks=3)
    stretches = tuple(
        replace(s, trace=2, row=-1) if s.part in ("idle", "launch") else s for s in explained.path.stretches
    )
    data, _ = written(replace(explained, path=replace(explained.path, stretches=stretches)), tmp_path)
    pid = processes(data)["critical path"]
    path = [event for event in data["traceEvents"] if event["ph"] == "X" and event["pid"] == pid]
    assert sum(round(event["dur"] * 1000) for event in path) == explained.time
    assert {event["tid"] for event in path} == {2, 3}
    jumps = sum(a.trace != b.trace for a, b in itertools.pairwise(stretches))
    arrows = defaultdict(dict)
    for event in data["traceEvents"]:
        if event["ph"] in "sf":
            arrows[event["id"]][event["ph"]] = event
    assert len(arrows) == jumps > 3
    for ends in arrows.values():
        start, finish = ends["s"], ends["f"]
        assert start["tid"] != finish["tid"]
        assert round(finish["ts"] * 1000) - round(start["ts"] * 1000) == 1
        for end in (start, finish):
            inside = [e for e in path if e["tid"] == end["tid"] and e["ts"] <= end["ts"] < e["ts"] + e["dur"]]
            assert len(inside) == 1


def test_clocks_are_applied_and_nothing_is_before_zero(tmp_path):
    explained = made(ranks=2)
    clocks = Clocks(np.array([0, -5_000_000]), np.zeros(2, np.int64), np.zeros(2, np.int32), ("meetings",) * 2)
    data, _ = written(replace(explained, clocks=clocks), tmp_path)
    firsts = {pid: min(e["ts"] for e in slices(data, "kernel") if e["pid"] == pid) for pid in (1, 2)}
    assert firsts[1] - firsts[2] == pytest.approx(5000)
    assert min(event["ts"] for event in data["traceEvents"] if "ts" in event) >= 0


@pytest.mark.parametrize("most", [0, 20, 60])
def test_a_limit_keeps_the_path_first_and_says_what_it_left(tmp_path, most):
    explained = made(ranks=4, steps=4)
    total = sum(len(trace.events) for trace in explained.traces)
    data, left = written(explained, tmp_path, most)
    found = slices(data, "kernel")
    assert len(found) == most
    assert left == total - most == data["otherData"]["works of GPUs left out"]
    assert any(
        e["name"] == "process_labels" and f"{left} works left out" in e["args"]["labels"] for e in data["traceEvents"]
    )
    path = {(s.trace + 1, s.row) for s in explained.path.stretches if s.row >= 0}
    kept = {(event["pid"], event["args"]["row"]) for event in found}
    assert kept <= path if most < len(path) else path <= kept


def test_what_overlaps_on_a_stream_stands_side_by_side(tmp_path):
    explained = made(ranks=1, steps=1, collectives=False)
    trace = explained.traces[0]
    events = replace(trace.events, end=trace.events.end + 30_000)
    data, _ = written(replace(explained, traces=(replace(trace, events=events),)), tmp_path)
    ends = defaultdict(float)
    for event in sorted(slices(data, "kernel"), key=lambda event: event["ts"]):
        assert event["ts"] >= ends[event["tid"]] - 1e-6
        ends[event["tid"]] = event["ts"] + event["dur"]
    assert len(ends) == 2


def test_names_of_any_kind(tmp_path):
    evil = ('"}],"x":[{"', "\u2028\u202e<&>", "lone \ud800", "x" * 10_000)
    data, _ = written(made(names=evil), tmp_path, name="evil.json.gz")
    assert {event["name"] for event in slices(data, "kernel")} >= set(evil)


def test_without_any_work(tmp_path):
    data, left = written(made(gpu=False), tmp_path)
    assert left == 0
    assert {event["cat"] for event in data["traceEvents"] if event["ph"] == "X"} == {"step"}


def threads(data, pid):
    return {e["args"]["name"]: e["tid"] for e in data["traceEvents"] if e["name"] == "thread_name" and e["pid"] == pid}


def test_steps_stand_on_a_thread_of_each_rank_on_the_common_clock(tmp_path):
    explained = made(ranks=2)
    clocks = Clocks(np.array([0, 7_000]), np.zeros(2, np.int64), np.zeros(2, np.int32), ("meetings",) * 2)
    data, _ = written(replace(explained, clocks=clocks), tmp_path)
    origin = data["otherData"]["time 0 in ns of the common clock"]
    for i, moved in enumerate((0, 7_000)):
        found = [event for event in slices(data, "step") if event["pid"] == i + 1]
        assert {event["tid"] for event in found} == {threads(data, i + 1)["steps, as its program marks them"]}
        assert [(e["name"], round(e["ts"] * 1000) + origin, round(e["dur"] * 1000)) for e in found] == [
            (f"step {s.number}", s.start + moved, s.end - s.start) for s in explained.traces[i].steps
        ]


def test_the_host_of_the_path_stands_on_a_thread_of_its_rank(tmp_path):
    explained = made(ranks=3)
    data, _ = written(explained, tmp_path)
    launches = sum(s.time for s in explained.path.stretches if s.part == "launch")
    (tid,) = {threads(data, 2)["host, on the critical path"]}
    found = [e for e in data["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (2, tid)]
    assert {event["cat"] for event in found} == {"host: launch"}
    assert sum(round(event["dur"] * 1000) for event in found) == launches
    assert "host, on the critical path" not in threads(data, 1)


def test_of_one_step_only_what_lies_in_it_is_written(tmp_path):
    explained = made(ranks=2, steps=3)
    step = explained.steps[1]
    of_it = {"step": step.number, "start": step.start, "end": step.end, "what": "step 1"}
    path = CriticalPath(
        step.start,
        step.end,
        tuple(s for s in explained.path.stretches if step.start <= s.start and s.end <= step.end),
    )
    one = replace(explained, **of_it, meetings=explained.meetings[1:2], path=path)
    data, left = written(one, tmp_path)
    for i, trace in enumerate(explained.traces):
        inside = (trace.events.start < step.end) & (trace.events.end > step.start)
        assert len([e for e in slices(data, "kernel") if e["pid"] == i + 1]) == inside.sum() < len(trace.events)
    assert {event["name"] for event in slices(data, "step")} == {"step 1"}
    times = [event["ts"] for event in data["traceEvents"] if event["ph"] == "X"]
    assert 0 <= min(times) <= max(times) <= (step.end - step.start) * 1e-3
    assert left == 0
    assert data["otherData"]["what"] == "step 1"
    assert written(one, tmp_path, most=5, name="few.json")[1] == len(slices(data, "kernel")) - 5


@pytest.mark.parametrize("name", ["out.html", "out", "out.json.zip", "out.gz"])
def test_a_name_that_perfetto_would_not_open_is_refused_in_a_line(tmp_path, name):
    for refuse in (check_name, lambda path: write_overlay(made(), path)):
        with pytest.raises(OutputError, match=r"expected a name that ends in \.json or \.json\.gz") as refused:
            refuse(str(tmp_path / name))
        assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
    check_name("Step.JSON.gz")


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_ours_is_replaced_and_nothing_else(tmp_path, name):
    written(made(), tmp_path, name=name)
    data, _ = written(made(ranks=2), tmp_path, name=name)
    assert "rank 3" not in processes(data)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    for content in (b"", b'{"traceEvents":[]}', b"\x1f\x8b\x08"):
        other = tmp_path / f"other-{name}"
        other.write_bytes(content)
        with pytest.raises(OutputError, match="exists and is no file of hopline"):
            write_overlay(made(), str(other))
        assert other.read_bytes() == content


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="none"):
        write_overlay(made(), str(tmp_path / "none" / "out.json"))
    folder = tmp_path / "folder.json"
    folder.mkdir()
    with pytest.raises(OutputError, match="exists"):
        write_overlay(made(), str(folder))
    with pytest.raises(InputError, match="expected 0 or more"):
        write_overlay(made(), str(tmp_path / "out.json"), most=-1)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]
