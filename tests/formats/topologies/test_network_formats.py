"""Small network files of our own: every node, cable and remark by hand; and files that are wrong."""

import random

import pytest
from network_files import ASTRA, HTSIM, IBNET, NS3, SIMAI, SLURM, SMALL, cables, read

from hopline.errors import FormatError, HoplineError, MachineError
from hopline.formats.topologies.infiniband import LANES, rate
from hopline.formats.topologies.table import recognise
from hopline.machine import files
from hopline.machine.writing import dumps

GIB = 2.0**30


def pair(one, two):
    return frozenset((one, two))


def remarked(wiring, words):
    return any(words in remark for remark in wiring.remarks)


@pytest.mark.parametrize(("name", "text"), SMALL.items())
def test_told_by_content(tmp_path, name, text):
    for data in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        assert read(tmp_path, data).format == name


@pytest.mark.parametrize("name", [name for name in SMALL if "-" not in name])
def test_machine_is_saved_and_read_back(tmp_path, name):
    wiring = read(tmp_path, SMALL[name])
    machine = wiring.machine(dict.fromkeys(wiring.unknown, 3e9))
    assert files.loads(dumps(machine), "saved") == machine


@pytest.mark.parametrize("name", ["astra-logical", "slurm-block", "slurm-yaml"])
def test_refused_kinds_say_why(tmp_path, name):
    with pytest.raises(MachineError, match=r"numbered; links and rates|blocks|topology\.yaml"):
        read(tmp_path, SMALL[name]).machine()


def test_astra(tmp_path):
    wiring = read(tmp_path, ASTRA)
    ring, switch = (1, 50 * GIB, 500e-9, "full"), (1, 25 * GIB, 1e-6, "full")
    expected = {
        pair(f"npu{a}", f"npu{b}"): ring for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4))
    }
    expected |= {pair(f"npu{n}", f"switch1.{n % 4}"): switch for n in range(8)}
    assert cables(wiring) == expected
    assert [node.name for node in wiring.nodes[:9]] == [*(f"npu{n}" for n in range(8)), "switch1.0"]
    assert wiring.facts["bandwidth_bytes_per_s"] == (50 * GIB, 25 * GIB)
    assert remarked(wiring, "2^30 bytes")
    path = wiring.machine().path(["npu1", "npu5"])
    assert sum(leg.cost(2).time(0) for leg in path.legs) == pytest.approx(2e-6)


def test_astra_shapes(tmp_path):
    def of(shape, npus):
        return read(tmp_path, f"topology: [{shape}]\nnpus_count: [{npus}]\nbandwidth: [1]\nlatency: [0]\n")

    assert len(of("FullyConnected", 5).cables) == 10
    assert cables(of("ring", 2)).keys() == {pair("npu0", "npu1")}
    assert len(of("FC", 5).cables) == len(of("fully_connected", 5).cables) == 10
    assert "shape 'Mesh': known are Ring, FullyConnected, Switch" in of("Mesh", 4).refusal
    assert "expected at most" in of("FullyConnected", 1 << 19).refusal


def test_ns3(tmp_path):
    wiring = read(tmp_path, NS3)
    fast, slow, trunk = (1, 12.5e9, 1e-6, "full"), (1, 6.25e9, 2e-6, "full"), (1, 50e9, 0.5e-6, "full")
    assert cables(wiring) == {
        pair("host0", "switch4"): fast, pair("host1", "switch4"): fast, pair("host2", "switch5"): slow,
        pair("host3", "switch5"): slow, pair("switch4", "switch5"): trunk,
    }  # fmt: skip
    assert wiring.facts["rates"] == {"100Gbps": 2, "50Gbps": 2, "400Gbps": 1}
    assert wiring.facts["link_shaped_rows_after_the_count"] == 1
    assert wiring.facts["max_degree"] == 3
    assert remarked(wiring, "2 lines after the 5 links")
    assert remarked(wiring, "1 link with an error rate above 0")


def test_simai(tmp_path):
    wiring = read(tmp_path, SIMAI)
    assert [node.name for node in wiring.nodes if node.kind == "switch"] == ["nvswitch4", "switch5", "switch6"]
    told = {
        "hosts": 4,
        "switches": 2,
        "nvswitches": 1,
        "gpus_per_server": 4,
        "gpu_type": "A100",
        "switch_switch_links": 1,
    }
    assert {name: wiring.facts[name] for name in told} == told
    assert cables(wiring)[pair("host0", "nvswitch4")] == (1, 300e9, 25e-9, "full")


def test_links_side_by_side(tmp_path):
    text = "3 1 4\n2\n0 2 100Gbps 1us 0\n2 0 100Gbps 1us 0\n1 2 100Gbps 1us 0\n1 2 50Gbps 2us 0\n"
    wiring = read(tmp_path, text)
    assert cables(wiring) == {
        pair("host0", "switch2"): (2, 12.5e9, 1e-6, "full"), pair("host1", "switch2"): (1, 18.75e9, 2e-6, "full")
    }  # fmt: skip
    assert remarked(wiring, "host1 - switch2 has unequal cables")
    machine = wiring.machine()
    assert sorted(link.bandwidth for link in machine.links.values()) == [18.75e9, 25e9]


