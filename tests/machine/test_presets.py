"""The presets against published figures: aggregates of data sheets, measured transfers, and measured collectives.

That each number has a source and each file is written and read again is ``test_machine_files``.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest

from hopline import Transfer, cost, find_machine, machine_route
from hopline.machine.cuts import cuts
from hopline.machine.files import preset_names
from hopline.model.cuts import least_bytes, least_time

NVIDIA = ["a10-pcie", "dgx-a100", "dgx-h100", "gb200-nvl72", "hgx-b200", "hgx-h200"]


def devices(machine, prefix=""):
    return [node.name for node in machine.nodes.values() if node.kind == "device" and node.name.startswith(prefix)]


def seconds(name, path, size):
    route, found = machine_route(find_machine(name), path.split(","), size)
    return cost(Transfer(size, route, way=found.forwarding)).estimate.value


@pytest.mark.parametrize("name", preset_names())
def test_no_link_is_faster_than_its_line_rate(name):
    for link in find_machine(name).links.values():
        assert link.bandwidth <= (link.peak or math.inf), link.name


@pytest.mark.parametrize("name", NVIDIA)
def test_links_of_known_machines_have_their_line_rate_with_a_source(name):
    machine = find_machine(name)
    for link in machine.links:
        assert machine.links[link].peak
        assert {f"links.{link}.peak", f"links.{link}.bandwidth"} <= machine.sources.keys()


@pytest.mark.parametrize(
    ("name", "prefix", "link", "both_ways"),
    [
        ("dgx-a100", "h0.", "nvlink", 4.8e12),
        ("dgx-h100", "h0.", "nvlink", 7.2e12),
        ("hgx-h200", "h1.", "nvlink", 7.2e12),
        ("hgx-b200", "h0.", "nvlink", 14.4e12),
        ("gb200-nvl72", "t", "nvlink", 130e12),
        ("gb200-nvl72", "t0.grace0", "c2c", 0.9e12),
        ("dgx-a100", "h0.", "hdr", 2 * 8 * 200e9 / 8),
        ("dgx-h100", "h0.", "ndr", 2 * 8 * 400e9 / 8),
        ("hgx-b200", "h1.", "ndr", 2 * 8 * 400e9 / 8),
        ("gb200-nvl72", "t17.", "ndr", 2 * 4 * 400e9 / 8),
        ("a10-pcie", "s0.", "pcie", 4 * 64e9),
    ],
)
def test_line_rates_add_up_to_the_data_sheet(name, prefix, link, both_ways):
    machine = find_machine(name)
    joined = [c for c in machine.connections if c.link == link and any(end.startswith(prefix) for end in c.ends)]
    assert len(joined) * machine.links[link].peak * 2 == pytest.approx(both_ways, rel=0.02)


@pytest.mark.parametrize(
    ("name", "count", "memory"),
    [
        ("a10-pcie", 8, 8 * 0.6e12),
        ("dgx-a100", 16, 16 * 2.039e12),
        ("dgx-h100", 16, 16 * 3.35e12),
        ("hgx-h200", 16, 16 * 4.8e12),
        ("hgx-b200", 16, 16 * 8e12),
        ("gb200-nvl72", 72, 576e12),
    ],
)
def test_gpus_and_their_memories_are_those_of_the_data_sheet(name, count, memory):
    machine = find_machine(name)
    found = devices(machine)
    assert len(found) == count
    assert sum(machine.nodes[gpu].memory.bandwidth for gpu in found) == pytest.approx(memory)


def test_a_tray_of_the_rack_has_two_graces_with_two_gpus_and_two_nics_each():
    machine = find_machine("gb200-nvl72")
    graces = [name for name in machine.nodes if ".grace" in name]
    assert len(graces) == 36
    for grace in graces:
        beside = machine.neighbours(grace)
        assert Counter(beside.values()) == {"c2c": 2, "pcie": 2}
        assert {name.split(".")[0] for name in beside} == {grace.split(".")[0]}


@pytest.mark.parametrize(
    ("name", "inside", "across"),
    [
        ("dgx-a100", "h0.gpu0,h0.gpu7", "h0.gpu3,h1.gpu3"),
        ("dgx-h100", "h0.gpu0,h0.gpu7", "h0.gpu3,h1.gpu3"),
        ("hgx-h200", "h1.gpu0,h1.gpu7", "h0.gpu3,h1.gpu4"),
        ("hgx-b200", "h1.gpu0,h1.gpu7", "h0.gpu3,h1.gpu4"),
        ("gb200-nvl72", "t0.gpu0,t17.gpu3", "t0.gpu0,leaf,t17.gpu3"),
        ("a10-pcie", "s0.gpu0,s0.gpu3", "s0.gpu0,s1.gpu0"),
    ],
)
def test_leaving_the_node_costs_more_and_is_cut_through(name, inside, across):
    machine = find_machine(name)
    assert machine.path(inside.split(",")).forwarding == machine.path(across.split(",")).forwarding == "cut-through"
    assert seconds(name, across, 2**26) > 1.15 * seconds(name, inside, 2**26)


@pytest.mark.parametrize(
    ("name", "path", "size", "measured", "within"),
    [
        # vidur, data/profiling/network: send_recv of 64 MiB in one node and across nodes
        ("dgx-h100", "h0.gpu0,h0.gpu1", 2**26, 192.7e-6, 0.02),
        ("dgx-h100", "h0.gpu0,h1.gpu0", 2**26, 1868.7e-6, 0.02),
        # nvbandwidth between pairs: 396.40 GB/s on H200 (stas00/ml-engineering), 26.34 and 22 GB/s over PCIe 4.0 x16
        ("hgx-h200", "h0.gpu0,h0.gpu1", 2**30, 2**30 / 396.4e9, 0.10),
        ("a10-pcie", "s0.gpu0,s0.gpu1", 2**30, 2**30 / 26.34e9, 0.01),
        ("a10-pcie", "s0.gpu0,s1.gpu1", 2**30, 2**30 / 22.64e9, 0.03),
        # the same on GB200: 1530 GB/s both ways (Azure/AI-benchmarking-guide)
        ("gb200-nvl72", "t0.gpu0,t0.gpu1", 2**30, 2**30 / 765e9, 0.15),
    ],
)
def test_published_transfers_are_met(name, path, size, measured, within):
    assert seconds(name, path, size) == pytest.approx(measured, rel=within)


# NCCL 2.29.2, 512 MiB (ai-dynamo/aiconfigurator, nccl_perf; its sizes count elements)
COLLECTIVES = {
    ("hgx-h200", "h0.", 8): {
        "all_reduce": 2040.31e-6, "all_gather": 1394.97e-6, "reduce_scatter": 1393.35e-6, "alltoall": 1509.91e-6,
    },
    ("gb200-nvl72", "t0.", 4): {"all_reduce": 1282.15e-6, "all_gather": 714.45e-6},
}  # fmt: skip
MEASURED = [(*node, benchmark, time) for node, times in COLLECTIVES.items() for benchmark, time in times.items()]


@pytest.mark.parametrize(("name", "prefix", "count", "benchmark", "measured"), MEASURED)
def test_no_published_collective_is_faster_than_the_line_rates_allow(name, prefix, count, benchmark, measured):
    machine = find_machine(name)
    ranks = devices(machine, prefix)
    assert len(ranks) == count
    assert least_time(benchmark, 2**29, cuts(machine, ranks)).time < measured


@pytest.mark.parametrize(
    ("name", "prefix", "count", "benchmark", "measured"),
    [m for m in MEASURED if m[:4] != ("hgx-h200", "h0.", 8, "all_reduce")],
)
def test_published_rings_are_within_a_fifth_of_the_bandwidth_reached(name, prefix, count, benchmark, measured):
    """All but the all-reduce that the switches of the H200 add up (NVLS)."""
    out, into = least_bytes(benchmark, 2**29, count, 1, in_network=False)
    link = find_machine(name).links["nvlink"]
    expected = link.startup.total() + max(out, into) / link.bandwidth
    assert expected == pytest.approx(measured, rel=0.2)
