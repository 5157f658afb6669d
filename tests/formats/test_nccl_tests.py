"""nccl-tests console output in its four layouts, whole and damaged."""

from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.formats import nccl_rows, nccl_tests

LOGS = Path(__file__).parents[1] / "data" / "logs"
B_HEADER = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong\n"
)


def read(name):
    return nccl_tests.read(str(LOGS / name))


def text(tmp_path, lines: str | bytes):
    (tmp_path / "log").write_bytes(lines.encode() if isinstance(lines, str) else lines)
    return nccl_tests.read(str(tmp_path / "log"))


def row(size=65536, time="20.00", algbw="3.28", busbw="4.92", wrong="0", redop="sum", root="-1", dtype="float"):
    """A row of the layouts B and C, of an all-reduce of 4 ranks unless told."""
    half = f"  {time:>7}  {algbw:>6}  {busbw:>6}  {wrong:>6}"
    return f"{size:>12}  {size // 4:>12}  {dtype:>8}  {redop:>6}  {root:>6}{half}{half}\n"


def ranks(numbers):
    return "".join(f"#  Rank {n:2d} Group  0 Pid {n} on node device {n} [0000:01:00] GPU\n" for n in numbers)


@pytest.mark.parametrize(
    ("name", "layout", "benchmark", "ranks", "rows", "usable"),
    [
        ("nccl-a-all-reduce.log", "A", "all_reduce", 4, 5, 5),
        ("nccl-a-alltoall.log", "A", "alltoall", 4, 6, 4),
        ("nccl-b-all-gather-tagged-faulty.log", "B", "all_gather", 8, 7, 4),
        ("nccl-c-reduce-scatter-twice.log", "C", "reduce_scatter", 2, 6, 6),
        ("nccl-d-all-reduce.log", "D", "all_reduce", 8, 6, 6),
        ("nccl-d-all-reduce-timestamps.log", "D", "all_reduce", 8, 6, 6),
        ("nccl-headless-hydra.log", "B", "all_reduce", 4, 4, 4),
        ("nccl-one-rank.log", "C", "all_reduce", 1, 3, 3),
    ],
)
def test_layouts(name, layout, benchmark, ranks, rows, usable):
    table = read(name).tables[0]
    assert table.tool == "nccl-tests"
    assert table.measure == "time"
    assert table.facts["layout"] == layout
    assert (table.benchmark, table.ranks, table.rows, len(table)) == (benchmark, ranks, rows, usable)
    assert np.all(table.size > 0)
    assert np.all(table.time > 0)


def test_the_old_error_column_is_a_deviation():
    table = read("nccl-a-all-reduce.log").tables[0]
    assert table.facts["max_error"] == 5e-7
    assert "wrong" not in table.facts
    assert table.dropped == ()


def test_columns_are_in_si():
    table = read("nccl-d-all-reduce.log").tables[0]
    last = {name: float(column[-1]) for name, column in table.columns.items()}
    assert last["size"] == 2**26
    assert last["count"] == 2**24
    assert last["time"] == pytest.approx(1362.18e-6)
    assert last["algbw"] == pytest.approx(49.27e9)
    assert last["busbw"] == pytest.approx(86.22e9)
    assert last["time_min"] == pytest.approx(last["time"] * 0.9, rel=1e-4)
    assert last["time_max"] == pytest.approx(last["time"] * 1.2, rel=1e-4)
    assert last["time_p99"] == pytest.approx(last["time"] * 1.15, rel=1e-4)
    assert last["time_cv"] == pytest.approx(0.035)
    assert last["time_in_place"] == pytest.approx(1389.42e-6)
    assert last["time_cv_in_place"] == pytest.approx(0.0125)
    assert table.facts["peak_busbw"] == last["busbw"]
    assert table.facts["version"] == "2.19.1"
    assert table.facts["average_busbw"] == pytest.approx(30.5e9)


def test_titles_decide_and_not_places():
    plain, stamped = (read(f"nccl-d-all-reduce{end}.log").tables[0] for end in ("", "-timestamps"))
    assert plain.columns.keys() == stamped.columns.keys()
    for name, column in plain.columns.items():
        np.testing.assert_array_equal(column, stamped.columns[name])


def test_repetitions_stay_apart():
    first, second = read("nccl-c-reduce-scatter-twice.log").tables
    assert second.time == pytest.approx(2 * first.time, rel=1e-3)
    assert (first.line, second.line) == (12, 35)


def test_every_reason_to_drop_a_row_is_counted():
    log = read("nccl-b-all-gather-tagged-faulty.log")
    table = log.tables[0]
    assert {d.reason: (d.count, d.first_line) for d in table.dropped} == {
        nccl_rows.ZERO_SIZE: (1, 17),
        nccl_rows.WRONG: (1, 19),
        nccl_rows.PLACEHOLDER: (1, 22),
        nccl_rows.TORN: (1, 23),
        nccl_rows.ERROR_INSIDE: (1, 26),
        nccl_rows.BAD_TIME: (1, 27),
    }
    assert (table.facts["bad_rows"], table.facts["zero_size_rows"], table.facts["wrong"]) == (3, 1, 1)
    assert table.size.tolist() == [4096, 65536, 4194304, 67108864]
    assert "error" in log.notes[0]


