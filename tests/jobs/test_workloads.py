"""A job's messages with their prices: who sits inside of a node, and what levers do."""

import pytest

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.jobs.machines import find as find_machine
from hopline.jobs.subgroups import of_levels, of_machine
from hopline.jobs.workloads import Asked, listed, workload
from hopline.machine.fabric import Level
from hopline.model.phases import Types
from hopline.workload.files import find
from hopline.workload.parallel import Parallel

NODES = of_levels([Level(8, Curve.line(1e-6, 400e9)), Level(16, Curve.line(5e-6, 50e9))])
FLAT = of_levels([Level(8, Curve.line(1.2e-6, 64e9))])


@pytest.mark.parametrize(
    ("ranks", "step", "levels"),
    [
        (8, 1, [(8, 400e9)]), (4, 1, [(4, 400e9)]), (16, 1, [(8, 400e9), (2, 50e9)]), (4, 8, [(4, 50e9)]),
        (4, 4, [(2, 400e9), (2, 50e9)]), (16, 8, [(16, 50e9)]), (2, 64, [(2, 50e9)]), (3, 4, [(3, 50e9)]), (1, 1, [(1, 50e9)]),
    ],
)  # fmt: skip
def test_levels_of_a_group(ranks, step, levels):
    found = NODES.network(ranks, step).levels.levels
    assert [(level.ranks, level.curve.pieces[0].bandwidth) for level in found] == levels


def test_a_machine_stands_for_more_nodes_and_says_so():
    ground = of_machine(find_machine("dgx-h100"), 128)
    assert [level.ranks for level in ground.network(128).levels.levels] == [8, 16]
    assert "priced as more nodes" in ground.grown(128)[-1].text
    assert all("priced as" not in premise.text for premise in of_machine(find_machine("dgx-h100"), 16).grown(16))
    with pytest.raises(InputError, match="8 ranks on one level: expected at most as many, got 9"):
        FLAT.network(9)


def test_decode_is_start_up_as_the_book_says():
    """10 KiB over 8 ranks: a ring takes 17.1 µs, recursive doubling 4.1 µs."""
    found = workload(Asked(find("llama-3-8b"), Parallel(tp=8), "decode", network=FLAT))
    (one,) = found.priced
    assert one.algorithm == "recursive_doubling"
    assert one.estimate.value == pytest.approx(3 * (1.2e-6 + 8192 / 64e9))
    assert found.start / found.time > 0.85
    gains = {lever.name: lever.gain for lever in found.levers}
    assert gains["half the start-up"] > 0.4 > 0.1 > gains["twice the bandwidth"] > 0
    assert found.levers[0].name == "half the start-up"


def test_training_is_bandwidth():
    found = workload(Asked(find("llama-3-8b"), Parallel(dp=8), "training", network=FLAT))
    (gradients,) = found.priced
    assert gradients.sent.size == 4 * 8_030_261_248
    assert found.bytes / found.time > 0.999
    gains = {lever.name: lever.gain for lever in found.levers}
    assert gains["twice the bandwidth"] == pytest.approx(0.5, abs=0.01)
    assert gains["gradients in bf16"] == pytest.approx(0.5, abs=0.01)
    assert gains["half the start-up"] < 1e-4


def test_parts_make_the_whole():
    found = workload(
        Asked(find("deepseek-v3"), Parallel(2, 4, 8, ep=16, sequence=1024), "training", Types(dispatch="fp8"), NODES)
    )
    assert {one.sent.name for one in found.priced} >= {
        "to experts",
        "from experts",
        "stage boundary",
        "tensor parallel",
    }
    assert found.time == pytest.approx(sum(one.start + one.bytes + one.rest for one in found.priced))
    assert all(one.rest >= -1e-15 for one in found.priced)
    there, back = (next(one for one in found.sent if one.name == name) for name in ("to experts", "from experts"))
    assert 2 * there.size == back.size


def test_a_cache_goes_to_another_node():
    found = workload(Asked(find("llama-3-70b"), Parallel(tp=8, sequence=8192), "prefill", network=NODES))
    cache = next(one for one in found.priced if one.sent.axis == "kv")
    assert cache.estimate.value == pytest.approx(5e-6 + 8192 * 327_680 / 8 / 50e9)
    assert found.cache.sequence == 8192 * 327_680


def test_without_a_network_bytes_alone():
    found = workload(Asked(find("llama-3-8b"), Parallel(tp=8), "decode"))
    assert found.priced == found.levers == ()
    assert found.sent


def test_the_list():
    names = [name for name, _, _ in listed()]
    assert names == ["llama-3-8b", "llama-3-70b", "qwen2.5-72b", "llama-3-405b", "deepseek-v3"]
