"""Small topology files of our own: every cable, rate and remark by hand; and files that are wrong."""

import random

import pytest
from topology_files import GRAPH, HWLOC, HWLOC1, MATRIX, NCCL, SMALL, TACCL, cable, wired, written

from hopline.errors import FormatError, HoplineError, MachineError
from hopline.formats.topologies import xml
from hopline.formats.topologies.rates import NVLINKS, XGMI, pcie, xgmi
from hopline.formats.topologies.table import TOPOLOGY_FORMATS, recognise
from hopline.jobs.loading import resolve
from hopline.machine import files
from hopline.machine.wiring import Wiring
from hopline.machine.writing import dumps


def table_of(wiring):
    """Ends -> label, count, byte/s."""
    return {frozenset(c.ends): (c.label, c.count, c.bandwidth) for c in wiring.cables}


def remarked(wiring, words):
    return any(words in remark for remark in wiring.remarks)


@pytest.mark.parametrize(("name", "text"), SMALL.items())
@pytest.mark.parametrize("ending", ["odd.bin", "packed.gz"])
def test_told_by_content(tmp_path, name, text, ending):
    path = written(tmp_path, text, ending)
    assert recognise(str(path)).name == name
    assert wired(path).format == name


@pytest.mark.parametrize("name", [name for name in SMALL if name != "nccl-graph"])
def test_machine_is_saved_and_read_back(tmp_path, name):
    wiring = wired(written(tmp_path, SMALL[name]))
    machine = wiring.machine(dict.fromkeys(wiring.unknown, 3e9))
    assert files.loads(dumps(machine), "saved") == machine


@pytest.mark.parametrize("name", [row.name for row in TOPOLOGY_FORMATS.values() if row.name in SMALL])
def test_readers_resolve(name):
    assert callable(resolve(TOPOLOGY_FORMATS[name].reader))


# --- NCCL topology ------------------------------------------------------------------------------------------------


@pytest.fixture
def nccl(tmp_path):
    return wired(written(tmp_path, NCCL, "node.xml"))


def test_nccl_nodes(nccl):
    assert [node.name for node in nccl.nodes if node.kind == "device"] == ["gpu0", "gpu1", "mlx5_0", "mlx5_0.2", "nic0"]
    assert nccl.name == "node"


def test_nccl_cables(nccl):
    assert table_of(nccl) == {
        frozenset(ends): row
        for ends, row in {
            ("gpu0", "gpu1"): ("NVLink3", 4, 25e9),
            ("gpu1", "nvswitch"): ("NVLink3", 4, 25e9),
            ("gpu0", "nvswitch"): ("NVLink3", 2, 25e9),
            ("gpu0", "cpu1"): ("C2C", 10, 44.712e9),
            ("cpu0", "0000:10:00.0"): ("PCIe 8 GT/s x8", 1, pytest.approx(8e9 * 8 / 8 * 128 / 130)),
            ("0000:10:00.0", "gpu1"): ("PCIe 2.5 GT/s x16", 1, pytest.approx(2.5e9 * 16 / 8 * 0.8)),
            ("0000:10:00.0", "0000:12:00.0"): ("PCIe", 1, None),
            ("0000:12:00.0", "mlx5_0"): ("200 Gb/s", 1, 25e9),
            ("0000:12:00.0", "mlx5_0.2"): ("net", 1, None),
            ("cpu1", "nic0"): ("PCIe", 1, None),
            ("cpu0", "cpu1"): ("SYS", 1, None),
        }.items()
    }
    assert cable(nccl, "0000:12:00.0", "mlx5_0").latency == pytest.approx(1.5e-6)


def test_nccl_facts_and_remarks(nccl):
    assert nccl.facts["cores_per_cpu"] == (12, 0)
    assert nccl.facts["nvlink_count_total"] == 24
    assert nccl.facts["nvlink_self_targets"] == 1
    assert nccl.facts["link_targets_not_in_file"] == 1
    assert nccl.facts["net_total_GBps"] == 25
    assert remarked(nccl, "9 links of GPUs to themselves")
    assert remarked(nccl, "1 link to GPUs that are not in the file (0000:99:00.0)")
    assert remarked(nccl, "1 of class 0x010802")
    assert remarked(nccl, "2 of 6 PCIe links")


