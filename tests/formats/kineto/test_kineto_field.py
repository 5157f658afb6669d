"""Real traces, against figures that were worked out by other parsers (the list beside the collection)."""

import re
from collections import Counter

import numpy as np
import pytest
from field import FIELD, manifest, needed

from hopline.errors import FormatError
from hopline.formats.kineto.reader import read_trace, read_traces
from hopline.records.trace import CALL, KERNEL, NONE

pytestmark = needed
NO_TRACE = ("chakra-", "_et.json", "-et.json")
DLRM = sorted((FIELD / "traces" / "dlrm-8rank").glob("*.json.gz")) if FIELD.is_dir() else []
LAUNCHES_A_GRAPH = ("cudaGraphLaunch", "hipGraphLaunch")


def figures(computed):
    return dict(re.findall(r"(\S+?)=(\[[^\]]*\]|\{[^}]*\}|\S+)", computed))


def traces():
    return [row for row in manifest("traces/") if not any(word in row.id for word in NO_TRACE)]


def of_others():
    return [row for row in manifest("traces/") if any(word in row.id for word in NO_TRACE)]


def microseconds(nanoseconds):
    """Exactly three decimals."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def graph_launches(trace):
    graphs = [number for number, name in enumerate(trace.names) if name.startswith(LAUNCHES_A_GRAPH)]
    return int((np.isin(trace.events.name, graphs) & (trace.events.kind == CALL)).sum())


def found(trace):
    """The figures of the list that a trace as it is read can say."""
    events, work = trace.events, trace.work
    kernels = np.flatnonzero(events.kind == KERNEL)
    spans = sorted(((number, key) for key, number in trace.counts.items() if key.startswith("X:")), reverse=True)
    names = Counter(trace.names[events.name[collective.row]].partition("(")[0] for collective in trace.collectives)
    numbers = {
        "rank": "absent" if trace.rank is None else str(trace.rank),
        "world_size": "absent" if trace.world is None else str(trace.world),
        "events": str(trace.counts["events"]), "X_events": str(trace.counts["X_events"]),
        "X_by_cat": {key[2:]: number for number, key in spans},
        "gpu_work_events": str(len(work)), "gpu_kernels": str(len(kernels)),
        "nccl_kernels": str(len(trace.collectives)),
        "nccl_names": dict(names),
        "cuda_graphs": "yes" if graph_launches(trace) else "no",
        "steps": f"[{','.join(str(step.number) for step in trace.steps)}]" if trace.steps else "none",
    }  # fmt: skip
    launched = Counter(correlation for correlation in events.correlation[kernels].tolist() if correlation != NONE)
    if launched:
        numbers["max_kernels_per_correlation"] = str(max(launched.values()))
    numbers["graph_launches"] = str(graph_launches(trace))
    if len(work):
        first = int(events.start[work].min())
        numbers["gpu_first"] = trace.base + first
        numbers["gpu_span_us"] = microseconds(int(events.end[work].max()) - first)
    return numbers


def expected(told):
    """The same figures as the list has them."""
    wanted = {key: value for key, value in told.items() if key in (
        "rank", "world_size", "events", "X_events", "gpu_work_events", "gpu_kernels", "nccl_kernels", "cuda_graphs", "steps",
        "graph_launches", "max_kernels_per_correlation", "gpu_span_us",
    )}  # fmt: skip
    for key in ("X_by_cat", "nccl_names"):
        if key in told:
            pairs = (pair.rpartition(":") for pair in told[key].split(","))
            wanted[key] = {name: int(number) for name, _, number in pairs}
    if "gpu_first_ts_us" in told:
        whole, _, part = told["gpu_first_ts_us"].partition(".")
        wanted["gpu_first"] = int(told.get("baseTimeNanoseconds", 0)) + int(whole) * 1000 + int(part)
    return wanted


@pytest.mark.parametrize(("path", "computed"), traces())
def test_figures_of_the_list(path, computed):
    told, trace = expected(figures(computed)), read_trace(str(path))
    got = found(trace)
    assert {key: got.get(key) for key in told} == told
    if int(told["gpu_work_events"]) == 0:
        assert len(trace.work) == 0
    assert trace.base > 10**18, "all of these have clocks since 1970"
    assert trace.absolute


@pytest.mark.parametrize(("path", "computed"), of_others())
def test_what_is_no_trace_is_refused(path, computed):
    with pytest.raises(FormatError) as error:
        read_trace(str(path))
    assert "expected a trace" in str(error.value)
    assert "\n" not in str(error.value)


def test_eight_ranks_of_a_recommendation_model():
    """The same eight collectives on all ranks, ending within 7 us and lasting at least 10,8,7,7,86,10,20,69 us."""
    ranks = read_traces([str(path) for path in DLRM])
    assert [trace.rank for trace in ranks] == list(range(8))
    for trace in ranks:
        ops = [collective.op for collective in trace.collectives]
        assert ops == ["alltoall"] * 4 + ["all_reduce", "alltoall", "all_reduce", "all_reduce"]
        assert trace.told == ()
    sizes = [[collective.size for collective in trace.collectives] for trace in ranks]
    assert sizes[0] == [6144 * 4, 24 * 8, 384 * 4, 3392 * 4, 394241 * 4, 6144 * 4, 112 * 4, 226960 * 4]
    assert all(of_rank[4:5] + of_rank[6:] == sizes[0][4:5] + sizes[0][6:] for of_rank in sizes)
    start, end = (
        np.array([[trace.base + int(column[c.row]) for c in trace.collectives] for trace, column in columns])
        for columns in (
            [(trace, trace.events.start) for trace in ranks], [(trace, trace.events.end) for trace in ranks],
        )
    )  # fmt: skip
    assert np.ptp(end, axis=0).max() <= 7000
    assert np.ptp(start, axis=0).max() == 7_624_000
    assert ((end - start).min(axis=0) // 1000).tolist() == [10, 8, 7, 7, 86, 10, 20, 69]


def test_waits_on_the_gpu():
    """The critical-path test of HTA: stream 7 waits for an event that was recorded after work on stream 20."""
    trace = read_trace(str(FIELD / "traces" / "hta-critpath-alexnet.json.gz"))
    waits = [
        (trace.lanes[int(trace.events.lane[row])].number, int(on), int(record))
        for row, on, record in zip(trace.syncs.row, trace.syncs.on, trace.syncs.record, strict=True)
        if on >= 0
    ]
    assert len(trace.syncs.row) == trace.counts["X:cuda_sync"] == 41
    assert any(stream == 7 and on == 20 for stream, on, _ in waits)
    assert all(record > 0 for _, _, record in waits)


def test_operations_come_from_the_host_where_kernels_only_send_and_receive():
    trace = read_trace(str(FIELD / "traces" / "hta-negative-queue-length.json.gz"))
    ops = Counter(collective.op for collective in trace.collectives)
    assert ops == {"alltoall": 45, "reduce_scatter": 10, "all_reduce": 10, "all_gather": 10, "sendrecv": 5}
    assert sum(collective.size is None for collective in trace.collectives if collective.op == "alltoall") == 0
