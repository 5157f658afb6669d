"""What a trace file becomes: containers, times, kinds, lanes, who it is from."""

import bz2
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile

import numpy as np
import pytest
from trace_texts import BASE, EVENTS, call, kernel, span, text

from hopline.errors import FormatError
from hopline.formats.kineto import container
from hopline.formats.kineto.identity import rank_in
from hopline.formats.kineto.reader import read_trace, read_traces
from hopline.records.trace import CALL, KERNEL, MEMCPY, NOTE, OP, Lane


def read(tmp_path, content, name="trace.json"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_trace(str(path))


def test_kinds_lanes_steps_counts(tmp_path):
    trace = read(tmp_path, text(distributedInfo={"rank": 2, "world_size": 4, "backend": "nccl"}))
    events = trace.events
    assert events.kind.tolist() == [NOTE, OP, CALL, KERNEL, MEMCPY]
    assert [trace.names[name] for name in events.name] == [event["name"] for event in EVENTS[:5]]
    assert events.start.tolist() == [0, 1000, 5000, 20000, 61000]
    assert events.end.tolist() == [100000, 31000, 15000, 60000, 63000]
    assert events.correlation.tolist() == [-1, -1, 71, 71, 72]
    assert trace.base == BASE * 1000
    assert trace.absolute
    assert [trace.lanes[lane] for lane in events.lane] == [Lane("thread", 10, 11)] * 3 + [Lane("stream", 0, 7)] * 2
    assert [(step.number, step.start, step.end) for step in trace.steps] == [(3, 0, 100000)]
    assert trace.counts == {
        "events": 7, "X_events": 6, "X:user_annotation": 1, "X:cpu_op": 1, "X:cuda_runtime": 1, "X:kernel": 1,
        "X:gpu_memcpy": 1, "X:Trace": 1,
    }  # fmt: skip
    assert (trace.rank, trace.world, trace.about["backend"], trace.told) == (2, 4, "nccl", ())


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("before", [(), ("distributedInfo", "deviceProperties"), ("zzz", "baseTimeNanoseconds")])
def test_other_keys_stand_anywhere(tmp_path, indent, before):
    around = {
        "distributedInfo": {"rank": 5, "pg_config": [{"pg_name": "0", "ranks": [4, 5]}, {"pg_name": "1", "ranks": [5]}]},
        "deviceProperties": [{"id": 0, "name": "H100"}, {"id": 1, "name": "H100"}],
        "baseTimeNanoseconds": 1_700_000_000_000_000_000, "zzz": {'"traceEvents": [': ['"traceEvents": [', "}, {", "\\"]},
    }  # fmt: skip
    after = [key for key in around if key not in before]
    content = json.dumps(json.loads(text(before=before, after=after, **around)), indent=indent)
    trace = read(tmp_path, content)
    assert (trace.rank, trace.about["device"], len(trace.events)) == (5, "H100", 5)
    assert trace.base == 1_700_000_000_000_000_000 + BASE * 1000


def tar(members):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return held.getvalue()


PACKINGS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "twice": lambda data: gzip.compress(b"") + gzip.compress(data),
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "noending"])
def test_packings_are_told_by_content(tmp_path, packing, name):
    assert len(read(tmp_path, PACKINGS[packing](text().encode()), name).events) == 5


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_archives_hold_several_traces(tmp_path, packing):
    members = {
        "x/rank1.json": text().encode(), "x/._rank1.json": b"\0\5", "x/notes.txt": b"hello",
        "x/rank0.json.gz": gzip.compress(text(EVENTS[:3]).encode()),
    }  # fmt: skip
    path = tmp_path / "all.tgz"
    path.write_bytes(PACKINGS[packing](tar(members)))
    first, second = read_traces([str(path)])
    assert (first.rank, len(first.events), second.rank, len(second.events)) == (1, 5, 0, 3)
    assert (first.source, second.source) == (f"{path}:x/rank1.json", f"{path}:x/rank0.json.gz")
    assert any("notes.txt begins with 'hello'" in told for told in first.told)
    with pytest.raises(FormatError, match="holds 2 traces: expected one"):
        read_trace(str(path))
    whole = PACKINGS[packing](tar(members))
    path.write_bytes(whole[: len(whole) // 2 if packing == "gzip" else 1200])
    with pytest.raises(FormatError, match="cut"):
        read_traces([str(path)])
    path.write_bytes(PACKINGS[packing](tar({"notes.txt": b"hello"})))
    with pytest.raises(FormatError, match=r"has no trace in it: .*notes\.txt begins with 'hello'"):
        read_traces([str(path)])


def test_a_bare_list_of_events(tmp_path):
    assert len(read(tmp_path, json.dumps(EVENTS)).events) == 5
    open_list = json.dumps(EVENTS)[:-1]
    for tail in ("", ",", ",\n\n"):
        trace = read(tmp_path, open_list + tail)
        assert len(trace.events) == 5
        assert any("not closed" in told for told in trace.told)


def test_standard_input_and_pipes(tmp_path):
    code = "import sys; from hopline.formats.kineto.reader import read_traces as r; print([len(t.events) for t in r(sys.argv[1:])])"
    done = subprocess.run(
        [sys.executable, "-c", code, "-"], input=gzip.compress(text().encode()), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"[5]"


def test_a_pipe_may_hold_more_than_a_log(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "MOST", 1000)
    with pytest.raises(FormatError, match="unpacks to more than 1000 bytes"):
        read(tmp_path, gzip.compress(text().encode()))
    monkeypatch.undo()
    assert container.MOST > 1 << 33


TIMES = {
    "integers": ([1694128201428006, 3], 1694128201428006000, 3000, 0),
    "broken since 1970": (["1712195495406752.837", "12.25"], 1712195495406752837, 12250, 0),
    "since the base": (["4909914216285.224", "0.001"], 1775078550000000000 + 4909914216285224, 1, 1775078550000000000),
    "mixed": ([4909914216285, "0.5"], 1775078550000000000 + 4909914216285000, 500, 1775078550000000000),
    "as text": (['"1712195495406752.837"', '"12"'], 1712195495406752837, 12000, 0),
    "negative": (["-5.25", "1"], 1775078550000000000 - 5250, 1000, 1775078550000000000),
    "exponent": (["1.5e3", "2e0"], 1775078550000000000 + 1500000, 2000, 1775078550000000000),
    "edge of doubles": (
        ["8796093022207.999", "1.001"],
        1775078550000000000 + 8796093022207999,
        1001,
        1775078550000000000,
    ),
    "beyond it": (["8796093022208.001", "1.001"], 1775078550000000000 + 8796093022208001, 1001, 1775078550000000000),
}


@pytest.mark.parametrize("way", TIMES)
def test_times_are_whole_nanoseconds(tmp_path, way):
    (ts, dur), start, length, base = TIMES[way]
    events = f'[{{"ph":"M"}}, {{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}]'
    trace = read(tmp_path, f'{{"traceEvents": {events}, "baseTimeNanoseconds": {base}}}')
    assert trace.base + int(trace.events.start[0]) == start
    assert int(trace.events.end[0] - trace.events.start[0]) == length


def test_every_nanosecond_of_relative_times_is_exact(tmp_path):
    rng = np.random.default_rng(4)
    ticks = rng.integers(4_909_914_216_285_224, 4_909_914_217_285_224, 5000)
    events = ",".join(f'{{"ph":"X","cat":"kernel","ts":{t // 1000}.{t % 1000:03d},"dur":1}}' for t in ticks.tolist())
    trace = read(tmp_path, f'{{"traceEvents": [{events}]}}')
    assert (trace.base + trace.events.start).tolist() == sorted(ticks.tolist())
    assert not trace.absolute


def test_the_longer_of_two_that_begin_together_stands_first(tmp_path):
    events = [span("inner", 5, 1), span("outer", 5, 9), span("early", 0, 1), span("middle", 5, 4)]
    trace = read(tmp_path, text(events))
    assert [trace.names[name] for name in trace.events.name] == ["early", "outer", "middle", "inner"]


def test_spellings_of_categories(tmp_path):
    events = [
        {"ph": "X", "cat": cat, "name": cat, "ts": at, "dur": 1, "pid": 0, "tid": 0}
        for at, cat in enumerate(["Kernel", "Runtime", "Operator", "gpu_memcpy", "Memset", "cuda_driver", "cuda_sync"])
    ]
    ignored = [
        {"ph": "X", "cat": cat, "name": "x", "ts": 1, "dur": 1}
        for cat in ("python_function", None, "overhead", 7, ["a"])
    ]
    trace = read(tmp_path, text(events + ignored))
    assert trace.events.kind.tolist() == [0, 4, 5, 1, 2, 4, 3]
    assert trace.counts["X:python_function"] == trace.counts["X:None"] == trace.counts["X:7"] == 1
    assert trace.counts["X_events"] == len(events) + len(ignored)


NAMES = {
    "rank-34_step.json": 34, "worker0_step_12.1694128201545.pt.trace.json.gz": 0, "rank0.json": 0,
    "profile_trace_rank_7.json.gz": 7, "rank12.x.rank12.json": 12, "rank1_rank2.json": None, "trace.json": None,
    "frank3.json": None, "Rank=003.json": 3, "host_worker-5.json": 5, "rank99999999999.json": None, "gpu3.json": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_ranks_in_names(name):
    assert rank_in(f"/data/rank5/{name}") == NAMES[name]


def test_the_file_itself_goes_before_its_name(tmp_path):
    trace = read(tmp_path, text(distributedInfo={"rank": 3}), "rank4.json")
    assert trace.rank == 3
    assert any("says rank 4, the file itself 3" in told for told in trace.told)
    trace = read(tmp_path, text(distributedInfo={"backend": "nccl"}), "rank4.json")
    assert trace.rank == 4
    assert any("from the name" in told for told in trace.told)
    trace = read(tmp_path, text())
    assert trace.rank is None
    assert any("neither the file nor its name says the rank" in told for told in trace.told)


def test_kernels_of_a_graph_share_a_correlation(tmp_path):
    events = [call("cudaGraphLaunch", 0, 5, 9), *(kernel("k", 10 + 2 * at, 1, 9) for at in range(300))]
    trace = read(tmp_path, text(events))
    assert np.count_nonzero(trace.events.correlation == 9) == 301
    assert len(trace.work) == 300


def test_waits_on_streams(tmp_path):
    events = [
        span("Stream Wait Event", 0, 1, "cuda_sync", 0, 7, device=0, stream=7, correlation=5, wait_on_stream=20,
             wait_on_cuda_event_record_corr_id=4),
        span("Context Sync", 2, 1, "cuda_sync", 0, 7, device=0, stream=4294967295, wait_on_stream=-1),
    ]  # fmt: skip
    trace = read(tmp_path, text(events))
    assert trace.syncs.row.tolist() == [0, 1]
    assert trace.syncs.on.tolist() == [20, -1]
    assert trace.syncs.record.tolist() == [4, -1]
    assert len(trace.work) == 0


def test_columns_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="read-only"):
        read(tmp_path, text()).events.start[0] = 1


def test_no_import_of_what_is_slow():
    code = "import sys, hopline.formats.kineto.reader; print([m for m in ('numba', 'rich', 'tarfile', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=os.environ)
    assert done.stdout.strip() == b"[]"
