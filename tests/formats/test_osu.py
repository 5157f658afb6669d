"""OSU micro-benchmarks."""

from pathlib import Path

import pytest

from hopline.errors import FormatError
from hopline.formats import osu

LOGS = Path(__file__).parents[1] / "data" / "logs"


def read(name):
    return osu.read(str(LOGS / name))


def text(tmp_path, lines: str):
    (tmp_path / "log").write_text(lines)
    return osu.read(str(tmp_path / "log"))


def test_tables_of_several_pairs_are_never_merged():
    log = read("osu-pairs.out")
    assert [(t.benchmark, t.measure, t.title, len(t), t.ranks) for t in log.tables] == [
        ("latency", "time", "node-1 node-2", 6, 2),
        ("bw", "gap", "node-1 node-2", 4, 2),
        ("bibw", "gap", "node-1 node-3", 4, 2),
    ]
    assert log.kind == "osu"


def test_latency_keeps_its_empty_message():
    latency = read("osu-pairs.out").tables[0]
    assert latency.size[0] == 0
    assert latency.time[0] == pytest.approx(1.5e-6)
    assert latency.facts["memory_send"] == "H"
    assert latency.facts["memory_receive"] == "D"
    assert (latency.facts["first_row"], latency.facts["last_row"]) == ("0 1.50", "1048576 90.50")
    assert latency.facts["version"] == "5.8"


def test_a_gap_is_the_time_a_message_adds_for_one_pair_in_one_direction():
    _, bw, bibw = read("osu-pairs.out").tables
    mbw = read("osu-mbw-mr.out").tables[0]
    expected = bw.size / bw.columns["bandwidth"]
    assert bw.time == pytest.approx(expected)
    assert bw.columns["bandwidth"][-1] == pytest.approx(23500.75e6)
    assert bibw.time == pytest.approx(expected, rel=1e-3)
    assert mbw.time == pytest.approx(expected, rel=1e-3)
    assert (mbw.facts["pairs"], mbw.facts["window"], mbw.ranks) == (4, 64, 8)
    assert "both directions" in bibw.notes[0]
    assert "4 pairs" in mbw.notes[0]


def test_numbers_in_what_follows_a_table_are_no_rows():
    assert read("osu-pairs.out").tables[-1].rows == 4


def test_full_columns():
    table = read("osu-allreduce-full.out").tables[0]
    assert table.benchmark == "all_reduce"
    assert list(table.columns) == ["size", "time", "time_min", "time_max", "iterations"]
    assert table.columns["time_max"][-1] == pytest.approx(108.6e-6)
    assert table.ranks is None


def test_rows_that_failed_validation_are_dropped():
    table = read("osu-alltoall-validation.out").tables[0]
    assert (table.rows, len(table)) == (5, 4)
    assert [(d.reason, d.count, d.first_line) for d in table.dropped] == [(osu.FAILED, 1, 6)]
    assert (table.facts["validation_pass"], table.facts["validation_fail"]) == (4, 1)


def test_non_blocking_tests_give_the_overall_time():
    table = read("osu-iallreduce.out").tables[0]
    assert table.benchmark == "nonblocking_all_reduce"
    assert table.time[0] == pytest.approx(3.34e-6)
    assert table.columns["overlap"][0] == pytest.approx(0.805)
    assert table.columns["compute"][0] == pytest.approx(1.52e-6)


def test_a_crash_is_told():
    with pytest.raises(FormatError, match=r"nothing under it; the log says at line 4: .*Segmentation fault") as error:
        read("osu-crash.out")
    assert "\n" not in str(error.value)


def test_no_table_at_all(tmp_path):
    with pytest.raises(FormatError, match="no OSU table"):
        text(tmp_path, "node-1\nnode-2\n")


def test_rows_after_an_interruption_are_counted_and_not_used(tmp_path):
    head = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n1 2.0\n"
    table = text(tmp_path, head + "WARNING: something\n2 2.5\n4 3.0\n").tables[0]
    assert len(table) == 1
    assert [(d.reason, d.count, d.first_line) for d in table.dropped] == [(osu.LATE, 2, 5)]


@pytest.mark.parametrize("row", ["8", "8 1 2", "8 x", "8 -1.0", "8 nan", "8 inf", "8 0.00", "8.5 2.0", "1e30 2"])
def test_rows_that_hold_no_measurement(tmp_path, row):
    head = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n"
    table = text(tmp_path, f"{head}1 2.0\n{row}\n16 3.0\n").tables[0]
    assert table.size.tolist() in ([1, 16], [1])
    with pytest.raises(FormatError, match=r"OSU|row"):
        text(tmp_path, f"{head}{row}\n")


def test_a_bandwidth_of_zero_has_no_gap(tmp_path):
    table = text(
        tmp_path, "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n0 1.0\n1 0.00\n2 4.0\n"
    ).tables[0]
    assert table.size.tolist() == [2]
    assert table.dropped[0].count == 2


def test_a_datatype_may_stand_before_or_after_the_titles(tmp_path):
    for lines in ("# Datatype: MPI_INT.\n# Size  Latency (us)\n", "# Size  Latency (us)\n# Datatype: MPI_INT.\n"):
        assert len(text(tmp_path, f"# OSU MPI Latency Test v7.5\n{lines}1 2.0\n").tables[0]) == 1


def test_a_barrier_has_no_sizes(tmp_path):
    table = text(tmp_path, "# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n             3.25\n").tables[0]
    assert (table.size.tolist(), table.benchmark) == ([0], "barrier")


@pytest.mark.parametrize(
    ("title", "benchmark"),
    [
        ("MPI Multi Latency", "multi_lat"),
        ("MPI_Put Latency", "put_latency"),
        ("MPI_Get Bandwidth", "get_bw"),
        ("MPI Broadcast Latency", "broadcast"),
        ("MPI Reduce_scatter Latency", "reduce_scatter"),
        ("MPI Reduce Latency", "reduce"),
        ("MPI Allgatherv Latency", "all_gatherv"),
        ("MPI-ROCM All-to-All Personalized Exchange Latency", "alltoall"),
        ("MPI Persistent Allreduce Latency", "persistent_all_reduce"),
        ("MPI Multi-threaded Latency", "latency_mt"),
    ],
)
def test_titles(tmp_path, title, benchmark):
    columns = "Bandwidth (MB/s)" if "Bandwidth" in title else "Latency (us)"
    table = text(tmp_path, f"# OSU {title} Test v6.1\n# Size      {columns}\n8  2.0\n").tables[0]
    assert table.benchmark == benchmark
    assert table.facts["title"] == f"{title} Test"
