"""Parts: start-up and how synchronisation grows, links, memories shared by several uses."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, InputError, MachineError, UnknownNameError
from hopline.machine.parts import TOUCHES, Fitted, Link, Memory, Node, Startup, Sync

GROWING = Sync(((2, 0.3e-6), (8, 0.95e-6), (64, 2.0e-6)))


@pytest.mark.parametrize(
    ("ranks", "time"),
    [(1, 0.3e-6), (2, 0.3e-6), (4, 0.625e-6), (8, 0.95e-6), (16, 1.3e-6), (32, 1.65e-6), (64, 2e-6), (4096, 2e-6)],
)
def test_sync_is_linear_in_the_doublings(ranks, time):
    assert GROWING.time(ranks) == pytest.approx(time)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 1)), min_size=1, max_size=5, unique_by=lambda e: e[0]))
def test_sync_meets_its_table_and_stays_within(entries):
    sync = Sync(tuple(sorted(entries)))
    times = [time for _, time in entries]
    assert all(sync.time(n) == time for n, time in entries)
    for ranks in (1, 2, 3, 100, 10**7):
        assert min(times) * (1 - 1e-12) <= sync.time(ranks) <= max(times) * (1 + 1e-12)


def test_what_the_table_covers():
    assert [GROWING.covers(n) for n in (1, 2, 5, 64, 65)] == [False, True, True, True, False]
    assert Sync(((2, 1e-6),)).covers(1000)


@pytest.mark.parametrize("table", [(), ((8, 0.0), (2, 0.0)), ((2, 0.0), (2, 1.0)), ((0, 0.0),)])
def test_sync_tables_grow(table):
    with pytest.raises(MachineError, match="growing numbers"):
        Sync(table)


@pytest.mark.parametrize("time", [-1.0, math.nan, math.inf])
def test_sync_times_are_times(time):
    with pytest.raises(InputError, match="sync time of 2 ranks"):
        Sync(((2, time),))


def test_start_up_is_the_sum_of_its_parts():
    startup = Startup(0.2e-6, 0.05e-6, GROWING, unsplit=1e-6)
    assert startup.total() == pytest.approx(1.55e-6)
    assert startup.total(8) == pytest.approx(2.2e-6)
    assert list(startup.parts(8)) == ["start-up", "software", "DMA", "synchronisation"]
    assert sum(startup.parts(8).values()) == pytest.approx(startup.total(8))
    assert Startup(dma=1e-6).parts() == {"DMA": 1e-6}


def test_a_link_costs_its_start_up_and_bandwidth():
    assert Link("l", 64e9, Startup(0.25e-6, sync=GROWING)).cost(8) == Curve.line(1.2e-6, 64e9)


def test_a_fitted_curve_takes_the_place_of_both():
    curve = Curve((Piece(0, 2e-6, 1e9), Piece(1024, 3e-6, 2e9)))
    link = Link("l", 64e9, Startup(9e-6, sync=GROWING), curve=curve)
    assert [(p.latency, p.bandwidth) for p in link.cost(8).pieces] == [
        (pytest.approx(2.95e-6), 1e9),
        (pytest.approx(3.95e-6), 2e9),
    ]


def test_memory_is_shared_by_touches():
    memory = Memory(60e9)
    assert memory.share("send") == memory.share("receive") == 60e9
    assert memory.share("relay") == 30e9
    assert memory.share("reduce") == 20e9
    assert memory.share("send", "receive") == 30e9
    assert memory.share("reduce", "send") == 15e9
    assert Memory(60e9, {"relay": 1.0}).share("relay") == 60e9
    assert Memory(60e9, {"relay": 1.0}).share("reduce") == 20e9


IMPOSSIBLE = {
    "no bandwidth": lambda: Link("l", 0.0),
    "nan bandwidth": lambda: Link("l", math.nan),
    "endless bandwidth": lambda: Link("l", math.inf),
    "no line rate": lambda: Link("l", 1.0, peak=0.0),
    "nan line rate": lambda: Link("l", 1.0, peak=math.nan),
    "negative header": lambda: Link("l", 1.0, header=-1.0),
    "empty flit": lambda: Link("l", 1.0, flit=0.0),
    "negative route time": lambda: Link("l", 1.0, route_time=-1e-9),
    "negative start-up": lambda: Startup(software=-1e-9),
    "nan start-up": lambda: Startup(unsplit=math.nan),
    "no memory bandwidth": lambda: Memory(0.0),
    "no touches": lambda: Memory(1.0, {"relay": 0.0}),
    "negative latency": lambda: Node("n", latency=-1e-9),
    "no NIC": lambda: Node("n", nics=0),
    "a switch with memory": lambda: Node("n", "switch", memory=Memory(1.0)),
}


@pytest.mark.parametrize("part", IMPOSSIBLE)
def test_impossible_parts(part):
    with pytest.raises(HoplineError) as caught:
        IMPOSSIBLE[part]()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "close"),
    [
        (lambda: Link("l", 1.0, duplex="ful"), "full"),
        (lambda: Link("l", 1.0, forwarding="cut-thru"), "cut-through"),
        (lambda: Node("n", "swich"), "switch"),
        (lambda: Memory(1.0, {"reed": 1.0}), "reduce"),
    ],
)
def test_unknown_words_come_with_a_suggestion(make, close):
    with pytest.raises(UnknownNameError, match=f"did you mean '{close}'"):
        make()


def test_the_touches_of_every_use():
    assert TOUCHES == {"send": 1, "receive": 1, "relay": 2, "reduce": 3}


def test_a_fitted_range_begins_with_the_smaller_size():
    assert Fitted("a log", 8.0, 8.0, 0.0, 0.0).largest == 8
    with pytest.raises(MachineError, match="from 8 to 1 bytes: expected the smaller first"):
        Fitted("a log", 8.0, 1.0, 0.0, 0.0)
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="fitted mean_error"):
            Fitted("a log", 1.0, 8.0, bad, 0.0)
