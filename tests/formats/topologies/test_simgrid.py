"""SimGrid's platforms: clusters against what its documentation draws, routes against what makes a graph."""

import itertools
import random

import pytest
from network_files import SIMGRID, cables, platform, read

from hopline.errors import FormatError, HoplineError
from hopline.formats.topologies.simgrid_values import BANDWIDTHS, TIMES

CLUSTER = (
    '<cluster id="c" prefix="n" radical="{radical}" suffix="" speed="1Gf" bw="125MBps" lat="50us" topology="{topology}" '
    'topo_parameters="{parameters}" {more}/>'
)


def cluster(folder, topology, parameters, hosts, more=""):
    text = CLUSTER.format(topology=topology, parameters=parameters, radical=f"0-{hosts - 1}", more=more)
    return read(folder, platform(text))


def pair(one, two):
    return frozenset((one, two))


def test_units():
    assert (BANDWIDTHS["Gbps"], BANDWIDTHS["MBps"], BANDWIDTHS["MiBps"], BANDWIDTHS["Kibps"]) == (
        125e6,
        1e6,
        2**20,
        128,
    )
    assert (float(TIMES["us"]), TIMES["m"], TIMES["w"]) == (1e-6, 60, 604800)


def test_routes_become_cables_and_junctions(tmp_path):
    wiring = read(tmp_path, SIMGRID)
    found = cables(wiring)
    hub, far = (next(iter(ends - {host})) for host in "ac" for ends in found if host in ends)
    assert found == {
        pair("a", hub): (1, 125e6, 5e-6, "full"), pair("b", hub): (1, 100 * 2.0**20, 7e-6, "half"),
        pair(hub, far): (1, 10e9, 0.0, "half"), pair(far, "c"): (1, 2e8, 1e-3, "half"),
    }  # fmt: skip
    assert any("loopbacks" in remark for remark in wiring.remarks)
    assert any("0.97 of each bandwidth and 13.01 times each latency" in remark for remark in wiring.remarks)
    assert wiring.machine().path(["a", "c"]).names == ("a", hub, far, "c")


def test_flat_cluster_with_a_backbone_that_never_binds(tmp_path):
    wiring = cluster(tmp_path, "FLAT", "", 4, 'bb_bw="500MBps" bb_lat="7us"')
    assert set(cables(wiring)) == {pair(f"n{n}", "nc_router") for n in range(4)}
    assert [node.latency for node in wiring.nodes] == [None] * 4 + [7e-6]
    assert "share a backbone of 499.0 MB/s" in cluster(tmp_path, "FLAT", "", 4, 'bb_bw="499MBps"').refusal
    assert cluster(tmp_path, "FLAT", "", 4, 'bb_bw="125MBps" bb_sharing_policy="FATPIPE"').refusal == ""


def test_fat_tree(tmp_path):
    """The documentation's two levels: four hosts a switch, four switches, two roots, two cables to each."""
    wiring = cluster(tmp_path, "FAT_TREE", "2;4,4;1,2;1,2", 16)
    low, high = (1, 125e6, 5e-5, "full"), (2, 125e6, 5e-5, "full")
    expected = {pair(f"n{n}", f"c.sw1.{n // 4}"): low for n in range(16)}
    expected |= {pair(f"c.sw1.{leaf}", f"c.sw2.{root}"): high for leaf in range(4) for root in range(2)}
    assert cables(wiring) == expected


def test_torus(tmp_path):
    wiring = cluster(tmp_path, "TORUS", "3,2,1", 6, 'sharing_policy="SHARED"')
    rows = [pair(f"n{3 * y + x}", f"n{3 * y + (x + 1) % 3}") for y in range(2) for x in range(3)]
    columns = [pair(f"n{x}", f"n{3 + x}") for x in range(3)]
    assert cables(wiring) == dict.fromkeys(rows + columns, (1, 125e6, 5e-5, "half"))


def test_dragonfly(tmp_path):
    wiring = cluster(tmp_path, "DRAGONFLY", "2,4;2,3;3,5;2", 24, 'limiter_link="150MBps"')
    counts = dict.fromkeys((1, 3, 4, 5), 0)
    for count, rate, latency, duplex in cables(wiring).values():
        counts[count] += 1
        assert (rate, latency, duplex) == (125e6, 5e-5, "full")
    assert counts == {1: 24, 5: 2 * 2 * 3, 3: 2 * 3 * 1, 4: 1}
    assert cables(wiring)[pair("c.r0.0.1", "c.r1.0.0")][0] == 4
    memory = wiring.nodes[0].memory
    assert (memory.bandwidth, dict(memory.touches)) == (
        150e6,
        dict.fromkeys(("send", "receive", "relay", "reduce"), 1.0),
    )


