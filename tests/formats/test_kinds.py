"""Files are told apart by what they hold."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from hopline.errors import FormatError
from hopline.formats.kinds import FORMATS, recognise

LOGS = Path(__file__).parents[1] / "data" / "logs"

NOT_READ = {
    "nccl-tests-json": '{"version":3,"start_time":"2026-01-01 00:00:00","args":["x"],"nccl_version":22907}',
    "ucx-perftest": "|    Stage     | # iterations | 50.0%ile | average |\n[thread 0]   44  0.1 2 3 4 5 6 7\n",
    "ucc-perftest": "Collective:             Allreduce\nMemory type:            host\n",
    "netpipe": "Now starting the main loop\n  0:       1 bytes  32103 times -->      4.58 Mbps in       1.67 usec\n",
    "perftest": " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 2 5000 1 2 3\n",
    "nccom-test": "   size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)\n",
}


def kind(tmp_path, text: str) -> str:
    (tmp_path / "nccl-tests-osu.json").write_text(text)
    return recognise(str(tmp_path / "nccl-tests-osu.json")).name


@pytest.mark.parametrize("log", sorted(LOGS.iterdir()), ids=lambda log: log.name)
def test_the_logs_here_are_recognised(log):
    assert recognise(str(log)).name == ("osu" if log.name.startswith("osu") else "nccl-tests")


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


@pytest.mark.parametrize("name", sorted(NOT_READ))
def test_kinds_that_are_not_read_yet_are_named(tmp_path, name):
    with pytest.raises(FormatError, match=r"does not read yet; it reads .*nccl-tests.*OSU") as error:
        kind(tmp_path, NOT_READ[name])
    assert FORMATS[name].title in str(error.value)
    assert "\n" not in str(error.value)


def test_every_kind_without_a_reader_has_an_example_here():
    assert set(NOT_READ) == {name for name, row in FORMATS.items() if row.reader is None}


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
        if row.reader and row.name != "samples":
            module, _, function = row.reader.partition(":")
            assert find_spec(module) is not None
            assert function == "read"
