"""The order in which rows are posted, and when it decides which messages meet: brute force over small ones, and GOAL text."""

from itertools import permutations

import numpy as np
import pytest
from spent import at_most

from hopline.formats.schedules import posting, table, ties
from hopline.formats.schedules.contents import Asked
from hopline.formats.schedules.posting import lined
from hopline.formats.schedules.ties import FILE_ORDER
from hopline.schedule.check.proof import check
from hopline.schedule.matching import match
from hopline.schedule.operations import NONE


def goal(tmp_path, *ranks):
    """The reading of a GOAL file; each rank is its statements, parted by semicolons."""
    blocks = [
        "\n".join([f"rank {r} {{", *(part.strip() for part in text.split(";")), "}"]) for r, text in enumerate(ranks)
    ]
    path = tmp_path / "a.goal"
    path.write_text("\n".join([f"num_ranks {len(ranks)}", *blocks, ""]))
    return table.read(str(path), Asked())


def labels(reading):
    """Labels in the order of rows."""
    return [reading.place(row).split()[-1] for row in range(len(reading.schedule))]


TAKE = "c: recv 8b from 0 tag 0; d: recv 8b from 0 tag 0; d requires c"
TWO = "a: send 8b to 1 tag 0; b: send 8b to 1 tag 0"


@pytest.mark.parametrize("wait", ["requires", "irequires"])
def test_a_send_that_waits_for_one_below_it_meets_the_later_receive(tmp_path, wait):
    reading = goal(tmp_path, f"{TWO}; a {wait} b", TAKE)
    assert labels(reading) == ["b", "a", "c", "d"]
    assert match(reading.schedule)[:2].tolist() == [2, 3]
    checked = check(reading.schedule)
    assert (checked.faults, checked.blocking, checked.buffered) == ((), True, True)
    assert FILE_ORDER not in reading.remarks


def test_receives_are_posted_in_their_order_too(tmp_path):
    reading = goal(tmp_path, f"{TWO}; b requires a", TAKE.replace("d requires c", "c requires d"))
    assert check(reading.schedule).faults == ()
    assert labels(reading) == ["a", "b", "d", "c"]


def test_only_ranks_that_need_it_change_their_order(tmp_path):
    reading = goal(
        tmp_path, f"{TWO}; x: calc 5; a requires b", "c: recv 8b from 0 tag 0; y: calc 1; d: recv 8b from 0 tag 0"
    )
    assert labels(reading) == ["x", "b", "a", "c", "y", "d"]


def test_a_ring_is_left_to_the_check(tmp_path):
    reading = goal(tmp_path, f"x: calc 1; {TWO}; a requires b; b requires a; x requires a; y: calc 2", TAKE)
    assert labels(reading)[:4] == ["y", "x", "a", "b"]
    assert [fault.kind for fault in check(reading.schedule).faults] == ["order"]
    assert FILE_ORDER not in reading.remarks


# --- which order ------------------------------------------------------------------------------------------------------


def drawn(rng):
    """A few rows with waits that have no circle, and the channel of each."""
    count = int(rng.integers(2, 7))
    line = rng.permutation(count)
    waits = [[int(line[i]), int(line[j])] for i in range(count) for j in range(i) if rng.random() < 0.3]
    return count, waits, rng.choice([NONE, 0, 0, 1, 1], count).tolist()


def closed(count, waits):
    """Of each row, all that it waits for."""
    needs = [{on for row, on in waits if row == me} for me in range(count)]
    for _ in range(count):
        needs = [mine.union(*(needs[on] for on in mine)) for mine in needs]
    return needs


def possible(line, needs):
    place = {row: i for i, row in enumerate(line)}
    return all(place[on] < place[row] for row, mine in enumerate(needs) for on in mine)


def in_file_order(line, needs, channel):
    """Whether all messages of one channel that nothing orders stand as in the file."""
    place = {row: i for i, row in enumerate(line)}
    pairs = [(i, j) for j in range(len(line)) for i in range(j) if channel[i] == channel[j] != NONE]
    return all(place[i] < place[j] for i, j in pairs if i not in needs[j] and j not in needs[i])


def test_file_order_is_kept_wherever_any_order_keeps_it():
    rng, torn = np.random.default_rng(3), 0
    for _ in range(3000):
        count, waits, channel = drawn(rng)
        needs, line = closed(count, waits), lined(list(range(count)), waits, channel)
        assert sorted(line) == list(range(count))
        assert possible(line, needs)
        if not in_file_order(line, needs, channel):
            torn += 1
            assert not any(
                possible(other, needs) and in_file_order(other, needs, channel) for other in permutations(range(count))
            ), (waits, channel, line)
    assert torn > 20


@pytest.mark.parametrize("step", [1, 2, 0])
def test_large_ranks_in_reverse_take_no_long_time(step, monkeypatch):
    """Each waits for the one below it, or for its mirror image."""
    monkeypatch.setattr(posting, "_STEPS", 100_000)
    count = 30_000
    waits = [[i, i + step] for i in range(count - step)] if step else [[i, count - 1 - i] for i in range(count // 2)]
    with at_most(10):
        line = lined(list(range(count)), waits, [i % 2 for i in range(count)])
    place = np.argsort(line)
    assert all(place[on] < place[row] for row, on in waits)


# --- whether it matters -----------------------------------------------------------------------------------------------

FREE = "c: recv 8b from 0 tag 0; d: recv 8b from 0 tag 0"
OPEN = {
    "the sends are alike": (TWO, TAKE, False),
    "the receives are alike": (f"{TWO}; x: calc 3; b requires x", FREE, False),
    "nothing is alike": (f"{TWO}; x: calc 3; b requires x", TAKE, True),
    "sizes differ": (TWO.replace("b: send 8b", "b: send 9b"), TAKE.replace("d: recv 8b", "d: recv 9b"), True),
    "other tags": (f"{TWO.replace('1 tag 0', '1 tag 7', 1)}; x: calc 3; b requires x", TAKE.replace("tag 0", "tag 7", 1), False),
    "ordered over others": (f"{TWO}; x: calc 3; b requires x; x requires a", TAKE, False),
    "begun in order": (f"{TWO}; x: calc 3; b requires x; x irequires a", TAKE, False),
    "one is waited for": (f"{TWO}; x: calc 3; x requires b", TAKE, True),
    "one has to begin": (f"{TWO}; x: calc 3; b requires x; y: calc 3; a irequires x", TAKE, True),
    "ordered by an answer": (
        f"{TWO}; x: recv 1b from 1 tag 1; b requires x", f"{TAKE}; x: send 1b to 0 tag 1; x requires c", False),
    "an answer to nothing": (f"{TWO}; x: recv 1b from 1 tag 1; b requires x", f"{TAKE}; x: send 1b to 0 tag 1", True),
    "an answer that has only begun": (
        f"{TWO}; x: recv 1b from 1 tag 1; b irequires x", f"{TAKE}; x: send 1b to 0 tag 1; x requires c", True),
}  # fmt: skip


@pytest.mark.parametrize(("zero", "one", "told"), OPEN.values(), ids=OPEN)
def test_an_open_order_is_told_where_it_matters(tmp_path, zero, one, told):
    assert (FILE_ORDER in goal(tmp_path, zero, one).remarks) == told


def test_an_order_that_is_too_far_away_is_taken_to_be_open(tmp_path, monkeypatch):
    zero, one, _ = OPEN["ordered by an answer"]
    monkeypatch.setattr(ties, "_STEPS", 1)
    assert FILE_ORDER in goal(tmp_path, zero, one).remarks
