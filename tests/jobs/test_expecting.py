"""What a benchmark should show: which way to know is taken, and its numbers by hand."""

from pathlib import Path

import numpy as np
import pytest
from written import SIZES, line, nccl, osu

from hopline.curve import Curve
from hopline.errors import FitError, HoplineError, InputError, MachineError
from hopline.jobs import expecting, fitting, machines
from hopline.jobs.benchmarks import benchmark_of, parts
from hopline.jobs.questions import Question, points_of
from hopline.machine.parts import Fitted, Operation
from hopline.machine.topology import Machine
from hopline.model import library
from hopline.records.busbw import FACTORS

MACHINES = Path(__file__).parents[1] / "data" / "machines"
TWO = machines.find(str(MACHINES / "two-nodes.toml"))
HDR = machines.find(str(MACHINES / "hdr-200g.toml"))
MIB = 2.0**20


def saved(tmp_path, *texts):
    files = [tmp_path / f"log{i}" for i in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    _, fits = fitting.fit_files([str(file) for file in files])
    return fitting.machine_of(fitting.to_save(fits, None), "good")


def ask(machine, benchmark, ranks=None, sizes=(), **more):
    return expecting.expect(Question(machine, benchmark, ranks, tuple(map(float, sizes)), **more).with_ranks())


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("all_reduce", "all_reduce"), ("allreduce", "all_reduce"), ("MPI_Allreduce", "all_reduce"),
        ("all_reduce_perf", "all_reduce"), ("ncclAllReduce", "ncclallreduce"), ("NCCL_AllReduce", "all_reduce"),
        ("osu_allreduce", "all_reduce"), ("all-gather", "all_gather"), ("ReduceScatter", "reduce_scatter"),
        ("bcast", "broadcast"), ("MPI_Bcast", "broadcast"), ("all_to_all", "alltoall"), ("Alltoall", "alltoall"),
        ("sendrecv", "sendrecv"), ("MPI_Sendrecv", "sendrecv"), ("sendrecv_perf", "sendrecv"), ("osu_latency", "latency"),
        ("osu_mbw_mr", "mbw_mr"), ("barrier", "barrier"), (" bw ", "bw"), ("nonsense", "nonsense"),
    ],
)  # fmt: skip
def test_names_of_benchmarks(name, found):
    assert benchmark_of(name) == found


def test_every_benchmark_with_a_bus_factor_is_its_own_name():
    for name in FACTORS:
        assert benchmark_of(name) == benchmark_of(f"{name}_perf") == name


@pytest.mark.parametrize(
    ("tool", "benchmark", "ranks", "times"),
    [
        ("osu", "all_gather", 8, 8), ("osu", "alltoall", 8, 8), ("osu", "all_reduce", 8, 1), ("osu", "reduce_scatter", 8, 1),
        ("ucc_perftest", "all_gather", 4, 4), ("ucc_perftest", "alltoall", 4, 1), ("nccl-tests", "all_gather", 8, 1),
        ("osu", "all_gather", None, 1),
    ],
)  # fmt: skip
def test_what_a_tool_calls_a_size(tool, benchmark, ranks, times):
    assert parts(tool, benchmark, ranks) == times


def test_saved_parts_are_counted_as_whole_buffers():
    curve, points = Curve.line(2e-5, 1e10), ((1024.0, 2e-5), (2048.0, 2.1e-5), (4096.0, 2.2e-5))
    for tool, ranks, times in (("ucc_perftest", 8, 8), ("nccl-tests", 8, 1), ("osu", None, 1)):
        evidence = Fitted("all_gather, x.log line 1", 1024.0, 4096.0, 0.0, 0.0)
        operation = Operation("all_gather", ranks, "time", curve, evidence, points, (), tool)
        assert points_of(operation).size.tolist() == [times * m for m, _ in points]


# --- which way is taken -------------------------------------------------------------------------------------------


def test_what_was_measured_comes_first(tmp_path):
    good = line(SIZES, 20e-6, 40e9)
    machine = saved(tmp_path, nccl(good, 8), nccl(line(SIZES, 15e-6, 80e9), 4))
    answer = ask(machine, "all_reduce", 8)
    assert answer.basis.startswith("measured: nccl-tests all_reduce, 8 ranks, log0 line")
    assert answer.found.time == pytest.approx(list(good.values()), rel=0.02)
    assert (answer.smallest, answer.largest, answer.least) == (SIZES[0], SIZES[-1], None)
    answer = ask(machine, "all_reduce", 16, [MIB])
    assert answer.basis == "worked out from 4, 8 ranks as measured"
    assert answer.found.low[0] < answer.found.time[0] < answer.found.high[0]
    assert any("16 ranks lie outside of the 4, 8" in premise.text for premise in answer.premises)


