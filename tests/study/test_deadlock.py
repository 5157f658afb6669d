"""Cycles, cuts, orders and remedies against brute force; thresholds and exclusions against packets."""

import math
import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from packets import Network

from hopline.errors import InputError
from hopline.records.deadlock import Net, Trails
from hopline.study import deadlock_filling as filling
from hopline.study.deadlock import search
from hopline.study.deadlock_changes import changed
from hopline.study.deadlock_cuts import Order, feedback, smallest
from hopline.study.deadlock_cycles import Budget, grouped, shortest_cycle, tangles
from hopline.study.deadlock_loops import threshold
from hopline.study.deadlock_order import Ways
from hopline.study.deadlock_waits import waits


def made(lines, rate=None, offers=None):
    """Net and trails of nodes in order, one line a flow; edges come in pairs."""
    nodes = [line.split() for line in lines]
    names = tuple(dict.fromkeys(node for line in nodes for node in line))
    number = {name: place for place, name in enumerate(names)}
    cables = dict.fromkeys(tuple(sorted(map(number.get, pair))) for line in nodes for pair in pairwise(line))
    table = np.array([*cables], np.int32)
    edges = {pair: 2 * c + way for c, (a, b) in enumerate(cables) for way, pair in enumerate(((a, b), (b, a)))}
    hops = [edges[number[a], number[b]] for line in nodes for a, b in pairwise(line)]
    start = np.cumsum([0, *(len(line) - 1 for line in nodes)], dtype=np.int64)
    rates = None if rate is None else np.full(2 * len(table), float(rate))
    through = {node for line in nodes for node in line[1:-1]}
    net = Net(names, table.ravel(), table[:, ::-1].ravel(), np.array([n in through for n in names]), rates)
    offered = np.array(offers if offers is not None else [math.inf] * len(lines))
    names = [f"f{i}" for i in range(len(lines))]
    return net, Trails(names, start, np.array(hops, np.int32), np.zeros(len(hops), np.int32), offered)


def ring(count, hops):
    """Flow i goes ``hops`` edges clockwise from switch i, from a host to a host."""
    return [" ".join([f"h{i}", *(f"n{(i + j) % count}" for j in range(hops + 1)), f"x{i}"]) for i in range(count)]


def one_class(flow, edges):
    return [0] * len(edges)


def cyclic(arcs):
    """Kahn, in the plainest way."""
    left = set(arcs)
    while left:
        heads = {a for a, _ in left}
        kept = {(a, b) for a, b in left if b in heads}
        if kept == left:
            return True
        left = kept
    return False


def own_arcs(net, trails, flow):
    return list(pairwise(zip(trails.of(flow).tolist(), trails.classes_of(flow).tolist(), strict=True)))


def random_arcs(rng, nodes, count):
    return [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(30))
