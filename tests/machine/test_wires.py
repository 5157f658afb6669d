"""What flows share: links each way, NICs, memories and ports, and what a route takes before its first byte."""

from itertools import permutations

import numpy as np
import pytest

from hopline.curve import Curve, Piece
from hopline.errors import MachineError, UnknownNameError
from hopline.jobs import machines
from hopline.machine.fabric import Level, Levels
from hopline.machine.families.table import generate
from hopline.machine.parts import Fitted, Link, Memory, Node, Startup, Sync
from hopline.machine.topology import Connection, Machine
from hopline.machine.wires import Crossbar, Wires

LINK = Link("l", 10e9)


def whole(*numbers):
    return np.array(numbers, np.int32)


def chain(a=None, b=None, middle=None, link=LINK, second=None):
    """A - m - b."""
    nodes = {"a": a or Node("a"), "m": middle or Node("m", "switch", 0.0), "b": b or Node("b")}
    links = {"l": link, "k": second or Link("k", 5e9)}
    return Machine("m", "m", links, nodes, (Connection(("a", "m"), "l"), Connection(("m", "b"), "k")))


def used(wires, sender=0, receiver=1, channel=0):
    """Resource -> (weight, capacity) of one flow, and its latency."""
    routes = wires.routes(whole(sender), whole(receiver), whole(channel))
    found = {
        wires.resource(number): (weight, wires.capacity[number])
        for number, weight in zip(routes.resource.tolist(), routes.weight.tolist(), strict=True)
    }
    assert len(found) == len(routes.resource)
    return found, float(routes.latency[0])


def test_each_way_of_a_link_is_a_resource():
    wires = Wires(chain(), ["a", "b"])
    assert used(wires)[0] == {"a>m": (1, 10e9), "m>b": (1, 5e9)}
    assert used(wires, 1, 0)[0] == {"b>m": (1, 5e9), "m>a": (1, 10e9)}


def test_both_ways_of_a_half_duplex_link_are_one():
    wires = Wires(chain(link=Link("l", 10e9, duplex="half")), ["a", "b"])
    assert used(wires)[0] == {"a - m": (1, 10e9), "m>b": (1, 5e9)}
    assert used(wires, 1, 0)[0] == {"b>m": (1, 5e9), "a - m": (1, 10e9)}
    assert len(wires.capacity) == 3


def test_channels_take_nics_in_turn():
    """Three NICs at a, two at b: the link's bandwidth is that of one."""
    wires = Wires(chain(a=Node("a", nics=3), b=Node("b", nics=2)), ["a", "b"])
    assert len(wires.capacity) == 2 * 3 + 2 * 2
    for channel in range(7):
        assert used(wires, channel=channel)[0] == {
            f"a>m NIC {channel % 3}": (1, 10e9), f"m>b NIC {channel % 2}": (1, 5e9),
        }  # fmt: skip
    assert used(wires, 1, 0, 4)[0] == {"b>m NIC 0": (1, 5e9), "m>a NIC 1": (1, 10e9)}
    half = Wires(chain(a=Node("a", nics=3), link=Link("l", 10e9, duplex="half")), ["a", "b"])
    assert used(half, 1, 0, 5)[0] == {"b>m": (1, 5e9), "a - m NIC 2": (1, 10e9)}


def test_memories_are_touched_by_who_sends_receives_and_relays():
    own = Memory(4e9, {"send": 1.5, "relay": 3.0})
    memories = chain(Node("a", memory=own), Node("b", memory=Memory(2e9)), Node("m", memory=own))
    wires = Wires(memories, ["a", "b", "m"])
    links = {"a>m": (1, 10e9), "m>b": (1, 5e9)}
    assert used(wires)[0] == links | {
        "memory of a": (1.5, 4e9), "memory of m": (3.0, 4e9), "memory of b": (1.0, 2e9),
    }  # fmt: skip
    assert used(wires, 0, 2)[0] == {"a>m": (1, 10e9), "memory of a": (1.5, 4e9), "memory of m": (1.0, 4e9)}
    assert used(wires, 2, 1)[0] == {"m>b": (1, 5e9), "memory of m": (1.5, 4e9), "memory of b": (1.0, 2e9)}
    assert wires.reduce == pytest.approx(3 / 2e9)
    assert Wires(memories, ["a"], reduce=0.5).reduce == 0.5
    assert Wires(chain(), ["a", "b"]).reduce == 0


def test_ranks_of_one_device_send_over_its_memory():
    machine = chain(a=Node("a", memory=Memory(4e9)))
    wires = Wires(machine, ["a", "a", "b", "b"])
    assert used(wires, 0, 1) == ({"memory of a": (2.0, 4e9)}, 0.0)
    assert set(used(wires, 1, 3)[0]) == {"a>m", "m>b", "memory of a"}
    with pytest.raises(MachineError, match="ranks 2 and 3 are both on b, which has no memory to send over"):
        used(wires, 2, 3)
    with pytest.raises(MachineError, match="rank 2 sends to itself on b, which has no memory"):
        used(wires, 2, 2)


@pytest.mark.parametrize(
    "name", ["dgx-h100", "gb200-nvl72", "sg2260", "gh200-slingshot", "dgx-a100", "torus:dims=3x3,rate=1GB/s"]
)
def test_latency_and_links_are_those_of_the_path(name):
    """Machine.path prices every hop by itself; presets have fitted curves, start-ups, relays and half-duplex links."""
    machine = machines.find(name)
    places = [name for name, node in machine.nodes.items() if node.kind == "device"][:10]
    wires = Wires(machine, places)
    for a, b in permutations(range(len(places)), 2):
        found, latency = used(wires, a, b)
        path = machine.path([places[a], places[b]])
        edges = [wires.graph.edge(edge) for edge in wires.hops(whole(a), whole(b), whole(0)).of(0)]
        if edges != [leg.name for leg in path.legs]:
            path = machine.path([edges[0].split(">")[0], *(edge.split(">")[1] for edge in edges)])
        curves = path.hops()
        assert latency == pytest.approx(sum(curve.pieces[0].latency for curve in curves), rel=1e-12)
        rates = sorted(capacity for key, (_, capacity) in found.items() if not key.startswith("memory"))
        assert rates == pytest.approx(sorted(curve.pieces[-1].bandwidth for curve in curves))


