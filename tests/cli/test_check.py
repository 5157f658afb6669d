"""``hopline check`` as it is typed: exit codes, text, JSON, JUnit, standard input."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typed import hopline
from written import SIZES, line, nccl, osu, scaled

MACHINES = Path(__file__).parents[1] / "data" / "machines"
TWO = MACHINES / "two-nodes.toml"
GOOD = line(SIZES, 20e-6, 40e9)


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(text, name="run.log"):
    Path(name).write_text(text)
    return name


@pytest.fixture
def saved(capsys):
    """A machine 'good', saved from a healthy log."""
    code, _, err = hopline(capsys, "fit", write(nccl(GOOD), "good.log"), "--save", "good")
    assert (code, err) == (0, "")
    return "good"


def answer(capsys, *arguments, code=0):
    found, out, err = hopline(capsys, "check", *arguments, "--json")
    assert (found, err) == (code, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


# --- exit codes ---------------------------------------------------------------------------------------------------


def test_a_log_passes_against_the_machine_saved_from_it(capsys, saved):
    code, out, err = hopline(capsys, "check", "good.log", "--machine", saved)
    assert (code, err) == (0, "")
    assert out.startswith("good.log against good: PASS\n")
    assert "PASS (sizes: 17 pass)" in out


def test_a_slowed_log_fails_and_says_what_it_looks_like(capsys, saved):
    code, out, _ = hopline(capsys, "check", write(nccl(scaled(GOOD, 2.0))), "--machine", saved)
    assert code == 1
    assert "against good: FAIL\n" in out
    assert "FAIL (sizes: 17 fail)" in out
    assert "slower throughout" in out
    assert out.count("2.00  fail") == len(SIZES)


def test_nothing_told_leaves_with_3_and_the_reason(capsys, saved):
    log = write(osu(GOOD, "MPI Allreduce Latency Test", "Avg Latency(us)"))
    code, out, _ = hopline(capsys, "check", log, "--machine", TWO)
    assert code == 3
    assert "UNKNOWN" in out
    assert "number of ranks is not known: give -n" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--machine", "nowhere"), "unknown machine 'nowhere'"),
        (("--machine", TWO, "--tolerance", "10"), "'10' is no percentage: expected one like 10%"),
        (("--machine", TWO, "--tolerance", "-5%"), "is no percentage"),
        (("--machine", TWO, "-n", "4"), "-n 4: the log says 8"),
        (("--machine", TWO, "--benchmark", "alltoall"), "--benchmark alltoall: the log says all_reduce"),
        (("--machine", TWO, "--on", "h0.gpu0,h0.gup1"), "did you mean 'h0.gpu1'?"),
        (("--machine", TWO, "--on", "leaf,h0.gpu0"), "leaf of two nodes is a switch"),
        (("--machine", TWO, "--junit", "no/such/folder.xml"), "no folder no/such"),
        ((), "Missing option '--machine'"),
    ],
)
def test_a_wrong_option_is_one_line_and_2(capsys, arguments, told):
    code, out, err = hopline(capsys, "check", write(nccl(GOOD)), *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_a_log_without_a_table_leaves_with_2_and_a_report(capsys):
    log = write("nothing here\nerror: no fabric\n")
    code, out, err = hopline(capsys, "check", log, "--machine", TWO, "--junit", "report.xml")
    assert (code, out) == (2, "")
    assert "none of the logs that hopline knows" in err
    root = ElementTree.parse("report.xml").getroot()
    assert root.get("errors") == "1"
    assert "no fabric" in root.find("testsuite/testcase/error").get("message")


def test_one_failing_table_of_several_fails(capsys, saved):
    log = write(nccl(GOOD) + nccl(scaled(GOOD, 3.0)) + nccl(GOOD, 4))
    code, out, _ = hopline(capsys, "check", log, "--machine", saved)
    assert code == 1
    assert "FAIL (1 fail, 2 pass of 3 tables)" in out


def test_tolerance_lets_more_pass(capsys, saved):
    log = write(nccl(scaled(GOOD, 1.5)))
    assert hopline(capsys, "check", log, "--machine", saved)[0] == 1
    assert hopline(capsys, "check", log, "--machine", saved, "--tolerance", "60%")[0] == 0


def test_standard_input(saved):
    run = subprocess.run(
        [sys.executable, "-m", "hopline", "check", "-", "--machine", saved, "--json"],
        input=nccl(scaled(GOOD, 2.0)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (1, "")
    assert json.loads(run.stdout)["tables"][0]["outcome"] == "fail"


# --- what it prints -----------------------------------------------------------------------------------------------


def test_json_is_complete(capsys, saved):
    slow = SIZES[-3:]
    found = answer(capsys, write(nccl(scaled(GOOD, 2.0, slow))), "--machine", saved, code=1)
    assert (found["machine"], found["source"], found["tolerance"], found["exit_code"]) == ("good", "run.log", 0.1, 1)
    (table,) = found["tables"]
    assert table["basis"] == "measured: nccl-tests all_reduce, 8 ranks, good.log line 15"
    assert [row["size"] for row in table["verdicts"]] == list(SIZES)
    assert {row["size"] for row in table["verdicts"] if row["outcome"] == "fail"} == set(slow)
    for row in table["verdicts"]:
        assert row["expected"] == pytest.approx(GOOD[row["size"]], rel=0.01)
        assert row["limit"] > row["expected"]
        assert (row["time"] > row["limit"]) == (row["outcome"] == "fail")
        assert bool(row["reason"]) == (row["outcome"] == "fail")


def test_json_has_null_where_nothing_is_known(capsys):
    log = write(nccl(GOOD, 16))
    (table,) = answer(capsys, log, "--machine", TWO, code=3)["tables"]
    assert {row["expected"] for row in table["verdicts"]} == {None}
    assert "two nodes has 8 devices: expected at most as many ranks, got 16" in table["verdicts"][0]["reason"]


def test_a_long_table_is_cut_in_text_only(capsys, saved):
    sizes = range(1024, 1024 + 100 * 4, 4)
    log = write(nccl(dict.fromkeys(sizes, 2e-05)))
    code, out, _ = hopline(capsys, "check", log, "--machine", saved)
    assert code == 0
    assert "... and 40 more sizes (all in --json)" in out
    assert len(answer(capsys, log, "--machine", saved)["tables"][0]["verdicts"]) == 100


def test_a_formula_says_how_unsure_it_is(capsys, saved):
    log = write(nccl(GOOD))
    _, by_formula, _ = hopline(capsys, "check", log, "--machine", TWO)
    _, by_measurement, _ = hopline(capsys, "check", log, "--machine", saved)
    assert "A formula is unsure" in by_formula
    assert "hopline fit GOOD.log --save NAME" in by_formula
    assert "unsure" not in by_measurement


def test_help_explains_itself(capsys):
    _, out, _ = hopline(capsys, "check", "--help")
    for word in (
        "0  pass",
        "1  fail",
        "2  an option is wrong",
        "3  nothing could be told",
        "--tolerance",
        "10%",
        "--on",
    ):
        assert word in out


# --- JUnit --------------------------------------------------------------------------------------------------------


def report(capsys, text, machine, name="run.log", code=1):
    found, _, _ = hopline(capsys, "check", write(text, name), "--machine", machine, "--junit", "report.xml")
    assert found == code
    return ElementTree.parse("report.xml").getroot()


def test_junit_counts(capsys, saved):
    root = report(
        capsys, nccl(scaled(GOOD, 2.0, SIZES[:2]), wrong={SIZES[5]: 3}) + nccl({1024: 21e-6, 8: 20e-6}), saved
    )
    assert [suite.get("name") for suite in root] == ["Table 1: all_reduce, 8 ranks", "Table 2: all_reduce, 8 ranks"]
    first, second = root
    cases = len(SIZES) - 1 + 1
    assert {key: first.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": str(cases), "failures": "3", "errors": "0", "skipped": "0",
    }  # fmt: skip
    assert len(first.findall("testcase")) == cases
    assert len(first.findall("testcase/failure")) == 3
    assert "#wrong above 0" in first.find("testcase[@name='fault 1']/failure").get("message")
    assert second.find("testcase[@name='8 B']/skipped").get("message").startswith("outside of the measured 1 KiB to")
    assert root.get("tests") == str(cases + 2)
    assert root.get("failures") == "3"
    assert len({(case.get("classname"), case.get("name")) for case in root.iter("testcase")}) == cases + 2


def test_junit_replaces_its_own_report_and_nothing_else(capsys, saved):
    report(capsys, nccl(scaled(GOOD, 2.0)), saved)
    root = report(capsys, nccl(GOOD), saved, code=0)
    assert root.get("failures") == "0"
    Path("report.xml").write_text("<testsuites name='of another tool'/>")
    code, out, err = hopline(capsys, "check", "run.log", "--machine", saved, "--junit", "report.xml")
    assert (code, out) == (2, "")
    assert "report.xml exists and is no report of hopline's" in err
    assert Path("report.xml").read_text() == "<testsuites name='of another tool'/>"


@pytest.mark.parametrize("name", ["a<b>&\"c'.log", "tab\tand\x01bell\x07.log", "µ→.log"])
def test_junit_holds_any_name(capsys, saved, name):
    root = report(capsys, nccl(scaled(GOOD, 2.0)), saved, name)
    assert root.get("name") == "hopline check " + "".join(c if c.isprintable() else "?" for c in name)
    report(capsys, nccl(scaled(GOOD, 2.0)), saved, name)


def test_junit_of_a_name_that_is_no_text(capsys, saved):
    root = report(capsys, "nothing", saved, "odd\udcff.log", code=2)
    assert root.get("name") == "hopline check odd?.log"
