"""Exports of Nsight Systems: whose work is whose, what is missing is said, and what is no export is refused."""

import gzip
import shutil
import sqlite3

import numpy as np
import pytest
from nsys_exports import KERNEL, RUNTIME, TABLES, Export, tid

from hopline.errors import FormatError
from hopline.formats import nsys
from hopline.records.trace import CALL, MEMCPY, NOTE, SYNC, Step


def sample(path, **changes):
    """A process with two steps: a launch, a kernel, an all-reduce on another stream that waits for an event, a copy."""
    export = Export(path, TABLES | changes)
    for step in range(2):
        at = 1000 * step
        export.note(at, at + 900, f"step {step + 5}")
        export.note(at + 10, at + 100, "forward", inline=True)
        export.call(at + 20, at + 30, correlation=10 * step + 1)
        export.kernel(at + 50, at + 250, "void gemm<float>(int)", correlation=10 * step + 1)
        export.call(at + 40, at + 42, "cudaEventRecord_v3020", correlation=10 * step + 2)
        export.call(at + 44, at + 46, "cudaStreamWaitEvent_v3020", correlation=10 * step + 3)
        export.call(at + 60, at + 70, correlation=10 * step + 4)
        export.kernel(at + 260, at + 400, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", stream=20,
                      correlation=10 * step + 4)  # fmt: skip
        common = {"deviceId": 0, "contextId": 1, "globalPid": tid(10, 0)}
        export.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", streamId=7, correlationId=10 * step + 2, eventId=3, **common)
        export.add(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=at + 251, end=at + 255, streamId=20, correlationId=10 * step + 3,
            syncType=2, eventId=3, **common,
        )  # fmt: skip
        export.add(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            start=at + 500,
            end=at + 600,
            streamId=7,
            correlationId=0,
            copyKind=2,
            **common,
        )
    export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000)
    export.add("TARGET_INFO_GPU", id=0, name="NVIDIA H100")
    return export


def test_one_process(tmp_path):
    (trace,) = nsys.read_traces(sample(tmp_path / "run_rank3.sqlite").done())
    assert (trace.rank, trace.world, trace.base, trace.absolute) == (3, None, 1_700_000_000_000_000_000, True)
    assert trace.steps == (Step(5, 0, 900), Step(6, 1000, 1900))
    assert [(one.op, one.algorithm, one.protocol, one.size) for one in trace.collectives] == [
        ("all_reduce", "RING", "LL", None)
    ] * 2
    rows = [one.row for one in trace.collectives]
    assert trace.events.start[rows].tolist() == [260, 1260]
    assert [trace.lanes[one].number for one in trace.events.lane[rows]] == [20, 20]
    assert trace.events.correlation[rows].tolist() == [4, 14]
    assert trace.counts == {
        "events": 20, "X:kernel": 4, "X:gpu_memcpy": 2, "X:cuda_sync": 2, "X:cuda_runtime": 8, "X:nvtx": 4,
    }  # fmt: skip
    assert (trace.syncs.on.tolist(), trace.syncs.record.tolist()) == ([7, 7], [2, 12])
    assert (trace.events.kind[trace.syncs.row] == SYNC).all()
    assert {trace.names[one] for one in trace.events.name[trace.events.kind == MEMCPY]} == {"Memcpy DtoH"}
    assert trace.about == {"process": "10", "device": "0", "device name": "NVIDIA H100"}
    assert trace.told == ()
    assert (np.diff(trace.events.start) >= 0).all()


def test_several_ranks_in_one_export(tmp_path):
    export = Export(tmp_path / "all.sqlite")
    for process in (100, 101):
        for number in range(1, 4):
            export.call(number * 10, number * 10 + 2, process=process, correlation=number)
            export.kernel(number * 10 + 5, number * 10 + 9, process=process, device=process - 100, correlation=number)
    path = export.done()
    first, second = nsys.read_traces(path)
    assert [first.about["process"], second.about["process"]] == ["100", "101"]
    assert [len(one.events) for one in (first, second)] == [6, 6]
    assert first.rank is second.rank is None
    assert any("does not say which rank" in remark for remark in first.told)
    assert first.source == f"{path}:process 100:GPU 0"


