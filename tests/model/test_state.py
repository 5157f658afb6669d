"""Contexts counted one by one, and misses beside a small LRU cache."""

from __future__ import annotations

import random
from collections import OrderedDict
from dataclasses import replace

import pytest

from hopline.errors import InputError
from hopline.model.state import ACCESS, CONNECTIONS, Cache, Cluster, Sizes, State, fits, message_rate, miss

BIG = Cluster(128, 8)


def test_128_nodes_of_8_processes():
    found = {name: count(BIG, Sizes()) for name, count in CONNECTIONS.items()}
    assert {name: state.contexts for name, state in found.items()} == {
        "RC": 8128,
        "RC+SRQ": 8128,
        "DC": 72,
        "jetty": 135,
    }
    assert found["RC"].context_bytes == 8128 * 512 + 8 * 64
    assert found["RC"].receive_bytes == 8128 * 128 * 8192
    assert found["RC+SRQ"].receive_bytes == 8 * 4096 * 8192
    assert found["jetty"].context_bytes == 8 * (256 + 64 + 64) + 127 * 512


@pytest.mark.parametrize(("nodes", "processes"), [(2, 1), (3, 4), (5, 2)])
def test_counted_one_by_one(nodes, processes):
    ranks = [(node, rank) for node in range(nodes) for rank in range(processes)]
    pairs = {(a, b) for a in ranks for b in ranks if a[0] == 0 and b[0] != 0}
    reached = {b[0] for _, b in pairs}
    cluster = Cluster(nodes, processes)
    assert CONNECTIONS["RC"](cluster, Sizes()).contexts == len(pairs)
    assert CONNECTIONS["jetty"](cluster, Sizes()).contexts == processes + len(reached)


def test_more_of_everything():
    assert CONNECTIONS["RC"](replace(BIG, connections=4), Sizes()).contexts == 4 * 8128
    assert CONNECTIONS["RC"](replace(BIG, peers=3), Sizes()).contexts == 24
    assert CONNECTIONS["jetty"](replace(BIG, peers=9, endpoints=2, channels=3), Sizes()).contexts == 16 + 2 * 3
    assert CONNECTIONS["DC"](replace(BIG, initiators=1), Sizes()).contexts == 16
    with pytest.raises(InputError, match="1017 peers: expected at most the 1016"):
        Cluster(128, 8, 1017)
    with pytest.raises(InputError, match="nodes is 0"):
        Cluster(0, 8)


def lru_misses(contexts: int, room: int, uses: list[int]) -> float:
    """Part of the uses, after the first half, that a cache of ``room`` contexts misses."""
    held: OrderedDict[int, None] = OrderedDict()
    missed = 0
    for step, context in enumerate(uses):
        if context in held:
            held.move_to_end(context)
            continue
        missed += step >= len(uses) // 2
        held[context] = None
        if len(held) > room:
            held.popitem(last=False)
    return missed / (len(uses) - len(uses) // 2)


@pytest.mark.parametrize(("contexts", "room"), [(40, 40), (41, 40), (100, 30), (64, 8)])
def test_misses_are_those_of_a_cache(contexts, room):
    chance = random.Random(11)
    anyhow = [chance.randrange(contexts) for _ in range(40_000)]
    in_turn = [step % contexts for step in range(20 * contexts)]
    assert ACCESS["uniform"](contexts, room) == pytest.approx(lru_misses(contexts, room, anyhow), abs=0.01)
    assert ACCESS["cyclic"](contexts, room) == lru_misses(contexts, room, in_turn)


def test_misses_of_a_state():
    state = State(4000, 4000 * 500.0, 0.0)
    assert miss(state, Cluster(2, 1), Cache(size=1e6)) == 0.5
    assert miss(state, Cluster(2, 1, nics=2), Cache(size=1e6)) == 0.0
    assert miss(state, Cluster(2, 1), Cache(size=1e6), "cyclic") == 1.0
    assert miss(State(0, 0.0, 0.0), Cluster(1, 1), Cache()) == 0.0


def test_a_fetch_is_waited_for():
    assert message_rate(Cache(rate=1e8), 0.0) == pytest.approx(1e8)
    assert message_rate(Cache(rate=1e8, fetch=5e-7), 0.5) == pytest.approx(1 / 260e-9)
    assert message_rate(Cache(rate=1e8, fetch=5e-7, overlap=10), 0.5) == pytest.approx(1 / 35e-9)
    with pytest.raises(InputError):
        Cache(overlap=0)


def test_nodes_up_to_which_all_fit():
    nodes = fits("RC", BIG, Sizes(), Cache())
    held = [CONNECTIONS["RC"](replace(BIG, nodes=n), Sizes()).context_bytes for n in (nodes, nodes + 1)]
    assert held[0] <= Cache().size < held[1]
    assert fits("DC", BIG, Sizes(), Cache()) == 1 << 20
    assert fits("DC", BIG, Sizes(), Cache(size=10)) == 0
