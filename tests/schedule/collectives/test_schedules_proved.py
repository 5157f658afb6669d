"""Every entry of COLLECTIVES keeps its promise, with real numbers and proved, in columns as the rules of order say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from collective_shapes import ENTRIES, RANKS, shapes
from executor import execute

from hopline.errors import UnknownNameError
from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES, find
from hopline.schedule.matching import match
from hopline.schedule.operations import NONE, RECV, REDUCE, SEND, Columns, Schedule
from hopline.schedule.shape import Shape

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


@every_entry
def test_real_numbers_come_out_right_in_drawn_orders(entry):
    for ranks in (1, 2, 3, 5, 6, 8, 9, 12):
        for size in (0, 1, ranks + 1, 41):
            for seed, shape in enumerate(shapes(entry, ranks, size)):
                schedule = entry.build(shape)
                assert execute(schedule, seed).wrong(schedule) == [], shape


@every_entry
def test_the_proof_finds_nothing_wrong(entry):
    for ranks in RANKS:
        for size in (0, ranks - 1, 12 * ranks + 5) if ranks < 18 else (12 * ranks + 5,):
            for shape in shapes(entry, ranks, size):
                found = check(entry.build(shape))
                assert (found.faults, found.unchecked) == ((), ()), shape


@every_entry
def test_rows_stand_below_all_that_they_wait_for(entry):
    for shape in shapes(entry, 12, 1000):
        schedule = entry.build(shape)
        rows = np.arange(len(schedule))
        assert np.all(schedule.columns.after < rows)
        for pairs in (schedule.more, schedule.begun):
            assert np.all(pairs[:, 1] < pairs[:, 0])
        sends = np.flatnonzero(schedule.columns.kind == SEND)
        assert np.array_equal(match(schedule)[sends], sends + 1)
        assert schedule.rounds[0] == 0
        assert np.all(np.diff(schedule.rounds) > 0)
        assert schedule.rounds[-1] < len(schedule)


@every_entry
def test_what_help_shows(entry):
    schedule = entry.build(Shape(4, 64))
    assert schedule.name == entry.name
    assert entry.about
    assert "\n" not in entry.about
    assert len(entry.about) < 80
    assert find(entry.name) is entry


def test_an_unknown_name_lists_the_known():
    with pytest.raises(UnknownNameError, match="all_reduce-ring"):
        find("all_reduce-necklace")


def without(schedule: Schedule, row: int, **changes: int) -> Schedule:
    """``schedule`` with one row changed."""
    columns = {name: getattr(schedule.columns, name).copy() for name in Columns.__slots__}
    for name, value in changes.items():
        columns[name][row] = value
    return replace(schedule, columns=Columns(**columns))


@pytest.mark.parametrize("name", ["all_reduce-rabenseifner", "reduce-chain", "all_reduce-double_binary_tree"])
def test_the_executor_finds_planted_faults(name):
    schedule = COLLECTIVES[name].build(Shape(6, 60, chunks=2))
    columns = schedule.columns
    last_reduce = int(np.flatnonzero(columns.kind == REDUCE)[-1])
    shifted = without(schedule, last_reduce, size=int(columns.size[last_reduce]) - 1)
    assert execute(shifted, 0).wrong(shifted)
    waiting = np.flatnonzero((columns.kind == SEND) & (columns.after != NONE)).tolist()
    racing = [without(schedule, row, after=NONE) for row in waiting]
    assert all(any(fails(early, seed) for seed in range(40)) for early in racing[:3])


def fails(schedule: Schedule, seed: int) -> bool:
    """Whether the order drawn by ``seed`` goes wrong."""
    try:
        return bool(execute(schedule, seed).wrong(schedule))
    except AssertionError:
        return True


def test_the_executor_finds_what_waits_for_ever():
    schedule = COLLECTIVES["all_reduce-ring"].build(Shape(3, 9))
    receives = np.flatnonzero(schedule.columns.kind == RECV)
    stuck = without(schedule, int(receives[0]), after=int(receives[-1]))
    with pytest.raises(AssertionError, match="wait for ever"):
        execute(stuck, 0)
