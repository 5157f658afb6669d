"""Bad input of every kind: exit code 2 and one line that says what is wrong, or a right answer; never a traceback."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from hopline.cli.main import code_of

LOGS = Path(__file__).parents[1] / "data" / "logs"
LOG, TWO, PAIRS, ALONE = (
    str(LOGS / name)
    for name in ("nccl-a-all-reduce.log", "nccl-c-reduce-scatter-twice.log", "osu-pairs.out", "nccl-one-rank.log")
)
P2P = "p2p --size 1MiB --latency 1us --bandwidth 10GB/s"
SG = "p2p --size 1MiB --machine sg2260"
HEAD = 'hopline = "machine"\nversion = 1\nname = "m"\n'
FILES = {
    "empty": b"",
    "binary": bytes(range(256)) * 64,
    "text": b"nothing of interest\n" * 50,
    "bad.toml": b"links = [",
    "half.toml": b'hopline = "machine"\n',
    "latin.toml": b"# \xff\xfe\n",
    "future.toml": HEAD.replace("1", "2").encode() + b"[links]\n[nodes]\n",
    "key.toml": HEAD.encode() + b"speed = 1\n[links]\n[nodes]\n",
    "negative.toml": HEAD.encode() + b'[links.l]\nbandwidth = "-1 GB/s"\n[nodes]\n',
    "unitless.toml": HEAD.encode() + b'[links.l]\nbandwidth = "50"\n[nodes]\n',
    "many.toml": HEAD.encode() + b'[links.l]\nbandwidth = "1 GB/s"\n[nodes.n]\ncount = 1000000000\n',
    "link.toml": HEAD.encode() + b'[links]\n[nodes.a]\n[nodes.b]\n[[connections]]\nends = ["a", "b"]\nlink = "x"\n',
    "alone.toml": HEAD.encode() + b'[links]\n[nodes.a]\n[nodes.b]\n',
    "list.json": b"[]",
    "deep.json": b"[" * 100_000,
    "future.jsonl": b'{"hopline":"samples","version":9}\n',
    "foreign.svg": b"<svg>mine</svg>",
    "foreign.toml": b"mine",
}  # fmt: skip

REFUSED = {
    # quantities
    "no size": "p2p --latency 1us --bandwidth 10GB/s",
    "negative size": "p2p --size=-1MiB --latency 1us --bandwidth 10GB/s",
    "no unit of size": "p2p --size 64 --latency 1us --bandwidth 10GB/s",
    "unit of another kind": "p2p --size 64us --latency 1us --bandwidth 10GB/s",
    "part of a byte": "p2p --size 1.5B --latency 1us --bandwidth 10GB/s",
    "huge size": "p2p --size 1e30B --latency 1us --bandwidth 10GB/s",
    "huge exponent": "p2p --size 1e999999999B --latency 1us --bandwidth 10GB/s",
    "long number": f"p2p --size {'9' * 5000}B --latency 1us --bandwidth 10GB/s",
    "NaN": "p2p --size nan --latency 1us --bandwidth 10GB/s",
    "infinity": "p2p --size inf --latency 1us --bandwidth 10GB/s",
    "NaN seconds": "p2p --size 1MiB --latency nanus --bandwidth 10GB/s",
    "infinite latency": "p2p --size 1MiB --latency inf --bandwidth 10GB/s",
    "negative latency": "p2p --size 1MiB --latency=-1us --bandwidth 10GB/s",
    "no bandwidth": "p2p --size 1MiB --latency 1us --bandwidth 0GB/s",
    "negative bandwidth": "p2p --size 1MiB --latency 1us --bandwidth=-5GB/s",
    "ambiguous bandwidth": "p2p --size 1MiB --latency 1us --bandwidth 50G",
    "decimal comma": "p2p --size 1,5MiB --latency 1us --bandwidth 10GB/s",
    "empty text": "p2p --size @ --latency 1us --bandwidth 10GB/s",
    "trailing comma": "p2p --size 1MiB, --latency 1us --bandwidth 10GB/s",
    # lists
    "empty range": "p2p --size 2MiB..1MiB --latency 1us --bandwidth 10GB/s",
    "endless range": "p2p --size 1B..1GiB:+1B --latency 1us --bandwidth 10GB/s",
    "step of nothing": "p2p --size 1B..1KiB:+0B --latency 1us --bandwidth 10GB/s",
    "factor of one": "p2p --size 1B..1KiB:x1 --latency 1us --bandwidth 10GB/s",
    "factor from zero": "p2p --size 0B..1KiB --latency 1us --bandwidth 10GB/s",
    "range without unit": "p2p --size 1..3 --latency 1us --bandwidth 10GB/s",
    "a list for one value": "measure --seconds 1s,2s",
    "a range for one value": "measure --seconds 1s..2s",
    "explosion of lists": "p2p --size 1B..999B:+1B --latency 1us..99us:+1us --bandwidth 10GB/s",
    "a range of counts too long": f"{P2P} --hops 1..99999999",
    # counts
    "no hops": f"{P2P} --hops 0",
    "part of a hop": f"{P2P} --hops 1.5",
    "no chunks": f"{P2P} --chunks 0 --hops 2",
    "negative chunks": f"{P2P} --chunks=-3 --hops 2",
    "chunks of nothing": f"{P2P} --chunk 0B --hops 2",
    "chunks of a message that is not cut": f"{P2P} --hops 2 --chunks 4 --way cut-through",
    "chunks and chunk": f"{P2P} --chunk 1KiB --chunks 4",
    "flit of nothing": f"{P2P} --flit 0B",
    "negative header": f"{P2P} --header=-1B",
    "nothing in flight": f"{P2P} --in-flight 0 --payload 4KiB",
    "payload of nothing": f"{P2P} --in-flight 4 --payload 0B",
    "in flight alone": f"{P2P} --in-flight 4",
    "no memory": f"{P2P} --memory 0GB/s",
    # hops and paths
    "half a hop": "p2p --size 1MiB --hop 1us",
    "hop without bandwidth": "p2p --size 1MiB --hop 1us:",
    "hop of another order": "p2p --size 1MiB --hop 1GB/s:1us",
    "hop and latency": "p2p --size 1MiB --hop 1us:1GB/s --latency 1us",
    "hop and switch latency": "p2p --size 1MiB --hop 1us:1GB/s --hop 1us:1GB/s --switch-latency 1us",
    "long machine name": f"p2p --size 1MiB --machine {'x' * 201} --path a,b",
    "hop and hops": "p2p --size 1MiB --hop 1us:1GB/s --hops 2",
    "no bandwidth at all": "p2p --size 1MiB --latency 1us",
    "nothing but a size": "p2p --size 1MiB",
    "path without machine": f"{P2P} --path a,b",
    "ranks without machine": f"{P2P} --ranks 4",
    "reduce without machine": f"{P2P} --reduce",
    "switch over one hop": f"{P2P} --switch-latency 100ns",
    "unknown way": f"{P2P} --way teleport",
    "unknown option": f"{P2P} --speed 3",
    "stray argument": f"{P2P} extra",
    # machines
    "unknown machine": "p2p --size 1MiB --machine sg226 --path a,b",
    "machine without path": SG,
    "path of one": f"{SG} --path a0",
    "path to itself": f"{SG} --path a0,a0",
    "path to a switch": "p2p --size 1MiB --machine dgx-h100 --path h0.gpu0,leaf",
    "path and back": f"{SG} --path a0,b0,a0",
    "unknown node": f"{SG} --path a0,z9",
    "empty node": f"{SG} --path a0,,b0",
    "machine and latency": f"{SG} --path a0,b0 --latency 1us",
    "machine and memory": f"{SG} --path a0,b0 --memory 1GB/s",
    "too many NICs": f"{SG} --path a0,b0 --nics 9",
    "no NICs": f"{SG} --path a0,b0 --nics 0",
    "one rank": f"{SG} --path a0,b0 --ranks 1",
    "nothing measured": "p2p --size 1MiB --machine local --path rank0,rank1",
    "no way through": "p2p --size 1MiB --machine alone.toml --path a,b",
    **{f"machine file {name}": f"p2p --size 1MiB --machine ./{name} --path a,b" for name in FILES},
    "machine file that is not there": "p2p --size 1MiB --machine ./nowhere.toml --path a,b",
    "machine file that is a folder": "p2p --size 1MiB --machine ./folder --path a,b",
    # fit
    "fit nothing": "fit",
    "fit what is not there": "fit nowhere.log",
    "fit a folder": "fit folder",
    "fit a device": "fit /dev/null",
    "fit a sparse gigabyte": "fit sparse",
    **{f"fit {name}": f"fit {name}" for name in FILES},
    "fit good and bad": f"fit {LOG} empty",
    "no pieces": f"fit {LOG} --pieces 0",
    "table 0": f"fit {LOG} --table 0",
    "table 9": f"fit {LOG} --table 9",
    "two tables": f"fit {TWO} --save x.toml",
    "two tables to predict from": f"fit {TWO} --predict 1MiB",
    "predict part of a byte": f"fit {LOG} --predict 1.5B",
    "predict nothing": f"fit {LOG} --predict @",
    "save over a file": f"fit {LOG} --save foreign.toml",
    "save over a folder": f"fit {LOG} --save ./folder",
    "save a fit as a preset": f"fit {LOG} --save sg2260",
    "save a fit under a bad name": f"fit {LOG} --save a:b",
    "save a fit under no name": f"fit {LOG} --save @",
    "save below a file": f"fit {LOG} --save empty/x.toml",
    "save to the kernel": f"fit {LOG} --save /proc/x.toml",
    # pictures
    "unknown picture": f"{P2P} --plot x.pdf",
    "picture without ending": f"fit {LOG} --plot x",
    "picture in no folder": f"{P2P} --plot nowhere/x.svg",
    "picture over a folder": f"{P2P} --plot folder.svg",
    "picture over a file": f"{P2P} --plot foreign.svg",
    "picture to the kernel": f"fit {LOG} --plot /proc/x.svg",
    # presets
    "unknown preset": "presets sg226",
    "empty preset": "presets @",
    "TOML of no preset": "presets --toml",
    **{f"show {name}": f"presets ./{name}" for name in FILES if name != "alone.toml"},
    "show a folder": "presets ./folder",
    # verify
    "verify what is not there": "verify nowhere.json",
    "verify a folder": "verify folder",
    **{f"verify {name}": f"verify {name}" for name in FILES},
    "kind without a file": "verify --kind p2p_*",
    # measure and demo
    "measure no time": "measure --seconds 0s",
    "measure less than no time": "measure --seconds=-1s",
    "measure for five": "measure --seconds five",
    "measure for ever": "measure --seconds inf",
    "measure part of a byte": "measure --sizes 1.5B",
    "measure 4 GiB": "measure --sizes 4GiB",
    "save as a preset": "measure --save sg2260",
    "save under a bad name": "measure --save .hidden",
    "save under no name": "measure --save @",
    "measure speed": "measure --what speed",
    "measure nothing": "measure --what @",
    "no message in flight": "measure --what bw --window 0",
    "a window of nothing": "measure --what latency,barrier --window 8",
    "ranks of a pair": "measure --what latency,bw --ranks 4",
    "all pairs of one rank": "measure --what pairs --ranks 1",
    "one pair of many": "measure --what mbw --ranks 3",
    "a stream of nothing": "measure --what bw --sizes 0B",
    "floats of a byte": "measure --what reduce --sizes 1B,2B",
    "a machine of streams": "measure --what bw --save mine",
    "measure into a folder": "measure --sizes 8B --seconds 10ms --out folder",
    "measure into somebody's file": "measure --sizes 8B --seconds 10ms --out foreign.toml",
    "demo in a file": "demo --folder empty",
    "demo in the kernel": "demo --folder /proc/x",
    "demo for NaN": "demo --seconds nan",
    # the command itself
    "unknown command": "predict",
    "unknown flag": "--speed",
}  # fmt: skip
"""What is wrong -> the command line; ``@`` stands for an empty argument."""
REAL = {"measure into a folder", "measure into somebody's file"}

ONCE_LET_THROUGH = {
    "measure below a file": "measure --sizes 8B --seconds 10ms --out empty/x.jsonl",
    "a name too long": f"presets {'x' * 5000}",
    "a picture name too long": f"{P2P} --plot {'x' * 5000}.svg",
    "demo for no time": "demo --seconds 0s",
    "turnaround alone": f"{P2P} --turnaround 4us",
    "machine and no latency": f"{SG} --path a0,b0 --latency 0us",
    "machine and no header": f"{SG} --path a0,b0 --header 0B",
    "path of nothing without machine": f"{P2P} --path @",
    "half duplex of one way": f"{P2P} --half-duplex",
    "memory over hops": f"{P2P} --hops 2 --memory 1GB/s",
    "TOML and JSON": "presets sg2260 --toml --json",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    for name in ("folder", "folder.svg"):
        (folder / name).mkdir()
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    return folder


@pytest.fixture
def refused(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    before = {p.name: p.stat().st_size for p in place.iterdir()}

    def check(line):
        code = code_of(["" if word == "@" else word for word in line.split()])
        captured = capsys.readouterr()
        assert code == 2
        assert captured.err.startswith("hopline: ")
        assert len(captured.err.splitlines()) == 1, captured.err
        assert "Traceback" not in captured.err
        assert captured.out == ""
        assert {p.name: p.stat().st_size for p in place.iterdir()} == before

    return check


@pytest.mark.parametrize("what", [pytest.param(w, marks=pytest.mark.real if w in REAL else ()) for w in REFUSED])
def test_refused_in_one_line(refused, what):
    refused(REFUSED[what])


@pytest.mark.parametrize("line", [f"fit {ALONE}", f"fit {PAIRS} --in-place"])
def test_what_was_read_is_shown_though_nothing_can_be_fitted(line, capsys, place, monkeypatch):
    monkeypatch.chdir(place)
    assert code_of(line.split()) == 2
    shown = capsys.readouterr()
    assert "no fit: " in shown.out
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize("what", [pytest.param(w) for w in ONCE_LET_THROUGH])
def test_refused_like_the_others(refused, what):
    refused(ONCE_LET_THROUGH[what])


def test_the_message_helps(refused, capsys, place, monkeypatch):
    monkeypatch.chdir(place)
    for line, said in {
        "p2p --size 64 --latency 1us --bandwidth 1GB/s": "--size: '64' has no unit",
        "p2p --size 1MiB --latency 1us --bandwidth 50G": "50 GB/s",
        "presets sg226": "did you mean 'sg2260'?",
        "p2p --size 1MiB --machine local --path a,b": "run hopline measure",
        "fit bad.toml": "none of the logs that hopline knows",
        "p2p --size 1MiB --machine ./negative.toml --path a,b": "links.l.bandwidth",
        "p2p --size 1MiB --machine ./text --path a,b": "text is no topology that hopline knows (it begins with 'nothing of interest')",
        "p2p --size 1MiB --machine ./empty --path a,b": "is empty",
        "measure --seconds 1s,2s": "--seconds: '1s,2s' is a list, and this",
        "measure --seconds 1s..2s": "--seconds: '1s..2s' is a list, and this",
        f"{P2P} --switch-latency 100ns": "--switch-latency means nothing over one hop",
        f"{P2P} --in-flight 4": "--in-flight means nothing without --payload",
        f"{P2P} --turnaround 4us": "--turnaround means nothing without --payload",
        f"{SG} --path a0,b0,a0": "a0,b0,a0 comes twice to a node",
        "measure --save sg2260": "'sg2260' is a preset: give the machine another name",
        f"fit {LOG} --save a:b": "'a:b' is no name for a machine",
    }.items():
        assert code_of(line.split()) == 2
        assert said in capsys.readouterr().err


# --- what is large ------------------------------------------------------------------------------------------------


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def large(*arguments, seconds=20):
    """Run with 2 GiB and ``seconds``: what is refused leaves with 2, what is answered with 0."""
    done = subprocess.run(
        [sys.executable, "-m", "hopline", *arguments],
        capture_output=True, text=True, timeout=seconds, preexec_fn=limited, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "MemoryError" not in done.stderr
    return done


ANSWERED = {
    "more chunks than bytes": ["p2p", "--size", "1MiB", "--latency", "1us", "--bandwidth", "1GB/s", "--hops", "2", "--chunks", "1e18"],
    "a byte a chunk": ["p2p", "--size", "1PB", "--latency", "1us", "--bandwidth", "1GB/s", "--hops", "2", "--chunk", "1B"],
    "the largest size": ["p2p", "--size", "9e18B", "--latency", "1us", "--bandwidth", "7GB/s", "--hops", "5"],
    "no latency": ["p2p", "--size", "8PB", "--latency", "0us", "--bandwidth", "1GB/s", "--hops", "3"],
    "all in flight": ["p2p", "--size", "1MiB", "--latency", "1us", "--bandwidth", "1GB/s", "--in-flight", "1e18", "--payload", "1B"],
    "all ranks": ["p2p", "--size", "1MiB", "--machine", "sg2260", "--path", "a0,b0", "--ranks", "1e22"],
    "slow": ["p2p", "--size", "1MiB", "--latency", "1e300s", "--bandwidth", "1e-300B/s", "--hops", "2"],
    "fast": ["p2p", "--size", "1MiB", "--latency", "1e-300s", "--bandwidth", "1e300B/s", "--hops", "3"],
    "many pieces": ["fit", LOG, "--pieces", "1000000000"],
}  # fmt: skip


@pytest.mark.parametrize("what", ANSWERED)
def test_large_numbers_are_answered(what):
    done = large(*ANSWERED[what], "--json")
    assert (done.returncode, done.stderr) == (0, "")
    json.loads(done.stdout)


@pytest.mark.parametrize("hops", ["10000", "1000000000"])
def test_many_hops_are_refused_or_quick(hops):
    done = large("p2p", "--size", "1MiB", "--latency", "1us", "--bandwidth", "10GB/s", "--hops", hops, seconds=8)
    assert done.returncode in (0, 2)


@pytest.mark.parametrize("size", ["64GiB", "8PB"])
def test_the_best_k_is_found_soon_where_all_are_equal(size):
    assert large("p2p", "--size", size, "--latency", "0s", "--bandwidth", "64GB/s", seconds=4).returncode == 0


@pytest.mark.parametrize(
    "command", ["presets ./sparse", "verify sparse", "p2p --size 1KiB --machine ./sparse --path a,b"]
)
def test_a_sparse_gigabyte_is_not_read_whole(place, monkeypatch, command):
    monkeypatch.chdir(place)
    done = subprocess.run(
        [sys.executable, "-m", "hopline", *command.split()],
        capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20)),
    )  # fmt: skip
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
