"""Machines by a name and numbers: how many parts they have, how these join, how fast they are, and what is refused."""

from collections import Counter
from itertools import combinations

import pytest

from hopline.errors import HoplineError, InputError, MachineError, QuantityError, UnknownNameError
from hopline.jobs import machines
from hopline.machine import files
from hopline.machine.families.table import TOPOLOGIES, generate, is_topology
from hopline.machine.writing import dumps


def devices(machine):
    return [name for name, node in machine.nodes.items() if node.kind == "device"]


def degrees(machine):
    return Counter(end for connection in machine.connections for end in connection.ends)


def joined(machine):
    return {frozenset(connection.ends): machine.links[connection.link] for connection in machine.connections}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_examples_are_machines_that_can_be_saved(name):
    machine = generate(f"{name}:{TOPOLOGIES[name].example}")
    again = files.loads(dumps(machine), "again")
    assert (dict(again.nodes), again.connections, dict(again.links)) == (
        dict(machine.nodes), machine.connections, dict(machine.links),
    )  # fmt: skip


def test_fat_tree():
    machine = generate("fat-tree:leaves=3,hosts=4,spines=2,rate=50GB/s,latency=0.5us,memory=3TB/s,startup=2us")
    assert devices(machine) == [f"host{i}" for i in range(12)]
    assert {machine.nodes[f"host{i}"].memory.bandwidth for i in range(12)} == {3e12}
    degree = degrees(machine)
    assert [degree[f"leaf{i}"] for i in range(3)] == [6] * 3
    assert [degree[f"spine{i}"] for i in range(2)] == [3] * 2
    assert frozenset(("host7", "leaf1")) in joined(machine)
    assert {(link.bandwidth, link.delay, link.startup.total()) for link in machine.links.values()} == {
        (50e9, 0.5e-6, 2e-6)
    }


def test_an_uplink_is_told_as_rate_or_as_oversubscription():
    base = "fat-tree:leaves=4,hosts=8,spines=4,rate=50GB/s"
    assert generate(base).links["uplink"].bandwidth == 50e9
    assert generate(f"{base},uplink=400Gb/s").links["uplink"].bandwidth == 50e9
    assert generate(f"{base},oversubscription=1").links["uplink"].bandwidth == 100e9
    assert generate(f"{base},oversubscription=4").links["uplink"].bandwidth == 25e9
    with pytest.raises(InputError, match="say the same twice"):
        generate(f"{base},oversubscription=4,uplink=1GB/s")


@pytest.mark.parametrize("k", [2, 4, 6])
def test_three_tiers_have_k_ports_each(k):
    machine = generate(f"k-ary-fat-tree:k={k},rate=1GB/s")
    degree = degrees(machine)
    assert len(devices(machine)) == k**3 // 4
    assert {degree[name] for name, node in machine.nodes.items() if node.kind == "switch"} == {k}
    assert len(machine.nodes) == k**3 // 4 + 5 * k * k // 4


def test_nic_g_of_every_node_is_on_rail_g():
    machine = generate("rail-optimised:nodes=3,gpus=4,rate=50GB/s,inside=450GB/s,latency=1us,inside-latency=0.2us")
    links = joined(machine)
    for node in range(3):
        for gpu in range(4):
            link = links[frozenset((f"h{node}.gpu{gpu}", f"rail{gpu}"))]
            assert (link.bandwidth, link.delay) == (50e9, 1e-6)
            assert links[frozenset((f"h{node}.gpu{gpu}", f"h{node}.switch"))].bandwidth == 450e9
    assert machine.links["inside"].delay == 0.2e-6
    assert len(machine.connections) == 24
    shared = generate("rail-optimised:nodes=3,gpus=4,rails=2,spines=3,rate=50GB/s,inside=450GB/s")
    assert degrees(shared)["rail1"] == 3 * 2 + 3
    assert shared.links["uplink"].bandwidth == pytest.approx(6 * 50e9 / 3)
    assert machine.path(("h0.gpu1", "h2.gpu1")).names == ("h0.gpu1", "rail1", "h2.gpu1")