def test_rows_without_a_header_say_so():
    table = read("nccl-headless-hydra.log").tables[0]
    assert any("assumed" in note for note in table.notes)
    assert table.facts["bad_rows"] == 1


@pytest.mark.parametrize(
    ("name", "letter"),
    [("nccl-a-all-reduce.log", "A"), ("nccl-a-alltoall.log", "A"), ("nccl-d-all-reduce.log", "D")],
)
def test_the_number_of_words_gives_the_layout_where_the_header_is_lost(tmp_path, name, letter):
    lines = [line for line in (LOGS / name).read_text().splitlines() if not line.startswith("#")]
    table = text(tmp_path, "\n".join(lines)).tables[0]
    whole = read(name).tables[0]
    assert table.facts["layout"] == letter
    for column in whole.columns:
        np.testing.assert_array_equal(table.columns[column], whole.columns[column])


def test_one_rank_uses_no_network():
    table = read("nccl-one-rank.log").tables[0]
    assert table.ranks == 1
    assert "no network" in table.notes[0]


@pytest.mark.parametrize(
    ("listed", "number", "note"),
    [
        (range(4), 4, None),
        (range(1, 4), 4, "damaged"),
        (range(8), None, "8 ranks are listed but busbw/algbw says 4"),
        ([11], None, "1 rank is listed, the highest as rank 11 of 12, but busbw/algbw says 4"),
        ([], 4, None),
    ],
)
def test_ranks_only_where_list_and_factor_agree(tmp_path, listed, number, note):
    rows = row(time="1362.18", algbw="49.27", busbw="73.90", size=2**26)
    table = text(tmp_path, "# nThread 1 nGpus 1\n" + ranks(listed) + B_HEADER + rows).tables[0]
    assert table.ranks == number
    assert table.facts["ranks_from_factor"] == (4, 4)
    assert table.facts["ranks_listed"] == len(listed)
    assert [note in text for text in table.notes] == [True] if note else table.notes == ()


def test_stretches_of_ranks_with_the_higher_first(tmp_path):
    """A launcher's note between the lists of two nodes, the second node's first: 4 ranks, 0 to 3."""
    listed = ranks([2, 3]) + "srun: a note\n" + ranks([0, 1])
    table = text(tmp_path, "# nThread 1 nGpus 1\n" + listed + B_HEADER + row(size=2**26)).tables[0]
    assert (table.ranks, table.facts["ranks_listed"], table.notes) == (4, 4, ())


def test_a_factor_that_fits_no_number_of_ranks(tmp_path):
    rows = row(algbw="3.28", busbw="4.92") + row(size=2**30, time="2000.0", algbw="500.00", busbw="499.00")
    table = text(tmp_path, ranks(range(4)) + B_HEADER + rows).tables[0]
    assert table.ranks is None
    assert "no factor fits" in table.notes[0]


def test_all_reduce_cannot_have_busbw_below_algbw(tmp_path):
    lines = "./all_reduce_perf -b 8\n" + B_HEADER + row(algbw="100.00", busbw="75.00")
    table = text(tmp_path, lines).tables[0]
    assert (table.benchmark, table.ranks) == ("all_reduce", None)
    assert "impossible" in table.notes[0]


def test_a_factor_that_no_number_of_ranks_has(tmp_path):
    lines = "./all_reduce_perf -b 8\n" + ranks(range(4)) + B_HEADER + row(algbw="100.00", busbw="250.00")
    table = text(tmp_path, lines).tables[0]
    assert table.ranks is None
    assert table.facts["ranks_from_factor"] is None
    assert "no whole number of ranks" in table.notes[0]


def test_factor_uses_fast_rows_where_there_are_any(tmp_path):
    slow, fast = row(algbw="0.01", busbw="0.02"), row(algbw="50.00", busbw="75.00")
    assert text(tmp_path, B_HEADER + slow + fast).tables[0].facts["factor"] == pytest.approx(1.5)
    assert text(tmp_path, B_HEADER + slow).tables[0].facts["factor"] == pytest.approx(2)


@pytest.mark.parametrize(
    ("redop", "root", "algbw", "busbw", "benchmark"),
    [
        ("sum", "-1", "50.00", "75.00", "all_reduce"),
        ("sum", "-1", "50.00", "37.50", "reduce_scatter"),
        ("sum", "-1", "50.00", "50.00", ""),
        ("sum", "0", "50.00", "50.00", "reduce"),
        ("none", "0", "50.00", "50.00", "broadcast"),
        ("none", "-1", "50.00", "37.50", ""),
        ("none", "0", "50.00", "37.50", ""),
    ],
)
def test_a_benchmark_is_inferred_only_where_it_is_unambiguous(tmp_path, redop, root, algbw, busbw, benchmark):
    rows = row(redop=redop, root=root, algbw=algbw, busbw=busbw)
    assert text(tmp_path, B_HEADER + rows).tables[0].benchmark == benchmark


