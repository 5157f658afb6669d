"""What a simulation says: times worked out by hand, one rule a test, in every way to run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sim_drawn import message, schedule_of, work

from hopline.curve import Curve
from hopline.errors import InputError, SimulationError, UnknownNameError
from hopline.machine.fabric import Level, Levels
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import FREE
from hopline.schedule.shape import Shape
from hopline.sim.engine import ENGINES, simulate
from hopline.sim.kernels import compiled

RING = COLLECTIVES["all_reduce-ring"].build
FAST = Curve.line(1e-6, 50e9)
TICK = Curve.line(10e-12, 1e12)
"""A message of m bytes takes 10 + m ticks."""
PORTED = ("reference", "events")
"""Ways that know shared ports."""


def uniform(ranks: int, **more: float) -> Levels:
    return Levels.uniform(ranks, TICK, **more)


@pytest.mark.parametrize("way", ENGINES)
@pytest.mark.parametrize(("ranks", "ticks"), [(16, 7_579_747_200), (64, 8_053_234_560)])
def test_a_ring_takes_what_two_other_simulators_say(way, ranks, ticks):
    timeline = simulate(RING(Shape(ranks, 192 << 20)), Levels.uniform(ranks, FAST), way=way)
    assert timeline.ticks == ticks
    assert timeline.messages == 2 * ranks * (ranks - 1)
    assert timeline.size == 2 * (ranks - 1) * (192 << 20)
    assert set(timeline.finish.tolist()) == {ticks}
    assert set(timeline.busy.tolist()) == {ticks}
    assert len(timeline.ports) == 2 * ranks


@pytest.mark.parametrize("way", ENGINES)
def test_uneven_pieces_and_reduction_cost_what_the_slowest_piece_does(way):
    timeline = simulate(RING(Shape(3, 7)), uniform(3, reduce=2e-12), way=way)
    assert timeline.ticks == 2 * (10 + 3 + 2 * 3) + 2 * (10 + 3)


def test_few_operations_run_without_numba():
    code = (
        "import sys\nfrom hopline.curve import Curve\nfrom hopline.machine.fabric import Levels\n"
        "from hopline.schedule.collectives.rings import all_reduce\nfrom hopline.schedule.shape import Shape\n"
        "from hopline.sim.engine import simulate\n"
        "simulate(all_reduce(Shape(16, 1000)), Levels.uniform(16, Curve.line(1e-6, 1e9)))\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_many_operations_choose_the_fastest_way_that_can():
    ring = RING(Shape(96, 1 << 20))
    assert simulate(ring, Levels.uniform(96, FAST)).engine == "in order"
    assert simulate(ring, Levels.uniform(96, FAST), eager=1 << 20).engine == "events"
    assert simulate(RING(Shape(8, 1 << 20)), Levels.uniform(8, FAST)).engine == "reference"


def test_two_runs_are_equal_to_the_last_bit():
    schedule = RING(Shape(96, 1234567))
    one, two = (simulate(schedule, Levels.uniform(96, FAST), way="events", keep=True) for _ in range(2))
    assert one.path == two.path
    for name in ("finish", "busy", "start", "end"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_without_keep_there_are_no_arrays_by_row():
    timeline = simulate(RING(Shape(4, 100)), uniform(4))
    assert timeline.start is None
    assert timeline.end is None
    kept = simulate(RING(Shape(4, 100)), uniform(4), keep=True)
    assert kept.start.shape == kept.end.shape == (len(RING(Shape(4, 100))),)


def test_no_operations_take_no_time():
    timeline = simulate(schedule_of(2, []), uniform(2))
    assert (timeline.ticks, timeline.path, timeline.ports) == (0, (), ())


@pytest.mark.parametrize("way", PORTED)
def test_two_messages_to_one_rank_go_one_after_the_other(way):
    rows = message(0, 2, 5, lanes=(0, 1)) + message(1, 2, 7, lanes=(0, 3))
    timeline = simulate(schedule_of(3, rows), uniform(3), way=way, keep=True)
    assert timeline.start.tolist() == [0, 0, 15, 15]
    assert timeline.end.tolist() == [15, 15, 32, 32]
    assert timeline.path == ((0, 0, 15), (2, 15, 32))
    assert dict(zip(timeline.ports, timeline.busy.tolist(), strict=True)) == {
        "rank 0 out": 15, "rank 1 out": 17, "rank 2 in": 32,
    }  # fmt: skip


@pytest.mark.parametrize("way", ENGINES)
def test_messages_by_two_nics_go_at_once(way):
    rows = message(0, 2, 5, lanes=(0, 1)) + message(1, 2, 7, lanes=(2, 3))
    timeline = simulate(schedule_of(3, rows), uniform(3, nics=2), way=way, keep=True)
    assert timeline.end.tolist() == [15, 15, 17, 17]


@pytest.mark.parametrize("way", PORTED)
def test_nobody_waits_behind_somebody_who_cannot_begin(way):
    """0 -> 3 waits for 1 -> 3; 0 -> 2 was ready after it, and goes before it."""
    rows = message(1, 3, 90, lanes=(0, FREE)) + message(0, 3, 5, tag=1, lanes=(FREE, FREE))
    rows += [work(2, 3, lane=1), *message(0, 2, 5, tag=2, lanes=(FREE, 1))]
    timeline = simulate(schedule_of(4, rows), uniform(4), way=way, keep=True)
    assert timeline.start.tolist() == [0, 0, 100, 100, 0, 3, 3]


@pytest.mark.parametrize("way", PORTED)
def test_of_two_that_wait_the_one_that_was_ready_first_goes_first(way):
    rows = message(0, 3, 90, lanes=(FREE, FREE))
    rows += [work(1, 9, FREE), *message(1, 3, 1, tag=1, lanes=(FREE, FREE), after=2)]
    rows += [work(2, 4, FREE), *message(2, 3, 1, tag=2, lanes=(FREE, FREE), after=5)]
    timeline = simulate(schedule_of(4, rows), uniform(4), way=way, keep=True)
    assert (timeline.start[6], timeline.start[3]) == (100, 111)


@pytest.mark.parametrize("way", ENGINES)
def test_a_send_waits_for_its_recv_unless_it_is_eager(way):
    rows = [work(1, 50), *message(0, 1, 5)]
    late = simulate(schedule_of(2, rows), uniform(2), way=way, keep=True)
    assert (late.start[1], late.end[1], late.end[2]) == (50, 65, 65)
    if way == "in order":
        with pytest.raises(SimulationError, match="cannot be run in order"):
            simulate(schedule_of(2, rows), uniform(2), way=way, eager=5)
        return
    eager = simulate(schedule_of(2, rows), uniform(2), way=way, keep=True, eager=5)
    assert (eager.start[1], eager.end[1], eager.end[2]) == (0, 15, 50)
    assert simulate(schedule_of(2, rows), uniform(2), way=way, eager=4).ticks == 65


@pytest.mark.parametrize("way", ENGINES)
def test_rounds_wait_for_all_of_the_round_before(way):
    rows = [*message(0, 1, 90), *message(2, 3, 5), *message(3, 2, 5, tag=1)]
    schedule = schedule_of(4, rows, rounds=(0, 4))
    assert simulate(schedule, uniform(4), way=way).finish.tolist() == [100, 100, 15, 15]
    by_rounds = simulate(schedule, uniform(4), way=way, by_rounds=True)
    assert by_rounds.finish.tolist() == [100, 100, 115, 115]
    assert [row for row, *_ in by_rounds.path] == [0, 4]
    with pytest.raises(InputError, match="has no rounds"):
        simulate(schedule_of(4, rows), uniform(4), way=way, by_rounds=True)


@pytest.mark.parametrize("way", ENGINES)
def test_begun_only_waits_for_the_beginning_and_more_for_the_end(way):
    rows = [work(0, 40, lane=1), work(0, 7, lane=3), work(0, 2, lane=5)]
    timeline = simulate(schedule_of(1, rows, more=[(2, 0)], begun=[(1, 0)]), uniform(1), way=way, keep=True)
    assert timeline.start.tolist() == [0, 0, 40]
    assert timeline.path == ((0, 0, 40), (2, 40, 42))


@pytest.mark.parametrize("way", ENGINES)
def test_after_and_lanes_order_what_a_rank_does(way):
    rows = [work(0, 5, lane=1), work(0, 6, lane=1), work(0, 7, lane=3, after=0), work(0, 1, lane=FREE)]
    timeline = simulate(schedule_of(1, rows), uniform(1), way=way, keep=True)
    assert timeline.start.tolist() == [0, 5, 5, 0]


def test_levels_have_ports_of_their_own():
    """A message inside of a node and one to the other node leave a rank at once, if its lanes let them."""
    fabric = Levels([Level(2, TICK), Level(2, Curve.line(100e-12, 1e12))])
    rows = message(0, 1, 5, lanes=(0, 1)) + message(0, 2, 5, tag=1, lanes=(2, 1))
    timeline = simulate(schedule_of(4, rows), fabric, keep=True)
    assert timeline.end.tolist() == [15, 15, 105, 105]
    assert timeline.ports == ("rank 0 out level 0", "rank 1 in level 0", "rank 0 out level 1", "rank 2 in level 1")


@pytest.mark.parametrize("way", PORTED)
def test_what_waits_for_itself_is_refused_in_one_line(way):
    there, back = message(0, 1, 5, lanes=(0, 0)), message(1, 0, 5, lanes=(0, 0))
    order = [back[1], there[1], there[0], back[0]]
    with pytest.raises(
        SimulationError, match=r"4 of 4 operations of drawn could not run, the first is row 0: rank 0 receives"
    ):
        simulate(schedule_of(2, order), uniform(2), way=way)


def test_messages_with_one_end_are_refused_in_one_line():
    rows = message(0, 1, 5)[:1] + message(1, 0, 5, tag=3)
    with pytest.raises(
        SimulationError, match=r"1 of 3 .* no other end, the first is row 0: rank 0 sends 5 bytes to rank 1"
    ):
        simulate(schedule_of(2, rows), uniform(2))


def test_what_does_not_fit_is_refused_in_one_line():
    schedule = schedule_of(2, message(0, 1, 5))
    with pytest.raises(InputError, match="is for 2 ranks and uniform has 3: expected equally many"):
        simulate(schedule, uniform(3))
    with pytest.raises(InputError, match="eager is -1 bytes"):
        simulate(schedule, uniform(2), eager=-1)
    with pytest.raises(UnknownNameError, match="way to simulate 'evens'"):
        simulate(schedule, uniform(2), way="evens")
    with pytest.raises(InputError, match=r"after 9 is not in -1 .. 0"):
        simulate(schedule_of(1, [work(0, 1, after=9)]), uniform(1))
    with pytest.raises(InputError, match=r"rank 2 is not in 0 .. 1"):
        simulate(schedule_of(2, [work(2, 1)]), uniform(2))
    with pytest.raises(InputError, match="expected less than"):
        simulate(schedule_of(1, [work(0, 2**62)]), uniform(1))
    with pytest.raises(InputError, match="expected less than"):
        simulate(schedule, Levels.uniform(2, Curve.line(1e9, 1.0)))


def test_kernels_run_where_nothing_can_be_kept():
    code = (
        "import numba.core.caching as c\n"
        "getattr(c, 'CacheImpl', getattr(c, '_CacheImpl', None))._locator_classes = []\n"
        "from hopline.sim.kernels import far_walk\nimport numpy as np\n"
        "assert far_walk.above.stats.cache_path is None\n"
        "before = np.full(2, -1, np.int32)\n"
        "far_walk.above(np.zeros(2, np.int32), np.zeros(2, np.uint8), np.full((1, 1), -1, np.int32), before)\n"
        "assert before.tolist() == [-1, 0]"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_kept_kernels_know_all_files_they_are_made_of():
    files = sorted(Path(compiled.__file__).parent.glob("*.py"))
    parts = [file.stem for file in files if "@part" in file.read_text() and "@kernel" not in file.read_text()]
    assert parts == list(compiled.PARTS)
