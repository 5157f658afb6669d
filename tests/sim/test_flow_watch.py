"""Long simulations of flows tell how far they are, and stop when they are told to."""

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.machine.fabric import Levels
from hopline.machine.wires import Crossbar
from hopline.schedule.operations import FREE, NONE, RECV, SEND, Columns, Schedule
from hopline.sim.flows import simulate_flows

FLOWS = 2500
PORTS = Crossbar(Levels.uniform(2, Curve.line(0.0, 1e9)))


def incast():
    """All from rank 0 to rank 1, all of different sizes: each end is a solving."""
    kind = np.tile(np.array([SEND, RECV], np.uint8), FLOWS)
    rank = np.tile(np.array([0, 1], np.int32), FLOWS)
    none, zero = np.full(2 * FLOWS, NONE, np.int32), np.zeros(2 * FLOWS, np.int64)
    bytes_ = np.zeros(2 * FLOWS, np.uint8)
    columns = Columns(
        kind=kind, lane=np.full(2 * FLOWS, FREE, np.uint8), buffer=bytes_, source=bytes_, rank=rank, peer=1 - rank,
        after=none, start=zero, size=np.repeat(np.arange(1, FLOWS + 1, dtype=np.int64) * 1000, 2), other=zero,
    )  # fmt: skip
    return Schedule("incast", 2, columns)


def test_it_tells_how_far_it_is_and_the_answer_is_the_same():
    told = []
    watched = simulate_flows(incast(), PORTS, way="events", watch=lambda part, words: told.append((part, words)))
    assert [part for part, _ in told] == sorted(part for part, _ in told)
    assert len(told) == FLOWS // 1000
    assert 0 < told[0][0] < told[-1][0] < 1
    assert "of 2,500 flows are through" in told[0][1]
    assert watched.timeline.ticks == simulate_flows(incast(), PORTS, way="events").timeline.ticks
    assert watched.timeline.ticks == FLOWS * (FLOWS + 1) // 2 * 1_000_000


def test_it_can_be_stopped():
    def stop(part, words):
        del part, words
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_flows(incast(), PORTS, way="events", watch=stop)
