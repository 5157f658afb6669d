"""Bars of a picture: what goes on at once stands side by side."""

from itertools import pairwise

import numpy as np

from hopline.curve import Curve
from hopline.jobs.simulating import bars
from hopline.machine.fabric import Levels
from hopline.machine.wires import Crossbar
from hopline.schedule.operations import FREE, NONE, RECV, SEND, Columns, Schedule
from hopline.sim.flows import simulate_flows


def test_messages_on_no_lane_do_not_lie_on_one_another():
    sizes = [1000, 3000, 2000, 500]
    schedule = _incast(sizes)
    resources = Crossbar(Levels.uniform(5, Curve.line(0.0, 1e9)))
    drawn = bars(schedule, simulate_flows(schedule, resources, keep=True).timeline)
    assert len(drawn.rows) == drawn.all_bars == 2 * len(sizes)
    for name in {row[0] for row in drawn.rows}:
        spans = sorted((start, end) for lane, _, start, end in drawn.rows if lane == name)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert sorted(row[0] for row in drawn.rows if row[0].startswith("rank 0")) == [f"rank 0 free {i}" for i in range(4)]


def _incast(sizes):
    """Each rank from 1 on sends to rank 0."""
    n = len(sizes)
    pairs = np.arange(1, n + 1, dtype=np.int32)
    kind = np.tile(np.array([SEND, RECV], np.uint8), n)
    rank = np.column_stack([pairs, 0 * pairs]).ravel().astype(np.int32)
    peer = np.column_stack([0 * pairs, pairs]).ravel().astype(np.int32)
    none = np.full(2 * n, NONE, np.int32)
    zero = np.zeros(2 * n, np.int64)
    columns = Columns(
        kind=kind, lane=np.full(2 * n, FREE, np.uint8), buffer=np.zeros(2 * n, np.uint8), rank=rank, peer=peer, after=none,
        start=zero, source=np.zeros(2 * n, np.uint8), other=zero, size=np.repeat(np.array(sizes, np.int64), 2),
    )  # fmt: skip
    return Schedule("incast", n + 1, columns)
