"""``hopline run`` as it is typed, on ranks that are threads."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopline.cli.run import run
from hopline.errors import DataMismatchError, HoplineError, RunError
from hopline.jobs import executing, schedules
from hopline.run import mpirun
from hopline.run.mpi import Started
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.shape import Shape

sys.path.insert(0, str(Path(__file__).parent.parent / "run"))
from rooms import hold


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    for name in ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)


def test_sizes_are_asked_for_by_either_word():
    assert [one.opts for one in run.params if one.name == "size"] == [["--size", "--sizes"]]


@pytest.fixture
def room(monkeypatch):
    """All ranks in this process."""
    options = {}

    @contextmanager
    def executed(jobs, transport, ranks):
        def events():
            yield Started(("h",) * ranks, options.get("crowded", ()))
            yield from hold(jobs, ranks, **{k: v for k, v in options.items() if k != "crowded"}).events

        yield events()

    monkeypatch.setattr(executing, "executing", executed)
    return options


def typed(*words):
    return CliRunner().invoke(run, [str(word) for word in words])


def test_the_page_says_how_long_and_how_sure(room):
    done = typed("all_reduce-ring", "-n", "3", "--size", "3KiB", "--repeats", "4")
    assert done.exit_code == 0, done.output
    for words in (
        "all_reduce-ring, 3 ranks over mpi on ", "3 KiB", "5 % to 95 %", "clocks agree within", "cost of an operation",
        "9 KiB", "byte for byte", "On the critical path of the middle repeat", "Samples: ",
    ):  # fmt: skip
        assert words in done.output
    assert "broken" not in done.output


def test_the_answer_in_si_holds_everything(room):
    done = typed("all_reduce-ring", "-n", "3", "--size", "3KiB,1KiB", "--repeats", "4", "--json")
    answer = json.loads(done.stdout)
    first, second = answer["runs"]
    assert (first["size"], second["size"]) == (3072, 1024)
    assert len(first["times"]) == len(first["late_s"]) == 4
    assert first["checked_bytes"] == 9216
    assert set(first["mean_s"]) == {"send", "recv", "reduce"}
    assert first["clock"]["error"] > 0
    assert len(first["finish_ps"]) == 3
    assert answer["premises"] == [{"text": "ranks <= cores", "status": "holds"}]


def test_more_ranks_than_cores_are_a_broken_premise(room):
    room["crowded"] = (("h", 3, 2),)
    done = typed("all_reduce-ring", "-n", "3", "--size", "1KiB", "--repeats", "2")
    assert "broken: ranks <= cores: 3 ranks on 2 cores of h" in done.output
    assert "middle half" in done.output
    assert "5 % to 95 %" in done.output
    answer = json.loads(typed("all_reduce-ring", "-n", "3", "--size", "1KiB", "--repeats", "2", "--json").stdout)
    assert answer["premises"] == [{"text": "ranks <= cores", "status": "broken"}]
    assert answer["crowded"] == [{"host": "h", "ranks": 3, "cores": 2}]
    assert len(answer["runs"][0]["quartiles_s"]) == 2


def test_a_wrong_byte_is_an_error_and_no_answer(room):
    room["corrupt"] = lambda rank, message, data: data.__setitem__(0, data[0] ^ 1) if message.peer == 2 else None
    done = typed("all_reduce-ring", "-n", "3", "--size", "1KiB", "--repeats", "2")
    assert isinstance(done.exception, DataMismatchError)
    assert "holds a wrong byte: buffer data, offset 0" in str(done.exception)
    assert "median" not in done.output


def test_a_trace_and_a_picture_are_of_the_middle_repeat(room, tmp_path):
    trace, plot = tmp_path / "t.json", tmp_path / "p.svg"
    done = typed("all_reduce-ring", "-n", "2", "--size", "1KiB", "--repeats", "3", "--trace", trace, "--plot", plot)
    assert done.exit_code == 0, done.output
    slices = [
        event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X" and event["cat"] != "path"
    ]
    assert len(slices) == 10
    assert "<svg" in plot.read_text()
    before = trace.read_bytes(), plot.read_bytes()
    again = typed("all_reduce-ring", "-n", "2", "--size", "1KiB", "--repeats", "3", "--trace", trace, "--plot", plot)
    assert again.exit_code == 0
    kept = {file.name.partition(".")[0]: file for file in tmp_path.glob("*.bak")}
    assert (kept["t"].read_bytes(), kept["p"].read_bytes()) == before
    for file in kept.values():
        assert f"(what was there is now {file.name})" in again.output


@pytest.mark.parametrize("option", ["--trace", "--plot"])
def test_nothing_can_be_shown_of_repeats_of_an_earlier_run(room, tmp_path, option):
    words = ("all_reduce-ring", "-n", "2", "--size", "1KiB", "--repeats", "3", "--out", tmp_path / "r.jsonl")
    assert typed(*words).exit_code == 0
    shown = tmp_path / {"--trace": "t.json", "--plot": "t.svg"}[option]
    again = typed(*words, option, shown)
    assert again.exit_code == 2
    assert f"{option}: shows a repeat of this run, and all 3 are in " in again.output
    assert not shown.exists()
    more = (*words[:-4], "--repeats", "4", *words[-2:])
    assert typed(*more, option, shown).exit_code == 0
    assert shown.exists()


def test_a_file_says_its_ranks_and_its_messages_are_verified(room, tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("src,dst,bytes\n0,1,1000\n1,2,500\n")
    done = typed(file, "--repeats", "2", "--json")
    assert done.exit_code == 0, done.output
    (one,) = json.loads(done.stdout)["runs"]
    assert one["ranks"] == 3
    assert one["checked_bytes"] == 1500
    assert "@" in one["benchmark"]


def test_sizes_of_a_file_say_what_they_count(room, tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("src,dst,bytes\n0,1,1000\n1,2,500\n")
    page = typed(file, "--repeats", "2").output
    assert "busiest rank sends" in page
    assert "busbw" not in page
    assert json.loads(typed(file, "--repeats", "2", "--json").stdout)["runs"][0]["size_is"] == "busiest rank sends"
    assert "busiest rank sends" not in typed("all_reduce-ring", "-n", "2", "--size", "1KiB", "--repeats", "2").output
    ring = tmp_path / "ring.xml"
    schedules.write(COLLECTIVES["all_reduce-ring"].build(Shape(2, 4096)), ring, None)
    page = typed(ring, "--size", "8KiB,16KiB", "--repeats", "2").output
    assert "note: 8 KiB is asked for: all_reduce-ring is made for 4 KiB" in page
    assert "note: 16 KiB is asked for" in page
    assert "\nbusiest rank sends 8 KiB\n" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--trace x.txt", "expected a name that ends in .json or .json.gz"),
        ("--trace nodir/x.json", "there is no folder nodir"),
        ("--out nodir/x.jsonl", "there is no folder nodir"),
        ("--plot nodir/x.svg", "there is no folder nodir"),
        ("--out /proc/x.jsonl", "/proc/x.jsonl cannot be written: "),
        ("--plot mine.svg", "exists and is no picture of hopline's"),
        ("--trace mine.json", "exists and is no trace of hopline's"),
        ("--out mine.json", "exists and is not a samples file of hopline"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_anything_runs(monkeypatch, tmp_path, words, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(executing, "executing", lambda *_: pytest.fail("ran"))
    for name in ("mine.svg", "mine.json"):
        (tmp_path / name).write_text("mine")
    done = typed("all_reduce-ring", "-n", "2", "--size", "1KiB", *words.split())
    assert isinstance(done.exception, HoplineError)
    assert said in str(done.exception)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.json", "mine.svg"]


def test_a_full_disk_still_prints_what_was_timed(room):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    done = typed("all_reduce-ring", "-n", "2", "--size", "1KiB", "--repeats", "2", "--out", "/dev/full")
    assert isinstance(done.exception, HoplineError)
    assert "No space left" in str(done.exception)
    assert "all_reduce-ring, 2 ranks" in done.output
    assert "Samples:" not in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("all_reduce-ring --size 1KiB", "needs -n"),
        ("all_reduce-ring -n 2", "needs --size"),
        ("all_reduce-ring -n 2 --size 1KiB,2KiB --trace t.json", "--trace: shows one size, and --size has 2"),
        ("barrier-dissemination -n 2 --size 1KiB", "--size: barrier-dissemination moves no bytes"),
        ("all_reduce-ring -n 2 --size 1KiB --chunks 3", "--chunks means nothing to all_reduce-ring"),
        ("all_reduce-ring -n 2 --size 1KiB --transport tcp", "'tcp' is not one of"),
        ("all_reduce-ring -n 2 --size 1KiB --repeats 0", "--repeats"),
    ],
)
def test_what_is_wrong_is_one_line(words, said):
    done = typed(*words.split())
    assert done.exit_code == 2
    assert said in done.output


def test_wrong_names_and_files_are_one_line(tmp_path):
    done = typed("all_reduce-rung", "-n", "2", "--size", "1KiB")
    assert "did you mean 'all_reduce-ring'" in str(done.exception)
    done = typed("all_reduce-ring", "-n", "400", "--size", "1KiB")
    assert "400 ranks: expected 1 to 256 that are started here" in str(done.exception)


@pytest.mark.parametrize(
    ("transport", "said"), [("mpi", "mpirun not found"), ("gloo", "torch not found"), ("nccl", "torch not found")]
)
def test_what_is_missing_is_one_line(monkeypatch, transport, said):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name == "mpi4py" else None)
    monkeypatch.setattr(mpirun, "_script_folders", lambda: iter(()))
    monkeypatch.setenv("PATH", "")
    done = typed("all_reduce-ring", "-n", "2", "--size", "1KiB", "--transport", transport)
    assert isinstance(done.exception, RunError)
    assert said in str(done.exception)
    assert "pip install 'hopline[" in str(done.exception)
    assert "\n" not in str(done.exception)


def test_ranks_but_the_first_say_nothing(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    for words in (("--help",), ("all_reduce-ring", "--size", "5kg"), ("all_reduce-ring", "--chunks", "x")):
        done = typed(*words)
        assert (done.exit_code, done.output) == (0, "")


def test_the_rank_that_torchrun_started_first_says_what_is_wrong(monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    done = typed("all_reduce-ring", "--size", "1KiB")
    assert "torchrun started these ranks: expected --transport gloo or nccl, not mpi" in str(done.exception)
