"""What the pages say: costs, fits, machines and samples."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopline.curve import Curve, Piece
from hopline.jobs import fitting, machines
from hopline.records.estimate import Estimate, Premise, Term
from hopline.records.fit import Fit, HeldOut
from hopline.records.sample import Sample
from hopline.show import fitting as fit_pages
from hopline.show import machine as machine_pages
from hopline.show import measuring as sample_pages
from hopline.show import transfer as pages
from hopline.show.document import Grid, plain
from hopline.study.calibrate import calibrate

LOGS = Path(__file__).parents[1] / "data" / "logs"


def estimate(values, **changes):
    terms = tuple(Term(f"term {i}", v) for i, v in enumerate(values))
    return Estimate("direct", sum(values), "time", terms, "sum", **{"binds": "term 0", **changes})


# --- transfers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (1, 2, "50 %"),
        (1, 20, "5.0 %"),
        (1, 2000, "0.05 %"),
        (1, 0, "—"),
        (-1, 10, "-10 %"),
        (0, 1, "0 %"),
        (1, 1, "100 %"),
    ],
)
def test_shares(part, whole, said):
    assert pages.share(part, whole) == said


def test_the_way_taken_is_marked():
    ways = {"store-and-forward": estimate([1e-3]), "pipelined": estimate([0.0])}
    text = plain([pages.ways(ways, "pipelined", 1e6)])
    marked = [line for line in text.splitlines() if line.lstrip().startswith("*")]
    assert len(marked) == 1
    assert "—" in marked[0]
    assert "1.000 GB/s" in text


def test_many_terms_are_gathered_and_still_add_up():
    text = plain(pages.reasons(estimate([float(i) for i in range(1, 13)], next_limit="term 1", distance=1.2)))
    assert "4 more" in text
    assert "10.00 s" in text
    assert "12.00 s" in text
    assert "Binds: term 0; next is the term 1, 1.20 times smaller." in text


def test_a_negative_term_is_shown_as_such():
    text = plain(pages.reasons(estimate([2e-6, -1e-7])))
    assert "-100.0 ns" in text
    assert "-5.3 %" in text


def test_premises_and_levers():
    found = [Premise("x holds", "broken"), Premise("y", "unknown", "adds 1 us", True)]
    assert plain(pages.premises(found)) == "Caution: x holds\nAssumed: y; adds 1 us\n"
    assert pages.levers([]) == []
    text = plain(pages.levers([(f"change {i}", 1e-6, 0.5) for i in range(9)]))
    assert text.count("-50 %") == 5
    assert only_broken_and_those_that_matter() == ["a", "c"]


def only_broken_and_those_that_matter():
    premises = (
        Premise("a", "broken"),
        Premise("b", "unknown"),
        Premise("c", "unknown", matters=True),
        Premise("d", "holds"),
    )
    return [p.text for p in estimate([1.0], premises=premises).shown_premises()]


# --- fits ---------------------------------------------------------------------------------------------------------


def test_pages_of_a_log_say_what_was_dropped():
    (log,), (fit,) = fitting.fit_files([str(LOGS / "nccl-b-all-gather-tagged-faulty.log")])
    text = plain([*fit_pages.log_lines(log), *fit_pages.table_lines(fit.number, fit.title, fit.table)])
    assert "nccl-tests, 1 table" in text
    assert "1 row dropped: the result was wrong" in text
    assert "all_gather, 8 ranks; time; 4 sizes, 4 KiB to 64 MiB (line 17)" in text


@pytest.mark.parametrize("wrong", ["N/A", "0", None])
def test_results_that_were_not_checked_are_told(wrong):
    table = fitting.fit_files([str(LOGS / "nccl-d-all-reduce.log")])[1][0].table
    facts = {name: value for name, value in table.facts.items() if name != "wrong"}
    table = replace(table, facts=facts if wrong is None else {**facts, "wrong": wrong})
    said = "note: the run did not check its results (#wrong is N/A)" in plain(fit_pages.table_lines(1, "x", table))
    assert said == (wrong == "N/A")


def test_what_is_hidden_behind_something_longer_has_no_share():
    found = replace(estimate([3e-6, 1e-6]), combine="max", value=3e-6, name="both directions at once")
    text = plain(pages.reasons(found))
    assert "What goes on at the same time (both directions at once)" in text
    assert re.search(r"term 0 +3\.000 µs +binds\n +term 1 +1\.000 µs +hidden behind it\n", text)
    assert "%" not in text
    assert "Where the time goes (direct)" in plain(pages.reasons(estimate([3e-6, 1e-6])))


def test_one_piece_and_several():
    size = np.array([2.0**p for p in range(24)])
    straight = 2e-6 + size / 1e10
    bent = straight + np.where(size > 4096, 4e-6, 0)
    no_better = "Pieces do no better on held-out sizes."
    for time, said in ((straight, no_better), (bent, "2 pieces")):
        line, pieces = calibrate(size, time, most_pieces=1), calibrate(size, time)
        text = plain(fit_pages.fit_lines(line, pieces, size, time))
        assert said in text
        assert "start-up α" in text
        assert ("to the end" in text) == (said == "2 pieces")
        assert (no_better in text) == (said == no_better)
        assert re.search(r"held out: mean +worst +fitted: mean +worst\n", text)
        assert "trust" not in text
        assert "time falls" not in text
    gap = calibrate(size, straight, "gap")
    assert "least gap" in plain(fit_pages.fit_lines(gap, gap, size, straight))


def fitted_to(pieces, smallest=8.0, mean=0.01, worst=0.05, inside=0.01, inside_worst=0.05):
    held_out, known = HeldOut(mean, worst, 9), HeldOut(inside, inside_worst, 11)
    return Fit(Curve(tuple(Piece(*p) for p in pieces)), "time", smallest, 1048576.0, 11, known, held_out)


LINE = fitted_to([(0, 1e-6, 1e9)])
MEASURED = np.array([8.0, 1024.0, 1048576.0]), np.array([1e-6, 2e-6, 1e-3])
"""Sizes and times that rise."""


def test_errors_on_held_out_and_on_fitted_sizes_stand_side_by_side():
    grid = fit_pages.fit_lines(LINE, fitted_to([(0, 1e-6, 1e9)], mean=0.123, worst=0.5, inside=0.07), *MEASURED)[0]
    assert grid.header[2:] == ("held out: mean", "worst", "fitted: mean", "worst")
    assert [row[2:] for row in grid.rows] == [("1.0 %", "5 %", "1.0 %", "5 %")]


def test_the_first_piece_starts_at_the_smallest_measured_size():
    pieces = fitted_to([(0, 1e-6, 1e9), (4096, 2e-6, 1e9)], mean=0.123, worst=0.5, inside=0.07)
    grid = fit_pages.fit_lines(LINE, pieces, *MEASURED)
    assert [row[2:] for row in grid[0].rows][1] == ("12.3 %", "50 %", "7.0 %", "5 %")
    assert [row[0] for row in grid[1].rows] == ["8 B to 4 KiB", "4 KiB to the end"]
    zero = fit_pages.fit_lines(LINE, fitted_to([(0, 1e-6, 1e9), (4096, 2e-6, 1e9)], smallest=0.0), *MEASURED)[1]
    assert zero.rows[0][0] == "0 B to 4 KiB"


@pytest.mark.parametrize(
    ("after", "said"),
    [(3e-6, ""), (2e-6, ""), (1.91e-6, ""), (1.89e-6, "falls by 6 %"), (1e-6, "falls by 50 %")],
)
def test_a_measured_time_that_falls_is_noted(after, said):
    """2 us at 2 KiB, then ``after`` at 4 KiB, whatever the curve does; more than 5 % less is worth saying."""
    measured = np.array([4096.0, 1024.0, 2048.0]), np.array([after, 1e-6, 2e-6])
    for pieces in ([(0, 2e-6, math.inf)], [(0, 2e-6, math.inf), (4096, after, math.inf)]):
        text = plain(fit_pages.fit_lines(LINE, fitted_to(pieces), *measured))
        whole = f"Measured time {said} from 2 KiB to 4 KiB: another protocol, or noise."
        assert (whole in text) if said else ("time falls" not in text)


def test_a_curve_that_falls_where_nothing_measured_does_is_no_fall():
    falling = fitted_to([(0, 2e-6, math.inf), (4096, 1e-6, math.inf)])
    assert "falls" not in plain(fit_pages.fit_lines(LINE, falling, *MEASURED))


def test_the_worst_three_falls_are_told_worst_first():
    """10 to 8 us is 20 %, 9 to 1 us is 89 %, 4 to 3 us is 25 %, 6 to 3 us is 50 %, 10 to 9.6 us is 4 %."""
    size = 1024.0 * 2.0 ** np.arange(10)
    time = np.array([10, 8, 9, 1, 4, 3, 6, 3, 10, 9.6]) * 1e-6
    text = plain(fit_pages.fit_lines(LINE, LINE, size, time))
    assert re.findall(
        r"Measured time falls by (\d+) % from (\d+ .iB) to (\d+ .iB): another protocol, or noise\.", text
    ) == [
        ("89", "4 KiB", "8 KiB"),
        ("50", "64 KiB", "128 KiB"),
        ("25", "16 KiB", "32 KiB"),
    ]
    assert text.count("falls") == 3


@pytest.mark.parametrize(
    ("errors", "doubted"),
    [
        ({}, False),
        ({"mean": 0.19, "worst": 0.9, "inside": 0.19, "inside_worst": 0.39}, False),
        ({"mean": 0.21, "worst": 0.3}, True),
        ({"inside": 0.21, "inside_worst": 0.3}, True),
        ({"inside_worst": 0.41}, True),
    ],
)
def test_large_errors_are_not_to_be_trusted(errors, doubted):
    for pieces in ([(0, 1e-6, 1e9)], [(0, 1e-6, 1e9), (4096, 2e-6, 1e9)]):
        text = plain(fit_pages.fit_lines(LINE, fitted_to(pieces, **errors), *MEASURED))
        assert ("Do not trust this fit" in text) == doubted


def test_predictions_mark_extrapolation():
    fit = calibrate([64, 1024, 65536], [1e-6, 1.1e-6, 8e-6])
    measured = np.array([64.0, 1024.0, 65536.0]), np.array([1e-6, 1.1e-6, 8e-6])
    grid = fit_pages.predictions(fit, [0, 64, 65536, 65537], *measured)
    assert grid.header == ("size", "predicted", "effective", "measured", "")
    assert [row[4] for row in grid.rows] == ["extrapolation", "", "", "extrapolation"]
    assert [row[3] for row in grid.rows] == ["", "1.000 µs", "8.000 µs", ""]
    assert grid.rows[0][2] == "0 B/s"


def test_an_overview_holds_a_row_for_each_table():
    _, fits = fitting.fit_files([str(LOGS / "osu-pairs.out"), str(LOGS / "nccl-one-rank.log")])
    grid = fit_pages.overview([(f.number, f.title, f.table, f.line, f.pieces, f.reason) for f in fits])
    assert len(grid.rows) == 4
    assert all(len(row) == len(grid.header) for row in grid.rows)
    assert "no fit, one rank ran" in grid.rows[3][1]
    assert grid.rows[1][1].endswith("(gap)")


def test_no_bandwidth_is_said():
    assert fit_pages.show_bandwidth(float("inf")) == "no growth"
    assert fit_pages.show_bandwidth(5e10) == "50.00 GB/s"


# --- machines and samples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dgx-h100", "sg2260", "tcp-cluster"])
def test_a_machine_shows_each_number_with_its_source(name):
    machine = machines.find(name)
    text = plain(machine_pages.links(machine) + machine_pages.nodes(machine))
    for link in machine.links.values():
        assert f"Link {link.name}: {link.duplex} duplex, {link.forwarding}" in text
        assert machine.sources[f"links.{link.name}.bandwidth"] in text
    for node in machine.nodes.values():
        assert node.name.rstrip("0123456789") in text
    data = machine_pages.data(machine)
    assert len(data["connections"]) == len(machine.connections)
    assert {n: d["bandwidth"] for n, d in data["links"].items()} == {n: x.bandwidth for n, x in machine.links.items()}
    first, last = machine_pages.example_path(machine).split(",")
    assert machine.path([first, last]).legs


def test_a_fitted_machine_shows_its_pieces_and_its_evidence():
    _, fits = fitting.fit_files([str(LOGS / "osu-pairs.out")])
    bent = replace(fits[0], pieces=fitted_to([(0, 1.5e-6, 2e8), (103, 2e-6, 1e10)], 0.0))
    text = plain(machine_pages.links(fitting.machine_of(bent, "m")))
    assert "from 103 B" in text
    assert "held-out error 1.0 % mean, 5 % worst" in text
    text = plain(machine_pages.links(fitting.machine_of(fits[0], "m")))
    assert "from 103 B" not in text
    assert "held-out error" in text
    assert "osu-pairs.out line 5; measured 0 B to 1 MiB" in text


def test_samples():
    taken = [Sample("latency", "mpi", "h", 2, 0, (1e-6, 2e-6, 3e-6), 2e-8), Sample("latency", "mpi", "h", 2, 8, (0.0,))]
    grid, line = sample_pages.samples(taken)
    assert isinstance(grid, Grid)
    assert [row[0] for row in grid.rows] == ["0 B", "8 B"]
    assert grid.rows[0][3] == "3"
    assert grid.rows[1][4] == "—"
    assert "at most 20 ns" in line.text
    assert sample_pages.samples([])[0].rows == []


def test_progress_is_silent_without_a_terminal(capsys):
    with sample_pages.progress("measuring") as bar:
        bar(0.5, "8 B")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
