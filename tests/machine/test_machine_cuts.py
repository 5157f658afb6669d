"""Cuts of machines: what is inside, and what the links around carry."""

from collections import deque

import pytest

from hopline.errors import InputError, MachineError, UnknownNameError
from hopline.machine.cuts import ALONE, Cut, components, cuts
from hopline.machine.files import loads, preset_text
from hopline.machine.parts import Link, Node
from hopline.machine.topology import Connection, Machine


def preset(name):
    return loads(preset_text(name), name)


def machine(links, nodes, *connections):
    joined = tuple(Connection((a, b), link) for a, b, link in connections)
    return Machine("m", "", {link.name: link for link in links}, {node.name: node for node in nodes}, joined)


def by_family(found):
    families = {}
    for cut in found:
        families.setdefault(cut.family, []).append(cut)
    return families


def test_hosts_are_what_remains_without_their_ports():
    h100 = preset("dgx-h100")
    nvlink, pcie, ndr = (h100.links[name].peak or h100.links[name].bandwidth for name in ("nvlink", "pcie", "ndr"))
    found = by_family(cuts(h100, [f"h{h}.gpu{i}" for h in (0, 1) for i in range(8)]))
    assert [len(found[name]) for name in (ALONE, "without ndr", "without pcie")] == [16, 2, 2]
    assert "without nvlink" not in found
    assert found[ALONE][0] == Cut("h0.gpu0", ALONE, ("h0.gpu0",), 1, 16, nvlink + pcie, 2 * (nvlink + pcie))
    host = found["without ndr"][1]
    assert (host.name, host.side, host.rate) == ("h1.gpu0 and 7 more", 8, pytest.approx(8 * ndr))
    assert host.inside == tuple(f"h1.gpu{i}" for i in range(8))


def test_inside_one_host_no_port_is_a_border():
    found = by_family(cuts(preset("dgx-h100"), ["h0.gpu0", "h0.gpu1"]))
    assert set(found) == {ALONE}


@pytest.mark.parametrize("name", ["dgx-h100", "sg2260", "tcp-cluster"])
def test_every_cut_cuts(name):
    """Without the links whose rates were summed, no rank inside reaches one outside."""
    m = preset(name)
    devices = [node.name for node in m.nodes.values() if node.kind == "device"]
    for cut in cuts(m, devices):
        kept = [c for c in m.connections if not crosses(m, c, cut)]
        near = {n: {b for c in kept for b in c.ends if n in c.ends} for n in m.nodes}
        seen, todo = set(cut.inside), deque(cut.inside)
        while todo:
            fresh = near[todo.popleft()] - seen
            seen |= fresh
            todo += fresh
        assert seen & set(devices) == set(cut.inside)
        assert cut.side == len(cut.inside)


def crosses(m, connection, cut):
    """Whether the cut claims this connection: all links of a device, or all of the family's name."""
    if cut.family == ALONE:
        return cut.name in connection.ends
    return connection.link == cut.family.removeprefix("without ")


PEAK, HALF = Link("peak", 10e9, peak=12.5e9), Link("half", 8e9, duplex="half")


def test_peak_counts_where_it_is_known_and_nics_multiply():
    star = machine(
        [PEAK, HALF],
        [Node("a", nics=2), Node("b"), Node("s", "switch"), Node("t", "switch")],
        ("a", "s", "peak"),
        ("a", "b", "half"),
        ("b", "t", "peak"),
        ("s", "t", "peak"),
    )
    found = {(cut.family, cut.name): (cut.rate, cut.both) for cut in cuts(star, ["a", "b"])}
    assert found[ALONE, "a"] == (2 * 12.5e9 + 8e9, 4 * 12.5e9 + 8e9)
    assert found[ALONE, "b"] == (12.5e9 + 8e9, 2 * 12.5e9 + 8e9)
    assert set(found) == {(ALONE, "a"), (ALONE, "b")}


def test_links_between_switches_count_for_the_most_nics():
    line = machine(
        [PEAK, HALF],
        [Node("a", nics=4), Node("b"), Node("s", "switch"), Node("t", "switch")],
        ("a", "s", "half"),
        ("b", "t", "half"),
        ("s", "t", "peak"),
    )
    found = {(cut.family, cut.name): cut.rate for cut in cuts(line, ["a", "b"])}
    assert found["without peak", "a"] == 4 * 12.5e9
    assert found["without half", "a"] == 4 * 8e9


def test_several_ranks_on_a_device():
    pair = machine([PEAK], [Node("a"), Node("b")], ("a", "b", "peak"))
    assert [(cut.side, cut.ranks) for cut in cuts(pair, ["a", "a", "b"])[:2]] == [(2, 3), (1, 3)]


def test_components_in_the_order_of_the_nodes():
    assert components(dict.fromkeys("abcd"), [("c", "a"), ("d", "b")]) == [{"a", "c"}, {"b", "d"}]


def test_errors():
    apart = machine([PEAK], [Node("a"), Node("b"), Node("c"), Node("s", "switch")], ("a", "b", "peak"))
    with pytest.raises(UnknownNameError, match="unknown node of m 'x'"):
        cuts(apart, ["a", "x"])
    with pytest.raises(MachineError, match="s is a switch"):
        cuts(apart, ["a", "s"])
    with pytest.raises(MachineError, match="ranks on a: expected at least two"):
        cuts(apart, ["a", "a"])
    with pytest.raises(MachineError, match="no links lead from c"):
        cuts(apart, ["a", "c"])
    with pytest.raises(MachineError, match="2 of 2 ranks"):
        Cut("a", ALONE, ("a",), 2, 2, 1.0, 2.0)
    with pytest.raises(InputError, match="rate of the cut around a"):
        Cut("a", ALONE, ("a",), 1, 2, 0.0, 2.0)
