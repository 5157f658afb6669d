"""Files are told apart by what they hold."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from hopline.errors import FormatError
from hopline.formats.kinds import FORMATS, recognise

LOGS = Path(__file__).parents[1] / "data" / "logs"

FIRST_LINES = {
    "nccl-tests-json": '{"version":3,"start_time":"2026-01-01 00:00:00","args":["x"],"nccl_version":22907}',
    "ucx-perftest": "|    Stage     | # iterations | 50.0%ile | average |\n[thread 0]   44  0.1 2 3 4 5 6 7\n",
    "ucc-perftest": "Collective:             Allreduce\nMemory type:            host\n",
    "netpipe": "Now starting the main loop\n  0:       1 bytes  32103 times -->      4.58 Mbps in       1.67 usec\n",
    "perftest": " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 2 5000 1 2 3\n",
    "perftest-json": '{\n"test_info": {\n"test": "Send_BW_Test"',
    "nccom-test": "   size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)\n",
    "nccom-test-json": '{\n    "results": [\n        {\n            "size(B)": 1024,',
}
KINDS = {
    "osu": "osu", "nccl-j": "nccl-tests-json", "nccl": "nccl-tests", "perftest-report": "perftest-json",
    "perftest": "perftest", "ucx": "ucx-perftest", "netpipe": "netpipe", "nccom-report": "nccom-test-json",
    "nccom": "nccom-test", "ucc": "ucc-perftest",
}  # fmt: skip
"""Start of a file's name here -> its kind; the first that fits counts."""


def kind(tmp_path, text: str) -> str:
    (tmp_path / "nccl-tests-osu.json").write_text(text)
    return recognise(str(tmp_path / "nccl-tests-osu.json")).name


@pytest.mark.parametrize("log", sorted(LOGS.iterdir()), ids=lambda log: log.name)
def test_the_logs_here_are_recognised(log):
    assert recognise(str(log)).name == next(kind for start, kind in KINDS.items() if log.name.startswith(start))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# nThread 1 nGpus 8 minBytes 1\n", "nccl-tests"),
        ("# nThreads: 1 nGpus: 1 nRanks: 1\n", "nccl-tests"),
        ("host: Test CUDA failure common.cu:1 'made up'\n", "nccl-tests"),
        ("  65536  16384  float  sum  -1  2.84  23.06  0.00  0  0.10  631.37  0.00  N/A\n", "nccl-tests"),
        ("0: # OSU MPI Latency Test v5.8\n", "osu"),
        ('{"hopline": "samples", "version": 1}\n{"size": 8}\n', "samples"),
        ('srun: noise\n  { "hopline" : "samples", "version": 1}\n{"size": 8}\n', "samples"),
        ("noise\n" * 100_000 + "# OSU MPI Latency Test v5.8\n", "osu"),
    ],
)
def test_content_decides(tmp_path, text, name):
    assert kind(tmp_path, text) == name


@pytest.mark.parametrize("name", sorted(FIRST_LINES))
def test_first_lines_tell(tmp_path, name):
    assert kind(tmp_path, FIRST_LINES[name]) == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("node-1\nnode-2\nSTART\n{}\n", r"no result, only host names \(2\)"),
        ("begin\nsrun: error: node1: task 0\n", "it says 'srun: error: node1: task 0'"),
        (" Couldn't get context for the device\n", 'it says "Couldn\'t get context for the device"'),
    ],
)
def test_a_file_without_a_table_says_what_it_holds(tmp_path, text, why):
    with pytest.raises(FormatError, match=why):
        kind(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "some words\n",
        "size,time\n8,1\n",
        '{"hopline": "machine"}\n',
        'x {"hopline": "samples"}\n',
        "[" * 3000,
        "{\n",
        "1 2 3 4\n",
    ],
)
def test_unknown_content_lists_what_is_known(tmp_path, text):
    with pytest.raises(FormatError, match=r"none of the logs .* OSU .* NetPIPE"):
        kind(tmp_path, text)


def test_readers_are_names_of_modules_that_exist():
    for row in FORMATS.values():
        if row.name != "samples":
            module, _, function = row.reader.partition(":")
            assert find_spec(module) is not None
            assert function in ("read", "read_json")