@pytest.mark.parametrize(
    ("dims", "wrap", "cables"),
    [("4x4x2", "yes", 16 * 2 * 2 + 16), ("4x4x2", "no", 3 * 8 * 2 + 16), ("5", "yes", 5), ("2", "yes", 1), ("1x3", "yes", 3)],
)  # fmt: skip
def test_torus(dims, wrap, cables):
    machine = generate(f"torus:dims={dims},wrap={wrap},rate=1GB/s")
    assert len(machine.connections) == cables
    for connection in machine.connections:
        a, b = ([int(part) for part in end[1:].split(".")] for end in connection.ends)
        apart = [(i, abs(x - y)) for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        assert len(apart) == 1
        length = int(dims.split("x")[apart[0][0]])
        assert apart[0][1] in ({1, length - 1} if wrap == "yes" else {1})


@pytest.mark.parametrize(("groups", "routers", "links"), [(9, 4, 2), (5, 4, 1), (7, 3, 2), (2, 1, 1), (4, 2, 5)])
def test_every_two_groups_are_joined_once(groups, routers, links):
    machine = generate(f"dragonfly:groups={groups},routers={routers},hosts=2,links={links},rate=1GB/s,between=3GB/s")
    outer = [connection.ends for connection in machine.connections if connection.link == "between groups"]
    assert sorted(tuple(sorted(int(end[1:].split(".")[0]) for end in ends)) for ends in outer) == list(
        combinations(range(groups), 2)
    )
    assert max(Counter(end for ends in outer for end in ends).values()) <= links
    inner = [connection for connection in machine.connections if connection.link == "inside group"]
    assert len(inner) == groups * routers * (routers - 1) // 2
    assert len(devices(machine)) == groups * routers * 2
    assert (machine.links["between groups"].bandwidth, machine.links["inside group"].bandwidth) == (3e9, 1e9)


def test_supernodes_have_planes_or_a_mesh():
    planes = generate("supernode:nodes=2,devices=6,planes=3,inside=50GB/s,rate=25GB/s,spines=2,oversubscription=2")
    degree = degrees(planes)
    assert [degree[f"s1.d{i}"] for i in range(6)] == [4] * 6
    assert degree["s0.leaf"] == 6 + 2
    assert planes.links["uplink"].bandwidth == pytest.approx(6 * 25e9 / 2 / 2)
    mesh = generate("supernode:mesh=3x4,inside=50GB/s")
    assert {degrees(mesh)[name] for name in devices(mesh)} == {2 + 3}
    assert len(mesh.nodes) == 12
    assert max(len(mesh.path(pair).legs) for pair in combinations(devices(mesh), 2)) == 2
    assert len(generate("supernode:devices=5,inside=1GB/s").connections) == 5


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("fat-tre:leaves=2", UnknownNameError, "did you mean 'fat-tree'"),
        ("fat-tree", InputError, "needs leaves, hosts, spines, rate: give it, like fat-tree:leaves=8"),
        ("fat-tree:leaves=2,hosts=2,spines=1", InputError, "needs rate"),
        ("fat-tree:leaves=2,hosts=2,spines=1,rate=50", QuantityError, "rate: '50' has no unit"),
        ("fat-tree:leaves=2,hosts=2,spines=1,rate=0GB/s", QuantityError, "above 0"),
        ("fat-tree:leaves=2,hosts=2,spines=1,rate=1us", QuantityError, "is a time"),
        ("fat-tree:leaves=0,hosts=2,spines=1,rate=1GB/s", QuantityError, "leaves: '0': expected at least 1"),
        ("fat-tree:leaves=1.5,hosts=2,spines=1,rate=1GB/s", QuantityError, "whole number"),
        ("fat-tree:leaves=2,hosts=2,spine=1,rate=1GB/s", UnknownNameError, "did you mean 'spines'"),
        ("fat-tree:leaves=2,leaves=3,hosts=2,spines=1,rate=1GB/s", InputError, "leaves is given twice"),
        ("fat-tree:leaves,hosts=2", InputError, "'leaves' is not key=value"),
        ("fat-tree:leaves=9999,hosts=999,spines=1,rate=1GB/s", InputError, "nodes: expected at most 1,048,576"),
        ("fat-tree:leaves=999999999999,hosts=999999999999,spines=1,rate=1GB/s", InputError, "expected at most"),
        ("fat-tree:leaves=1,hosts=1,spines=1,rate=1GB/s", MachineError, "has one device"),
        ("fat-tree:leaves=2,hosts=2,spines=1,rate=1GB/s,oversubscription=-1", QuantityError, "above 0"),
        ("k-ary-fat-tree:k=5,rate=1GB/s", InputError, "k is 5: expected an even number"),
        ("torus:dims=4xx2,rate=1GB/s", QuantityError, "like 4x4x2"),
        ("torus:dims=0x2,rate=1GB/s", QuantityError, "like 4x4x2"),
        ("torus:dims=4,wrap=maybe,rate=1GB/s", QuantityError, "expected yes or no"),
        ("torus:dims=9999x9999,rate=1GB/s", InputError, "expected at most"),
        ("dragonfly:groups=9,routers=4,hosts=1,links=1,rate=1GB/s", InputError, "expected at least 8, so that no group"),
        ("rail-optimised:nodes=2,gpus=8,rails=3,rate=1GB/s,inside=1GB/s", InputError, "8 NICs of a node on 3 rails"),
        ("supernode:devices=5,mesh=2x2,inside=1GB/s", InputError, "mesh has 4 devices: expected 5"),
        ("supernode:mesh=2x2,planes=1,inside=1GB/s", InputError, "exclude each other"),
        ("supernode:inside=1GB/s", InputError, "needs devices or mesh"),
        ("supernode:nodes=2,devices=4,inside=1GB/s", InputError, "rate is missing here"),
        ("supernode:devices=99999,planes=99,inside=1GB/s", InputError, "connections: expected at most"),
    ],
)  # fmt: skip
def test_what_is_refused(text, error, says):
    with pytest.raises(error) as caught:
        generate(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_of_topologies_are_machines(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path))
    text = "torus:dims=3,rate=1GB/s"
    assert machines.find(text).name == text
    assert files.loads(machines.text(text), "text").name == text
    assert not is_topology("./torus:dims=3")
    assert not is_topology("dgx-h100")
    with pytest.raises(HoplineError, match="torus needs dims, rate"):
        machines.find("torus")
    machines.save(machines.find("dgx-h100"), tmp_path / "torus.toml")
    assert machines.find("torus").name == "DGX H100"


@pytest.mark.parametrize(
    "text",
    [
        "rail-optimised:nodes=2,gpus=4,rate=1GB/s,inside=9GB/s,oversubscription=5",
        "rail-optimised:nodes=2,gpus=4,rate=1GB/s,inside=9GB/s,uplink=1GB/s",
        "supernode:devices=8,inside=9GB/s,rate=1GB/s",
        "dragonfly:groups=1,routers=4,hosts=2,rate=1GB/s,between=2GB/s",
    ],
)
def test_what_means_nothing_is_refused(text):
    with pytest.raises(InputError, match="means nothing with"):
        generate(text)
