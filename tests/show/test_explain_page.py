"""The terminal page and the JSON of an explained step: exact numbers, narrow, and plain about what is unknown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from explained_made import length, made, partly

from hopline.quantity import show
from hopline.records.blame import BETWEEN, Item
from hopline.records.critical import PARTS
from hopline.show.document import plain
from hopline.show.explain import explained_json, page
from hopline.show.explain_numbers import labels, numbers
from hopline.show.explain_rows import PART_WORDS, spoken
from hopline.show.explain_tables import tables
from hopline.study.stragglers import stragglers


def value(data, key):
    """What stands at ``ranks.0.exposed``."""
    for word in key.split("."):
        data = data[int(word) if isinstance(data, list | tuple) else word]
    return data


def rows_under(text, title):
    """Lines of the table under a heading."""
    block = text.split(f"\n{title}\n")[1].split("\n\n")[0]
    return block.splitlines()


def test_parts_of_a_rank_add_up_and_are_those_of_its_events():
    explained = made(ranks=3)
    for trace, row in zip(explained.traces, explained_json(explained)["ranks"], strict=True):
        talks = trace.is_communication()
        spans = list(zip(trace.events.start.tolist(), trace.events.end.tolist(), strict=True))
        busy = length(spans)
        compute = length([span for span, mark in zip(spans, talks, strict=True) if not mark])
        assert row["busy"] == pytest.approx(busy * 1e-9)
        assert row["exposed"] == pytest.approx((busy - compute) * 1e-9)
        assert row["compute"] + row["exposed"] + row["idle"] == pytest.approx(row["span"])
        assert row["hidden"] + row["exposed"] == pytest.approx(row["communication"])


def test_numbers_of_collectives_are_sums_of_the_meetings():
    explained = made(ranks=4, steps=5)
    data = explained_json(explained)
    transfer = sum(meeting.transfer for meeting in explained.meetings) * 1e-9
    assert data["transfer"] == pytest.approx(transfer)
    assert sum(group["transfer"] for group in data["groups"]) == pytest.approx(transfer)
    (group,) = data["groups"]
    assert group["algbw"] == pytest.approx((1 << 20) * 5 / transfer)
    assert group["busbw"] == pytest.approx(group["algbw"] * 2 * 3 / 4)
    assert (group["last"], group["last_times"], group["told"]) == ("rank 1", 5, 5)
    worst = [meeting["waiting"] for meeting in data["meetings"]]
    assert worst == sorted(worst, reverse=True)


def test_the_path_is_told_by_part_and_by_cause_and_adds_up():
    data = explained_json(made())
    assert sum(data["parts"].values()) == pytest.approx(data["time"])
    assert data["path"] - data["parts"]["transfer"] == pytest.approx(data["least"])
    causes = {(row["part"], row["name"]): row["time"] for row in data["causes"]}
    assert sum(time for (part, _), time in causes.items() if part == "compute") == pytest.approx(
        data["parts"]["compute"]
    )
    assert causes["transfer", "all_reduce in group 0"] == pytest.approx(data["parts"]["transfer"])


def test_json_is_json_and_its_keys_are_those_of_the_tables():
    explained = made(ranks=2)
    data = json.loads(json.dumps(explained_json(explained), allow_nan=False))
    keys = [cell.key for table in tables(numbers(explained)) for row in table.rows for cell in row if cell.key]
    assert len(keys) > 60
    assert not [key for key in keys if isinstance(value(data, key), dict | list)]


def test_rows_are_cut_and_the_cut_is_told():
    explained = made(steps=30)
    data = explained_json(explained, most=7)
    assert (len(data["meetings"]), data["meetings_left_out"]) == (7, 23)
    assert (len(data["steps"]), data["steps_left_out"]) == (7, 23)
    text = plain(page(explained))
    assert "  and 20 more\n" in text.split("Single collectives")[1]
    assert "  and 22 more\n" in text.split("\nSteps\n")[1]


@pytest.mark.parametrize("ranks", [1, 4, 64])
def test_the_page_is_narrow_whatever_the_names(ranks):
    long = ("void at::native::" + "x" * 10_000, "a b\x1b[31m\r\n" * 30, "مرحبا" * 40)
    explained = made(ranks=ranks, names=long, findings=("word " * 60,))
    far = tuple(replace(meeting, group="g" * 300, last=0) for meeting in explained.meetings)
    unnamed = tuple(replace(trace, rank=None, source="/far/away/" + "z" * 300) for trace in explained.traces)
    waits = {"waited": (10_000,) * ranks, "untold": (5_000,) * ranks}
    long_ones = replace(explained, meetings=far, traces=unnamed, **waits, told=("x" * 100 + " " + "y" * 100,))
    text = plain(page(long_ones))
    assert max(map(len, text.splitlines())) < 110
    assert "\x1b" not in text
    assert "\r" not in text


def test_the_answer_stands_first():
    lines = plain(page(made())).splitlines()
    assert lines[0] == "3 steps: 1.564 ms on 4 ranks"
    assert lines[1] == "Ranks wait for rank 1: it comes last in every all-reduce."


def test_what_is_unknown_is_said_and_not_shown_as_nought():
    explained = made(gpu=False)
    text = plain(page(explained))
    assert rows_under(text, "Each rank")[1].split() == ["rank", "0", *["unknown"] * 5]
    assert rows_under(text, "Steps")[1].split()[-3:] == ["unknown"] * 3
    assert explained_json(explained)["ranks"][0]["exposed"] is None
    text = plain(page(made(known=False)))
    assert "Of 3 of 3 collectives transfer cannot be told from waiting" in text
    assert rows_under(text, "Collectives")[1].split()[:7] == ["all_reduce", "0", "3", "1", "MiB", "unknown", "unknown"]
    assert "≥ " in rows_under(text, "Collectives")[1]


def test_all_findings_are_shown():
    said = tuple(f"finding number {i}" for i in range(20))
    lines = plain(page(made(findings=said))).splitlines()
    assert lines[1:21] == [f"Finding number {i}." for i in range(20)]


def test_waiting_that_cannot_be_told_is_unknown_and_not_nought():
    explained = partly(0)
    assert {(row["waiting"], row["untold"]) for row in explained_json(explained)["ranks"]} == {
        (None, row["exposed"]) for row in explained_json(explained)["ranks"]
    }
    header, row, *_ = rows_under(plain(page(explained)), "Each rank")
    assert "of it waiting" in header
    assert "unknown" in row
    (group,) = explained_json(explained)["groups"]
    assert (group["transfer"], group["waiting"], group["last"]) == (None, None, None)
    assert explained_json(explained)["transfer"] is None
    assert {row["margin"] for row in explained_json(explained)["meetings"]} == {None}


def test_of_waiting_that_is_told_in_part_the_known_is_a_bound():
    """Known of the first two of three meetings; of the third all is waiting or transfer."""
    explained = partly(2)
    third = explained.meetings[2]
    for i, row in enumerate(explained_json(explained)["ranks"]):
        known = sum(int(meeting.waits[i]) for meeting in explained.meetings[:2])
        assert row["waiting"] == pytest.approx(known * 1e-9)
        assert row["untold"] == pytest.approx(int(third.end[i] - third.start[i]) * 1e-9)
    _, row, *_, note = rows_under(plain(page(explained)), "Each rank")
    assert re.search(r"rank 0 .* ≥ \d", row)
    assert "there may be more" in note
    assert "≥ " in rows_under(plain(page(explained)), "Collectives")[1]
    whole = plain(page(made()))
    assert "≥" not in whole
    assert "may be more" not in whole


def test_without_any_communication_nothing_is_said_of_it():
    text = plain(page(made(collectives=False)))
    assert "waiting" not in text.split("Each rank")[1]
    assert "slow one another down" not in text


def test_each_table_says_of_which_time_it_is():
    explained = made()
    text = " ".join(plain(page(explained)).split())
    assert "from the first event of the rank's trace to the last" in text
    assert "between its own marks" in text
    assert "The traces have events in" not in text
    chosen = " ".join(plain(page(replace(explained, step=1))).split())
    assert "between the rank's own marks of step 1" in chosen
    seen = replace(explained, end=explained.steps[0].time // 2)
    assert f"The traces have events in {show(seen.time * 1e-9, 'time')} only" in " ".join(plain(page(seen)).split())


def test_only_sure_last_ranks_are_counted():
    explained = made(steps=4)
    first, second, *others = explained.meetings
    doubtful = (replace(first, rivals=(2,)), replace(second, rivals=(0,)), *others)
    some = replace(explained, meetings=doubtful, stragglers=stragglers(explained.traces, doubtful))
    (group,) = explained_json(some)["groups"]
    assert (group["last"], group["last_times"], group["told"]) == ("rank 1", 2, 2)
    text = " ".join(plain(page(some)).split())
    assert "rank 1 (100 %)" in text
    assert "in 2 of 4 collectives: there, clocks are known to ± 900 ns at worst" in text
    none = tuple(replace(meeting, rivals=(2,)) for meeting in explained.meetings)
    (group,) = explained_json(replace(explained, meetings=none))["groups"]
    assert (group["last"], group["told"]) == (None, 0)
    assert rows_under(plain(page(replace(explained, meetings=none))), "Collectives")[1].split()[9] == "?"


def test_notes_are_there_only_where_there_is_what_they_explain():
    told = plain(page(made()))
    assert "The longest waits first." in told
    assert "rank?" not in told
    unknown = plain(page(made(known=False)))
    assert "The longest waits first" not in unknown
    assert "In order of time." in unknown
    assert "Between operators" not in told
    blame = made().blame
    path = replace(blame, operators=(Item(BETWEEN, 1000, 2),))
    assert "Between operators: the program itself" in plain(page(replace(made(), blame=path)))


def test_what_was_not_played_whole_is_said():
    explained = replace(made(), played="step 41, the median one")
    text = plain(page(explained))
    assert "\nWhat a change would bring to step 41, the median one\n" in text
    assert "the whole is too long to be played again" in text
    assert explained_json(explained)["played"] == "step 41, the median one"
    assert "too long" not in plain(page(made()))


def test_premises_stand_once_with_the_changes_that_they_are_of():
    explained = made()
    first, second, *others = explained.what_ifs.answers
    answers = (replace(first, premises=("x holds", "y holds")), replace(second, premises=("x holds",)), *others)
    explained = replace(explained, what_ifs=replace(explained.what_ifs, answers=answers, premises=("z holds",)))
    text = " ".join(plain(page(explained)).split())
    names = {row.change for row in numbers(explained).what_ifs if "x holds" in row.premises}
    assert names == {first.words, second.words}
    assert text.count("premise: ") == 3
    assert "premise: z holds premise: " in text
    assert any(f"premise: {', '.join(order)}: x holds" in text for order in (list(names), list(names)[::-1]))
    assert f"premise: {first.words}: y holds" in text
    data = explained_json(explained)
    assert data["premises"] == ("z holds",)
    assert {row["change"]: row["premises"] for row in data["what_ifs"]}[first.words] == ("x holds", "y holds")
    assert "premise" not in plain(page(replace(explained, what_ifs=replace(explained.what_ifs, answers=()))))


def test_changes_that_were_asked_for_stand_first():
    titles = [table.title for table in tables(numbers(replace(made(), asked=True)))]
    assert titles[:2] == ["What a change would bring", "Each rank"]
    usual = [table.title for table in tables(numbers(made()))]
    assert usual.index("What a change would bring") > usual.index("The critical path")
    assert sorted(usual) == sorted(titles)


def test_a_gain_within_the_error_is_none_and_a_bound_is_one():
    explained = made()
    first, *others = explained.what_ifs.answers
    answers = (replace(first, within_error=True), *(replace(one, at_most=True) for one in others))
    text = plain(page(replace(explained, what_ifs=replace(explained.what_ifs, answers=answers))))
    rows = {row.split("  ")[1]: row for row in rows_under(text, "What a change would bring")[1:4]}
    assert "within the error" in rows["communication 2 times as fast"]
    assert "≤ " in rows["rank 1 as fast as the median"]
    assert "≤ " not in rows["kernels 0.9 times as fast"]
    assert "measured were 1.564 ms" in " ".join(text.split())


def test_inferred_waits_are_told_in_plain_words():
    explained = made()
    for count, says in ((1, "1 wait on it is inferred"), (3, "3 waits on it are inferred")):
        path = replace(explained.path, inferred=count)
        assert says in plain(page(replace(explained, path=path)))


def test_folders_of_files_are_not_told():
    told = ("/far/away/rank0.json: odd", "see /far/away from here", "/very/far/away/x.json: other")
    explained = made()
    traces = tuple(replace(trace, source=f"/far/away/{trace.source}") for trace in explained.traces)
    found = numbers(replace(explained, traces=traces, told=told))
    assert found.told[:3] == ("rank0.json: odd", "see /far/away from here", "/very/far/away/x.json: other")
    assert found.ranks[0].source == "/far/away/rank0.json"


def test_names_of_files_keep_their_first_letter():
    assert spoken("a.json: no rank") == "a.json: no rank."
    assert spoken("ranks wait") == "Ranks wait."


def test_of_many_ranks_the_extremes_are_shown():
    explained = made(ranks=40)
    rows = rows_under(plain(page(explained)), "Each rank")
    shown = [int(re.match(r"\s+rank (\d+)", row)[1]) for row in rows if row.startswith("  rank ")]
    exposed = sorted((row.exposed, row.rank) for row in numbers(explained).ranks)
    assert shown == sorted(rank for _, rank in exposed[:8] + exposed[-8:])
    assert "  and 24 more between the most and the least exposed" in rows


def test_undecided_last_ranks_are_marked():
    explained = made()
    first, *others = explained.meetings
    doubtful = replace(explained, meetings=(replace(first, rivals=(2,)), *others))
    assert [row.sure for row in numbers(doubtful).meetings if row.number == 0] == [False]
    assert any("rank 1?" in row for row in rows_under(plain(page(doubtful)), "Single collectives"))


def test_a_refused_replay_is_told():
    explained = made()
    refused = replace(explained.what_ifs, refused="the replay of rank 1 is off by 9 %", answers=())
    text = plain(page(replace(explained, what_ifs=refused)))
    assert "What a change would bring is not said: the replay of rank 1 is off by 9 %." in text
    assert "speed-up" not in text


def test_traces_of_one_rank_have_names_of_their_own():
    traces = made(ranks=2).traces
    assert labels([traces[0], traces[1], traces[0]]) == ["rank 0, file 1", "rank 1", "rank 0, file 3"]
    assert labels([replace(traces[0], rank=None, source="/a/b/c.json")]) == ["c.json"]
    assert labels([replace(traces[0], rank=None, name="process 7")]) == ["process 7"]


def test_every_part_has_its_words():
    assert set(PART_WORDS) == set(PARTS)
