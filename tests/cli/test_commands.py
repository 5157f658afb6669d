"""The commands as they are typed: help, JSON, text on a pipe."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hopline.cli.main import COMMANDS, code_of
from hopline.jobs import measuring
from hopline.records.sample import Sample

LOGS = Path(__file__).parents[1] / "data" / "logs"
VECTORS = Path(__file__).parents[1] / "data" / "vectors.json"
LINE = ("--latency", "0.55us", "--bandwidth", "64GB/s")


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def hopline(capsys, *arguments):
    code = code_of([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def answer(capsys, *arguments):
    """What --json prints, from a command that goes well."""
    code, out, err = hopline(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


# --- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_holds_an_example(capsys, command):
    for flag in ("--help", "-h"):
        code, out, err = hopline(capsys, command, flag)
        assert (code, err) == (0, "")
        assert "Example" in out
        assert f"\n    hopline {command}" in out
        assert "--json" in out


def test_help_of_hopline_lists_every_command(capsys):
    code, out, _ = hopline(capsys, "--help")
    assert code == 0
    for name, (_, text) in COMMANDS.items():
        assert f"\n  {name} " in out
        assert text.split()[0] in out


def test_version(capsys):
    code, out, _ = hopline(capsys, "--version")
    assert (code, out) == (0, "hopline, version 0.1.0\n")


def test_hopline_alone_shows_its_help(capsys):
    _code, out, err = hopline(capsys)
    assert "\nCommands:\n" in out + err


def examples_of(command):
    from hopline.jobs.loading import resolve

    text = resolve(COMMANDS[command][0]).epilog
    lines = [line.split("#")[0].strip() for line in text.splitlines() if line.strip().startswith("hopline ")]
    return [line for line in lines if "|" not in line and ">" not in line]


@pytest.mark.parametrize("line", [x for c in ("p2p", "presets", "verify") for x in examples_of(c)])
def test_examples_in_help_run(capsys, line):
    (Path.cwd() / "vectors.json").write_bytes(VECTORS.read_bytes())
    code, out, err = hopline(capsys, *(part.strip("'") for part in line.split()[1:]))
    assert (code in (0, 3), err) == (True, "")
    assert out


# --- p2p ----------------------------------------------------------------------------------------------------------


def test_p2p_in_si(capsys):
    data = answer(capsys, "p2p", "--size", "64MiB", *LINE)
    assert data["time_s"] == pytest.approx(1.049126e-3, rel=1e-12)
    assert data["size"] == 67108864
    assert data["binds"] == "bandwidth of hop 1"


def test_p2p_of_two_hops(capsys):
    data = answer(capsys, "p2p", "--size", "64MiB", "--hop", "0.25us:64GB/s", "--hop", "2us:25GB/s")
    assert data["time_s"] == pytest.approx(3.73518e-3, rel=1e-5)
    assert data["best"] == {"k": 23, "time": pytest.approx(2.776194825625e-3, rel=1e-12)}
    assert data["ways"]["cut-through"]["value"] == pytest.approx(2.6866e-3, rel=1e-4)


def test_p2p_text(capsys):
    code, out, err = hopline(capsys, "p2p", "--size", "64MiB", *LINE)
    assert (code, err) == (0, "")
    assert out.startswith("64 MiB over 1 hop\n")
    assert "1.049 ms" in out
    assert "Binds: bandwidth of hop 1; next is the start-up of hop 1" in out
    assert "\x1b" not in out


def test_p2p_sweep(capsys):
    rows = answer(capsys, "p2p", "--size", "1KiB..1GiB:x4", *LINE)
    times = [row["time_s"] for row in rows]
    assert times == pytest.approx([0.55e-6 + 1024 * 4**i / 64e9 for i in range(11)], rel=1e-12)
    code, out, _ = hopline(capsys, "p2p", "--size", "1KiB,1MiB", *LINE, "--hops", "1..3")
    assert code == 0
    assert len(out.splitlines()) >= 8


def test_p2p_sweep_in_si(capsys):
    rows = answer(capsys, "p2p", "--size", "1KiB..1GiB:x4", *LINE)
    assert [row["size"] for row in rows] == [1024 * 4**i for i in range(11)]


def test_a_row_of_a_sweep(capsys):
    asked = ("--size", "1MiB", "--bandwidth", "10GB/s", "--hops", "2", "--receive", "2MiB")
    rows = answer(capsys, "p2p", *asked, "--latency", "1us,2us")
    once = 2**20 / 1e10
    for row, latency in zip(rows, (1e-6, 2e-6), strict=True):
        single = answer(capsys, "p2p", *asked, "--latency", f"{latency}s")
        assert row == {
            "size": 2**20,
            "latency": latency,
            "way": "store-and-forward",
            "time_s": pytest.approx(2 * latency + 4 * once, rel=1e-12),
            "effective": pytest.approx(2**20 / (2 * latency + 4 * once), rel=1e-12),
            "ways_s": {name: pytest.approx(way["value"], rel=1e-12) for name, way in single["ways"].items()},
            "binds": "way back",
            "best_k": single["best"]["k"],
        }
        assert {key: row[key] for key in ("time_s", "effective", "binds")} == {
            key: single[key] for key in ("time_s", "effective", "binds")
        }
        assert row["ways_s"]["store-and-forward"] == pytest.approx(2 * latency + 2 * once, rel=1e-12)
        assert row["ways_s"]["cut-through"] == pytest.approx(2 * latency + once, rel=1e-12)


def test_a_row_of_a_sweep_of_one_hop(capsys):
    rows = answer(capsys, "p2p", "--size", "1KiB,2KiB", *LINE, "--chunks", "1,2")
    assert [(row["size"], row["chunks"]) for row in rows] == [(1024, 1), (1024, 2), (2048, 1), (2048, 2)]
    assert {row["way"] for row in rows} == {"pipelined"}
    assert [row["time_s"] for row in rows] == pytest.approx(
        [k * 0.55e-6 + size / 64e9 for size in (1024, 2048) for k in (1, 2)], rel=1e-12
    )
    assert all("best_k" not in row and "exchange_s" not in row for row in rows)


@pytest.mark.parametrize(
    "asked",
    [
        ("--memory", "10GB/s"),
        ("--in-flight", "1", "--payload", "4KiB"),
        ("--in-flight", "999", "--payload", "4KiB"),
        ("--hops", "3", "--way", "cut-through"),
    ],
)
def test_a_row_of_a_sweep_is_the_single_answer(capsys, asked):
    for row in answer(capsys, "p2p", "--size", "1MiB,2MiB", *LINE, *asked):
        single = answer(capsys, "p2p", "--size", f"{row['size']:.0f}B", *LINE, *asked)
        assert {key: row[key] for key in ("time_s", "way", "effective", "binds")} == {
            key: single[key] for key in ("time_s", "way", "effective", "binds")
        }


def test_p2p_switches_cut_through(capsys):
    data = answer(capsys, "p2p", "--size", "1MiB", *LINE, "--hops", "2", "--switch-latency", "100ns")
    assert data["chosen"] == "cut-through"
    assert data["time_s"] == pytest.approx(0.65e-6 + 2**20 / 64e9, rel=1e-12)


def test_p2p_window(capsys):
    asked = ("--latency", "2us", "--bandwidth", "50GB/s", "--in-flight", "128", "--payload", "256B")
    data = answer(capsys, "p2p", "--size", "24MiB", *asked)
    assert data["concurrency"]["throughput"] == pytest.approx(16.384e9)
    assert data["concurrency"]["needed"] == 391


def test_p2p_window_binds(capsys):
    asked = ("--latency", "2us", "--bandwidth", "50GB/s", "--in-flight", "128", "--payload", "256B")
    data = answer(capsys, "p2p", "--size", "24MiB", *asked)
    assert data["time_s"] == data["ways"]["store-and-forward"]["value"] == pytest.approx(1.536e-3, rel=1e-12)
    assert {t["name"]: t["value"] for t in data["ways"]["store-and-forward"]["terms"]}["line itself"] == pytest.approx(
        2e-6 + 24 * 2**20 / 50e9, rel=1e-12
    )
    _, out, _ = hopline(capsys, "p2p", "--size", "24MiB", *asked)
    assert re.search(r"\* direct +1\.536 ms +16\.38 GB/s +requests in flight \(128 x 256 B per 2\.000 µs\)", out)
    assert "Binds: requests in flight (128 x 256 B per 2.000 µs); next is the line itself, 3.04 times smaller." in out


def test_p2p_with_requests_in_flight_names_no_best_k(capsys):
    asked = ("p2p", "--size", "24MiB", "--latency", "2us", "--bandwidth", "50GB/s", "--hops", "2")
    _, free, _ = hopline(capsys, *asked)
    _, bound, _ = hopline(capsys, *asked, "--in-flight", "128", "--payload", "256B", "--turnaround", "2us")
    for said in ("best number of chunks", "closed form beside it"):
        assert said in free
        assert said not in bound
    assert re.search(r"long messages tend to +16\.38 GB/s\n", bound)
    assert re.search(r"line rate needs +391 in flight, 195\.3 million requests/s\n", bound)


def test_p2p_a_turnaround_that_was_not_given_is_told(capsys):
    asked = ("p2p", "--size", "1MiB", *LINE, "--in-flight", "4", "--payload", "4KiB")
    said = "Assumed: a request's turnaround is the start-up, 550.0 ns; give --turnaround\n"
    assert said in hopline(capsys, *asked)[1]
    assert "a request's turnaround" not in hopline(capsys, *asked, "--turnaround", "1us")[1]
    assert said in hopline(capsys, *asked, "--size", "2MiB,4MiB")[1]


def test_a_sweep_names_its_columns_as_the_options_are(capsys):
    asked = ("p2p", "--size", "1MiB", *LINE, "--hops", "1..2", "--in-flight", "4,8", "--payload", "4KiB")
    _, out, _ = hopline(capsys, *asked)
    assert out.startswith("Cost over hops\n")
    assert out.splitlines()[1].split()[:2] == ["hops", "in-flight"]
    assert "in_flight" not in out
    _, out, _ = hopline(capsys, "p2p", "--size", "1MiB,2MiB", *LINE, "--hops", "2")
    assert out.startswith("Cost over 2 hops\n")


def test_p2p_half_duplex_text(capsys):
    """2 us + 96 MiB at 50 GB/s."""
    asked = ("--latency", "1us", "--bandwidth", "50GB/s", "--receive", "32MiB", "--half-duplex")
    data = answer(capsys, "p2p", "--size", "64MiB", *asked)
    assert data["time_s"] == data["exchange"]["value"] == pytest.approx(2e-6 + 96 * 2**20 / 50e9, rel=1e-12)
    assert (data["binds"], data["exchange"]["combine"]) == ("way there", "sum")
    _, out, _ = hopline(capsys, "p2p", "--size", "64MiB", *asked)
    assert re.search(r"\* both directions in turn +2\.015 ms", out)
    assert "Where the time goes (both directions in turn)" in out
    assert re.search(r"a full-duplex link +1\.343 ms +-33 %", out)


def test_p2p_how_many_in_flight(capsys):
    """50 GB/s x 12.6 us = 630000 bytes, 153.8 requests of 4 KiB."""
    asked = ("--payload", "4KiB", "--turnaround", "12.6us", "--latency", "2us", "--bandwidth", "50GB/s")
    code, out, err = hopline(capsys, "p2p", *asked)
    assert (code, err) == (0, "")
    assert out.startswith("4 KiB over 1 hop\n")
    assert re.search(r"line rate needs +154 in flight", out)
    assert "requests in flight give" not in out
    data = answer(capsys, "p2p", *asked)
    assert data["concurrency"]["needed_exact"] == pytest.approx(630e3 / 4096, rel=1e-12)
    assert data["time_s"] == pytest.approx(2e-6 + 4096 / 50e9, rel=1e-12)
    assert answer(capsys, "p2p", "--size", "1MiB", *asked)["concurrency"]["needed"] == 154


def test_p2p_payload_without_a_turnaround(capsys):
    """The turnaround is then the start-up: 0.55 us x 64 GB/s = 35200 bytes."""
    assert answer(capsys, "p2p", "--payload", "4KiB", *LINE)["concurrency"]["needed"] == 9


def test_p2p_exchange_over_several_hops(capsys):
    asked = ("--hop", "0.25us:64GB/s", "--hop", "2us:25GB/s", "--receive", "128MiB")
    longer = 2.25e-6 + 2**27 / 64e9 + 2**27 / 25e9
    data = answer(capsys, "p2p", "--size", "64MiB", *asked)
    assert data["exchange"]["value"] == data["time_s"] == pytest.approx(longer, rel=1e-12)
    assert data["effective"] == pytest.approx(2**26 / longer, rel=1e-12)
    assert (data["binds"], data["exchange"]["combine"]) == ("way back", "max")
    _, out, _ = hopline(capsys, "p2p", "--size", "64MiB", *asked)
    assert re.search(r"\n +\* both directions at once +7\.468 ms +8\.986 GB/s +way back", out)
    assert len(re.findall(r"^ *\* ", out, re.MULTILINE)) == 1
    assert "\nWhat goes on at the same time (both directions at once)\n" in out
    assert re.search(r"\n +way back +7\.468 ms +binds\n +way there +3\.735 ms +hidden behind it\n", out)
    assert "Binds: way back; next is the way there, 2.00 times smaller." in out


def test_p2p_exchange_with_reduce(capsys):
    """What arrives touches the memory three times: 64 MiB out and 3 x 64 MiB in, at 68.2 GB/s."""
    asked = ("--machine", "sg2260", "--path", "a0,a1", "--receive", "64MiB")
    plain = answer(capsys, "p2p", "--size", "64MiB", *asked)["exchange"]["value"]
    reduced = answer(capsys, "p2p", "--size", "64MiB", *asked, "--reduce")["exchange"]["value"]
    assert plain == pytest.approx(0.55e-6 + 2 * 2**26 / 68.2e9, rel=1e-12)
    assert reduced == pytest.approx(0.55e-6 + 4 * 2**26 / 68.2e9, rel=1e-12)


def test_p2p_names_all_hops_that_are_as_slow(capsys):
    _, out, _ = hopline(capsys, "p2p", "--size", "64MiB", *LINE, "--hops", "3", "--way", "cut-through")
    assert "Binds: bandwidth of all 3 hops; next is the start-up of hop 1" in out
    assert "twice the bandwidth of all 3 hops" in out
    assert "half the start-up of hop 1 and 2 like it" in out


def test_p2p_exchange_by_memory(capsys):
    asked = ("--latency", "0s", "--bandwidth", "64GB/s", "--receive", "64MiB", "--memory", "68.2GB/s")
    data = answer(capsys, "p2p", "--size", "64MiB", *asked)
    assert data["exchange"]["value"] == data["time_s"] == pytest.approx(2**27 / 68.2e9, rel=1e-12)
    assert data["binds"] == "memory that both directions share"
    _, out, _ = hopline(capsys, "p2p", "--size", "64MiB", *asked)
    assert re.search(r"\* both directions at once +1\.968 ms +34\.10 GB/s +memory that both directions share", out)
    assert re.search(r"\n +memory that both directions share +1\.968 ms +binds\n", out)
    assert out.count("hidden behind it") == 2


def test_p2p_plot(capsys):
    code, out, err = hopline(capsys, "p2p", "--size", "64MiB", *LINE, "--hops", "3", "--plot", "cost.svg")
    assert (code, err) == (0, "")
    assert out.endswith("Picture: cost.svg\n")
    assert Path("cost.svg").read_text().startswith("<svg")


EXTREMES = [
    (size, hops, latency)
    for size in ("0B", "1B", "3B", "8PB")
    for hops in ("1", "2", "5")
    for latency in ("0s", "1us")
    if (size, hops, latency) != ("8PB", "1", "0s")
]
"""The one left out is in test_bad_input, where a run that never ends is stopped."""


@pytest.mark.parametrize(("size", "hops", "latency"), EXTREMES)
def test_p2p_extremes(capsys, size, hops, latency):
    asked = ("--size", size, "--latency", latency, "--bandwidth", "64GB/s", "--hops", hops)
    data = answer(capsys, "p2p", *asked)
    assert data["best"]["time"] <= data["ways"]["store-and-forward"]["value"] * (1 + 1e-12)
    assert hopline(capsys, "p2p", *asked)[0] == 0


# --- fit, presets, verify -----------------------------------------------------------------------------------------


def test_fit_in_si(capsys):
    data = answer(capsys, "fit", LOGS / "nccl-a-all-reduce.log", "--predict", "1MiB,1GiB", "--extrapolate")
    (table,) = data["tables"]
    (piece,) = table["pieces"]["curve"]["pieces"]
    assert (piece["latency"], piece["bandwidth"]) == (pytest.approx(20e-6, rel=1e-3), pytest.approx(50e9, rel=1e-3))
    assert [p["extrapolation"] for p in table["predictions"]] == [False, True]
    assert all(p["low_s"] <= p["time_s"] <= p["high_s"] for p in table["predictions"])
    assert piece["latency_interval"][0] <= piece["latency"] <= piece["latency_interval"][1]
    assert "draws" not in table["pieces"]
    assert table["columns"]["size"] == [p for p in table["columns"]["size"] if p > 0]


NO_ROWS = ("nccom-failure.log", "osu-crash.out", "perftest-no-answer.log")
NO_FIT = (
    "nccl-one-rank.log", "perftest-duration.log", "perftest-loopback-interleaved.log",
    "perftest-send-bw-both-ways-dual-port.log", "ucc-barrier.log", "ucx-final-only.csv", "ucx-old-typical.log",
    "ucx-put-bw-intervals.log",
)  # fmt: skip
"""One rank, or fewer than three sizes: what was read is shown all the same."""


def test_fit_every_log(capsys):
    for log in sorted(LOGS.iterdir()):
        code, out, err = hopline(capsys, "fit", log)
        expected = (2, False, 1) if log.name in NO_ROWS else (2, True, 1) if log.name in NO_FIT else (0, True, 0)
        assert (code, bool(out), len(err.splitlines())) == expected, log.name


def test_fit_save_predict_and_price(capsys):
    log = (LOGS / "osu-pairs.out", "--table", "1")
    code, out, _ = hopline(capsys, "fit", *log, "--save", "mine.toml", "--plot", "fit.png", "--predict", "64KiB")
    assert code == 0
    assert "Machine: mine.toml" in out
    assert "Picture: fit.png" in out
    assert Path("fit.png").read_bytes().startswith(b"\x89PNG")
    predicted = answer(capsys, "fit", *log, "--predict", "64KiB")["tables"][0]["predictions"][0]["time_s"]
    priced = answer(capsys, "p2p", "--size", "64KiB", "--machine", "mine.toml", "--path", "rank0,rank1")
    assert priced["time_s"] == pytest.approx(predicted, rel=0.2)
    direct = priced["ways"]["store-and-forward"]
    assert direct["low"] <= priced["time_s"] <= direct["high"]
    _, out, _ = hopline(capsys, "p2p", "--size", "1GiB", "--machine", "mine.toml", "--path", "rank0,rank1")
    assert out.count("Caution: ") == 1


def test_fit_saves_by_name(capsys):
    log = LOGS / "nccl-a-all-reduce.log"
    code, out, _ = hopline(capsys, "fit", log, "--save", "mine")
    assert code == 0
    file = Path(os.environ["HOPLINE_HOME"]) / "mine.toml"
    assert f"Machine: {file}" in out
    assert file.is_file()
    assert not Path("mine").exists()
    assert "mine" in [p["name"] for p in answer(capsys, "presets")]
    assert answer(capsys, "expect", "all_reduce", "--machine", "mine", "-n", "8")["rows"][0]["time_s"] > 0
    code, _, err = hopline(capsys, "p2p", "--size", "1MiB", "--machine", "mine", "--path", "rank0,rank1")
    assert (code, "only measured operations (all_reduce.4)" in err) == (2, True)
    code, _, err = hopline(capsys, "fit", log, "--save", "mine")
    assert (code, "exists" in err) == (2, True)


def test_presets(capsys):
    names = [p["name"] for p in answer(capsys, "presets") if "example" not in p]
    assert names == [
        "a10-pcie", "dgx-a100", "dgx-h100", "gb200-nvl72", "gh200-slingshot", "hgx-b200", "hgx-h200", "sg2260",
        "tcp-cluster",
    ]  # fmt: skip
    for name in names:
        assert answer(capsys, "presets", name)["links"]
        code, text, _ = hopline(capsys, "presets", name, "--toml")
        assert code == 0
        Path("copy.toml").write_text(text)
        assert answer(capsys, "presets", "copy.toml") == answer(capsys, "presets", name)
        code, out, _ = hopline(capsys, "presets", name)
        tried = out.splitlines()[-1]
        assert tried.startswith("Try: hopline ")
        assert hopline(capsys, *tried.split()[2:])[0] == 0


def test_verify_in_json(capsys):
    assert len(answer(capsys, "verify")["rows"]) > 30
    data = answer(capsys, "verify", VECTORS, "--kind", "duplex_*")
    assert (data["passed"], data["failed"]) == (9, 0)


# --- measure and demo, with samples made up -----------------------------------------------------------------------


@pytest.fixture
def made_up(monkeypatch):
    def fake(plan, file, watch):
        measured = measuring.Measured()
        for size in plan.sizes:
            time = 2e-6 + size / 1e10
            measured.add(Sample("latency", "mpi", "h", 2, size, (time, time * 1.01, time * 0.99), 2e-8, "2026-01-01"))
        measured.interrupted = plan.seconds < 1
        return measured

    monkeypatch.setattr(measuring, "measure", fake)


def test_measure(capsys, made_up):
    code, out, err = hopline(capsys, "measure")
    assert (code, err) == (0, "")
    assert "10.00 GB/s" in out
    data = answer(capsys, "measure")
    assert data["samples"][0]["median_s"] == 2e-6
    assert Path(data["machine"]).name == "local.toml"
    assert answer(capsys, "p2p", "--size", "1MiB", "--machine", "local", "--path", "rank0,rank1")["time_s"] > 1e-4
    assert next(p["name"] for p in answer(capsys, "presets")) == "local"


@pytest.mark.parametrize(("name", "file"), [("mine.toml", "mine.toml"), ("below/x", "below/x")])
def test_measure_saves_to_a_file(capsys, made_up, name, file):
    Path(file).parent.mkdir(exist_ok=True)
    code, out, _ = hopline(capsys, "measure", "--save", name)
    assert code == 0
    assert f"Machine: {file}" in out
    assert Path(file).is_file()
    tried = next(line for line in out.splitlines() if line.startswith("Try: hopline "))
    assert hopline(capsys, *tried.split()[2:])[0] == 0


def test_measure_saves_by_name(capsys, made_up):
    assert answer(capsys, "measure", "--save", "mine")["machine"] == str(Path(os.environ["HOPLINE_HOME"]) / "mine.toml")


@pytest.mark.parametrize("name", ["sg2260", "", "a b", "-x", ".x", "x" * 999])
def test_measure_refuses_names_before_it_measures(capsys, monkeypatch, name):
    monkeypatch.setattr(measuring, "measure", lambda *_: pytest.fail("measured"))
    code, out, err = hopline(capsys, "measure", f"--save={name}")
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_an_interrupted_measurement_saves_no_machine(capsys, made_up):
    code, out, err = hopline(capsys, "measure", "--seconds", "10ms")
    assert code == 130
    assert "interrupted after" in err
    assert "Machine: " not in out
    code, out, _ = hopline(capsys, "measure", "--seconds", "10ms", "--json")
    assert (code, json.loads(out)["interrupted"]) == (130, True)


def test_too_few_sizes_to_fit(capsys, made_up):
    code, out, _ = hopline(capsys, "measure", "--sizes", "8B,16B")
    assert code == 0
    assert "No machine is saved: 2 distinct sizes" in out


def test_demo(capsys, made_up):
    code, out, err = hopline(capsys, "demo", "--folder", "d")
    assert code == 0
    assert len(err.splitlines()) == 1
    for said in (
        "Fitted on those sizes",
        "Predicted for sizes that the fit has not seen",
        "Which limit binds",
        "Mean error",
    ):
        assert said in out
    assert {p.suffix for p in Path("d").iterdir()} >= {".png", ".html"}
    data = answer(capsys, "demo", "--folder", "e", "--seconds", "2s")
    assert max(abs(p["predicted_s"] / p["measured_s"] - 1) for p in data["predicted"]) < 0.01


# --- as a process -------------------------------------------------------------------------------------------------


def shell(line, **environment):
    env = {**os.environ, "PYTHONUTF8": "1", "HOP": f"{sys.executable} -m hopline", **environment}
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=env, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_pipe_gets_plain_text():
    code, out, err = shell("$HOP p2p --size 1MiB --latency 1us --bandwidth 10GB/s | cat", TERM="xterm-256color")
    assert (code, err) == (0, "")
    assert out.startswith("1 MiB over 1 hop\n")
    assert "\x1b" not in out


@pytest.mark.parametrize(
    "line", ["$HOP verify | head -1", "$HOP verify --json | head -1", "$HOP presets | true", "$HOP --help | true"]
)
def test_a_closed_pipe_is_quiet(line):
    code, _, err = shell(line)
    assert (code, err) == (0, "")


def test_a_full_disk_is_one_line():
    code, _, err = shell("$HOP presets > /dev/full")
    assert code != 0
    assert len(err.splitlines()) == 1


def test_a_plain_ascii_terminal():
    code, out, _ = shell(
        "$HOP p2p --size 1MiB --latency 1us --bandwidth 10GB/s", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    assert code == 0
    assert "105.9" in out


def test_no_standard_output():
    _, _, err = shell("$HOP presets >&-")
    assert "Traceback" not in err


def test_no_command_needs_a_network(tmp_path):
    """With sockets taken away everything but real runs goes on."""
    (tmp_path / "sitecustomize.py").write_text(
        "import socket\n"
        "def refuse(*a, **k): raise SystemExit('a socket was asked for')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
    )
    lines = [
        f"$HOP fit {LOGS / 'nccl-a-all-reduce.log'} --plot a.html --plot a.html",
        "$HOP p2p --size 1MiB --latency 1us --bandwidth 1GB/s --hops 2 --plot b.png",
        "$HOP presets",
        "$HOP verify",
    ]
    code, _, err = shell(" && ".join(lines), PYTHONPATH=str(tmp_path))
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--size", "1MiB,2MiB"), ("--latency", "1us,2us"), ("--bandwidth", "1GB/s,2GB/s"), ("--hops", "2,3"),
        ("--switch-latency", "100ns,200ns"), ("--chunks", "2,4"), ("--chunk", "64KiB,128KiB"), ("--header", "64B,4KiB"),
        ("--flit", "32B,64KiB"), ("--route-time", "1ns,2ns"), ("--receive", "1KiB,4MiB"),
    ],
)  # fmt: skip
def test_every_argument_may_be_a_list(option, values, capsys):
    """A list gives what its members give one by one."""
    given = {"--size": "1MiB", "--latency": "1us", "--bandwidth": "1GB/s", "--hops": "3"}
    if option in ("--chunks", "--chunk"):
        given["--way"] = "pipelined"
    rows = []
    for value in (values, *values.split(",")):
        words = [word for pair in {**given, option: value}.items() for word in pair]
        assert code_of(["p2p", *words, "--json"]) == 0
        rows.append(json.loads(capsys.readouterr().out))
    together, *alone = rows
    assert [row["time_s"] for row in together] == [answer["time_s"] for answer in alone]
    assert [row["binds"] for row in together] == [answer["binds"] for answer in alone]


def test_the_parts_of_a_start_up_are_told(capsys):
    assert code_of(["p2p", "--size", "64KiB", "--machine", "sg2260", "--path", "a1,b0", "--ranks", "8"]) == 0
    assert "start-up of a1>a0 (c2c)  250.0 ns software + 950.0 ns synchronisation" in capsys.readouterr().out


def test_a_turnaround_that_is_not_given_is_that_of_the_whole_path(capsys):
    hops = ["--hop", "0.25us:64GB/s", "--hop", "2us:25GB/s"]
    assert code_of(["p2p", "--size", "64MiB", *hops, "--in-flight", "1", "--payload", "256B"]) == 0
    printed = capsys.readouterr().out
    assert "requests in flight (1 x 256 B per 2.250 µs)" in printed
    assert "a request's turnaround is the start-up, 2.250 µs" in printed
