"""``hopline slots`` as it is typed."""

from __future__ import annotations

import json

import pytest
from typed import hopline as typed

BOOK = "--size 8KiB --slots 16 --issue 1us --turnaround 5us --poll 20us --batch 4"


@pytest.fixture
def run(capsys):
    return lambda text: typed(capsys, *text.split())


def answered(run, text):
    code, out, err = run(text)
    assert (code, err) == (0, "")
    return out


def test_one_look_tells_all(run):
    out = answered(run, f"slots --requests 16 {BOOK} --target 50GB/s")
    for told in ("transfer end  20.00 µs", "release end   80.00 µs", "200 K/s, 1.638 GB/s", "Binds: completion processing",
                 "release at each completion  8.192 GB/s  x 5", "6.104 M/s", "at least 31, with these polls at least 123",
                 "Reached with: 153 slots"):  # fmt: skip
        assert told in out


def test_json_has_the_same(run):
    data = json.loads(answered(run, f"slots --requests 16 {BOOK} --target 50GB/s --json"))
    assert (data["times"]["transfer_end_s"], data["times"]["release_end_s"]) == (2e-5, 8e-5)
    assert data["long_run"]["bytes_per_s"] == 1638400000
    assert data["binds"] == ["completions"]
    assert {
        row["slots"]: row["release_end_s"] if "release_end_s" in row else row["release_end"] for row in data["slots"]
    }[8] == 8e-5
    assert data["target"]["changed"]["count"] == 153


def test_the_target_is_just_reached(run):
    one_less = BOOK.replace("--slots 16", "--slots 152").replace("1us", "0.16384us").replace("--batch 4", "--batch 123")
    below = json.loads(answered(run, f"slots {one_less} --json"))["long_run"]
    enough = json.loads(answered(run, f"slots {one_less.replace('152', '153')} --json"))["long_run"]
    assert below["bytes_per_s"] < 50e9 * (1 - 1e-6)
    assert enough["bytes_per_s"] == pytest.approx(50e9, rel=1e-12)


def test_turnaround_by_load(run):
    out = answered(run, "slots --size 4KiB --slots 64 --loaded 1:2us,16:3us,64:9us")
    assert "7.111 M/s, 29.13 GB/s" in out
    queue = answered(run, "slots --size 256B --slots 64 --turnaround 2us --service 40ns --queue exponential")
    assert "128 slots            6.400 GB/s  x 1.01" in queue


def test_buffers(run):
    assert "12 buffers" in answered(run, "slots buffers --period 4us --busy 30us --poll 20us")
    assert json.loads(answered(run, "slots buffers --period 4us --busy 30us --poll 20us --batch 4 --json")) == {
        "buffers": None
    }
    assert "No number is enough" in answered(run, "slots buffers --period 4us --busy 30us --poll 20us --batch 4")


def test_state(run):
    out = answered(run, "slots state --nodes 128 --processes 8")
    assert "RC         8,128" in out
    assert "jetty        135" in out
    data = json.loads(answered(run, "slots state --nodes 128 --processes 8 --queue-pair 256B --json"))
    assert data["rows"]["uniform"][0]["context_bytes"] == 8128 * 256 + 512


def test_faults(run):
    out = answered(run, "slots faults --slots 64 --turnaround 10us --endpoints 8 --dead 1")
    assert "stands still after 350.0 µs" in out
    assert "87.5 % is left" in out
    data = json.loads(answered(run, "slots faults --slots 64 --turnaround 10us --lost-every 100 --json"))
    assert data["shared"][0]["simulated_per_s"] == 0
    assert data["leaks"]["all_s"] == pytest.approx(4.744e-3, rel=1e-3)
    assert "lose nothing" in answered(
        run, "slots faults --slots 64 --turnaround 10us --issue 1us --endpoints 8 --dead 1"
    )


PICTURES = [
    f"slots --requests 16 {BOOK}",
    "slots state --nodes 4 --processes 2",
    "slots faults --slots 8 --turnaround 10us --endpoints 4 --dead 1",
    "slots --requests 3 --size 8KiB --turnaround 1us",
]


@pytest.mark.parametrize("text", PICTURES)
def test_pictures(run, tmp_path, text):
    file = tmp_path / "x.svg"
    assert str(file) in answered(run, f"{text} --plot {file}")
    assert "<svg" in file.read_text()


WRONG = {
    "": "--size is missing",
    "--size 8KiB --slots 0": "below 1",
    "--size 8KiB --slots 9999999": "expected 1 to 100,000",
    "--size 8KiB --batch 4": "mean nothing without --poll",
    "--size 8KiB --after 1us": "--after means nothing without --every",
    "--size 8KiB --slots 16 --every 32": "never comes",
    "--size 8KiB --slots 16 --every 4 --poll 1us": "expected one way",
    "--size 8KiB --slots 65 --loaded 1:2us,64:3us": "up to 64 in flight, with 65 slots",
    "--size 8KiB --slots 4 --loaded 4:2us,1:3us": "numbers that ascend",
    "--size 8KiB --slots 4 --loaded 4": "expected COUNT:TIME",
    "--size 8KiB --slots 4 --loaded 4:2us --turnaround 1us": "leave --turnaround and --service away",
    "--size 8KiB --queue exponential": "means nothing without --service",
    "--size 8KiB --service 1us": "--service needs --slots",
    "--size 8KiB --slots 4 --service 0us": "service time",
    "--size 8KiB --plot x.png": "give --requests",
    "--size 8KiB --requests 99999999": "expected 0 to 10,000,000",
    "--size 0 --target 1GB/s": "size",
    "--size 8KiB state --nodes 2 --processes 2": "--size goes behind state",
    "state": "--nodes and --processes are needed",
    "state --nodes 2 --processes 2 --peers 3": "3 peers: expected at most the 2",
    "buffers": "--period and --busy are needed",
    "buffers --period 1us --busy 1us --batch 3": "mean nothing without --poll",
    "faults": "--slots, and --dead or --lost-every are needed",
    "faults --slots 4 --dead 3 --endpoints 2": "3 dead of 2 endpoints",
    "faults --slots 4 --dead 1 --endpoints 2 --timeout 0us": "timeout",
    "faults --slots 4 --dead 1 --bandwidth 1GB/s": "--bandwidth needs --size",
}


@pytest.mark.parametrize("text", WRONG)
def test_bad_input_is_one_line(run, text):
    code, out, err = run(f"slots {text}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert WRONG[text] in err


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (("--lost-every", "1", "--timeout", "50us"), "0 /s"),
        (("--endpoints", "4", "--dead", "4", "--timeout", "50us"), "0 /s"),
        (("--endpoints", "1023", "--dead", "1022", "--timeout", "20us"), "slots gone"),
    ],
)
def test_faults_of_which_nearly_nothing_is_answered_end(capsys, faults, said):
    code, out, err = typed(capsys, "slots", "faults", "--slots", "4", "--turnaround", "10us", *faults)
    assert (code, err) == (0, "")
    assert said in out


def test_a_timeout_below_the_turnaround_is_refused(capsys):
    told = ("--slots", "4", "--turnaround", "10us", "--lost-every", "9", "--timeout", "5us")
    code, _, err = typed(capsys, "slots", "faults", *told)
    assert (code, err.count("\n")) == (2, 1)
    assert "below the turnaround" in err