def test_tangles_are_what_the_closure_says(seed):
    rng = random.Random(seed)
    nodes = rng.randint(1, 12)
    arcs = sorted(set(random_arcs(rng, nodes, rng.randint(0, 22))))
    reach = np.zeros((nodes, nodes), bool)
    for a, b in arcs:
        reach[a, b] = True
    for k in range(nodes):
        reach |= np.outer(reach[:, k], reach[k])
    both = reach & reach.T
    expected = sorted({tuple(np.flatnonzero(both[n]).tolist()) for n in range(nodes) if both[n, n]})
    table = np.array(arcs, np.int64).reshape(-1, 2)
    assert [tuple(one) for one in tangles(nodes, table[:, 0], table[:, 1])] == expected
    cycle, known = shortest_cycle(grouped(arcs), Budget(10**6))
    power, lengths = np.eye(nodes, dtype=bool), []
    adjacent = np.zeros((nodes, nodes), bool)
    adjacent[tuple(table.T)] = True
    for length in range(1, nodes + 1):
        power = (power.astype(int) @ adjacent) > 0
        if power.diagonal().any():
            lengths.append(length)
    assert known
    assert len(cycle) == (lengths[0] if lengths else 0)
    assert all((a, b) in set(arcs) for a, b in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_cuts_are_the_smallest_of_all_sets(seed):
    rng = random.Random(1000 + seed)
    arcs = sorted(set(random_arcs(rng, rng.randint(2, 6), rng.randint(2, 12))))
    count = rng.randint(1, 8)
    bits = {arc: sum(1 << b for b in rng.sample(range(count), rng.randint(1, min(3, count)))) for arc in arcs}
    free = (
        size
        for size in range(count + 1)
        for some in combinations(range(count), size)
        if not cyclic([arc for arc in arcs if bits[arc] & ~sum(1 << b for b in some)])
    )
    cut = smallest(bits)
    assert cut.least == cut.most == next(free)
    assert not cyclic([arc for arc in arcs if bits[arc] & ~cut.taken])
    assert not cyclic(set(arcs) - set(feedback(bits)))
    bounded = smallest(bits, limit=len(arcs) + 3)
    assert bounded.least <= cut.least <= bounded.most
    assert not cyclic([arc for arc in arcs if bits[arc] & ~bounded.taken])


def test_an_order_takes_exactly_the_arcs_that_close_no_cycle():
    rng = random.Random(5)
    order, kept = Order(), []
    for _ in range(300):
        arc = (rng.randrange(14), rng.randrange(14))
        assert order.add(*arc) == (not cyclic([*kept, arc]))
        if not cyclic([*kept, arc]):
            kept.append(arc)
        if kept and rng.random() < 0.3:
            order.remove_all([kept.pop(rng.randrange(len(kept)))])


def test_a_ring_of_five_has_the_classic_cycle():
    net, trails = made(ring(5, 2))
    found = search(net, trails, one_class)
    assert [net.edge(wait.edge) for wait in found.cycle] == ["n0>n1", "n1>n2", "n2>n3", "n3>n4", "n4>n0"]
    assert sorted(trails.flows[wait.flows[0]] for wait in found.cycle) == ["f0", "f1", "f2", "f3", "f4"]
    assert (found.turns.least, found.turns.most, found.changed.least, found.changed.most) == (1, 1, 1, 1)
    assert {cure.kind: len(cure.changes) for cure in found.remedies}["raise"] == 1
    assert [cure.classes for cure in found.remedies if cure.kind == "raise"] == [2]


def random_lines(rng):
    """Walks without a repeated switch in a small mesh of switches, from a host to a host."""
    count = rng.randint(4, 6)
    lines = []
    for flow in range(rng.randint(3, 7)):
        path = rng.sample(range(count), rng.randint(2, min(5, count)))
        lines.append(" ".join([f"h{flow}", *(f"n{n}" for n in path), f"x{flow}"]))
    return lines


@pytest.mark.parametrize("seed", range(40))
def test_no_fewer_flows_do_and_every_remedy_is_free_of_cycles(seed):
    net, trails = made(random_lines(random.Random(seed)))
    arcs = [own_arcs(net, trails, flow) for flow in range(len(trails))]
    found = search(net, trails, one_class)
    assert bool(found.cycle) == cyclic([arc for own in arcs for arc in own])
    if not found.cycle:
        return
    fewest = next(
        size
        for size in range(1, len(arcs) + 1)
        for gone in combinations(range(len(arcs)), size)
        if not cyclic([arc for flow, own in enumerate(arcs) if flow not in gone for arc in own])
    )
    assert (found.changed.least, found.changed.most) == (fewest, fewest)
    for cure in found.remedies:
        after = changed(trails, {change.flow: change for change in cure.changes})
        assert not cyclic([arc for flow in range(len(trails)) for arc in own_arcs(net, after, flow)])
        assert cure.free
        assert len(cure.changes) >= cure.least >= fewest
        for change in cure.changes:
            ends = (net.origin[trails.of(change.flow)[0]], net.target[trails.of(change.flow)[-1]])
            assert (net.origin[change.edges[0]], net.target[change.edges[-1]]) == ends
            assert all(net.target[a] == net.origin[b] for a, b in pairwise(change.edges))
    raised = next(cure for cure in found.remedies if cure.kind == "raise")
    assert len(raised.changes) == fewest
    assert raised.exact


def test_a_flow_that_has_no_other_way_is_told():
    net, trails = made(["a s b s c", "x s b s x2"])
    found = search(net, trails, one_class)
    assert found.cycle == ()
    assert [loop.nodes for loop in found.loops] == [
        (net.names.index("s"), net.names.index("b"), net.names.index("s"))
    ] * 2
    back = made(["a s t s t b"])
    found = search(*back, one_class)
    assert found.cycle
    assert {cure.kind: len(cure.changes) for cure in found.remedies} == {"raise": 1, "reroute": 1, "up-down": 1}


def test_ways_up_and_down_never_go_up_again():
    rng = random.Random(3)
    net, _ = made(random_lines(rng) + ring(6, 2))
    ways = Ways(net)
    place = ways.order(net.names.index("n0"))
    ways.under(place)
    assert sorted(place.tolist()) == list(range(len(net.names)))
    reached = 0
    for a in range(len(net.names)):
        for b in range(len(net.names)):
            edges = ways.legal(a, b)
            if edges:
                reached += 1
                ups = [place[net.target[e]] < place[net.origin[e]] for e in edges]
                assert ups == sorted(ups, reverse=True)
                assert (net.origin[edges[0]], net.target[edges[-1]]) == (a, b)
                assert len(edges) >= len(next(ways.shortest(a, b, 1)))
    assert reached == len(net.names) * (len(net.names) - 1)


def test_a_long_ring_needs_no_recursion_and_no_squares():
    count = 30_000
    nodes = np.arange(count)
    assert len(tangles(count, nodes, (nodes + 1) % count)[0]) == count
    cycle, known = shortest_cycle(grouped((i, (i + 1) % count) for i in range(count)), Budget(10**6))
    assert len(cycle) == count
    assert known


def test_a_million_flows_are_turned_into_waits():
    flows, edges = 1_000_000, 400
    edge = np.random.default_rng(1).integers(0, edges, 3 * flows).astype(np.int32)
    start = np.arange(0, 3 * flows + 1, 3)
    found = waits(start, edge, np.zeros(3 * flows, np.int32))
    assert len(found.edge) == edges
    assert len(found.made) == 2 * flows
    some = 123_456
    assert found.origin[found.made[some]] == edge[found.joint[some]]
    assert found.target[found.made[some]] == edge[found.joint[some] + 1]


# --- routing loops ------------------------------------------------------------------------------------------------


def test_the_published_threshold():
    assert threshold(2, 40e9 / 8, 16) * 8 == 5e9
    assert threshold(4, 40e9 / 8, 16) == 4 * 40e9 / 8 / 16
    for wrong in ((0, 1.0, 1), (1, 0.0, 1), (1, 1.0, 0)):
        with pytest.raises(InputError):
            threshold(*wrong)


@pytest.mark.parametrize("hops", [2, 3, 4, 5])
@pytest.mark.parametrize("ttl", [16, 21])
def test_packets_lock_a_loop_above_the_threshold_and_not_below(hops, ttl):
    loop = [f"n{i}>n{(i + 1) % hops}" for i in range(hops)]
    limit = threshold(hops, 1.0, ttl)
    assert not Network([(loop, 0.93 * limit, ttl)], 12).locks(2000)
    assert Network([(loop, 1.07 * limit, ttl)], 12).locks(4000)


# --- whether a cycle can lock -------------------------------------------------------------------------------------


def flows_of(net, trails):
    """For the packets, rates as parts of an edge's."""
    rates = np.minimum(trails.rate / net.rate[0], 1.0).tolist()
    return [([net.edge(e) for e in trails.of(f)], rates[f], None) for f in range(len(trails))]


def test_a_full_ring_locks_and_is_not_excluded():
    net, trails = made(ring(5, 3), rate=1e9)
    found = search(net, trails, one_class)
    assert all(wait.congests for wait in found.cycle)
    assert found.overloaded > 0
    assert Network(flows_of(net, trails), 8).locks(600)


def test_two_flows_make_a_cycle_that_runs_free():
    """R58: half of the cycle's edges cannot be offered more than they carry, since one edge alone feeds them."""
    net, trails = made(["h1 a b c d h4", "h3 c d a b h2"], rate=1e9)
    found = search(net, trails, one_class)
    assert [wait.congests for wait in found.cycle] == [False, True, False, True]
    assert not Network(flows_of(net, trails), 4).locks(1500)


@pytest.mark.parametrize("seed", range(25))
def test_what_rates_exclude_never_locks(seed):
    rng = random.Random(seed)
    lines = random_lines(rng) + ring(5, 3)
    loads = {}
    for line in lines:
        for pair in pairwise(line.split()):
            loads[pair] = loads.get(pair, 0) + 1
    offers = [rng.uniform(0.9, 1) / max(loads[pair] for pair in pairwise(line.split())) for line in lines]
    net, trails = made(lines, rate=1.0, offers=offers)
    found = search(net, trails, one_class)
    assert found.cycle
    assert found.overloaded == 0
    assert not Network(flows_of(net, trails), 3 * len(lines)).locks(400)


def test_offered_goes_by_what_feeds_an_edge():
    net, trails = made(["a s t b", "c s t d", "c s t e"], rate=4.0, offers=[1.0, 3.0, 3.0])
    edge = next(e for e in range(len(net.origin)) if net.edge(e) == "s>t")
    assert filling.offered(net, trails, edge) == (1.0 + 4.0, 4.0)
    assert [net.edge(e) for e in filling.overloaded(net, trails)] == ["s>t"]
    assert filling.overloaded(*made(["a s b"])) is None
