"""Flows over time: worked by hand, against shares solved from nothing in every interval, and both ways against each other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from flow_nets import FatTree, Said, any_net, at_once
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_drawn import any_schedule, crowd, message, schedule_of, work
from test_sharing import exact

from hopline.curve import Curve
from hopline.errors import HoplineError, InputError, MachineError, SimulationError, UnknownNameError
from hopline.machine.fabric import Level, Levels
from hopline.machine.wires import Crossbar
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import FREE, RECV, SEND
from hopline.schedule.shape import Shape
from hopline.sim.flows import ENGINES, simulate_flows
from hopline.sim.sharing import shares

RANDOM = st.integers(0, 2**32 - 1).map(Random)
BENCH = Path(__file__).parents[3] / "shared" / "bench"
both = pytest.mark.parametrize("way", ENGINES)


def ways_of(letters, weight=1.0):
    """Pair (i, i + 1) goes over the resources of word i."""
    return {(i, i + 1): [(ord(letter) - ord("A"), weight) for letter in word] for i, word in enumerate(letters)}


@both
def test_five_flows_by_hand(way):
    """A, B, C carry 3, 6, 10 byte/ps; flows over A, AB, B, BC, C have 30, 60, 45, 90 and 155 bytes.

    Rates are 1.5, 1.5, 2.25, 2.25 and 7.75 (test_sharing). At 20 ps flows 0, 2 and 4 are through; flows 1 and 3 have 30 and 45
    left. Now A gives 3 to flow 1, and B 6 / 2 = 3 to either: flow 1 is through at 30. Flow 3 has 15 left and B alone: 2.5 ps,
    through at 32.5, which is tick 33. Alone they take 10, 20, 7.5, 15 and 15.5 ps.
    """
    net = Said([3, 6, 10], ways_of(["A", "AB", "B", "BC", "C"]), {})
    found = simulate_flows(
        at_once([(i, i + 1, s) for i, s in enumerate((30, 60, 45, 90, 155))], 6), net, way=way, keep=True
    )
    assert found.timeline.end[::2].tolist() == [20, 30, 20, 33, 20]
    assert found.alone.tolist() == [10, 20, 8, 15, 16]
    assert found.lost.tolist() == [10, 10, 12, 18, 4]
    assert found.worst.tolist() == [0, 0, 1, 1, 2]
    assert found.bound.tolist() == [30, 33, 20]
    assert found.blame == pytest.approx([10 + 10, 12.5 + 18, 4.5])
    assert found.carried.tolist() == [90, 195, 245]
    assert found.spans.tolist() == [[0, 0, 30], [1, 0, 33], [2, 0, 20]]
    assert found.timeline.ports == ("A", "B", "C")
    assert found.timeline.busy.tolist() == [30, 32, 24]
    assert found.timeline.path == ((6, 0, 33),)


@both
def test_five_flows_one_after_another_by_hand(way):
    """A link of 1 byte/ps. Rank 0 sends 100 bytes on one lane and 50, 25, 25, 10 on another.

    Two share: 50 are through at 100, then 25 at 150 and 25 at 200, when the 100 are through as well; 10 more take 10.
    """
    net = Said([1], {(0, 1): [(0, 1.0)]}, {})
    rows = message(0, 1, 100, 0, (0, 1))
    for tag, size in enumerate((50, 25, 25, 10)):
        rows += message(0, 1, size, 1 + tag, (2, 3))
    found = simulate_flows(schedule_of(2, rows), net, way=way, keep=True)
    assert found.timeline.end[::2].tolist() == [200, 100, 150, 200, 210]
    assert found.timeline.start[::2].tolist() == [0, 0, 100, 150, 200]
    assert found.lost.tolist() == [100, 50, 25, 25, 0]
    assert found.worst.tolist() == [0, 0, 0, 0, -1]
    assert found.timeline.path == ((2, 0, 100), (4, 100, 150), (6, 150, 200), (8, 200, 210))
    assert found.spans.tolist() == [[0, 0, 210]]


@both
def test_five_flows_with_latencies_in_inverse_proportion_by_hand(way):
    """A link of 14 byte/ps; latencies 1, 1, 2, 2, 2 ps.

    From 1 to 2 two flows share 14: 7 bytes each. From 2 on coefficients are 1, 1, 1/2, 1/2, 1/2: 4, 4, 2, 2, 2 byte/ps.
    The first two have 47 bytes: 7 + 4 x 10, through at 12. The others have 20 of their 34 through; 14 / 3 each: 3 ps more.
    """
    net = Said([14], ways_of("AAAAA"), {(i, i + 1): t for i, t in enumerate((1, 1, 2, 2, 2))})
    flows = [(i, i + 1, size) for i, size in enumerate((47, 47, 34, 34, 34))]
    found = simulate_flows(at_once(flows, 6), net, way=way, rule="inverse-rtt", keep=True)
    assert found.timeline.end[::2].tolist() == [12, 12, 15, 15, 15]
    assert found.rule == "inverse-rtt"


@both
def test_a_message_needs_both_ends_an_eager_one_only_its_send(way):
    """A link of 1 byte/ps; the Recv is ready at 30. Late: 30 + 4 + 10. Eager: arrived at 14, its Recv done at 30."""
    net = Said([1], {(0, 1): [(0, 1.0)]}, {(0, 1): 4})
    schedule = schedule_of(2, [work(1, 30), *message(0, 1, 10, after_recv=0)])
    found = simulate_flows(schedule, net, way=way, keep=True)
    assert (found.timeline.start.tolist(), found.timeline.end.tolist()) == ([0, 30, 30], [30, 44, 44])
    assert found.timeline.path == ((0, 0, 30), (1, 30, 44))
    assert found.alone.tolist() == [14]
    found = simulate_flows(schedule, net, eager=10, way=way, keep=True)
    assert (found.timeline.start.tolist(), found.timeline.end.tolist()) == ([0, 0, 30], [30, 14, 30])


@both
def test_what_shares_nothing_takes_its_latency(way):
    net = Said([1], {(0, 1): [(0, 1.0)], (1, 0): []}, {(0, 1): 5, (1, 0): 7})
    found = simulate_flows(at_once([(0, 1, 0), (1, 0, 10**6)], 2), net, way=way, keep=True)
    assert found.timeline.end.tolist() == [5, 5, 7, 7]
    assert found.lost.tolist() == [0, 0]
    assert found.solves == 0


def test_nothing_happens_in_a_schedule_of_nothing():
    net = Said([1], {(0, 1): [(0, 1.0)]}, {})
    for way in ENGINES:
        found = simulate_flows(schedule_of(2, []), net, way=way, keep=True)
        assert (found.timeline.ticks, found.solves, found.timeline.path) == (0, 0, ())


def said(schedule, net, way, **options):
    """Everything that an answer says, or what is wrong; blame apart, which is a sum of floats."""
    try:
        found = simulate_flows(schedule, net, way=way, keep=True, **options)
    except HoplineError as error:
        return str(error), []
    t = found.timeline
    whole = (t.finish, t.busy, t.start, t.end, found.alone, found.lost, found.worst, found.bound, found.spans)
    return [*(part.tolist() for part in whole), t.path, t.ports, found.solves], found.blame


@settings(max_examples=300, deadline=None)
@given(RANDOM, st.sampled_from([0, 0, 2, 5]), st.sampled_from(["max-min", "max-min", "inverse-rtt"]))
def test_events_agree_with_the_reference_to_the_tick(random, eager, rule):
    schedule = any_schedule(random) if random.random() < 0.7 else crowd(random)
    net = any_net(random, schedule.ranks)
    one, two = (said(schedule, net, way, eager=eager, rule=rule) for way in ENGINES)
    assert one[0] == two[0]
    np.testing.assert_allclose(one[1], two[1], atol=1e-3)


def enlarged(schedule):
    """The same with 100,000 times the bytes: what is rounded to ticks is then little beside them."""
    columns = schedule.columns
    size = np.where(columns.kind <= RECV, columns.size * 100_000, columns.size)
    return replace(schedule, columns=replace(columns, size=size))


@settings(max_examples=100, deadline=None)
@given(RANDOM)
def test_every_byte_is_carried_and_no_resource_above_its_capacity(random):
    """In every interval in which nothing begins or ends, rates are those of shares solved from nothing, and fit."""
    schedule = enlarged(crowd(random) if random.random() < 0.5 else any_schedule(random))
    net = any_net(random, schedule.ranks)
    try:
        found = simulate_flows(schedule, net, way="events", keep=True)
    except SimulationError:
        return
    rows = np.flatnonzero((schedule.columns.kind == SEND) & (schedule.columns.size > 0))
    size, ends = schedule.columns.size[rows], (schedule.columns.rank[rows], schedule.columns.peer[rows])
    begin = found.timeline.start[rows] + np.rint(net.routes(*ends, rows).latency * 1e12).astype(int)
    end, through = found.timeline.end[rows], np.zeros(len(rows))
    ticks = np.unique(np.concatenate([begin, end]))
    for low, high in pairwise(ticks):
        active = (begin <= low) & (end >= high)
        routes = net.routes(ends[0][active], ends[1][active], rows)
        rate = shares(routes, net.capacity).rate
        takes = routes.weight > 0
        rates = np.repeat(rate, np.diff(routes.start))[takes]
        taken = np.bincount(routes.resource[takes], routes.weight[takes] * rates, len(net.capacity))
        assert (taken <= net.capacity * (1 + 1e-9)).all()
        through[active] += rate * ((high - low) * 1e-12)
    shared = np.array(
        [any(w for _, w in net.ways[pair]) for pair in zip(*(e.tolist() for e in ends), strict=True)], bool
    )
    assert np.abs(through - size)[shared].max(initial=0) <= len(ticks)
    assert found.blame.sum() == pytest.approx(found.lost.sum(), abs=len(rows) + 1)
    assert found.carried == pytest.approx([*_carried(net, schedule.columns)])


def _carried(net, columns):
    total: dict[int, float] = {}
    for row in np.flatnonzero(columns.kind == SEND):
        for number, weight in net.ways[int(columns.rank[row]), int(columns.peer[row])]:
            if weight:
                total[number] = total.get(number, 0.0) + weight * float(columns.size[row])
    return (total[number] for number in sorted(total))


def test_300_random_networks_end_when_exact_fractions_say():
    """Time and bytes in fractions without ticks, shares by ``exact``: ends agree to a part in ten thousand and two ps an end."""
    for seed in range(300):
        random = Random(seed)
        ranks = 4
        net = any_net(random, ranks)
        pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b and any(w for _, w in net.ways[a, b])]
        flows = [(a, b, random.randint(1, 10**6)) for a, b in pairs]
        if not flows:
            continue
        net.latency = {}
        found = simulate_flows(at_once(flows, ranks), net, way="events", keep=True)
        uses = [[(r, w) for r, w in net.ways[a, b] if w] for a, b, _ in flows]
        left = {i: Fraction(size) for i, (_, _, size) in enumerate(flows)}
        now, ends = Fraction(0), {}
        while left:
            order = list(left)
            level = exact([uses[i] for i in order], [1.0] * len(order), (net.capacity * 1e-12).tolist())
            rates = dict(zip(order, level, strict=True))
            step = min(left[i] / rates[i] for i in order)
            now += step
            left = {i: rest for i in order if (rest := left[i] - rates[i] * step) > 0}
            ends |= {i: now for i in order if i not in left}
        wanted = [float(ends[i]) for i in range(len(flows))]
        np.testing.assert_allclose(found.timeline.end[::2], wanted, rtol=1e-9, atol=2.0 * len(flows))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_every_collective_runs_alike_in_both_ways(name):
    schedule = COLLECTIVES[name].build(Shape(8, 100_000, levels=(4, 2), chunks=3, channels=2, targets=3))
    tree = FatTree(2, 4, 2, hop=0.3e-6)
    levels = Crossbar(Levels([Level(4, Curve.line(1e-6, 1e9)), Level(2, Curve.line(4e-6, 1e8), 2)]))
    for net in (tree, levels):
        for options in ({}, {"eager": 20_000}, {"rule": "inverse-rtt"}):
            one, two = (said(schedule, net, way, **options) for way in ENGINES)
            assert not isinstance(one[0], str), one
            assert one[0] == two[0]


@both
def test_equal_all_to_all_takes_the_bisection_bound_and_four_hops(way):
    """8 hosts under 2 leaves, 2 spines: 4 x 4 flows of 1 MB cross, 8 of them over either spine, at 50 GB/s: 160 µs, and 2 µs."""
    flows = [(a, b, 10**6) for a in range(8) for b in range(8) if a != b]
    found = simulate_flows(at_once(flows, 8), FatTree(2, 4, 2, hop=0.5e-6), way=way)
    assert found.timeline.ticks == 162_000_000
    assert found.solves <= 4


def bench(hosts: int):
    """The flows of a shared file."""
    lines = (BENCH / f"alltoall-{hosts}-unequal.csv").read_text().splitlines()[1:]
    return at_once([tuple(map(int, line.split(","))) for line in lines], hosts)


@pytest.mark.skipif(not BENCH.exists(), reason="needs the shared benchmark files")
@pytest.mark.parametrize(("hop", "rule", "us"), [(0, "max-min", 2478.697), (0.5e-6, "max-min", 2480.697)])
def test_unequal_all_to_all_among_64(hop, rule, us):
    found = simulate_flows(bench(64), FatTree(8, 8, 4, hop=hop), rule=rule)
    assert found.timeline.ticks == pytest.approx(us * 1e6, abs=500)
    assert found.timeline.engine == "events"


def test_the_same_question_has_the_same_answer():
    random = Random(7)
    flows = [(a, b, random.randint(1, 10**6)) for a in range(12) for b in range(12) if a != b]
    schedule, net = at_once(flows, 12), FatTree(3, 4, 2, hop=1e-7)
    one, two = (said(schedule, net, "events") for _ in range(2))
    assert one[0] == two[0]
    assert one[1].tolist() == two[1].tolist()
    assert said(schedule, net, "reference")[0] == one[0]


def test_more_spans_than_there_was_room_for():
    """One link, used again and again with pauses: room for 2 spans at first."""
    rows = []
    for tag in range(40):
        rows += [work(0, 5, 0), *message(0, 1, 3, tag, (0, 1))]
    found = simulate_flows(schedule_of(2, rows), Said([1], {(0, 1): [(0, 1.0)]}, {}), way="events", keep=True)
    assert found.spans.tolist() == [[0, 8 * i + 5, 8 * i + 8] for i in range(40)]
    assert found.bound.tolist() == [120]


def test_small_schedules_are_run_by_the_reference_and_large_ones_are_not():
    few = simulate_flows(at_once([(0, 1, 5)], 2), Said([1], {(0, 1): [(0, 1.0)]}, {}))
    assert few.timeline.engine == "reference"
    assert few.spans is None


@both
def test_what_cannot_run_is_refused(way):
    net = Said([1], {(0, 1): [(0, 1.0)]}, {})
    with pytest.raises(InputError, match="for 3 ranks"):
        simulate_flows(schedule_of(3, []), net, way=way)
    with pytest.raises(InputError, match="eager"):
        simulate_flows(schedule_of(2, []), net, eager=-1, way=way)
    with pytest.raises(SimulationError, match="could not run"):
        simulate_flows(schedule_of(2, [work(0, 5, FREE, after=1), work(0, 5, FREE, after=0)]), net, way=way)
    with pytest.raises(MachineError, match="A carries"):
        simulate_flows(at_once([(0, 1, 5)], 2), Said([0], {(0, 1): [(0, 1.0)]}, {}), way=way)
    with pytest.raises(UnknownNameError):
        simulate_flows(at_once([(0, 1, 5)], 2), net, way="magic")
    with pytest.raises(InputError, match="weight"):
        simulate_flows(at_once([(0, 1, 5)], 2), Said([1], {(0, 1): [(0, -1.0)]}, {}), way=way)
    with pytest.raises(InputError, match="expected less than"):
        simulate_flows(at_once([(0, 1, 2**62)], 2), Said([1e-3], {(0, 1): [(0, 1.0)]}, {}), way=way)
