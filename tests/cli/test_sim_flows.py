"""Flows in ``hopline sim``, and topologies by name, as they are typed."""

import json
import re
from pathlib import Path

import pytest
from typed import hopline

from hopline.jobs.flowing import unordered
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import RECV, SEND
from hopline.schedule.shape import Shape

FAT = "fat-tree:leaves=4,hosts=4,spines=2,rate=50GB/s,latency=0.5us"
BIG = "fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s"
FLOWS = ("--sharing", "max-min")
BENCH = Path(__file__).parents[3] / "shared" / "bench" / "alltoall-64-unequal.csv"


def answer(capsys, *arguments):
    code, out, err = hopline(capsys, "sim", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def refused(capsys, *arguments):
    code, out, err = hopline(capsys, *arguments)
    assert (code, out) == (2, "")
    said = [line for line in err.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    assert len(said) == 1
    return said[0]


def test_one_message_takes_its_latency_and_its_bytes(capsys):
    """4 hops of 0.5 us, 1 MiB at 50 GB/s; nothing is lost."""
    found = answer(
        capsys, "sendrecv-ring", "-n", "2", "--size", "1MiB", "--machine", FAT, "--on", "host0,host4", *FLOWS
    )
    assert found["time_ps"] == 2_000_000 + 20_971_520
    assert (found["binds"], found["losses"], found["lost_s"]) == ([], [], 0)
    assert (found["sharing"], found["routing"], found["flows"]) == ("max-min", "d-mod-k", 2)


def test_two_flows_share_what_binds_them(capsys):
    """Hosts 0 and 2 to hosts 4 and 6 cross spine 0: half of the rate for each, on both of its links."""
    asked = ("reshard-direct", "-n", "4", "--targets", "2", "--size", "2MiB", "--on", "host0,host2,host4,host6")
    found = answer(capsys, *asked, "--machine", FAT, *FLOWS)
    assert found["time_ps"] == 2_000_000 + 2 * 20_971_520
    assert [(one["alone"], one["took"]) for one in found["losses"]] == [
        (pytest.approx(22.97152e-6), pytest.approx(43.94304e-6))
    ] * 2
    assert found["lost_s"] == pytest.approx(2 * 20.97152e-6)
    assert sum(one["lost"] for one in found["binds"]) == pytest.approx(found["lost_s"])
    assert {one["bound_by"] for one in found["losses"]} <= {"leaf0>spine0", "spine0>leaf1"}
    for rule in ("shortest", "up-down"):
        assert answer(capsys, *asked, "--machine", FAT, *FLOWS, "--routing", rule)["time_ps"] == found["time_ps"]
    elsewhere = ("--on", "host0,host2,host4,host5", "--machine", FAT, *FLOWS)
    assert answer(capsys, *asked[:-2], *elsewhere)["lost_s"] == 0


def test_the_issues_fat_tree_with_equal_sizes(capsys):
    """64 hosts, 1 MiB each, 0.5 us a hop: 2350.810 us where all begin at once; in rounds it takes longer."""
    asked = ("alltoall-pairwise", "-n", "64", "--size", "64MiB", "--machine", f"{BIG},latency=0.5us", *FLOWS)
    found = answer(capsys, *asked)
    assert found["at_once_s"] == pytest.approx(2350.810e-6, rel=1e-6)
    assert found["time_s"] >= found["at_once_s"]


@pytest.mark.skipif(not BENCH.exists(), reason="needs the shared benchmarks beside the repository")
def test_the_issues_fat_tree_with_unequal_sizes(capsys):
    """SimGrid 3.32 and an independent solver say 2478.697 us, and 2480.697 with 0.5 us a hop."""
    for latency, time in (("0s", 2478.697e-6), ("0.5us", 2480.697e-6)):
        found = answer(capsys, BENCH, "--machine", f"{BIG},latency={latency}", "--routing", "d-mod-k", *FLOWS)
        assert found["time_s"] == pytest.approx(time, rel=1e-6)


def test_levels_without_a_machine_have_ports(capsys):
    """A ring on a uniform network shares nothing, so flows and ports agree with the closed form."""
    asked = ("all_reduce-ring", "-n", "8", "--size", "8MiB", "--latency", "1us", "--bandwidth", "50GB/s")
    flows, ports = answer(capsys, *asked, *FLOWS), answer(capsys, *asked)
    assert flows["time_ps"] == pytest.approx(ports["time_ps"], abs=20)
    assert (flows["routing"], flows["at_once_s"]) == (None, None)


def test_algorithms_of_several_levels_find_them_in_the_machine(capsys):
    asked = ("all_reduce-hierarchical", "-n", "16", "--size", "16MiB", "--machine")
    rails = "rail-optimised:nodes=2,gpus=8,rate=50GB/s,inside=450GB/s,latency=1us"
    flows, ports = answer(capsys, *asked, rails, *FLOWS), answer(capsys, *asked, rails)
    assert flows["time_s"] == pytest.approx(ports["time_s"], rel=0.05)


def test_the_page_says_what_binds_and_who_pays(capsys):
    code, out, _ = hopline(capsys, "sim", "alltoall-pairwise", "-n", "16", "--size", "16MiB", "--machine", FAT, *FLOWS)
    assert code == 0
    for words in (
        "max-min fair: every flow gets the same share of what binds it; ways by d-mod-k", "What binds", "held flows back for",
        "flows lost", "Who lost most", " -> rank ", "All messages at once would take 505.3165 µs: their order",
    ):  # fmt: skip
        assert words in out
    assert "Busiest ports" not in out


@pytest.mark.parametrize("suffix", ["svg", "html", "png"])
def test_the_picture_shows_what_binds_when(capsys, tmp_path, suffix):
    picture = tmp_path / f"flows.{suffix}"
    asked = ("alltoall-pairwise", "-n", "16", "--size", "16MiB", "--machine", FAT, *FLOWS, "--path", "--plot", picture)
    code, out, _ = hopline(capsys, "sim", *asked)
    assert code == 0
    assert "Critical path" in out
    assert picture.stat().st_size > 1000
    if suffix == "svg":
        drawn = picture.read_text()
        assert "What binds when" in drawn
        assert re.search(r"leaf\d(&gt;|>)spine", drawn)


@pytest.mark.parametrize(
    ("name", "free"),
    [
        ("alltoall-pairwise", True), ("all_gather-direct", True), ("all_gather-ring", False), ("all_reduce-ring", False),
        ("alltoall-bruck", False), ("broadcast-binomial", False), ("sendrecv-ring", True),
    ],
)  # fmt: skip
def test_order_is_a_choice_where_nobody_sends_what_he_got(name, free):
    schedule = COLLECTIVES[name].build(Shape(8, 800))
    found = unordered(schedule)
    assert (found is not None) == free
    if found is not None:
        assert found.messages == schedule.messages
        assert set(found.columns.kind.tolist()) == {SEND, RECV}
        assert unordered(found) is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--routing", "ecmp"), "--routing does not go without --sharing max-min"),
        ((*FLOWS, "--by-rounds"), "--by-rounds does not go with --sharing max-min"),
        ((*FLOWS, "--engine", "events"), "--engine does not go with --sharing max-min"),
        ((*FLOWS, "--loggops", "L=1us,o=1us,g=1us,G=1ns"), "--loggops does not go with --sharing max-min"),
        ((*FLOWS, "--routing", "best"), "unknown routing 'best': known are d-mod-k, ecmp, shortest, up-down"),
        ((*FLOWS, "--latency", "1us"), "--latency does not go with --machine"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(capsys, options, says):
    assert says in refused(capsys, "sim", "sendrecv-ring", "-n", "4", "--size", "1KiB", "--machine", FAT, *options)


def test_routing_needs_a_machine(capsys):
    plain = ("--latency", "1us", "--bandwidth", "1GB/s")
    said = refused(capsys, "sim", "sendrecv-ring", "-n", "4", "--size", "1KiB", *plain, *FLOWS, "--routing", "ecmp")
    assert "--routing needs a --machine" in said


@pytest.mark.parametrize(
    ("machine", "says"),
    [
        ("fat-tree:leaves=4,hosts=4,spines=2,rate=0GB/s", "a bandwidth must be above 0"),
        ("fat-tree:leaves=4,hosts=4,spines=2,speed=1GB/s", "unknown parameter of fat-tree 'speed'"),
        ("fat-tree:leaves=4,hosts=4,spines=2", "fat-tree needs rate: give it, like fat-tree:leaves=8"),
        ("fat-tree:leaves=2000,hosts=1000,spines=64,rate=1GB/s", "nodes: expected at most 1,048,576"),
        ("flat-tree:leaves=2", "unknown topology 'flat-tree': did you mean 'fat-tree'?"),
        ("torus:dims=2,rate=1GB/s", "has 2 devices: expected at most as many ranks, got 4"),
    ],
)
def test_topologies_that_cannot_be(capsys, machine, says):
    for sharing in ("ports", "max-min"):
        said = refused(
            capsys, "sim", "sendrecv-ring", "-n", "4", "--size", "1KiB", "--machine", machine, "--sharing", sharing
        )
        assert says in said


ISLANDS = """
hopline = "machine"
version = 1
name = "islands"
title = "Two islands"
[links.l]
bandwidth = { value = "1 GB/s", source = "made up" }
[nodes.a]
count = 3
[nodes.b]
count = 2
[nodes.s]
kind = "switch"
[nodes.t]
kind = "switch"
[[connections]]
ends = ["a*", "s"]
link = "l"
[[connections]]
ends = ["b*", "t"]
link = "l"
"""


def test_islands_are_told(capsys, tmp_path):
    file = tmp_path / "islands.toml"
    file.write_text(ISLANDS)
    said = refused(capsys, "sim", "sendrecv-ring", "-n", "5", "--size", "1KiB", "--machine", file, *FLOWS)
    assert "no way leads from b1 to a0 of islands" in said
    assert "b1 reaches 2 other nodes, a0 reaches 3 other nodes" in said
    assert answer(capsys, "sendrecv-ring", "-n", "3", "--size", "1KiB", "--machine", file, *FLOWS)["flows"] == 3


def test_a_hundred_thousand_links_are_no_matter(capsys):
    many = "fat-tree:leaves=256,hosts=256,spines=128,rate=50GB/s,latency=0.5us"
    found = answer(capsys, "sendrecv-ring", "-n", "1000", "--size", "1MiB", "--machine", many, *FLOWS)
    assert found["time_ps"] == 2_000_000 + 20_971_520


def test_presets_list_topologies_and_what_they_ask_for(capsys):
    code, out, _ = hopline(capsys, "presets")
    assert code == 0
    assert "rail-optimised:nodes=4,gpus=8" in out
    code, out, _ = hopline(capsys, "presets", "dragonfly")
    assert code == 0
    assert "cables of a router to other groups" in out
    code, out, _ = hopline(capsys, "presets", "dragonfly", "--json")
    asked = {p["name"]: p for p in json.loads(out)["parameters"]}
    assert (asked["rate"]["default"], asked["latency"]["default"]) == (None, "0s")
    code, out, _ = hopline(capsys, "presets", "torus:dims=2x2,rate=1GB/s", "--toml")
    assert (code, 'hopline = "machine"' in out) == (0, True)


NS3_TOPOLOGY = "5 1 4\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n0 3 50Gbps 1us 0\n0 4 100Gbps 1us 0\n"
NS3_FLOWS = "2\n3 1 3 100 1000000 0\n4 1 3 100 1000000 0\n"


def test_ranks_that_are_numbers_of_nodes_sit_on_their_hosts(capsys, tmp_path):
    """Node 0 is the switch; node 3 has the slow link, so its flow is through at 160 us and the other one at 160 us too."""
    (tmp_path / "topology.txt").write_text(NS3_TOPOLOGY)
    (tmp_path / "flows.txt").write_text(NS3_FLOWS)
    told = ("sim", tmp_path / "flows.txt", "--machine", tmp_path / "topology.txt")
    code, out, err = hopline(capsys, *told, "--sharing", "max-min", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["time_ps"] == 162_000_000
    assert "host1" in out
    code, _, err = hopline(capsys, *told)
    assert code == 2
    assert "numbers of nodes" in err
    machine = "fat-tree:leaves=1,hosts=3,spines=1,rate=50GB/s"
    code, _, err = hopline(capsys, *told[:2], "--machine", machine, "--sharing", "max-min")
    assert (code, err.count("\n")) == (2, 1)
    assert "no device host3" in err
