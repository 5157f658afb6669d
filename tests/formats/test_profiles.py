"""The two published layouts of collectives in comma-separated values; all numbers here are invented."""

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.formats import aiconfigurator, vidur
from hopline.jobs.fitting import read

HEAD = "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency"
ROW = "F,2.29.2,NVIDIA H100 80GB HBM3,all_reduce,NCCL,half,8,{},{}"
STATS = ",".join(f"time_stats.{{name}}.{stat}" for stat in ("min", "max", "mean", "median", "std"))
VIDUR = f",{STATS},rank,num_workers,size,collective,devices_per_node,max_devices_per_node"


def file(tmp_path, *lines, name="table.csv"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def send(rank, size, median, each=2, name="send_recv", ranks=2):
    return f"0,0.001,9.0,5.0,{median},0.1,{rank},{ranks},{size},{name},{each},8"


def reasons(log):
    return {dropped.reason: dropped.count for part in (log, *log.tables) for dropped in part.dropped}


def test_elements_become_bytes_and_milliseconds_seconds(tmp_path):
    log = read(file(tmp_path, HEAD, ROW.format(256, 0.01), ROW.format(512, 0.02)))
    (table,) = log.tables
    assert (log.kind, table.benchmark, table.ranks, table.line) == ("aiconfigurator", "all_reduce", 8, 2)
    assert table.size.tolist() == [512, 1024]
    assert table.time.tolist() == pytest.approx([1e-5, 2e-5])
    assert dict(table.facts) == {
        "type": "half", "device": "NVIDIA H100 80GB HBM3", "library": "NCCL", "nccl_version": "2.29.2",
    }  # fmt: skip
    assert table.title == "half, NVIDIA H100 80GB HBM3, NCCL 2.29.2"


@pytest.mark.parametrize(
    ("kind", "each"),
    [("half", 2), ("int8", 1), ("float", 4), ("double", 8), ("bfloat16", 2), ("f8e4m3", 1), ("int64", 8)],
)
def test_bytes_of_an_element_go_by_its_type(tmp_path, kind, each):
    (table,) = read(file(tmp_path, HEAD, ROW.format(100, 1).replace("half", kind))).tables
    assert table.size.tolist() == [100 * each]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("half", "int8"),
        ("all_reduce", "all_gather"),
        (",8,", ",4,"),
        ("2.29.2", "2.30.3"),
        ("H100", "H200"),
        ("NCCL", "own"),
    ],
)
def test_what_differs_is_another_table(tmp_path, old, new):
    one, other = ROW.format(64, 1), ROW.format(64, 2).replace(old, new)
    tables = read(file(tmp_path, HEAD, one, other, one)).tables
    assert [len(table) for table in tables] == [2, 1]
    assert tables[0].title != tables[1].title or old in ("all_reduce", ",8,")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("half,8,256,nan", "the time or bandwidth cannot be"),
        ("half,8,256,-0.1", "the time or bandwidth cannot be"),
        ("half,8,256,0", "the time or bandwidth cannot be"),
        ("half,8,256,inf", "the time or bandwidth cannot be"),
        ("half,8,256,1_0", "the time or bandwidth cannot be"),
        ("half,8,256.3,1", "the size is no whole number"),
        ("half,8,nan,1", "the size is no whole number"),
        ("half,8,-4,1", "the size is no whole number"),
        ("quarter,8,256,1", "the bytes of data type 'quarter' are not known"),
        ("half,eight,256,1", "the number of ranks is no whole number"),
        ("half,0,256,1", "the number of ranks is no whole number"),
        ("half,-2,256,1", "the number of ranks is no whole number"),
        ("half,2.5,256,1", "the number of ranks is no whole number"),
        ("half,8,256", "torn row"),
        ('half,8,"256,1', "torn row"),
    ],
)
def test_bad_rows_are_dropped_with_the_reason(tmp_path, cells, reason):
    good = ROW.format(1024, 0.5)
    bad = good[: good.index("half")] + cells
    log = read(file(tmp_path, HEAD, good, bad, bad))
    assert [table.size.tolist() for table in log.tables] == [[2048]]
    ((told, count),) = reasons(log).items()
    assert told.startswith(reason)
    assert count == 2
    with pytest.raises(FormatError, match=f"no usable row: 1 row dropped: {reason}.*line 2"):
        read(file(tmp_path, HEAD, bad))


@pytest.mark.parametrize(
    "column", ["version", "device", "op_name", "kernel_source", "nccl_dtype", "num_gpus", "latency"]
)
def test_a_missing_column_is_named(tmp_path, column):
    with pytest.raises(FormatError, match=f"line 1: the header has no column {column}: expected the columns of aiconf"):
        read(file(tmp_path, HEAD.replace(column, "other"), ROW.format(1, 1)))


def test_no_header_no_row_and_two_columns_of_a_name(tmp_path):
    with pytest.raises(FormatError, match="a header of aiconfigurator and no row under it"):
        read(file(tmp_path, HEAD))
    with pytest.raises(FormatError, match="two columns are called 'latency'"):
        read(file(tmp_path, HEAD.replace("device", "latency"), ROW.format(1, 1)))
    with pytest.raises(FormatError, match="no table of aiconfigurator"):
        aiconfigurator.read(file(tmp_path, "size,time", "1,2"))
    with pytest.raises(FormatError, match="none of the logs"):
        read(file(tmp_path, HEAD.replace("message_size", "other"), ROW.format(1, 1)))


