"""Paths through a machine: where they go and what each hop costs."""

from __future__ import annotations

import pytest

from hopline.curve import Curve, Piece
from hopline.errors import MachineError, UnknownNameError
from hopline.machine.files import loads, preset_text
from hopline.machine.parts import Link, Memory, Node, Startup, Sync
from hopline.machine.topology import Connection, Machine, Path


def preset(name):
    return loads(preset_text(name), name)


def machine(links, nodes, *connections):
    return Machine(
        "m",
        "",
        {link.name: link for link in links},
        {node.name: node for node in nodes},
        tuple(Connection((a, b), link) for a, b, link in connections),
    )


FAST, SLOW = Link("fast", 64e9, Startup(0.5e-6), forwarding="cut-through"), Link("slow", 25e9, Startup(2e-6))
STAR = machine(
    [FAST, SLOW],
    [Node("a"), Node("b"), Node("s", "switch", 0.1e-6), Node("t", "switch"), Node("lone"), Node("p"), Node("q")],
    ("a", "s", "fast"),
    ("s", "t", "slow"),
    ("t", "b", "fast"),
    ("p", "q", "slow"),
)


@pytest.mark.parametrize(
    ("names", "through"),
    [
        (["a0", "a1"], ["a0", "a1"]),
        (["a1", "b2"], ["a1", "a0", "b0", "b2"]),
        (["a0", "a3", "a1"], ["a0", "a3", "a1"]),
    ],
)
def test_the_way_with_the_fewest_hops(names, through):
    assert list(preset("sg2260").path(names).names) == through


def test_between_machines_of_gpus():
    path = preset("dgx-h100").path(["h0.gpu3", "h1.gpu5"])
    assert path.names == ("h0.gpu3", "h0.nic3", "leaf", "h1.nic5", "h1.gpu5")
    assert [leg.link.name for leg in path.legs] == ["pcie", "ndr", "ndr", "pcie"]
    assert path.legs[0].name == "h0.gpu3>h0.nic3"


def test_connections_go_both_ways():
    assert STAR.path(["b", "a"]).names == ("b", "t", "s", "a")
    assert STAR.neighbours("s") == {"a": "fast", "t": "slow"}


def test_equals_are_decided_by_the_order_of_the_file():
    square = machine(
        [FAST],
        [Node(n) for n in "abcd"],
        ("a", "c", "fast"),
        ("a", "b", "fast"),
        ("b", "d", "fast"),
        ("c", "d", "fast"),
    )
    assert square.path(["a", "d"]).names == ("a", "c", "d")


def test_a_switch_does_not_pay_the_software_again():
    """Only the sender's start-up is paid: 0.5 µs, then 0.1 µs in one switch and an unknown 0 in the other."""
    path = STAR.path(["a", "b"])
    assert path.hops() == [Curve.line(0.5e-6, 64e9), Curve.line(0.1e-6, 25e9), Curve.line(0.0, 64e9)]
    assert [leg.latency_known() for leg in path.legs] == [True, True, False]


def test_a_device_that_relays_pays_it_again():
    hops = preset("sg2260").path(["a1", "a0", "b0"]).hops()
    assert [hop.pieces[0].latency for hop in hops] == [pytest.approx(0.55e-6), pytest.approx(2e-6)]
    assert [hop.pieces[0].bandwidth for hop in hops] == [64e9, 25e9]


def test_more_ranks_synchronise_longer():
    path = preset("sg2260").path(["a1", "a0"])
    assert path.hops(ranks=8)[0].pieces[0].latency == pytest.approx(1.2e-6)
    assert path.hops(ranks=4)[0].pieces[0].latency == pytest.approx(0.25e-6 + (0.3e-6 + 0.95e-6) / 2)


def relay(bandwidth, memory, fitted=None):
    link = Link("l", bandwidth, Startup(1e-6), curve=fitted)
    nodes = [Node(n, nics=4, memory=Memory(memory)) for n in "abc"]
    return machine([link], nodes, ("a", "b", "l"), ("b", "c", "l")).path(["a", "b", "c"])


