"""The least bytes over a border, recomputed as ranks of matrices, and as all schedules of up to four ranks."""

from itertools import combinations

import numpy as np
import pytest

from hopline.errors import InputError, UnknownNameError
from hopline.machine.cuts import Cut
from hopline.model.cuts import BENCHMARKS, least_bytes, least_time

DEMANDS = {
    "all_reduce": lambda n, r: [{(i, u) for i in range(n)} for u in range(n)],
    "all_gather": lambda n, r: [{(i, 0)} for i in range(n)],
    "reduce_scatter": lambda n, r: [{(i, r) for i in range(n)}],
    "alltoall": lambda n, r: [{(i, r)} for i in range(n)],
    "broadcast": lambda n, r: [{(0, u)} for u in range(n)],
    "reduce": lambda n, r: [{(i, u) for i in range(n)} for u in range(n)] if r == 0 else [],
    "scatter": lambda n, r: [{(0, r)}],
    "gather": lambda n, r: [{(i, 0)} for i in range(n)] if r == 0 else [],
    "sendrecv": lambda n, r: [{((r - 1) % n, u)} for u in range(n)],
    "barrier": lambda n, r: [],
}
"""What rank r of n must have at the end: sums of units (rank, number); n units are one size."""


def crossing(demand, n, inside):
    """Dimension of what the ranks outside must learn of the inputs inside, in sizes."""
    wanted = [row for r in range(n) if r not in inside for row in demand(n, r)]
    matrix = [[(i, u) in row for i in inside for u in range(n)] for row in wanted]
    return np.linalg.matrix_rank(np.array(matrix, dtype=float)) / n if matrix else 0.0


@pytest.mark.parametrize("name", DEMANDS)
@pytest.mark.parametrize("root", [True, False])
def test_the_dimension_of_what_must_cross(name, root):
    for n in range(2, 6):
        for side in range(1, n):
            sets = [set(s) for s in combinations(range(n), side) if (0 in s) == root]
            pairs = [(crossing(DEMANDS[name], n, s), crossing(DEMANDS[name], n, set(range(n)) - s)) for s in sets]
            least = tuple(min(column) for column in zip(*pairs, strict=True))
            assert least_bytes(name, 1.0, n, side, root) == pytest.approx(least), (n, side)


