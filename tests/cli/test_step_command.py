"""hopline step: what is typed, what is answered in words, what is drawn, what is refused."""

import json

import pytest
from typed import hopline

BOOK = ["--compute", "20ms", "--comm", "7.6ms", "--update", "2ms"]


def answered(capsys, *arguments):
    code, out, err = hopline(capsys, "step", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def told(capsys, *arguments):
    code, out, err = hopline(capsys, "step", *arguments)
    assert (code, err) == (0, "")
    return out


def test_why_83_per_cent_less_is_21_per_cent_less(capsys):
    out = told(capsys, *BOOK, "--comm-after", "1.3ms")
    assert "82.9 % less, 5.85 times as fast) the step takes 23.30 ms: 21.3 % less, 1.27 times as fast." in out
    assert "82.9 % of 25.7 % is 21.3 %." in out
    assert "Ceiling: if communication cost nothing the step would take 22.00 ms, 1.345 times as fast as now" in out
    data = answered(capsys, *BOOK, "--comm-after", "1.3ms")
    assert data["speedup"] == pytest.approx(29.6 / 23.3)
    assert data["reduction"] == pytest.approx(6.3 / 29.6)
    assert data["comm_reduction"] == pytest.approx(6.3 / 7.6)
    assert data["ceiling_speedup"] == pytest.approx(29.6 / 22)


def test_what_is_hidden_costs_nothing(capsys):
    out = told(capsys, *BOOK, "--comm-after", "1.3ms", "--ready", "17ms")
    assert "3.000 ms hidden behind compute, 4.600 ms exposed (17.3 % of the step)" in out
    assert "Of 6.300 ms saved 4.600 ms count; the other 1.700 ms were hidden and cost nothing." in out
    assert "Ceiling: reached." in out
    assert "Moves nothing, because communication is hidden (1.700 ms to spare): communication, gradients ready." in out
    assert "nothing is hidden and the step takes 23.30 ms" in out
    out = told(capsys, "--compute", "20ms", "--comm", "1.3ms", "--faster", "2", "--ready", "17ms")
    assert "Why nothing changes: communication was hidden already." in out


def test_buckets_and_the_mistake_about_them(capsys):
    out = told(capsys, *BOOK, "--ready", "9.5ms", "--buckets", "8")
    assert out.startswith("A step of 22.95 ms\n")
    assert "would say 22.00 ms: it overlooks that." in out
    assert "The last bucket is made last: it is ready as compute ends and cannot be hidden." in out


def test_contention(capsys):
    data = answered(
        capsys, "--compute", "20ms", "--comm", "16ms", "--buckets", "4", "--slow-compute", "1.5", "--slow-comm", "2"
    )
    assert data["now"]["slowed_s"] > 0
    assert data["now"]["step_s"] == pytest.approx(data["now"]["compute_end_s"] + data["now"]["exposed_s"])


def test_a_pipeline_has_two_shares(capsys):
    out = told(capsys, "--compute", "96ms", "--comm", "4ms", "--stages", "8", "--microbatches", "32")
    assert "Stages wait 21.00 ms of 117.0 ms: 21.9 % of the work of 96.00 ms, 17.9 % of the whole time." in out
    data = answered(capsys, "--compute", "96ms", "--comm", "4ms", "--stages", "8", "--microbatches", "32")
    assert (data["bubble"]["over_ideal"], data["bubble"]["over_total"]) == (
        pytest.approx(7 / 32),
        pytest.approx(7 / 39),
    )


def test_backwards(capsys):
    out = told(capsys, *BOOK, "--ready", "17ms", "--target", "22ms")
    assert "To reach a step of 22.00 ms: any one of these alone" in out
    data = answered(capsys, *BOOK, "--ready", "17ms", "--target", "22ms")
    values = {row["name"]: row["value"] for row in data["reached"]}
    assert values == {
        "compute": pytest.approx(0.248 / 17),
        "update": None,
        "communication": 0.003,
        "gradients ready": 0.0124,
    }
    assert "communication  7.600 ms  reaches it nowhere: 22.00 ms remain" in told(capsys, *BOOK, "--target", "21ms")


@pytest.mark.parametrize(
    "sent", ["--size 4B", "--size 0 --latency 1us", "--size 1MiB --latency 30us --bucket-size 4MiB"]
)
def test_little_to_send_is_one_bucket(capsys, sent):
    """Also where it cannot be cut into as many as would be suggested, and where a bucket would hold more."""
    code, out, _ = hopline(capsys, "step", "--compute", "1ms", "--bandwidth", "50GB/s", *sent.split())
    assert code == 0
    assert "buckets beside compute" not in out or "MiB" in sent


def test_a_budget_in_requests(capsys):
    line = ["--compute", "20ms", "--size", "24MiB", "--bandwidth", "50GB/s", "--request", "256B", "--turnaround", "2us"]
    data = answered(capsys, *line, "--in-flight", "128", "--budget", "1ms")
    assert data["now"]["comm_s"] == pytest.approx(1.536e-3)
    assert data["target_is"] == "communication"
    assert {row["name"]: row["value"] for row in data["reached"]}["requests in flight"] == 197


def test_a_collective_on_a_machine(capsys):
    asked = ["--compute", "20ms", "--size", "192MiB", "--op", "all_reduce", "-n", "16"]
    ring = answered(capsys, *asked, "--algorithm", "ring", "--latency", "0", "--bandwidth", "50GB/s")
    assert ring["now"]["comm_s"] == pytest.approx(2 * 15 / 16 * 192 * 2**20 / 50e9)
    out = told(capsys, *asked[:-1], "128", "--machine", "dgx-h100")
    assert "128 are priced as more nodes joined alike" in out
    assert "all_reduce of 192 MiB on 128 ranks takes" in out


def test_a_line(capsys):
    data = answered(capsys, "--compute", "20ms", "--size", "192MiB", "--bucket-size", "8MiB", "--backward", "12ms", "--latency", "30us", "--bandwidth", "26666666666B/s")  # fmt: skip
    assert data["now"]["step_s"] == pytest.approx(0.020344572800007866, rel=1e-12)
    assert len(data["now"]["buckets"]) == 24


LINE = ["--compute", "20ms", "--update", "2ms", "--size", "192MiB", "--bandwidth", "50GB/s", "--latency", "30us"]
SOLVED = {
    "compute": (BOOK[2:], "--compute", "26.6666ms"),
    "update": (["--compute", "20ms", "--comm", "7.6ms", "--ready", "17ms"], "--update", "26ms"),
    "communication": (["--compute", "20ms", "--update", "2ms"], "--comm", "22.66666ms"),
    "gradients ready": (BOOK, "--ready", "24.77777ms"),
    "bytes sent": ([*LINE[:4], *LINE[6:]], "--size", "24.33333ms"),
    "bandwidth": ([*LINE[:6], "--latency", "30us"], "--bandwidth", "24.33333ms"),
    "latency": ([*LINE[:8], "--buckets", "200"], "--latency", "22.033333ms"),
}
GIVEN = {"--compute": "20ms", "--update": "2ms", "--comm": "7.6ms", "--ready": "17ms", "--size": "192MiB", "--bandwidth": "50GB/s",
         "--latency": "50us"}  # fmt: skip


@pytest.mark.parametrize(("name", "case"), SOLVED.items(), ids=SOLVED)
def test_what_is_printed_reaches_it(capsys, name, case):
    """Typed in as it stands there, and the last digit further it no longer does."""
    rest, option, target = case
    out = told(capsys, *rest, option, GIVEN[option], "--target", target)
    line = next(line for line in out[out.index("To reach") :].splitlines() if line.startswith(f"  {name}  "))
    printed = line.rsplit("  ", 1)[1].strip()
    seconds = answered(capsys, *rest, option, whole(printed), "--target", target)["now"]["step_s"]
    assert seconds <= float(target[:-2]) / 1000
    number, unit = printed.split()
    step = 10.0 ** -len(number.partition(".")[2]) * (-1 if name == "bandwidth" else 1)
    further = f"{float(number) + step:.6f} {unit}"
    assert (
        answered(capsys, *rest, option, whole(further), "--target", target)["now"]["step_s"] > float(target[:-2]) / 1000
    )


def whole(printed):
    """Bytes are whole: a size in binary units is typed in bytes."""
    number, unit = printed.split()
    return f"{int(float(number) * 2**20)} B" if unit == "MiB" else printed


def test_buckets_that_reach_it_are_typed_back(capsys):
    out = told(capsys, *LINE, "--buckets", "8", "--target", "22.25ms")
    assert "The best number of equal buckets of up to 100,000 is 310" in out
    line = next(line for line in out[out.index("To reach") :].splitlines() if line.startswith("  buckets "))
    first, last = (int(number) for number in line.rsplit("  ", 1)[1].split(" to "))
    steps = {
        n: answered(capsys, *LINE, "--buckets", str(n))["now"]["step_s"] for n in (first - 1, first, last, last + 1)
    }
    assert max(steps[first], steps[last]) <= 0.02225 < min(steps[first - 1], steps[last + 1])


def test_the_next_thing_is_of_communication(capsys):
    last = told(capsys, *BOOK).partition("Next\n")[2].splitlines()
    assert last[0].startswith("Communication costs the step 7.600 ms")
    assert "buckets beside compute 1 -> 8" in last[0]
    assert last[1].startswith("Of the rest this moves most: compute 20.00 ms -> 18.00 ms")
    hops = [
        "--compute",
        "20ms",
        "--comm",
        "0.2ms",
        "--stages",
        "4",
        "--microbatches",
        "8",
        "--hop",
        "1ms",
        "--buckets",
        "4",
    ]
    first = told(capsys, *hops).partition("Next\n")[2].splitlines()[0]
    assert "hop" not in first


def test_times_alone_do_not_tell_how_many_buckets(capsys):
    out = told(capsys, *BOOK, "--ready", "9.5ms", "--buckets", "8")
    assert "The best number of buckets cannot be told from times alone" in out
    assert "buckets 8 -> 16" not in out.partition("Next\n")[2]
    free = told(capsys, *LINE[:8], "--buckets", "8")
    assert "More buckets are ever better, up to the 100,000 that were looked at." in free


def test_factors_of_a_network_are_told_as_such(capsys):
    out = told(capsys, "--compute", "20ms", "--size", "192MiB", "--op", "all_reduce", "-n", "16", "--latency", "1us", "--bandwidth", "50GB/s")  # fmt: skip
    assert "bandwidth of the network       x 1      x 1.1" in out
    uneven = ["--level", "4:1us:400GB/s", "--level", "3:5us:50GB/s"]
    out = told(capsys, "--compute", "20ms", "--size", "192MiB", "--op", "all_reduce", *uneven)
    assert "The collective's closed form is one of bounds: the step takes" in out


def test_the_bubble_is_a_part_of_its_own(capsys):
    out = told(capsys, "--compute", "96ms", "--comm", "4ms", "--stages", "8", "--microbatches", "32")
    assert "compute                 96.00 ms\n  bubble of the pipeline  21.00 ms" in out


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--comm-after", "1.3ms", "--ready", "17ms"],
        ["--buckets", "8"],
        ["--buckets", "900", "--stages", "4", "--microbatches", "8"],
    ],
)
def test_pictures(capsys, tmp_path, more):
    file = tmp_path / "step.svg"
    out = told(capsys, *BOOK, *more, "--plot", str(file))
    assert f"Picture: {file}" in out
    drawn = file.read_text()
    assert "exposed communication" in drawn
    assert ("bubble" in drawn) is ("--stages" in more)
    assert drawn.count('aria-roledescription="bar"') >= 3