def test_sizes_outside_of_what_was_measured(tmp_path):
    machine = saved(tmp_path, nccl(line(SIZES, 20e-6, 40e9), 8))
    with pytest.raises(FitError, match=r"128 MiB lies outside of the measured 1 KiB to 64 MiB of all_reduce\.8"):
        ask(machine, "all_reduce", 8, [2 * SIZES[-1]])
    answer = ask(machine, "all_reduce", 8, [SIZES[-1], 16 * SIZES[-1]], extrapolate=True)
    width = np.log(answer.found.high / answer.found.low)
    assert width[1] > width[0]
    assert answer.found.time[1] == pytest.approx(20e-6 + 16 * SIZES[-1] / 40e9, rel=0.3)
    with pytest.raises(
        MachineError, match="2 GiB lies outside of the 1 KiB to 64 MiB measured of all_reduce on 8 ranks"
    ):
        ask(machine, "all_reduce", 4, [2.0**31])


def test_counts_that_share_no_sizes_tell_nothing(tmp_path):
    small, large = line(SIZES[:5], 1e-5, 1e9), line(SIZES[8:], 1e-5, 1e9)
    machine = saved(tmp_path, nccl(small, 2), nccl(large, 4))
    with pytest.raises(MachineError, match="all_reduce on 2, 4 ranks was measured at no common sizes"):
        ask(machine, "all_reduce", 8)


def test_a_saved_latency_answers_with_and_without_its_ranks(tmp_path):
    machine = saved(tmp_path, osu(line((0, *SIZES), 3e-6, 12e9)))
    for ranks in (None, 2):
        answer = ask(machine, "latency", ranks)
        assert answer.basis.startswith("measured: osu latency, 2 ranks")
        assert answer.found.time[0] == pytest.approx(3e-6, rel=0.05)


def test_osu_sizes_of_unknown_ranks_say_so(tmp_path):
    title = "MPI All-to-All Personalized Exchange Latency Test"
    machine = saved(tmp_path, osu(line(SIZES, 2e-5, 1e10), title, "Avg Latency(us)"))
    assert ask(machine, "alltoall").basis.endswith("sizes are one rank's part, as osu counts")
    with pytest.raises(MachineError, match="alltoall was measured there on an unknown number of ranks"):
        ask(machine, "alltoall", 8)


@pytest.mark.parametrize(
    ("benchmark", "ranks", "told"),
    [
        ("barrier", 8, "two nodes tells nothing of barrier on 8 ranks: formulas are of all_reduce, all_gather"),
        ("nonsense", 8, "hopline fit LOG --save NAME makes a machine of a measured log"),
        ("", 8, "which benchmark it is of is not known"),
        ("mbw_mr", 4, "tells nothing of mbw_mr on 4 ranks"),
        ("read_latency", None, "tells nothing of read_latency"),
    ],
)
def test_what_nothing_is_known_of(benchmark, ranks, told):
    with pytest.raises(MachineError, match=told):
        ask(TWO, benchmark, ranks)


def test_a_machine_without_links_says_so():
    with pytest.raises(MachineError, match="bare tells nothing of all_reduce on 8 ranks: it has no links"):
        ask(Machine("bare", "", {}, {}, (), {}), "all_reduce", 8)


def test_missing_ranks_are_asked_for():
    with pytest.raises(InputError, match="number of ranks is not known: give -n"):
        ask(TWO, "all_reduce")
    assert "2 nodes of 4" in ask(TWO, "all_reduce", places=("h0.gpu*", "h1.gpu*")).basis


# --- numbers by formula -------------------------------------------------------------------------------------------


def test_a_large_all_reduce_in_a_node_reaches_the_link():
    """Ring of 4: 2 x 3/4 of 64 GiB over 200 GB/s."""
    answer = ask(TWO, "all_reduce", 4, [2.0**36])
    assert answer.found.time[0] == pytest.approx(1.5 * 2.0**36 / 200e9, rel=0.01)
    assert "1 node of 4, inside over nvlink; all_reduce by ring, Simple at 64 GiB" in answer.basis


def test_a_large_all_reduce_over_two_nodes_reaches_the_nics():
    """Ring of 8: 2 x 7/8 of the size leave each node over 4 NICs of 40 GB/s."""
    answer = ask(TWO, "all_reduce", 8, [2.0**36])
    assert answer.found.time[0] == pytest.approx(1.75 * 2.0**36 / 160e9, rel=0.01)


def test_collectives_are_those_of_the_model():
    answer = ask(TWO, "alltoall", 4, SIZES)
    from hopline.jobs import layout

    laid = layout.layout(TWO, layout.devices(TWO, 4))
    assert answer.found.time == pytest.approx(library.times("alltoall", SIZES, 4, laid.sends, 4, other=True).time)


