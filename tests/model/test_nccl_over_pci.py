"""Machines whose GPUs have no NVLink, and how many GPUs a node may be assumed to hold."""

import pytest

from hopline.errors import InputError, UnknownNameError
from hopline.model.nccl import searched
from hopline.model.nccl.job import Graph, Job
from hopline.model.nccl.numbers import LATEST, numbers
from hopline.model.nccl.tables import table
from hopline.records.nccl_names import ALGORITHMS


def found(architecture, nodes, intel, gpus=8, nic=None):
    node = searched.assumed(architecture, gpus, nic, pci=True, intel=intel)
    graphs = searched.graphs(node, nodes)
    assert not {"NVLS", "NVLSTree"} & set(graphs)
    return {name: (graphs[name].channels, graphs[name].within, graphs[name].between) for name in ("Ring", "Tree")}


@pytest.mark.parametrize(
    ("architecture", "intel", "ring"),
    [
        ("volta", True, (1, 10.0, 10.0)), ("volta", False, (1, 12.0, 12.0)), ("ampere", True, (1, 20.0, 20.0)),
        ("ampere", False, (2, 12.0, 12.0)), ("hopper", True, (2, 20.0, 20.0)), ("hopper", False, (2, 24.0, 24.0)),
        ("blackwell", True, (2, 20.0, 20.0)),
    ],
)  # fmt: skip
def test_one_node_fills_the_slot_of_its_generation(architecture, intel, ring):
    assert found(architecture, 1, intel) == {"Ring": ring, "Tree": ring}


def test_over_the_network_no_gpu_takes_more_than_its_slot_carries():
    for architecture in searched.NIC:
        for intel in (True, False):
            for gpus in (1, 2, 8):
                for nic in (None, 0.12, 1.2, 6.0, 12.5, 100.0):
                    node = searched.assumed(architecture, gpus, nic, pci=True, intel=intel)
                    graphs = found(architecture, 2, intel, gpus, nic)
                    for name, half in (("Ring", 0.0), ("Tree", 0.5 if gpus > 1 else 0.0)):
                        channels, within, between = graphs[name]
                        assert channels * within + half * between <= node.slot + 1e-9
                        assert channels * between <= gpus * node.nic + 1e-9
    assert found("ampere", 2, False) == {"Ring": (1, 24.0, 24.0), "Tree": (1, 15.0, 15.0)}
    assert found("hopper", 2, True) == {"Ring": (2, 20.0, 20.0), "Tree": (2, 15.0, 15.0)}
    assert found("ampere", 2, False, nic=12.5)["Ring"] == (2, 12.0, 12.0)


def test_nvls_needs_nvlink_even_where_a_graph_is_there():
    graphs = dict.fromkeys(ALGORITHMS, Graph(2, 20.0, 20.0, "PHB", "PHB"))
    cells = table(Job(8, 1, "hopper", graphs, LATEST))
    assert not cells["AllReduce", "NVLS", "Simple"].usable
    assert cells["AllReduce", "Ring", "Simple"].usable


@pytest.mark.parametrize(
    ("architecture", "gpus", "pci", "most"),
    [("volta", 17, False, 16), ("ampere", 17, False, 16), ("hopper", 257, False, 256), ("blackwell", 577, False, 576),
     ("hopper", 33, True, 32)],
)  # fmt: skip
def test_no_node_holds_more_than_any_machine(architecture, gpus, pci, most):
    assert searched.assumed(architecture, most, pci=pci).gpus == most
    with pytest.raises(InputError, match=f"{gpus} GPUs .* in one node: expected at most {most}.*--nodes"):
        searched.assumed(architecture, gpus, pci=pci)
    with pytest.raises(UnknownNameError):
        searched.assumed("kepler", 8)


def test_channels_of_a_communicator_are_bounded():
    assert (numbers("2.24.3").most_channels, numbers("2.25.1").most_channels) == (32, 64)
    graphs = {"Ring": Graph(40, 20.0, 20.0)}
    assert Job(8, 1, "hopper", graphs, LATEST).all_channels == 64