def test_ranks_of_mpi(tmp_path):
    export = Export(tmp_path / "all.sqlite")
    for rank, process in ((1, 100), (0, 101)):
        export.kernel(5, 9, process=process)
        export.add("ThreadNames", nameId=export.name(f"MPI Rank {rank}"), globalTid=tid(process))
    traces = nsys.read_traces(export.done())
    assert [one.rank for one in traces] == [1, 0]
    assert not any("which rank" in remark for one in traces for remark in one.told)


def test_a_process_with_two_gpus(tmp_path):
    export = Export(tmp_path / "x.sqlite")
    for device in (0, 1):
        export.call(device, device + 1, correlation=device + 1)
        export.kernel(10, 20, device=device, correlation=device + 1)
    export.call(30, 40, "cudaDeviceSynchronize_v3020", correlation=9)
    traces = nsys.read_traces(export.done())
    assert [one.events.correlation[one.events.kind == CALL].tolist() for one in traces] == [[1, 9], [2, 9]]


def without(table, *columns):
    return {table: ", ".join(one for one in TABLES[table].split(", ") if one.split()[0] not in columns)}


def test_older_exports_without_process_of_work(tmp_path):
    tables = TABLES | without(KERNEL, "globalPid", "graphNodeId", "demangledName")
    export = Export(tmp_path / "one.sqlite", tables)
    export.call(1, 2, process=7, correlation=5)
    export.add(KERNEL, start=3, end=4, deviceId=0, streamId=7, correlationId=5, shortName=export.name("k"))
    (trace,) = nsys.read_traces(export.done())
    assert (trace.about["process"], set(trace.names)) == ("7", {"cudaLaunchKernel_v7000", "k"})
    export = Export(tmp_path / "two.sqlite", tables)
    for process, correlation in ((7, 5), (8, 6), (7, 9), (8, 9)):
        export.call(1, 2, process=process, correlation=correlation)
    for correlation in (5, 6, 9):
        export.add(
            KERNEL, start=3, end=4, deviceId=0, streamId=7, correlationId=correlation, shortName=export.name("k")
        )
    traces = nsys.read_traces(export.done())
    assert [one.about["process"] for one in traces] == ["7", "8"]
    assert [one.counts["X:kernel"] for one in traces] == [1, 1]
    assert any("of 1 rows on GPUs the process is not known" in remark for remark in traces[0].told)


def test_missing_tables_are_told(tmp_path):
    only = {name: TABLES[name] for name in ("StringIds", KERNEL)}
    export = Export(tmp_path / "x.sqlite", only)
    export.kernel(1, 2)
    (trace,) = nsys.read_traces(export.done())
    assert any("has no CUPTI_ACTIVITY_KIND_RUNTIME" in remark for remark in trace.told)
    assert any("has no NVTX_EVENTS: steps are not known" in remark for remark in trace.told)
    assert (trace.absolute, trace.base) == (False, 0)


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["ProfilerStep#3", "ProfilerStep#4", "train_step", "train_step", "train_step"], [3, 4]),
        (["iteration 7", "iteration 8", "x", "x", "x"], [7, 8]), (["Iteration: 0", "Iteration: 1"], [0, 1]),
        (["train_step", "optimizer", "train_step"], [0, 1]), (["batch_1", "batch_2"], [1, 2]), (["step 1", "x", "x"], []),
        (["my_step_fn 1", "other"], []),
    ],
)  # fmt: skip
def test_steps_by_name(tmp_path, names, numbers):
    export = Export(tmp_path / "rank_0.sqlite")
    export.kernel(1, 2)
    for at, name in enumerate(names):
        export.note(10 * at, 10 * at + 9, name)
    export.note(0, 500, "step 99", kind=34)
    (trace,) = nsys.read_traces(export.done())
    assert [step.number for step in trace.steps] == numbers
    assert bool(trace.told) == (not numbers)
    assert (trace.events.kind == NOTE).sum() == len(names)


def test_work_that_was_not_done_is_left_out_and_told(tmp_path):
    export = Export(tmp_path / "x.sqlite")
    export.kernel(1, 2)
    export.kernel(5, 0)
    export.kernel(5, None)
    (trace,) = nsys.read_traces(export.done())
    assert len(trace.events) == 1
    assert any("2 rows of CUPTI_ACTIVITY_KIND_KERNEL without a usable time" in remark for remark in trace.told)


