"""``hopline expect`` as it is typed."""

import json
from pathlib import Path

import pytest
from spent import at_most
from typed import hopline
from written import SIZES, line, nccl

TWO = str(Path(__file__).parents[1] / "data" / "machines" / "two-nodes.toml")


def answer(capsys, *arguments):
    code, out, err = hopline(capsys, "expect", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_table_as_the_benchmark_prints_it(capsys):
    code, out, err = hopline(capsys, "expect", "allreduce", "--machine", TWO, "-n", "8", "--sizes", "1MiB,64GiB")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "all_reduce on 8 ranks, two nodes"
    assert lines[1].startswith("by formula from the links of two nodes: 2 nodes of 4")
    for title in ("size", "time", "90 % interval", "algbw", "busbw", "busbw at most"):
        assert title in lines[2]
    cells = lines[4].split()
    assert cells[:2] == ["64", "GiB"]
    assert "350 GB/s" in lines[4]  # 2 x 7/8 of 200 GB/s
    assert "moving 64 GiB across h0.gpu0 and 3 more at 200 GB/s" in out


def test_json_is_complete(capsys):
    found = answer(capsys, "all_gather", "--machine", TWO, "--on", "h0.gpu*,h1.gpu*", "--sizes", "0B,1MiB")
    assert (found["benchmark"], found["ranks"], found["machine"]) == ("all_gather", 8, "two nodes")
    assert found["premises"]
    none, one = found["rows"]
    assert one["least_s"] == pytest.approx(7 / 8 * 2**20 / 300e9)
    assert one["low_s"] < one["time_s"] < one["high_s"]
    assert (none["least_s"], none["extrapolation"]) == (0, False)


def test_pairs_say_where_they_run(capsys):
    _, out, _ = hopline(capsys, "expect", "osu_bw", "--machine", TWO, "--sizes", "1MiB")
    assert "between h0.gpu0 and h0.gpu1 of two nodes (its first devices: --on names others)" in out
    assert "bandwidth at most" in out
    assert "algbw" not in out
    far = answer(capsys, "bw", "--machine", TWO, "--on", "h0.gpu0,h1.gpu0", "--sizes", "1GiB")
    assert far["rows"][0]["time_s"] == pytest.approx(2**30 / 40e9, rel=0.01)


def test_extrapolations_are_marked(capsys, tmp_path):
    log = tmp_path / "good.log"
    log.write_text(nccl(line(SIZES, 20e-6, 40e9)))
    assert hopline(capsys, "fit", log, "--save", "good")[0] == 0
    asked = ("all_reduce", "--machine", "good", "-n", "8", "--sizes", "1MiB,1GiB")
    code, out, err = hopline(capsys, "expect", *asked)
    assert (code, out) == (2, "")
    assert "give --extrapolate" in err
    rows = answer(capsys, *asked, "--extrapolate")["rows"]
    assert [row["extrapolation"] for row in rows] == [False, True]
    _, out, _ = hopline(capsys, "expect", *asked, "--extrapolate")
    assert [line.endswith("extrapolation") for line in out.splitlines() if "MiB" in line or "GiB" in line][-2:] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("all_reduce", "--machine", TWO), "number of ranks is not known: give -n"),
        (("all_reduce", "--machine", TWO, "-n", "1"), "1 is not in the range x>=2"),
        (("all_reduce", "--machine", TWO, "-n", "1000"), "two nodes has 8 devices"),
        (("all_reduce", "--machine", TWO, "-n", "6"), "unevenly over nodes (4, 2)"),
        (("all_reduce", "--machine", TWO, "-n", "8", "--sizes", "1"), "'1' has no unit"),
        (("all_reduce", "--machine", TWO, "--on", "h0.gpu0"), "names 1 device"),
        (("nonsense", "--machine", TWO, "-n", "8"), "formulas are of all_reduce"),
        (("all_reduce", "--machine", "nowhere", "-n", "8"), "unknown machine"),
    ],
)
def test_bad_questions_are_one_line(capsys, arguments, told):
    code, out, err = hopline(capsys, "expect", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_help_explains_itself(capsys):
    _, out, _ = hopline(capsys, "expect", "--help")
    for word in ("all_reduce", "latency or bw", "90 % intervals", "hopline fit LOG", "--on", "-n, --ranks N"):
        assert word in out


def test_a_rack_of_72_is_quick(capsys):
    with at_most(2):
        assert len(answer(capsys, "all_reduce", "--machine", "gb200-nvl72", "-n", "72")["rows"]) == 25