def hosts(*names):
    return "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)


def link(name, more=""):
    return f'<link id="{name}" bandwidth="1GBps" latency="1us" {more}/>'


def route(one, two, *names, more=""):
    return f'<route src="{one}" dst="{two}" {more}>' + "".join(f'<link_ctn id="{n}"/>' for n in names) + "</route>"


def zone(*parts, routing="Full"):
    return platform(f'<zone id="w" routing="{routing}">' + "".join(parts) + "</zone>")


REFUSED = {
    "a bus": (hosts("a", "b", "c") + link("l") + route("a", "b", "l") + route("a", "c", "l"), "joins more than two nodes"),
    "a bus of others": (
        hosts("a", "b", "c", "d") + link("l") + route("a", "b", "l") + route("c", "d", "l"), "which two nodes link 'l' joins",
    ),
    "nobody shares": (hosts("a", "b") + link("l", 'sharing_policy="FATPIPE"') + route("a", "b", "l"), "FATPIPE"),
    "one way": (hosts("a", "b") + link("l") + route("a", "b", "l", more='symmetrical="NO"'), "goes another way than back"),
    "no link": (hosts("a", "b") + route("a", "b"), "has no link"),
    "twice": (hosts("a", "b") + link("l") + route("a", "b", "l", "l"), "crosses a link twice"),
    "a ring of two": (
        hosts("a", "b") + link("l") + link("m") + route("a", "b", "l", "m") + route("b", "a", "l", "m"), "link|place",
    ),
    "a peer": ('<peer id="p" speed="1Gf" bw_in="1MBps" bw_out="2MBps"/>', "has a peer"),
}  # fmt: skip


@pytest.mark.parametrize(("inner", "words"), REFUSED.values(), ids=REFUSED)
def test_what_no_cable_says_is_refused(tmp_path, inner, words):
    wiring = read(tmp_path, zone(inner))
    assert words.split("|")[0] in wiring.refusal or words.split("|")[-1] in wiring.refusal
    assert wiring.cables == ()


def test_both_ways_in_two_routes(tmp_path):
    no = 'symmetrical="NO"'
    both = route("a", "b", "l", "m", more=no) + route("b", "a", "m", "l", more=no)
    wiring = read(tmp_path, zone(hosts("a", "b"), link("l"), link("m"), both))
    assert wiring.machine().path(["b", "a"]).names == ("b", "junction0", "a")


def test_routes_that_are_not_the_shortest(tmp_path):
    ring = (
        route("a", "b", "l")
        + route("b", "c", "m")
        + route("c", "d", "n")
        + route("a", "d", "l", "m", "n")
        + route("a", "c", "k")
    )
    wiring = read(tmp_path, zone(hosts(*"abcd"), *(link(name) for name in "lmnk"), ring))
    assert wiring.refusal == ""
    assert any("1 route over more links than the shortest way" in remark for remark in wiring.remarks)


def test_other_routings(tmp_path):
    assert "has routing=Vivaldi" in read(tmp_path, zone(hosts("a"), routing="Vivaldi")).refusal
    assert read(tmp_path, zone(hosts("a", "b"), link("l"), route("a", "b", "l"), routing="Floyd")).refusal == ""


def test_zones_of_clusters(tmp_path):
    text = CLUSTER.replace('id="c"', 'id="{id}"').replace('prefix="n"', 'prefix="{id}-"')
    one, two = (text.format(id=name, topology="FLAT", parameters="", radical="1-2,9", more="") for name in "xy")
    joined = '<zoneRoute src="x" dst="y" gw_src="x-x_router" gw_dst="y-y_router"><link_ctn id="l"/></zoneRoute>'
    wiring = read(tmp_path, zone(one, two, link("l"), joined))
    assert wiring.machine().path(["x-9", "y-1"]).names == ("x-9", "x-x_router", "y-y_router", "y-1")
    assert wiring.facts["cluster_hosts"] == 6
    torus = text.format(id="x", topology="TORUS", parameters="3", radical="0-2", more="")
    refused = read(tmp_path, zone(torus, two, link("l"), joined)).refusal
    assert "x-x_router is the router of a cluster that no link joins to its hosts" in refused


