"""What becomes of a run's events, with events made up in place of ranks."""

import contextlib

import pytest

from hopline.errors import OutputError, RunError
from hopline.formats import samples as samples_file
from hopline.jobs import demonstration, machines, measuring
from hopline.records.sample import Sample
from hopline.run.mpi import Progress
from hopline.run.plan import Plan

PLAN = Plan(sizes=(8, 1024, 65536, 1 << 20), seconds=1.0)


def sample(size, *times, host="h"):
    return Sample("latency", "mpi", host, 2, size, times or (1e-6 + size / 1e10,), clock=2e-8, started="2026-01-01")


def progress(size, turn=1):
    return Progress(size, 3, 1, turn, 4, 0.5)


@pytest.fixture
def events(monkeypatch):
    """A list to put events and exceptions into: what the next run gives."""
    given = []

    @contextlib.contextmanager
    def fake(plan):
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
