"""Pictures of an explained step: what is drawn adds up to the numbers, and what is thinned keeps its rule and says it."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from dataclasses import replace

import pytest
from explained_made import made

from hopline.records.critical import PARTS
from hopline.show.explain_drawing import PART_COLOURS, ticks
from hopline.show.explain_figures import figures, folded, picture
from hopline.show.explain_numbers import numbers
from hopline.show.explain_thinning import MOST_MARKS, MOST_ROWS, thinned
from hopline.show.images import IMAGES


def drawn(explained):
    return {figure.name: figure for figure in figures(explained, numbers(explained))}


def covered(marks):
    """Seconds under marks of each kind and row."""
    total = defaultdict(float)
    for mark in marks:
        total[mark["k"], mark["r"]] += mark["e"] - mark["s"]
    return total


def test_there_is_a_picture_for_everything_there_is_to_show():
    assert list(drawn(made())) == ["where", "timeline", "last", "parts", "causes", "what_if", "steps"]
    assert list(drawn(made(steps=1, ranks=1))) == ["where", "timeline", "parts", "causes", "what_if"]
    assert "last" not in drawn(made(known=False))
    assert "last" not in drawn(made(collectives=False))
    assert drawn(made(gpu=False)) == {}


def test_bars_of_a_rank_add_up_to_its_span():
    found = numbers(made(ranks=5))
    bars = drawn(made(ranks=5))["where"].spec["data"]["values"]
    for row in found.ranks:
        pieces = [bar for bar in bars if bar["l"] == row.label]
        assert pieces[0]["s"] == 0.0
        assert [piece["s"] for piece in pieces[1:]] == [piece["e"] for piece in pieces[:-1]]
        assert pieces[-1]["e"] == pytest.approx(row.span)
        hidden = next(piece for piece in pieces if piece["k"] == "compute with communication under it")
        assert hidden["e"] - hidden["s"] == pytest.approx(row.hidden)


def test_waiting_is_parted_from_exposed_transfer_where_it_is_told():
    explained = made(ranks=2)
    waited = tuple(sum(int(meeting.waits[i]) for meeting in explained.meetings) for i in range(2))
    bars = drawn(replace(explained, waited=waited))["where"].spec["data"]["values"]
    waiting = {bar["l"]: bar["e"] - bar["s"] for bar in bars if bar["k"] == "waiting for the last rank"}
    assert waiting == {"rank 0": pytest.approx(waited[0] * 1e-9)}
    assert waited[1] == 0


def test_all_is_drawn_where_all_fits():
    explained = made(ranks=2, steps=2)
    thin = thinned(explained)
    assert thin.said == ""
    total = covered(thin.marks)
    for i, row in enumerate(numbers(explained).ranks):
        assert total["compute", i] == pytest.approx(row.compute)
    waits = [sum(int(meeting.waits[i]) for meeting in explained.meetings) * 1e-9 for i in range(2)]
    assert total["waiting", 0] == pytest.approx(waits[0])
    assert ("waiting", 1) not in total
    assert total["transfer", 1] == pytest.approx(numbers(explained).transfer)


@pytest.mark.parametrize("most", [1, 60, 4000])
def test_thinning_keeps_how_much_of_the_time_was_work(most):
    explained = made(ranks=3, steps=40)
    filled = defaultdict(float)
    for mark in thinned(explained, most).marks:
        filled[mark["k"], mark["r"]] += mark["f"] * (mark["e"] - mark["s"])
    for i, row in enumerate(numbers(explained).ranks):
        assert filled["compute", i] == pytest.approx(row.compute, rel=1e-3)
    waits = sum(int(meeting.waits[0]) for meeting in explained.meetings) * 1e-9
    assert filled["waiting", 0] == pytest.approx(waits, rel=1e-3)


@pytest.mark.parametrize("most", [1, 50, 300])
def test_thinning_keeps_its_rule(most):
    explained = made(ranks=3, steps=40)
    thin = thinned(explained, most)
    kinds = {(mark["k"], mark["r"]) for mark in thin.marks}
    assert len(thin.marks) <= max(most, len(kinds))
    count, pieces = map(
        int, re.match(r"Thinned: (\d+) marks stand for (\d+) pieces", thin.said.replace(",", "")).groups()
    )
    assert count == len(thin.marks)
    more = sum(
        int(found[1].replace(",", "")) for mark in thin.marks if (found := re.search(r" and ([\d,]+) more$", mark["n"]))
    )
    assert count + more == pieces
    for kind, row in kinds:
        marks = sorted((mark["s"], mark["e"]) for mark in thin.marks if (mark["k"], mark["r"]) == (kind, row))
        assert all(after > before for (_, before), (after, _) in itertools.pairwise(marks))


def test_thinning_is_no_coarser_than_it_must_be():
    thin = thinned(made(ranks=4, steps=200))
    assert 0.5 * MOST_MARKS < len(thin.marks) <= MOST_MARKS


def test_of_very_many_ranks_those_of_the_path_are_drawn():
    explained = made(ranks=MOST_ROWS + 6, steps=1, layers=2)
    thin = thinned(explained)
    assert len(thin.traces) == MOST_ROWS
    assert {stretch.trace for stretch in explained.path.stretches} <= set(thin.traces)
    assert f"{MOST_ROWS} of {MOST_ROWS + 6} ranks are drawn" in thin.said


def test_the_path_goes_over_ranks():
    explained = made(ranks=2)
    stretches = [replace(s, trace=0) if s.part in ("idle", "launch") else s for s in explained.path.stretches]
    thin = thinned(replace(explained, path=replace(explained.path, stretches=tuple(stretches))))
    assert [trace for trace, _, _ in thin.path[:4]] == [0, 1, 0, 1]
    assert thin.path[0][1] == 0
    assert all(before[2] == after[1] for before, after in zip(thin.path, thin.path[1:], strict=False))


def test_the_numbers_stand_beside_the_bars():
    found = numbers(made())
    words = [value["w"] for value in drawn(made())["parts"].spec["layer"][0]["data"]["values"]]
    shares = [float(re.search(r"· ([\d.]+) %", word)[1]) for word in words]
    assert shares == [round(100 * time / found.path, 1) for time in found.parts.values()]
    changes = drawn(made())["what_if"].spec["layer"][0]["data"]["values"]
    assert [change["t"] for change in changes] == [row.time for row in found.what_ifs]
    assert [change["w"].split("· ")[1] for change in changes] == ["-25.0 %", "-6.0 %", "+6.0 %"]


def test_names_cannot_leave_their_string():
    evil = "'];alert(1);//\"\\ \u2028"
    explained = made(names=(evil,))
    explained = replace(
        explained, traces=tuple(replace(t, rank=None, source=f"{i}{evil}") for i, t in enumerate(explained.traces))
    )
    spec = json.dumps([figure.spec for figure in drawn(explained).values()])
    expressions = [json.loads(text) for text in re.findall(r'"labelExpr": ("(?:[^"\\]|\\.)*")', spec)]
    labels = [text for text in expressions if "alert" in text]
    assert len(labels) >= 2
    for text in labels:
        found, end = json.JSONDecoder().raw_decode(text)
        assert text[end:] in ("[datum.value]", "[floor(datum.value)]")
        assert any("'];alert" in label for label in found)


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_they_become_one_image(ending):
    explained = made(ranks=2, steps=2, layers=2)
    image = IMAGES[ending](picture(figures(explained, numbers(explained))))
    assert len(image) > 5000
    if ending == ".svg":
        assert all(title in image.decode() for title in ("Who did what when", "What a change would bring", "rank 1"))


def test_every_part_has_its_colour():
    assert set(PART_COLOURS) == set(PARTS)
    assert len(set(PART_COLOURS.values())) == len(PARTS)


def test_ticks_and_folds():
    assert (ticks(200, 12), ticks(1, 5), ticks(0, 5)) == (list(range(0, 200, 20)), [0], [])
    assert all(len(ticks(count, 7)) <= 7 for count in range(500))
    assert folded("one two three", 8) == ["one two", "three"]
    assert folded("") == []
