"""The command: exit codes, the page, JSON and the picture."""

import json
import math

import numpy as np
import pytest

from hopline.cli.main import code_of
from hopline.formats import samples
from hopline.records.sample import Sample


@pytest.fixture
def files(tmp_path):
    """Names -> samples files: the same thing twice, a slower and a faster one, one of few numbers."""

    def write(name, factor, seed, repeats=15, sizes=14, ranks=2):
        rng = np.random.default_rng(seed)
        for i in range(sizes):
            times = factor * (5e-6 + 2**i / 2e9) * np.exp(rng.normal(0, 0.03, repeats))
            samples.append(str(tmp_path / name), Sample("latency", "shm", "node", ranks, 2**i, tuple(times.tolist())))
        return str(tmp_path / name)

    return {
        "before": write("before", 1.0, 1),
        "same": write("same", 1.0, 2),
        "slower": write("slower", 1.12, 3),
        "faster": write("faster", 0.9, 4),
        "few": write("few", 1.0, 5, repeats=1, sizes=3),
        "ranks": write("ranks", 1.0, 6, ranks=4),
    }


@pytest.mark.parametrize(
    ("after", "code", "said"),
    [
        ("same", 0, "No change beyond noise: ×"),
        ("slower", 1, "Slower for real: ×1.1"),
        ("faster", 0, "Faster for real: ×0.9"),
        ("few", 3, "Cannot tell: one number a size"),
    ],
)
def test_exit_code_and_verdict(files, capsys, after, code, said):
    before = files["few"] if after == "few" else files["before"]
    assert code_of(["diff", before, files[after]]) == code
    assert capsys.readouterr().out.splitlines()[1].startswith(said)


def test_the_page_has_a_row_for_each_size(files, capsys):
    code_of(["diff", files["before"], files["slower"]])
    text = capsys.readouterr().out
    rows = [line for line in text.splitlines() if line.endswith(" slower")]
    assert len(rows) == 14
    assert "latency on 2 ranks, transport shm (table 1 against 1)" in text
    assert "one run each with 15 repeats a size" in text


def test_the_threshold_decides_what_matters(files, capsys):
    assert code_of(["diff", files["before"], files["slower"], "--threshold", "20%"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("A real change, but below 20 %")


def test_json(files, capsys):
    assert code_of(["diff", files["before"], files["slower"], "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    (table,) = data["tables"]
    assert table["verdict"] == table["whole"] == "slower"
    assert table["ratio"] == pytest.approx(1.12, rel=0.02)
    assert len(table["sizes"]) == 14
    assert all(s["low"] < s["ratio"] < s["high"] for s in table["sizes"])
    assert not any(isinstance(v, float) and math.isnan(v) for v in table.values())


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_picture(files, tmp_path, capsys, ending):
    picture = tmp_path / f"change.{ending}"
    assert code_of(["diff", files["before"], files["slower"], "--plot", str(picture)]) == 1
    assert picture.stat().st_size > 1000
    assert str(picture) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["{before}", "nothing.log"], "nothing.log"),
        (["{before}", "{ranks}"], "ranks 2 against 4"),
        (["{before}", "{same}", "--threshold", "5"], "expected one like 10%"),
        (["{before}", "{same}", "--table", "4"], "no table 4"),
        (["{before}", "{same}", "--in-place"], "no in-place half"),
        (["{before}", "{same}", "--plot", "x.pdf"], ".pdf"),
        (["{before}", "{same}", "--false-alarms", "0%"], "above 0 %"),
    ],
)
def test_bad_input_is_one_line(files, capsys, options, said):
    assert code_of(["diff", *(o.format(**files) for o in options)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_several_tables_and_what_one_file_has_alone(files, tmp_path, capsys):
    both = [tmp_path / name for name in ("both_before", "both_after")]
    for path, second in zip(both, ("before", "slower"), strict=True):
        path.write_bytes((tmp_path / "ranks").read_bytes() + (tmp_path / second).read_bytes())
    assert code_of(["diff", str(both[0]), str(both[1])]) == 1
    assert "2 tables compared: 1 slower for real, 1 not changed beyond noise." in capsys.readouterr().out
    assert code_of(["diff", str(both[0]), files["same"]]) == 0
    assert "only before: latency on 4 ranks" in capsys.readouterr().out