@pytest.mark.parametrize(
    "line",
    [
        "$ mpirun -np 8 ./build/sendrecv_perf -b 8 -e 1G",
        "srun /opt/nccl-tests/sendrecv_perf_mpi -b 8",
        '"sendrecv_perf", "-b", "8"',
        "# Collective test starting: sendrecv_perf",
    ],
)
def test_a_command_line_names_the_benchmark(tmp_path, line):
    assert text(tmp_path, line + "\n" + B_HEADER + row()).tables[0].benchmark == "sendrecv"


def test_kinds_of_rows_that_are_mixed_are_told(tmp_path):
    table = text(tmp_path, B_HEADER + row(dtype="float") + row(dtype="half")).tables[0]
    assert "mixes 2 kinds" in table.notes[0]


@pytest.mark.parametrize("time", ["-1.00", "0.00", "nan", "inf", "1e999"])
def test_times_that_cannot_be(tmp_path, time):
    table = text(tmp_path, B_HEADER + row(time=time) + row()).tables[0]
    assert (table.rows, len(table)) == (2, 1)
    assert table.dropped[0].reason == nccl_rows.BAD_TIME


def test_an_in_place_time_that_cannot_be_leaves_the_other_half(tmp_path):
    line = row().rstrip().rsplit("20.00", 1)
    table = text(tmp_path, B_HEADER + line[0] + " 0.00" + line[1] + "\n").tables[0]
    assert len(table) == 1
    assert np.isnan(table.columns["time_in_place"][0])


def test_an_asterisk_marks_a_wrong_result(tmp_path):
    lines = (LOGS / "nccl-a-all-reduce.log").read_text().replace("5e-07\n", "5e-01*\n", 1)
    table = text(tmp_path, lines).tables[0]
    assert len(table) == 4
    assert table.dropped[0].reason == nccl_rows.WRONG


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (B_HEADER, "a table's header and nothing under it"),
        (ranks(range(3)), r"ranks are listed \(3\) but no table"),
        ("hello\n", "no nccl-tests table"),
        (B_HEADER + row(size=0), r"no usable row: 1 row dropped: size or count is 0.*first at line 2"),
        (B_HEADER + row(wrong="3"), "no usable row: 1 row dropped: the result was wrong"),
        (B_HEADER + row()[:60] + "\n", "torn row"),
        ("node: NCCL WARN Duplicate GPU detected : rank 1 and rank 0\n", "line 1: node: NCCL WARN Duplicate GPU"),
        ("node: Test CUDA failure common.cu:1 'uncorrectable ECC error'\n", "uncorrectable ECC error"),
        ("node: *** Segmentation fault\n" + B_HEADER, "nothing under it; the log says at line 1: .*Segmentation"),
    ],
)
def test_why_there_is_no_table(tmp_path, lines, why):
    with pytest.raises(FormatError, match=why) as error:
        text(tmp_path, lines)
    assert "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)


def test_a_good_table_before_an_empty_one_is_kept(tmp_path):
    log = text(tmp_path, B_HEADER + row() + "# Avg bus bandwidth    : 1\n" + B_HEADER + row(size=0))
    assert len(log.tables) == 1
    assert [(d.reason, d.first_line) for d in log.dropped] == [(nccl_rows.ZERO_SIZE, 5)]


def test_a_table_is_found_whatever_surrounds_it(tmp_path):
    plain = (LOGS / "nccl-c-reduce-scatter-twice.log").read_bytes()
    whole = read("nccl-c-reduce-scatter-twice.log")
    for change in (
        lambda line: b"    " + line,
        lambda line: line + b"\r",
        lambda line: b"[1,0]<stdout>:" + line,
        lambda line: b"0: " + line,
        lambda line: b"[0] " + line,
        lambda line: b"2026-02-03T10:11:12Z " + line,
        lambda line: b"\x1b[0m" + line + b"\x1b[K",
    ):
        log = text(tmp_path, b"\n".join(map(change, plain.split(b"\n"))))
        assert len(log.tables) == 2
        for table, before in zip(log.tables, whole.tables, strict=True):
            assert dict(table.facts) == dict(before.facts)
            assert (table.line, table.ranks, table.benchmark) == (before.line, before.ranks, before.benchmark)
            np.testing.assert_array_equal(table.time, before.time)


def test_many_rows_are_read_alike_in_one_piece_and_in_pieces(tmp_path, monkeypatch):
    rows = [row(size=2**16 + 4 * n, time=f"{20 + n / 7:.2f}") for n in range(3000)]
    rows[1234] = row(size=8)[:70] + "\n"
    whole = text(tmp_path, B_HEADER + "".join(rows)).tables[0]
    monkeypatch.setattr(nccl_rows, "MOST", 1)
    pieces = text(tmp_path, B_HEADER + "host NCCL INFO x\n".join(rows)).tables[0]
    assert len(whole) == 2999
    assert whole.facts["bad_rows"] == 1
    for name, column in whole.columns.items():
        np.testing.assert_array_equal(column, pieces.columns[name])
