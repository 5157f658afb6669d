"""hopline queue: what is typed, what is answered, what is drawn, what is refused."""

import json

import pytest
from typed import hopline

BURST = ["--arrival", "100GB/s,40GB/s@20us", "--service", "50GB/s", "--capacity", "512KiB", "--initial", "256KiB"]
LATE = [
    "--arrival",
    "100GB/s",
    "--service",
    "50GB/s",
    "--capacity",
    "512KiB",
    "--initial",
    "256KiB",
    "--after",
    "40GB/s",
]
LOOP = ["--loop", "proportional:time=10us,setpoint=64KiB", "--service", "50GB/s"]
PATHS = ["--paths", "5us,6us,7us,11us", "--packet", "4KiB", "--arrival", "50GB/s"]


def answered(capsys, *arguments):
    code, out, err = hopline(capsys, "queue", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_burst(capsys):
    (queue,) = answered(capsys, *BURST)["queues"]
    assert queue["dropped_bytes"] == 737_856
    assert queue["first_drop_s"] == 5.24288e-6
    assert queue["last_empty_instant_s"] == 72.4288e-6
    again = ["512KiB", str(int(queue["needed_capacity_bytes"])) + "B"]
    (larger,) = answered(capsys, *(again[1] if word == again[0] else word for word in BURST))["queues"]
    assert larger["dropped_bytes"] == 0
    service = f"{50 * queue['needed_service_factor']!r}GB/s"
    (faster,) = answered(capsys, *(service if word == "50GB/s" else word for word in BURST))["queues"]
    assert faster["dropped_bytes"] == 0


def test_a_burst_as_text(capsys):
    code, out, _ = hopline(capsys, "queue", *BURST)
    assert code == 0
    assert "737,856 B (720.6 KiB) are dropped, first at 5.243 µs, full for 14.76 µs; empty at the end." in out
    assert "a buffer of    1.204 MiB  2.41 x" in out


def test_two_in_series(capsys):
    bursts = [
        "--arrival",
        "100GB/s,0@3us",
        "--every",
        "8us",
        "--horizon",
        "40us",
        "--service",
        "50GB/s",
        "--capacity",
        "100KB",
    ]
    first, second = answered(capsys, *bursts, "--then", "30GB/s:64KiB:1us")["queues"]
    assert first["dropped_bytes"] == 5 * 50_000
    assert [round(part["start_s"] * 1e6) for part in first["drops"]] == [2, 10, 18, 26, 34]
    assert second["max_occupancy_bytes"] == 65_536
    _, out, _ = hopline(capsys, "queue", *bursts, "--then", "30GB/s:64KiB:1us")
    assert "a buffer of queue 2 of" in out


def test_equality_never_drains(capsys):
    _, out, _ = hopline(capsys, "queue", *LATE[:-1], "50GB/s", "--feedback", "20us")
    assert "λ = B: it grows no further and never drains" in out
    _, out, _ = hopline(capsys, "queue", *LATE[:-1], "60GB/s", "--feedback", "5us")
    assert "drops 10.00 GB/s for good. Only λ < B drains." in out


def test_late_feedback(capsys):
    found = answered(capsys, *LATE, "--feedback", "20us", "--drain", "30us")
    assert found["bound"] == {"longest": 5.24288e-6, "excess": 1e6, "dropped": 737_856, "overflow": True}
    assert found["episode"]["empty"] == 72.4288e-6
    assert found["remedies"]["threshold"] is None
    assert found["remedies"]["after"] == pytest.approx(50e9 - 524_288 / 30e-6)
    _, out, _ = hopline(capsys, "queue", *LATE, "--feedback", "20us")
    assert "Feedback may take 5.243 µs; it takes 20.00 µs" in out


def test_a_loop_says_where_it_begins_to_swing(capsys):
    found = answered(capsys, *LOOP, "--delay", "2us,10us,17us")
    assert found["limit_s"] == pytest.approx(15.708e-6, rel=1e-4)
    assert [run["verdict"] for run in found["runs"]] == ["settles", "settles", "swings"]
    _, out, _ = hopline(capsys, "queue", *LOOP, "--delay", "17us")
    assert "It settles with a delay below 15.71 µs" in out
    assert "time=21.65 µs" in out


def test_the_remedy_of_a_loop_settles(capsys):
    found = answered(
        capsys, "--loop", "proportional:time=21.65us,setpoint=64KiB", "--service", "50GB/s", "--delay", "17us"
    )
    assert found["runs"][0]["verdict"] == "settles"
    assert found["limit_s"] == pytest.approx(2 * 17e-6, rel=1e-3)


def test_marks_and_their_remedy(capsys):
    law = "aimd:kmin=400KB,kmax={},step=5Gb/s,period=55us,sources=8"
    rest = ["--service", "50GB/s", "--delay", "10us", "--start", "50GB/s", "--initial", "650KB"]
    assert answered(capsys, "--loop", law.format("1600KB"), *rest)["runs"][0]["verdict"] == "swings"
    wider = answered(capsys, "--loop", law.format("5369757B"), *rest)
    assert wider["limit_s"] == pytest.approx(20e-6, rel=1e-3)
    assert wider["runs"][0]["verdict"] in ("calms down", "settles")


def test_stop_and_go(capsys):
    _, out, _ = hopline(
        capsys,
        "queue",
        "--loop",
        "pause:xoff=200KiB,xon=150KiB",
        "--service",
        "50GB/s",
        "--line",
        "100GB/s",
        "--delay",
        "5us",
    )
    assert "swings between 0 B and 444.1 KiB" in out
    assert "xon at 244.1 KiB or more" in out


def test_what_starts_empty_and_stays_so_is_not_said_to_settle(capsys):
    law = "aimd:kmin=100KB,kmax=400KB,step=40Mb/s,period=55us,sources=8"
    found = answered(capsys, "--loop", law, "--service", "50GB/s", "--delay", "1us", "--horizon", "1ms")
    assert found["runs"][0]["verdict"] == "is empty"


def test_reordering(capsys):
    found = answered(capsys, *PATHS)
    assert (found["packets"], found["size"], found["fluid"]) == (46, 188_416, 187_500)
    _, out, _ = hopline(capsys, "queue", *PATHS)
    assert "46 packets    184 KiB" in out
    assert answered(capsys, *PATHS, "--pattern", "0,0,0,3", "--packets", "9")["packets"] > 0


@pytest.mark.parametrize(
    ("question", "curves"),
    [
        (BURST, 2),
        ([*LATE, "--feedback", "20us"], 4),
        ([*LOOP, "--delay", "2us,17us"], 2),
    ],
)
def test_pictures(capsys, tmp_path, question, curves):
    file = tmp_path / "queue.svg"
    code, out, _ = hopline(capsys, "queue", *question, "--plot", str(file))
    assert (code, f"Picture: {file}" in out) == (0, True)
    drawn = file.read_text()
    assert drawn.count("mark-line") >= curves
    assert ("drops" in drawn) is ("--loop" not in question)


BAD = {
    "nothing": ("", "needs --arrival and --service"),
    "no service": ("--arrival 1GB/s", "needs --service"),
    "no unit": ("--arrival 100 --service 50GB/s", "has no unit"),
    "a step without its time": ("--arrival 1GB/s,2GB/s --service 1GB/s", "does not say from when on"),
    "a late first step": ("--arrival 1GB/s@1us --service 1GB/s", "the first starts at 1.000 µs"),
    "growth without end": ("--arrival 2GB/s --service 1GB/s", "give --horizon"),
    "more than it holds": ("--arrival 2GB/s --service 1GB/s --capacity 1KiB --initial 2KiB", "starts with 2048 bytes"),
    "bursts without end": ("--arrival 2GB/s --service 1GB/s --every 1us", "give --horizon"),
    "no time to look": ("--arrival 2GB/s --service 1GB/s --horizon 0s", "horizon is 0.0"),
    "two questions": ("--loop pause:xoff=2KB,xon=1KB --paths 1us", "different questions"),
    "a stray option": ("--arrival 1GB/s --service 1GB/s --delay 1us", "--delay does not go without --loop"),
    "a stray option of a loop": (
        "--loop pause:xoff=2KB,xon=1KB --service 1GB/s --delay 1us --arrival 1GB/s",
        "does not go with",
    ),
    "no delay": ("--loop pause:xoff=2KB,xon=1KB --service 1GB/s", "needs --delay"),
    "an unknown law": ("--loop pid:p=1 --service 1GB/s --delay 1us", "unknown law 'pid'"),
    "a loop without service": ("--loop pause:xoff=2KB,xon=1KB --service 0 --delay 1us", "service is 0.0"),
    "marks that cannot hold": (
        "--loop aimd:kmin=1KB,kmax=2KB,step=9GB/s,period=1us --service 1GB/s --delay 1us",
        "a deeper cut",
    ),
    "rates in steps for feedback": (
        "--arrival 1GB/s,2GB/s@1us --service 1GB/s --capacity 1KB --feedback 1us --after 0",
        "changes",
    ),
    "no after": ("--arrival 1GB/s --service 1GB/s --capacity 1KB --feedback 1us", "needs --after"),
    "a third colon": ("--arrival 1GB/s --service 1GB/s --then 1GB/s:1KB:1us:1", "has 4 parts"),
    "an unknown path": ("--paths 1us --packet 1KB --arrival 1GB/s --pattern 7", "takes path 7"),
    "no pattern": ("--paths 1us --packet 1KB --arrival 1GB/s --pattern x", "no list of path numbers"),
    "a picture of packets": ("--paths 1us --packet 1KB --arrival 1GB/s --plot a.svg", "nothing over time"),
}


@pytest.mark.parametrize(("typed", "said"), BAD.values(), ids=BAD)
def test_bad_questions_are_one_line(capsys, typed, said):
    code, out, err = hopline(capsys, "queue", *typed.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
