"""Which way flows take: against searches written out here, and against what each rule promises."""

from collections import deque
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from hopline.errors import InputError, MachineError, UnknownNameError
from hopline.jobs import machines
from hopline.machine.fabric import Wired
from hopline.machine.families.table import generate
from hopline.machine.graph import Graph
from hopline.machine.parts import Link, Node
from hopline.machine.routing import given, tiers
from hopline.machine.routing.states import Ends
from hopline.machine.routing.table import ROUTINGS, ecmp, find
from hopline.machine.topology import Connection, Machine

FAT = "fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s"


def made(nodes, pairs, switches=()):
    parts = {name: Node(name, "switch", 0.0) if name in switches else Node(name) for name in nodes}
    return Machine("m", "m", {"l": Link("l", 1e9)}, parts, tuple(Connection(pair, "l") for pair in pairs))


def drawn(seed, nodes=14, extra=10):
    """A connected machine: a random tree and some more connections; about half of the nodes are switches."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(nodes)]
    pairs = {(int(rng.integers(i)), i) for i in range(1, nodes)}
    pairs |= {tuple(sorted(rng.choice(nodes, 2, replace=False).tolist())) for _ in range(extra)}
    switches = {name for name in names if rng.random() < 0.5}
    order = rng.permutation(sorted(pairs)).tolist()
    return made(names, [(names[a], names[b]) for a, b in order], switches)


def every_pair(nodes):
    pairs = np.array(list(permutations(nodes, 2)), np.int32)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def routed(graph, name, origin, target, channel=0):
    route = find(name) if isinstance(name, str) else name
    hops = route(graph, origin, target, np.full(len(origin), channel, np.int32))
    for flow, (a, b) in enumerate(zip(origin.tolist(), target.tolist(), strict=True)):
        way = hops.of(flow)
        assert [a, *graph.target[way].tolist()] == [*graph.origin[way].tolist(), b]
    return given.check(graph, hops)


def best(graph, origin, target, legal=None):
    """Least (hops, devices that send on) of any way, by trying them in order; ``legal(edge before, edge)``."""
    queue, seen = deque([(0, 0, origin, -1)]), {}
    found = []
    while queue:
        hops, relays, here, edge = queue.popleft()
        if here == target:
            found.append((hops, relays))
            continue
        for step in graph.leaving[graph.first[here] : graph.first[here + 1]].tolist():
            if legal is None or edge < 0 or legal(edge, step):
                there = int(graph.target[step])
                cost = (hops + 1, relays + int(graph.is_device[there] and there != target))
                key = there if legal is None else step
                if cost < seen.get(key, (99, 99)):
                    seen[key] = cost
                    queue.append((*cost, there, step))
    return min(found)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["shortest", "d-mod-k", "ecmp"])
def test_ways_have_the_fewest_hops_and_then_the_fewest_relays(name, seed):
    graph = Graph(drawn(seed))
    origin, target = every_pair(range(len(graph.names)))
    hops = routed(graph, name, origin, target)
    for flow in range(0, len(origin), 3):
        way = hops.of(flow)
        cost = (len(way), int(graph.is_device[graph.target[way[:-1]]].sum()))
        assert cost == best(graph, int(origin[flow]), int(target[flow]))


def up_edges(graph, by):
    order = by(graph, Ends.of(graph))
    assert sorted(order.tolist()) == list(range(len(graph.names)))
    return order[graph.target] > order[graph.origin]


def fewest(graph, up, origin, target):
    """Least hops up, then down; None where no such way leads."""
    try:
        return best(graph, origin, target, lambda before, edge: bool(up[before] or not up[edge]))[0]
    except ValueError:
        return None


@pytest.mark.parametrize("seed", range(12))
def test_up_down_ways_are_the_shortest_that_go_up_and_then_down(seed):
    """By tiers where these lead everywhere, else from a root, which always does."""
    graph = Graph(drawn(seed))
    origin, target = every_pair(range(len(graph.names)))
    pairs = list(zip(origin.tolist(), target.tolist(), strict=True))
    up = up_edges(graph, tiers.by_tiers)
    least = [fewest(graph, up, a, b) for a, b in pairs]
    if None in least:
        up = up_edges(graph, tiers.by_root)
        least = [fewest(graph, up, a, b) for a, b in pairs]
    hops = routed(graph, "up-down", origin, target)
    assert np.diff(hops.start).tolist() == least
    for flow in range(len(hops)):
        assert not (~up[hops.of(flow)][:-1] & up[hops.of(flow)][1:]).any()


def test_both_orders_are_needed():
    cases = [Graph(drawn(seed)) for seed in range(12)]
    alone = [
        None in [fewest(graph, up_edges(graph, tiers.by_tiers), a, b) for a, b in permutations(range(14), 2)]
        for graph in cases
    ]
    assert True in alone
    spines = up_edges(Graph(generate(FAT)), tiers.by_tiers)
    assert spines.sum() == 96


@pytest.mark.parametrize("text", ["torus:dims=4x4,rate=1GB/s", "dragonfly:groups=5,routers=4,hosts=1,rate=1GB/s", FAT])
def test_up_down_never_waits_in_a_circle(text):
    graph = Graph(generate(text))
    hops = routed(graph, "up-down", *every_pair(graph.devices[:20]))
    waits = {edges for flow in range(len(hops)) for edges in pairwise(hops.of(flow).tolist())}
    while waits:
        free = {b for _, b in waits} - {a for a, _ in waits}
        assert free, "edges that all wait for one another"
        waits = {pair for pair in waits if pair[1] not in free}


def test_a_torus_routed_by_fewest_hops_does_wait_in_a_circle():
    """So the test above can fail."""
    graph = Graph(generate("torus:dims=5,rate=1GB/s"))
    hops = routed(graph, "shortest", *every_pair(graph.devices))
    waits = {edges for flow in range(len(hops)) for edges in pairwise(hops.of(flow).tolist())}
    assert {b for _, b in waits} == {a for a, _ in waits}


def test_a_flow_to_host_d_crosses_spine_d_modulo_4():
    graph = Graph(generate(FAT))
    origin, target = every_pair(graph.devices)
    hops = routed(graph, "d-mod-k", origin, target)
    for flow, (a, b) in enumerate(zip(origin.tolist(), target.tolist(), strict=True)):
        crossed = [graph.names[node] for node in graph.target[hops.of(flow)] if "spine" in graph.names[node]]
        assert crossed == ([] if a // 8 == b // 8 else [f"spine{b % 4}"])


@pytest.mark.parametrize("k", [4, 6])
def test_d_mod_k_keeps_shifts_apart_on_three_tiers(k):
    """Every rank to the one j further: no link carries two of these flows (E. Zahavi, 2010)."""
    graph = Graph(generate(f"k-ary-fat-tree:k={k},rate=1GB/s"))
    hosts = graph.devices
    for shift in range(1, len(hosts)):
        hops = routed(graph, "d-mod-k", hosts, np.roll(hosts, -shift))
        assert np.bincount(hops.edge).max() == 1


@pytest.mark.parametrize("name", ["dgx-h100", "gb200-nvl72", "sg2260", FAT, "torus:dims=3x3,rate=1GB/s"])
@pytest.mark.parametrize("channel", [0, 1, 5])
def test_shortest_is_what_ports_take(name, channel):
    machine = machines.find(name)
    graph = Graph(machine)
    devices = graph.devices[:20]
    wired = Wired(machine, [graph.names[node] for node in devices])
    origin, target = every_pair(devices)
    hops = routed(graph, "shortest", origin, target, channel)
    for flow, (a, b) in enumerate(permutations(range(len(devices)), 2)):
        assert [graph.edge(edge) for edge in hops.of(flow)] == [leg.name for leg in wired.path(a, b, channel).legs]


def test_a_hash_spreads_flows_and_is_the_same_every_time():
    graph = Graph(generate(FAT))
    origin, target = every_pair(graph.devices)
    one, again = (routed(graph, "ecmp", origin, target).edge for _ in range(2))
    assert (one == again).all()
    up = [edge for edge in range(graph.edges) if graph.names[graph.target[edge]].startswith("spine")]
    loads = np.bincount(one, minlength=graph.edges)[up]
    assert loads.sum() == 64 * 56
    assert 75 < loads.min() < loads.max() < 150
    for other in (routed(graph, "ecmp:seed=1", origin, target), routed(graph, ecmp(0), origin, target, 1)):
        assert 0.5 < (other.edge != one).mean() * 2 < 1
    assert (routed(graph, "ecmp:seed=0", origin, target).edge == one).all()


def test_a_hash_is_the_published_one():
    """SplitMix64 of seed 1234567: the first numbers of its reference implementation, by plain integers."""
    from hopline.machine.routing.choices import _mix

    def plain(value):
        value = (value + 0x9E3779B97F4A7C15) % 2**64
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
        return value ^ value >> 31

    assert plain(1234567) == 6457827717110365317
    assert _mix(np.array([1234567, 2**64 - 1], np.uint64)).tolist() == [plain(1234567), plain(2**64 - 1)]


def test_devices_do_not_relay_where_switches_do_as_well():
    graph = Graph(generate("rail-optimised:nodes=2,gpus=4,spines=2,rate=50GB/s,inside=450GB/s"))
    origin, target = every_pair(graph.devices)
    for name in ("shortest", "d-mod-k", "ecmp"):
        hops = routed(graph, name, origin, target)
        flow = np.repeat(np.arange(len(origin)), np.diff(hops.start))
        inner = flow[1:] == flow[:-1]
        assert not graph.is_device[graph.target[hops.edge[:-1][inner]]].any()


def test_few_targets_of_a_wide_layer_are_found_from_behind():
    """Each search meets only what it looks for; the ways stay the shortest."""
    graph = Graph(generate("fat-tree:leaves=40,hosts=2,spines=30,rate=1GB/s"))
    origin = graph.devices[np.array([0, 5, 17])]
    target = graph.devices[np.array([79, 40, 16])]
    hops = routed(graph, "d-mod-k", origin, target)
    assert np.diff(hops.start).tolist() == [4, 4, 2]
    assert graph.edge(int(hops.of(0)[1])) == f"leaf0>spine{79 % 30}"


def test_who_is_where_already_needs_no_way():
    graph = Graph(generate(FAT))
    node = np.array([3, 3], np.int32)
    for name in ROUTINGS:
        assert np.diff(routed(graph, name, node, np.array([3, 4], np.int32)).start).tolist() == [0, 2]
    two = Graph(made("ab", [("a", "b")]))
    assert np.diff(routed(two, "up-down", np.array([0, 1], np.int32), np.array([1, 0], np.int32)).start).tolist() == [
        1,
        1,
    ]


@pytest.mark.parametrize("name", ROUTINGS)
def test_islands_are_told(name):
    graph = Graph(made("abcdex", [("a", "x"), ("b", "x"), ("c", "d"), ("d", "e"), ("e", "c")], {"x"}))
    origin, target = every_pair([0, 1])
    assert np.diff(routed(graph, name, origin, target).start).tolist() == [2, 2]
    with pytest.raises(MachineError) as caught:
        routed(graph, name, np.array([0, 1], np.int32), np.array([1, 2], np.int32))
    said = "no way leads from b to c of m: of its 6 nodes b reaches 2 other nodes, c reaches 2 other nodes"
    assert said in str(caught.value)


def test_unknown_routings_are_refused():
    with pytest.raises(UnknownNameError, match="unknown routing 'shortes': did you mean 'shortest'"):
        find("shortes")
    for text in ("ecmp:seed=", "ecmp:seed=-1", "ecmp:seed=x", "shortest:seed=2", "ecmp:seed=9999999999999999999"):
        with pytest.raises(InputError, match="like ecmp:seed=7"):
            find(text)


def test_ways_that_are_given_must_hold_together():
    graph = Graph(made("abcd", [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]))
    hops = given.named(graph, [("a", "b", "c", "d"), ("d",), ("d", "c")])
    assert [[graph.edge(edge) for edge in hops.of(flow)] for flow in range(3)] == [["a>b", "b>c", "c>d"], [], ["d>c"]]
    for way in (("a", "b", "c", "a"), ("b", "c", "a", "b", "a"), ("c", "d", "c")):
        with pytest.raises(MachineError, match=r"of flow 1 comes twice to ., a loop: expected each node once"):
            given.named(graph, [("a", "b"), way])
    with pytest.raises(MachineError, match="goes from a to d, which are not joined in m"):
        given.named(graph, [("a", "d")])
    with pytest.raises(UnknownNameError):
        given.named(graph, [("a", "z")])
    torn = type(hops)(np.array([0, 2]), np.array([0, 6], np.int32))
    with pytest.raises(MachineError, match="the route of flow 0 comes to b and goes on from c"):
        given.check(graph, torn)


def test_blocks_of_targets_give_the_same_ways(monkeypatch):
    graph = Graph(generate("torus:dims=4x4,rate=1GB/s"))
    origin, target = every_pair(graph.devices)
    whole = {name: routed(graph, name, origin, target).edge for name in ROUTINGS}
    monkeypatch.setattr("hopline.machine.routing.walking.AT_ONCE", 50)
    for name, edges in whole.items():
        assert (routed(graph, name, origin, target).edge == edges).all()


def test_all_coordinates_of_a_torus_are_reached_by_fewest_hops():
    graph = Graph(generate("torus:dims=5x4,rate=1GB/s"))
    origin, target = every_pair(graph.devices)
    length = np.diff(routed(graph, "d-mod-k", origin, target).start)
    places = list(product(range(5), range(4)))
    for flow, (a, b) in enumerate(permutations(places, 2)):
        steps = [abs(x - y) for x, y in zip(a, b, strict=True)]
        assert length[flow] == min(steps[0], 5 - steps[0]) + min(steps[1], 4 - steps[1])


@pytest.mark.parametrize("name", ["d-mod-k", "ecmp", "up-down", "shortest"])
@pytest.mark.parametrize(
    "topology",
    [
        "supernode:nodes=2,devices=8,inside=450GB/s,rate=50GB/s",
        "rail-optimised:nodes=2,gpus=8,rails=4,rate=50GB/s,inside=450GB/s",
        "rail-optimised:nodes=2,gpus=8,rails=1,rate=50GB/s,inside=450GB/s",
    ],
)
def test_what_stays_in_a_node_goes_over_its_fast_links(name, topology):
    """Over the network it would be as many hops."""
    machine = generate(topology)
    graph = Graph(machine)
    pairs = [(a, b) for a in range(8) for b in range(8) if a != b]
    ends = [np.array([graph.devices[pair[side]] for pair in pairs], np.int32) for side in (0, 1)]
    hops = find(name)(graph, *ends, np.zeros(len(pairs), np.int32))
    assert {float(rate) for rate in graph.rate[hops.edge]} == {450e9}
