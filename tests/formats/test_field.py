"""Real logs, against figures that were worked out by other parsers."""

import re

import numpy as np
import pytest
from field import FIELD, manifest, needed

from hopline.errors import FormatError
from hopline.jobs import fitting

OTHERS = ("synthetic-J", "nccom-test", "netpipe", "ucx_perftest")
"""Files beside those of nccl-tests' console and of OSU."""
MIB = 2.0**20

pytestmark = needed


def figures(computed):
    return dict(re.findall(r"(\w+)=(\[[^\]]*\]|\S+)", computed))


def log_of(path):
    """The log, or the error in place of it."""
    try:
        return fitting.read(str(path))
    except FormatError as error:
        return error


@pytest.mark.parametrize(("path", "computed"), manifest("nccl-tests/"))
def test_nccl_tests(path, computed):
    log, told = log_of(path), figures(computed)
    if any(name in path.name for name in OTHERS):
        assert len(log.tables[0]) == int(told["rows"])
    elif told["rows"] == "0":
        assert isinstance(log, FormatError)
        assert str(path) in str(log)
        for word in told.get("error", "").split("_"):
            assert word.lower() in str(log).lower()
    else:
        compare(log.tables, told)


def total(tables, fact):
    return sum(table.facts[fact] for table in tables)


def printed(text):
    """Half of the last digit of a printed number."""
    return 0.5001 * 10.0 ** -len(text.partition(".")[2])


def compare(tables, told):
    usable = sum(table.rows - table.facts["zero_size_rows"] for table in tables)
    assert len(tables) == int(told.get("tables", 1))
    assert sum(table.rows for table in tables) == int(told["rows"])
    assert usable == int(told["usable_rows"])
    assert sum(map(len, tables)) == usable
    assert total(tables, "bad_rows") == int(told["bad_rows"])
    assert total(tables, "zero_size_rows") == int(told["zero_size_rows"])
    assert tables[0].facts["ranks_listed"] == int(told["ranks_listed"])
    sizes = np.concatenate([table.size for table in tables])
    assert f"{sizes.min():.0f}..{sizes.max():.0f}" == told["sizes"]
    for fact in ("peak_busbw", "peak_busbw_in_place"):
        assert max(table.facts[fact] for table in tables) / 1e9 == pytest.approx(float(told[fact]), abs=1e-9)
    if "last_time_us" in told:
        assert tables[-1].time[-1] * 1e6 == pytest.approx(float(told["last_time_us"]))
    averages = [float(text) for text in told["avg_lines"].strip("[]").split(", ") if text]
    assert [table.facts["average_busbw"] / 1e9 for table in tables if "average_busbw" in table.facts] == pytest.approx(
        averages
    )
    compare_factor(tables, told)
    compare_results(tables, told)


def compare_factor(tables, told):
    """Close to the figure: a median of rounded numbers differs in the fourth digit with how it is taken."""
    for table in tables:
        assert table.facts["factor"] == pytest.approx(float(told["factor"]), abs=1.2e-3)
    ranks = told.get("n_from_factor", "none")
    found = tables[0].facts["ranks_from_factor"]
    if ranks == "inconsistent":
        assert found is None
        assert tables[0].ranks is None
        assert "no factor fits" in tables[0].notes[0]
    elif ranks != "none":
        low, _, high = ranks.partition("..")
        assert found[0] <= int(low) <= int(high or low) <= found[1]
        assert found[1] - found[0] <= max(1, int(high or low) - int(low))


def compare_results(tables, told):
    if told.get("wrong") == "N/A":
        assert tables[0].facts["wrong"] == "N/A"
    elif "max_error" in told:
        assert tables[0].facts["max_error"] == pytest.approx(float(told["max_error"]))
    else:
        assert total(tables, "wrong") == int(told["wrong_nonzero"])


