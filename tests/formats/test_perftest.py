"""perftest's console output and its JSON report."""

from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.formats import perftest, perftest_json, perftest_titles
from hopline.formats.perftest_titles import columns

LOGS = Path(__file__).parents[1] / "data" / "logs"
MIB = 2.0**20
BW = b" #bytes     #iterations    BW peak[%b]    BW average[%b]   MsgRate[Mpps]\n"


def one(name):
    (table,) = perftest.read(str(LOGS / name)).tables
    return table


def written(tmp_path, text: bytes):
    (tmp_path / "log").write_bytes(text)
    return perftest.read(str(tmp_path / "log"))


def test_gaps_are_those_the_log_was_made_from():
    table = one("perftest-write-bw.log")
    gap = np.where(table.size < 4096, 0.4e-6, 0.25e-6 + table.size / 24e9)
    np.testing.assert_allclose(table.time, gap, rtol=1e-5)
    assert (table.tool, table.benchmark, table.measure, table.ranks) == ("perftest", "write_bw", "gap", 2)
    assert (len(table), table.facts["cpu_frequency_warnings"], table.facts["mtu"]) == (23, 23, 4096)
    np.testing.assert_allclose(table.columns["bandwidth"], table.size / gap, rtol=2e-3)


def test_the_better_printed_of_bandwidth_and_message_rate_counts(tmp_path):
    few_digits = BW % (b"MB/sec", b"MB/sec") + b" 2 5000 4.96 4.94 2.588087\n 8388608 5000 23326.82 23317.65 0.002915\n"
    (table,) = written(tmp_path, few_digits).tables
    assert table.time[0] == pytest.approx(1 / 2.588087e6, rel=1e-12)
    assert table.time[1] == pytest.approx(8388608 / (23317.65 * MIB), rel=1e-12)
    assert table.notes == ()


def test_bandwidth_and_message_rate_that_disagree(tmp_path):
    (table,) = written(tmp_path, BW % (b"MB/sec", b"MB/sec") + b" 65536 5000 1000.00 1000.00 0.5\n").tables
    assert table.time[0] == pytest.approx(65536 / (1000 * MIB))
    assert "do not agree" in table.notes[0]


@pytest.mark.parametrize(
    ("unit", "scale"), [(b"MB/sec", MIB), (b"MiB/sec", MIB), (b"Gb/sec", 1.25e8)], ids=["MB", "MiB", "Gb"]
)
def test_units(tmp_path, unit, scale):
    (table,) = written(tmp_path, BW % (unit, unit) + b" 65536 5000 100.00 100.00 0.0\n").tables
    assert table.columns["bandwidth"][0] == pytest.approx(100 * scale)
    assert table.time[0] == pytest.approx(65536 / (100 * scale))


def test_a_unit_that_is_not_known_is_not_guessed(tmp_path):
    with pytest.raises(FormatError, match="no perftest table"):
        written(tmp_path, BW % (b"GB/sec", b"GB/sec") + b" 65536 5000 1.00 1.00 0.0\n")


def test_a_read_latency_is_a_round_trip():
    table = one("perftest-read-lat.log")
    assert (table.benchmark, table.measure) == ("read_latency", "time")
    np.testing.assert_allclose(table.time, 2 * (1.5e-6 + table.size / 24e9), atol=5.1e-9)
    assert "whole round trip" in " ".join(table.notes)
    assert table.columns["time_p99"][0] == pytest.approx(3.3e-6)
    assert table.columns["time_avg"][0] == pytest.approx(3.03e-6)


def test_a_latency_of_an_unnamed_test_is_left_open(tmp_path):
    (table,) = written(tmp_path, b" #bytes #iterations    t_avg[usec]    tps average\n 2 1000 1.90 263157.89\n").tables
    assert table.benchmark == ""
    assert "does not name the test" in table.notes[0]


def test_server_and_client_in_one_file_count_once():
    table = one("perftest-loopback-interleaved.log")
    assert (table.rows, len(table), table.dropped[0].count) == (2, 1, 1)
    assert (table.facts["distinct_rows"], table.facts["header_lines"]) == (1, 2)
    assert "both print it" in table.dropped[0].reason
    assert "loopback" in " ".join(table.notes)


def test_one_copy_is_taken_and_a_third_is_a_run_of_its_own(tmp_path):
    run = (LOGS / "perftest-write-bw.log").read_bytes()
    assert len(written(tmp_path, run + run).tables) == 1
    assert len(written(tmp_path, run * 3).tables) == 2


def test_other_numbers_are_another_table(tmp_path):
    run = (LOGS / "perftest-write-bw.log").read_bytes()
    tables = written(tmp_path, run + run.replace(b"0.002", b"0.003")).tables
    assert [len(table) for table in tables] == [23, 23]


def test_a_server_that_prints_the_last_size_only(tmp_path):
    run = (LOGS / "perftest-write-bw.log").read_bytes()
    head, last = run[: run.index(b" 2 ")], run[run.index(b" 8388608") :]
    for text in (head + last + run, run + head + last):
        (table,) = written(tmp_path, text).tables
        assert (len(table), table.rows) == (23, 24)


def test_a_run_that_failed_lends_its_name_to_no_other(tmp_path):
    failed = (LOGS / "perftest-no-answer.log").read_bytes()
    (table,) = written(tmp_path, failed + (LOGS / "perftest-send-bw-ud.log").read_bytes()).tables
    assert (table.benchmark, table.facts["connection"]) == ("send_bw", "UD")


