"""How a study of pairs reads, and its heat map."""

import numpy as np
from pairs_drawn import pairs_drawn

from hopline.show import pairs as pages
from hopline.show.document import plain
from hopline.study.pairs import analyse


def test_the_verdict_comes_first_and_names_what_is_slow():
    times = pairs_drawn(3, ("rank", (3,), 1.5), ("direction", (0, 6), 1.4))
    del times[1, 2]
    text = plain(pages.document(analyse(times)))
    assert text.splitlines()[0] == "Slow for real: rank 3, direction 0→6."
    assert "all that it sends and receives" in text
    assert "note: 1 of 56 pairs were not measured: 1→2" in text
    row = next(
        line.split() for line in text.splitlines() if line.split()[:3:2] == ["3", "1.57"] or line.split()[:1] == ["1"]
    )
    assert row[2:4] == ["·", "—"]


def test_a_healthy_system_is_said_to_be():
    assert plain(pages.document(analyse(pairs_drawn(3)))).startswith("Nothing is slow among 8 ranks beyond noise.")


def test_many_ranks_have_no_matrix_on_the_terminal():
    text = plain(pages.document(analyse(pairs_drawn(3, n=20, repeats=3))))
    assert "from / to" not in text


def test_the_heat_map_has_a_cell_for_each_pair():
    report = analyse(pairs_drawn(3, ("pair", (2, 4), 2.0)))
    spec = pages.picture(report, "t")
    cells = {(c["row"], c["column"]): c["factor"] for c in spec["data"]["values"]}
    assert len(cells) == 56
    assert max(cells, key=cells.get) in {("2", "4"), ("4", "2")}
    assert spec["encoding"]["x"]["sort"] == [str(i) for i in range(8)]


def test_a_large_heat_map_shows_the_slowest_of_each_block():
    report = analyse(pairs_drawn(3, ("direction", (70, 1), 5.0), n=80, repeats=2))
    spec = pages.picture(report, "t")
    values = spec["data"]["values"]
    assert len(values) == 40 * 40
    worst = max(values, key=lambda c: c["factor"])
    assert (worst["row"], worst["column"]) == ("70-71", "0-1")
    assert "slowest pair of each 2 by 2 ranks" in spec["title"]["text"]
    assert np.isfinite([c["factor"] for c in values]).all()
