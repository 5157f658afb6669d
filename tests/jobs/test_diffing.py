"""Which tables of two files belong together."""

import numpy as np
import pytest

from hopline.errors import InputError
from hopline.formats import samples
from hopline.jobs.diffing import Choice, diff
from hopline.records.sample import Sample

HEAD = """# OSU MPI {title} Test v5.8
# Size          {column}
"""


def osu(path, factors, title="Latency", column="Latency (us)", spread=0.01, seed=0, sizes=range(16), tables=1):
    """A log of latency tables, one for each factor."""
    rng = np.random.default_rng(seed)
    text = ""
    for factor in np.repeat(factors, tables):
        text += HEAD.format(title=title, column=column)
        text += "".join(f"{2**i:<16}{factor * (5 + 2**i / 2000) * np.exp(rng.normal(0, spread)):.4f}\n" for i in sizes)
    path.write_text(text)
    return str(path)


def sampled(path, turns=1, factor=1.0, seed=0, benchmark="latency", host="a", repeats=20, spread=0.03):
    rng = np.random.default_rng(seed)
    for turn in range(turns):
        for i in range(12):
            times = factor * (5e-6 + 2**i / 2e9) * np.exp(rng.normal(0, spread, repeats))
            sample = Sample(
                benchmark, "shm", host, 2, 2**i, tuple(times.tolist()), started=f"2024-01-01T00:00:{turn:02}"
            )
            samples.append(str(path), sample)
    return str(path)


def test_one_table_each(tmp_path):
    found = diff(osu(tmp_path / "a", [1.0]), osu(tmp_path / "b", [1.2], seed=1))
    (only,) = found.compared
    assert only.change.basis == "scatter"
    assert only.change.verdict == "slower"
    assert only.change.ratio == pytest.approx(1.2, rel=0.02)
    assert found.only_before == found.only_after == ()


def test_tables_of_one_kind_are_repeats(tmp_path):
    found = diff(osu(tmp_path / "a", [1.0, 1.03, 0.97]), osu(tmp_path / "b", [1.01, 1.02, 0.98], seed=1))
    (only,) = found.compared
    assert (only.before.numbers, only.after.numbers) == ((1, 2, 3), (1, 2, 3))
    assert only.change.basis == "runs"
    assert only.change.verdict == "noise"


def test_tables_of_one_kind_may_be_paired_in_order(tmp_path):
    found = diff(osu(tmp_path / "a", [1.0, 2.0]), osu(tmp_path / "b", [1.0, 2.5], seed=1), Choice(in_order=True))
    assert [c.before.numbers for c in found.compared] == [(1,), (2,)]
    assert [c.change.verdict for c in found.compared] == ["noise", "slower"]


def test_tables_of_other_sizes_are_no_repeats(tmp_path):
    small = osu(tmp_path / "s", [1.0], sizes=range(8))
    large = osu(tmp_path / "l", [1.0], sizes=range(10, 18))
    both = tmp_path / "both"
    both.write_text((tmp_path / "s").read_text() + (tmp_path / "l").read_text())
    found = diff(str(both), str(both))
    assert [len(c.change.sizes) for c in found.compared] == [8, 8]
    with pytest.raises(InputError, match="no size in common"):
        diff(small, large)


def test_a_table_may_be_chosen(tmp_path):
    a, b = osu(tmp_path / "a", [1.0, 3.0]), osu(tmp_path / "b", [1.0], seed=1)
    found = diff(a, b, Choice(table=2, against=1))
    assert found.compared[0].before.numbers == (2,)
    assert found.compared[0].change.verdict == "faster"
    assert diff(a, b, Choice(table=1)).compared[0].change.verdict == "noise"
    with pytest.raises(InputError, match="no table 3: it holds 2"):
        diff(a, b, Choice(table=3))


def test_unlike_files_are_refused_with_how_they_differ(tmp_path):
    a = osu(tmp_path / "a", [1.0])
    b = osu(tmp_path / "b", [1.0], title="Allreduce Latency", column="Avg Latency(us)")
    with pytest.raises(InputError, match=r"benchmark latency against all_reduce.*--table and --against"):
        diff(a, b)
    found = diff(a, b, Choice(table=1, against=1))
    assert "benchmark latency against all_reduce" in found.notes[0]


def test_a_latency_is_never_held_against_a_gap(tmp_path):
    a = osu(tmp_path / "a", [1.0])
    b = osu(tmp_path / "b", [1.0], title="Bandwidth", column="Bandwidth (MB/s)")
    with pytest.raises(InputError, match="measure time against gap"):
        diff(a, b, Choice(table=1, against=1))


def test_what_one_file_has_alone_is_told(tmp_path):
    a, b = sampled(tmp_path / "a"), sampled(tmp_path / "b", seed=1)
    sampled(tmp_path / "b", seed=2, benchmark="bw")
    found = diff(a, b)
    assert len(found.compared) == 1
    assert found.only_before == ()
    assert found.only_after == ("bw on 2 ranks (gap), transport shm",)


def test_repeats_of_samples_in_one_turn(tmp_path):
    found = diff(sampled(tmp_path / "a"), sampled(tmp_path / "b", factor=1.1, seed=1, host="b"))
    (only,) = found.compared
    assert only.change.basis == "repeats"
    assert only.change.verdict == "slower"


def test_turns_of_samples_are_runs(tmp_path):
    found = diff(sampled(tmp_path / "a", turns=4), sampled(tmp_path / "b", turns=3, seed=1))
    (only,) = found.compared
    assert only.change.basis == "runs"
    assert (len(only.before.side.runs), len(only.after.side.runs)) == (4, 3)
    assert only.change.verdict == "noise"


def test_no_repeat_of_an_uneven_turn_is_lost(tmp_path):
    a = sampled(tmp_path / "a", turns=2)
    samples.append(a, Sample("latency", "shm", "a", 2, 1, (9e-6,) * 7, started="2024-01-02"))
    side = diff(a, a).compared[0].before.side
    assert len(side.runs) == 2
    assert sum(len(run[1.0]) for run in side.runs) == 47


def test_a_half_that_is_not_there(tmp_path):
    a = osu(tmp_path / "a", [1.0])
    with pytest.raises(InputError, match="no in-place half"):
        diff(a, a, Choice(in_place=True))