def test_number_of_ranks_is_decided_where_statements_agree():
    found = {}
    for name in ("rccl-alltoall-mi200-32ranks-msccl-tagged", "block-coreweave-3", "block-azure-ndv5-1"):
        found[name] = log_of(FIELD / "nccl-tests" / f"{name}.log").tables[0]
    assert [table.ranks for table in found.values()] == [32, None, None]
    assert "144" in found["block-coreweave-3"].notes[0]
    assert "128" in found["block-coreweave-3"].notes[0]
    assert found["block-coreweave-3"].facts["ranks_from_factor"] == (128, 128)
    assert found["block-coreweave-3"].facts["rank_highest"] == 144


def test_one_rank():
    table = log_of(FIELD / "nccl-tests" / "ebpf-1rank-allreduce-tail.txt").tables[0]
    assert (table.ranks, table.benchmark) == (1, "all_reduce")


TABLE = re.compile(
    r"([^;]+? Test) v([\d.]+): rows=(\d+) first=\((\d+), ([\d.]+)\) last=\((\d+), ([\d.]+)\) max=([\d.]+)"
)


@pytest.mark.parametrize(("path", "computed"), manifest("osu/"))
def test_osu(path, computed):
    log, tables = log_of(path), TABLE.findall(computed)
    if any(name in path.name for name in OTHERS):
        assert len(log.tables) == 1
        return
    if not tables:
        assert isinstance(log, FormatError)
        assert "error" not in figures(computed) or "Segmentation fault" in str(log)
        return
    more = re.search(r"\(\+(\d+) more tables\)", computed)
    checked = log.tables[: len(tables)]
    if more or len(tables) > 1:
        assert len(log.tables) == len(tables) + int(more[1] if more else 0)
    for table, told in zip(checked, tables, strict=True):
        compare_osu(table, told)
    validation = re.search(r"validation=Pass:(\d+)", computed)
    if validation:
        assert checked[0].facts["validation_pass"] == int(validation[1])


def compare_osu(table, told):
    title, version, rows, first_size, first, last_size, last, most = (text.strip() for text in told)
    values = table.columns["bandwidth"] if table.measure == "gap" else table.time * 1e12
    assert (table.facts["title"], table.facts["version"]) == (title, version)
    assert len(table) == table.rows == int(rows)
    assert (table.size[0], table.size[-1]) == (float(first_size), float(last_size))
    assert values[[0, -1]] / 1e6 == pytest.approx([float(first), float(last)])
    assert values.max() / 1e6 == pytest.approx(float(most))


def test_pairs_of_hosts_stay_with_their_tables():
    tables = log_of(FIELD / "osu" / "omb5.8-combinations-many-tables.out").tables
    assert [table.benchmark for table in tables] == ["latency", "bw"] * 28
    assert len({table.title for table in tables}) == 28


def same(found, text, digits=0.0):
    """Equal to a printed figure, within half of its last digit."""
    mantissa, _, power = text.partition("e")
    assert found == pytest.approx(float(text), abs=printed(mantissa) * 10.0 ** int(power or 0) + digits)


def one_table(path):
    (table,) = log_of(path).tables
    return table


@pytest.mark.parametrize(("path", "computed"), manifest("perftest/"))
def test_perftest(path, computed):
    table, told = one_table(path), figures(computed)
    facts, columns = table.facts, table.columns
    assert (table.rows, len(table)) == (int(told["rows"]), int(told["distinct_rows"]))
    assert facts["header_lines"] == int(told["header_lines"])
    assert facts["cpu_frequency_warnings"] == int(told["cpu_freq_warnings"])
    for fact in ("device", "connection", "qps"):
        assert str(facts.get(fact, "absent")) == told[fact]
    assert f"{table.size.min():.0f}..{table.size.max():.0f}" == told["sizes"]
    if "unit" in told:
        perftest_bandwidths(table, told)
    else:
        assert (table.measure, table.benchmark) == ("time", "write_latency")
        for name, column in (("t_typical", "time_p50"), ("t_avg", "time_avg")):
            same(columns[column][0] * 1e6, told[f"first_{name}_us"])
            same(columns[column][-1] * 1e6, told[f"last_{name}_us"])
        assert facts["max_inline"] == int(told["max_inline_B"])
        np.testing.assert_array_equal(table.time, columns["time_p50"])


