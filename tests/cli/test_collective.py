"""``hopline collective`` as it is typed."""

import json
import struct
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from hopline.cli.main import code_of
from hopline.jobs.collectives import simulated
from hopline.schedule.collectives.table import COLLECTIVES

TWO = str(Path(__file__).parents[1] / "data" / "machines" / "two-nodes.toml")
PLAIN = ("--latency", "1us", "--bandwidth", "50GB/s")
NODES = ("--level", "8:1us:450GB/s", "--level", "2:2us:50GB/s")


def hopline(capsys, *arguments):
    code = code_of(["collective", *(str(a) for a in arguments)])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def answer(capsys, *arguments):
    code, out, err = hopline(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_the_page_says_what_is_fastest_where_and_why(capsys):
    code, out, err = hopline(capsys, "allreduce", "-n", "16", *PLAIN, "--reduce", "400GB/s", "--sizes", "1KiB..1GiB:x4")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "all_reduce on 16 ranks"
    (first,) = (line for line in lines if line.lstrip().startswith("1 KiB") and "*" in line)
    assert "4.092 µs*" in first  # 4 start-ups, 1 KiB at 50 GB/s four times, and added up
    assert "The fastest" in lines
    assert "From which size on" in lines
    assert "What would help the fastest, by closed form" in lines
    assert "left out: hierarchical: the network has one level" in lines
    (largest,) = (line for line in lines if line.startswith("  1 GiB    ") and "%" in line)
    assert "bytes" in largest


def test_lines_stay_within_a_terminal_of_its_width(capsys):
    _, out, _ = hopline(capsys, "all_reduce", "--machine", "dgx-h100", "-n", "16", "--sizes", "1KiB,1GiB")
    tables = out.split("The fastest")[0].splitlines()[3:]
    assert max(map(len, tables)) <= 120


def test_the_books_comparison(capsys):
    """192 MiB on two nodes of eight: a ring 7.6 ms, hierarchical 1.3 ms, eight rings less."""
    found = answer(capsys, "all_reduce", *NODES, "--sizes", "192MiB", "--simulate")
    (network,) = found["networks"]
    (row,) = network["rows"]
    times = {one["algorithm"]: one for one in row["times"]}
    assert times["ring"]["formula_s"] == pytest.approx(7.61e-3, rel=1e-3)
    assert times["hierarchical"]["formula_s"] == pytest.approx(1.304e-3, rel=1e-3)
    assert times["rings"]["formula_s"] == pytest.approx(1.004e-3, rel=1e-3)
    assert times["hierarchical_chunked"]["low_s"] >= 0.783e-3
    for one in times.values():
        assert one["simulated_s"] == pytest.approx(one["formula_s"], rel=0.01) or one["low_s"] < one["formula_s"]
        assert one["not_simulated"] is None
    assert row["fastest"] == ["hierarchical_chunked"]
    assert row["algbw"] == pytest.approx(192 * 2**20 / row["time_s"])
    assert row["busbw"] == pytest.approx(row["algbw"] * 2 * 15 / 16)
    assert (times["rings"]["rings"], times["rings"]["chunks"], times["ring"]["rings"]) == (8, None, None)
    assert times["rings"]["twice_the_rings_s"] > times["rings"]["formula_s"]


def test_json_is_complete(capsys):
    found = answer(capsys, "broadcast", "-n", "8", *PLAIN, "--sizes", "0B,1MiB,1GiB")
    assert (found["benchmark"], found["failed"]) == ("broadcast", [])
    (network,) = found["networks"]
    assert set(network["algorithms"]) == {e.algorithm for e in COLLECTIVES.values() if e.benchmark == "broadcast"}
    assert [row["size"] for row in network["rows"]] == [0, 2**20, 2**30]
    assert network["rows"][0]["algbw"] == 0
    chain = next(one for one in network["rows"][2]["times"] if one["algorithm"] == "chain")
    assert chain["chunks"] > 100
    assert min(chain["half_the_chunks_s"], chain["twice_the_chunks_s"]) > chain["formula_s"]
    assert sum(chain["terms_s"].values()) == pytest.approx(chain["formula_s"])
    spans = network["winners"]
    assert (spans[0]["low"], spans[-1]["high"]) == (1, 2**30)
    assert {lever["name"] for lever in network["levers"]} >= {
        "twice the NICs",
        "twice the bandwidth",
        "half the start-up",
    }
    assert all(set(at) == {"size", "algorithm", "time_s", "gain"} for lever in network["levers"] for at in lever["at"])


def test_what_would_help_the_algorithm_in_use(capsys):
    for arguments in (("all_reduce-ring",), ("MPI_Allreduce", "--algorithm", "ring")):
        code, out, _ = hopline(capsys, *arguments, "-n", "16", *PLAIN, "--sizes", "1KiB")
        assert code == 0
        (line,) = (line for line in out.splitlines() if line.startswith("  another algorithm"))
        assert "7.36x faster: 4.08 µs, recursive_doubling" in line


def section(out, heading):
    """The lines below a heading."""
    return out.split(f"\n{heading}\n")[1].split("\n\n")[0].splitlines()


def test_the_algorithm_in_use_is_not_mistaken_for_the_fastest(capsys):
    _, out, _ = hopline(capsys, "alltoall", "-n", "16", *PLAIN, "--algorithm", "BRUCK", "--sizes", "1KiB..1GiB:x1024")
    assert section(out, "bruck, the algorithm asked about")[1].split()[:4] == ["1", "KiB", "as", "fast"]
    assert section(out, "From which size on")[0].split() == ["from", "to", "the", "fastest"]
    assert [line.split()[-1] for line in section(out, "From which size on")[1:]] == ["bruck", "pairwise"]
    limits = section(out, "What takes most of bruck, from which size on")
    assert [line.split()[-1] for line in limits[1:]] == ["start-ups", "bytes"]
    _, plain, _ = hopline(capsys, "alltoall", "-n", "16", *PLAIN)
    assert section(plain, "From which size on")[0].split() == [
        *["from", "to", "the", "fastest", "takes", "most", "of", "it"]
    ]
    assert "What takes most" not in plain


def test_sizes_of_one_table_have_units_of_one_kind(capsys):
    _, out, _ = hopline(capsys, "all_reduce", *NODES, "--sizes", "150KB,192MiB")
    lines = section(out, "From which size on")[1:]
    assert lines[0].startswith("  146.5 KiB (150000 B) ")
    assert all(line.count("iB (") == 2 for line in lines)


def test_one_size_says_how_far_around_it_was_looked(capsys):
    _, out, _ = hopline(capsys, "all_reduce", *NODES, "--sizes", "192MiB")
    (heading,) = (line for line in out.splitlines() if line.startswith("From which size on"))
    assert heading == "From which size on around 192 MiB, looked at from 12 MiB to 3 GiB"


def test_nics_that_are_no_gain_say_why(capsys):
    _, out, _ = hopline(capsys, "all_reduce", *NODES, "--sizes", "192MiB")
    (line,) = (line for line in out.splitlines() if line.startswith("twice the NICs between nodes: "))
    assert "a message goes by one of them" in line
    assert "a library that splits messages over NICs gets what twice the bandwidth between nodes does" in line


def test_the_number_of_rings_is_told(capsys):
    _, out, _ = hopline(capsys, "all_reduce", *NODES, "--sizes", "1KiB,1MiB,1GiB")
    (line,) = (line for line in out.splitlines() if line.startswith("rings has "))
    assert line == "rings has 2 rings from 1 KiB to 1 MiB, 8 rings at 1 GiB: as many as are fastest by closed form."
    _, out, _ = hopline(capsys, "all_reduce", *NODES, "--sizes", "1KiB,1GiB", "--channels", "4")
    assert "\nrings has 4 rings from 1 KiB to 1 GiB.\n" in out


@pytest.mark.parametrize("name", ["all_reduce-Ring", "all-reduce-ring", "AllReduce-Ring", "allreduce_ring"])
def test_names_as_people_write_them(capsys, name):
    assert answer(capsys, name, "-n", "4", *PLAIN, "--sizes", "1KiB")["networks"][0]["levers_for"] == "ring"


def test_lines_of_several_networks_that_say_the_same_are_one(capsys):
    _, out, _ = hopline(capsys, "all_reduce", "-n", "2..24", *PLAIN, "--sizes", "1KiB,1GiB")
    assert section(out, "Networks")[0] == "all: a message takes 1.000 µs + bytes at 50.00 GB/s"
    assert len([line for line in out.splitlines() if "bytes at" in line]) == 1
    _, out, _ = hopline(capsys, "barrier", "--machine", "dgx-h100,tcp-cluster", "-n", "2,4,8")
    lines = section(out, "Networks")
    assert len(lines) == len({line.split(": ", 1)[1] for line in lines})
    assert "1 ranks" not in out


def test_many_networks_stand_below_one_another(capsys):
    _, out, _ = hopline(capsys, "all_reduce", "-n", "2..16", *PLAIN, "--sizes", "1KiB..1GiB:x32")
    assert [line.split()[0] for line in out.splitlines()[2:17]] == [str(n) for n in range(2, 17)]
    assert max(len(line) for line in out.split("From which")[0].splitlines()) <= 120


def test_a_terminal_sees_how_far_it_is(monkeypatch):
    """The bar stands on standard error, and takes nothing from what is printed."""
    told = []

    @contextmanager
    def bar(what):
        yield lambda fraction, text: told.append((what, fraction, text))

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("hopline.show.measuring.progress", bar)
    assert code_of(["collective", "all_reduce", "-n", "2,4,8", *PLAIN, "--sizes", "1KiB"]) == 0
    assert (told[0][0], told[0][2]) == ("all_reduce", "2 ranks, closed forms")
    assert len({fraction for _, fraction, _ in told}) >= 3


def test_simulation_stands_beside_and_differences_are_told(capsys):
    places = ("--machine", TWO, "--on", "h0.gpu0,h1.gpu0,h0.gpu1,h1.gpu1")
    code, out, err = hopline(capsys, "all_reduce", *places, "--sizes", "1GiB", "--simulate")
    assert (code, err) == (0, "")
    assert out.index("By closed form") < out.index("Simulated") < out.index("Simulation against closed form")
    (line,) = (line for line in out.splitlines() if line.startswith("rabenseifner: +"))
    assert "ports and wires of the machine" in line
    assert "broken: ranks stand node by node" in out


def test_several_numbers_of_ranks(capsys):
    code, out, err = hopline(capsys, "all_reduce", "-n", "2..16:x2", *PLAIN, "--sizes", "1KiB,1GiB")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[1].split() == ["1", "KiB", "1", "GiB"]
    rows = [line.split() for line in lines[2:6]]
    assert [row[0] for row in rows] == ["2", "4", "8", "16"]
    assert rows[3][2:5] == ["recursive_doubling", "4.08", "µs"]
    assert any(line.startswith("16 ranks: recursive_doubling up to ") for line in lines)


def test_several_machines_and_one_that_cannot(capsys):
    found = answer(capsys, "all_gather", "--machine", f"dgx-h100,{TWO}", "-n", "8,16", "--sizes", "1MiB")
    assert [network["name"] for network in found["networks"]] == [
        "dgx-h100, 8 ranks",
        "dgx-h100, 16 ranks",
        f"{TWO}, 8 ranks",
    ]
    assert [(one["name"], one["reason"].split(":")[0]) for one in found["failed"]] == [
        (f"{TWO}, 16 ranks", "two nodes has 8 devices")
    ]
    code, out, _ = hopline(capsys, "all_gather", "--machine", f"dgx-h100,{TWO}", "-n", "16", "--sizes", "1MiB..1GiB")
    assert code == 0
    assert f"left out: {TWO}: two nodes has 8 devices" in out


def test_many_sizes_stand_in_rows(capsys):
    _, out, _ = hopline(capsys, "all_reduce", "-n", "2,4", *PLAIN)
    lines = out.splitlines()
    assert lines[1].split() == ["size", "2", "ranks", "4", "ranks"]
    assert lines[2].split()[:2] == ["1", "KiB"]


@pytest.mark.parametrize("asked", [(), ("--list",), ("all_reduce", "--list")])
def test_the_list(capsys, asked):
    code, out, err = hopline(capsys, *asked)
    assert (code, err) == (0, "")
    assert sorted(line.split()[0] for line in out.splitlines()[1:]) == sorted(COLLECTIVES)
    listed = answer(capsys, *asked)
    assert {f"{name}-{algorithm}" for name, of in listed.items() for algorithm in of} == set(COLLECTIVES)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("foo", *PLAIN, "-n", "4"), "unknown collective 'foo': known are all_gather"),
        (("all_reduce-foo", *PLAIN, "-n", "4"), "unknown algorithm of all_reduce 'foo': known are"),
        (("all_reduce", *PLAIN, "-n", "4", "--algorithm", "ringg"), "did you mean 'ring'?"),
        (("all_reduce", *PLAIN, "-n", "4", "--algorithm", "hierarchical"), "the network has one level"),
        (("ring", *PLAIN, "-n", "4"), "several collectives have ring: expected one of all_reduce-ring, "),
        (("all_reduce-ring", *PLAIN, "-n", "4", "--algorithm", "direct"), "are two algorithms"),
        (("all_reduce", "--level", "1:1us:50GB/s", "-n", "2"), "the levels hold 1 rank:"),
        (("all_reduce",), "which network?"),
        (("all_reduce", *PLAIN), "how many ranks?"),
        (("all_reduce", *PLAIN, "-n", "0"), "below 1"),
        (("all_reduce", *PLAIN, "-n", "four"), "-n"),
        (("all_reduce", *NODES, "-n", "4"), "the levels hold 16 ranks"),
        (("all_reduce", "--machine", "dgx-h100", "-n", "12"), "unevenly"),
        (("all_reduce", "--machine", "dgx-h100,nowhere", "-n", "7,99"), "nowhere"),
        (("all_reduce", "--machine", "dgx-h100", "-n", "8", "--latency", "1us"), "does not go with --machine"),
        (("barrier", *PLAIN, "-n", "4", "--sizes", "1KiB"), "barrier moves no bytes: leave the sizes away"),
        (("all_reduce", *PLAIN, "-n", "4", "--sizes", "100PB"), "expected whole bytes, at most 9007199254740992"),
        (("all_reduce", *PLAIN, "-n", "4", "--plot", "a.gif"), "kind of picture"),
        (("all_reduce", *PLAIN, "-n", "4", "--channels", "0"), "--channels"),
    ],
)
def test_errors_are_one_line(capsys, arguments, told):
    code, out, err = hopline(capsys, *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_one_rank(capsys):
    code, out, _ = hopline(capsys, "all_reduce", "-n", "1", *PLAIN)
    assert code == 0
    assert "One rank: nothing is sent" in out
    assert answer(capsys, "all_reduce", "-n", "1", *PLAIN)["networks"][0]["levers"] == []


def test_a_barrier_has_one_row_and_no_sizes(capsys):
    _, out, _ = hopline(capsys, "barrier", "-n", "16", *PLAIN)
    assert "4.000 µs*" in out
    assert "busbw" not in out
    assert "From which size on" not in out


@pytest.mark.parametrize("benchmark", sorted({entry.benchmark for entry in COLLECTIVES.values()}))
def test_every_collective_of_the_table(capsys, benchmark):
    sizes = () if benchmark == "barrier" else ("--sizes", "1KiB,1MiB")
    for network in (("-n", "6", *PLAIN), ("--level", "2:1us:450GB/s", "--level", "2:2us:50GB/s")):
        (found,) = answer(capsys, benchmark, *network, *sizes)["networks"]
        assert found["algorithms"]
        assert all(one["formula_s"] > 0 for row in found["rows"] for one in row["times"])


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_a_picture(capsys, tmp_path, ending):
    file = tmp_path / f"times.{ending}"
    code, out, err = hopline(capsys, "all_reduce", "-n", "16", *PLAIN, "--plot", file)
    assert (code, err) == (0, "")
    assert out.endswith(f"\nPicture: {file}\n")
    content = file.read_bytes()
    if ending == "png":
        width, height = struct.unpack(">II", content[16:24])
        assert min(width, height) > 600
    else:
        assert all(name in content.decode() for name in ("recursive_doubling", "rabenseifner", "binomial"))
        assert b"NaN" not in content.replace(b"isNaN", b"") or ending == "html"


def test_lines_that_hide_one_another_have_one_name(capsys, tmp_path):
    """On one level a ring and the direct exchange take the same time at every size."""
    file = tmp_path / "times.svg"
    assert hopline(capsys, "all_reduce", "-n", "16", *PLAIN, "--sizes", "1KiB,1GiB", "--plot", file)[0] == 0
    drawn = file.read_text(encoding="utf-8")
    assert ">ring = direct<" in drawn
    assert ">ring<" not in drawn


def test_a_picture_of_several_networks(capsys, tmp_path):
    file = tmp_path / "ranks.svg"
    assert (
        hopline(capsys, "all_reduce", "-n", "2,4,8", *PLAIN, "--simulate", "--sizes", "1KiB,1MiB", "--plot", file)[0]
        == 0
    )
    assert all(f"{n} ranks" in file.read_text(encoding="utf-8") for n in (2, 4, 8))


def test_a_picture_of_one_size_or_none(capsys, tmp_path):
    for number, sizes in enumerate((("--sizes", "1MiB"), ("--sizes", "0B"))):
        file = tmp_path / f"{number}.svg"
        assert hopline(capsys, "all_reduce", "-n", "4", *PLAIN, *sizes, "--plot", file)[0] == 0
        assert "NaN" not in file.read_text(encoding="utf-8")
    barrier = tmp_path / "barrier.svg"
    assert hopline(capsys, "barrier", "-n", "4", *PLAIN, "--plot", barrier)[0] == 0


def test_interrupted(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulated, "engine", lambda: interrupt)
    code, out, err = hopline(capsys, "all_reduce", "-n", "4", *PLAIN, "--simulate")
    assert (code, out, err) == (130, "", "\nhopline: interrupted\n")


def test_formulas_load_no_compiler():
    """Small commands must start fast: numba comes with the simulation only."""
    program = (
        "import sys; from hopline.cli.main import code_of; "
        "code = code_of('collective all_reduce -n 4 --latency 1us --bandwidth 50GB/s --sizes 1KiB'.split()); "
        "sys.exit(code or sum(name in sys.modules for name in ('numba', 'hopline.sim.engine', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).returncode == 0
