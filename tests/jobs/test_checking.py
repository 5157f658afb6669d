"""Checks of whole logs: verdicts with their reasons, on logs of our own and on real ones."""

from pathlib import Path

import numpy as np
import pytest
from written import SIZES, line, nccl, noisy, osu, scaled

from hopline.errors import FormatError, InputError, MachineError, UnknownNameError
from hopline.jobs import checking, fitting, machines
from hopline.jobs.checking import Terms
from hopline.records.table import Table

DATA = Path(__file__).parents[1] / "data"
MACHINES = DATA / "machines"
TWO = machines.find(str(MACHINES / "two-nodes.toml"))
FIELD = Path(__file__).parents[3] / "shared" / "field"
GOOD = line(SIZES, 20e-6, 40e9)


@pytest.fixture
def check(tmp_path):
    """Check a text as a log; options as in Terms."""

    def checked(text, machine, **options):
        file = tmp_path / "run.log"
        file.write_text(text)
        return checking.check(str(file), Terms(machine, **options))[1]

    return checked


@pytest.fixture
def saved(tmp_path):
    """A machine fitted to texts of logs."""

    def fitted(*texts):
        files = [tmp_path / f"good{i}.log" for i in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        _, fits = fitting.fit_files([str(file) for file in files])
        return fitting.machine_of(fitting.to_save(fits, None), "good")

    return fitted


def outcomes(table):
    return {verdict.size: verdict.outcome for verdict in table.verdicts}


def failing(table):
    return [verdict.size for verdict in table.verdicts if verdict.outcome == "fail"]


def reasons(table):
    return " ".join([*table.faults, table.hint, *(verdict.reason for verdict in table.verdicts)])


# --- against what was measured ------------------------------------------------------------------------------------


def test_the_log_itself_passes(check, saved):
    (table,) = check(nccl(GOOD), saved(nccl(GOOD)))
    assert set(outcomes(table).values()) == {"pass"}
    assert table.basis == "measured: nccl-tests all_reduce, 8 ranks, good0.log line 15"
    assert (table.outcome, table.hint, table.faults) == ("pass", "", ())


@pytest.mark.parametrize("scatter", [0.01, 0.03])
def test_healthy_repeats_of_a_noisy_log_are_seldom_blamed(check, saved, scatter):
    """With a probability of about 5 % a table, less by the tolerance."""
    blamed = 0
    for seed in range(30):
        machine = saved(nccl(noisy(GOOD, scatter, 1000 + seed)))
        (table,) = check(nccl(noisy(GOOD, scatter, seed)), machine)
        blamed += table.outcome == "fail"
    assert blamed <= 3


@pytest.mark.parametrize(
    ("slow", "told"),
    [
        (SIZES, "small messages take 2 and large ones 2 times the expected: slower throughout"),
        (SIZES[-6:], "only large messages are slow (2 times): bandwidth is missing"),
        (SIZES[:6], "only small messages are slow (2 times): start-up has grown"),
        (SIZES[8:9], "one size is slow (256 KiB)"),
        (SIZES[7:10], "3 sizes are slow (128 KiB to 512 KiB)"),
    ],
)
def test_what_is_twice_as_slow_fails_where_it_is_and_says_what_it_looks_like(check, saved, slow, told):
    (table,) = check(nccl(scaled(GOOD, 2.0, slow)), saved(nccl(GOOD)))
    assert failing(table) == list(slow)
    assert table.hint.startswith(told)
    first = next(verdict for verdict in table.verdicts if verdict.outcome == "fail")
    assert first.reason.startswith("slower: 2 times the expected")


def test_large_messages_ten_times_slower_look_like_another_path(check, saved):
    (table,) = check(nccl(line(SIZES, 20e-6, 4e9)), saved(nccl(GOOD)))
    assert "as if another path carried them (TCP sockets in place of the fabric?" in table.hint


def test_faster_passes_and_says_so(check, saved):
    (table,) = check(nccl(scaled(GOOD, 0.5)), saved(nccl(GOOD)))
    assert table.outcome == "pass"
    assert table.verdicts[0].reason == "faster: 2 times"


def test_sizes_beyond_the_measured_ones_are_not_judged_unless_asked(check, saved):
    machine = saved(nccl({m: GOOD[m] for m in SIZES[3:12]}))
    (table,) = check(nccl(GOOD), machine)
    assert [m for m, outcome in outcomes(table).items() if outcome == "pass"] == list(SIZES[3:12])
    assert table.verdicts[0].reason == "outside of the measured 8 KiB to 2 MiB (--extrapolate goes beyond)"
    assert table.outcome == "pass"
    (table,) = check(nccl(GOOD), machine, extrapolate=True)
    assert set(outcomes(table).values()) == {"pass"}
    (table,) = check(nccl(scaled(GOOD, 30.0, SIZES[-1:])), machine, extrapolate=True)
    assert failing(table) == [SIZES[-1]]


def test_the_tolerance_counts_beyond_the_interval(check, saved):
    machine = saved(nccl(GOOD))
    (strict,) = check(nccl(GOOD), machine, tolerance=0.0)
    (loose,) = check(nccl(GOOD), machine, tolerance=0.5)
    for a, b in zip(strict.verdicts, loose.verdicts, strict=True):
        assert b.limit == pytest.approx(1.5 * a.limit)


def test_the_in_place_half(check, saved):
    text = nccl(GOOD, in_place=2.0)
    assert check(text, saved(nccl(GOOD)))[0].outcome == "pass"
    (table,) = check(text, saved(nccl(GOOD)), in_place=True)
    assert failing(table) == list(SIZES)
    (table,) = check(osu(GOOD), saved(osu(GOOD)), in_place=True)
    assert reasons(table).strip().startswith("it has no in-place half")


# --- ranks --------------------------------------------------------------------------------------------------------


def all_reduce(ranks):
    return line(SIZES, 6e-6 + 1e-6 * ranks, 100e9 / (2 * (ranks - 1) / ranks))


def test_other_ranks_are_worked_out_from_those_measured(check, saved):
    machine = saved(nccl(all_reduce(2), 2), nccl(all_reduce(4), 4))
    (table,) = check(nccl(all_reduce(8), 8), machine)
    assert table.outcome == "pass"
    assert table.basis == "worked out from 2, 4 ranks as measured"
    (table,) = check(nccl(scaled(all_reduce(8), 4.0), 8), machine)
    assert table.outcome == "fail"


def test_sizes_that_other_ranks_do_not_share_are_not_judged(check, saved):
    few = {m: t for m, t in all_reduce(4).items() if m >= SIZES[4]}
    machine = saved(nccl(all_reduce(2), 2), nccl(few, 4))
    (table,) = check(nccl(all_reduce(8), 8), machine)
    assert [m for m, outcome in outcomes(table).items() if outcome == "unknown"] == list(SIZES[:4])
    assert table.verdicts[0].reason == "outside of the measured 16 KiB to 64 MiB"


def test_other_ranks_of_what_cannot_be_worked_out_stay_open(check, saved):
    machine = saved(nccl(GOOD, 4, "gather"))
    (table,) = check(nccl(GOOD, 8, "gather"), machine)
    assert table.outcome == "unknown"
    assert "good tells nothing of gather on 8 ranks: it has no links" in table.verdicts[0].reason
    assert "measured there are gather.4" in table.verdicts[0].reason


def test_unknown_ranks_are_asked_for_and_taken_from_places(check):
    text = osu(GOOD, "MPI Allreduce Latency Test", "Avg Latency(us)")
    (table,) = check(text, TWO)
    assert reasons(table).strip().startswith("the number of ranks is not known: give -n")
    assert check(text, TWO, ranks=8)[0].outcome == "pass"
    (table,) = check(text, TWO, places=("h0.gpu*", "h1.gpu*"))
    assert "2 nodes of 4" in table.basis


def test_ranks_and_benchmarks_that_the_log_says_otherwise_are_refused(check):
    with pytest.raises(InputError, match=r"-n 4: the log says 8; leave -n away"):
        check(nccl(GOOD), TWO, ranks=4)
    with pytest.raises(InputError, match="--benchmark alltoall: the log says all_reduce"):
        check(nccl(GOOD), TWO, benchmark="alltoall")
    assert check(nccl(GOOD), TWO, ranks=8, benchmark="all_reduce")[0].outcome == "pass"


@pytest.mark.parametrize(
    ("places", "error", "told"),
    [
        (("h0.gpu9",), UnknownNameError, "unknown device of two nodes 'h0.gpu9'"),
        (("x*",), MachineError, "has no devices x"),
        (("leaf", "h0.gpu0"), MachineError, "is a switch"),
        (("h0.gpu0",), InputError, "names 1 device: expected at least 2"),
        (("h0.gpu0", "h0.gpu0"), InputError, "names h0.gpu0 twice"),
    ],
)
def test_wrong_places_are_refused(check, places, error, told):
    with pytest.raises(error, match=told):
        check(nccl(GOOD), TWO, places=places)


def test_places_of_another_number_than_the_ranks(check):
    (table,) = check(nccl(GOOD), TWO, places=("h0.gpu*",))
    assert table.outcome == "unknown"
    assert "--on names 4 devices: expected 8, one for each rank" in table.verdicts[0].reason


def test_nodes_that_are_filled_unevenly_stay_open(check):
    (table,) = check(nccl(GOOD, 6), TWO)
    assert table.outcome == "unknown"
    assert "spread unevenly over nodes (4, 2)" in table.verdicts[0].reason
    even = ("h0.gpu0", "h0.gpu1", "h0.gpu2", "h1.gpu0", "h1.gpu1", "h1.gpu2")
    assert check(nccl(GOOD, 6), TWO, places=even)[0].outcome == "pass"


def test_one_rank_uses_no_network(check):
    text = (DATA / "logs" / "nccl-one-rank.log").read_text()
    (table,) = check(text, TWO)
    assert table.outcome == "unknown"
    assert {verdict.reason for verdict in table.verdicts} == {"one rank ran: no network was used"}


# --- pairs --------------------------------------------------------------------------------------------------------


def test_a_pair_is_not_guessed_where_it_matters(check):
    text = osu(line((0, *SIZES), 9e-6, 40e9))
    (table,) = check(text, TWO)
    assert table.outcome == "unknown"
    assert "where the two ranks ran is not known" in table.verdicts[0].reason
    (table,) = check(text, TWO, places=("h0.gpu0", "h1.gpu0"))
    assert set(outcomes(table).values()) == {"pass"}
    assert table.basis == "by formula from the links between h0.gpu0 and h1.gpu0 of two nodes"
    (table,) = check(text, TWO, places=("h0.gpu0", "h0.gpu1"))
    assert failing(table)[-1] == SIZES[-1]


def test_a_saved_latency_needs_no_place(check, saved):
    good = line((0, *SIZES), 3e-6, 12e9)
    machine = saved(osu(good))
    assert check(osu(good), machine)[0].outcome == "pass"
    assert failing(check(osu(scaled(good, 2.0)), machine)[0]) == [0, *SIZES]


def test_gap_tables_are_streams(check):
    """By formula at most 0.35 of a start-up is left between messages; a whole one fails."""
    machine = machines.find(str(MACHINES / "hdr-200g.toml"))
    title, unit = "MPI Bandwidth Test", "Bandwidth (MB/s)"
    (table,) = check(osu(line(SIZES, 0.4e-6, 24e9), title, unit), machine)
    assert table.outcome == "pass"
    (table,) = check(osu(line(SIZES, 2e-6, 24e9), title, unit), machine)
    assert failing(table)[0] == SIZES[0]
    assert SIZES[-1] not in failing(table)
    (table,) = check(osu(line(SIZES, 0.4e-6, 12e9), title, unit), machine)
    assert failing(table)[-1] == SIZES[-1]


def test_a_saved_stream_is_held_against_itself(check, saved):
    good = line(SIZES, 0.4e-6, 24e9)
    text = osu(good, "MPI Bandwidth Test", "Bandwidth (MB/s)")
    assert check(text, saved(text))[0].outcome == "pass"
    slow = osu(scaled(good, 2.0, SIZES[-4:]), "MPI Bandwidth Test", "Bandwidth (MB/s)")
    assert failing(check(slow, saved(text))[0]) == list(SIZES[-4:])


# --- OSU counts one rank's part -----------------------------------------------------------------------------------

ALLTOALL = ("MPI All-to-All Personalized Exchange Latency Test", "Avg Latency(us)")


def test_osu_sizes_of_a_part_are_held_against_whole_buffers(check, saved):
    """1 MiB a rank of 8 is the 8 MiB of nccl-tests."""
    whole = line([8 * m for m in SIZES], 20e-6, 40e9)
    machine = saved(nccl(whole, 8, "alltoall"))
    parts = {m / 8: t for m, t in whole.items()}
    (table,) = check(osu(parts, *ALLTOALL), machine, ranks=8)
    assert set(outcomes(table).values()) == {"pass"}
    assert [verdict.size for verdict in table.verdicts] == list(SIZES)
    (table,) = check(osu(whole, *ALLTOALL), machine, ranks=8)
    assert set(outcomes(table).values()) != {"pass"}


def test_osu_against_osu_needs_no_ranks(check, saved):
    machine = saved(osu(GOOD, *ALLTOALL))
    assert check(osu(GOOD, *ALLTOALL), machine)[0].outcome == "pass"
    assert failing(check(osu(scaled(GOOD, 2.0), *ALLTOALL), machine)[0]) == list(SIZES)
    (table,) = check(osu(GOOD, *ALLTOALL), machine, ranks=8)
    assert "alltoall was measured there on an unknown number of ranks" in table.verdicts[0].reason


def test_reduce_scatter_of_osu_counts_the_whole(check, saved):
    machine = saved(nccl(GOOD, 8, "reduce_scatter"))
    (table,) = check(osu(GOOD, "MPI Reduce_scatter Latency Test", "Avg Latency(us)"), machine, ranks=8)
    assert set(outcomes(table).values()) == {"pass"}


# --- figures that cannot be ---------------------------------------------------------------------------------------


def test_faster_than_the_cut_allows_is_impossible(check):
    """4 NICs of 50 GB/s leave a node: 64 MiB cannot be summed in less than 335.5 us."""
    fair = {64 << 20: 340e-6}
    (table,) = check(nccl(fair, 8), TWO)
    assert outcomes(table) == {64 << 20: "pass"}
    assert table.verdicts[0].least == pytest.approx((64 << 20) / 200e9)
    (table,) = check(nccl({64 << 20: 330e-6}, 8), TWO)
    assert table.outcome == "fail"
    assert table.verdicts[0].reason.startswith(
        "impossible: 330.0 µs is less than the 335.5 µs that moving 64 MiB across"
    )
    assert "200 GB/s" in table.verdicts[0].reason
    assert "faster than the links of this machine can carry" in table.hint


def test_busbw_above_the_nics_is_possible(check):
    """Busbw of 2 nodes counts 1.75 times what leaves: 345 GB/s over NICs of 200 GB/s in all."""
    (table,) = check(nccl({1 << 30: (1 << 30) / 197e9}, 8), TWO)
    assert table.outcome == "pass"


def test_nvls_busbw_above_nvlink_is_possible(check):
    """483 GB/s on 8 H100 (450 GB/s one way): 16 GiB in 62.24 ms."""
    (table,) = check(nccl({16 << 30: 62.24e-3}, 8), machines.find("dgx-h100"))
    assert table.outcome == "pass"


def test_no_bound_without_a_line_rate(check):
    """A bandwidth alone is what somebody reached, and the next may reach a little more."""
    text = osu(line(SIZES, 0.1e-6, 13e9), "MPI Bandwidth Test", "Bandwidth (MB/s)")
    (bound,) = check(text, machines.find(str(MACHINES / "roce-100g.toml")))
    (free,) = check(text, machines.find(str(MACHINES / "no-peak.toml")))
    assert bound.outcome == "fail"
    assert "impossible" in bound.verdicts[-1].reason
    assert (free.outcome, free.verdicts[-1].least) == ("pass", None)


def test_bounds_hold_where_nothing_is_expected(check):
    (table,) = check(nccl({64 << 20: 100e-6}, 8, "gather"), TWO)
    assert (table.outcome, table.basis) == ("fail", "")
    assert "impossible" in table.verdicts[0].reason


# --- faults of the log itself -------------------------------------------------------------------------------------


def test_wrong_results_fail_whatever_the_times(check, saved):
    (table,) = check(nccl(GOOD, wrong={SIZES[3]: 7}), saved(nccl(GOOD)))
    assert table.outcome == "fail"
    assert table.faults == ("1 row dropped: the result was wrong (#wrong above 0) (first at line 18)",)
    assert "fail" not in outcomes(table).values()


def test_failed_validation_fails(check):
    text = (DATA / "logs" / "osu-alltoall-validation.out").read_text()
    (table,) = check(text, TWO, ranks=8)
    assert table.outcome == "fail"
    assert "validation failed" in table.faults[0]


def test_ranks_that_contradict_one_another_are_a_fault(check, saved):
    (table,) = check(nccl(GOOD, 8, factor=1.5), saved(nccl(GOOD)))
    assert table.outcome == "fail"
    assert table.faults == ("8 ranks are listed but busbw/algbw says 4: number of ranks left open",)


def test_a_benchmark_that_is_not_stated_can_be_named(check, saved):
    text = nccl(GOOD, None, "all_gather").replace("all_gather_perf", "?")
    machine = saved(nccl(GOOD, 8, "all_gather"))
    (table,) = check(text, machine)
    assert "which benchmark it is of is not known: name it (--benchmark)" in table.verdicts[0].reason
    (table,) = check(text, machine, benchmark="all_gather")
    assert (table.outcome, table.title) == ("pass", "Table 1: all_gather, 8 ranks")


def table_of(columns, **more):
    arrays = {name: np.array(values) for name, values in columns.items()}
    return Table("nccl-tests", "all_reduce", "time", arrays, len(arrays["size"]), 8, **more)


def test_contradictions_are_faults_and_notes_are_not():
    columns = {"size": [1024.0], "time": [2e-5]}
    note = "no factor fits busbw/algbw of all rows (typically 0.9972): number of ranks left open"
    assert checking.check_table(1, table_of(columns, notes=(note,)), Terms(TWO)).faults == ()
    both = table_of(columns, notes=(note,), contradictions=(note,))
    assert checking.check_table(1, both, Terms(TWO)).faults == (note,)


def test_times_that_are_missing_are_no_pass():
    columns = {"size": [1024.0, 2048.0], "time": [2e-5, 2e-5], "time_in_place": [np.nan, 2e-5]}
    table = checking.check_table(1, table_of(columns), Terms(TWO, in_place=True))
    assert outcomes(table) == {2048.0: "pass"}
    columns["time_in_place"] = [np.nan, np.nan]
    assert checking.check_table(1, table_of(columns), Terms(TWO, in_place=True)).outcome == "unknown"


def test_sizes_measured_twice_count_with_their_median(check, saved):
    rows = nccl(GOOD).splitlines()
    double = "\n".join([*rows[:-1], rows[-2]])
    (table,) = check(double, saved(nccl(GOOD)))
    assert [verdict.size for verdict in table.verdicts] == sorted(set(outcomes(table)))


# --- real logs ----------------------------------------------------------------------------------------------------

NCCL, OSU, PERFTEST = "nccl-tests/", "osu/", "perftest/"
GH200, HERE = "gh200-slingshot", "itself"
BETWEEN = {"places": ("h0.gpu0", "h1.gpu0")}

STATEMENTS = [
    # file, machine (a preset, a file of ours, or a log that it is saved from), options, outcome, part of the reason
    (NCCL + "abci-a100-16ranks-allreduce-2node.log", "dgx-a100", {}, "pass", ""),
    (NCCL + "abci-a100-128ranks-allreduce-16node.log", NCCL + "abci-a100-16ranks-allreduce-2node.log", {}, "pass", ""),
    (NCCL + "abci-a100-128ranks-allreduce-16node.log", "dgx-a100", {}, "unknown", "has 16 devices"),
    (NCCL + "abci-v100-4ranks-allreduce-intranode.log", "dgx-a100", {}, "fail", "only large messages are slow"),
    (NCCL + "aws-efa-eks-a100x16-header-then-ncclinfo-no-table.log", "dgx-a100", {}, FormatError, "no table follows"),
    (NCCL + "aws-nccom-test-trainium.log", "dgx-a100", {}, "unknown", "the number of ranks is not known: give -n"),
    (NCCL + "block-aws-batch-1.log", "dgx-h100", {}, "pass", ""),
    (NCCL + "block-aws-p5-1.log", "dgx-a100", {}, "pass", ""),
    (NCCL + "block-aws-topoaware-1.log", "dgx-h100", {}, "unknown", "got 128"),
    (NCCL + "block-azure-ndv5-1.log", "dgx-h100", {}, "fail", "number of ranks left open"),
    (NCCL + "block-coreweave-1.log", "dgx-h100", {}, "unknown", "got 96"),
    (NCCL + "block-coreweave-3.log", "gb200-nvl72", {}, "fail", "143 of 144, but busbw/algbw says 128"),
    (NCCL + "block-cscs-gh200-1.log", GH200, {}, "pass", ""),
    (NCCL + "block-cscs-gh200-1.log", NCCL + "cscs-gh200-allreduce-ofi-good.log", {}, "pass", ""),
    (NCCL + "cscs-gh200-allreduce-ofi-good.log", GH200, {}, "pass", ""),
    (NCCL + "cscs-gh200-allreduce-ofi-good.log", NCCL + "block-cscs-gh200-1.log", {}, "pass", ""),
    (NCCL + "block-cscs-gh200-2.log", GH200, {}, "fail", "TCP sockets in place of the fabric?"),
    (NCCL + "block-cscs-gh200-2.log", NCCL + "block-cscs-gh200-1.log", {}, "fail", "TCP sockets in place of the fabric?"),
    (NCCL + "cscs-allreduce-2.18.2-newest-layout.log", GH200, BETWEEN, "pass", ""),
    (NCCL + "cscs-allreduce-2.18.2-newest-layout.log", "dgx-a100", {}, "fail", "another path"),
    (NCCL + "block-gcp-a3high-1.log", "dgx-h100", {}, "unknown", "name it (--benchmark)"),
    (NCCL + "block-gcp-a3high-1.log", "dgx-h100", {"benchmark": "all_gather"}, "fail", "slower"),
    (NCCL + "ebpf-1rank-allreduce-tail.txt", GH200, {}, "unknown", "one rank ran: no network was used"),
    (NCCL + "ebpf-allreduce-proto-ll.txt", NCCL + "ebpf-allreduce-proto-simple.txt", {}, "fail", "another path"),
    (NCCL + "ebpf-allreduce-proto-simple.txt", NCCL + "ebpf-allreduce-proto-ll.txt", {}, "pass", "faster"),
    (NCCL + "ebpf-allgather-3reps-default.txt", "dgx-a100", {}, "fail", "another path"),
    (NCCL + "ebpf-broadcast-default.txt", HERE, {}, "pass", ""),
    (NCCL + "error-alltoall-illegal-memory-midrow.log", GH200, {}, FormatError, "illegal memory access"),
    (NCCL + "error-duplicate-gpu.txt", GH200, {}, FormatError, "Duplicate GPU"),
    (NCCL + "error-uncorrectable-ecc.log", GH200, {}, FormatError, "ECC"),
    (NCCL + "gcp-placeholder-XXXX.log", GH200, {}, FormatError, "placeholder"),
    (NCCL + "recon-prefix-inside-row-24ranks.log", HERE, {}, "pass", ""),
    (NCCL + "rccl-alltoall-mi200-32ranks-msccl-tagged.log", GH200, {"benchmark": "alltoall"}, "unknown", "got 32"),
    (NCCL + "sb-a100x8-allgather-v2.8-novalidate.log", "dgx-a100", {}, "pass", ""),
    (NCCL + "sb-a100x8-allreduce-v2.8-novalidate.log", "dgx-a100", {}, "pass", ""),
    (NCCL + "sb-a100x8-alltoall-v2.8-novalidate.log", "dgx-a100", {}, "pass", ""),
    (NCCL + "sendrecv-a100x8-inplace-NA.log", "dgx-a100", {"ranks": 8}, "fail", "one size is slow (128 MiB)"),
    (NCCL + "synthetic-J-output.json", HERE, {}, "pass", ""),
    (NCCL + "synthetic-J-output-per-iter.json", HERE, {}, "pass", ""),
    (OSU + "netpipe-nptcp-e1000-250us.txt", "gigabit", {}, "fail", "slower: 8."),
    (OSU + "netpipe-3.7.1-mpi-ib-adonis.txt", "hdr-200g", {}, "pass", ""),
    (OSU + "omb-failed-no-table.out", "hdr-200g", {}, FormatError, "no result, only host names"),
    (OSU + "omb-osu_allreduce-8node-tcp-basic-linear.txt", OSU + "omb-osu_allreduce-8node-tcp-recursive-doubling.txt", {},
     "fail", "large"),
    (OSU + "omb-osu_allreduce-8node-tcp-recursive-doubling.txt", HERE, {}, "pass", ""),
    (OSU + "omb-osu_allreduce-8node-tcp-nonoverlapping.txt", OSU + "omb-osu_allreduce-8node-tcp-recursive-doubling.txt", {},
     "fail", "large"),
    (OSU + "omb5.7-osu_allreduce-cpu-16ranks-full.txt", HERE, {}, "pass", ""),
    (OSU + "omb5.7-osu_mbw_mr+multi_lat-a100-gpu-1pair.txt", HERE, {}, "pass", ""),
    (OSU + "recon-osu_latency-rocm-hump.txt", HERE, {}, "pass", ""),
    (OSU + "omb5.7-osu_multi_lat-a100-gpu.txt", OSU + "omb5.7-osu_multi_lat-host.txt", {}, "fail", "slower throughout"),
    (OSU + "omb5.8-allreduce-128nodes-eks.out", HERE, {}, "pass", ""),
    (OSU + "omb5.8-allreduce-aks-128.out", OSU + "omb5.8-allreduce-128nodes-eks.out", {}, "fail", "another path"),
    (OSU + "omb5.8-bw-aks-ib.out", "hdr-200g", {}, "fail", "2 sizes are slow (2 MiB to 4 MiB)"),
    (OSU + "omb5.8-bw-eks-cpu-efa.out", "efa-100g", {}, "pass", ""),
    (OSU + "omb5.8-latency-eks-cpu-efa.out", "efa-100g", {}, "fail", "only large messages are slow"),
    (OSU + "omb5.8-latency-aks-ib.out", OSU + "omb5.8-latency-eks-cpu-efa.out", {}, "fail", "5 sizes are slow (2 KiB to 64 KiB)"),
    (OSU + "omb7.5-bw-validation-cxi.txt", "slingshot-200g", {}, "pass", ""),
    (OSU + "omb7.5-bw-validation-no-cxi.txt", "slingshot-200g", {}, "fail", "another path"),
    (OSU + "omb7.5-bw-validation-no-cxi.txt", OSU + "omb7.5-bw-validation-cxi.txt", {}, "fail", "another path"),
    (OSU + "omb6.2-bw-no-cxi.txt", OSU + "omb7.5-bw-validation-cxi.txt", {}, "fail", "another path"),
    (OSU + "omb7.5-alltoall-cuda-no-cxi.txt", OSU + "omb7.5-alltoall-cxi.txt", {}, "fail", "another path"),
    (OSU + "omb7.5-alltoall-cxi.txt", GH200, {"ranks": 8}, "pass", ""),
    (OSU + "omb7.5-alltoall-cuda-no-cxi.txt", GH200, {"ranks": 8}, "fail", "another path"),
    (OSU + "omb7.5-bw-mpich-HH-intranode.txt", HERE, {}, "pass", ""),
    (OSU + "omb7.5-iallreduce-cuda-segfault.txt", GH200, {}, FormatError, "segmentation fault"),
    (OSU + "ucx-proto-info-osu_bw.txt", GH200, {}, FormatError, "no row"),
    (OSU + "ucx_perftest-put_bw-jitter.txt", "roce-100g", {}, "fail", "slower"),
    (OSU + "ucx_perftest-put_bw-cuda.txt", "roce-100g", {}, "pass", ""),
    (PERFTEST + "ib_write_bw-D-duration-mode-peak0.log", "roce-100g", {}, "pass", ""),
    (PERFTEST + "ib_write_bw-4qp-gbits-rdmacm.log", "hdr-200g", {}, "fail", "slower: 1.57"),
    (PERFTEST + "ib_write_bw-4qp-gbits-rdmacm.log", "roce-100g", {}, "fail", "impossible"),
    (PERFTEST + "ib_write_bw-a-cpufreq-warnings-hdr200.log", "hdr-200g", {}, "pass", ""),
    (PERFTEST + "ib_write_lat-a-cpufreq-warnings.log", "hdr-200g", {}, "fail", "slower"),
    (PERFTEST + "sb-ib_write_bw-loopback-8M.log", "hdr-200g", {}, "fail", "impossible"),
    (PERFTEST + "ib_send_bw-a-UD-stops-at-mtu.log", "hdr-200g", {}, "pass", ""),
]  # fmt: skip
"""What the collection says of its logs, as far as a check can be asked about it."""


def machine_of(name, file):
    if name == HERE:
        name = file
    if "/" not in name:
        own = MACHINES / f"{name}.toml"
        return machines.find(str(own) if own.exists() else name)
    _, fits = fitting.fit_files([str(FIELD / name)])
    return fitting.machine_of(fitting.to_save(fits, None), "saved")


@pytest.mark.skipif(not FIELD.is_dir(), reason="the collection of field files is not beside this checkout")
@pytest.mark.parametrize(
    ("file", "machine", "options", "expected", "told"), STATEMENTS, ids=[f"{s[0]}-{s[1]}" for s in STATEMENTS]
)
def test_real_logs(file, machine, options, expected, told):
    terms = Terms(machine_of(machine, file), **options)
    if expected is FormatError:
        with pytest.raises(FormatError, match=f"(?is){told}"):
            checking.check(str(FIELD / file), terms)
        return
    _, tables = checking.check(str(FIELD / file), terms)
    found = {table.outcome for table in tables}
    detail = [(table.basis, table.hint, [v.reason for v in table.verdicts if v.reason][:3]) for table in tables[:3]]
    assert found == {expected}, detail
    assert any(told in reasons(table) for table in tables), detail


@pytest.mark.skipif(not FIELD.is_dir(), reason="the collection of field files is not beside this checkout")
def test_of_many_pairs_each_is_held_against_one(tmp_path):
    """28 latency and 28 bandwidth tables of one cluster against the first of each."""
    file = FIELD / "osu" / "omb5.8-combinations-many-tables.out"
    _, fits = fitting.fit_files([str(file)])
    machine = fitting.machine_of([fits[0], fits[1]], "saved")
    _, tables = checking.check(str(file), Terms(machine))
    assert len(tables) == 56
    assert (tables[0].outcome, tables[1].outcome) == ("pass", "pass")
    healthy = np.mean([table.outcome == "pass" for table in tables])
    assert healthy > 0.5


@pytest.mark.skipif(not FIELD.is_dir(), reason="the collection of field files is not beside this checkout")
def test_repeats_that_are_not_alike_show():
    """Three all-gathers in a row over sockets: averages 1.278, 0.670 and 1.546 GB/s."""
    file = FIELD / "nccl-tests" / "ebpf-allgather-3reps-default.txt"
    _, fits = fitting.fit_files([str(file)])
    _, tables = checking.check(str(file), Terms(fitting.machine_of(fits[0], "first")))
    assert [table.outcome for table in tables] == ["pass", "fail", "pass"]


def test_a_log_that_says_that_a_run_died_does_not_pass(tmp_path, saved):
    log = tmp_path / "died.log"
    healthy = nccl(line(SIZES, 2e-5, 4e10), 8)
    log.write_text(healthy)
    machine = saved(healthy)
    assert {table.outcome for table in checking.check(str(log), Terms(machine))[1]} == {"pass"}
    log.write_text(healthy + "node1: Test CUDA failure common.cu:1 'uncorrectable ECC error encountered'\n")
    (table,) = checking.check(str(log), Terms(machine))[1]
    assert table.outcome == "fail"
    assert "ECC" in table.faults[0]