def perftest_bandwidths(table, told):
    columns = table.columns
    unit = {"MB(=MiB)": MIB, "Gb": 1.25e8}[told["unit"]]
    assert (table.measure, table.facts["unit"]) == ("gap", told["unit"])
    same(columns["bandwidth"][-1] / unit, told["last_avg"])
    same(columns["bandwidth"].max() / unit, told["max_avg"])
    same(columns["message_rate"][0] / 1e6, told["first_MsgRate_Mpps"])
    same(columns["bandwidth"][-1], told["last_bytes_per_s_from_avg"])
    same(columns["message_rate"][-1] * table.size[-1], told["last_bytes_per_s_from_MsgRate"])
    np.testing.assert_allclose(table.size / table.time, columns["bandwidth"], rtol=2e-3)
    if told["last_peak"] == "0":
        assert "bandwidth_peak" not in columns
    else:
        same(columns["bandwidth_peak"][-1] / unit, told["last_peak"])


def test_perftest_says_what_its_numbers_are_worth():
    def notes(name):
        return " ".join(one_table(FIELD / "perftest" / name).notes)

    assert "range too short" in notes("ib_send_bw-a-UD-stops-at-mtu.log")
    assert "not measured" in notes("ib_write_bw-D-duration-mode-peak0.log")
    assert "loopback" in notes("sb-ib_write_bw-loopback-8M.log")


@pytest.mark.parametrize(("path", "computed"), [row for row in manifest("osu/") if "ucx_perftest" in str(row.id)])
def test_ucx_perftest(path, computed):
    table, told = one_table(path), figures(computed)
    columns, facts = table.columns, table.facts
    assert (len(table), facts["final_rows"]) == (int(told["rows"]), int(told["final_rows"]))
    assert (facts["time_column"], facts["percentile"]) == (told["time_column"], told["percentile_title"])
    assert facts.get("ucx_log_lines", 0) == int(told["ucx_log_lines"])
    assert columns["iterations"][[0, -1]].tolist() == [float(told["first_iterations"]), float(told["last_iterations"])]
    for name, column in (("p50", "time_p50"), ("avg", "time"), ("overall", "time_overall")):
        same(columns[column][-1] * 1e6, told[f"{name}_us"])
    same(columns["bandwidth"][-1] / MIB, told["bw_avg_MiBps"])
    same(columns["bandwidth"].min() / MIB, told["min_bw_avg_MiBps"])
    same(columns["bandwidth_overall"][-1], told["bw_overall_bytes_per_s"])
    assert set(table.size) == {2.0**30}


def test_ucx_perftest_tells_a_plateau_from_jitter():
    steady = one_table(FIELD / "osu" / "ucx_perftest-put_bw-cuda.txt")
    assert any("the interval column is the plateau (12.07 GB/s)" in note for note in steady.notes)
    assert (steady.benchmark, steady.measure) == ("put_bw", "gap")
    jitter = one_table(FIELD / "osu" / "ucx_perftest-put_bw-jitter.txt")
    assert any("no plateau" in note for note in jitter.notes)


def test_protocols_of_a_run_without_rows():
    message = str(log_of(FIELD / "osu" / "ucx-proto-info-osu_bw.txt"))
    for part in ("v5.6.2", "host 17298 B", "cuda 811556 B", "ep_cfg2 9807 B", "1479.255 ms"):
        assert part in message


@pytest.mark.parametrize(("path", "computed"), [row for row in manifest("osu/") if "netpipe" in str(row.id)])
def test_netpipe(path, computed):
    table, told = one_table(path), figures(computed)
    rate = table.columns["bandwidth"] * 8 / MIB
    assert len(table) == int(told["rows"])
    assert f"{table.size.min():.0f}..{table.size.max():.0f}" == told["sizes"]
    for place, name in ((0, "first"), (-1, "last")):
        same(table.time[place] * 1e6, told[f"{name}_us"])
        same(rate[place], told[f"{name}_Mbps"])
    same(table.time.min() * 1e6, told["min_us"])
    assert table.columns["bandwidth"][0] == pytest.approx(float(told["first_bytes_per_s_from_Mbps"]), rel=5e-4)
    assert table.size[0] / table.time[0] == pytest.approx(float(told["first_bytes_per_s_from_time"]), rel=5e-4)
    assert ("a timer (4000 a second" in odd(table)) == ("e1000" in path.name)