WRONG = {
    "another count": (CLUSTER.format(topology="TORUS", parameters="3,3", radical="0-7", more=""), "8 hosts, topo_parameters are for 3 x 3 = 9"),
    "a level too few": (CLUSTER.format(topology="FAT_TREE", parameters="2;4;1;1", radical="0-3", more=""), "expected 2 numbers"),
    "three parts": (CLUSTER.format(topology="DRAGONFLY", parameters="1,1;1,1;2", radical="0-1", more=""), "expected 'groups"),
    "zero": (CLUSTER.format(topology="TORUS", parameters="0", radical="0-7", more=""), "of at least 1"),
    "many hosts": (CLUSTER.format(topology="FLAT", parameters="", radical="0-99999999", more=""), "of at most 1048576 hosts"),
    "words": (CLUSTER.format(topology="FLAT", parameters="", radical="a-b", more=""), "expected ranges like 0-99"),
    "another shape": (CLUSTER.format(topology="STAR", parameters="", radical="0-1", more=""), "topology=STAR"),
    "no unit known": (link("l").replace("1GBps", "1GB/s"), "expected a number and a unit, like 125MBps"),
    "zero rate": (link("l").replace("1GBps", "0Bps"), "expected a rate above 0"),
    "negative": (link("l").replace("1us", "-1us"), "expected a finite number, 0 or more"),
    "endless": (link("l").replace("1GBps", "1e999GBps"), "expected a finite number"),
    "policy": (link("l", 'sharing_policy="WIFI"'), "sharing_policy=WIFI"),
    "no such link": (hosts("a", "b") + route("a", "b", "x"), "there is no link 'x'"),
    "no such host": (hosts("a") + link("l") + route("a", "b", "l"), "there is no host or router 'b'"),
    "a host twice": (hosts("a", "a"), "a stands here a second time"),
    "a link twice": (link("l") + link("l"), "link 'l' stands here a second time"),
}  # fmt: skip


@pytest.mark.parametrize(("inner", "words"), WRONG.values(), ids=WRONG)
def test_wrong_platforms(tmp_path, inner, words):
    with pytest.raises(FormatError, match=words) as error:
        read(tmp_path, zone(inner))
    assert "\n" not in str(error.value)


def test_trees_are_found_again(tmp_path):
    """Random trees of hosts and hubs, told as routes between all hosts: the cables are those of the tree."""
    source = random.Random(5)
    for _ in range(20):
        hubs, count = source.randint(1, 4), source.randint(3, 8)
        above = {f"h{n}": f"r{source.randrange(hubs)}" for n in range(count)} | {
            f"r{n}": f"r{source.randrange(n)}" for n in range(1, hubs)
        }
        routes = [route(a, b, *way(above, a, b)) for a, b in itertools.combinations([f"h{n}" for n in range(count)], 2)]
        source.shuffle(routes)
        text = zone(hosts(*(f"h{n}" for n in range(count))), "".join(link(name) for name in above), *routes)
        wiring = read(tmp_path, text)
        if wiring.refusal:
            assert "which two nodes" in wiring.refusal
            continue
        machine = wiring.machine()
        for a, b in itertools.combinations([f"h{n}" for n in range(count)], 2):
            assert len(machine.path([a, b]).legs) == len(way(above, a, b))


def way(above, one, two):
    """Links from host to host, each named by its lower end."""
    ups = []
    for name in (one, two):
        chain = [name]
        while chain[-1] in above:
            chain.append(above[chain[-1]])
        ups.append(chain)
    common = next(name for name in ups[0] if name in ups[1])
    return [*ups[0][: ups[0].index(common)], *ups[1][: ups[1].index(common)][::-1]]


def test_mutated_platforms(tmp_path):
    source = random.Random(7)
    for _ in range(80):
        at = source.randrange(len(SIMGRID))
        text = SIMGRID[:at] + source.choice(['"', "<", "", "9", " ", "\u2603"]) + SIMGRID[at + source.randrange(4) :]
        try:
            read(tmp_path, text).machine()
        except HoplineError as error:
            assert "\n" not in str(error)
