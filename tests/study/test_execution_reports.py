"""Sums over calls, and the longest chain against slow and simple ways of finding it."""

import json

import numpy as np
import pytest
from field import FIELD, needed

from hopline.formats.execution_traces import read
from hopline.records.execution import CommCall, Execution
from hopline.show.document import plain
from hopline.show.execution import as_json, page
from hopline.study.executions import report


def made(duration, data, calls=()):
    count = len(duration)
    pairs = np.array(data, np.int32).reshape(-1, 2)
    return Execution(
        "it", "chakra", "0.0.4", 0, np.arange(count), tuple("abcdefghijklmnop"[:count]), np.arange(count, dtype=np.int32), ("COMP",),
        np.zeros(count, np.uint8), np.array(duration, float), pairs, np.empty((0, 2), np.int32), len(pairs), 0, False, tuple(calls),
    )  # fmt: skip


def test_bytes_by_op_and_what_is_not_told():
    calls = [
        CommCall((0,), "all_reduce", 10),
        CommCall((1,), "all_reduce"),
        CommCall((2,), "alltoall", 90, duration=2.0),
    ]
    found = report(made([1, 1, 1], [], calls))
    assert [(one.op, one.calls, one.sized, one.size) for one in found.sent] == [
        ("alltoall", 1, 1, 90),
        ("all_reduce", 2, 1, 10),
    ]
    text = plain(page(found))
    assert "1 call without a size: not told, which is not 0." in text


def longest(duration, data):
    """By trying every way."""
    on = {node: [a for b, a in data if b == node] for node in range(len(duration))}

    def end(node):
        return duration[node] + max((end(one) for one in on[node]), default=0)

    return max(end(node) for node in range(len(duration)))


@pytest.mark.parametrize("seed", range(20))
def test_longest_chain_against_every_way(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(10)
    duration = rng.integers(1, 50, 10).astype(float)
    data = [(order[b], order[a]) for b in range(10) for a in range(b) if rng.random() < 0.3] or [(1, 0)]
    chain = report(made(duration, data)).chain
    assert chain.time == longest(duration, data)
    assert all((b, a) in set(data) for a, b in zip(chain.rows, chain.rows[1:], strict=False))
    assert duration[list(chain.rows)].sum() == chain.time


def test_nodes_without_a_duration_are_counted():
    chain = report(made([1, np.nan, 3], [(1, 0), (2, 1)], [CommCall((2,), "send")])).chain
    assert (chain.time, chain.communication, chain.untimed) == (4, 3, 1)


@pytest.mark.parametrize(
    ("duration", "data", "why"),
    [
        ([np.nan] * 2, [(1, 0)], "no durations"),
        ([1, 1], [], "no node depends"),
        ([1, 1], [(1, 0), (0, 1)], "2 nodes depend on one"),
    ],
)
def test_why_there_is_no_chain(duration, data, why):
    found = report(made(duration, data))
    assert found.chain is None
    assert why in found.why
    assert why in plain(page(found))
    json.dumps(as_json(found))


def test_names_do_not_steer_the_terminal():
    assert "\x1b" not in plain(page(report(made([1], [], [CommCall((0,), "\x1b[2J")]))))


@needed
def test_the_field_against_relaxation():
    """Bellman and Ford's way: pass over all edges until nothing grows."""
    (execution,) = read(str(FIELD / "traces/chakra-feeder_tests_trace.tar.gz"))
    weight = np.nan_to_num(execution.duration)
    end = weight.copy()
    for _ in range(len(execution)):
        new = end.copy()
        np.maximum.at(new, execution.data[:, 0], end[execution.data[:, 1]] + weight[execution.data[:, 0]])
        if (new == end).all():
            break
        end = new
    assert report(execution).chain.time == pytest.approx(end.max(), rel=1e-12)