def test_the_shortest_way_takes_nvlink(nccl):
    machine = nccl.machine(dict.fromkeys(nccl.unknown, 1e9))
    assert machine.path(["gpu0", "gpu1"]).names == ("gpu0", "gpu1")
    assert machine.path(["gpu1", "mlx5_0"]).names == ("gpu1", "0000:10:00.0", "0000:12:00.0", "mlx5_0")


def test_nccl_ends_that_count_differently(tmp_path):
    wiring = wired(written(tmp_path, NCCL.replace('count="4"', 'count="3"', 1)))
    assert cable(wiring, "gpu0", "gpu1").count == 3
    assert remarked(wiring, "gpu1 names 3 links to gpu0, which names 4 back: 3 taken")


def test_several_hosts(tmp_path):
    cpu = (
        '<cpu host_hash="0x{}" numaid="0"><pci busid="0:1" class="0x030200" link_speed="8 GT/s" link_width="1"/></cpu>'
    )
    wiring = wired(written(tmp_path, f'<system version="1">{cpu.format("a")}{cpu.format("b")}</system>'))
    assert [node.name for node in wiring.nodes] == ["gpu0", "gpu1", "h0.cpu0", "h1.cpu0"]
    assert cable(wiring, "h0.cpu0", "h1.cpu0") is None


@pytest.mark.parametrize(
    ("speed", "width", "expected"),
    [
        ("2.5 GT/s", 1, 0.25e9), ("5.0 GT/s PCIe", 4, 2e9), ("8 GT/s", 16, 15.753846153846e9),
        ("16.0 GT/s PCIe", 16, 31.507692307692e9), ("32 GT/s", 8, 31.507692307692e9), ("64 GT/s", 16, 121e9),
        ("", 16, None), ("8 GT/s", 0, None), ("Unknown speed", 16, None), ("7 GT/s", 16, None),
    ],
)  # fmt: skip
def test_pcie(speed, width, expected):
    found = pcie(speed, width)[1]
    assert found is None if expected is None else found == pytest.approx(expected, rel=1e-12)


def test_links_add_up_to_what_the_makers_give():
    """Both ways of a whole GPU: links x rate x 2."""
    gpus = {60: (4, 160e9), 70: (6, 300e9), 80: (12, 600e9), 86: (4, 112.5e9), 90: (18, 900e9), 100: (18, 1800e9)}
    assert {sm: (count, 2 * count * NVLINKS[sm][1]) for sm, (count, _) in gpus.items()} == gpus
    assert 2 * XGMI["908"] == 92e9
    assert xgmi("gfx942:sramecc+:xnack-")[1] == 128e9 / 2
    assert xgmi("gfx1") == ("xGMI", None)


# --- the others ---------------------------------------------------------------------------------------------------


def test_graph(tmp_path):
    wiring = wired(written(tmp_path, GRAPH))
    assert wiring.facts["g0_orders"] == ("0-2-1", "0-2-1", "1-2-0")
    assert wiring.facts["g0_nets"] == ("", "", "0-0")
    assert table_of(wiring) == {
        frozenset(("gpu0", "gpu2")): ("ring channel", 2, 20.5e9),
        frozenset(("gpu1", "gpu2")): ("ring channel", 2, 20.5e9),
        frozenset(("gpu0", "gpu1")): ("ring channel", 2, 20.5e9),
    }
    with pytest.raises(MachineError, match="give the topology"):
        wiring.machine()


def test_hwloc(tmp_path):
    wiring = wired(written(tmp_path, HWLOC))
    assert [node.name for node in wiring.nodes if node.kind == "device"] == ["gpu0", "gpu1", "mlx5_0"]
    assert table_of(wiring) == {
        frozenset(ends): row
        for ends, row in {
            ("machine", "package0"): ("SYS", 1, None),
            ("machine", "package1"): ("SYS", 1, None),
            ("package0", "host0"): ("NODE", 1, None),
            ("package1", "host1"): ("NODE", 1, None),
            ("host0", "0000:10:00.0"): ("PCIe 15.75 GB/s", 1, 15.75e9),
            ("0000:10:00.0", "gpu0"): ("PCIe 31.51 GB/s", 1, 31.507692e9),
            ("host0", "mlx5_0"): ("PCIe", 1, None),
            ("host1", "gpu1"): ("PCIe 2 GB/s", 1, 2e9),
        }.items()
    }
    assert (wiring.facts["cores"], wiring.facts["pus"], wiring.facts["numa_nodes"]) == (1, 2, 2)
    assert remarked(wiring, "1 GPU with a PCIe link of 2 GB/s")
    assert not remarked(wiring, "not from a NUMA node")


