"""Predictions of logs and of saved operations: refused beyond the measured sizes, or given with their interval."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopline.cli.fit import fit
from hopline.errors import FitError
from hopline.jobs import fitting, predictions, questions
from hopline.study.beyond import COLLECTIVE, SEND
from hopline.study.predict import predict

LOGS = Path(__file__).parents[1] / "data" / "logs"
(ALL_REDUCE,) = fitting.fit_files([str(LOGS / "nccl-a-all-reduce.log")])[1]
PAIRS = fitting.fit_files([str(LOGS / "osu-pairs.out")])[1]


@pytest.mark.parametrize(
    ("benchmark", "growth"),
    [
        ("latency", SEND), ("sendrecv", SEND), ("bw", SEND), ("mbw_mr", SEND), ("write_bw", SEND),
        ("all_reduce", COLLECTIVE), ("alltoall", COLLECTIVE), ("", COLLECTIVE), ("unnamed", COLLECTIVE),
    ],
)  # fmt: skip
def test_which_premise_goes_with_which_benchmark(benchmark, growth):
    assert predictions.growth(benchmark) == growth


def test_inside_it_is_the_measured_time():
    found = fitting.predict(ALL_REDUCE, ALL_REDUCE.points.size.tolist(), extrapolate=False)
    assert found.time == pytest.approx(ALL_REDUCE.points.time, rel=1e-12)


@pytest.mark.parametrize(("size", "said"), [(2.0**27, "128 MiB"), (1.0, "1 B"), (0.0, "0 B")])
def test_beyond_the_measured_sizes_is_refused(size, said):
    with pytest.raises(FitError) as caught:
        fitting.predict(ALL_REDUCE, [1024.0, size], extrapolate=False)
    assert str(caught.value).startswith(
        f"{said} lies outside of the measured 4 B to 64 MiB of all_reduce, 4 ranks: give --extrapolate"
    )
    assert len(fitting.predict(ALL_REDUCE, [1024.0, size], extrapolate=True).time) == 2


def test_the_ends_of_the_range_are_inside():
    assert len(fitting.predict(ALL_REDUCE, [4.0, 2.0**26], extrapolate=False).time) == 2


def test_beyond_it_the_benchmark_decides():
    size = [2.0**24]
    for table, growth in ((PAIRS[0], SEND), (PAIRS[1], SEND)):
        found = fitting.predict(table, size, extrapolate=True)
        assert found.time.tolist() == predict(table.points, size, growth).time.tolist()
    renamed = replace(PAIRS[0], table=replace(PAIRS[0].table, benchmark="broadcast"))
    found = fitting.predict(renamed, size, extrapolate=True)
    assert found.high.tolist() == predict(PAIRS[0].points, size, COLLECTIVE).high.tolist()


def test_a_saved_operation_predicts_as_its_log_does():
    operation = fitting.machine_of(PAIRS[1], "m").operations["bw.2"]
    points = questions.points_of(operation)
    assert points.size.tolist() == PAIRS[1].points.size.tolist()
    assert points.time == pytest.approx(PAIRS[1].points.time, rel=1e-5)
    ours = predictions.predict_within("bw", points, [100.0, 2.0**22], "bw", extrapolate=True)
    logs = fitting.predict(PAIRS[1], [100.0, 2.0**22], extrapolate=True)
    assert ours.time == pytest.approx(logs.time, rel=1e-3)


def test_an_operation_of_too_few_points_predicts_nothing():
    operation = fitting.machine_of(PAIRS[1], "m").operations["bw.2"]
    with pytest.raises(FitError, match="2 distinct sizes are too few"):
        questions.points_of(replace(operation, points=operation.points[:2]))


# --- hopline fit --json -------------------------------------------------------------------------------------------


def asked(*arguments):
    """The answer of ``hopline fit --json``."""
    done = CliRunner().invoke(fit, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_json_gives_intervals_findings_and_predictions():
    one, *others = asked(str(LOGS / "osu-pairs.out"), "--table", "1", "--predict", "8B,64KiB,4MiB", "--extrapolate")[
        "tables"
    ]
    (piece,) = one["pieces"]["curve"]["pieces"]
    (expected,) = PAIRS[0].pieces.curve.pieces
    assert (piece["latency"], piece["bandwidth"]) == (expected.latency, expected.bandwidth)
    latency, bandwidth = PAIRS[0].pieces.intervals(0)
    assert (tuple(piece["latency_interval"]), tuple(piece["bandwidth_interval"])) == (latency, bandwidth)
    assert latency[0] < expected.latency < latency[1]
    found = fitting.predict(PAIRS[0], [8.0, 65536.0, 2.0**22], extrapolate=True)
    rows = one["predictions"]
    assert [row["size"] for row in rows] == [8, 65536, 2**22]
    assert [row["extrapolation"] for row in rows] == [False, False, True]
    for key, values in (("time_s", found.time), ("low_s", found.low), ("high_s", found.high)):
        assert [row[key] for row in rows] == values.tolist()
    assert all("predictions" not in other for other in others)


def test_json_gives_each_finding_with_its_sizes(tmp_path):
    rows = "".join(f"{2**p:<12d}{2 + 2**p / 10000 + (10 if p == 8 else 0):.2f}\n" for p in range(23))
    (tmp_path / "odd.out").write_text(f"# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n{rows}")
    (table,) = asked(str(tmp_path / "odd.out"))["tables"]
    (outlier,) = [f for f in table["findings"] if f["kind"] == "outlier"]
    assert (outlier["smallest"], outlier["largest"]) == (256, 256)
    assert outlier["text"] == "outlier at 256 B: 12.0 µs, 5.87 times the 2.05 µs of 512 B"
    (clean,) = asked(str(LOGS / "nccl-a-all-reduce.log"))["tables"]
    assert clean["findings"] == []


def test_json_of_times_that_do_not_grow_is_still_json(tmp_path):
    rows = "".join(f"{2**p:<12d}{20 + (p % 3) / 10:.2f}\n" for p in range(12))
    (tmp_path / "flat.out").write_text(f"# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n{rows}")
    (table,) = asked(str(tmp_path / "flat.out"))["tables"]
    high = table["pieces"]["curve"]["pieces"][-1]["bandwidth_interval"][1]
    assert high is None or math.isfinite(high)
    assert [f["kind"] for f in table["findings"]] == ["short range"]


def test_a_machine_of_all_tables_in_one_go(tmp_path):
    logs = [str(LOGS / name) for name in ("osu-pairs.out", "nccl-a-all-reduce.log")]
    done = CliRunner().invoke(fit, [*logs, "--save", str(tmp_path / "mine.toml")], catch_exceptions=False)
    assert done.exit_code == 0
    assert f"Machine: {tmp_path / 'mine.toml'}" in done.stdout
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("[operations.") and "fitted" not in line] == [
        '[operations."latency.2"]', '[operations."bw.2"]', '[operations."bibw.2"]', '[operations."all_reduce.4"]',
    ]  # fmt: skip
