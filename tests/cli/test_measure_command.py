"""``hopline measure`` as it is typed, with samples made up: which options go with what is measured, and its picture."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from typed import hopline

from hopline.cli import measure_plan
from hopline.cli.measure import measure
from hopline.jobs import measuring, probing
from hopline.records.sample import Sample


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture(autouse=True)
def taken(monkeypatch):
    """Ends each measurement with samples made up; holds the plans."""
    plans = []

    def fake(plan, file, watch):
        plans.append(plan)
        measured = measuring.Measured()
        for kind in plan.chosen:
            for size in plan.sizes_of(kind):
                for pair in permutations(range(plan.ranks), 2) if kind.paired else [None]:
                    time, hosts = 2e-6 + size / 1e10, ("h", "h") if pair else ()
                    one = (kind.benchmark, "mpi", "h", 2, size, (time, time * 1.01, time * 0.99))
                    measured.add(Sample(*one, 2e-8, "2026-01-01", pair=pair, world=plan.ranks, hosts=hosts))
        return measured

    monkeypatch.setattr(measuring, "measure", fake)
    return plans


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--what foo", "known are all, barrier, bibw, bw, copy, executor, latency, mbw, pairs, reduce"),
        ("--what executr", "did you mean 'executor'?"),
        ("--what executor,foo", "unknown measurement 'foo'"),
        (
            "--what barrier --sizes 1KiB",
            "--sizes: nothing of --what barrier has messages of a size; it is for latency, bw, ",
        ),
        ("--what latency --window 8", "--window: nothing of --what latency streams; it is for bw, bibw, mbw, pairs"),
        (
            "--what bw --ranks 4",
            "--ranks: nothing of --what bw takes another number of ranks than its own; it is for mbw, ",
        ),
        (
            "--what bw,barrier --plot x.svg",
            "--plot: nothing of --what bw,barrier has a picture; it is for latency, pairs",
        ),
        ("--what bw --save x", "--save: nothing of --what bw makes a machine; it is for latency"),
        ("--sizes 8B,1KiB --save x", "--save: no machine is fitted to 2 sizes: expected 3 or more in --sizes"),
        ("--what pairs --ranks 2 --plot x.svg", "--plot: pairs of 2 ranks have no picture: expected 3 ranks or more"),
        ("--what executor --plot x.svg", "leave --plot out"),
    ],
)
def test_an_option_that_means_nothing_is_refused_before_anything_is_measured(capsys, taken, words, said):
    code, out, err = hopline(capsys, "measure", *words.split())
    assert (code, out, taken) == (2, "", [])
    assert said in err


def test_every_option_is_of_all_kinds_or_of_some():
    general = {"what", "seconds", "transport", "out", "as_json"}
    some = {{"name": "--save"}.get(one.name, f"--{one.name}") for one in measure.params if one.name not in general}
    assert some == set(measure_plan._OF)


@pytest.mark.parametrize(
    "words",
    [
        "--what barrier,latency --sizes 8B,16B,32B --ranks 4 --plot x.svg",
        "--what all --window 4 --ranks 4 --sizes 8B,1KiB",
    ],
)
def test_an_option_of_one_of_several_kinds_is_taken(capsys, taken, words):
    assert hopline(capsys, "measure", *words.split())[0] == 0
    assert len(taken) == 1


@pytest.mark.parametrize("what", ["latency", "executor"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--out nodir/x.jsonl", "there is no folder nodir"),
        ("--out /proc/x.jsonl", "/proc/x.jsonl cannot be written: "),
        ("--save nodir/x.toml", "there is no folder nodir"),
        ("--save /proc/x.toml", "/proc/x.toml cannot be written: "),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_anything_is_measured(capsys, taken, monkeypatch, what, words, said):
    monkeypatch.setattr(probing, "measure", lambda *_: pytest.fail("measured"))
    code, out, err = hopline(capsys, "measure", "--what", what, *words.split())
    assert (code, out, taken) == (2, "", [])
    assert said in err


def test_an_earlier_picture_is_kept_and_said_to_be(capsys, place):
    first = ("measure", "--sizes", "8B,1KiB,64KiB", "--plot", "x.svg")
    assert hopline(capsys, *first)[0] == 0
    before = (place / "x.svg").read_bytes()
    _, out, _ = hopline(capsys, "measure", "--sizes", "8B,1KiB,1MiB", "--plot", "x.svg")
    (kept,) = place.glob("*.bak")
    assert kept.read_bytes() == before
    assert f"Picture: x.svg (what was there is now {kept.name})" in out


def test_sizes_that_a_kind_cannot_take_are_told(capsys):
    _, out, _ = hopline(capsys, "measure", "--what", "latency,bw,reduce", "--sizes", "0B,6B,1KiB")
    assert "bw is not measured at 0 B: its sizes are multiples of 1 B above 0." in out
    assert "reduce is not measured at 0 B, 6 B: its sizes are multiples of 4 B above 0." in out
    assert "not measured at" not in hopline(capsys, "measure", "--what", "latency,bw,reduce")[1]


def test_latencies_without_a_fit_are_drawn_as_they_are(capsys, place):
    code, out, _ = hopline(capsys, "measure", "--sizes", "8B,1KiB", "--plot", "x.svg")
    assert code == 0
    assert "Picture: x.svg" in out
    assert "Nothing to draw" not in out
    assert "no fit, 2 distinct sizes are too few" in (place / "x.svg").read_text()


def test_pairs_are_drawn_or_the_reason_is_told(capsys, place, monkeypatch):
    assert "Picture: x.svg" in hopline(capsys, "measure", "--what", "pairs", "--ranks", 4, "--plot", "x.svg")[1]
    monkeypatch.setattr("hopline.jobs.measured_pairs.FEWEST_RANKS", 9)
    answer = hopline(capsys, "measure", "--what", "pairs", "--ranks", 4, "--plot", "y.svg", "--json")[1]
    assert json.loads(answer)["notes"] == ["No picture: 4 ranks are too few to tell a sick one."]
