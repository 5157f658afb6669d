"""NetPIPE, nccom-test, ucc_perftest and the JSON file of nccl-tests."""

import json
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.formats import nccl_json, nccom, netpipe, ucc

LOGS = Path(__file__).parents[1] / "data" / "logs"


def one(reader, name):
    (table,) = reader(str(LOGS / name)).tables
    return table


def written(tmp_path, reader, text: str):
    (tmp_path / "log").write_text(text)
    return reader(str(tmp_path / "log"))


# --- NetPIPE ------------------------------------------------------------------------------------------------------


def test_netpipe_times_are_one_way():
    table = one(netpipe.read, "netpipe-tcp.log")
    assert (table.tool, table.benchmark, table.measure, table.ranks) == ("netpipe", "latency", "time", 2)
    np.testing.assert_allclose(table.time, 7.5e-6 + table.size / 1.15e9, atol=5.1e-9)
    np.testing.assert_allclose(table.columns["bandwidth"], table.size / table.time, rtol=5e-3)
    assert table.notes == ()


def test_a_mail_archive():
    table = one(netpipe.read, "netpipe-archive.html")
    assert (len(table), table.title) == (12, "nodea nodeb")
    np.testing.assert_array_equal(table.time, one(netpipe.read, "netpipe-tcp.log").time[:12])


def test_runs_of_one_file_stay_apart(tmp_path):
    run = (LOGS / "netpipe-tcp.log").read_text()
    rows_only = run.partition("loop\n")[2]
    assert [len(table) for table in written(tmp_path, netpipe.read, run + run).tables] == [31, 31]
    assert [len(table) for table in written(tmp_path, netpipe.read, rows_only * 3).tables] == [31] * 3


@pytest.mark.parametrize(
    ("rate", "word"), [("8000.00", ""), ("16000.00", "both ways"), ("3000.00", "does not agree")]
)  # fmt: skip
def test_bandwidth_and_time_are_compared(tmp_path, rate, word):
    row = f"  0: 1048576 bytes    100 times -->  {rate} Mbps in    1000.00 usec\n"
    notes = written(tmp_path, netpipe.read, row).tables[0].notes
    assert (word in notes[0]) if word else notes == ()


def test_release_5_prints_units_of_its_own(tmp_path):
    rows = ""
    for number, size in enumerate((1, 999, 1027, 131072, 1048579, 33554432), 1):
        time = 2e-6 + size / 10e9
        scaled = f"{size:7d}  B" if size < 1e3 else f"{size / 1e3:7.3f} KB" if size < 1e6 else f"{size / 1e6:7.3f} MB"
        rate = size * 8 / time
        fast = f"{rate / 1e6:7.3f} Mbps" if rate < 1e9 else f"{rate / 1e9:7.3f} Gbps"
        spent = f"{time * 1e6:7.3f} usecs" if time < 1e-3 else f"{time * 1e3:7.3f} msecs"
        rows += f"{number:3d}: \x1b[36m{scaled}\x1b[0m     5000 times -->  \x1b[35m{fast}\x1b[0m  in  {spent}\n"
    (table,) = written(tmp_path, netpipe.read, rows).tables
    assert table.size.tolist() == [1, 999, 1027, 131072, 1049000, 33554000]
    np.testing.assert_allclose(table.time, 2e-6 + np.array([1, 999, 1027, 131072, 1048579, 33554432]) / 10e9, rtol=3e-4)
    np.testing.assert_allclose(table.columns["bandwidth"], table.size / table.time, rtol=1e-3)
    assert table.notes == ("sizes from 1 MB on are printed rounded (to 0.05 % at most)",)


def test_a_unit_that_the_old_release_has_not(tmp_path):
    with pytest.raises(FormatError, match="1 row dropped"):
        written(tmp_path, netpipe.read, "  0: 8 bytes 9 times -->  8.00 Gbps in 8.00 usec\n")


def test_rows_that_netpipe_lost(tmp_path):
    text = "  0: 8 bytes 9 times -->  8.00 Mbps in 8.00 usec\n  1: 9 bytes 9 times -->  8.\n  2: 9 bytes 9 times --> 8.00 Mbps in 0.00 usec\n"
    table = written(tmp_path, netpipe.read, text).tables[0]
    assert (len(table), table.rows) == (1, 3)


