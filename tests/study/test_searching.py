"""Searches over whole numbers: the least of a cost, and where an answer changes."""

import math

import pytest

from hopline.study.searching import Run, lowest, runs


@pytest.mark.parametrize("steps", [0, 1, 6, 14, 62])
@pytest.mark.parametrize("size", [2, 17, 1000, 65536])
def test_the_best_number_of_chunks_is_that_of_trying_all(steps, size):
    def cost(k):
        return (steps + k) * (1e-6 + math.ceil(size / k) / 1e9)

    most = min(size, 4096)
    best = min((cost(k), k) for k in range(1, most + 1))[0]
    assert cost(lowest(cost, most)) <= best * 1.001


@pytest.mark.parametrize("place", [1, 2, 3, 63, 64, 65, 100, 128])
def test_a_lowest_number_is_found_wherever_it_is(place):
    assert lowest(lambda k: abs(k - place), 128) == place


def test_equal_costs_give_the_smallest_number():
    assert lowest(lambda k: 1.0, 1000) == 1


def test_few_costs_are_worked_out():
    asked = []

    def cost(k):
        asked.append(k)
        return (k - 30_000) ** 2

    assert lowest(cost, 65536) == 30_000
    assert len(asked) < 90


def test_changes_are_found_to_the_number():
    changes = (5000, 5003, 400_001)

    def answers(m):
        return [sum(m >= change for change in changes)]

    assert runs(answers, 1, 1 << 20) == [
        Run(1, 4999, 0),
        Run(5000, 5002, 1),
        Run(5003, 400_000, 2),
        Run(400_001, 1 << 20, 3),
    ]


def test_an_answer_that_stays_right_is_kept():
    assert runs(lambda m: ["a", "b"] if m < 10 else ["b", "a"], 1, 100) == [Run(1, 100, "a")]
    assert runs(lambda m: ["a"] if m < 10 else ["b"] if m < 20 else ["a", "b"], 1, 64) == [
        Run(1, 9, "a"),
        Run(10, 64, "b"),
    ]


def test_one_number_is_a_run():
    assert runs(lambda m: ["a"], 7, 7) == [Run(7, 7, "a")]
