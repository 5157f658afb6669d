"""Collectives from sends: NCCL's own published figures, counts of steps and bytes, and what must always hold."""

import math
import re

import numpy as np
import pytest

from hopline.curve import Curve, Piece
from hopline.errors import InputError, UnknownNameError
from hopline.model.algorithms import ALGORITHMS
from hopline.model.library import ERROR, Sends, estimate, times, ways

BASE = Curve.line(7.2e-6, 400e9)
"""A send whose launch is NCCL's base of 6.6 µs over NVLink's LL hop of 0.6 µs."""
NODES = Sends(BASE, Curve.line(20e-6, 24e9), rails=16)


@pytest.mark.parametrize(
    ("ranks", "per_node", "ring", "tree"),
    [
        (8, 8, (15.0, 40.6, 56.0), (15.2, 31.5, 64.4)),
        (128, 8, (311.6, 559.6, 1190 * 1.4), (55.2, 99.5, 176.4)),
        (1024, 8, (2484, 4435, 9657 * 1.4), (85.2, 150.5, 260.4)),
    ],
)
def test_the_latencies_of_nccls_tuning(ranks, per_node, ring, tree):
    """LL, LL128 and Simple by src/graph/tuning.cc at 5067397; Simple rings over nodes are slowed by 1.4 there."""
    found = {(w.algorithm, w.protocol): float(w.time) * 1e6 for w in ways("all_reduce", 0, ranks, NODES, per_node)}
    for name, expected in (("ring", ring), ("tree", tree)):
        got = [found[name, protocol] for protocol in ("LL", "LL128", "Simple")]
        assert got == pytest.approx(expected, rel=1e-3)


def test_ring_and_tree_cross_at_three_gigabytes():
    """16 nodes of 8, 16 channels of 24 GB/s: Simple rings win above 3.0 GB, at 193.5 against 176.6 GB/s of algbw."""

    def by(name, size):
        found = ways("all_reduce", size, 128, NODES, 8, [name])
        return next(float(way.time) for way in found if way.protocol == "Simple")

    assert by("tree", 2.9e9) < by("ring", 2.9e9)
    assert by("tree", 3.1e9) > by("ring", 3.1e9)
    assert 1e9 / (by("ring", 2e9) - by("ring", 1e9)) == pytest.approx(193.5e9, rel=1e-3)
    assert 1e9 / (by("tree", 2e9) - by("tree", 1e9)) == pytest.approx(176.6e9, rel=1e-3)


@pytest.mark.parametrize(("size", "measured"), [(512, 15.59), (512, 16.01), (2 << 20, 38.18), (2 << 20, 37.46)])
def test_measured_all_reduces_of_eight(size, measured):
    """H100 and H200 by NCCL 2.29.2 (aiconfigurator), from the sends of vidur's H100."""
    found = times("all_reduce", size, 8, Sends(Curve.line(7.59e-6, 357.5e9)))
    assert found.low[0] < measured * 1e-6 < found.high[0]
    assert found.time[0] == pytest.approx(measured * 1e-6, rel=0.1)


STEPS = {
    ("all_reduce", "ring", 8, 1): (14, 0, 1.75, 0),
    ("all_reduce", "ring", 16, 2): (28, 2, 1.875, 1.875),
    ("all_reduce", "ring", 4, 4): (0, 6, 1.5, 1.5),
    ("all_reduce", "tree", 16, 4): (6, 4, 2, 2),
    ("all_reduce", "doubling", 8, 1): (3, 0, 3, 0),
    ("all_reduce", "doubling", 8, 2): (2, 1, 2, 4),
    ("all_reduce", "doubling", 6, 1): (4, 0, 3, 0),
    ("all_reduce", "one shot", 8, 1): (1, 0, 7, 0),
    ("all_reduce", "two shots", 8, 1): (2, 0, 1.75, 0),
    ("all_gather", "ring", 8, 1): (7, 0, 0.875, 0),
    ("reduce_scatter", "ring", 8, 2): (6, 1, 0.875, 0.875),
    ("alltoall", "one shot", 8, 1): (1, 0, 0.875, 0),
    ("alltoall", "one shot", 8, 2): (0, 1, 0.375, 2),
    ("broadcast", "ring", 8, 1): (7, 0, 1, 0),
    ("broadcast", "binomial", 8, 1): (3, 0, 3, 0),
    ("sendrecv", "one shot", 8, 2): (0, 1, 1, 1),
}
"""(benchmark, algorithm, ranks, nodes) -> (near steps, far steps, sizes out of a rank, sizes out of a node)."""


@pytest.mark.parametrize("case", STEPS, ids=str)
def test_steps_and_bytes(case):
    name, algorithm, ranks, nodes = case
    found = ALGORITHMS[name][algorithm](ranks, nodes)
    assert (found.near, found.far, found.out, found.across) == pytest.approx(STEPS[case])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
