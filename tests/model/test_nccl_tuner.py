"""NCCL's tuner: figures of reference R14 to R19, worked out by others, and a table that NCCL 2.29.7 printed."""

import numpy as np
import pytest

from hopline.errors import InputError, UnknownNameError
from hopline.model.nccl import choice, searched
from hopline.model.nccl.forcing import Forced, forced, parse
from hopline.model.nccl.job import Graph, Job
from hopline.model.nccl.numbers import LATEST, VERSIONS, numbers
from hopline.model.nccl.tables import latency, table
from hopline.model.protocols import PROTOCOLS as OURS
from hopline.records.nccl_log import Cell
from hopline.records.nccl_names import ALGORITHMS, FUNCTIONS, PROTOCOLS

GRAPH = Graph(16, 24.0, 24.0)


def job(ranks, nodes, architecture="hopper", graph=GRAPH, **more):
    return Job(ranks, nodes, architecture, dict.fromkeys(ALGORITHMS, graph), more.pop("version", LATEST), **more)


@pytest.mark.parametrize(
    ("ranks", "nodes", "ring", "tree"),
    [
        (8, 1, (15.0, 40.6, 56.0), (15.2, 31.5, 64.4)),
        (128, 16, (311.6, 559.6, 1190.0), (55.2, 99.5, 176.4)),
        (1024, 128, (2484.4, 4434.8, 9657.2), (85.2, 150.5, 260.4)),
    ],
)
def test_latencies_of_an_all_reduce(ranks, nodes, ring, tree):
    asked = job(ranks, nodes)
    for algorithm, told in (("Ring", ring), ("Tree", tree)):
        assert [latency("AllReduce", algorithm, p, asked) for p in PROTOCOLS] == pytest.approx(told, abs=0.05)


def test_bandwidths_and_the_crossover_of_16_nodes():
    asked = job(128, 16)
    simple = {key: cell for key, cell in table(asked).items() if key[1:] in {("Ring", "Simple"), ("Tree", "Simple")}}
    assert simple["AllReduce", "Ring", "Simple"].bandwidth == pytest.approx(193.5e9, rel=5e-4)
    assert simple["AllReduce", "Tree", "Simple"].bandwidth == pytest.approx(176.6e9, rel=5e-4)
    (only,) = choice.crossovers(simple, "AllReduce", asked)
    assert only.after == ("Ring", "Simple")
    assert only.size == pytest.approx(3.0e9, rel=0.01)


def test_an_all_reduce_of_512_bytes_on_8_gpus():
    asked = job(8, 1)
    found = {key[1:]: float(choice.times(table(asked), "AllReduce", key[1:], 512, asked)) for key in table(asked)
             if key[0] == "AllReduce" and key[1] in ("Ring", "Tree") and key[2] == "LL"}  # fmt: skip
    assert found["Ring", "LL"] == pytest.approx(15.0e-6, abs=0.05e-6)
    assert found["Tree", "LL"] == pytest.approx(15.2e-6, abs=0.05e-6)


PRINTED = """
Broadcast Ring 9.3/1.2 18.0/0 22.4/2.4
Reduce Ring 9.3/1.2 18.0/0 22.4/2.4
AllGather Ring 11.6/2.4 22.5/0 22.4/4.8
AllGather CollNetDirect 5/0 8.5/0 14/0
AllGather PAT 0/0 0/0 17.6/3.6
ReduceScatter Ring 11.6/2.4 22.5/0 22.4/4.8
ReduceScatter CollNetDirect 5/0 8.5/0 14/0
ReduceScatter PAT 0/0 0/0 17.6/3.6
AllReduce Tree 16.8/0.5 31/0 36.4/1.9
AllReduce Ring 16.6/1.2 31/0 36.4/2.4
AllReduce CollNetDirect 5/0 8.5/0 14/0
AllReduce CollNetChain 5/0 8.5/0 14/0
AllReduce NVLS 0/0 0/0 0/0
AllReduce NVLSTree 0/0 0/0 0/0
AllReduce PAT 0/0 0/0 0/0
"""
"""µs / GB/s of NCCL 2.29.7 on two hosts of one GPU each over sockets (github.com/eunomia-bpf/nccl-eBPF)."""