@pytest.mark.parametrize(
    ("memory", "overlap", "reduce", "caps"),
    [
        (68.2e9, True, False, [[68.2e9, 34.1e9], [34.1e9, 68.2e9]]),
        (68.2e9, False, False, [[68.2e9, 68.2e9], [68.2e9, 68.2e9]]),
        (68.2e9, True, True, [[68.2e9, 34.1e9], [34.1e9, pytest.approx(68.2e9 / 3)]]),
        (68.2e9, False, True, [[68.2e9, 68.2e9], [68.2e9, pytest.approx(68.2e9 / 3)]]),
    ],
)
def test_memories_cap_what_relays_and_reduces(memory, overlap, reduce, caps):
    path = relay(64e9, memory)
    found = [path.memory_caps(i, overlap, reduce) for i in range(2)]
    assert [[rate for rate, _ in ends] for ends in found] == caps
    assert [[node for _, node in ends] for ends in found] == [["a", "b"], ["b", "c"]]
    assert [hop.pieces[0].bandwidth for hop in path.hops()] == [64e9, 64e9]


def test_several_nics_carry_as_many_times_as_much():
    curve = Curve((Piece(0, 1e-6, 20e9), Piece(4096, 2e-6, 50e9)))
    for n in (1, 2, 4):
        assert relay(10e9, 68.2e9).hops(nics=n)[0] == Curve.line(1e-6, n * 10e9)
        assert [p.bandwidth for p in relay(64e9, 68.2e9, curve).hops(nics=n)[0].pieces] == [n * 20e9, n * 50e9]


def test_no_memory_no_cap():
    assert STAR.path(["a", "b"]).memory_caps(1) == []


def test_forwarding_is_the_slowest_of_its_links():
    assert STAR.path(["a", "b"]).forwarding == "store-and-forward"
    assert STAR.path(["a", "s"]).forwarding == "cut-through"
    assert preset("dgx-h100").path(["h0.gpu0", "h1.gpu0"]).forwarding == "cut-through"


def test_a_device_between_receives_the_whole_first():
    cut = Link("l", 1e9, forwarding="cut-through")
    line = machine([cut], [Node("a"), Node("b"), Node("c")], ("a", "b", "l"), ("b", "c", "l"))
    assert line.path(["a", "c"]).forwarding == "store-and-forward"


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "'a' has no hops: expected at least two nodes"),
        ([], "has no hops"),
        (["a", "a"], "from a to itself"),
        (["a", "b", "b"], "from b to itself"),
        (["a", "s", "a"], "a,s,a comes twice to a node"),
        (["a", "b", "s"], "comes twice to a node"),
        (["a", "p"], "no way leads from a to p: a is connected to s"),
    ],
)
def test_paths_that_lead_nowhere(names, said):
    with pytest.raises(MachineError) as caught:
        STAR.path(names)
    assert said in str(caught.value)


def test_a_node_without_connections_is_said_to_have_none():
    with pytest.raises(MachineError) as caught:
        STAR.path(["lone", "a"])
    assert str(caught.value).startswith("no way leads from lone to a")
    assert not str(caught.value).rstrip().endswith("connected to")


def test_an_unknown_node_comes_with_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"did you mean 'h0.gpu1'\? known are h0.gpu0, "):
        preset("dgx-h100").path(["h0.gpu0", "h0.gpu1x"])
    with pytest.raises(UnknownNameError, match="unknown node of SG2260 'a9': known are a0, a1"):
        preset("sg2260").path(["a0", "a9"])


@pytest.mark.parametrize(
    ("connection", "said"), [(("a", "b", "fats"), "did you mean 'fast'"), (("a", "bb", "fast"), "did you mean 'b'")]
)
def test_connections_name_what_there_is(connection, said):
    with pytest.raises(UnknownNameError, match=said):
        machine([FAST], [Node("a"), Node("b")], connection)


def test_a_path_has_legs():
    with pytest.raises(MachineError, match="no hops"):
        Path(())


def test_sync_of_one_entry_is_the_default():
    assert Startup().sync == Sync()