def test_both_ways_and_two_ports():
    table = one("perftest-send-bw-both-ways-dual-port.log")
    assert (table.benchmark, table.facts["qps"], table.facts["dual_port"]) == ("send_bw", 2, "ON")
    np.testing.assert_allclose(table.columns["bandwidth"], 2 * 190e9 / 8)
    np.testing.assert_allclose(table.columns["bandwidth_port1"], 190e9 / 8)
    np.testing.assert_allclose(table.time, table.size / (190e9 / 8), rtol=2e-5)


def test_duration_mode():
    bandwidth, latency = perftest.read(str(LOGS / "perftest-duration.log")).tables
    assert (bandwidth.benchmark, latency.benchmark) == ("write_bw", "send_latency")
    assert "bandwidth_peak" not in bandwidth.columns
    assert "not measured" in " ".join(bandwidth.notes)
    assert latency.time[0] == pytest.approx(1.9e-6)
    assert latency.columns["transactions"][0] == pytest.approx(263157.89)


def test_datagrams_end_at_the_mtu():
    table = one("perftest-send-bw-ud.log")
    assert table.facts["connection"] == "UD"
    assert "range too short" in " ".join(table.notes)


def test_a_run_that_failed_says_why():
    with pytest.raises(FormatError, match=r"no row: .* the log says at line 19: Completion with error at client"):
        perftest.read(str(LOGS / "perftest-no-answer.log"))


@pytest.mark.parametrize("row", [b" 65536 5000 1 0 0", b" 0 5000 1 1 1", b" 65536 5000 1 1", b" 65536 5000 1 nan 1"])
def test_rows_that_cannot_be(tmp_path, row):
    log = written(tmp_path, BW % (b"MB/sec", b"MB/sec") + b" 8 5000 30.00 30.00 3.932160\n" + row + b"\n")
    assert (len(log.tables[0]), log.tables[0].rows) == (1, 2)
    assert log.tables[0].dropped[0].first_line == 3


@pytest.mark.parametrize(
    ("title", "word", "both"),
    [
        (b"RDMA_Write BW Test", "write_bw", False), (b"Send Latency Test", "send_latency", False),
        (b"RDMA_Read Latency Test", "read_latency", False), (b"Send Bidirectional BW Test", "send_bw", True),
        (b"Atomic FETCH_AND_ADD BW Test", "atomic_bw", False), (b"RDMA_Write Post List BW Test", "write_bw", False),
        (b"Send BW Multicast Test", "send_bw", False), (b"RDMA_Write_imm BW Test", "write_imm_bw", False),
    ],
)  # fmt: skip
def test_titles(title, word, both):
    found = perftest_titles.test(title)
    assert (found.benchmark, found.bidirectional) == (word, both)


def test_columns_of_headers_with_more_in_them():
    with_cpu = columns((BW % (b"MB/sec", b"MB/sec")).strip() + b"    CPU_Util[%%]")
    assert with_cpu.names[-1] == "cpu"
    old = columns(b"#bytes #iterations    BW peak[MB/sec]    BW average[MB/sec]")
    assert old.names == ("size", "iterations", "bandwidth_peak", "bandwidth")
    qos = columns(b"#bytes    #sl      #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]")
    assert qos.names[1] == "service_level"


def test_reports_of_one_test_are_one_table():
    (table,) = perftest_json.read(str(LOGS / "perftest-report.json")).tables
    assert (table.benchmark, table.facts["unit"], table.facts["device"]) == ("write_bw", "Gb", "mlx5_3")
    np.testing.assert_allclose(table.time, 0.3e-6 + table.size / 24.5e9, rtol=5e-5)


@pytest.mark.parametrize(
    ("average", "rate", "unit"),
    [(2233.02, "0.035728", "MiB"), (18.73, "0.035728", "Gb"), (999.0, "0.035728", None)],
)
def test_the_unit_of_a_report_is_found_or_the_row_left_out(tmp_path, average, rate, unit):
    report = '{"test_info": {"test": "Send_BW_Test"}, "results": {"MsgSize": 65536, "n_iterations": 1000,'
    (tmp_path / "report").write_text(f'{report} "BW_peak": 0.00, "BW_average": {average}, "MsgRate": {rate}}}}}')
    if unit is None:
        with pytest.raises(FormatError, match="1 row dropped: the unit of the bandwidth is not stated"):
            perftest_json.read(str(tmp_path / "report"))
    else:
        assert perftest_json.read(str(tmp_path / "report")).tables[0].facts["unit"] == unit


def test_a_cut_report(tmp_path):
    (tmp_path / "report").write_bytes((LOGS / "perftest-report.json").read_bytes()[:-20])
    with pytest.raises(FormatError, match="not a whole perftest report"):
        perftest_json.read(str(tmp_path / "report"))


def test_a_report_with_a_key_without_quotes_is_read(tmp_path):
    """A service level stands there bare: ``sl: 0``."""
    whole = (LOGS / "perftest-report.json").read_text()
    file = tmp_path / "report.json"
    file.write_text(whole.replace("{\n", "{\nsl: 0,\n", 1))
    bare, plain = (perftest_json.read(str(path)) for path in (file, LOGS / "perftest-report.json"))
    assert [table.time.tolist() for table in bare.tables] == [table.time.tolist() for table in plain.tables]
