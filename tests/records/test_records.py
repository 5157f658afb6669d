"""Records: what they refuse, what adds up, and bulk data that stays as it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.errors import FormatError, InputError
from hopline.records.estimate import Estimate, Premise, Term
from hopline.records.fit import Fit, HeldOut
from hopline.records.sample import Sample
from hopline.records.table import Dropped, Table, count_dropped

TERMS = (Term("start-up", 1.0), Term("link", 3.0))


@pytest.mark.parametrize(("combine", "value"), [("sum", 4.0), ("max", 3.0), ("min", 1.0)])
def test_the_terms_make_the_value(combine, value):
    assert Estimate("e", value, "time", TERMS, combine, "link").value == value
    with pytest.raises(InputError, match="its terms give"):
        Estimate("e", value * 1.001, "time", TERMS, combine, "link")


def test_rounding_is_no_contradiction():
    terms = tuple(Term(str(i), 0.1) for i in range(10))
    assert Estimate("e", 1.0, "time", terms, "sum", "0").value == 1.0


def test_an_estimate_without_terms_or_of_nothing():
    assert Estimate("e", 5.0, "count", (), "sum", "").value == 5.0
    assert Estimate("e", 0.0, "time", (Term("a", 0.0),), "max", "a").value == 0.0


def test_premises_that_are_shown():
    premises = (
        Premise("holds", "holds"),
        Premise("broken", "broken"),
        Premise("unknown", "unknown"),
        Premise("unknown and matters", "unknown", "halves it", matters=True),
        Premise("holds and matters", "holds", matters=True),
    )
    shown = Estimate("e", 4.0, "time", TERMS, "sum", "link", premises=premises).shown_premises()
    assert [p.text for p in shown] == ["broken", "unknown and matters"]


CELL = {"benchmark": "latency", "transport": "mpi", "host": "n1", "ranks": 2, "size": 8}


def test_samples_of_one_cell_add_up():
    first = Sample(**CELL, times=(3.0, 1.0), clock=1e-9, started="2026-01-02")
    second = Sample(**CELL, times=(2.0,), clock=2e-9, started="2026-01-01")
    both = first + second
    assert (both.times, both.clock, both.started) == ((3.0, 1.0, 2.0), 2e-9, "2026-01-01")
    assert both.median == 2.0
    assert both.quartiles == (1.5, 2.5)
    assert (first + Sample(**CELL, times=(2.0,))).started == "2026-01-02"


@pytest.mark.parametrize(
    "other", [{"size": 16}, {"ranks": 4}, {"host": "n2"}, {"transport": "tcp"}, {"benchmark": "b"}]
)
def test_samples_of_different_cells_do_not(other):
    with pytest.raises(InputError, match="different cells"):
        _ = Sample(**CELL, times=(1.0,)) + Sample(**(CELL | other), times=(1.0,))


def test_a_sample_and_a_number_do_not_add():
    with pytest.raises(TypeError):
        _ = Sample(**CELL, times=(1.0,)) + 1


@pytest.mark.parametrize(
    "wrong",
    [{"size": -1}, {"ranks": 0}, {"times": ()}, {"times": (1.0, -1.0)}, {"times": (math.nan,)}, {"times": (math.inf,)},
     {"clock": -1.0}],
)  # fmt: skip
def test_impossible_samples(wrong):
    with pytest.raises(InputError) as caught:
        Sample(**({**CELL, "times": (1.0,)} | wrong))
    assert "\n" not in str(caught.value)


def columns(**more):
    return {"size": np.array([8.0, 16.0]), "time": np.array([1e-6, 2e-6])} | more


def test_tables_cannot_be_changed():
    table = Table("osu", "latency", "time", columns(), 2, facts={"factor": 1.0})
    assert len(table) == 2
    assert (table.size.tolist(), table.time.tolist()) == ([8, 16], [1e-6, 2e-6])
    with pytest.raises(ValueError, match="read-only"):
        table.time[0] = 0.0
    with pytest.raises(TypeError):
        table.columns["size"] = np.array([1.0])
    with pytest.raises(TypeError):
        table.facts["factor"] = 2.0


@pytest.mark.parametrize("wrong", [{}, {"size": np.array([8.0])}, columns(busbw=np.array([1.0]))])
def test_columns_are_of_one_length(wrong):
    with pytest.raises(FormatError, match="of one length"):
        Table("osu", "latency", "time", wrong, 2)


def test_dropped_rows_are_counted_by_reason():
    events = [("zero size", 3), ("wrong", 5), ("zero size", 9)]
    assert count_dropped(iter(events)) == (Dropped("zero size", 2, 3), Dropped("wrong", 1, 5))
    assert count_dropped([]) == ()
    assert [str(d) for d in count_dropped(events)] == [
        "2 rows dropped: zero size (first at line 3)",
        "1 row dropped: wrong (first at line 5)",
    ]


def test_a_fit_knows_what_it_was_learnt_from():
    error = HeldOut(0.01, 0.02, 10)
    fit = Fit(Curve.line(1e-6, 1e9), "time", 8.0, 1024.0, 10, error, error)
    assert fit.extrapolates([4, 8, 100, 1024, 2048]).tolist() == [True, False, False, False, True]
    assert bool(fit.extrapolates(4))
