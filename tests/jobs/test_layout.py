"""Where ranks run, and what joins them."""

from pathlib import Path

import pytest

from hopline.errors import InputError, MachineError, UnknownNameError
from hopline.jobs import layout, machines
from hopline.machine.parts import Link, Node
from hopline.machine.topology import Connection, Machine

TWO = machines.find(str(Path(__file__).parents[1] / "data" / "machines" / "two-nodes.toml"))


def test_the_first_devices_where_none_are_named():
    assert layout.devices(TWO, 3) == ("h0.gpu0", "h0.gpu1", "h0.gpu2")
    assert layout.devices(TWO, 8)[-1] == "h1.gpu3"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("h1.gpu2", "h0.gpu0"), ["h1.gpu2", "h0.gpu0"]),
        (("h0.gpu*",), ["h0.gpu0", "h0.gpu1", "h0.gpu2", "h0.gpu3"]),
        (("h*.gpu1",), ["h0.gpu1", "h1.gpu1"]),
        (("h1.gpu*", "h0.gpu0"), ["h1.gpu0", "h1.gpu1", "h1.gpu2", "h1.gpu3", "h0.gpu0"]),
        (("*",), None),
        (("h0.g*",), None),
    ],
)
def test_names_and_families(names, found):
    if found is None:
        with pytest.raises(MachineError, match=r"\* is a number"):
            layout.devices(TWO, None, names)
    else:
        assert list(layout.devices(TWO, None, names)) == found


@pytest.mark.parametrize(
    ("ranks", "names", "error", "told"),
    [
        (None, (), InputError, "number of ranks is not known: give -n"),
        (9, (), MachineError, "two nodes has 8 devices: expected at most as many ranks, got 9"),
        (4, ("h0.gpu0", "h0.gpu1"), InputError, "--on names 2 devices: expected 4, one for each rank"),
        (None, ("h0.gpu0",), InputError, "--on names 1 device: expected at least 2"),
        (None, ("h0.gpu*", "h0.gpu3"), InputError, "--on names h0.gpu3 twice"),
        (None, ("h0.gpu", "h1.gpu0"), UnknownNameError, "unknown device of two nodes 'h0.gpu'"),
        (None, ("leaf", "h1.gpu0"), MachineError, "leaf of two nodes is a switch"),
    ],
)
def test_what_is_refused(ranks, names, error, told):
    with pytest.raises(error, match=told.replace("*", r"\*")):
        layout.devices(TWO, ranks, names)


def test_one_node():
    laid = layout.layout(TWO, layout.devices(TWO, 4))
    assert (laid.per_node, laid.sends.rails, laid.sends.wires, laid.sends.far) == (4, 1, "nvlink", None)
    assert laid.sends.near is not None
    assert laid.sends.near.time(200e6) == pytest.approx(6e-6 + 0.1e-6 + 1e-3)
    assert laid.note == "1 node of 4, inside over nvlink"


def test_two_nodes_use_all_their_nics():
    laid = layout.layout(TWO, layout.devices(TWO, 8))
    assert (laid.per_node, laid.sends.rails) == (4, 4)
    assert laid.sends.far is not None
    assert laid.sends.far.time(40e6) == pytest.approx(9e-6 + 0.2e-6 + 1e-3)
    assert laid.note == "2 nodes of 4, inside over nvlink, between over ib"


def test_ranks_need_not_stand_in_order():
    laid = layout.layout(TWO, ("h0.gpu0", "h1.gpu0", "h0.gpu1", "h1.gpu1"))
    assert (laid.per_node, laid.note[:12]) == (2, "2 nodes of 2")


def test_one_rank_a_node_has_no_near_sends():
    laid = layout.layout(TWO, ("h0.gpu0", "h1.gpu0"))
    assert (laid.per_node, laid.sends.near, laid.sends.rails) == (1, None, 1)


def test_nodes_that_are_filled_unevenly_are_refused():
    with pytest.raises(MachineError, match=r"unevenly over nodes \(4, 2\).*give -n as a multiple"):
        layout.layout(TWO, layout.devices(TWO, 6))


def joined(*connections):
    """A machine of connections (first, second, link), all alike."""
    names = dict.fromkeys(end for a, b, _ in connections for end in (a, b))
    links = {link: Link(link, 1e9) for _, _, link in connections}
    return Machine(
        "m",
        "",
        links,
        {name: Node(name) for name in names},
        tuple(Connection((a, b), link) for a, b, link in connections),
    )


@pytest.mark.parametrize(
    ("link", "per_node", "wires"),
    [
        ("nvlink", 2, "nvlink"), ("nvlink5", 2, "nvlink"), ("xgmi", 2, "nvlink"), ("c2c", 2, "nvlink"), ("pcie", 2, "pci"),
        ("upi", 2, "pci"), ("ethernet", 1, "nvlink"), ("send", 1, "nvlink"),
    ],
)  # fmt: skip
def test_links_are_told_apart_by_their_names(link, per_node, wires):
    laid = layout.layout(joined(("a", "b", link)), ("a", "b"))
    assert (laid.per_node, laid.sends.wires) == (per_node, wires)


def test_the_slowest_wire_on_the_way_counts():
    laid = layout.layout(joined(("a", "x", "nvlink"), ("x", "b", "pcie")), ("a", "b"))
    assert (laid.per_node, laid.sends.wires) == (2, "pci")


def test_many_nodes_take_no_time():
    """128 nodes of 8: grouped by the links, not by a search for each pair."""
    connections = [(f"h{i}.gpu{j}", f"h{i}.sw", "nvlink") for i in range(128) for j in range(8)]
    connections += [(f"h{i}.sw", "leaf", "ib") for i in range(128)]
    machine = joined(*connections)
    laid = layout.layout(machine, [f"h{i}.gpu{j}" for i in range(128) for j in range(8)])
    assert laid.note.startswith("128 nodes of 8")