# --- nccom-test ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "unit"), [("nccom-gib.log", "GiB/s"), ("nccom-percentiles.log", "GB/s")])
def test_nccom_finds_the_unit_of_its_release(name, unit):
    table = one(nccom.read, name)
    assert (table.benchmark, table.ranks, table.facts["unit"]) == ("all_reduce", 32, unit)
    np.testing.assert_allclose(table.time, 25e-6 + table.size / 45e9, rtol=3e-4)
    np.testing.assert_allclose(table.columns["algbw"][1:], (table.size / table.time)[1:], rtol=1e-2)
    assert ("GiB/s" in " ".join(table.notes)) == (unit == "GiB/s")


def test_nccom_percentiles():
    columns = one(nccom.read, "nccom-percentiles.log").columns
    assert {"time_p50", "time_p99"} <= set(columns)
    assert np.all(columns["time_p99"] > columns["time"])


def test_nccom_report():
    table = one(nccom.read_json, "nccom-report.json")
    assert (table.benchmark, table.ranks, len(table)) == ("all_reduce", 32, 4)
    np.testing.assert_allclose(table.columns["busbw"], table.size / table.time * 31 / 16, rtol=1e-9)


def test_nccom_stated_ranks_against_the_factor(tmp_path):
    text = (LOGS / "nccom-gib.log").read_text().replace("-r 32", "-r 48")
    table = written(tmp_path, nccom.read, text).tables[0]
    assert table.ranks is None
    assert "48 ranks are listed but busbw/algbw says 32" in " ".join(table.notes)


def test_nccom_without_header_or_command(tmp_path):
    rows = [line for line in (LOGS / "nccom-gib.log").read_text().splitlines() if " fp32 " in line]
    table = written(tmp_path, nccom.read, "\n".join(rows) + "\n").tables[0]
    assert (len(table), table.benchmark, table.ranks) == (5, "all_reduce", 32)
    assert "columns assumed" in table.notes[0]


def test_nccom_bandwidths_that_fit_no_unit_are_left_out(tmp_path):
    header = "size(B) count(elems) type time:avg(us) algbw(GB/s) busbw(GB/s)\n"
    table = written(tmp_path, nccom.read, header + "1048576 262144 fp32 100.0 99.00 99.00\n").tables[0]
    assert "algbw" not in table.columns
    assert "neither GB/s nor GiB/s" in " ".join(table.notes)


def test_nccom_failure_is_quoted():
    with pytest.raises(FormatError, match=r"no row: .*; the log says at line 3: 33554432 Failure running neuron-bench"):
        nccom.read(str(LOGS / "nccom-failure.log"))


# --- ucc_perftest -------------------------------------------------------------------------------------------------


def test_ucc_allreduce():
    table = one(ucc.read, "ucc-allreduce.log")
    assert (table.benchmark, table.measure, table.ranks) == ("all_reduce", "time", 8)
    np.testing.assert_allclose(table.time, 3e-6 + table.size / 9e9, atol=5.1e-9)
    np.testing.assert_allclose(table.columns["bandwidth"][-1], 1.75 * table.size[-1] / table.time[-1], rtol=1e-2)
    assert (table.facts["memory"], table.facts["type"]) == ("host", "float32")
    assert table.columns["bandwidth_max"][-1] > table.columns["bandwidth"][-1] > table.columns["bandwidth_min"][-1]


def test_ucc_barrier_has_no_size():
    table = one(ucc.read, "ucc-barrier.log")
    assert (table.benchmark, table.size[0], table.time[0]) == ("barrier", 0, pytest.approx(4.2e-6))


def test_ucc_allgather_sizes_are_explained(tmp_path):
    text = (LOGS / "ucc-allreduce.log").read_text().replace("Allreduce", "Allgather")
    assert "one rank" in " ".join(written(tmp_path, ucc.read, text).tables[0].notes)