def pairs_demand(n, r):
    return [{(r - n // 2, u)} for u in range(n)] if r >= n // 2 else []


@pytest.mark.parametrize("n", [2, 4, 6])
def test_pairs(n):
    """The sets of one side that carry least decide, in whichever direction."""
    for side in range(1, n):
        sets = [set(s) for s in combinations(range(n), side)]
        loads = [max(crossing(pairs_demand, n, s), crossing(pairs_demand, n, set(range(n)) - s)) for s in sets]
        assert max(least_bytes("bw", 1.0, n, side)) == min(loads)
        assert least_bytes("bw", 1.0, n, side, root=False) == least_bytes("bw", 1.0, n, side)[::-1]
    assert least_bytes("bibw", 8.0, 2, 1) == (8.0, 8.0)


def fewest_sends(n, done):
    """Breadth first over all schedules: any rank sends any sum (modulo 2) of what it holds to any other.

    A rank holds a subspace of GF(2)^n that contains its own unit; ``done`` says at which states all is done.
    """
    spaces = sorted(
        {closed(frozenset({0}), basis) for k in range(n + 1) for basis in combinations(range(1, 2**n), k)}, key=sorted
    )
    number = {space: i for i, space in enumerate(spaces)}
    grown = np.array([[number[closed(space, [v])] for v in range(2**n)] for space in spaces])
    holds = np.array([[v in space for v in range(2**n)] for space in spaces])
    states = np.array([[number[frozenset({0, 1 << r})] for r in range(n)]])
    seen = {tuple(states[0])}
    for sends in range(3 * n):
        if any(done(holds[state]) for state in states):
            return sends
        fresh = []
        for i in range(n):
            for j in set(range(n)) - {i}:
                for v in range(1, 2**n):
                    able = states[holds[states[:, i], v] & ~holds[states[:, j], v]]
                    able[:, j] = grown[able[:, j], v]
                    fresh.append(able)
        unique = {tuple(state) for state in np.unique(np.concatenate(fresh), axis=0)} - seen
        seen |= unique
        states = np.array(sorted(unique))
    raise AssertionError("not done")


def closed(space, vectors):
    for v in vectors:
        space = space | {x ^ v for x in space}
    return frozenset(space)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_schedule_of_a_sum_for_all_sends_less_than_the_mean(n):
    everywhere = fewest_sends(n, lambda holds: holds[:, 2**n - 1].all())
    assert everywhere == 2 * (n - 1) == pytest.approx(n * least_bytes("all_reduce", 1.0, n, 1, in_network=False)[0])


@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_schedule_of_a_sum_for_one_sends_less(n):
    """Each rank but the root sends one size."""
    assert fewest_sends(n, lambda holds: holds[0, 2**n - 1]) == n - 1
    assert sum(least_bytes("reduce", 1.0, n, 1, root=r == 0, in_network=False)[0] for r in range(n)) == n - 1


def test_what_leaves_one_set_enters_another():
    """Without copies an all-gather sends as much as arrives, without sums a reduce-scatter receives as much as is sent."""
    assert least_bytes("all_gather", 80.0, 8, 1) == (10, 70)
    assert least_bytes("all_gather", 80.0, 8, 1, in_network=False) == (70, 70)
    assert least_bytes("reduce_scatter", 80.0, 8, 2, in_network=False) == (60, 60)
    assert least_bytes("all_reduce", 80.0, 8, 3, in_network=False) == (80, 80)
    assert least_bytes("all_reduce", 80.0, 2, 1, in_network=False) == (80, 80)


@pytest.mark.parametrize("name", BENCHMARKS)
@pytest.mark.parametrize("in_network", [True, False])
def test_nothing_and_everything_inside_need_no_byte(name, in_network):
    assert least_bytes(name, 80.0, 8, 8, in_network=in_network) == (0, 0)
    assert least_bytes(name, 80.0, 8, 0, in_network=in_network) == (0, 0)


def test_errors():
    with pytest.raises(UnknownNameError, match="did you mean 'all_reduce'"):
        least_bytes("allreduce", 1.0, 2, 1)
    with pytest.raises(InputError, match="side of 3 of 2"):
        least_bytes("all_reduce", 1.0, 2, 3)
    with pytest.raises(InputError, match="size is -1"):
        least_bytes("all_reduce", -1.0, 2, 1)
    with pytest.raises(InputError, match="no cuts"):
        least_time("all_reduce", 1.0, [])
    with pytest.raises(UnknownNameError, match="device of the root"):
        least_time("broadcast", 1.0, eight(), root="d")


def eight(rate=450e9, both=900e9):
    return [Cut(f"d{i}", "each device alone", (f"d{i}",), 1, 8, rate, both) for i in range(8)]


def test_nvls_may_exceed_the_wire_and_a_ring_may_not():
    """8 H200 on NVSwitch: 473.1 GB/s of busbw was measured with NVLS over links of 450 GB/s one way (ml-engineering)."""
    size = 8 * 2**30
    measured = size * 1.75 / 473.1e9
    assert least_time("all_reduce", size, eight()).time < measured
    bound = least_time("all_reduce", size, eight(), in_network=False)
    assert bound.time > measured
    assert (bound.bytes, bound.rate) == (1.75 * size, 450e9)
    assert bound.where == "the mean of 8 sets, each device alone"


def test_two_hosts_reach_more_busbw_than_their_ports_carry():
    """Sums inside of the hosts come first: each host sends one size, so busbw may be 1.875 times the ports' rate."""
    hosts = [Cut(f"h{i}", "without ib", (f"h{i}",), 8, 16, 400e9, 800e9) for i in range(2)]
    for in_network in (True, False):
        bound = least_time("all_reduce", 4e9, hosts, in_network=in_network)
        assert 4e9 * 2 * 15 / 16 / bound.time == pytest.approx(1.875 * 400e9)


def test_half_duplex_carries_both_ways_over_one_rate():
    assert least_time("all_reduce", 1e9, eight(450e9, 450e9)).time == pytest.approx(2e9 / 450e9)
    assert least_time("broadcast", 1e9, eight(450e9, 450e9)).time == pytest.approx(1e9 / 450e9)


def test_the_root_is_where_it_makes_the_bound_the_least():
    """Seven parts enter the root of a gather, one leaves each other rank; an unknown root sits at the fastest device."""
    slow = [Cut("d0", "each device alone", ("d0",), 1, 8, 100e9, 200e9), *eight()[1:]]
    assert least_time("gather", 8e9, slow, root="d0").time == pytest.approx(7e9 / 100e9)
    assert least_time("gather", 8e9, slow, root="d1").time == pytest.approx(7e9 / 450e9)
    assert least_time("gather", 8e9, slow).time == pytest.approx(7e9 / 450e9)
    assert least_time("gather", 8e9, slow[:1]).time == pytest.approx(7e9 / 100e9)


def test_unequal_sets_together():
    """One slow device of four: the mean rate counts, and the slow one's own cut where that is worse."""
    rates = (100e9, 100e9, 100e9, 60e9)
    four = [Cut(f"d{i}", "each device alone", (f"d{i}",), 1, 4, rate, 2 * rate) for i, rate in enumerate(rates)]
    assert least_time("all_reduce", 1e9, four, in_network=False).time == pytest.approx(6e9 / 360e9)
    assert least_time("all_reduce", 1e9, four).time == pytest.approx(1e9 / 60e9)
    assert least_time("all_reduce", 1e9, four[:3], in_network=False).time == pytest.approx(1e9 / 100e9)
