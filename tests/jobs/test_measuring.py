"""What becomes of a run's events, with events made up in place of ranks."""

import contextlib
import itertools
import random
import signal
from dataclasses import replace

import pytest

from hopline.errors import FitError, OutputError, RunError
from hopline.formats import samples as samples_file
from hopline.jobs import demonstration, machines, measured_pairs, measuring
from hopline.records.sample import Sample
from hopline.run.mpi import Progress
from hopline.run.plan import Plan
from hopline.show import measuring as pages
from hopline.show.document import plain

PLAN = Plan(sizes=(8, 1024, 65536, 1 << 20), seconds=1.0)


def sample(size, *times, host="h"):
    return Sample("latency", "mpi", host, 2, size, times or (1e-6 + size / 1e10,), clock=2e-8, started="2026-01-01")


def progress(size, turn=1):
    return Progress(size, 3, 1, turn, 4, 0.5)


class Given(list):
    """Events, and what was handed to the run as measured earlier."""

    earlier = None


@pytest.fixture
def events(monkeypatch):
    """A list to put events and exceptions into: what the next run gives."""
    given = Given()

    @contextlib.contextmanager
    def fake(plan, earlier):
        given.earlier = earlier

        def stream():
            for event in given:
                if isinstance(event, BaseException):
                    raise event
                yield event

        yield stream()

    monkeypatch.setattr(measuring, "measuring", fake)
    return given


def test_samples_are_kept_added_and_watched(events, tmp_path):
    events += [progress(8), sample(1024, 3e-6), sample(8, 1e-6, 2e-6), progress(8, 2), sample(8, 3e-6, 4e-6, 5e-6)]
    seen = []
    measured = measuring.measure(PLAN, tmp_path / "new" / "s.jsonl", seen.append)
    assert seen == events
    assert [(s.size, s.times) for s in measured.samples] == [(8, (1e-6, 2e-6, 3e-6, 4e-6, 5e-6)), (1024, (3e-6,))]
    assert not measured.interrupted
    assert [(s.size, len(s.times)) for s in samples_file.load(str(tmp_path / "new" / "s.jsonl"))] == [(8, 5), (1024, 1)]


def test_ctrl_c_keeps_what_was_measured(events, tmp_path):
    events += [sample(8), sample(1024), KeyboardInterrupt()]
    measured = measuring.measure(PLAN, tmp_path / "s.jsonl", lambda event: None)
    assert measured.interrupted
    assert [s.size for s in measured.samples] == [8, 1024]
    assert len(samples_file.load(str(tmp_path / "s.jsonl"))) == 2


def test_ctrl_c_while_watching(events, tmp_path):
    events += [sample(8), sample(1024)]

    def watch(event):
        if event.size == 1024:
            raise KeyboardInterrupt

    measured = measuring.measure(PLAN, tmp_path / "s.jsonl", watch)
    assert (measured.interrupted, len(measured.samples)) == (True, 2)


def test_a_failed_run_leaves_its_samples_in_the_file(events, tmp_path):
    events += [sample(8), RunError("the ranks failed")]
    with pytest.raises(RunError, match="ranks failed"):
        measuring.measure(PLAN, tmp_path / "s.jsonl", lambda event: None)
    assert [s.size for s in samples_file.load(str(tmp_path / "s.jsonl"))] == [8]