def test_a_ring_of_sends_is_as_slow_as_its_slowest():
    """8 ranks on 2 nodes: two of the sends leave a node, each over one NIC."""
    answer = ask(TWO, "sendrecv", 8, [2.0**30])
    assert answer.found.time[0] == pytest.approx(9.2e-6 + 2.0**30 / 40e9)
    assert "between h0.gpu3 and h1.gpu0" in answer.basis
    answer = ask(TWO, "sendrecv", 4, [2.0**30])
    assert answer.found.time[0] == pytest.approx(6.1e-6 + 2.0**30 / 200e9)


def test_sends_and_streams_between_two():
    latency = ask(HDR, "latency", sizes=[0, 8, MIB])
    assert latency.found.time == pytest.approx([2e-6, 2e-6 + 8 / 24.375e9, 2e-6 + MIB / 24.375e9])
    stream = ask(HDR, "bw", sizes=[0, 8, MIB])
    assert stream.found.time == pytest.approx([0.3e-6, 0.3e-6 + 8 / 24.375e9, 0.3e-6 + MIB / 24.375e9])
    for benchmark in ("write_bw", "mbw_mr", "bibw"):
        assert ask(HDR, benchmark, 2, [MIB]).found.time == pytest.approx(stream.found.time[-1:])
    assert ask(HDR, "write_latency", 2, [MIB]).found.time == pytest.approx(latency.found.time[-1:])


@pytest.mark.parametrize("size", [0.0, 1.0, 2.0**40])
@pytest.mark.parametrize("benchmark", [*FACTORS, "latency", "bw"])
def test_sizes_from_nothing_to_a_tebibyte(benchmark, size):
    if benchmark in ("gather", "scatter"):
        return
    answer = ask(TWO, benchmark, 2 if benchmark in ("latency", "bw") else 8, [size])
    assert 0 < answer.found.time[0] < 3600
    assert answer.found.low[0] <= answer.found.time[0] <= answer.found.high[0]
    assert answer.least is not None
    assert answer.least[0][0] <= answer.found.time[0]


# --- bounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("benchmark", "ranks", "seconds"),
    [
        ("all_reduce", 8, MIB / 200e9),  # a buffer leaves each node over 4 NICs of 50 GB/s
        ("all_reduce", 4, MIB / 300e9),  # a buffer leaves each GPU, over NVLink and its NIC
        ("all_gather", 8, MIB * 7 / 8 / 300e9),  # each GPU lacks 7 of 8 parts, over NVLink and its NIC
        ("alltoall", 8, 4 * MIB / 2 / 200e9),  # each of 4 ranks has half of its buffer for the other node
        ("broadcast", 8, MIB / 200e9),
    ],
)
def test_least_times_by_hand(benchmark, ranks, seconds):
    question = Question(TWO, benchmark, ranks)
    ((none, _), (one, why), (two, _)) = expecting.least(question, [0.0, MIB, 2 * MIB])
    assert (none, one, two) == pytest.approx((0.0, seconds, 2 * seconds))
    assert "GB/s" in why
    assert "MiB across" in why or "KiB across" in why


def test_least_times_of_pairs_and_perftest_names():
    for benchmark in ("latency", "bw", "write_bw", "read_bw", "send_bw"):
        ((time, _),) = expecting.least(Question(HDR, benchmark, 2), [MIB])
        assert time == pytest.approx(MIB / 25e9)


def test_no_least_time_without_line_rates_or_a_known_demand(tmp_path):
    free = machines.find(str(MACHINES / "no-peak.toml"))
    fitted = saved(tmp_path, osu(line(SIZES, 3e-6, 12e9)))
    assert expecting.least(Question(free, "bw", 2), [MIB]) is None
    assert expecting.least(Question(fitted, "bw", 2), [MIB]) is None
    assert expecting.least(Question(TWO, "nonsense", 8), [MIB]) is None
    assert expecting.least(Question(TWO, "all_reduce", None), [MIB]) is None


@pytest.mark.parametrize("name", machines.files.preset_names())
@pytest.mark.parametrize(
    "benchmark", ["all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"]
)
def test_presets_never_expect_the_impossible(name, benchmark):
    machine = machines.find(name)
    devices = [node for node in machine.nodes.values() if node.kind == "device"]
    for ranks in (2, 4, len(devices)):
        try:
            answer = ask(machine, benchmark, ranks)
        except HoplineError as error:
            assert "unevenly" in str(error) or "devices" in str(error)
            continue
        if answer.least is not None:
            assert all(low[0] <= time for low, time in zip(answer.least, answer.found.time, strict=True))