def test_every_hop_pays_its_delay_and_devices_their_start_up():
    startup = Startup(1e-6, 2e-6, Sync(((2, 4e-6), (8, 9e-6))))
    fitted = Fitted("log", 1, 10, 0.0, 0.0)
    curve = Curve((Piece(0, 1e-6, 1e9), Piece(4096, 3e-6, 7e9)))
    machine = chain(
        middle=Node("m", "switch", 0.25e-6),
        link=Link("l", 10e9, startup, delay=0.5e-6),
        second=Link("k", 7e9, curve=curve, fitted=fitted, delay=0.125e-6),
    )
    wires = Wires(machine, ["a", "b"])
    assert used(wires)[1] == pytest.approx(7.5e-6 + 0.25e-6 + 0.125e-6)
    found, latency = used(wires, 1, 0)
    assert latency == pytest.approx(1.125e-6 + 0.25e-6 + 0.5e-6)
    assert found["b>m"] == (1, 7e9)


def test_flows_stand_in_the_order_asked_for():
    """Repeated, unsorted, of several channels: each is what it is alone."""
    wires = Wires(generate("rail-optimised:nodes=2,gpus=3,spines=2,rate=1GB/s,inside=3GB/s,memory=5GB/s"), _gpus(2, 3))
    rng = np.random.default_rng(5)
    sender, step, channel = (rng.integers(*span, 60).astype(np.int32) for span in ((0, 6), (1, 6), (0, 3)))
    receiver = (sender + step) % 6
    routes = wires.routes(sender, receiver, channel)
    assert len(routes) == 60
    for flow in range(60):
        alone = wires.routes(*(part[flow : flow + 1] for part in (sender, receiver, channel)))
        span = slice(*routes.start[flow : flow + 2].tolist())
        assert routes.resource[span].tolist() == alone.resource.tolist()
        assert routes.weight[span].tolist() == alone.weight.tolist()
        assert routes.latency[flow] == alone.latency[0]


def _gpus(nodes, gpus):
    return [f"h{n}.gpu{g}" for n in range(nodes) for g in range(gpus)]


def test_routing_is_chosen_by_name():
    machine = generate("fat-tree:leaves=2,hosts=4,spines=4,rate=1GB/s")
    assert "leaf0>spine3" in used(Wires(machine, machine.nodes, "d-mod-k"), 0, 7)[0]
    assert "leaf0>spine0" in used(Wires(machine, machine.nodes), 0, 7)[0]
    with pytest.raises(UnknownNameError, match="unknown routing 'fast'"):
        Wires(machine, machine.nodes, "fast")
    with pytest.raises(UnknownNameError, match="host99"):
        Wires(machine, ["host99"])


def test_no_flows_have_no_routes():
    wires = Wires(chain(), ["a", "b"])
    for resources in (wires, Crossbar(Levels.uniform(2, Curve.line(0, 1e9)))):
        routes = resources.routes(whole(), whole(), whole())
        assert (len(routes), routes.start.tolist(), len(routes.resource)) == (0, [0], 0)


def test_a_crossbar_has_the_ports_of_its_levels():
    fast, slow = Curve.line(1e-6, 450e9), Curve.line(2e-6, 50e9)
    levels = Levels([Level(2, fast), Level(3, slow, nics=2)], reduce=1e-12, copy=2e-12)
    crossbar = Crossbar(levels)
    assert (crossbar.ranks, crossbar.reduce, crossbar.copy) == (6, 1e-12, 2e-12)
    assert used(crossbar, 0, 1) == ({"rank 0 out level 0": (1, 450e9), "rank 1 in level 0": (1, 450e9)}, 1e-6)
    assert used(crossbar, 1, 4, 3) == (
        {"rank 1 out level 1 NIC 1": (1, 50e9), "rank 4 in level 1 NIC 1": (1, 50e9)}, 2e-6,
    )  # fmt: skip
    assert len(crossbar.capacity) == levels.ports
    uniform = Crossbar(Levels.uniform(3, slow))
    assert used(uniform, 2, 0) == ({"rank 2 out": (1, 50e9), "rank 0 in": (1, 50e9)}, 2e-6)


def test_equal_flows_of_all_to_all_meet_the_bisection():
    """8 leaves x 8 hosts, 4 spines: 448 MiB leave a leaf over 4 links of 50 GB/s in 2348.8 us, 56 flows on each."""
    wires = Wires(
        generate("fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s,latency=0.5us"),
        [f"host{i}" for i in range(64)],
        "d-mod-k",
    )
    sender, receiver = np.array(list(permutations(range(64), 2)), np.int32).T
    routes = wires.routes(sender, receiver, np.zeros_like(sender))
    load = np.bincount(routes.resource, routes.weight, len(wires.capacity)) * 2**20 / wires.capacity
    assert load.max() == pytest.approx(2348.8102e-6, rel=1e-6)
    assert load.max() + routes.latency.max() == pytest.approx(2350.810e-6, rel=1e-6)
    assert sorted(set(np.round(routes.latency * 1e6, 9).tolist())) == [1.0, 2.0]
