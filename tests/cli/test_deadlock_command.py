"""The command: exit codes, the page, JSON, the picture, bad input."""

import json

import pytest

from hopline.cli.main import code_of
from hopline.jobs import deadlocks

RING = ["--machine", "torus:dims=5,rate=50GB/s"]


def written(tmp_path, content):
    file = tmp_path / "routes.txt"
    file.write_text(content, encoding="utf-8")
    return str(file)


def data(capsys, *arguments):
    code = code_of(["deadlock", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("dims", ["5", "6", "9", "5x5", "6x3"])
def test_tori_have_the_classic_cycle(capsys, dims):
    code, found = data(capsys, "--machine", f"torus:dims={dims},rate=50GB/s")
    assert code == 1
    assert len(found["cycle"]) >= 4
    assert found["shortest"]
    assert all(remedy["free"] for remedy in found["remedies"])


@pytest.mark.parametrize(
    ("machine", "routing"),
    [
        ("fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s", "up-down"),
        ("fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s", "d-mod-k"),
        ("k-ary-fat-tree:k=4,rate=50GB/s", "up-down"),
        ("k-ary-fat-tree:k=4,rate=50GB/s", "ecmp"),
        ("torus:dims=5x5,wrap=no,rate=50GB/s", "shortest"),
    ],
)
def test_trees_and_meshes_have_none(capsys, machine, routing):
    code, found = data(capsys, "--machine", machine, "--routing", routing)
    assert (code, found["cycle"], found["remedies"]) == (0, [], [])


@pytest.mark.parametrize(("rule", "classes"), [(["hop"], 4), (["valley"], 2), (["dateline", "--mark", "n8>n0"], 2)])
def test_rules_of_classes_break_the_ring(capsys, rule, classes):
    code, found = data(capsys, "--machine", "torus:dims=9,rate=50GB/s", "--classes", *rule)
    assert (code, found["classes"]) == (0, classes)


def test_valley_is_free_of_cycles_on_any_machine(capsys):
    for machine in ("torus:dims=4x4x3,rate=1GB/s", "dragonfly:groups=9,routers=4,hosts=1,rate=25GB/s"):
        for routing in ("shortest", "ecmp", "ecmp:seed=3"):
            assert data(capsys, "--machine", machine, "--routing", routing, "--classes", "valley")[0] == 0


def test_256_hosts_are_looked_at(capsys):
    code, found = data(capsys, "--machine", "fat-tree:leaves=16,hosts=16,spines=8,rate=50GB/s", "--routing", "d-mod-k")
    assert (code, found["flows"]) == (0, 256 * 255)


def test_the_page(capsys, tmp_path):
    file = written(tmp_path, "f1: H1 A B C D H4 [10Gb/s]\nf2: H3 C D A B H2 [10Gb/s]\n")
    assert code_of(["deadlock", file, "--bandwidth", "40Gb/s"]) == 1
    text = capsys.readouterr().out
    assert "A cycle of 4 buffers, each of which waits for the next (none is shorter):" in text
    assert "A cycle is necessary for a deadlock, not sufficient" in text
    assert "It does not while flows keep to their rates" in text
    assert "1 flow or more must change" in text
    assert "taken to lead both ways" in text
    assert "  B   A>B:0 " in text


def test_a_routing_loop_is_named_with_its_threshold(capsys, tmp_path):
    file = written(tmp_path, "f1: A B C B D [6Gb/s]\n")
    code, found = data(capsys, file, "--bandwidth", "40Gb/s", "--ttl", "16")
    assert code == 1
    assert found["loops"] == [
        {"flow": "f1", "nodes": ["B", "C", "B"], "rate_bytes_per_s": 5e9, "threshold_bytes_per_s": 5e9 / 8}
    ]
    code_of(["deadlock", file, "--bandwidth", "40Gb/s", "--ttl", "16"])
    text = capsys.readouterr().out
    assert "625.0 MB/s (5 Gb/s)" in text
    assert "it LOCKS" in text


def test_a_file_on_a_machine(capsys, tmp_path):
    ring = "\n".join(f"f{i}: n{i} n{(i + 1) % 5} n{(i + 2) % 5} n{(i + 3) % 5}" for i in range(5))
    code, found = data(capsys, written(tmp_path, ring), *RING)
    assert code == 1
    assert found["cycle"][0]["carries_bytes_per_s"] == 50e9
    reroute = next(remedy for remedy in found["remedies"] if remedy["kind"] == "reroute")
    assert (reroute["flows"], reroute["exact"]) == (2, True)
    for content, said in (("f: n0 n2", "no link between them"), ("f: n0 n7", "no such node")):
        assert code_of(["deadlock", written(tmp_path, content), *RING]) == 2
        assert said in capsys.readouterr().err


def test_the_picture(capsys, tmp_path):
    to = tmp_path / "cycle.svg"
    assert code_of(["deadlock", *RING, "--plot", str(to)]) == 1
    drawn = to.read_text(encoding="utf-8")
    assert all(name in drawn for name in ("n0&gt;n1:0", ">n4<"))
    assert str(to) in capsys.readouterr().out
    none = tmp_path / "none.svg"
    assert code_of(["deadlock", *RING, "--classes", "hop", "--plot", str(none)]) == 0
    assert not none.exists()
    assert "No picture" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give a FILE of routes, or --machine"),
        ([*RING, "--routing", "quickest"], "unknown routing 'quickest'"),
        ([*RING, "--classes", "many"], "unknown rule of classes 'many'"),
        ([*RING, "--classes", "dateline"], "--mark n4>n0"),
        ([*RING, "--classes", "dateline", "--mark", "n0>n2"], "unknown edge 'n0>n2'"),
        ([*RING, "--mark", "n0>n1"], "--mark goes with --classes dateline"),
        ([*RING, "--pairs", "n0>n0"], "expected two different nodes"),
        ([*RING, "--pairs", "n0"], "expected two different nodes"),
        ([*RING, "--pairs", "n0>n9"], "unknown node"),
        ([*RING, "--bandwidth", "1GB/s"], "does not go with --machine"),
        (["none.txt"], "none.txt"),
        (["--machine", "torus:dims=100x100,rate=1GB/s"], "99,990,000 flows"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, said):
    assert code_of(["deadlock", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_names_of_channels():
    asked = deadlocks.of_name("torus:dims=5,rate=1GB/s", "shortest", ("n0>n2", "n2>n0"), 2)
    assert [asked.trails.flows[f] for f in range(len(asked.trails))] == ["n0->n2.0", "n0->n2.1", "n2->n0.0", "n2->n0.1"]