def test_hwloc_1(tmp_path):
    wiring = wired(written(tmp_path, HWLOC1))
    assert wiring.facts["hwloc_version"] == "1"
    assert wiring.facts["packages"] == 1
    assert table_of(wiring) == {
        frozenset(("host0", "gpu0")): ("PCIe 15.75 GB/s", 1, 15.753846e9),
        frozenset(("host0", "eth0")): ("PCIe 2 GB/s", 1, 2e9),
    }


def test_taccl(tmp_path):
    wiring = wired(written(tmp_path, TACCL))
    machine = wiring.machine()
    assert machine.name == "two_boxes"
    for ends, alpha, beta in ((("n0.gpu0", "n0.gpu3"), 0.5e-6, 40e-12), (("n0.gpu1", "n1.gpu0"), 3e-6, 80e-12)):
        legs = machine.path(ends).legs
        assert sum(leg.link.delay for leg in legs) == pytest.approx(alpha, rel=1e-12)
        assert min(leg.link.bandwidth for leg in legs) == pytest.approx(1 / beta, rel=1e-12)


def test_taccl_without_nodes_and_with_classes(tmp_path):
    one = wired(written(tmp_path, '{"gpus_per_node": 2, "alpha": 1, "node_betas_list": [8]}'))
    assert len(one.nodes) == 3
    several = wired(written(tmp_path, TACCL.replace("[40]", "[40, 20]"), "b"))
    assert "2 classes of links (β 40, 20 µs/MB)" in several.refusal


def test_matrix(tmp_path):
    wiring = wired(written(tmp_path, MATRIX))
    assert table_of(wiring) == {
        frozenset(ends): row
        for ends, row in {
            ("gpu0", "gpu1"): ("NV", 2, None),
            ("gpu0", "pix0"): ("PIX", 1, None),
            ("mlx5_0", "pix0"): ("PIX", 1, None),
            ("pix0", "phb0"): ("PHB", 1, None),
            ("gpu1", "phb0"): ("PHB", 1, None),
            ("phb0", "sys0"): ("SYS", 1, None),
            ("gpu2", "sys0"): ("SYS", 1, None),
        }.items()
    }
    assert wiring.facts["cpu_affinity_groups"] == {"0-7,16-23": 2, "8-15": 1}
    assert wiring.facts["numa"] == {"0": 2, "1": 1}


def test_of_equally_short_ways_none_goes_through_a_gpu(tmp_path):
    wiring = wired(written(tmp_path, MATRIX))
    machine = wiring.machine(dict.fromkeys(wiring.unknown, 1e9))
    assert machine.path(["gpu1", "mlx5_0"]).names == ("gpu1", "phb0", "pix0", "mlx5_0")


def test_an_nvswitch_comes_before_a_bridge(tmp_path):
    gpu = (
        '<pci busid="{0}" class="0x030200" link_speed="8 GT/s" link_width="16"><gpu dev="{0}" sm="90">'
        '<nvlink target="c1" count="18" tclass="0x068000"/></gpu></pci>'
    )
    cpu = f'<cpu numaid="0"><pci busid="b" class="0x060400">{gpu.format(0)}{gpu.format(1)}</pci></cpu>'
    wiring = wired(written(tmp_path, f'<system version="1">{cpu}</system>'))
    legs = wiring.machine({"PCIe": 1e9}).path(["gpu0", "gpu1"]).legs
    assert [leg.name for leg in legs] == ["gpu0>nvswitch", "nvswitch>gpu1"]
    assert {leg.link.bandwidth for leg in legs} == {450e9}