def test_columns_go_by_their_names(tmp_path):
    head = HEAD.split(",")
    order = [8, 2, 0, 7, 5, 1, 6, 3, 4]
    row = ROW.format(256, 0.01).split(",")
    (table,) = read(file(tmp_path, ",".join(head[i] for i in order), ",".join(row[i] for i in order))).tables
    assert (table.size.tolist(), table.time.tolist()) == ([512], [pytest.approx(1e-5)])


def test_files_one_after_the_other_and_quotes(tmp_path):
    quoted = ROW.format(256, 0.01).replace("NVIDIA H100 80GB HBM3", '"NVIDIA H100, 80GB"')
    lines = [HEAD, quoted, "", HEAD.replace("latency", "x,latency"), ROW.format(256, "7,0.02") + "\r"]
    assert [t.time.tolist()[0] for t in read(file(tmp_path, *lines)).tables] == pytest.approx([1e-5, 2e-5])


def test_the_median_over_ranks_is_the_time(tmp_path):
    head = VIDUR.format(name="send_recv")
    rows = [send(0, 4096, 0.04), send(1, 4096, 0.02), send(0, 2048, 0.01), send(2, 4096, 0.03)]
    log = read(file(tmp_path, head, *rows))
    (table,) = log.tables
    assert (log.kind, table.benchmark, table.ranks, table.rows) == ("vidur", "send", 2, 4)
    assert table.size.tolist() == [2048, 4096]
    assert table.time.tolist() == pytest.approx([1e-5, 3e-5])
    assert dict(table.facts) == {"devices_per_node": 2, "most_devices_per_node": 8}
    assert table.title == "2 of 2 on a node"


def test_placements_are_tables_of_their_own(tmp_path):
    head = VIDUR.format(name="send_recv")
    tables = read(file(tmp_path, head, send(0, 8, 1, each=1), send(0, 8, 2, each=2), send(1, 8, 3, each=1))).tables
    assert [(t.facts["devices_per_node"], t.time.tolist()) for t in tables] == [(1, [2e-3]), (2, [2e-3])]


def test_the_machine_of_the_path_is_told_as_such(tmp_path):
    lines = VIDUR.format(name="all_reduce"), send(0, 8, 1, name="all_reduce", each=4, ranks=4)
    (table,) = read(file(tmp_path, *lines, name="h100_pairwise_nvlink/all_reduce.csv")).tables
    assert table.facts["machine"] == "h100_pairwise_nvlink"
    assert "the file does not say it" in table.notes[0]
    (table,) = read(file(tmp_path, *lines, name="x/some.csv")).tables
    assert "machine" not in table.facts


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("0,2,2048", "zero,2,2048", "the rank is no number"),
        ("0,2,2048", "0,nan,2048", "the number of ranks is no whole number"),
        (",2,8", ",0,8", "the number of devices a node is no whole number"),
        (",2,8", ",2,x", "the number of devices a node has is no whole number"),
        ("send_recv", "all_reduce", "no column holds the times of all_reduce"),
        ("send_recv", "9", "the name of the collective is none"),
        ("2048", "20.48", "the size is no whole number"),
        ("0.5,0.1", "nan,0.1", "the time or bandwidth cannot be"),
        ("0.5,0.1", "-1,0.1", "the time or bandwidth cannot be"),
        ("0.5,0.1", ",0.1", "the time or bandwidth cannot be"),
    ],
)
def test_bad_rows_of_profiles_are_dropped_with_the_reason(tmp_path, old, new, reason):
    good, bad = send(0, 64, 0.5), send(0, 2048, 0.5).replace(old, new)
    log = read(file(tmp_path, VIDUR.format(name="send_recv"), good, bad))
    assert [table.size.tolist() for table in log.tables] == [[64]]
    ((told, count),) = reasons(log).items()
    assert told.startswith(reason)
    assert count == 1


@pytest.mark.parametrize("column", ["rank", "size", "collective", "devices_per_node", "time_stats.send_recv.median"])
def test_a_missing_column_of_a_profile_is_named(tmp_path, column):
    head = VIDUR.format(name="send_recv")
    shown = column.replace("send_recv", "COLLECTIVE")
    names = ["" if name == column else name for name in head.split(",")]
    names[0] = "index"
    with pytest.raises(FormatError, match=f"has no column {shown}: expected the columns of vidur"):
        read(file(tmp_path, ",".join(names), send(0, 8, 1)))


def test_a_row_order_does_not_matter_for_the_medians(tmp_path):
    rng = np.random.default_rng(3)
    sizes, times = rng.integers(1, 40, 300), rng.uniform(0.1, 9, 300)
    rows = [send(i % 4, m, t) for i, (m, t) in enumerate(zip(sizes, times, strict=True))]
    (table,) = vidur.read(file(tmp_path, VIDUR.format(name="send_recv"), *rows)).tables
    assert table.size.tolist() == sorted(set(sizes.tolist()))
    for size, time in zip(table.size, table.time, strict=True):
        assert time == pytest.approx(np.median(times[sizes == size]) * 1e-3)
