"""What the pages say: costs, fits, machines and samples."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopline.curve import Curve, Piece
from hopline.jobs import fitting, machines
from hopline.quantity import show
from hopline.records.estimate import Estimate, Premise, Term
from hopline.records.fit import Finding, Fit, HeldOut, Prediction
from hopline.records.sample import Sample
from hopline.records.table import Table
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
        text = plain(fit_pages.fit_lines(line, pieces))
        assert said in text
        assert "start-up α" in text
        assert text.count("to the end") == 1
        assert ("1 B to the end" in text) == (said == no_better)
        assert (no_better in text) == (said == no_better)
        assert re.search(r"held out: mean +worst +fitted: mean +worst\n", text)
        assert "trust" not in text
        for piece in pieces.curve.pieces:
            assert show(piece.latency, "time") in text
        assert text.count("90 % interval") == 2
    gap = calibrate(size, straight, "gap")
    assert "least gap" in plain(fit_pages.fit_lines(gap, gap))


def fitted_to(pieces, smallest=8.0, mean=0.01, worst=0.05, inside=0.01, inside_worst=0.05):
    held_out, known = HeldOut(mean, worst, 9), HeldOut(inside, inside_worst, 11)
    return Fit(Curve(tuple(Piece(*p) for p in pieces)), "time", smallest, 1048576.0, 11, known, held_out)


LINE = fitted_to([(0, 1e-6, 1e9)])


def test_errors_on_held_out_and_on_fitted_sizes_stand_side_by_side():
    grid = fit_pages.fit_lines(LINE, fitted_to([(0, 1e-6, 1e9)], mean=0.123, worst=0.5, inside=0.07))[0]
    assert grid.header[2:] == ("held out: mean", "worst", "fitted: mean", "worst")
    assert [row[2:] for row in grid.rows] == [("1.0 %", "5 %", "1.0 %", "5 %")]


def test_the_first_piece_starts_at_the_smallest_measured_size():
    pieces = fitted_to([(0, 1e-6, 1e9), (4096, 2e-6, 1e9)], mean=0.123, worst=0.5, inside=0.07)
    grid = fit_pages.fit_lines(LINE, pieces)
    assert [row[2:] for row in grid[0].rows][1] == ("12.3 %", "50 %", "7.0 %", "5 %")
    assert [row[0] for row in grid[1].rows] == ["8 B to 4 KiB", "4 KiB to the end"]
    zero = fit_pages.fit_lines(LINE, fitted_to([(0, 1e-6, 1e9), (4096, 2e-6, 1e9)], smallest=0.0))[1]
    assert zero.rows[0][0] == "0 B to 4 KiB"


def test_each_piece_stands_with_the_intervals_of_its_parameters():
    """Of 100 draws from 1 to 100 the 5th and the 96th are told; the second piece may have no bandwidth at all."""
    drawn = tuple(
        Curve((Piece(0, i * 1e-7, i * 1e8), Piece(4096, 2e-6, math.inf if i > 90 else i * 1e9))) for i in range(1, 101)
    )
    fit = replace(fitted_to([(0, 5e-6, 5e9), (4096, 2e-6, 5e10)]), draws=drawn)
    grid = fit_pages.fit_lines(LINE, fit)[1]
    assert grid.header == ("piece", "start-up α", "90 % interval", "bandwidth β", "90 % interval")
    assert grid.rows[0] == ("8 B to 4 KiB", "5.000 µs", "500 ns .. 9.60 µs", "5.000 GB/s", "500 MB/s .. 9.60 GB/s")
    assert grid.rows[1][1:4] == ("2.000 µs", "2.00 µs .. 2.00 µs", "at least 5.00 GB/s")
    assert grid.rows[1][4].startswith("5.00 GB/s .. ")
    assert "inf" not in grid.rows[1][4]


def test_a_line_has_its_intervals_too():
    drawn = tuple(Curve.line(i * 1e-8, 1e9) for i in range(1, 101))
    blocks = fit_pages.fit_lines(replace(LINE, draws=drawn), replace(LINE, draws=drawn))
    assert blocks[1].rows == [
        ("8 B to the end", "1.000 µs", "50.0 ns .. 960 ns", "1.000 GB/s", "1.00 GB/s .. 1.00 GB/s")
    ]


def test_pieces_whose_mean_is_worse_say_why_they_are_preferred():
    pieces = [(0, 1e-6, 1e9), (4096, 2e-6, 1e9)]
    for mean, said in ((0.009, False), (0.02, True)):
        text = plain(fit_pages.fit_lines(LINE, fitted_to(pieces, mean=mean)))
        assert ("Pieces are preferred: single misses beside a break raise their held-out mean." in text) == said


# --- findings -----------------------------------------------------------------------------------------------------


def finding(kind, text):
    return Finding(kind, text, 8.0, 64.0)


def test_findings_are_a_line_each_and_begin_with_a_capital():
    told = [
        finding("outlier", "outlier at 8 B"),
        finding("hump", "latency hump"),
        finding("lost plateau", "the rate falls"),
    ]
    blocks = fit_pages.finding_lines(told)
    assert [line.text for line in blocks] == ["  Outlier at 8 B", "  Latency hump", "  The rate falls"]
    assert [line.style for line in blocks] == ["faint", "bad", "bad"]
    assert fit_pages.finding_lines([]) == []


@pytest.mark.parametrize(("count", "more"), [(3, ""), (4, "1 more of kind fall"), (9, "6 more of kind fall")])
def test_of_many_findings_of_a_kind_the_first_three_are_told(count, more):
    told = [finding("fall", f"time falls {i}") for i in range(count)] + [finding("noise", "noisy")]
    text = plain(fit_pages.finding_lines(told))
    assert re.findall(r"Time falls (\d)", text) == ["0", "1", "2"]
    assert "Noisy" in text
    assert (f"... and {more} (all in --json)." in text) if more else ("--json" not in text)


def test_findings_of_a_log_reach_the_page():
    size = np.array([2.0**p for p in range(24)])
    columns = {"size": size, "time": (2e-6 + size / 1e10) * np.where(size == 4096, 4, 1)}
    found = fitting.fit_table(1, "x.out", Table("osu", "latency", "time", columns, 24, 2), False, 8)
    assert "  Outlier at 4 KiB: 9.64 µs, 3.42 times the 2.82 µs of 8 KiB\n" in plain(
        fit_pages.finding_lines(found.findings)
    )


# --- predictions --------------------------------------------------------------------------------------------------


def test_predictions_mark_extrapolation_and_stand_beside_what_was_measured():
    measured = np.array([64.0, 1024.0, 65536.0, 64.0, 64.0]), np.array([1e-6, 1.1e-6, 8e-6, 3e-6, 2e-6])
    sizes = np.array([0.0, 64, 65536, 65537])
    found = Prediction(sizes, np.array([1e-6, 1e-6, 8e-6, 8e-6]), np.full(4, 9e-7), np.full(4, 1e-5))
    grid = fit_pages.predictions(found, 64, 65536, *measured)
    assert grid.header == ("size", "predicted", "90 % interval", "effective", "measured", "")
    assert [row[5] for row in grid.rows] == ["extrapolation", "", "", "extrapolation"]
    assert [row[4] for row in grid.rows] == ["", "2.000 µs", "8.000 µs", ""]
    assert {row[2] for row in grid.rows} == {"900 ns .. 10.0 µs"}
    assert [row[3] for row in grid.rows][:3] == ["0 B/s", "64.00 MB/s", "8.192 GB/s"]
    assert [row[0] for row in grid.rows] == ["0 B", "64 B", "64 KiB", "64.00 KiB"]


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


def test_progress_is_silent_without_a_terminal(capsys):
    with sample_pages.progress("measuring") as bar:
        bar(0.5, "8 B")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
