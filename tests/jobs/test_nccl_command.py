"""``hopline nccl``: options that mean nothing are refused, and what a file says is taken from it."""

import json

import pytest
from click.testing import CliRunner

from hopline.cli.nccl import nccl_command
from hopline.errors import HoplineError
from hopline.jobs import nccl
from hopline.jobs.nccl import Question
from hopline.jobs.nccl_beside import Apart
from hopline.model.nccl.numbers import LATEST
from hopline.show import nccl as pages

HEAD = "node1:11:12 [0] NCCL INFO "
CALL = HEAD + "AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}"
GRAPH = HEAD + "Pattern 4, crossNic 0, nChannels 4, bw 20.000000/20.000000, type NVL/PXB, sameChannels 1"
TITLES = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong"


def run(*words):
    return CliRunner().invoke(nccl_command, [str(word) for word in words])


def refused(*words):
    """The one line of a refusal."""
    found = run(*words)
    assert found.exit_code != 0, found.output
    if found.exit_code == 2:
        return found.output.strip().splitlines()[-1]
    assert isinstance(found.exception, HoplineError), found.exception
    assert "\n" not in str(found.exception)
    return str(found.exception)


def log(tmp_path, *lines, name="nccl.log"):
    path = tmp_path / name
    path.write_text("\n".join((CALL, *lines)) + "\n")
    return path


def ranked(ranks, device="NVIDIA A100-SXM4-40GB"):
    """A benchmark's list of ranks on one host."""
    return [f"#  Rank {i:2} Group  0 Pid {100 + i} on node1 device {i:2} [0x07] {device}" for i in range(ranks)]


def measured(tmp_path, *more, benchmark="all_reduce", ranks=8, device="NVIDIA A100-SXM4-40GB"):
    rows = [f"  {size}  {size // 4}  float  sum  -1  {time}  0.1  0.1  0  {time}  0.1  0.1  0"
            for size, time in ((1024, 20.0), (1 << 20, 50.0))]  # fmt: skip
    path = tmp_path / f"{benchmark}.log"
    head = [f"# Collective test starting: {benchmark}_perf"]
    path.write_text("\n".join((*head, *more, *ranked(ranks, device), TITLES, *rows, "# Avg bus bandwidth : 1")) + "\n")
    return path


@pytest.mark.parametrize("collective", ["all_reduce", "all_gather"])
@pytest.mark.parametrize(("arch", "generation"), [("hopper", 5), ("ampere", 4), ("volta", 3)])
@pytest.mark.parametrize("where", [(8, 1), (16, 2)])
def test_gpus_without_nvlink_are_priced_over_pcie(collective, arch, generation, where):
    ranks, nodes = where
    words = (collective, "-n", ranks, "--nodes", nodes, "--arch", arch, "--sizes", "0,8B,1GiB", "--json")
    data, fast = json.loads(run(*words, "--pci").output), json.loads(run(*words).output)
    assert data["rows"][0]["time_s"] > 5e-6
    assert not any(way.startswith("NVLS") for row in data["rows"] for way in row["ways_s"])
    assert data["rows"][-1]["time_s"] > 2 * fast["rows"][-1]["time_s"]
    assert f"PCIe {generation}.0" in data["premises"][0]
    assert not any("NVSwitch" in text for text in data["premises"])
    assert {graph["wires"] for graph in data["graphs"].values()} == {"PHB"}


def test_an_intel_cpu_takes_its_part_of_pcie():
    words = ("all_reduce", "-n", 8, "--arch", "hopper", "--pci", "--json", "--cpu")
    rates = [json.loads(run(*words, cpu).output)["graphs"]["Ring"]["within"] for cpu in ("intel", "amd")]
    assert rates == [20e9, 24e9]


def test_stated_channels_of_gpus_without_nvlink_have_no_nvls_either():
    found = nccl.answer(Question("all_reduce", 8, channels=2, within=20e9, wires="PHB"))
    assert {algorithm for algorithm, _ in found.times} == {"Tree", "Ring"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--channels", 65, "--within", "20GB/s"), f"--channels 65: NCCL {LATEST} has at most 64"),
        (("--channels", 33, "--within", "20GB/s", "--nccl", "2.24.3"), "--channels 33: NCCL 2.24.3 has at most 32"),
        (("--nic", "1GB/s"), "--nic: nothing goes over a NIC on one node"),
        (("--collnet",), "--collnet: nothing is summed in the network on one node"),
    ],
)
def test_what_means_nothing_is_refused(words, said):
    assert said in refused("all_reduce", "-n", 8, "--arch", "hopper", *words)