def test_graphs_as_a_whole(tmp_path):
    table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
    columns = (
        "start INT, end INT, deviceId INT, graphId INT, contextId INT, streamId INT, correlationId INT, globalPid INT"
    )
    export = Export(tmp_path / "x.sqlite", TABLES | {table: columns})
    export.add(table, start=1, end=9, deviceId=0, graphId=4, streamId=7, correlationId=1, globalPid=tid(10, 0))
    (trace,) = nsys.read_traces(export.done())
    assert trace.names == ("CUDA graph 4",)


# --- bad input --------------------------------------------------------------------------------------------------------


def refused(path, words):
    with pytest.raises(FormatError) as error:
        nsys.read_traces(str(path))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_other_databases_and_other_files(tmp_path):
    other = tmp_path / "other.sqlite"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE people (name TEXT)")
    database.commit()
    database.close()
    refused(other, "is a SQLite file of something else (people)")
    (tmp_path / "text").write_text("hello")
    refused(tmp_path / "text", "is no SQLite file: make one with 'nsys export")
    packed = tmp_path / "x.sqlite.gz"
    packed.write_bytes(gzip.compress(other.read_bytes()))
    refused(packed, "is a packed SQLite file: unpack it first")
    refused(tmp_path / "none", "cannot be read")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(8 << 30)
    refused(tmp_path / "sparse", "is no SQLite file")


def test_empty_and_wrong_tables(tmp_path):
    refused(Export(tmp_path / "a.sqlite").done(), "has no work of a GPU")
    refused(Export(tmp_path / "b.sqlite", without(KERNEL, "streamId", "end")).done(), "has no column end, streamId")
    export = Export(tmp_path / "c.sqlite")
    export.kernel("soon", 2)
    refused(export.done(), "holds 'soon' where a whole number belongs")
    export = Export(tmp_path / "d.sqlite")
    export.kernel(b"\xff\1", 2)
    refused(export.done(), "where a whole number belongs")


@pytest.mark.parametrize("value", [1.5, 1e300, float("inf")])
def test_floats_are_no_times_unless_they_are_whole(tmp_path, value):
    export = Export(tmp_path / "c.sqlite")
    export.kernel(1, value)
    refused(export.done(), f"holds {value!r} where a whole number belongs")


def test_columns_of_floats_that_are_whole(tmp_path):
    floats = {**TABLES, KERNEL: TABLES[KERNEL].replace("INT", "REAL")}
    export = Export(tmp_path / "x.sqlite", floats)
    export.kernel(1_000_000_001, 1_000_000_008)
    (trace,) = nsys.read_traces(export.done())
    assert (trace.events.end - trace.events.start).tolist() == [7]


@pytest.mark.parametrize("byte", [b"\xff", b"\x07"])
def test_a_damaged_schema_is_one_line(tmp_path, byte):
    """What SQLite says of it quotes the file, which need be no UTF-8 and not printable."""
    export = Export(tmp_path / "x.sqlite")
    export.kernel(1, 2)
    path = tmp_path / "hurt.sqlite"
    with open(export.done(), "rb") as file:
        data = file.read()
    old = b"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET"
    assert old in data
    path.write_bytes(data.replace(old, old[:-3] + byte + b"Y("))
    with pytest.raises(FormatError, match="is damaged") as error:
        nsys.read_traces(str(path))
    assert str(error.value).isprintable()


@pytest.mark.parametrize("value", [5, -1, 10**12, 2**63 - 1])
def test_a_start_of_the_session_that_cannot_be_is_told(tmp_path, value):
    export = Export(tmp_path / "x.sqlite")
    export.kernel(1, 2)
    export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=value)
    (trace,) = nsys.read_traces(export.done())
    assert (trace.base, trace.absolute) == (0, False)
    assert any(f"is {value}: expected nanoseconds since 1970" in told for told in trace.told) == (value != -1)


