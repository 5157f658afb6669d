"""``hopline verify`` as it is typed: what it prints and the code it leaves with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopline.cli.verify import exact_text, verify
from hopline.errors import FormatError, HoplineError
from hopline.jobs.verify.figures import plain, rate, seconds, volume

VECTORS = str(Path(__file__).parents[1] / "data" / "vectors.json")


def run(*arguments: str):
    return CliRunner().invoke(verify, arguments)


def planted(path: Path, **changes: object) -> str:
    """The vectors of one kind, with one expected value replaced."""
    cases = [c for c in json.loads(Path(VECTORS).read_text())["cases"] if c["kind"] == "p2p_saf_path"]
    cases[1]["expected"] |= changes
    file = path / "planted.json"
    file.write_text(json.dumps({"cases": cases}))
    return str(file)


def test_passing_kinds():
    result = run(VECTORS, "--kind", "duplex_*")
    assert result.exit_code == 0
    header, *kinds, summary = (line.split() for line in result.output.splitlines())
    assert kinds == [["duplex_full", "7", "0"], ["duplex_half", "2", "0"]]
    assert (header, summary) == (["kind", "passed", "failed"], ["9", "passed,", "0", "failed"])


def test_unknown_kinds(tmp_path):
    cases = json.loads(Path(VECTORS).read_text())["cases"]
    file = tmp_path / "v.json"
    later = [{**c, "kind": "not_built"} for c in cases[:2]]
    file.write_text(json.dumps({"cases": [*later, {**cases[2], "kind": "other"}, *cases[:1]]}))
    result = run(str(file))
    assert result.exit_code == 3
    *_, summary, unknown = result.output.splitlines()
    assert summary == "1 passed, 0 failed, 3 of 2 kinds not known yet"
    assert unknown == "Not known yet: not_built (2), other (1)"


def test_a_planted_error_is_shown_with_expected_and_got(tmp_path):
    result = run(planted(tmp_path, time_s=3e-6))
    assert result.exit_code == 1
    header, row, *_, summary = result.output.splitlines()
    assert header.split() == ["failed", "case", "output", "expected", "got"]
    assert row.split() == ["p2p_saf_path-02", "time_s", "3e-06", "2.25e-06"]
    assert summary == "4 passed, 1 failed"


def test_missing_and_null_and_many_differences(tmp_path):
    lines = run(planted(tmp_path, nowhere=1, time_s=None, arrival_s=[1, 2])).output.splitlines()
    assert lines[1].split() == ["p2p_saf_path-02", "time_s", "null", "2.25e-06"]
    assert lines[4].split() == ["p2p_saf_path-02", "and", "1", "more"]
    assert run(planted(tmp_path, nowhere=1)).output.splitlines()[1].split()[-1] == "nothing"


def test_a_case_that_cannot_be_worked_out_says_why(tmp_path):
    file = Path(planted(tmp_path))
    text = json.loads(file.read_text())
    text["cases"][0]["inputs"] = {"size_bytes": 1}
    file.write_text(json.dumps(text))
    result = run(str(file))
    assert result.exit_code == 1
    assert "no answer: the inputs lack 'hops'" in result.output


def test_names_from_the_file_stay_on_their_line(tmp_path):
    file = Path(planted(tmp_path, time_s=1))
    file.write_text(file.read_text().replace("p2p_saf_path-02", "a\\nb\\u001b[31m"))
    assert len(run(str(file)).output.splitlines()) == 5
    assert "\x1b" not in run(str(file)).output


def test_json_of_cases(tmp_path):
    result = run(planted(tmp_path, time_s=3e-6), "--json")
    data = json.loads(result.output)
    assert result.exit_code == data["exit_code"] == 1
    assert (data["passed"], data["failed"], data["unknown"]) == (4, 1, 0)
    failed = [r for r in data["results"] if r["status"] == "failed"]
    assert [r["id"] for r in failed] == ["p2p_saf_path-02"]
    (difference,) = failed[0]["differences"]
    assert (difference["key"], difference["expected"], difference["missing"]) == ("time_s", 3e-6, False)
    assert difference["got"] == pytest.approx(2.25e-6)


@pytest.mark.parametrize("arguments", [("--kind", "units"), (VECTORS, "--kind", "nothing*"), (VECTORS, "--kind", "")])
def test_a_kind_that_chooses_nothing_is_an_error(arguments):
    assert isinstance(run(*arguments).exception, HoplineError)


def test_junk_is_left_to_the_caller_as_a_format_error(tmp_path):
    (tmp_path / "x").write_bytes(b"\x00\xff")
    assert isinstance(run(str(tmp_path / "x")).exception, FormatError)


def test_the_founding_table():
    result = run()
    lines = result.output.splitlines()
    assert result.exit_code == 0
    row = next(line for line in lines if line.startswith("  1.11 "))
    assert [part for part in row.split("  ") if part][:5] == [
        "1.11", "path bandwidth 1/Σ(1/β_i)", "COND", "18.0 GB/s", "17.9775 GB/s",
    ]  # fmt: skip
    assert next(line for line in lines if line.startswith("  2.21 ")).endswith("(needs Schedules)")
    assert sum(line.startswith("  id ") for line in lines) == 3
    assert len({line.index("verdict") for line in lines if line.startswith("  id ")}) == 1


def test_the_founding_table_as_json():
    rows = {row["id"]: row for row in json.loads(run("--json").output)["rows"]}
    assert len(rows) == 75
    assert rows["2.24"]["needs"] == "Schedules"
    assert rows["2.24"]["figures"] == [
        {"name": "24 MiB through that window", "value": 0.001536, "dimension": "time", "shown": "1.536 ms"}
    ]


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (seconds("", 5.5e-7), "550 ns"),
        (seconds("", 0), "0 s"),
        (rate("", 17977528089.9), "17.9775 GB/s"),
        (volume("", 58720256), "56 MiB = 58.7203 MB"),
        (volume("", 70272), "68.625 KiB = 70.272 KB"),
        (volume("", 100_000), "100 KB"),
        (volume("", 100), "100 B"),
        (plain("", 23), "23"),
        (plain("", 390.625), "390.625"),
        (plain("", 195312500), "195312500"),
        (plain("", 1e-9), "1.00000e-09"),
    ],
)
def test_figures_as_text(figure, text):
    assert exact_text(figure) == text


def test_help_holds_an_example():
    result = run("--help")
    assert result.exit_code == 0
    assert "hopline verify vectors.json --kind 'p2p_*'" in result.output