def test_more_gpus_than_any_node_holds():
    assert "1,024 GPUs (hopper) in one node: expected at most 256" in refused(
        "all_reduce", "-n", 1024, "--arch", "hopper"
    )
    stated = run("all_reduce", "-n", 1024, "--arch", "hopper", "--channels", 16, "--within", "20GB/s")
    assert stated.exit_code == 0
    assert (
        "64 GPUs are in one NVLink domain, and usual nodes hold 8"
        in run("all_reduce", "-n", 64, "--arch", "hopper").output
    )
    assert "usual nodes" not in run("all_reduce", "-n", 64, "--nodes", 8, "--arch", "hopper").output


@pytest.mark.parametrize("words", [(), ("-n", 8, "--arch", "hopper")])
@pytest.mark.parametrize("name", ["nothing.log", "./nothing", "all_reduce.log"])
def test_a_path_that_is_not_there_is_said_so(words, name):
    assert f"{name} cannot be read: No such file or directory" in refused(name, *words)


def test_a_word_that_is_neither_file_nor_collective():
    assert "unknown collective" in refused("nothing")
    assert "-n and --arch are needed for AllReduce" in refused("all_reduce", "-n", 8)


def test_a_collective_is_one_even_beside_a_file_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log(tmp_path, name="all_reduce")
    assert "AllReduce on 8 hopper GPUs, 1 node" in run("all_reduce", "-n", 8, "--arch", "hopper").output
    assert "NCCL's log ./all_reduce" in run("./all_reduce").output


FIGURES = ("--nccl 2.29", "--nodes 2", "--cpu amd", "--channels 8", "--within 1GB/s", "--between 1GB/s", "--nic 1GB/s", "--pci",
           "--no-nvls", "--collnet", "--algo ring", "--proto LL")  # fmt: skip


@pytest.mark.parametrize("option", FIGURES)
def test_what_is_of_our_figures_needs_them_beside_a_log(tmp_path, option):
    said = refused(log(tmp_path), *option.split())
    assert f"{option.split()[0]}: is of our figures, which stand beside a LOG where -n or --arch is given" in said


@pytest.mark.parametrize("stated", [(), ("-n", 2, "--arch", "hopper")])
@pytest.mark.parametrize(("option", "said"), [("--sizes 8B", "--sizes: a LOG"), ("--beside x", "--beside: stands beside a"),
                                              ("--plot x.svg", "--plot: draws")])  # fmt: skip
def test_what_is_of_a_collective_is_refused_with_a_log(tmp_path, stated, option, said):
    assert said in refused(log(tmp_path), *stated, *option.split())


def test_what_a_log_says_is_taken_and_nothing_else_may_be_stated(tmp_path):
    path = log(tmp_path, HEAD + "NCCL version 2.29.7+cuda12.9", *ranked(8), TITLES,
               "  1024  256  float  sum  -1  20.0  0.1  0.1  0  20.0  0.1  0.1  0")  # fmt: skip
    for words in (("-n", 8), ("--arch", "ampere"), ("-n", 8, "--arch", "ampere", "--nodes", 1, "--nccl", "2.29.7")):
        text = run(path, *words)
        assert text.exit_code == 0, text
        assert "8 ampere GPUs, 1 node, NCCL 2.29.7" in text.output
        assert "premise: assumed of the machine: all GPUs of a node over NVSwitch, 240 GB/s each" in text.output
    assert "-n 4: the log says 8" in refused(path, "-n", 4, "--arch", "ampere")
    assert "--arch hopper: the log says ampere" in refused(path, "--arch", "hopper")
    assert "--nodes 2: the log says 1" in refused(path, "-n", 8, "--nodes", 2)
    assert "--nccl 2.28.3: the log says 2.29.7" in refused(path, "-n", 8, "--nccl", "2.28.3")
    assert "'foo' is no version" in refused(path, "-n", 8, "--nccl", "foo")


def test_what_nobody_says_is_asked_for(tmp_path):
    path = log(tmp_path)
    assert "does not say the architecture of the GPUs (--arch)" in refused(path, "-n", 2)
    assert "does not say the number of ranks (-n)" in refused(path, "--arch", "hopper")
    assert "does not say the number of nodes (--nodes)" in refused(path, "-n", 16, "--arch", "hopper")
    premises = json.loads(run(path, "-n", 2, "--arch", "hopper", "--json").output)["premises"]
    assert premises[:2] == [
        "all 2 ranks are on one node (--nodes says how many)",
        f"NCCL is of version {LATEST}: the file does not say it (--nccl)",
    ]


@pytest.mark.parametrize("option", ["--channels 8", "--within 1GB/s", "--between 1GB/s", "--nic 1GB/s", "--pci"])
def test_graph_lines_are_not_overruled(tmp_path, option):
    path = log(tmp_path, GRAPH)
    assert run(path, "-n", 2, "--arch", "hopper").exit_code == 0
    assert f"{option.split()[0]}: GRAPH lines of the log" in refused(path, "-n", 2, "--arch", "hopper", *option.split())