def test_a_table_that_nccl_printed():
    far = Graph(1, 2.4, 2.4, "PHB", "PHB")
    tree = Graph(2, 2.4, 2.4, "PHB", "PHB", plain_tree=True)
    graphs = dict.fromkeys(ALGORITHMS, tree) | {"Ring": far, "NVLS": Graph(0, 0, 0), "NVLSTree": Graph(0, 0, 0)}
    found = table(Job(2, 2, "blackwell", graphs, "2.29.7"))
    for row in PRINTED.strip().splitlines():
        function, algorithm, *cells = row.split()
        for protocol, told in zip(PROTOCOLS, cells, strict=True):
            time, rate = map(float, told.split("/"))
            cell = found[function, algorithm, protocol]
            assert cell.latency * 1e6 == pytest.approx(time, abs=0.0501), (row, protocol)
            assert cell.bandwidth / 1e9 == pytest.approx(rate, abs=0.0501), (row, protocol)


def test_the_correction_of_trees_and_the_plateau_of_rings():
    asked = job(128, 16)
    cells = table(asked)
    cell = cells["AllReduce", "Tree", "Simple"]
    at = float(choice.times(cells, "AllReduce", ("Tree", "Simple"), 1 << 18, asked))
    assert at == pytest.approx(cell.latency + (1 << 18) / (0.5 * cell.bandwidth))
    ring = cells["AllReduce", "Ring", "Simple"]
    edge = 64 * 32 * 128
    before, after = choice.times(cells, "AllReduce", ("Ring", "Simple"), [edge - 1, edge], asked)
    assert after - before == pytest.approx(0.4 * ring.latency, rel=1e-3)
    small = float(choice.times(cells, "AllReduce", ("Tree", "Simple"), 63, asked))
    assert small == pytest.approx(cell.latency + 63 / cell.bandwidth, rel=1e-12)


def test_what_the_system_cannot_do_is_off():
    one, two = job(8, 1), job(16, 2)
    assert table(one)["AllReduce", "NVLS", "Simple"].usable
    assert not table(one)["AllReduce", "NVLSTree", "Simple"].usable
    assert table(two)["AllReduce", "NVLSTree", "Simple"].usable
    assert not table(two)["AllReduce", "NVLS", "Simple"].usable
    assert not table(two)["AllReduce", "CollNetDirect", "Simple"].usable
    assert table(job(16, 2, collnet=True))["AllReduce", "CollNetChain", "Simple"].usable
    assert not table(job(8, 1, graph=Graph(4, 12.0, 12.0, "PHB")))["AllReduce", "Ring", "LL128"].usable
    assert not table(job(16, 2, "ampere", Graph(4, 12.0, 12.0, net="PXN")))["AllReduce", "Ring", "LL128"].usable
    assert table(job(16, 2, graph=Graph(4, 12.0, 12.0, net="PXN")))["AllReduce", "Ring", "LL128"].usable
    assert table(job(4, 4))["AllGather", "PAT", "Simple"].usable
    assert not table(job(8, 4))["AllGather", "PAT", "Simple"].usable


def test_versions_differ_where_nccl_does():
    graph = Graph(8, 40.0, 60.0)
    told = {
        v: table(job(8, 1, graph=graph, version=v))["AllReduce", "NVLS", "Simple"].bandwidth / 1e9
        for v in ("2.24.3", "2.29.2")
    }
    assert told["2.24.3"] == pytest.approx(8 * 40 * 5 / 6)
    assert told["2.29.2"] == pytest.approx(8 * 40 * 0.85 * 7 / 8 * 2 * 8 / 14)
    blackwell = {v: numbers(v).ring_ll128["blackwell"] for v in ("2.26.2", "2.28.9", "2.29.2", "2.29.7")}
    assert blackwell == {
        "2.26.2": (73.4,) * 3,
        "2.28.9": (73.4, 34.6, 73.4),
        "2.29.2": (34.5, 34.6, 34.5),
        "2.29.7": (40.0,) * 3,
    }
    assert numbers("2.31").tag == VERSIONS[-1].tag
    with pytest.raises(InputError, match=r"2\.18\.3 is not known"):
        numbers("2.18.3")
    with pytest.raises(InputError, match="no version"):
        numbers("new")


