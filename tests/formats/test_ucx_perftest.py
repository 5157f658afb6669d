"""ucx_perftest: boxes of all releases, intervals and final rows, sizes that nothing states."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.errors import FormatError
from hopline.formats import osu, ucx_perftest
from hopline.formats.ucx_lines import Protocols
from hopline.formats.ucx_sizes import Printed, common, roundest

LOGS = Path(__file__).parents[1] / "data" / "logs"
MIB = 2.0**20
HEADER = (
    (LOGS / "ucx-put-bw-intervals.log").read_text().partition("| Window")[2].partition("\n")[2].partition("[thread")[0]
)


def one(name):
    (table,) = ucx_perftest.read(str(LOGS / name)).tables
    return table


def written(tmp_path, text: str):
    (tmp_path / "log").write_text(text)
    return ucx_perftest.read(str(tmp_path / "log"))


def test_intervals_count_and_the_final_row_does_not():
    table = one("ucx-put-bw-intervals.log")
    assert (table.benchmark, table.measure, len(table)) == ("put_bw", "gap", 6)
    assert (table.facts["final_rows"], table.facts["title"], table.facts["ucx_log_lines"]) == (1, "put bandwidth", 1)
    assert set(table.size) == {4.0 * MIB}
    np.testing.assert_allclose(table.time[1:], 350e-6, rtol=1e-3)
    np.testing.assert_allclose(table.columns["bandwidth"], table.size / table.time, rtol=1e-5)


def test_a_final_row_alone_is_the_result(tmp_path):
    (table,) = written(
        tmp_path, HEADER + "Final:   1000  0.000  986.122  986.122  9670.96  9670.96  1014  1014\n"
    ).tables
    assert (table.size[0], table.time[0]) == (10e6, pytest.approx(986.122e-6))
    assert "message size not stated: 10.00 MB" in table.notes[0]


def test_rows_of_several_threads_say_so(tmp_path):
    row = "[thread {}] 1000  0.000  500.000  500.000  2000.00  2000.00  2000  2000\n"
    (table,) = written(tmp_path, HEADER + row.format(0) + row.format(1)).tables
    assert "2 threads" in " ".join(table.notes)


def test_the_final_row_of_several_threads(tmp_path):
    (table,) = written(tmp_path, HEADER + "Final:            1000       500.000        2000.00        2000\n").tables
    assert table.size[0] == 2**20
    assert np.isnan(table.columns["time_p50"][0])


def test_thousands_may_be_parted(tmp_path):
    (table,) = written(
        tmp_path, HEADER + "Final:   1,000  0.000  500.000  500.000  2000.00  2000.00  2,000  2,000\n"
    ).tables
    assert table.columns["iterations"][0] == 1000


def test_a_batch_is_one_table_of_many_sizes():
    table = one("ucx-tag-lat-batch.log")
    assert (table.benchmark, table.measure) == ("tag_latency", "time")
    assert table.size.tolist() == [1, 16, 256, 4096, 65536, 2**20]
    np.testing.assert_allclose(table.time, 1.4e-6 + table.size / 12e9, atol=1e-9)


def test_tests_of_a_batch_are_tables_of_their_own(tmp_path):
    row = "Final:   1000  0.000  500.000  500.000  2000.00  2000.00  2000  2000\n"
    names = ["+tag_bw/a------+\n", "+put_bw/a------+\n", "+put_bw/b------+\n"]
    tables = written(tmp_path, HEADER + "".join(name + row for name in names)).tables
    assert [(table.benchmark, len(table)) for table in tables] == [("tag_bw", 1), ("put_bw", 2)]


def test_the_old_box_and_a_command_line():
    table = one("ucx-old-typical.log")
    assert (table.benchmark, table.facts["percentile"], set(table.size)) == ("tag_bw", "typical", {100_000.0})
    np.testing.assert_allclose(table.time, [9.0e-6, 9.1e-6])


def test_comma_separated_output_says_what_it_does_not_state():
    table = one("ucx-final-only.csv")
    assert (table.size[0], table.time[0]) == (4096, pytest.approx(2.05e-6))
    assert "latencies or gaps" in " ".join(table.notes)


def test_a_percentile_of_another_rank_has_its_name(tmp_path):
    text = (
        HEADER.replace("50.0%ile", "99.0%ile") + "Final:   1000  9.000  5.000  5.000  195.31  195.31  200000  200000\n"
    )
    assert written(tmp_path, text).tables[0].columns["time_p99"][0] == pytest.approx(9e-6)


def test_what_moves_by_get_answers(tmp_path):
    text = HEADER.replace("overhead", "latency") + "Final:   1000  0.0  2.000  2.000  3.81  3.81  500000  500000\n"
    (table,) = written(tmp_path, "$ ucx_perftest -t ucp_get -s 8 h\n" + text).tables
    assert (table.benchmark, table.size[0]) == ("get_latency", 8)
    assert "whole round trip" in " ".join(table.notes)


def test_an_unnamed_latency_is_left_open(tmp_path):
    text = HEADER.replace("overhead", "latency") + "Final:   1000  0.0  2.000  2.000  3.81  3.81  500000  500000\n"
    assert written(tmp_path, text).tables[0].benchmark == ""


def interval_rows(rates: list[float]) -> str:
    lines, total = [], 0.0
    for number, rate in enumerate(rates, 1):
        gap = 2**30 / (rate * MIB) * 1e6
        total += gap
        overall = 2**30 / (total / number) * 1e6 / MIB
        lines.append(f"[thread 0] {number} 1.000 {gap:.3f} {total / number:.3f} {rate:.2f} {overall:.2f} 1 1")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("rates", "word"),
    [([40000, 11513, 11514, 11513, 11514], "the interval column is the plateau (12.07 GB/s)"),
     ([18000, 7500, 457, 8400, 1900], "unstable, no plateau"), ([11500, 11513, 11514, 11513], "")],
)  # fmt: skip
def test_plateau_or_jitter(tmp_path, rates, word):
    notes = written(tmp_path, HEADER + interval_rows(rates)).tables[0].notes[1:]
    assert (word in " ".join(notes)) if word else notes == ()


def test_sizes_that_do_not_fit_together_are_refused(tmp_path):
    rows = "[thread 0] 1 1 500.000 500.000 2000.00 2000.00 1 1\n[thread 0] 2 1 500.000 500.000 1000.00 1000.00 1 1\n"
    with pytest.raises(FormatError, match="2 rows dropped: no message size is stated"):
        written(tmp_path, HEADER + rows)


@given(st.integers(1, 2**33), st.floats(0.5, 1e5))
def test_the_size_lies_in_what_the_digits_allow(size, time):
    time = round(time, 3)
    bandwidth = size / time * 1e6 / MIB
    printed = Printed.of([b"9", b"1", *[b"%.3f" % time] * 2, *[b"%.2f" % bandwidth] * 2, b"1", b"1"], 1, False)
    low, high = printed.sizes
    assert low <= size <= high
    found = common([printed])
    assert np.isnan(found) or low <= found <= high


@given(st.integers(1, 2**40), st.integers(0, 2**20))
def test_the_roundest_number_lies_inside(low, width):
    assert low <= roundest(low, low + width) <= low + width


def test_protocol_tables_tell_rendezvous_from_their_lanes():
    found = Protocols()
    for line in (
        b"[1700000000.1] [a:1:0]   | mpi ep_cfg[2] | tagged message by ucp_tag_send*() from host memory |",
        b"[1700000000.1] [a:1:0]   |       0..8184 | eager short      | self/memory0 |",
        b"[1700000000.1] [a:1:0]   |     9000..inf | (?) rendezvous x | 55% on knem/memory |",
        b"[1700000000.1] [a:1:0]   | mpi ep_cfg[3] | tagged message by ucp_tag_send*() from cuda/GPU0 |",
        b"[1700000000.1] [a:1:0]   |   70000..inf | (?) rendezvous pipeline | rc_mlx5/mlx5_0:1 |",
    ):
        assert found.line(line)
    assert not found.line(b"# MPI_Init() took 12.5 msec")
    assert found.rendezvous == {"ep_cfg2_rendezvous_from": 9000, "cuda_rendezvous_from": 70000}
    assert found.facts()["mpi_init_ms"] == 12.5


def test_protocols_are_facts_of_an_osu_table(tmp_path):
    (tmp_path / "log").write_text(
        "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n"
        "[1700000000.1] [a:1:0]   | mpi ep_cfg[3] | tagged message by ucp_tag_send*() from host memory |\n"
        "[1700000000.1] [a:1:0]   |   17298..inf | (?) rendezvous x | rc_mlx5/mlx5_0:1 |\n1   1.5\n2   3.0\n"
    )
    (table,) = osu.read(str(tmp_path / "log")).tables
    assert (len(table), table.facts["host_rendezvous_from"], table.facts["ucx_log_lines"]) == (2, 17298, 2)