BAD = {
    "nothing": ("", "--compute is missing"),
    "no compute": ("--compute 0", "--compute is 0"),
    "no unit": ("--compute 20", "has no unit"),
    "two times": ("--compute 1ms --comm 1ms --size 1MiB", "--comm and --size say the same twice"),
    "two changes": ("--compute 1ms --comm 1ms --comm-after 1us --faster 2", "say the same twice"),
    "bytes over nothing": ("--compute 1ms --size 1MiB", "1 MiB over what?"),
    "too late": ("--compute 1ms --comm 1ms --ready 2ms", "expected a time within it"),
    "too late for buckets": ("--compute 1ms --comm 1ms --buckets 4 --ready 2ms", "expected a time within it"),
    "a backward pass of one collective": ("--compute 1ms --comm 1ms --backward 1us", "--backward needs --buckets"),
    "a backward pass that is too long": ("--compute 1ms --comm 1ms --buckets 2 --backward 2ms", "expected at most as long"),
    "no bytes": ("--compute 1ms --size 0 --bandwidth 1GB/s --buckets 2", "0 bytes in buckets"),
    "more buckets than bytes": ("--compute 1ms --size 1B --bandwidth 1GB/s --ready 1ms --buckets 2", "at most one a byte"),
    "too many buckets": ("--compute 1ms --size 1GiB --bandwidth 1GB/s --bucket-size 1B", "1,073,741,824 buckets"),
    "stages alone": ("--compute 1ms --comm 1ms --stages 2", "--stages needs --microbatches"),
    "a machine alone": ("--compute 1ms --comm 1ms --machine dgx-h100", "--machine needs --op"),
    "no ranks": ("--compute 1ms --size 1MiB --op all_reduce --latency 1us --bandwidth 1GB/s", "-n is missing"),
    "an unknown collective": ("--compute 1ms --size 1MiB --op all_reduse -n 2 --latency 1us --bandwidth 1GB/s", "did you mean"),
    "a collective without bytes": ("--compute 1ms --size 1MiB --op barrier -n 2 --latency 1us --bandwidth 1GB/s", "moves no bytes"),
    "a line beside a machine": ("--compute 1ms --size 1MiB --op all_reduce -n 2 --machine dgx-h100 --latency 1us", "--latency does not go"),
    "two aims": ("--compute 1ms --comm 1ms --target 1ms --budget 1ms", "give one of them"),
    "a window alone": ("--compute 1ms --size 1MiB --bandwidth 1GB/s --request 1KiB", "--request needs --turnaround"),
    "endlessly slower": ("--compute 20ms --comm 7.6ms --faster 1e-320", "too large or too small"),
    "an endless step": ("--compute 1e305s --comm 1s --target 1s", "too large or too small"),
    "an endless rate": ("--compute 1s --size 1GiB --bandwidth 1e305B/s --target 1s", "too large or too small"),
    "too large": ("--compute 1e300s --comm 1e300s --faster 1e-300", "too large or too small"),
    "faster than any number": ("--compute 1ms --comm 1ms --faster nan", "'nan' is not a finite number"),
    "faster without end": ("--compute 1ms --comm 1ms --faster inf", "'inf' is not a finite number"),
    "no number in flight": ("--compute 1ms --size 1MiB --bandwidth 1GB/s --request 1KiB --turnaround 1us --in-flight nan", "not a finite"),
    "no number slower": ("--compute 1ms --comm 1ms --ready 1ms --slow-compute nan", "not a finite number"),
    "slower without end": ("--compute 1ms --comm 1ms --ready 1ms --slow-comm inf", "not a finite number"),
    "slower beside nothing": ("--compute 1ms --comm 1ms --slow-compute 2", "--slow-compute needs --ready or --buckets"),
    "faster at nothing": ("--compute 1ms --faster 2", "--faster needs --comm or --size"),
    "buckets of nothing": ("--compute 1ms --buckets 2", "--buckets needs --comm or --size"),
    "a hop of one stage": ("--compute 1ms --stages 1 --microbatches 2 --hop 1us", "of several stages"),
    "an unknown collective on a machine": ("--compute 1ms --size 1MiB --op nonsense --machine dgx-h100", "unknown collective"),
    "a picture of nothing": ("--compute 1ms --plot step.txt", "kind of picture"),
}  # fmt: skip


@pytest.mark.parametrize(("typed", "said"), BAD.values(), ids=BAD)
def test_bad_questions_are_one_line(capsys, typed, said):
    code, out, err = hopline(capsys, "step", *typed.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
