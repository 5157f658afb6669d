"""``hopline sim`` as it is typed."""

import gzip
import json
import re

import pytest
from typed import hopline

PLAIN = ("--latency", "1us", "--bandwidth", "50GB/s")
LEVELS = ("--level", "8:0us:450GB/s", "--level", "2:0us:50GB/s")


def answer(capsys, *arguments):
    code, out, err = hopline(capsys, "sim", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_formula_and_simulation_stand_side_by_side(capsys):
    code, out, _ = hopline(capsys, "sim", "all_reduce-ring", "-n", "16", "--size", "192MiB", *PLAIN)
    assert code == 0
    assert "7.579747 ms" in out
    assert "closed form 7.579747 ms: the same" in out
    assert re.search(r"messages +480 +5.625 GiB in all", out)


def test_json_is_complete(capsys):
    found = answer(capsys, "all_reduce-ring", "-n", "16", "--size", "192MiB", *PLAIN)
    assert found["time_ps"] == 7_579_747_200
    assert found["closed_form_s"]["least"] == pytest.approx(7.5797472e-3)
    assert found["finish_ps"] == [7_579_747_200] * 16
    assert found["critical_path_shares"] == {"messages": pytest.approx(1.0)}
    assert found["critical_path"][0] == {
        "kind": "send", "rank": 0, "peer": 1, "size": 12 << 20, "start": 0.0, "end": pytest.approx(252.65824e-6),
    }  # fmt: skip


def test_the_books_comparison(capsys):
    """One ring, a hierarchy and eight rings over 2 x 8 ranks, 192 MiB."""
    times = {
        name: answer(capsys, name, "--size", "192MiB", *LEVELS)["time_s"]
        for name in ("all_reduce-flat_ring", "all_reduce-hierarchical", "all_reduce-rings")
    }
    assert times["all_reduce-flat_ring"] == pytest.approx(7.5497e-3, rel=1e-4)
    assert times["all_reduce-hierarchical"] == pytest.approx(1.28625e-3, rel=1e-4)
    assert 0.9437e-3 < times["all_reduce-rings"] < times["all_reduce-hierarchical"]


def test_a_machine_shares_its_ports(capsys):
    found = answer(capsys, "all_reduce-ring", "--machine", "dgx-h100", "-n", "16", "--size", "64MiB")
    port = next(iter(found["ports"]))
    assert "nic" in port
    assert found["ports"][port] == pytest.approx(0.986, abs=0.01)


def test_loggops_gives_the_published_example(capsys):
    """8 hosts, 1024 B, L=2500 o=1500 g=1000 G=6 ns: LogGOPSim's README."""
    found = answer(
        capsys, "reduce-binomial", "-n", "8", "--size", "1KiB", "--loggops", "L=2500ns,o=1500ns,g=1000ns,G=6ns"
    )
    assert sorted(found["finish_ps"]) == [1_500_000] * 4 + [13_138_000] * 2 + [24_776_000, 34_914_000]


def test_traces_and_pictures_are_written(capsys, tmp_path):
    trace, picture = tmp_path / "ring.json.gz", tmp_path / "ring.svg"
    asked = ("all_reduce-ring", "-n", "4", "--size", "1MiB", *PLAIN, "--trace", trace, "--plot", picture)
    code, out, _ = hopline(capsys, "sim", *asked)
    assert code == 0
    assert str(trace) in out
    assert json.loads(gzip.decompress(trace.read_bytes()))
    assert picture.read_text().startswith("<svg")


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_what_takes_no_time_has_an_answer_and_no_picture(capsys, tmp_path, suffix):
    picture = tmp_path / f"one.{suffix}"
    code, out, err = hopline(capsys, "sim", "all_reduce-ring", "-n", "1", "--size", "1KiB", *PLAIN, "--plot", picture)
    assert (code, err) == (0, "")
    assert "all_reduce-ring, 1 rank, 1 KiB" in out
    assert "No picture: nothing takes any time." in out
    assert not picture.exists()


def test_engines_agree(capsys):
    asked = ("all_reduce-rabenseifner", "-n", "13", "--size", "1000003B", *PLAIN)
    times = {answer(capsys, *asked, "--engine", engine)["time_ps"] for engine in ("reference", "in order", "events")}
    assert len(times) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["all_reduce-ring", "--size", "1MiB", *PLAIN], "-n is missing"),
        (["all_reduce-ring", "-n", "4", *PLAIN], "needs --size"),
        (["all_reduce-ring", "-n", "4", "--size", "1MiB"], "which network"),
        (["all_reduce-ring", "-n", "4", "--size", "1MiB", "--latency", "1us", "--bandwidth", "0GB/s"], "0"),
        (["all_reduce-ring", "-n", "4", "--size", "1MiB", "--machine", "dgx-h100", "--latency", "1us"], "--latency"),
        (["all_reduce-ring", "-n", "4", "--size", "1MiB", "--level", "4:1us"], "RANKS:TIME:BANDWIDTH"),
        (["all_reduce-ring", "-n", "5", "--size", "1MiB", *LEVELS], "hold 16 ranks"),
        (["all_reduce-ring", "-n", "99", "--size", "1MiB", "--machine", "dgx-h100"], "16 devices"),
        (["reduce-binomial", "-n", "8", "--size", "1KiB", "--loggops", "L=1us"], "missing"),
        (["reduce-binomial", "-n", "8", "--size", "1KiB", "--loggops", "L=1us,q=3us"], "q=3us"),
        (["reduce-binomial", "-n", "8", "--size", "1KiB", "--loggops", "L=1", *PLAIN], "--latency"),
        (["all_reduce-ring", "-n", "4", "--size", "1MiB", *PLAIN, "--plot", "ring.txt"], "ring.txt"),
    ],
)
def test_refused_in_one_line(capsys, arguments, told):
    code, out, err = hopline(capsys, "sim", *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert told in err