def test_htsim(tmp_path):
    wiring = read(tmp_path, HTSIM)
    low, middle, top = (1, 25e9, 1e-6, "full"), (1, 25e9, 0.75e-6, "full"), (2, 12.5e9, 2e-6, "full")
    expected = {pair(f"h{n}", f"tor{n // 2}"): low for n in range(8)}
    expected |= {pair(f"tor{t}", f"agg{2 * (t // 2) + a}"): middle for t in range(4) for a in range(2)}
    expected |= {pair(f"agg{a}", f"core{c}"): top for a in range(4) for c in range(4) if a % 2 == c % 2}
    assert cables(wiring) == expected
    latency = {node.name: node.latency for node in wiring.nodes}
    assert (latency["tor0"], latency["agg3"], latency["core3"], latency["h0"]) == (0.0, 300e-9, 0.0, None)
    assert wiring.facts["radix_up"] == ("2", "4", "-")
    assert remarked(wiring, "sizes of queues")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Podsize 4", "Podsize 3", "8 nodes are no whole number of pods of 3"),
        ("Bundle 2", "Bundle 1", "do not reach"),
        ("Radix_Down 4", "Radix_Down 8", "do not"),
        ("Downlink_speed_Gbps 100", "Downlink_speed_Gbps 200", "that is not Oversubscribed 1, which is htsim's"),
    ],
)
def test_htsim_contradictions(tmp_path, old, new, words):
    assert words in read(tmp_path, HTSIM.replace(old, new)).refusal


def test_ibnetdiscover(tmp_path):
    wiring = read(tmp_path, IBNET)
    fdr = 4 * 14.0625e9 * 64 / 66 / 8
    assert {ends: found[:2] for ends, found in cables(wiring).items()} == {
        pair("n0_mlx5_0", "leaf_a_1"): (1, 25e9), pair("n1_mlx5_0", "leaf_a_1"): (1, 12.5e9),
        pair("leaf_a_1", "leaf.S-02"): (2, pytest.approx(fdr)), pair("leaf.S-02", "leaf.H-0d"): (1, 12e9),
    }  # fmt: skip
    told = {
        "switches": 2, "host_adapters": 2, "port_entries": 10, "distinct_links": 6, "host_ids_referenced": 4,
        "referenced_but_not_defined": 2, "aggregation_nodes": 1,
    }  # fmt: skip
    assert {name: wiring.facts[name] for name in told} == told
    for words in (
        "1 aggregation node (SHARP)",
        "1 node without a block of its own (H-0d)",
        "2 links listed by one",
        "slower one",
    ):
        assert remarked(wiring, words)


def test_infiniband_rates_are_those_of_their_generation():
    for label, gigabits in {"4xSDR": 8, "4xDDR": 16, "4xQDR": 32, "4xFDR10": 40, "4xFDR": 54.545, "4xEDR": 100}.items():
        assert rate(label) == pytest.approx(gigabits * 1e9 / 8, rel=1e-5)
    assert [rate(label) for label in ("4xHDR", "2xNDR", "4xXDR", "1xHDR")] == [25e9, 25e9, 100e9, 6.25e9]
    assert [rate(label) for label in ("speed not said", "0xHDR", "4xTDR")] == [None, None, None]
    assert len(LANES) == 9


def test_slurm(tmp_path):
    wiring = read(tmp_path, SLURM)
    assert [node.name for node in wiring.nodes] == [
        "n0", "n1", "n2", "n3", "n4", "gpu08", "gpu09", "gpu10", "leaf0", "leaf1", "spine"
    ]  # fmt: skip
    assert wiring.facts == {
        "nodes": 8,
        "switches": 3,
        "leaf_switches": 2,
        "top_switches": 1,
        "nodes_per_leaf": {"3": 1, "5": 1},
    }
    assert wiring.unknown == ("node link", "switch link, LinkSpeed 400")
    with pytest.raises(MachineError, match="does not say how fast node link, switch link, LinkSpeed 400 is"):
        wiring.machine()
    machine = wiring.machine({"node link": 25e9, "switch link, LinkSpeed 400": 50e9})
    assert machine.path(["n0", "gpu10"]).names == ("n0", "leaf0", "spine", "leaf1", "gpu10")


