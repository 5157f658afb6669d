"""Traces written as Kineto files are read back as they were."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from hopline.errors import OutputError
from hopline.formats.kineto.reader import read_trace
from hopline.formats.kineto.writing import write_kineto
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import make
from hopline.jobs.made.tracing import Profiling
from hopline.records.trace import NONE


@pytest.fixture(scope="module")
def traces():
    return make(Job(ranks=4, tensor=2, layers=3, buckets=2, noise=0.1), profiling=Profiling(skew=1e-3)).traces


@pytest.mark.parametrize("name", ["rank.json", "rank.json.gz"])
def test_read_back_as_it_was(traces, tmp_path, name):
    for trace in traces:
        path = tmp_path / f"{trace.rank}-{name}"
        write_kineto(trace, str(path))
        back = read_trace(str(path))
        assert (back.rank, back.world, back.absolute) == (trace.rank, trace.world, True)
        shift = back.base - trace.base
        assert times(back, shift) == times(trace, 0)
        assert [places(back, c) for c in back.collectives] == [places(trace, c) for c in trace.collectives]
        assert [(s.number, s.start + shift, s.end + shift) for s in back.steps] == [
            (s.number, s.start, s.end) for s in trace.steps
        ]
        assert back.syncs.on.tolist() == trace.syncs.on.tolist()
        assert back.syncs.record.tolist() == trace.syncs.record.tolist()


def times(trace, shift):
    """What a trace holds, in an order that does not turn on ties."""
    columns = ("kind", "name", "start", "end", "lane", "correlation")
    rows = zip(*(getattr(trace.events, column).tolist() for column in columns), strict=True)
    return sorted(
        (start + shift, end + shift, kind, trace.names[name], str(trace.lanes[lane]), correlation)
        for kind, name, start, end, lane, correlation in rows
    )


def places(trace, collective):
    kept = ("op", "size", "dtype", "group", "ranks", "count", "sequence", "algorithm", "protocol")
    return [getattr(collective, name) for name in kept] + [trace.names[trace.events.name[collective.row]]]


def test_it_is_json_with_arrows_from_calls_to_kernels(traces, tmp_path):
    path = tmp_path / "t.json.gz"
    write_kineto(traces[0], str(path))
    document = json.loads(gzip.decompress(path.read_bytes()))
    arrows = [event["id"] for event in document["traceEvents"] if event["ph"] == "s"]
    ends = [event["id"] for event in document["traceEvents"] if event["ph"] == "f"]
    launched = traces[0].events.correlation[(traces[0].events.kind <= 2)]
    assert set(launched.tolist()) - {NONE} <= set(arrows)
    assert sorted(arrows) == sorted(ends)
    assert document["distributedInfo"]["pg_count"] == 2
    assert len(document["traceEvents"]) > len(traces[0].events)


@pytest.mark.parametrize("op", ["all_gather", "reduce_scatter", "alltoall", "broadcast", "all_reduce"])
def test_sizes_come_back_as_benchmarks_count_them(traces, tmp_path, op):
    trace = replace(traces[0], collectives=tuple(replace(each, op=op, size=4096) for each in traces[0].collectives))
    write_kineto(trace, str(tmp_path / "t.json"))
    back = read_trace(str(tmp_path / "t.json"))
    assert {(each.op, each.size) for each in back.collectives} == {(op, 4096)}


def test_nothing_is_overwritten(traces, tmp_path):
    path = tmp_path / "t.json"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        write_kineto(traces[0], str(path))
    assert path.read_text() == "mine"


def test_a_nanosecond_is_not_lost_at_any_size(traces, tmp_path):
    path = tmp_path / "t.json"
    write_kineto(traces[1], str(path))
    stamps = {event["ts"] for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"}
    wanted = np.unique(traces[1].events.start)
    assert np.array_equal(np.unique(np.rint(np.array(sorted(stamps)) * 1000).astype(np.int64)), wanted)
