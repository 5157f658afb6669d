"""Pictures of an explained step: what is drawn adds up to the numbers, and what is thinned keeps its rule and says it."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from dataclasses import replace

import pytest
from explained_made import made, partly

from hopline.records.breakdown import Breakdown
from hopline.records.critical import PARTS, CriticalPath, Stretch
from hopline.show.explain_drawing import PART_COLOURS, ticks
from hopline.show.explain_figures import figures, folded, picture
from hopline.show.explain_numbers import numbers
from hopline.show.explain_path_pieces import path_pieces
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
    host = (Stretch("host", 0, -1, 0, 1000),)
    path = CriticalPath(0, 1000, host)
    assert list(drawn(replace(made(gpu=False), path=path))) == ["timeline"]


def test_bars_of_a_rank_add_up_to_its_span():
    found = numbers(made(ranks=5))
    bars = drawn(made(ranks=5))["where"].spec["data"]["values"]
    for row in found.ranks:
        pieces = [bar for bar in bars if bar["l"] == row.label]
        assert pieces[0]["s"] == 0.0
        assert [piece["s"] for piece in pieces[1:]] == [piece["e"] for piece in pieces[:-1]]
        assert pieces[-1]["e"] == pytest.approx(row.span)
        hidden = next(piece for piece in pieces if piece["k"] == "compute and communication")
        assert hidden["e"] - hidden["s"] == pytest.approx(row.hidden)


def test_waiting_is_parted_from_exposed_transfer_where_it_is_told():
    explained = made(ranks=2)
    waited = [sum(int(meeting.waits[i]) for meeting in explained.meetings) for i in range(2)]
    kinds = bars(explained)
    assert kinds["rank 0"]["waiting for the last rank"] == pytest.approx(waited[0] * 1e-9)
    assert "waiting for the last rank" not in kinds["rank 1"]
    assert kinds["rank 1"]["transfer nothing covers"] == pytest.approx(3 * 60e-6)


def bars(explained):
    """Seconds of each kind, of each rank."""
    found = defaultdict(dict)
    for bar in drawn(explained)["where"].spec["data"]["values"]:
        found[bar["l"]][bar["k"]] = bar["e"] - bar["s"]
    return found


@pytest.mark.parametrize("known", [0, 2, 3])
def test_time_that_may_be_waiting_or_transfer_has_a_colour_of_its_own(known):
    explained = partly(known)
    for label, kinds in bars(explained).items():
        row = next(row for row in numbers(explained).ranks if row.label == label)
        assert ("exposed, waiting or transfer" in kinds) == (known < 3)
        assert ("transfer nothing covers" in kinds) == (known > 0)
        assert kinds.get("exposed, waiting or transfer", 0.0) == pytest.approx(row.untold)
        assert sum(kinds.values()) == pytest.approx(row.span)


def test_a_trace_that_covers_less_than_the_others_has_a_shorter_bar():
    explained = made(ranks=2)
    first, second = explained.breakdowns
    work = first.compute // 4
    short = Breakdown(first.start, first.start + explained.time // 2, work, work, work, 0, 0)
    drawn_ = bars(replace(explained, breakdowns=(short, second), waited=(0, 0), untold=(0, 0)))
    assert drawn_["rank 0"]["not in its trace"] == pytest.approx(explained.time * 0.5e-9, rel=1e-3)
    assert "not in its trace" not in drawn_["rank 1"]
    assert sum(drawn_["rank 0"].values()) == pytest.approx(explained.time * 1e-9)


def test_changes_that_were_asked_for_are_the_first_picture():
    assert list(drawn(replace(made(), asked=True)))[:2] == ["what_if", "where"]
    assert drawn(replace(made(), played="step 2, the median one"))["what_if"].title.endswith(
        "to step 2, the median one"
    )


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
    assert [(piece.trace, piece.part) for piece in thin.path[:3]] == [(0, "launch"), (1, "compute"), (0, "launch")]
    assert thin.path[0].start == 0
    assert all(before.end == after.start for before, after in itertools.pairwise(thin.path))


def test_the_path_has_the_colours_of_its_parts():
    explained = made()
    *_, path = drawn(explained)["timeline"].spec["layer"]
    times = defaultdict(float)
    for piece in path["data"]["values"]:
        times[piece["k"]] += piece["e"] - piece["s"]
    assert times == pytest.approx(numbers(explained).parts)
    scale = path["encoding"]["color"]["scale"]
    colour = dict(zip(scale["domain"], scale["range"], strict=True))
    assert {part: colour[part] for part in times} == {part: PART_COLOURS[part] for part in times}


def test_a_path_of_very_many_stretches_is_drawn_as_what_it_mostly_is():
    explained = made(ranks=2, steps=1)
    parts = [("host", 0, 70), ("launch", 1, 30)] * 5000
    ends = list(itertools.accumulate(time for _, _, time in parts))
    stretches = [
        Stretch(part, trace, -1, end - time, end) for (part, trace, time), end in zip(parts, ends, strict=True)
    ]
    many = replace(explained, path=replace(explained.path, stretches=tuple(stretches)), start=0, end=ends[-1])
    pieces, said = path_pieces(many, {0, 1}, most=100)
    assert [(piece.trace, piece.part, piece.start, piece.end) for piece in pieces] == [(0, "host", 0, ends[-1])]
    assert said == "The path is drawn as what it mostly is in each 5.0 µs."
    pieces, said = path_pieces(many, {0, 1}, most=10_000)
    assert (len(pieces), said) == (10_000, "")


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