def test_any_communicator_of_a_log_may_be_asked_for(tmp_path):
    made = [HEAD + f"comm 0x{n} rank 0 nRanks {n} nNodes 1 localRanks {n} localRank 0 MNNVL 0" for n in (4, 8)]
    path = log(tmp_path, *made)
    assert json.loads(run(path, "--json").output)["ranks"] == 8
    for ranks in (4, 8):
        assert f"{ranks} hopper GPUs, 1 node" in run(path, "-n", ranks, "--arch", "hopper").output
    assert "-n 2: the log says 8" in refused(path, "-n", 2, "--arch", "hopper")


def test_measured_times_are_of_what_is_asked_for(tmp_path):
    path = measured(tmp_path)
    assert "all_reduce.log holds all_reduce: expected measured times of broadcast" in refused(
        "broadcast", "-n", 8, "--arch", "ampere", "--beside", path
    )
    assert "--arch hopper: the log says ampere" in refused("all_reduce", "-n", 8, "--arch", "hopper", "--beside", path)
    assert "-n 4: the log says 8" in refused("all_reduce", "-n", 4, "--beside", path)
    assert "--sizes: the sizes are those of FILE" in refused("all_reduce", "-n", 8, "--sizes", "1KiB", "--beside", path)
    assert "does not say the architecture" in refused(
        "all_reduce", "--beside", measured(tmp_path, device="Graphics Device")
    )


def test_the_page_of_measured_times_names_the_version(tmp_path):
    words = ("all_reduce", "-n", 8, "--arch", "ampere", "--beside")
    silent = run(*words, measured(tmp_path)).output
    assert f"NCCL's tuner (8 ampere GPUs, 1 node, NCCL {LATEST}) beside" in silent
    assert f"premise: NCCL is of version {LATEST}: the file does not say it (--nccl)" in silent
    telling = measured(tmp_path, "# nccl-tests version 2.17.6 nccl-headers=22907 nccl-library=22907")
    text = run("all_reduce", "--beside", telling).output
    assert "(8 ampere GPUs, 1 node, NCCL 2.29.7)" in text
    assert "is of version" not in text
    (table,) = json.loads(run("all_reduce", "--beside", telling, "--json").output)
    assert (table["nccl"], table["ranks"], table["architecture"]) == ("2.29.7", 8, "ampere")
    assert "--nccl 2.28.3: the log says 2.29.7" in refused("all_reduce", "--nccl", "2.28.3", "--beside", telling)


def test_cards_that_no_switch_joins_are_told(tmp_path):
    path = measured(tmp_path, device="NVIDIA H100 PCIe")
    assert "NVIDIA H100 PCIe are bridged in pairs at most" in run("all_reduce", "--beside", path).output
    assert "bridged" not in run("all_reduce", "--pci", "--beside", path).output


def test_graphs_in_json_are_si():
    data = json.loads(run("all_reduce", "-n", 8, "--arch", "hopper", "--json").output)
    ring = data["graphs"]["Ring"]
    assert (ring["channels"], ring["within"], ring["between"], ring["latency_s"]) == (12, 30e9, 30e9, 0.0)
    assert "latency" not in ring


def test_rows_of_one_side_are_named_so():
    pairs = [Apart("a", 2.0, 0.0), Apart("b", 0.0, 3.0), Apart("c", 1.0, 1.0)]
    _, grid, told = pages.beside("t", pairs)
    assert [row[3] for row in grid.rows] == ["only ours", "only theirs", "+0.0%"]
    assert "2 stand in one of the two only" in told.text
    assert "1 stands in one of the two only, and is in no mean" in pages.beside("t", pairs[1:])[-1].text
    assert [row[3] for row in pages.beside("t", pairs[:2], ("expected", "measured"))[1].rows] == [
        "only expected",
        "only measured",
    ]


def test_one_of_a_thing_is_one(tmp_path):
    lines = ["Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0", "Using network Socket"]
    path = log(tmp_path, *(HEAD + line for line in lines), "node1:11:12 [0] misc.cc:1 NCCL WARN odd")
    text = run(path, "-n", 2, "--arch", "hopper").output
    for words in ("plain sockets (1 connection)", "Socket (1 line)", "1 warning (", "of 1 choice "):
        assert words in text
    assert "about 1 channel of" in run("all_reduce", "-n", 4, "--nodes", 4, "--arch", "volta").output
    assert "7 ranks on 2 nodes" in refused("all_reduce", "-n", 7, "--nodes", 2, "--arch", "hopper")
