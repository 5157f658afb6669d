"""Schedules from what single steps cost: rounds of two ranks add up, and nothing is counted twice."""

import numpy as np
import pytest

from hopline.machine.executor import COPY, EXCHANGE, EXCHANGE_ADD, SEND, SEND_ADD, STEPS, Executor
from hopline.schedule.collectives.table import find
from hopline.schedule.probes import PROBES
from hopline.schedule.shape import Shape
from hopline.sim.executing import simulate_executor

SIZES = np.array([8.0, 1e3, 1e6])
COSTS = {
    SEND: (20, 21, 500),
    EXCHANGE: (25, 27, 700),
    SEND_ADD: (26, 28, 800),
    EXCHANGE_ADD: (33, 36, 1100),
    COPY: (3, 4, 90),
}
EXECUTOR = Executor("mpi", 3e-6, 9e-6, {step: (SIZES, np.array(COSTS[step]) * 1e-6) for step in STEPS})


def took(name, size, ranks=2):
    return simulate_executor(find(name).build(Shape(ranks, size)), EXECUTOR).time


def step(name, size):
    return float(EXECUTOR.time(name, np.array([float(size)]))[0])


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("size", [8, 1000, 1_000_000])
def test_a_single_step_takes_what_was_measured(name, size):
    at = SIZES.tolist().index(size)
    found = simulate_executor(PROBES[name].build(size, 1), EXECUTOR)
    assert found.time == pytest.approx(COSTS[name][at] * 1e-6, abs=2e-12)


@pytest.mark.parametrize("name", [SEND, EXCHANGE, EXCHANGE_ADD])
def test_a_second_step_costs_no_first_message(name):
    one, two = (simulate_executor(PROBES[name].build(1000, times), EXECUTOR).time for times in (1, 2))
    assert two - one == pytest.approx(step(name, 1000), abs=1e-11)


@pytest.mark.parametrize("size", [16, 2000, 2_000_000])
def test_collectives_of_two_ranks_are_their_rounds(size):
    half = size // 2
    assert took("all_reduce-ring", size) == pytest.approx(
        EXECUTOR.first + step(EXCHANGE_ADD, half) + step(EXCHANGE, half), abs=1e-11
    )
    assert took("all_reduce-recursive_doubling", size) == pytest.approx(
        EXECUTOR.first + step(EXCHANGE_ADD, size), abs=1e-11
    )
    assert took("all_reduce-binomial", size) == pytest.approx(
        EXECUTOR.first + step(SEND_ADD, size) + step(SEND, size), abs=1e-11
    )


def test_a_ring_of_more_ranks_takes_its_rounds_one_after_another():
    size, ranks = 4_000_000, 4
    piece = size // ranks
    rounds = (ranks - 1) * (step(EXCHANGE_ADD, piece) + step(EXCHANGE, piece))
    assert took("all_reduce-ring", size, ranks) == pytest.approx(EXECUTOR.first + rounds, rel=1e-3)


def test_without_messages_nothing_is_first():
    assert simulate_executor(PROBES[COPY].build(1000, 2), EXECUTOR).time == pytest.approx(8e-6)


def test_rows_and_path_are_of_one_clock():
    found = simulate_executor(find("all_reduce-ring").build(Shape(2, 2000)), EXECUTOR, keep=True)
    assert found.end.max() == found.ticks == found.path[-1][2]
    assert found.start.min() == 9_000_000


@pytest.mark.parametrize("ranks", [3, 4, 8])
def test_a_chain_of_chunks_is_no_slower_with_smaller_ones(ranks):
    took = [
        simulate_executor(find("broadcast-chain").build(Shape(ranks, 16 * chunk, chunks=16)), EXECUTOR).time
        for chunk in (1024, 4096, 4097, 8192)
    ]
    assert took == sorted(took)