def test_wrapped_lines_and_old_words(tmp_path):
    plain = MATRIX.replace("\x1b[4m", "").replace("\x1b[0m", "")
    wrapped = plain.replace("\tSYS\tPI", "\n\tSYS\tPI").replace("\tmlx5_0\tCPU", "\nmlx5_0\tCPU")
    assert wired(written(tmp_path, wrapped)).cables == wired(written(tmp_path, plain, "b")).cables
    old = plain.replace("SYS", "SOC")
    assert table_of(wired(written(tmp_path, old, "c"))).keys() == table_of(wired(written(tmp_path, plain, "d"))).keys()
    headless = plain.split("\n", 1)[1]
    found = wired(written(tmp_path, headless, "e"))
    assert found.facts["header_line_present"] is False
    assert found.cables == wired(written(tmp_path, plain, "f")).cables


def matrix_of(cells):
    names = [f"GPU{row}" for row in range(len(cells))]
    rows = ["\t".join([name, *row]) for name, row in zip(names, cells, strict=True)]
    return "\n".join(["\t" + "\t".join(names), *rows]) + "\n"


def test_many_nvlinks_are_a_switch_and_few_are_not(tmp_path):
    for count, switched in ((6, False), (7, True)):
        cells = [["X" if a == b else f"NV{count}" for b in range(4)] for a in range(4)]
        wiring = wired(written(tmp_path, matrix_of(cells), f"m{count}"))
        assert (len(wiring.cables), wiring.cables[0].count) == ((4 if switched else 6), count)
        assert any(node.name == "nvswitch" for node in wiring.nodes) == switched


def test_matrix_that_is_no_tree(tmp_path):
    cells = [["X", "PIX", "SYS"], ["PIX", "X", "PIX"], ["SYS", "PIX", "X"]]
    assert remarked(wired(written(tmp_path, matrix_of(cells))), "GPU0 and GPU2 are SYS, but others join them at PIX")
    cells[0][1] = "NV4"
    assert "GPU0 to GPU1 is NV4, and back PIX" in wired(written(tmp_path, matrix_of(cells), "b")).refusal


