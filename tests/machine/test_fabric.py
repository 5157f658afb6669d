"""What ranks see of a machine when they send."""

from itertools import permutations

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.errors import InputError, MachineError
from hopline.jobs import machines
from hopline.machine.fabric import Level, Levels, Wired, through
from hopline.machine.parts import Link, Node
from hopline.machine.topology import Connection, Machine

LINE = Curve.line(1e-6, 50e9)


def whole(*numbers):
    return np.array(numbers, np.int32)


def two_rails(**link):
    """Two devices, each with a NIC on either of two networks, and a wire of another kind that is as short."""
    links = {"ib": Link("ib", 50e9, **link), "pcie": Link("pcie", 60e9), "other": Link("other", 1e9)}
    switches = ("a0", "a1", "b0", "b1", "leaf", "x0", "x1", "x2")
    nodes = {name: Node(name) for name in ("g0", "g1")} | {name: Node(name, "switch", 0.0) for name in switches}
    joined = [("g0", "a0", "pcie"), ("g0", "a1", "pcie"), ("g1", "b0", "pcie"), ("g1", "b1", "pcie")]
    joined += [(nic, "leaf", "ib") for nic in ("a0", "a1", "b0", "b1")]
    joined += [("g0", "x0", "other"), ("x0", "x1", "other"), ("x1", "x2", "other"), ("x2", "g1", "other")]
    return Machine("m", "m", links, nodes, tuple(Connection((a, b), link) for a, b, link in joined))


def test_a_uniform_network_has_a_port_each_way_for_every_rank_and_nic():
    fabric = Levels.uniform(3, LINE, nics=2)
    pairs = list(permutations(range(3), 2))
    sender, receiver = whole(*(a for a, _ in pairs)), whole(*(b for _, b in pairs))
    for channel in range(3):
        ways = fabric.ways(sender, receiver, np.full_like(sender, channel))
        assert {fabric.port(p) for p in ways.out.tolist()} == {f"rank {r} out NIC {channel % 2}" for r in range(3)}
        for (a, b), out, into in zip(pairs, ways.out.tolist(), ways.into.tolist(), strict=True):
            assert fabric.port(out) == f"rank {a} out NIC {channel % 2}"
            assert fabric.port(into) == f"rank {b} in NIC {channel % 2}"
    assert fabric.ports == 12


def test_two_ranks_talk_over_the_innermost_level_that_holds_both():
    fabric = Levels([Level(2, LINE), Level(2, LINE), Level(3, LINE, nics=4)])
    ways = fabric.ways(whole(0, 0, 0, 1, 11), whole(1, 2, 4, 11, 10), whole(0, 0, 0, 5, 0))
    assert ways.curve.tolist() == [0, 1, 2, 2, 0]
    assert fabric.port(int(ways.out[3])) == "rank 1 out level 2 NIC 1"
    everything = [fabric.port(number) for number in range(fabric.ports)]
    assert len(set(everything)) == fabric.ports == 12 * 2 * (1 + 1 + 4)


@pytest.mark.parametrize(("ranks", "nics"), [(0, 1), (2, 0)])
def test_levels_have_members(ranks, nics):
    with pytest.raises(InputError):
        Level(ranks, LINE, nics)


def test_a_message_holds_the_slowest_port_of_either_half():
    machine = machines.find("dgx-h100")
    fabric = Wired(machine, [f"h{i}.gpu{j}" for i in range(2) for j in range(8)])
    ways = fabric.ways(whole(3, 3), whole(12, 4), whole(0, 0))
    assert [fabric.port(int(p)) for p in (ways.out[0], ways.into[0])] == ["h0.nic3>leaf out", "leaf>h1.nic4 in"]
    assert [fabric.port(int(p)) for p in (ways.out[1], ways.into[1])] == [
        "h0.gpu3>h0.nvswitch out",
        "h0.nvswitch>h0.gpu4 in",
    ]
    assert fabric.curves[int(ways.curve[0])] == through(machine.path(("h0.gpu3", "h1.gpu4")))


@pytest.mark.parametrize("name", ["dgx-h100", "gb200-nvl72", "a10-pcie", "sg2260", "tcp-cluster"])
def test_the_first_channel_goes_as_the_machine_says(name):
    machine = machines.find(name)
    places = [node for node, part in machine.nodes.items() if part.kind == "device"][:12]
    fabric = Wired(machine, places)
    for a, b in permutations(range(len(places)), 2):
        assert fabric.path(a, b).names == machine.path((places[a], places[b])).names


def test_channels_spread_over_nics_that_are_alike():
    fabric = Wired(two_rails(), ["g0", "g1"])
    ways = fabric.ways(whole(0, 0, 0), whole(1, 1, 1), whole(0, 1, 2))
    assert [fabric.port(p) for p in ways.out.tolist()] == ["a0>leaf out", "a1>leaf out", "a0>leaf out"]
    assert [fabric.port(p) for p in ways.into.tolist()] == ["leaf>b0 in", "leaf>b1 in", "leaf>b0 in"]
    assert fabric.nics(0, 1) == 2
    assert (
        Wired(machines.find("gb200-nvl72"), ["t0.gpu0", "t0.gpu1"]).nics(0, 1) == 1
    )  # nvswitch, never the CPU beside it


def test_half_duplex_is_one_port():
    fabric = Wired(two_rails(duplex="half"), ["g0", "g1"])
    ways = fabric.ways(whole(0, 1), whole(1, 0), whole(0, 0))
    assert ways.out[0] == ways.into[1]
    assert ways.into[0] == ways.out[1]


def test_ranks_share_no_device():
    fabric = Wired(two_rails(), ["g0", "g0"])
    with pytest.raises(MachineError, match="both on g0"):
        fabric.path(0, 1)
