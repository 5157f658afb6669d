"""One rule for files that the user asks for: looked at before the work, and nothing that was there is lost."""

import os
from pathlib import Path

import pytest

from hopline.errors import HoplineError, OutputError
from hopline.formats import samples
from hopline.jobs import machines, outputs
from hopline.records.sample import Sample
from hopline.show import images

NAMES = {"trace": "t.json", "plot": "p.svg", "out": "o.jsonl", "save": "m.toml"}
KINDS = pytest.mark.parametrize("kind", NAMES)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    return tmp_path


@KINDS
def test_what_can_be_written_leaves_nothing_behind(kind, place):
    outputs.check(**{kind: Path(NAMES[kind])})
    assert list(place.iterdir()) == []


@KINDS
@pytest.mark.parametrize(
    ("folder", "said"),
    [("nowhere", "there is no folder nowhere"), ("/proc", "cannot be written: "), ("f", "there is no folder f")],
)
def test_where_nothing_can_be_written_is_refused(kind, folder, said, place):
    Path("f").touch()
    with pytest.raises(OutputError, match=said):
        outputs.check(**{kind: Path(folder, NAMES[kind])})
    assert [file.name for file in place.iterdir()] == ["f"]


@KINDS
def test_a_folder_and_a_name_too_long_are_refused(kind):
    os.mkdir(NAMES[kind])
    with pytest.raises(OutputError, match="is a folder: expected a file"):
        outputs.check(**{kind: Path(NAMES[kind])})
    with pytest.raises(OutputError, match="cannot be written: File name too long"):
        outputs.check(**{kind: Path("x" * 300 + NAMES[kind])})


@pytest.mark.parametrize("kind", ["trace", "plot", "out"])
def test_what_hopline_did_not_write_is_refused_and_left(kind):
    file = Path(NAMES[kind])
    file.write_text("mine\n")
    with pytest.raises(OutputError, match="exists and is n"):
        outputs.check(**{kind: file})
    assert file.read_text() == "mine\n"


def test_samples_are_gone_on_with_and_devices_are_left_to_writing():
    samples.append("o.jsonl", Sample("latency", "mpi", "h", 2, 8, (1e-6,)))
    outputs.check(out=Path("o.jsonl"), plot=None)
    outputs.check(out=Path("/dev/null"))


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("trace", "x.txt", "ends in .json or .json.gz"),
        ("plot", "x.pdf", "known are .html, .png, .svg"),
        ("trace", "json", "ends in"),
    ],
)
def test_a_wrong_ending_is_refused(kind, name, said):
    with pytest.raises(HoplineError, match=said):
        outputs.check(**{kind: Path(name)})


def test_each_output_has_a_file_of_its_own():
    with pytest.raises(OutputError, match="expected a file of its own for each output"):
        outputs.check(out=Path("x.json"), trace=Path("./x.json"))


def test_hoplines_own_folder_is_made_and_others_are_not(place):
    assert outputs.samples_file(Path("o.jsonl")) == Path("o.jsonl")
    assert outputs.machine_file("below/m.toml") == Path("below/m.toml")
    assert list(place.iterdir()) == []
    assert outputs.samples_file(None).parent.is_dir()
    assert outputs.machine_file(None) == machines.folder() / "local.toml"


def test_an_own_folder_that_cannot_be_made_is_told(monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", "/proc/nowhere")
    for find in (outputs.samples_file, outputs.machine_file):
        with pytest.raises(OutputError, match="cannot be made"):
            find(None)


def test_what_was_there_is_put_aside():
    Path("run.json.gz").write_text("before")
    kept = images.put_aside(Path("run.json.gz"))
    assert kept.read_text() == "before"
    assert not Path("run.json.gz").exists()
