"""NCCL's figures beside a log's and a measurement; the command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from hopline.cli.nccl import nccl_command
from hopline.errors import HoplineError, InputError, UnknownNameError
from hopline.jobs import nccl, nccl_beside, nccl_logs
from hopline.jobs.comparing.told import Stated
from hopline.jobs.nccl import Question
from hopline.jobs.nccl_beside import Apart
from hopline.jobs.nccl_told import Asked
from hopline.model.nccl import buffers
from hopline.model.nccl.forcing import Forced
from hopline.records.nccl_names import ALGORITHMS, FUNCTIONS, PROTOCOLS
from hopline.records.table import Table
from hopline.show import nccl as nccl_pages

HEAD = "node1:11:12 [0] NCCL INFO "
ASKED = Question("all_reduce", 16, 2, "hopper")
STATED = Asked(Stated(16, 2, "hopper"))


def printed(cells):
    """The tuning table as NCCL prints it."""
    lines = []
    for first in range(0, len(ALGORITHMS), 3):
        names = ALGORITHMS[first : first + 3]
        lines.append(HEAD + "  Algorithm   |" + "".join(f" {'':14}   {name:>14}   {'':14} |" for name in names))
        lines.append(HEAD + "  Protocol    |" + "".join(f" {p:>14} |" for p in PROTOCOLS * 3))
        for function in FUNCTIONS:
            row = [cells[function, a, p] for a in names for p in PROTOCOLS]
            text = "".join(f"{c.latency * 1e6:8.1f}/{c.bandwidth / 1e9:6.1f} |" for c in row)
            lines.append(HEAD + f"{function:>13} |" + text)
    return lines


def written(tmp_path, *lines):
    path = tmp_path / "nccl.log"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_our_table_printed_and_read_is_ours(tmp_path):
    path = written(tmp_path, *printed(nccl.answer(ASKED).cells))
    found = nccl_logs.explain(path, STATED)
    assert len(found.apart) > 30
    assert max(abs(pair.error) for pair in found.apart if pair.ours > 1e9 or pair.ours < 1) < 0.05
    assert not any(pair.parts for pair in found.apart)


def test_what_parts_is_told(tmp_path):
    from dataclasses import replace

    cells = dict(nccl.answer(ASKED).cells)
    key = ("AllReduce", "Ring", "Simple")
    cells[key] = replace(cells[key], bandwidth=cells[key].bandwidth * 0.8)
    found = nccl_logs.explain(written(tmp_path, *printed(cells)), STATED)
    (only,) = [pair for pair in found.apart if pair.parts]
    assert only.what == "AllReduce Ring Simple bandwidth"
    assert only.error == pytest.approx(0.25, abs=1e-3)


def test_calls_beside_the_table_that_led_to_them(tmp_path):
    table = printed(nccl.answer(ASKED).cells)
    own = nccl.answer(Question("all_reduce", 16, 2, "hopper", sizes=(1024.0, 1e9)))
    good = f"AllReduce: 1024 Bytes -> Algo {own.chosen[0][0].upper()} proto {own.chosen[0][1].upper()} channel{{Lo..Hi}}={{0..0}}"
    wrong = "AllReduce: 1000000000 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..7}"
    found = nccl_logs.explain(written(tmp_path, *table, HEAD + good, HEAD + good, HEAD + wrong), STATED)
    assert found.basis == "the log's own table"
    assert [(one.times, one.same) for one in found.chosen] == [(2, True), (1, False)]
    assert found.chosen[1].ours == own.chosen[1]


def test_without_a_table_or_question_nothing_is_held_against_calls(tmp_path):
    found = nccl_logs.explain(
        written(tmp_path, HEAD + "AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}")
    )
    assert (found.basis, found.chosen[0].ours, found.chosen[0].same) == ("", None, False)


def test_graph_lines_of_a_log_replace_what_is_assumed(tmp_path):
    graphs = [
        "Pattern 4, crossNic 0, nChannels 4, bw 20.000000/20.000000, type NVL/PXB, sameChannels 1",
        "Pattern 1, crossNic 0, nChannels 4, bw 24.000000/12.000000, type NVL/PXB, sameChannels 1",
        "Pattern 3, crossNic 0, nChannels 2, bw 11.000000/11.000000, type NVL/PXB, sameChannels 1",
    ]
    found = nccl_logs.explain(written(tmp_path, *(HEAD + text for text in graphs)), STATED)
    ours = found.answer.job.graphs
    assert (ours["Ring"].channels, ours["Ring"].within) == (4, 20.0)
    assert (ours["Tree"].within, ours["Tree"].between, ours["Tree"].plain_tree) == (24.0, 12.0, False)
    assert (ours["CollNetChain"].channels, ours["PAT"].channels) == (2, 4)
    assert "GRAPH lines" in found.answer.premises[0]


def test_expected_and_measured_of_a_torn_row(tmp_path):
    row = "  256   64  float  sum  -1  60.00  0.00  0.00  0 " + HEAD + "256 Bytes -> Algo 0 proto 0 time 26.0"
    (pair,) = nccl_logs.explain(written(tmp_path, row)).waits
    assert (pair.ours, pair.other, pair.parts) == (pytest.approx(26e-6), pytest.approx(60e-6), True)


def test_beside_a_measured_table():
    own = nccl.answer(Question("all_gather", 8, sizes=(1024.0, 1e6, 1e8)))
    columns = {"size": own.sizes, "time": own.time * np.array([1.0, 1.1, 2.0])}
    measured = Table("nccl-tests", "all_gather", "time", columns, 3, 8, 1)
    found, pairs = nccl_beside.beside_measured(Question("all_gather", 8), measured)
    assert found.function == "AllGather"
    assert [pair.parts for pair in pairs] == [False, False, True]
    assert pairs[2].error == pytest.approx(-0.5)
    with pytest.raises(InputError, match="stream"):
        nccl_beside.beside_measured(Question("all_reduce", 8), Table("osu", "bw", "gap", columns, 3, 2, 1))
    with pytest.raises(InputError, match="the table is of 4 ranks"):
        nccl_beside.beside_measured(
            Question("all_gather", 8), Table("nccl-tests", "all_gather", "time", columns, 3, 4, 1)
        )
    parts, _ = nccl_beside.beside_measured(
        Question("all_gather", 8), Table("osu", "allgather", "time", columns, 3, 8, 1)
    )
    assert parts.sizes == pytest.approx(8 * own.sizes)


def test_a_log_of_a_version_that_is_not_known_says_so(tmp_path):
    path = written(tmp_path, HEAD + "NCCL version 2.9.9+cuda11.2", *printed(nccl.answer(ASKED).cells))
    assert "2.9.9+cuda11.2, whose tuner is not known" in " ".join(nccl_logs.explain(path, STATED).findings)
    path = written(tmp_path, HEAD + "NCCL version 2.29.7+cuda12.9", *printed(nccl.answer(ASKED).cells))
    assert nccl_logs.explain(path, STATED).answer.job.version == "2.29.7"


def test_apart_counts_from_15_per_cent():
    assert not Apart("x", 1.149, 1.0).parts
    assert Apart("x", 1.151, 1.0).parts
    assert Apart("x", 1.0, 0.0).parts
    assert not Apart("x", 0.0, 0.0).parts


def test_findings_are_of_what_the_log_says(tmp_path):
    lines = [
        "Using network Socket", "NCCL_MAX_NCHANNELS set by environment to 2.", "TUNER/Plugin: Using Mine (v5)",
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
    ]  # fmt: skip
    said = " ".join(nccl_logs.explain(written(tmp_path, *(HEAD + line for line in lines))).findings)
    for words in ("plain sockets (1 connection)", "NCCL_MAX_NCHANNELS=2 caps", "outside tuner was loaded (Mine v5)"):
        assert words in said
    assert "GPUDirect" not in said


def test_a_chunk_must_fit_in_a_slot():
    assert buffers.most_chunk() == 512 << 10
    assert buffers.checked_chunk(512 << 10) == 512 << 10
    with pytest.raises(InputError, match="expected at most 524288"):
        buffers.checked_chunk((512 << 10) + 1)
    assert buffers.checked_chunk(1 << 20, 8 << 20) == 1 << 20


def test_unknown_collectives_and_forced_ways():
    with pytest.raises(UnknownNameError, match="alltoall"):
        nccl.answer(Question("alltoall", 8))
    with pytest.raises(InputError, match="hold equally many"):
        nccl.answer(Question("all_reduce", 7, 2))
    found = nccl.answer(Question("all_reduce", 8, forced=Forced("ring", "simple"), sizes=(64.0,)))
    assert found.free is not None
    assert found.time[0] > found.free[0]


def run(*words):
    return CliRunner().invoke(nccl_command, [str(word) for word in words])


def test_the_command_answers_in_text_and_json(tmp_path):
    text = run("all_reduce", "-n", 16, "--nodes", 2, "--arch", "hopper", "--sizes", "1KiB,1GiB")
    assert text.exit_code == 0
    assert "Tree LL" in text.output
    assert "premise: assumed of the machine" in text.output
    data = json.loads(run("all_reduce", "-n", 128, "--nodes", 16, "--arch", "hopper", "--channels", 16, "--within", "24GB/s",
                          "--algo", "ring,tree", "--proto", "simple", "--sizes", "4GiB", "--json").output)  # fmt: skip
    assert data["rows"][0]["algorithm"] == "Ring"
    assert [change["size"] for change in data["crossovers"]] == [3017897566]
    assert not any("assumed" in premise for premise in data["premises"])
    picture = tmp_path / "x.svg"
    assert run("all_gather", "-n", 8, "--arch", "ampere", "--plot", picture).exit_code == 0
    assert picture.read_text().startswith("<svg")


def test_the_command_explains_a_log(tmp_path):
    path = written(tmp_path, HEAD + "NCCL version 2.29.7+cuda12.9", *printed(nccl.answer(ASKED).cells))
    text = run(path, "-n", 16, "--nodes", 2, "--arch", "hopper")
    assert text.exit_code == 0
    assert "\n0 of 38 part by more than 15 %" in text.output
    data = json.loads(run(path, "--json").output)
    assert data["version"] == "2.29.7+cuda12.9"
    assert len(data["tables"][0]) == 105
    assert data["ranks"] is None


def test_the_command_refuses_in_a_line():
    for words in (("all_reduce", "-n", 8, "--arch", "hopper", "--nccl", "2.12.1"), ("gather_all", "-n", 8, "--arch", "hopper"),
                  ("all_reduce", "-n", 8, "--arch", "hopper", "--algo", "rings"), ("./no/such.log",), ("all_reduce", "-n", 8)):  # fmt: skip
        failed = run(*words)
        assert isinstance(failed.exception, HoplineError), words
        assert "\n" not in str(failed.exception)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"channels": 8}, "--channels: expected --within, too"),
        ({"within": 40e9}, "--within: expected --channels, too"),
        ({"between": 40e9}, "--between: expected --channels and --within, too"),
        ({"channels": 8, "within": 40e9, "nic": 50e9}, "--nic: channels are worked out from it"),
    ],
)
def test_a_part_of_what_the_search_finds_is_not_stated_alone(stated, said):
    with pytest.raises(InputError, match=said):
        nccl.answer(replace(ASKED, **stated))


def test_figures_that_one_side_lacks_are_in_no_mean():
    pairs = [Apart("a", 1.1, 1.0), Apart("b", 2.0, 0.0), Apart("c", 0.0, 3.0)]
    told = nccl_pages.beside("t", pairs)[-1].text
    assert "mean 10.0%" in told
    assert "2 stand in one of the two only" in told


def test_a_table_of_other_hosts_is_refused():
    table = Table("nccl-tests", "all_reduce", "time", {"size": np.array([1e3]), "time": np.array([1e-5])}, 1, 16,
                  facts={"hosts": 4})  # fmt: skip
    with pytest.raises(InputError, match="4 hosts, and --nodes says 2"):
        nccl_beside.beside_measured(ASKED, table)