def test_the_environment_forces_as_nccl_reads_it():
    left = parse("ring,CollNetDirect;allreduce:tree,collnetdirect;broadcast:ring", ALGORITHMS, "NCCL_ALGO")
    assert left["AllGather"] == {"Ring", "CollNetDirect"}
    assert left["AllReduce"] == {"Tree", "CollNetDirect"}
    assert left["Broadcast"] == {"Ring"}
    left = parse("^LL128;allreduce:LL128", PROTOCOLS, "NCCL_PROTO")
    assert left["Reduce"] == {"LL", "Simple"}
    assert left["AllReduce"] == {"LL128"}
    assert parse("", PROTOCOLS, "NCCL_PROTO")["Reduce"] == set(PROTOCOLS)
    with pytest.raises(InputError, match="has no function before it"):
        parse("ring;tree", ALGORITHMS, "NCCL_ALGO")
    for text in ("rings", "allreduce:rings", "allreduces:ring"):
        with pytest.raises(UnknownNameError):
            parse(text, ALGORITHMS, "NCCL_ALGO")


def test_forced_ways_are_taken_even_where_slower_and_none_left_is_an_error():
    asked = job(128, 16)
    free = table(asked)
    sizes = np.array([64.0, 1e9])
    ways, time = choice.choose(forced(free, asked, Forced("ring", "simple")), "AllReduce", sizes, asked)
    assert ways == [("Ring", "Simple")] * 2
    assert (time >= choice.choose(free, "AllReduce", sizes, asked)[1]).all()
    with pytest.raises(InputError, match="nothing is left for AllReduce"):
        choice.choose(forced(free, asked, Forced("pat")), "AllReduce", sizes, asked)


def test_ll128_asked_for_by_name_is_on():
    asked = job(8, 1, graph=Graph(4, 12.0, 12.0, "PHB"))
    free = table(asked)
    assert not free["AllReduce", "Ring", "LL128"].usable
    assert forced(free, asked, Forced("", "LL128"))["AllReduce", "Ring", "LL128"].usable


def test_a_crossover_is_exact_to_the_byte():
    asked = job(8, 1)
    cells = table(asked)
    changes = choice.crossovers(cells, "AllReduce", asked)
    assert changes
    for change in changes:
        (before, after), _ = choice.choose(cells, "AllReduce", [change.size - 1, change.size], asked)
        assert (before, after) == (change.before, change.after)


def test_the_first_of_equals_is_taken_as_nccl_does():
    cells = {("Reduce", "Ring", p): Cell(1e-6, 1e9) for p in PROTOCOLS}
    assert choice.choose(cells, "Reduce", 1024, job(8, 1))[0] == [("Ring", "LL")]


def test_channels_that_the_search_is_assumed_to_find():
    def ring(architecture, nodes):
        found = searched.graphs(searched.assumed(architecture, 8), nodes)["Ring"]
        return found.channels, found.within

    assert ring("hopper", 1) == (12, 30.0)
    assert ring("ampere", 1) == (12, 20.0)
    assert ring("blackwell", 1) == (16, 45.0)
    assert ring("hopper", 2) == (8, 45.0)
    assert ring("ampere", 2) == (8, 24.0)
    with pytest.raises(InputError, match="the least that NCCL tries"):
        searched.graphs(searched.assumed("hopper", 8, nic=0.01), 2)


def test_impossible_jobs():
    for ranks, nodes in ((1, 1), (7, 2), (8, 0)):
        with pytest.raises(InputError):
            job(ranks, nodes)
    for wrong in ({"architecture": "kepler"}, {"cpu": "via"}):
        with pytest.raises(UnknownNameError):
            job(8, 1, **wrong)
    with pytest.raises(UnknownNameError):
        Graph(1, 1.0, 1.0, "FAR")


def test_the_library_reckons_with_the_same_numbers():
    assert [p.name for p in OURS] == list(PROTOCOLS)
    assert OURS[0].base == pytest.approx({"ring": 6.6e-6, "tree": 6.8e-6})
    assert OURS[1].hop["tree", "net"] == pytest.approx(8.5e-6)
    assert set(FUNCTIONS) == {key[0] for key in table(job(8, 1))}
