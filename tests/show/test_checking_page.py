"""The page of a check and its JUnit XML."""

from xml.etree import ElementTree

import pytest

from hopline.records.verdict import Checked, Verdict
from hopline.show import checking
from hopline.show.document import plain

PASS = Verdict(1024, 2e-5, "pass", "", 2e-5, 3e-5)
FAST = Verdict(2048, 1e-5, "pass", "faster: 2 times", 2e-5, 3e-5)
FAIL = Verdict(1 << 20, 6e-5, "fail", "slower: 3 times the expected 20.00 µs; up to 30.00 µs would pass", 2e-5, 3e-5)
NEVER = Verdict(1 << 21, 1e-9, "fail", "impossible: 1 ns is less than the 1 µs that moving takes", 2e-5, 3e-5, 1e-6)
OPEN = Verdict(1 << 22, 6e-5, "unknown", "outside of the measured")


def table(*verdicts, **more):
    return Checked("Table 1: all_reduce, 8 ranks", 12, "measured: x", verdicts, **more)


def text(*tables):
    return plain(checking.page("run.log", "cluster", tables))


def test_the_verdict_comes_first():
    assert text(table(PASS)).splitlines()[0] == "run.log against cluster: PASS"
    assert text(table(PASS), table(FAIL), table(PASS)).splitlines()[0].endswith("FAIL (1 fail, 2 pass of 3 tables)")
    assert text(table(OPEN)).splitlines()[0].endswith("UNKNOWN")
    assert text(table(OPEN), table(PASS)).splitlines()[0].endswith("PASS (1 pass, 1 unknown of 2 tables)")


def test_rows_say_in_numbers_what_the_reason_says_in_words():
    lines = text(table(PASS, FAST, FAIL, NEVER, OPEN)).splitlines()
    assert lines[2] == "Table 1: all_reduce, 8 ranks (line 12): FAIL (sizes: 2 fail, 2 pass, 1 unknown)"
    assert lines[4].split() == ["size", "measured", "expected", "passes", "up", "to", "times"]
    rows = [line.split() for line in lines[5:]]
    assert rows[0] == ["1", "KiB", "20.00", "µs", "20.00", "µs", "30.00", "µs", "1.00", "pass"]
    assert rows[1] == ["2", "KiB", "10.00", "µs", "20.00", "µs", "30.00", "µs", "0.50", "pass"]
    assert rows[2] == ["1", "MiB", "60.00", "µs", "20.00", "µs", "30.00", "µs", "3.00", "fail"]
    assert rows[3][10:12] == ["impossible:", "1"]
    assert rows[4][:6] == ["4", "MiB", "60.00", "µs", "—", "—"]
    assert rows[4][7:] == ["unknown", "outside", "of", "the", "measured"]
    starts = {
        line.index(word) for line, word in zip(lines[5:], ("pass", "pass", "fail", "fail", "unknown"), strict=True)
    }
    assert len(starts) == 1


def test_faults_and_hints_stand_above_the_rows():
    lines = text(table(FAIL, faults=("3 rows dropped: wrong",), hint="as if another path")).splitlines()
    assert lines[4:6] == ["  3 rows dropped: wrong", "  as if another path"]


def test_one_reason_for_all_sizes_is_said_once():
    page = text(table(OPEN, Verdict(8, 1e-6, "unknown", "outside of the measured")))
    assert page.count("outside of the measured") == 1
    assert "expected" not in page


def test_many_rows_are_cut():
    page = text(table(*[PASS] * 61))
    assert "... and 1 more sizes (all in --json)" in page
    assert page.count("1 KiB") == 60
    assert "more sizes" not in text(table(*[PASS] * 60))


def test_an_unsure_formula_says_so():
    wide = Verdict(1024, 2e-5, "pass", "", 2e-5, 9e-5)
    formula = Checked("t", 1, "by formula from the links", (wide,))
    assert "up to 4.5 times the expected passes" in text(formula)
    assert "unsure" not in text(table(wide))
    assert "unsure" not in text(Checked("t", 1, "by formula from the links", (PASS,)))


# --- JUnit --------------------------------------------------------------------------------------------------------


def test_junit_has_a_case_for_each_size_and_fault():
    tables = (table(PASS, FAST, FAIL, NEVER, OPEN, faults=("wrong <&> results",)), table(PASS))
    root = ElementTree.fromstring(checking.junit("run.log", tables).encode())
    assert root.attrib == {
        "name": "hopline check run.log", "tests": "7", "failures": "3", "errors": "0", "skipped": "1",
    }  # fmt: skip
    first, second = root
    assert (first.get("tests"), first.get("failures"), first.get("skipped")) == ("6", "3", "1")
    assert (second.get("tests"), second.get("failures")) == ("1", "0")
    cases = {case.get("name"): case for case in first}
    assert cases["fault 1"].find("failure").get("message") == "wrong <&> results"
    assert cases["1048576 B"].find("failure").get("message") == FAIL.reason
    assert cases["4194304 B"].find("skipped").get("message") == OPEN.reason
    assert len(cases["2048 B"]) == 0
    assert float(cases["1024 B"].get("time")) == pytest.approx(2e-5)


def test_junit_says_that_it_is_utf_8():
    assert checking.junit("µ.log", (table(FAIL),)).startswith(
        "<?xml version='1.0' encoding='utf-8'?>\n<testsuites name="
    )


def test_junit_of_what_could_not_be_read():
    root = ElementTree.fromstring(checking.junit("run.log", (), "no table\x00 <here>").encode())
    assert (root.get("tests"), root.get("errors"), root.get("failures")) == ("1", "1", "0")
    assert root.find("testsuite/testcase/error").get("message") == "no table? <here>"


@pytest.mark.parametrize("odd", ["\x00", "\x1b[31m", "\udcff", "\ufffe", "\n", "]]>", "&amp;", "\"'"])
def test_junit_holds_any_text(odd):
    made = Checked(f"t{odd}", 1, "", (Verdict(8, 1e-6, "fail", f"r{odd}"),), (f"f{odd}",))
    root = ElementTree.fromstring(checking.junit(f"s{odd}", (made,)).encode())
    assert root.get("name").startswith("hopline check s")