@pytest.mark.parametrize(("path", "computed"), [row for row in manifest("nccl-tests/") if "synthetic-J" in str(row.id)])
def test_nccl_json(path, computed):
    table, told = one_table(path), figures(computed)
    facts, columns = table.facts, table.columns
    assert (table.benchmark, table.ranks, facts["hosts"]) == ("all_reduce", int(told["ranks"]), int(told["hosts"]))
    assert f"{table.size.min():.0f}..{table.size.max():.0f}" == told["sizes"]
    same(table.time[-1] * 1e6, told["last_time_us"])
    same(columns["algbw"][-1] / 1e9, told["last_alg_bw"])
    same(columns["busbw"][-1] / 1e9, told["last_bus_bw"])
    same(facts["peak_busbw"] / 1e9, told["peak_busbw"])
    same(facts["factor"], told["factor"])
    same(facts["average_busbw"] / 1e9, told["avg_bus_bandwidth"])
    assert facts["ranks_from_factor"] == (table.ranks, table.ranks)
    assert (facts["wrong"], facts["nccl_version"]) == (0, told["nccl_version"])
    assert (facts["json_version"], facts["iterations"]) == (int(told["json_version"]), int(told["iterations"]))
    for name in ("min_us", "max_us", "p50_us", "p99_us"):
        if f"last_{name}" in told:
            same(columns[f"time_{name[:-3]}"][-1] * 1e6, told[f"last_{name}"])
            assert facts["skipped_iterations"] == int(told["skipped_iterations"])
    assert ("time_p50" in columns) == ("last_p50_us" in told)


def test_nccom_test():
    ((path, computed),) = [row.values for row in manifest("nccl-tests/") if "nccom-test" in str(row.id)]
    table, told = one_table(path), figures(computed)
    assert (len(table), table.rows) == (int(told["usable_rows"]), int(told["rows"]))
    assert f"{table.size.min():.0f}..{table.size.max():.0f}" == told["sizes"]
    same(table.time[0] * 1e6, told["first_us"])
    same(table.time[-1] * 1e6, told["last_us"])
    same(table.time.max() * 1e6, told["max_time_us"])
    unit = {"GiB/s": 2.0**30, "GB/s": 1e9}[table.facts["unit"]]
    same(table.columns["algbw"][-1] / unit, told["last_algbw"])
    same(table.columns["busbw"][-1] / unit, told["last_busbw"])
    same(table.facts["average_busbw"] / unit, told["avg_lines"].strip("[]"))
    assert "times the" in odd(table)


def odd(table):
    """All that hopline finds odd about a table."""
    return " ".join(finding.text for finding in fitting.fit_table(1, "log", table, False, 8).findings)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("omb7.5-bw-mpich-HH-intranode.txt", "falls from 64.0 GB/s at 256 KiB to 23.9 GB/s at 4 MiB"),
        ("omb5.8-bw-aks-ib.out", "to 12.0 GB/s at 4 MiB: neither is the plateau"),
        ("omb5.8-allreduce-aks-128.out", "outlier at 8 KiB: 160 ms"),
        ("omb5.8-latency-aks-ib.out", "up to 64.5 µs, 2.68 times the 24.1 µs of 16 KiB"),
        ("omb5.8-allreduce-128nodes-eks.out", "2.36 ms"),
        ("omb6.2-bw-no-cxi.txt", "64 KiB"),
        ("omb-osu_allreduce-8node-tcp-basic-linear.txt", "first touch or warm-up?"),
    ],
)
def test_judgements_about_the_data(name, word):
    assert word in odd(one_table(FIELD / "osu" / name))


def test_smooth_tables_have_no_such_note():
    assert one_table(FIELD / "osu" / "omb7.5-bw-validation-cxi.txt").notes == ()
    assert one_table(FIELD / "osu" / "omb5.7-osu_multi_lat-host.txt").notes == ()


def test_a_job_that_ran_no_benchmark_says_so():
    assert "no result, only host names (32)" in str(log_of(FIELD / "osu" / "omb-failed-no-table.out"))
