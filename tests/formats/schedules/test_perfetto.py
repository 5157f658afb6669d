"""Traces for Perfetto: what stands in them, and that it is what happened."""

import gzip
import json

import numpy as np
import pytest
from schedule_samples import fabric

from hopline.errors import InputError, OutputError
from hopline.formats.perfetto import write_perfetto
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COMPUTE, FREE, KINDS, NONE, SEND, Buffer, Columns, Schedule
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate


@pytest.fixture(scope="module")
def ring():
    schedule = COLLECTIVES["all_reduce-ring"].build(Shape(4, 1003))
    return schedule, simulate(schedule, fabric(4, reduce=1e-10), keep=True)


def written(tmp_path, schedule, timeline, **more):
    path = tmp_path / "trace.json"
    left = write_perfetto(schedule, timeline, str(path), **more)
    return json.loads(path.read_text()), left


def of(document, phase, **values):
    return [
        event for event in document["traceEvents"]
        if event["ph"] == phase and all(event.get(name) == value for name, value in values.items())
    ]  # fmt: skip


def test_every_operation_is_a_slice_at_its_time(tmp_path, ring):
    schedule, timeline = ring
    document, left = written(tmp_path, schedule, timeline)
    slices = [event for event in of(document, "X") if event["cat"] != "path"]
    assert left == 0
    assert sorted(event["args"]["row"] for event in slices) == list(range(len(schedule)))
    for event in slices:
        row = event["args"]["row"]
        assert round(event["ts"] * 1e6) == timeline.start[row]
        assert round((event["ts"] + event["dur"]) * 1e6) == timeline.end[row]
        assert event["cat"] == KINDS[schedule.columns.kind[row]]
        assert event["args"]["bytes"] == schedule.columns.size[row]
        assert (event["pid"], event["tid"]) == (schedule.columns.rank[row] + 1, schedule.columns.lane[row] + 1)


def test_words_of_slices(tmp_path, ring):
    document, _ = written(tmp_path, *ring)
    (first,) = [event for event in of(document, "X") if event["args"]["row"] == 0 and event["cat"] != "path"]
    assert first["name"] == "send to 1"
    assert first["args"] == {"row": 0, "bytes": 250, "peer": 1, "tag": 0, "range": "data [753, 1003)"}
    reduces = of(document, "X", cat="reduce")
    assert all(event["args"]["from"].startswith("scratch [") for event in reduces)


def test_arrows_lead_from_each_send_to_its_recv(tmp_path, ring):
    schedule, timeline = ring
    document, _ = written(tmp_path, schedule, timeline)
    begins, ends = ({event["id"]: event for event in of(document, phase)} for phase in "sf")
    assert set(begins) == set(ends) == set(np.flatnonzero(schedule.columns.kind == SEND).tolist())
    for row, event in begins.items():
        assert event["pid"] == schedule.columns.rank[row] + 1
        assert ends[row]["pid"] == schedule.columns.peer[row] + 1
        assert ends[row]["ts"] >= event["ts"]


def test_the_critical_path_is_a_process_of_its_own(tmp_path, ring):
    schedule, timeline = ring
    document, _ = written(tmp_path, schedule, timeline)
    path = of(document, "X", cat="path")
    assert [event["args"]["row"] for event in path] == [row for row, _, _ in timeline.path]
    assert {event["pid"] for event in path} == {5}
    assert round((path[-1]["ts"] + path[-1]["dur"]) * 1e6) == timeline.ticks
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in of(document, "M")
        if event["name"] != "process_sort_index"
    }
    assert names[5, 0] == "critical path"
    assert names[1, 0] == "rank 0"
    assert names[1, 2] == "lane 1"


def test_picoseconds_stay(tmp_path):
    schedule = COLLECTIVES["all_gather-ring"].build(Shape(2, 2))
    timeline = simulate(schedule, fabric(2), keep=True)
    path = tmp_path / "trace.json"
    write_perfetto(schedule, timeline, str(path))
    assert '"ts":0.000000,"dur":1.001000' in path.read_text()


def free(times):
    kind = np.full(len(times), COMPUTE, np.uint8)
    zeros = [np.zeros(len(times), kind_of) for kind_of in (np.uint8, np.uint8, np.int32, np.int64, np.int64)]
    columns = Columns(
        kind, np.full(len(times), FREE, np.uint8), zeros[0], zeros[1], zeros[2], np.full(len(times), NONE, np.int32),
        np.full(len(times), NONE, np.int32), zeros[3], np.array(times, np.int64), zeros[4],
    )  # fmt: skip
    return Schedule('odd "name"\\', 1, columns, (Buffer("data", 1),))


def test_operations_on_no_lane_stand_side_by_side(tmp_path):
    schedule = free([5, 7, 3])
    document, _ = written(tmp_path, schedule, simulate(schedule, fabric(1), keep=True))
    slices = [event for event in of(document, "X") if event["cat"] == "compute"]
    assert len({event["tid"] for event in slices}) == 3
    assert document["otherData"]["schedule"] == 'odd "name"\\'
    assert [event["args"]["ps"] for event in slices] == [5, 7, 3]


def test_compressed(tmp_path, ring):
    path = tmp_path / "trace.json.gz"
    write_perfetto(*ring, str(path))
    plain, _ = written(tmp_path, *ring)
    assert json.loads(gzip.decompress(path.read_bytes())) == plain


def test_thinned_only_where_asked(tmp_path, ring):
    schedule, timeline = ring
    document, left = written(tmp_path, schedule, timeline, most=20)
    shown = {event["args"]["row"] for event in of(document, "X") if event["cat"] != "path"}
    assert len(shown) == 20
    assert left == len(schedule) - 20
    assert document["otherData"]["operations left out"] == left
    assert {row for row, _, _ in timeline.path[:20]} <= shown or len(timeline.path) > 20
    arrows = {event["id"] for event in of(document, "s")}
    assert arrows == {event["id"] for event in of(document, "f")}
    assert all(row in shown and row + 1 in shown for row in arrows)


def test_a_timeline_without_times_or_of_another_schedule_is_refused(tmp_path, ring):
    schedule, timeline = ring
    with pytest.raises(InputError, match="has no times of single operations: simulate with keep=True"):
        write_perfetto(schedule, simulate(schedule, fabric(4)), str(tmp_path / "a.json"))
    other = COLLECTIVES["all_gather-ring"].build(Shape(4, 8))
    with pytest.raises(InputError, match="expected equally many"):
        write_perfetto(other, timeline, str(tmp_path / "a.json"))
    with pytest.raises(InputError, match="-1 slices at most"):
        write_perfetto(schedule, timeline, str(tmp_path / "a.json"), most=-1)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path, ring):
    path = tmp_path / "trace.json"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        write_perfetto(*ring, str(path))
    assert path.read_text() == "mine"
