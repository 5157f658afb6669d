"""The plan's order and the division of its time."""

from __future__ import annotations

import json
import math

import pytest

from hopline.errors import InputError
from hopline.run.plan import DEFAULT_SIZES, FEWEST_REPEATS, Budget, Plan, is_over


class Ticker:
    """A clock that is set by hand."""

    def __init__(self):
        self.at = 100.0

    def __call__(self) -> float:  # noqa: D102
        return self.at


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (8, 8)},
        {"sizes": (-1,)},
        {"sizes": (1.5,)},
        {"sizes": (2**31,)},
        {"seconds": 0},
        {"seconds": math.nan},
        {"seconds": math.inf},
        {"passes": 0},
        {"most": 4},
        {"within": 0},
        {"kinds": ()},
        {"kinds": ("latency", "speed")},
        {"window": 0},
        {"window": 10**6},
        {"ranks": 1},
        {"ranks": 10**4},
    ],
)
def test_wrong_plans_are_refused(wrong):
    with pytest.raises(InputError) as caught:
        Plan(**wrong)
    assert "expected" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_default_sizes_go_from_nothing_to_64_mib():
    assert DEFAULT_SIZES[0] == 0
    assert DEFAULT_SIZES[-1] == 64 * 2**20
    assert 20 <= len(DEFAULT_SIZES) <= 30


def test_plans_survive_the_way():
    plan = Plan(sizes=(0, 8), seconds=2.5, kinds=("latency", "pair-bw"), window=3, ranks=7, pair_sizes=(1, 2))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert Plan.from_json(json.loads(json.dumps(Plan().to_json()))) == Plan()


def test_turn_limits_add_up_to_the_most():
    plan = Plan(most=400, passes=3)
    kept = 0
    for visit in range(plan.passes):
        kept += plan.turn_limit(kept, visit)
    assert kept == 400
    assert plan.turn_limit(0, 2) == 400
    assert plan.fewest * plan.passes >= FEWEST_REPEATS


def test_time_left_over_goes_to_the_turns_that_follow():
    clock = Ticker()
    budget = Budget(12.0, 4, clock)
    assert budget.end_of_turn() == 103.0
    clock.at = 100.5
    assert budget.end_of_turn() == pytest.approx(100.5 + 11.5 / 3)
    clock.at = 111.0
    assert budget.end_of_turn() == pytest.approx(111.5)
    clock.at = 120.0
    assert budget.end_of_turn() == 120.0
    assert budget.used == 1.0


PLAN = Plan(passes=1, within=0.02)


@pytest.mark.parametrize(
    ("before", "here", "late", "over"),
    [
        ([], [], True, False),
        ([], [1.0] * 4, True, False),
        ([], [1.0] * 5, True, True),
        ([], [1.0] * 9, False, False),
        ([], [1.0] * 10, False, True),
        ([], [1.0, 2.0] * 10, False, False),
        ([1.0, 2.0] * 10, [1.0] * 10, False, False),
        ([], [1.0, 2.0] * 50, False, True),
    ],
)
def test_end_of_turn(before, here, late, over):
    assert is_over(before, here, PLAN, 100, late) is over
