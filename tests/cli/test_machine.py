"""hopline machine: what a file says, rates that it lacks, and saving what was made of it."""

import json
from pathlib import Path

import pytest
from typed import hopline

MATRIX = """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\t0-7\t0
GPU1\tNV4\t X \t0-7\t0
"""


@pytest.fixture
def matrix(tmp_path):
    file = tmp_path / "matrix.txt"
    file.write_text(MATRIX)
    return str(file)


def test_a_preset_is_shown_with_a_next_step(capsys):
    code, out, _ = hopline(capsys, "machine", "dgx-a100")
    assert code == 0
    assert "Try: hopline p2p --size 1MiB --machine dgx-a100" in out


def test_a_missing_rate_is_named_and_given(capsys, matrix, tmp_path):
    code, out, _ = hopline(capsys, "machine", matrix)
    assert code == 0
    assert "Before it is a machine" in out
    file = str(tmp_path / "mine.toml")
    code, out, _ = hopline(capsys, "machine", matrix, "--rate", "NV=25GB/s", "--save", file)
    assert code == 0, out
    code, out, _ = hopline(capsys, "machine", file, "--json")
    links = json.loads(out)["links"]
    assert [link["bandwidth"] for link in links.values()] == [100e9]


def test_saving_needs_all_rates_and_loses_nothing(capsys, matrix, tmp_path):
    file = tmp_path / "mine.toml"
    code, _, err = hopline(capsys, "machine", matrix, "--save", str(file))
    assert code == 2
    assert "--rate" in err
    file.write_text("kept")
    code, _, err = hopline(capsys, "machine", matrix, "--rate", "NV=25GB/s", "--save", str(file))
    assert (code, file.read_text()) == (2, "kept")
    assert "exists" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing-of-the-kind"], "machine"),
        (["dgx-a100", "--rate", "NV=25GB/s"], "this machine has its own"),
        (["dgx-a100", "--replace"], "--replace needs --save"),
        (["dgx-a100", "--order", "cyclic"], "--order needs --nodes"),
    ],
)
def test_refusals(capsys, arguments, said):
    code, _, err = hopline(capsys, "machine", *arguments)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("rate", ["NV", "NV=", "NV=25", "NV5=25GB/s", "=25GB/s"])
def test_bad_rates(capsys, matrix, rate):
    code, _, err = hopline(capsys, "machine", matrix, "--rate", rate, "--save", "never.toml")
    assert code == 2
    assert err.count("\n") == 1
    assert not Path("never.toml").exists()


def test_the_picture_is_written(capsys, tmp_path):
    file = tmp_path / "machine.svg"
    code, out, _ = hopline(capsys, "machine", "dgx-a100", "--plot", str(file))
    assert code == 0
    assert f"Picture: {file}" in out
    assert "h0.nvswitch" in file.read_text()


def test_latencies_are_given_or_told_to_be_missing(capsys, matrix, tmp_path):
    code, out, _ = hopline(capsys, "machine", matrix, "--rate", "NV=25GB/s")
    assert "Give --latency" in out
    file = str(tmp_path / "timed.toml")
    code, out, _ = hopline(capsys, "machine", matrix, "--rate", "NV=25GB/s", "--latency", "0.7us", "--save", file)
    assert code == 0
    assert "Give --latency" not in out
    code, out, _ = hopline(capsys, "machine", file, "--json")
    assert [link["delay"] for link in json.loads(out)["links"].values()] == [0.7e-6]
