"""Store-and-forward, pipelines and cut-through in reality: relays in network namespaces, over links that ``tc tbf`` shapes.

The formulas with framing must say within 5 % what passages through 2, 3 and 4 hops take.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from chain_cells import BURST, CONGESTION, MBIT, RATES, SIZE, WITHIN, Cell, cells, seen
from left import left_of
from namespaces import Namespaces, Shape, missing

from hopline.model.shaping import arrivals
from hopline.run.relaying.chain import Chain
from hopline.run.relaying.ways import ends_of

pytestmark = [pytest.mark.real, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]
MOST = 4
PATIENCE = 10.0


@pytest.fixture(scope="module")
def row():
    """Namespaces for the longest chain."""
    with Namespaces(MOST + 1) as namespaces:
        yield namespaces
        assert namespaces.dropped() == 0, "frames were dropped: the formula knows of no retransmission"


@pytest.mark.parametrize("hops", [2, 3, 4])
@pytest.mark.parametrize("name", RATES)
def test_passages_take_what_the_formula_with_framing_says(row, name, hops):
    off = [str(one) for one in seen(row, cells(name, hops)) if abs(one.error) > WITHIN]
    assert off == []


def test_every_chunk_is_at_every_hop_when_the_formula_has_it_there(row):
    shapes = tuple(Shape(rate * MBIT, BURST) for rate in (400, 200, 300))
    due = arrivals(np.diff([0, *ends_of(SIZE, 8)]), [shape.bucket for shape in shapes])
    row.shape(shapes)
    off = []
    with Chain(row.posts(3), SIZE, congestion=CONGESTION) as chain:
        for _ in range(6):
            time.sleep(2 * max(shape.rest for shape in shapes))
            passage = chain.send(SIZE, 8)
            off.append(np.array(passage.arrivals) - passage.start - due)
    middle = np.median(off[1:], axis=0)
    assert middle.shape == (3, 8)
    assert np.abs(middle).max() <= WITHIN * due[-1, -1]


def test_framing_is_seen(row):
    (one,) = seen(row, [Cell("equal", (Shape(300 * MBIT, BURST),) * 2, "pipelined", 1)])
    bare = one.cell.without_framing(one.latency)
    assert abs(one.error) <= WITHIN / 2
    assert 0.04 < one.time / bare - 1 < 0.07


def test_a_large_bucket_is_seen(row):
    (one,) = seen(row, [Cell("large", (Shape(300 * MBIT, 300_000), Shape(200 * MBIT, 300_000)), "pipelined", 4)])
    assert abs(one.error) <= WITHIN
    assert one.time / one.cell.without_bursts(one.latency) - 1 < -0.1


def test_a_pipeline_is_faster_than_whole_messages_and_the_slowest_link_sets_its_pace(row):
    shapes = tuple(Shape(rate * MBIT, BURST) for rate in (400, 200, 400))
    whole, cut = seen(row, [Cell("slow", shapes, way, 32) for way in ("store-and-forward", "pipelined")])
    alone = whole.cell.size / shapes[1].bucket.rate
    assert whole.time > 1.8 * alone
    assert cut.time < 1.15 * alone


LEAVER = """
import sys
sys.path.insert(0, sys.argv[1])
from left import left_of
from namespaces import Namespaces, Shape
from hopline.run.relaying.chain import Chain
with Namespaces(3) as row:
    row.shape([Shape(10**6, 32768)] * 2)
    with Chain(row.posts(2), 10**7) as chain:
        print(*row.holders, *chain.processes, flush=True)
        chain.send(10**7)
"""


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_is_ended_in_a_passage_leaves_nothing(name):
    command = [sys.executable, "-c", LEAVER, str(Path(__file__).parent)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        pids = process.stdout.readline().split()
        assert len(pids) == 6
        assert all(Path("/proc", pid).exists() for pid in pids)
        time.sleep(0.2)
        process.send_signal(name)
        assert process.wait(PATIENCE) != 0
    finally:
        process.kill()
        process.communicate()
    assert left_of(pids) == []
