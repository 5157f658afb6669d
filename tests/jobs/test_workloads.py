"""A job's messages with their prices: who sits inside of a node, and what levers do."""

import math
from dataclasses import replace

import pytest

from hopline.curve import Curve
from hopline.errors import InputError
from hopline.jobs.machines import find as find_machine
from hopline.jobs.subgroups import of_levels, of_machine
from hopline.jobs.workloads import Asked, Prices, listed, workload
from hopline.machine.fabric import Level
from hopline.model import phases
from hopline.model.job import Types
from hopline.workload.files import find
from hopline.workload.parallel import Parallel

NODES = of_levels([Level(8, Curve.line(1e-6, 400e9)), Level(16, Curve.line(5e-6, 50e9))])
FLAT = of_levels([Level(8, Curve.line(1.2e-6, 64e9))])


@pytest.mark.parametrize(
    ("ranks", "step", "levels"),
    [
        (8, 1, [(8, 400e9)]), (4, 1, [(4, 400e9)]), (16, 1, [(8, 400e9), (2, 50e9)]), (4, 8, [(4, 50e9)]),
        (4, 4, [(2, 400e9), (2, 50e9)]), (16, 8, [(16, 50e9)]), (2, 64, [(2, 50e9)]), (3, 4, [(3, 50e9)]), (1, 1, [(1, 50e9)]),
        (5, 1, [(5, 400e9)]), (7, 1, [(7, 400e9)]), (3, 2, [(3, 400e9)]), (12, 1, [(4, 400e9), (3, 50e9)]), (4, 3, [(4, 50e9)]),
    ],
)  # fmt: skip
def test_levels_of_a_group(ranks, step, levels):
    found = NODES.network(ranks, step).levels.levels
    assert [(level.ranks, level.curve.pieces[0].bandwidth) for level in found] == levels


THREE = of_levels([Level(n, Curve.line(1e-6, rate)) for n, rate in ((4, 900e9), (3, 400e9), (64, 50e9))])


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6, 8, 12, 24])
def test_who_sits_together_does_so_in_every_group(step):
    """Against all groups of a job, rank by rank: neighbours are inside of a level if all are, and all of a group where it is."""
    for ranks in range(2, 14):
        for blocks in range(1, 5):
            job = blocks * ranks * step
            groups = [
                range(start, start + ranks * step, step)
                for block in range(blocks)
                for start in range(block * ranks * step, block * ranks * step + step)
            ]
            levels = THREE.network(ranks, step, job).levels.levels
            for span, curve in ((4, THREE.levels[0].curve), (12, THREE.levels[1].curve)):
                inside = inner(levels, curve)
                for group in groups:
                    nodes = [rank // span for rank in group]
                    assert all(len(set(nodes[i : i + inside])) == 1 for i in range(0, ranks, inside))
                if all(len({rank // span for rank in group}) == 1 for group in groups):
                    assert inside == ranks
                    assert THREE.uneven(ranks, step, job) == "" or span == 12


def inner(levels, curve):
    """Members of groups up to the level of ``curve``."""
    wanted = [level.curve for level in THREE.levels]
    return math.prod(level.ranks for level in levels if wanted.index(level.curve) <= wanted.index(curve))


@pytest.mark.parametrize("replicas", [3, 5, 6, 7])
def test_replicas_in_one_node_are_priced_in_it(replicas):
    """A ring's bound: 2 (n-1)/n of the gradients at the node's rate."""
    found = workload(Asked(find("llama-3-8b"), Parallel(dp=replicas), "training", network=NODES))
    assert found.time == pytest.approx(2 * (replicas - 1) / replicas * 4 * 8_030_261_248 / 400e9, rel=1e-3)
    assert not any("evenly:" in premise for premise in found.premises)


def test_groups_that_straddle_nodes_say_so():
    found = workload(Asked(find("llama-3-8b"), Parallel(dp=12), "training", network=NODES))
    (said,) = (premise for premise in found.premises if "evenly:" in premise)
    assert said.startswith("groups of 12 ranks do not fill groups of 8 evenly: priced as 3 parts of 4 ranks")
    two = workload(Asked(find("llama-3-8b"), Parallel(dp=5, pp=3), "training", network=NODES))
    assert any(
        "groups of 5 ranks do not fill groups of 8 evenly: priced as 5 ranks apart" in one for one in two.premises
    )


def test_a_machine_of_two_nodes_takes_any_number_of_ranks():
    ground = of_machine(find_machine("dgx-h100"), 12)
    assert [level.ranks for level in ground.network(12).levels.levels] == [4, 3]
    assert [level.ranks for level in ground.network(5).levels.levels] == [5]


def test_what_a_rank_sends_is_of_the_algorithm():
    """10 KiB among 64 ranks: Bruck sends half of the blocks in each of its rounds."""
    asked = Asked(find("deepseek-v3"), Parallel(dp=64, ep=64), "decode")
    least = workload(asked).sent[0]
    found = workload(replace(asked, network=of_levels([Level(64, Curve.line(1e-4, 50e9))]))).priced[0]
    assert found.algorithm == "bruck"
    assert least.each == least.size * 63 / 64
    assert found.sent.each == pytest.approx(6 / 2 * least.size, rel=1e-2)


def test_a_form_of_bounds_gives_a_range():
    three = of_levels([Level(4, Curve.line(1e-6, 400e9)), Level(3, Curve.line(5e-6, 50e9))])
    found = workload(Asked(find("llama-3-8b"), Parallel(dp=12), "training", network=three))
    low, high = found.priced[0].estimate.low, found.priced[0].estimate.value
    assert found.least == low < high == found.time


def test_the_stage_that_takes_longest_counts():
    spread = Parallel(tp=8, pp=4, dp=2, batch=16)
    found = workload(Asked(find("llama-3-70b"), spread, "training", network=NODES))
    prices = Prices(NODES, 64)
    stages = phases.stages(find("llama-3-70b"), spread, "training")
    times = [sum(prices.of(one).time for one in rows) for rows in stages]
    assert found.time == pytest.approx(max(times))
    assert times[found.stage] == max(times) > min(times)


def test_a_token_waits_for_all_stages_and_a_rank_sends_for_its_own():
    found = workload(Asked(find("llama-3-8b"), Parallel(tp=8, pp=4), "decode", network=NODES))
    count = {one.name: one.count for one in found.sent}
    passed = {one.sent.name: one.sent.count for one in found.priced}
    assert (count["tensor parallel"], passed["tensor parallel"]) == (16, 64)
    assert (count["stage boundary"], passed["stage boundary"]) == (1, 3)
    assert found.time == pytest.approx(sum(one.sent.count * one.estimate.value for one in found.priced))


def test_notes_say_what_is_sent_more_than_once():
    asked = Asked(find("deepseek-v3"), Parallel(tp=8, ep=8), "decode")
    assert any("8 times the bytes" in note for note in workload(asked).notes)
    assert workload(replace(asked, parallel=Parallel(tp=8, ep=8, sequence_parallel=True))).notes == ()
    many = workload(Asked(find("llama-3-8b"), Parallel(tp=16), "decode"))
    assert any("8 heads of K and V over tp 16: each rank keeps 1 whole head" in note for note in many.notes)


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
    one, embedding = found.priced
    assert (embedding.sent.name, embedding.sent.count) == ("embedding", 1)
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
        Asked(
            find("deepseek-v3"),
            Parallel(2, 4, 8, ep=16, sequence=1024, sequence_parallel=True),
            "training",
            Types(dispatch="fp8"),
            NODES,
        )
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