def test_rows_that_stand_twice_count_once(tmp_path):
    def made(name, times):
        export = Export(tmp_path / name)
        for _ in range(times):
            export.call(1, 3, correlation=5)
            export.kernel(4, 9, correlation=5)
            export.kernel(20, 20, correlation=5)
            export.note(0, 30, "step 1")
        return nsys.read_traces(export.done())

    (once,), (twice,) = made("a", 1), made("b", 2)
    assert twice.events.start.tolist() == once.events.start.tolist()
    assert twice.counts == once.counts
    assert any("4 events equal to another in name, place, times and correlation: counted once" in x for x in twice.told)
    assert not any("equal to another" in told for told in once.told)


def test_views_are_not_run(tmp_path):
    """A view may take forever, and only looks like a table."""
    export = Export(tmp_path / "x.sqlite", {"StringIds": TABLES["StringIds"]})
    export.database.execute(
        f"CREATE VIEW {KERNEL} AS WITH RECURSIVE t(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM t) "
        "SELECT start, start + 1 AS end, 0 AS deviceId, 0 AS streamId FROM t"
    )
    refused(export.done(), "has no work of a GPU")


def test_cut_and_hurt_files(tmp_path):
    whole = sample(tmp_path / "x.sqlite").done()
    data = (tmp_path / "x.sqlite").read_bytes()
    hurt = tmp_path / "hurt.sqlite"
    for end in range(16, len(data), 4096 + 517):
        hurt.write_bytes(data[:end])
        with pytest.raises(FormatError) as error:
            nsys.read_traces(str(hurt))
        assert "\n" not in str(error.value)
    rng = np.random.default_rng(0)
    for _ in range(60):
        changed = bytearray(data)
        at = int(rng.integers(16, len(data) - 200))
        changed[at : at + 200] = rng.integers(0, 256, 200, np.uint8).tobytes()
        hurt.write_bytes(changed)
        try:
            nsys.read_traces(str(hurt))
        except FormatError as error:
            assert "\n" not in str(error)
    assert len(nsys.read_traces(whole)) == 1


def test_an_export_that_is_being_written(tmp_path):
    """Locked, and with a log of changes beside it: it is read as it stands, and said."""
    path = tmp_path / "x.sqlite"
    sample(path).done()
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(f"INSERT INTO {KERNEL} (start, end, deviceId, streamId) VALUES (1, 2, 0, 7)")
    writer.commit()
    writer.execute("BEGIN EXCLUSIVE")
    before = sorted(one.name for one in tmp_path.iterdir())
    (trace,) = nsys.read_traces(str(path))
    assert any("x.sqlite-wal holds" in remark for remark in trace.told)
    assert trace.counts["X:kernel"] == 4
    assert sorted(one.name for one in tmp_path.iterdir()) == before
    writer.close()


def test_nothing_is_written(tmp_path):
    path = tmp_path / "a?b#c %41.sqlite"
    shutil.copy(sample(tmp_path / "x.sqlite").done(), path)
    path.chmod(0o400)
    before = path.read_bytes()
    assert len(nsys.read_traces(str(path))) == 1
    assert path.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} == {path.name, "x.sqlite"}


def test_names_of_tables_are_those_of_the_reader():
    assert {KERNEL, RUNTIME} <= {*dict(nsys.GPU), nsys.EVENTS.replace("CUDA_EVENT", "RUNTIME")}


@pytest.mark.parametrize("end", [2**63 - 1, 2**61, 31 * 24 * 3600 * 10**9])
def test_work_that_never_ended_is_left_out_and_told(tmp_path, end):
    export = sample(tmp_path / "x.sqlite")
    export.kernel(50, end, "void gemm<float>(int)", correlation=99)
    export.note(60, end, "step 9")
    (trace,) = nsys.read_traces(export.done())
    assert int(trace.events.end.max()) < 10_000
    assert (trace.events.correlation != 99).all()
    assert any("1 row of CUPTI_ACTIVITY_KIND_KERNEL without a usable time left out" in one for one in trace.told)


def test_kernels_without_names_may_be_communication(tmp_path):
    path = sample(tmp_path / "x.sqlite").done()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM StringIds WHERE value LIKE 'nccl%'")
    connection.close()
    (trace,) = nsys.read_traces(path)
    assert trace.collectives == ()
    assert any("no name of 2 of 4 kernels" in one and "communication is not known" in one for one in trace.told)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE StringIds")
    connection.close()
    (trace,) = nsys.read_traces(path)
    assert any("no name of 4 of 4 kernels" in one for one in trace.told)
