"""The smallest schedules do what they say."""

import pytest

from hopline.machine.executor import STEPS
from hopline.schedule.check.proof import check
from hopline.schedule.operations import COPY, REDUCE, SEND
from hopline.schedule.probes import PROBES, RANKS


def test_each_step_that_a_machine_knows_has_a_probe():
    assert tuple(PROBES) == STEPS


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 8, 1000])
def test_a_probe_keeps_its_promise(name, times, size):
    assert check(PROBES[name].build(size, times)).proved


@pytest.mark.parametrize(
    ("name", "sends", "adds", "copies"),
    [("send", 2, 0, 0), ("exchange", 4, 0, 0), ("send-add", 2, 2, 0), ("exchange-add", 4, 4, 0), ("copy", 0, 0, 4)],
)
def test_two_steps_have_twice_the_rows_of_other_bytes(name, sends, adds, copies):
    columns = PROBES[name].build(64, 2).columns
    for kind, count in ((SEND, sends), (REDUCE, adds), (COPY, copies)):
        rows = columns.kind == kind
        assert rows.sum() == count
        assert not count or set(columns.start[rows].tolist()) == {0, 64}
    assert set(columns.rank.tolist()) == set(range(RANKS))
