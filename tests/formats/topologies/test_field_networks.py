"""Network files of simulators and fabrics, and their traffic, against counts that were made by other parsers."""

import re

import pytest
from field import FIELD, manifest, needed

from hopline.errors import FormatError, MachineError
from hopline.formats.schedules import table as schedules
from hopline.formats.topologies import table
from hopline.jobs.loading import resolve

PREFIXES = (
    "sim/astra-net", "sim/astra-inputs-net", "sim/atlahs-astrasim_network", "sim/astra-ns3-logical", "sim/hpcc-ns3-topology",
    "sim/htsim-", "sim/astra-htsim", "sim/simgrid-", "congestion/ibnetdiscover",
)  # fmt: skip

pytestmark = needed


def figures(computed):
    """Key -> text: up to the next ``key=``, since some texts have blanks."""
    return dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", computed))


def value(text, like):
    """A figure's text as the type of what is to be compared with it."""
    if isinstance(like, dict):
        return {name: int(count) for name, count in (part.rsplit(":", 1) for part in text.split(","))}
    if isinstance(like, tuple):
        words = text.strip("[]").split(",")
        return tuple(type(one)(word) for one, word in zip(like, words, strict=True))
    return type(like)(text)


def compare(facts, computed):
    told = figures(computed)
    assert told
    assert {name: facts[name] for name in told} == {name: value(text, facts[name]) for name, text in told.items()}


def wiring(path):
    return resolve(table.recognise(str(path)).reader)(str(path))


ROWS = manifest(*PREFIXES)


@pytest.mark.parametrize(("path", "computed"), ROWS)
def test_counts(path, computed):
    compare(wiring(path).facts, computed)


def test_all_rows_are_there():
    assert len(ROWS) == 18


@pytest.mark.parametrize(("path", "computed"), manifest("sim/hpcc-ns3-flow"))
def test_flows(path, computed):
    found = schedules.plan(str(path))
    compare(found.contents.facts, computed)
    assert [list(found.flows.source), list(found.flows.target)] == [[2, 3], [1, 1]]


MACHINES = {
    "sim/astra-net-HGX-H100-validated.yml": (8, 1, 8, 429496729600),
    "sim/astra-net-Ring_8npus.yml": (8, 0, 8, 53687091200),
    "sim/astra-inputs-net-tpu_v3_32_2dtorus.yml": (32, 0, 64, 85899345920),
    "sim/atlahs-astrasim_network.yml": (16, 8, 32, 161061273600),
    "sim/hpcc-ns3-topology.txt": (65, 1, 65, 12.5e9),
    "sim/htsim-fat_tree_1024.topo": (1024, 128 + 128 + 64, 3072, 12.5e9),
    "sim/htsim-leaf_spine_128_8os.topo": (128, 8 + 2, 128 + 16, 25e9),
    "sim/astra-htsim-8nodes.topo": (8, 4 + 4 + 4, 8 + 8 + 8, 25e9),
    "sim/simgrid-cluster_torus.xml": (12, 0, 12 + 6 + 6, 125e6),
    "sim/simgrid-cluster_dragonfly.xml": (120, 60, 120 + 120 + 3 * 5 * 6 + 3, 125e6),
    "congestion/ibnetdiscover.txt": (10, 8, 17, 25e9),
}
"""Devices, switches, cables, and byte/s of the first link."""


@pytest.mark.parametrize("name", MACHINES)
def test_machines(name):
    machine = wiring(FIELD / name).machine()
    kinds = [node.kind for node in machine.nodes.values()]
    first = next(iter(machine.links.values())).bandwidth
    assert (kinds.count("device"), kinds.count("switch"), len(machine.connections), first) == MACHINES[name]


REFUSED = {
    "sim/astra-inputs-net-dgx_v100_8gpu.yml": "bandwidth is 'tbd', which stands in place of a number",
    "sim/astra-ns3-logical-16nodes_2D.json": "only says how ranks are numbered",
    "sim/simgrid-cluster_backbone.xml": "all flows of cluster0 share a backbone of 2.250 GB/s",
    "sim/simgrid-g5k.xml": "share a backbone of 1.250 GB/s",
    "sim/simgrid-griffon.xml": "share a backbone of 1.250 GB/s",
    "sim/simgrid-small_platform.xml": "link",
    "sim/simgrid-small_platform_fatpipe.xml": "link '1' is FATPIPE: flows do not share it",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_why(name):
    with pytest.raises(MachineError, match=REFUSED[name]):
        wiring(FIELD / name).machine()


def test_every_file_is_a_machine_or_refused():
    assert {row.id for row in ROWS} == MACHINES.keys() | REFUSED.keys()


def test_other_files_of_the_folder_are_no_topologies():
    known = {row.id for row in ROWS}
    for path in (FIELD / "sim").iterdir():
        if f"sim/{path.name}" not in known:
            with pytest.raises(FormatError, match="is no topology that hopline knows"):
                table.recognise(str(path))