def test_somebody_elses_file_is_left_alone(events, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("dear diary\n")
    events.append(sample(8))
    with pytest.raises(OutputError, match="not a samples file"):
        measuring.measure(PLAN, file, lambda event: None)
    assert file.read_text() == "dear diary\n"


def test_a_folder_that_cannot_be_made(events, tmp_path):
    (tmp_path / "plain").write_text("")
    with pytest.raises(OutputError):
        measuring.measure(PLAN, tmp_path / "plain" / "s.jsonl", lambda event: None)


def test_fitting_and_saving(events, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    events += [sample(size) for size in PLAN.sizes]
    measured = measuring.measure(PLAN, measuring.new_file(), lambda event: None)
    fit = measuring.fitted(measured.samples, tmp_path / "s.jsonl")
    assert fit.pieces.curve.pieces[0].bandwidth == pytest.approx(1e10, rel=1e-6)
    file, kept = measuring.save_local(fit, "local")
    assert (file, kept) == (tmp_path / "home" / "local.toml", None)
    _, kept = measuring.save_local(fit, "local")
    assert kept is not None
    assert kept.exists()
    assert list(machines.find("local").nodes) == ["rank0", "rank1"]
    assert len(list((tmp_path / "home" / "samples").iterdir())) == 1


def test_saving_to_a_file_and_under_a_presets_name(events, tmp_path):
    fit = measuring.fitted([sample(size) for size in PLAN.sizes], tmp_path / "s.jsonl")
    file, kept = measuring.save_local(fit, str(tmp_path / "mine.toml"))
    assert (file, kept) == (tmp_path / "mine.toml", None)
    assert machines.find(str(file)).name == "mine"
    with pytest.raises(OutputError, match="is a preset"):
        measuring.save_local(fit, "sg2260")


def test_two_sizes_are_no_fit(tmp_path):
    assert "too few" in measuring.fitted([sample(8), sample(16)], tmp_path / "s").reason


def test_sigterm_is_as_ctrl_c(events, tmp_path):
    events += [sample(8), sample(1024)]

    def watch(event):
        if event.size == 1024:
            signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    measured = measuring.measure(PLAN, tmp_path / "s.jsonl", watch)
    assert (measured.interrupted, len(measured.samples)) == (True, 2)
    assert signal.getsignal(signal.SIGTERM) is before


# --- going on -----------------------------------------------------------------------------------------------------


@pytest.fixture
def here(monkeypatch):
    """Host h is this machine."""
    monkeypatch.setattr("hopline.run.mpi.platform.node", lambda: "h")


def times(*values):
    return tuple(float(value) for value in values)


def test_the_same_again_goes_on_where_it_ended(events, tmp_path, here):
    file = tmp_path / "s.jsonl"
    lines = [replace(sample(8, *times(turn, 2, 3)), started=f"2026-01-0{turn}") for turn in (1, 2, 3)]
    for line in [*lines, sample(1024, 5.0), sample(99, 1.0)]:
        samples_file.append(str(file), line)
    events += [sample(1024, 6.0)]
    measured = measuring.measure(PLAN, file, lambda event: None)
    assert {cell.size: (known.turns, len(known.times)) for cell, known in events.earlier.items()} == {
        8: (3, 9),
        1024: (1, 1),
    }
    assert (measured.planned, measured.finished, measured.begun) == (4, 1, 1)
    assert [(s.size, len(s.times)) for s in measured.samples] == [(8, 9), (1024, 2)]
    assert not measured.interrupted


def test_what_is_finished_starts_nothing(events, tmp_path, here, monkeypatch):
    file, plan = tmp_path / "s.jsonl", Plan(sizes=(8,), passes=1)
    samples_file.append(str(file), sample(8, *times(1, 2, 3, 4, 5)))
    monkeypatch.setattr(measuring, "measuring", lambda *_: pytest.fail("started"))
    measured = measuring.measure(plan, file, lambda event: None)
    assert (measured.finished, measured.planned, len(measured.samples)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("there", "plan", "said"),
    [
        (sample(8, host="n9"), PLAN, "holds latency of 2 ranks, window 1, mpi on n9, this run has .* on h"),
        (replace(sample(8), transport="mpi: X 1"), PLAN, "mpi: X 1 on h"),
        (replace(sample(8), benchmark="bw", window=32), Plan(kinds=("bw",)), "window 32, .* this run has .* window 64"),
        (
            replace(sample(8), pair=(0, 1), world=6, hosts=("h", "h")),
            Plan(kinds=("pair-latency",), ranks=4),
            "holds latency of 6 ranks, .* this run has 4 ranks",
        ),
        (replace(sample(0), benchmark="barrier", world=8), Plan(kinds=("barrier",), ranks=4), "8 ranks.*4 ranks"),
    ],
)
def test_another_way_of_measuring_is_not_mixed_in(events, tmp_path, here, there, plan, said):
    file = tmp_path / "s.jsonl"
    samples_file.append(str(file), there)
    before = file.read_bytes()
    with pytest.raises(OutputError, match=said):
        measuring.measure(plan, file, lambda event: pytest.fail("measured"))
    assert file.read_bytes() == before


def test_other_kinds_and_sizes_go_into_the_same_file(events, tmp_path, here):
    file = tmp_path / "s.jsonl"
    others = [replace(sample(8, host="n9"), benchmark="bw", window=8), sample(12345)]
    for other in others:
        samples_file.append(str(file), other)
    events.append(sample(8))
    measured = measuring.measure(PLAN, file, lambda event: None)
    assert [s.size for s in measured.samples] == [8]
    assert len(samples_file.load(str(file))) == 3


# --- kinds, ranks, pairs ------------------------------------------------------------------------------------------


def test_all_leaves_out_what_needs_more_ranks():
    assert measuring.kinds(["all"], 8)[1] == []
    names, short = measuring.kinds(["all"], 3)
    assert short == ["mbw"]
    assert "mbw" not in names
    assert measuring.kinds(["all", "mbw"], 3)[1] == []


def test_usual_ranks(monkeypatch):
    monkeypatch.setattr(measuring, "cores_here", lambda: 6)
    assert measuring.usual_ranks(["latency", "bw", "copy"]) == 2
    assert measuring.usual_ranks(["latency", "barrier"]) == 6
    monkeypatch.setattr(measuring, "cores_here", lambda: 1)
    assert measuring.usual_ranks(["pair-bw"]) == 4
    monkeypatch.setattr(measuring, "cores_here", lambda: 64)
    assert measuring.usual_ranks(["mbw"]) == 8


def pairs(ranks, slow, factor, seed=1):
    """Turns of all pairs, 3 each, of which those to or from ``slow`` take longer."""
    draw, measured = random.Random(seed), measuring.Measured()
    for turn in range(3):
        for place, pair in enumerate(itertools.permutations(range(ranks), 2)):
            own = 1e-5 * (factor if slow in pair else 1.0)
            took = tuple(own * draw.gauss(1.0, 0.004) for _ in range(4))
            hosts = tuple(f"n{rank // 2}" for rank in pair)
            at = f"2026-01-01T00:0{turn}:{place % 60:02d}+00:00"
            measured.add(Sample("bw", "mpi", hosts[0], 2, 64, took, 0.0, at, pair, 1, 8, ranks, hosts))
    return measured


def test_a_slow_rank_is_named_with_its_host():
    (study,) = measured_pairs.studies(pairs(8, slow=5, factor=1.4).turns)
    assert study.hosts[5] == "n2"
    assert study.measure == "gap"
    (suspect,) = study.report.suspects
    assert (suspect.kind, suspect.ranks) == ("rank", (5,))
    assert suspect.factor == pytest.approx(1.4, rel=0.02)
    text = plain([*pages.matrix(study.times, "gap", 64), *pages.whereabouts(study.report.suspects, study.hosts)])
    assert "Median bandwidth in MB/s" in text
    assert "\nrank 5 is on n2\n" in text
    row = next(line.split() for line in text.splitlines() if line.startswith("  5 →"))
    assert row[2:] == [value if value == "·" else f"{float(value):.3g}" for value in row[2:]]
    assert all(4.4 < float(value) < 4.7 for value in row[2:] if value != "·")


def test_healthy_ranks_are_not_named():
    (study,) = measured_pairs.studies(pairs(8, slow=None, factor=1.0).turns)
    assert study.report.healthy
    assert pages.whereabouts(study.report.suspects, study.hosts) == []


def test_two_ranks_are_not_studied():
    (study,) = measured_pairs.studies(pairs(2, slow=None, factor=1.0).turns)
    assert study.report is None
    assert "too few" in study.reason


def test_machines_of_other_hosts_want_a_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    measured = measuring.Measured()
    for size in PLAN.sizes:
        measured.add(replace(sample(size), hosts=("a", "b")))
    fit = measuring.fitted(measured.latencies, tmp_path / "s.jsonl")
    with pytest.raises(FitError, match=r"ranks 0 and 1 are on a and b, .* give it a name with --save"):
        measuring.save_measured(measured, fit, None)
    assert measuring.save_measured(measured, fit, "fabric")[0].name == "fabric.toml"


def test_series_come_in_the_order_of_kinds_without_pairs():
    measured = pairs(3, None, 1.0)
    for other in (
        {"benchmark": "copy", "ranks": 1},
        {"benchmark": "barrier", "world": 4},
        {},
        {"benchmark": "barrier", "ranks": 4},
    ):
        measured.add(replace(sample(8), **other))
    assert [(one[0].benchmark, one[0].ranks) for one in measured.series] == [
        ("latency", 2), ("barrier", 2), ("barrier", 4), ("copy", 1),
    ]  # fmt: skip
    assert [s.benchmark for s in measured.latencies] == ["latency"]
    text = plain(pages.results(measured.series))
    assert text.count("Barrier over mpi") == 1


# --- the demonstration --------------------------------------------------------------------------------------------


def everything(bend=0.0):
    sizes = sorted(demonstration.FITTED_SIZES + demonstration.HELD_OUT_SIZES)
    return [sample(size, 2e-6 + size / 1e10 + (bend if size >= 65536 else 0)) for size in sizes]


def test_held_out_sizes_are_not_fitted():
    assert not set(demonstration.FITTED_SIZES) & set(demonstration.HELD_OUT_SIZES)
    assert set(demonstration.plan(5).sizes) == set(demonstration.FITTED_SIZES + demonstration.HELD_OUT_SIZES)
    assert min(demonstration.HELD_OUT_SIZES) > min(demonstration.FITTED_SIZES)
    assert max(demonstration.HELD_OUT_SIZES) < max(demonstration.FITTED_SIZES)


def test_conclusions_of_a_line():
    found = demonstration.conclude(everything())
    assert [s.size for s, _ in found.predicted] == list(demonstration.HELD_OUT_SIZES)
    assert max(map(abs, found.errors)) < 1e-6
    assert found.pieces.points == len(demonstration.FITTED_SIZES)
    assert len(found.all_size) == len(found.samples)


def test_conclusions_of_a_bend():
    found = demonstration.conclude(everything(bend=8e-6))
    assert len(found.pieces.curve.pieces) == 2
    assert len(found.line.curve.pieces) == 1
    assert max(map(abs, found.errors)) < 0.02


def test_held_out_times_do_not_reach_the_fit():
    spoilt = [sample(s.size, 1.0) if s.size in demonstration.HELD_OUT_SIZES else s for s in everything()]
    assert demonstration.conclude(spoilt).pieces == demonstration.conclude(everything()).pieces


def test_an_interrupted_demonstration_ends(events, tmp_path):
    events += [sample(8), KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        demonstration.measure(1.0, tmp_path / "s.jsonl", lambda event: None)
    assert len(samples_file.load(str(tmp_path / "s.jsonl"))) == 1


def test_the_bar_says_what_is_timed():
    seen = []
    watch = measuring.told(lambda fraction, text: seen.append((fraction, text)))
    watch(Progress(64, 0, 1, 3, 4, 0.25, "pair-bw", (1, 0)))
    watch(Progress(1024, 0, 1, 1, 4, 0.1))
    assert seen == [(0.5, "pair-bw 1→0 64 B"), (0.1, "latency 1 KiB")]