# --- what is wrong ------------------------------------------------------------------------------------------------

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE system [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><system><cpu numaid="&b;"/></system>'
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty: expected a topology"),
        ("hello\n", "is no topology that hopline knows (it begins with 'hello')"),
        ("<platform2/>", "is no topology"),
        (NCCL[:900], "is no whole XML document"),
        (LAUGHS, "line 1: entities are declared here"),
        ("<system/>", "line 1: system has no element 'cpu'"),
        ('<system><cpu numaid="x"/></system>', "cpu has numaid='x': expected a whole number, -1 or more"),
        ("<system><cpu/></system>", "element 'cpu' has no numaid"),
        ('<system>\n<cpu numaid="0"/>\n<cpu numaid="0"/></system>', "line 3: numaid 0 stands here a second time"),
        (NCCL.replace("0000:21:00.0", "0000:11:00.0"), "line 21: busid 0000:11:00.0 stands here a second time"),
        (NCCL.replace('count="2"', 'count="-2"'), "line 8: nvlink has count='-2': expected a whole number, 0 to 4096"),
        (NCCL.replace("0000000f", "0000zz0f"), "expected hexadecimal words"),
        (NCCL.replace('link_width="8"', 'link_width="800"'), "link_width='800': expected a whole number, 0 to 64"),
        (NCCL.replace('speed="200000"', 'speed="fast"'), "net has speed='fast'"),
        (NCCL.replace('latency="1.5"', 'latency="nan"'), "net has latency='nan'"),
        ("<graphs/>", "graphs has no element 'graph'"),
        (GRAPH.replace('<gpu dev="2"/>', '<gpu dev="0"/>', 1), "line 3: gpu 0 comes twice in a channel"),
        (GRAPH.replace('speedintra="20.5"', 'speedintra="-1"'), "graph has speedintra='-1'"),
        ("<topology/>", "topology has no element 'object'"),
        (HWLOC.replace("0302 [10de:2330]", "gpu"), "expected something like '0302 [10de:2330]'"),
        (HWLOC.replace("0000:12:00.0", "0000:11:00.0"), "pci_busid '0000:11:00.0' stands here a second time"),
        (HWLOC.replace('pci_link_speed="2.0"', 'pci_link_speed="inf"'), "pci_link_speed='inf'"),
        (TACCL[:60], "is no whole JSON document"),
        (TACCL.replace("4,", "-4,", 1), "has -4 for gpus_per_node: expected a whole number, 1 to 4096"),
        (TACCL.replace("[40]", "[0]", 1), "has 0 for node_betas_list: expected a number above 0"),
        (TACCL.replace("[40]", "[]", 1), "has [] for node_betas_list: expected a list of numbers"),
        (TACCL.replace("0.5", "NaN"), "has NaN for alpha"),
        (MATRIX.replace("GPU2\tSYS", "GPU2\tFOO"), "line 4: GPU2 has 'FOO' for GPU0: expected NV#"),
        (MATRIX.replace("NV2\tSYS\tPIX", "NV2\tSYS", 1), "GPU0 has"),
        ("\n".join(MATRIX.split("\n")[:3]), "4 columns and 2 rows (no row for GPU2, mlx5_0): is it cut?"),
        (MATRIX + MATRIX.replace("Legend:", ""), ""),
        (MATRIX.split("\n\nL")[0] + "\n" + MATRIX, "GPU0 has more than one row"),
        (MATRIX.replace("GPU1\tNV2\t X ", "GPU1\tNV2\tSYS"), "GPU1 has 'SYS' for GPU1: expected X"),
    ],
)  # fmt: skip
def test_wrong_files(tmp_path, text, words):
    path = written(tmp_path, text)
    if not words:
        assert wired(path).cables
        return
    with pytest.raises(FormatError) as caught:
        wired(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_elements(tmp_path, monkeypatch):
    monkeypatch.setattr(xml, "MOST_ELEMENTS", 1000)
    with pytest.raises(FormatError, match="line 1: more than 1000 elements"):
        wired(written(tmp_path, "<system>" + '<cpu numaid="0"/>' * 1001 + "</system>"))
    with pytest.raises(FormatError, match="more than 200 elements stand within one another"):
        wired(written(tmp_path, "<system>" + "<pci>" * 300, "b"))


def test_too_many_numa_nodes(tmp_path):
    cpus = "".join(f'<cpu numaid="{number}"/>' for number in range(65))
    with pytest.raises(FormatError, match="more than 64 cpu elements"):
        wired(written(tmp_path, f"<system>{cpus}</system>"))


def test_a_matrix_that_is_too_large(tmp_path):
    with pytest.raises(FormatError, match="has 257 rows: expected one host's, at most 256"):
        wired(written(tmp_path, "\n".join(f"GPU{row} X" for row in range(257))))


def test_a_matrix_with_a_prompt_around_it(tmp_path):
    plain = MATRIX.split("\n\nL")[0]
    talked = f"me@host:~$ nvidia-smi topo -m\n{plain}\nme@host:~$ exit\n"
    assert wired(written(tmp_path, talked)).facts == wired(written(tmp_path, MATRIX, "b")).facts


def test_nothing_to_send_from(tmp_path):
    wiring = wired(written(tmp_path, '<system version="1"><cpu numaid="0"/></system>'))
    with pytest.raises(MachineError, match="names no GPU and no NIC"):
        wiring.machine()


def mutated(text, chance):
    """The text with a few bytes changed, left out, doubled, or numbers made odd."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data))
        act = chance.randrange(4)
        if act == 0:
            data[at] = chance.choice(b'0123456789-"<>/ \t\nXG\x00\xff')
        elif act == 1:
            del data[at : at + chance.randint(1, 30)]
        elif act == 2:
            data[at:at] = data[at : at + chance.randint(1, 80)]
        else:
            data[at:at] = chance.choice([b"-1", b"999999999999", b"1e400", b"nan", b"&a;", b"<a/>", b"SYS ", b"null"])
        data = data or bytearray(b" ")
    return bytes(data)


@pytest.mark.parametrize("text", [*SMALL.values(), HWLOC1], ids=[*SMALL, "hwloc-1"])
def test_mutated_files_are_read_or_refused_in_a_line(tmp_path, text):
    chance = random.Random(text)
    read = 0
    for _ in range(120):
        path = written(tmp_path, mutated(text, chance))
        try:
            wiring = wired(path)
            read += isinstance(wiring, Wiring)
            machine = wiring.machine(dict.fromkeys(wiring.unknown, 1e9))
            assert files.loads(dumps(machine), "saved") == machine
        except HoplineError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 900
    assert read