WRONG = {
    "astra, another length": (ASTRA.replace("50.0, 25", "50.0"), "line 5: bandwidth has 1 entries, topology 2"),
    "astra, no latency": (ASTRA.split("latency")[0], "has no latency: expected topology"),
    "astra, one NPU": (ASTRA.replace("[ 4,", "[ 1,"), "npus_count is '1': expected a whole number, 2 or more"),
    "astra, zero rate": (ASTRA.replace("50.0", "0"), "a bandwidth is 0"),
    "astra, negative": (ASTRA.replace("50.0", "-1"), "bandwidth is '-1': expected a number, 0 or more"),
    "astra, infinite": (ASTRA.replace("50.0", "1e999"), "expected a number, 0 or more"),
    "astra, open list": (ASTRA.replace("1e3", "1e3\nmore: [ 1, 2"), "the list of more has no end"),
    "astra, a mapping": (ASTRA + "more:\n  deep: 1\n", "is no list of words"),
    "astra, an anchor": (ASTRA + "other: &a [1]\n", "is no plain word"),
    "ns3, cut": (NS3[:60], "is no link: expected|says 5 links, and ends after"),
    "ns3, fewer links": ("\n".join(NS3.split("\n")[:5]), "says 5 links, and ends after 3"),
    "ns3, unknown node": (NS3.replace("2 5 50", "9 5 50"), "line 5: a node is '9': expected a whole number, 0 to 5"),
    "ns3, zero rate": (NS3.replace("400Gbps", "0Gbps"), "a rate '0Gbps': a bandwidth must be above 0"),
    "ns3, no unit": (NS3.replace("500ns", "500"), "a delay '500' has no unit"),
    "ns3, itself": (NS3.replace("4 5 400", "4 4 400"), "node 4 is joined to itself"),
    "ns3, switches": (NS3.replace("6 2 5", "6 7 5"), "7 switches among 6 nodes"),
    "ns3, a switch twice": (NS3.replace("\n4 5\n", "\n4 4\n"), "switch 4 stands here a second time"),
    "htsim, no tier 2": (HTSIM.split("Tier 2")[0], "says 3 tiers, and has no block of tier 2"),
    "htsim, unknown word": (HTSIM + "Colour 3\n", "unknown word 'Colour'"),
    "htsim, negative": (HTSIM.replace("Radix_Up 4", "Radix_Up -4"), "Radix_Up is '-4'"),
    "htsim, no latency": (HTSIM.replace("Downlink_Latency_ns 2000\n", ""), "tier 2 has no downlink_latency_ns"),
    "ibnetdiscover, cut": (IBNET[: IBNET.rindex("[1](b)") + 12], "is no whole port line"),
    "ibnetdiscover, twice": (IBNET.replace("[2]\t\"H", "[1]\t\"H", 1), "port 1 of S-01 stands here a second time"),
    "slurm, no switch": (SLURM.replace("leaf[0-1]", "leaf[0-2]"), "there is no switch 'leaf2'"),
    "slurm, a circle": (SLURM + "SwitchName=top Switches=up\nSwitchName=up Switches=top\n", "lies under itself"),
    "slurm, both": (SLURM + "SwitchName=x Nodes=a Switches=leaf0\n", "either Nodes or Switches"),
    "slurm, unknown key": (SLURM + "SwitchName=x Nods=a\n", "unknown key 'Nods'"),
    "slurm, a range down": (SLURM.replace("[0-2]", "[2-0]"), "goes down"),
    "slurm, too many": (SLURM.replace("[0-2]", "[0-99999999]"), "names more than 1048576 nodes"),
    "binary": (NS3 + "\0\0\0", "holds binary data"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_wrong_files(tmp_path, text, words):
    with pytest.raises(FormatError, match=words) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("name", SMALL)
def test_mutated_files_are_read_or_refused_in_a_line(tmp_path, name):
    source, data = random.Random(name), SMALL[name].encode()
    path = tmp_path / "file"
    for _ in range(60):
        changed = bytearray(data)
        for _ in range(source.randrange(1, 4)):
            at = source.randrange(len(changed))
            changed[at : at + source.randrange(3)] = source.choice([b"", b"9", b"-", b"[", b"\n", b"\xff", b"0", b" "])
        path.write_bytes(
            bytes(changed[: source.randrange(len(changed)) + 1] if source.random() < 0.3 else changed) or b"x"
        )
        try:
            wiring = read_of(path)
            wiring.machine(dict.fromkeys(wiring.unknown, 1e9))
        except HoplineError as error:
            assert "\n" not in str(error)


def read_of(path):
    from hopline.jobs.loading import resolve

    return resolve(recognise(str(path)).reader)(str(path))


@pytest.mark.parametrize(
    "text", ["1 1 " + "9" * 400_000, ASTRA.replace("50.0", "9" * 400_000), NS3 + "1 2 " + "9" * 400_000]
)
def test_endless_numbers_take_no_time(tmp_path, text):
    try:
        read(tmp_path, text)
    except FormatError as error:
        assert len(str(error)) < 1000


def test_many_lines(tmp_path):
    count = 30_000
    text = f"{count + 1} 1 {count}\n{count}\n" + "".join(f"{n} {count} 1Gbps 1us 0\n" for n in range(count))
    assert len(read(tmp_path, text).cables) == count
    many = read(tmp_path, "SwitchName=s Nodes=n[000000-099999]\n")
    assert many.facts["nodes"] == 100_000
    assert many.nodes[-2].name == "n099999"
