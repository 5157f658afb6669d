"""Max-min shares: worked by hand, by what defines them, and in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flow_nets import routes_of

from hopline.errors import InputError, UnknownNameError
from hopline.sim.sharing import RULES, coefficients, shares


def test_five_flows_by_hand():
    """A, B, C carry 3, 6, 10; flows go over A, AB, B, BC, C.

    All rise together. At 3 / 2 = 1.5 A is full: flows 0 and 1 stay there. B has 6 - 1.5 left for two: 2.25 each. C has
    10 - 2.25 left for flow 4: 7.75.
    """
    ways = [[0], [0, 1], [1], [1, 2], [2]]
    found = shares(
        routes_of([[(number, 1.0) for number in way] for way in ways], [0.0] * 5), np.array([3.0, 6.0, 10.0])
    )
    assert found.rate.tolist() == [1.5, 1.5, 2.25, 2.25, 7.75]
    assert found.bound.tolist() == [0, 0, 1, 1, 2]


def test_five_flows_with_weights_by_hand():
    """A memory M carries 8, of which flows 0 and 1 take two bytes a byte and flow 2 one; flows 2 and 3 share L, which carries 1.

    L is full at 1 / 2. M has 8 - 0.5 left, of which a level takes 2 + 2: 1.875. Flow 4 goes through nothing.
    """
    uses = [[(0, 2.0)], [(0, 2.0)], [(0, 1.0), (1, 1.0)], [(1, 1.0)], []]
    found = shares(routes_of(uses, [0.0] * 5), np.array([8.0, 1.0]))
    assert found.rate.tolist() == [1.875, 1.875, 0.5, 0.5, np.inf]
    assert found.bound.tolist() == [0, 0, 1, 1, -1]


def test_five_flows_in_inverse_proportion_to_latency_by_hand():
    """One link of 14; latencies 1, 1, 2, 2, 2: coefficients 1, 1, 1/2, 1/2, 1/2, together 3.5, so the level is 4."""
    found = shares(routes_of([[(0, 1.0)]] * 5, [1.0, 1.0, 2.0, 2.0, 2.0]), np.array([14.0]), "inverse-rtt")
    assert found.rate.tolist() == [4.0, 4.0, 2.0, 2.0, 2.0]


def test_of_resources_that_fill_together_the_lowest_number_binds():
    found = shares(routes_of([[(1, 1.0), (2, 1.0)], [(0, 1.0), (2, 1.0)]], [0.0, 0.0]), np.array([1.0, 1.0, 2.0]))
    assert found.rate.tolist() == [1.0, 1.0]
    assert found.bound.tolist() == [1, 0]


def drawn(random: Random):
    """Uses, latencies and capacities, many alike."""
    resources, flows = random.randint(1, 12), random.randint(1, 40)
    capacity = [random.choice([1.0, 2.0, 3.5, 50.0, random.uniform(0.1, 9)]) for _ in range(resources)]
    weights = random.choice([(1.0,), (1.0, 2.0, 0.5), (1.0, random.uniform(0.1, 3))])
    uses = []
    for _ in range(flows):
        used = random.sample(range(resources), random.randint(1, min(5, resources)))
        uses.append([(number, random.choice(weights)) for number in used])
    return uses, [random.choice([1.0, 2.0, random.uniform(0.5, 9)]) for _ in range(flows)], capacity


def exact(uses, coefficient, capacity):
    """Levels in fractions: raised by the most that fits for all that are free; what is then in a full resource is not free."""
    level, free = [Fraction(0)] * len(uses), set(range(len(uses)))
    amount = [{r: Fraction(w) * Fraction(c) for r, w in use} for use, c in zip(uses, coefficient, strict=True)]
    while free:
        spare = {r: Fraction(capacity[r]) for use in uses for r, _ in use}
        rising = dict.fromkeys(spare, Fraction(0))
        for flow, takes in enumerate(amount):
            for r, a in takes.items():
                spare[r] -= a * level[flow]
                rising[r] += a if flow in free else 0
        step = min(spare[r] / rising[r] for r in spare if rising[r])
        for flow in free:
            level[flow] += step
        full = {r for r in spare if rising[r] and spare[r] == rising[r] * step}
        free -= {flow for flow in free if full & amount[flow].keys()}
    return level


@pytest.mark.parametrize("rule", RULES)
def test_shares_of_300_random_networks_are_those_in_exact_fractions(rule):
    for seed in range(300):
        uses, latency, capacity = drawn(Random(seed))
        found = shares(routes_of(uses, latency), np.array(capacity), rule)
        coefficient = coefficients(rule, np.array(latency))
        level = exact(uses, coefficient.tolist(), capacity)
        np.testing.assert_allclose(found.rate, [float(a) for a in level] * coefficient, rtol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_what_binds_a_flow_is_full_and_nobody_there_has_a_higher_level(rule):
    """What defines max-min (Bertsekas and Gallager, 6.5.2): no filling is needed to check it."""
    for seed in range(300):
        uses, latency, capacity = drawn(Random(1000 + seed))
        found = shares(routes_of(uses, latency), np.array(capacity), rule)
        level = found.rate / coefficients(rule, np.array(latency))
        taken, top = [0.0] * len(capacity), [0.0] * len(capacity)
        for flow, use in enumerate(uses):
            for r, weight in use:
                taken[r] += weight * found.rate[flow]
                top[r] = max(top[r], level[flow])
        assert all(t <= c * (1 + 1e-9) for t, c in zip(taken, capacity, strict=True))
        for flow, r in enumerate(found.bound.tolist()):
            assert r in dict(uses[flow])
            assert taken[r] == pytest.approx(capacity[r], rel=1e-9)
            assert level[flow] == pytest.approx(top[r], rel=1e-9)


def test_no_latency_at_all_shares_alike_and_some_is_refused():
    assert coefficients("inverse-rtt", np.zeros(3)).tolist() == [1.0, 1.0, 1.0]
    assert coefficients("max-min", np.array([0.0, 1.0])).tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="1 of 2 flows have no latency"):
        coefficients("inverse-rtt", np.array([0.0, 1e-6]))
    with pytest.raises(UnknownNameError, match="max-min"):
        coefficients("maxmin", np.zeros(1))
