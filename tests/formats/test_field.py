"""Real logs, against figures that were worked out by other parsers."""

import re
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.formats import kinds, nccl_tests, osu

FIELD = Path(__file__).parents[3] / "shared" / "field"
READERS = {"nccl-tests": nccl_tests.read, "osu": osu.read}
NOT_READ = ("synthetic-J", "nccom-test", "netpipe", "ucx_perftest")

pytestmark = pytest.mark.skipif(not FIELD.is_dir(), reason="the collection of field files is not beside this checkout")


def manifest(folder):
    if not FIELD.is_dir():
        return []
    lines = (FIELD / "MANIFEST.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines if line.startswith(folder + "/")]
    return [pytest.param(FIELD / row[0], row[4], id=row[0]) for row in rows]


def figures(computed):
    return dict(re.findall(r"(\w+)=(\[[^\]]*\]|\S+)", computed))


def log_of(path):
    """The log, or the error in place of it."""
    try:
        row = kinds.recognise(str(path))
        return READERS[row.name](str(path))
    except FormatError as error:
        return error


@pytest.mark.parametrize(("path", "computed"), manifest("nccl-tests"))
def test_nccl_tests(path, computed):
    log, told = log_of(path), figures(computed)
    if any(name in path.name for name in NOT_READ):
        assert "does not read yet" in str(log)
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


def test_one_rank():
    table = log_of(FIELD / "nccl-tests" / "ebpf-1rank-allreduce-tail.txt").tables[0]
    assert (table.ranks, table.benchmark) == (1, "all_reduce")


TABLE = re.compile(
    r"([^;]+? Test) v([\d.]+): rows=(\d+) first=\((\d+), ([\d.]+)\) last=\((\d+), ([\d.]+)\) max=([\d.]+)"
)


@pytest.mark.parametrize(("path", "computed"), manifest("osu"))
def test_osu(path, computed):
    log, tables = log_of(path), TABLE.findall(computed)
    if not tables:
        assert isinstance(log, FormatError)
        assert ("does not read yet" in str(log)) == any(name in path.name for name in NOT_READ)
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