# --- nccl-tests -J ------------------------------------------------------------------------------------------------


def test_json_values_are_si():
    table = one(nccl_json.read, "nccl-j-all-reduce.json")
    assert (table.benchmark, table.ranks, table.facts["nccl_version"]) == ("all_reduce", 4, "2.28.3")
    np.testing.assert_allclose(table.time, 20e-6 + table.size * 1.5 / 80e9, rtol=1e-6)
    np.testing.assert_allclose(table.columns["time_in_place"], 19.5e-6 + table.size * 1.5 / 80e9, rtol=1e-6)
    assert "time_p50" not in table.columns


def test_json_per_iteration_statistics():
    table = one(nccl_json.read, "nccl-j-per-iteration.json")
    np.testing.assert_allclose(table.columns["time_p50"], 0.99 * table.time, rtol=1e-6)
    np.testing.assert_allclose(table.columns["time_p99"], 1.2 * table.time, rtol=1e-6)
    np.testing.assert_allclose(table.columns["time_cv"], 0.0125)
    assert table.facts["skipped_iterations"] == 1


def document(**changes):
    found = json.loads((LOGS / "nccl-j-all-reduce.json").read_text())
    return found | changes


def edited(tmp_path, edit, text=""):
    found = document()
    edit(found)
    return written(tmp_path, nccl_json.read, text or json.dumps(found))


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda row: row.update(count=0), "size or count is 0"),
        (lambda row: row["in_place"].update(nwrong=2.0), "the result was wrong"),
        (lambda row: row["out_of_place"].update(time="nan"), "not a finite number"),
        (lambda row: row.update(out_of_place=None), "in place only"),
        (lambda row: row["out_of_place"].update(bus_bw=-1.0), "cannot be"),
    ],
)
def test_json_rows_that_must_not_be_used(tmp_path, edit, reason):
    log = edited(tmp_path, lambda found: edit(found["results"][1]))
    assert (len(log.tables[0]), log.tables[0].rows) == (4, 5)
    assert reason in log.tables[0].dropped[0].reason


def test_json_files_one_after_the_other(tmp_path):
    text = (LOGS / "nccl-j-all-reduce.json").read_text()
    assert [len(table) for table in written(tmp_path, nccl_json.read, text + text + "\n" + text).tables] == [5] * 3


def test_json_ranks_of_processes_with_several_gpus(tmp_path):
    def two_gpus(found):
        found["config"]["ngpus"] = 2
        found["config"]["devices"] = [
            device | {"rank": 2 * i} for i, device in enumerate(found["config"]["devices"][:2])
        ]

    table = edited(tmp_path, two_gpus).tables[0]
    assert (table.ranks, table.facts["ranks_listed"]) == (4, 4)


def test_json_ranks_that_disagree_are_left_open(tmp_path):
    table = edited(tmp_path, lambda found: found["config"].update(devices=found["config"]["devices"][:3])).tables[0]
    assert table.ranks is None
    assert "3 ranks are listed but busbw/algbw says 4" in " ".join(table.notes)


def test_json_cpu_times_and_unchecked_results(tmp_path):
    def edit(found):
        for row in found["results"]:
            for half in ("out_of_place", "in_place"):
                row[half]["cpu_time"] = row[half].pop("time")
                row[half]["nwrong"] = None

    table = edited(tmp_path, edit).tables[0]
    assert "CPU times" in " ".join(table.notes)
    assert table.facts["wrong"] == "N/A"


def test_json_errors_are_told(tmp_path):
    log = edited(tmp_path, lambda found: found.update(errors=["unhandled cuda error"]))
    assert "unhandled cuda error" in " ".join(log.notes)


@pytest.mark.parametrize("length", [10, 400, 2000])
def test_a_cut_json_file(tmp_path, length):
    with pytest.raises(FormatError, match="not a whole JSON file"):
        edited(tmp_path, lambda _: None, (LOGS / "nccl-j-all-reduce.json").read_text()[:length])


def test_a_json_file_without_results(tmp_path):
    with pytest.raises(FormatError, match="without a result"):
        edited(tmp_path, lambda found: found.update(results=[]))
