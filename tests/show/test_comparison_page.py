"""How a comparison reads: marks that agree with the summary, and no cell that is blank without a word."""

from __future__ import annotations

import numpy as np

from hopline.records.comparison import RANKS_FIT, Column, Comparison
from hopline.records.estimate import Premise
from hopline.show import comparison as pages
from hopline.show.document import plain

NAN = float("nan")


def made(model, low=(NAN,) * 4, high=(NAN,) * 4, **more):
    size, time = np.array([8.0, 64.0, 512.0, 4096.0]), np.array([1e-6, 1e-6, 1e-6, 1e-6])
    return Comparison(
        "ring",
        "t.csv",
        size,
        time,
        np.array(low),
        np.array(high),
        (Column("model", "by hand", np.array(model)),),
        **more,
    )


def rows(found):
    return [line.split() for line in plain([pages.table(found, 40)]).splitlines()[1:]]


def test_each_row_that_the_summary_counts_as_apart_is_marked_inside_of_the_range_or_not():
    found = made((1.3e-6, 1.3e-6, 1.1e-6, 1.1e-6), (0.9e-6,) * 4, (1.4e-6, 1.2e-6, 1.2e-6, 1.05e-6))
    assert [row[-2:] for row in rows(found)] == [["!", "in"], ["%", "!"], ["%", "in"], ["+10.0", "%"]]
    marked = sum("!" in row for row in rows(found))
    assert f"{marked} of 4" in plain(pages.page(found))
    assert marked == found.summary(found.columns[0]).apart
    lines = plain([pages.table(found, 40)]).splitlines()
    assert lines[1].index("!") == lines[2].index("!")
    assert lines[1].index("in") == lines[3].index("in")


def test_without_repeats_there_is_no_mark_of_them():
    assert [row[-1] for row in rows(made((1.3e-6, 1.1e-6, 1.1e-6, 1.1e-6)))] == ["!", "%", "%", "%"]


def test_crowded_ranks_have_no_marks():
    crowded = Premise(RANKS_FIT, "broken")
    found = made((1.3e-6,) * 4, (0.9e-6,) * 4, (1.4e-6,) * 4, premises=(crowded,))
    assert all(row[-1] == "%" for row in rows(found))
    assert "over all sizes" not in plain(pages.page(found))


def test_where_a_model_says_nothing_a_dash_stands():
    assert [row[-1] for row in rows(made((NAN, 1e-6, 1e-6, NAN)))] == ["—", "%", "%", "—"]


def test_what_sizes_count_heads_their_column():
    found = made((1e-6,) * 4, size_is="busiest rank sends")
    assert plain([pages.table(found, 40)]).lstrip().startswith("busiest rank sends")
    assert pages.data(found)["size_is"] == "busiest rank sends"
    assert plain(pages.terms(found, [{"messages": 1e-6}] * 4)).splitlines()[1].lstrip().startswith("busiest rank sends")