def test_doubling_leaves_the_sum_with_everybody(n):
    """The exchange done by hand: as many rounds as claimed, and the largest load of a rank."""
    levels = int(math.log2(n))
    held, out, rounds = [{r} for r in range(n)], [0] * n, 0
    core = 2**levels
    if n > core:
        rounds += 2
    for r in range(core, n):
        held[r - core] |= held[r]
        out[r] += 1
    for level in range(levels):
        held = [held[r] | held[r ^ 2**level] if r < core else held[r] for r in range(n)]
        out = [out[r] + (r < core) for r in range(n)]
        rounds += 1
    for r in range(core, n):
        held[r] = held[r - core]
        out[r - core] += 1
    assert all(one == set(range(n)) for one in held)
    found = ALGORITHMS["all_reduce"]["doubling"](n, 1)
    assert (found.near, found.out) == (rounds, max(out))


def test_the_launch_is_paid_once():
    """A launch that is longer by 10 µs makes a collective longer by 10 µs, not by 10 µs a step."""
    slow = Sends(Curve.line(17.2e-6, 400e9))
    sizes = np.array([1e3, 1e6, 1e9])
    before, after = times("all_reduce", sizes, 8, Sends(BASE)), times("all_reduce", sizes, 8, slow)
    assert after.time - before.time == pytest.approx(10e-6)


def test_pieces_count_beyond_an_empty_send():
    curve = Curve((Piece(0, 7.2e-6, 100e9), Piece(1e6, 12.2e-6, 200e9)))
    simple = next(w for w in ways("all_reduce", 4e6, 2, Sends(curve), algorithms=["ring"]) if w.protocol == "Simple")
    assert float(simple.bytes) == pytest.approx(5e-6 + 4e6 / 200e9)


def test_slowest_of_near_and_far_and_more_rails():
    one, eight = (Sends(BASE, Curve.line(20e-6, 25e9), rails=rails) for rails in (1, 8))
    slow, fast = (float(times("all_reduce", 4e9, 16, sends, 8).time[0]) for sends in (one, eight))
    assert slow == pytest.approx(1.875 * 4e9 / 25e9, rel=0.01)
    assert fast == pytest.approx(1.875 * 4e9 / 200e9, rel=0.03)


def test_the_host_sets_the_pace_of_small_calls():
    found = times("all_reduce", [8, 1 << 28], 8, Sends(BASE, host=40e-6))
    alone = times("all_reduce", [8, 1 << 28], 8, Sends(BASE))
    assert found.time[0] == 40e-6
    assert found.high[0] > 40e-6 * 1.5
    assert found.low[0] == alone.low[0]
    assert found.time[1] == alone.time[1]
    made = estimate("all_reduce", 8, 8, Sends(BASE, host=40e-6))
    assert made.binds == "waiting for the host"
    assert made.value == pytest.approx(40e-6)


def test_an_estimate_names_its_parts():
    made = estimate("all_reduce", 1 << 30, 8, Sends(BASE))
    assert made.name == "all_reduce by ring, Simple"
    assert made.binds == "bytes"
    assert [term.name for term in made.terms] == ["launch", "steps", "bytes", "waiting for the host"]
    assert made.terms[1].value == pytest.approx(14 * 3.4e-6)
    assert made.high / made.value == pytest.approx(math.exp(1.645 * ERROR))
    assert made.value == pytest.approx(float(times("all_reduce", 1 << 30, 8, Sends(BASE)).time[0]))
    assert any("switch" in premise.text for premise in made.shown_premises())


def test_the_best_way_is_never_worse_and_direct_wins_small():
    sizes = 2.0 ** np.arange(3, 31)
    every = ("ring", "tree", "doubling", "one shot", "two shots")
    best = times("all_reduce", sizes, 8, Sends(BASE), algorithms=every).time
    for way in ways("all_reduce", sizes, 8, Sends(BASE), algorithms=every):
        assert np.all(best <= way.time)
    assert estimate("all_reduce", 8, 8, Sends(BASE), algorithms=every).name == "all_reduce by one shot, LL"


def test_a_gather_of_all_has_its_own_efficiency():
    """SimuMax's B200 fits: an all-gather reaches 0.6735 where an all-reduce reaches 0.7424."""
    reduced, gathered = (float(times(name, 8e9, 8, Sends(BASE)).time[0]) for name in ("all_reduce", "all_gather"))
    assert 2 * gathered / reduced == pytest.approx(0.7424 / 0.6735, rel=0.01)


def test_errors():
    with pytest.raises(UnknownNameError, match=re.escape("did you mean 'all_reduce'")):
        times("allreduce", 8, 8, Sends(BASE))
    with pytest.raises(UnknownNameError, match="unknown algorithm 'rings'"):
        times("all_reduce", 8, 8, Sends(BASE), algorithms=["rings"])
    with pytest.raises(InputError, match="10 ranks, 8 a node"):
        times("all_reduce", 8, 10, NODES, 8)
    with pytest.raises(InputError, match="2 nodes, and no far sends"):
        times("all_reduce", 8, 16, Sends(BASE), 8)
    with pytest.raises(InputError, match="no near sends"):
        times("all_reduce", 8, 8, Sends(far=BASE))
    with pytest.raises(InputError, match="expected the curve of one send"):
        Sends()
    with pytest.raises(UnknownNameError, match="kind of wires"):
        Sends(BASE, wires="string")
