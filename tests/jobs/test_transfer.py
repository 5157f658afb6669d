"""Costs of transfers against numbers worked out by hand, and the premises that are told."""

import math
from dataclasses import replace

import pytest

from hopline.curve import Curve, Piece
from hopline.errors import InputError
from hopline.jobs import machines, transfer
from hopline.jobs.routes import machine_route, plain_route
from hopline.jobs.transfer import Transfer, Window, cost
from hopline.machine.parts import Fitted, Link, Memory, Node, Startup
from hopline.machine.topology import Connection, Machine
from hopline.model import p2p
from hopline.model.p2p import WAYS, Cut

MIB = 1 << 20
FAST, SLOW = (0.25e-6, 64e9), (2e-6, 25e9)


def exactly(value):
    return pytest.approx(value, rel=1e-12)


def ask(size=64 * MIB, hops=(FAST, SLOW), **options):
    names = ("switch_latency", "header", "flit", "route_time")
    route = plain_route(list(hops), **{n: options.pop(n) for n in names if n in options})
    return cost(Transfer(size, route, **options))


# --- two unequal hops ---------------------------------------------------------------------------------------------


def test_store_and_forward_by_hand():
    answer = ask()
    moving = 64 * MIB / 64e9, 64 * MIB / 25e9
    assert answer.estimate.value == exactly(2.25e-6 + sum(moving))
    assert answer.estimate.value == pytest.approx(3.73518e-3, rel=1e-6)
    assert {t.name: t.value for t in answer.estimate.terms} == {
        "bandwidth of hop 2": exactly(moving[1]),
        "bandwidth of hop 1": exactly(moving[0]),
        "start-up of hop 2": exactly(2e-6),
        "start-up of hop 1": exactly(0.25e-6),
    }
    assert (answer.estimate.binds, answer.estimate.next_limit) == ("bandwidth of hop 2", "bandwidth of hop 1")
    assert answer.estimate.distance == exactly(64 / 25)


def test_the_best_number_of_chunks():
    answer = ask()
    assert (answer.best.k, answer.best.time) == (23, exactly(2.776194825625e-3))
    assert answer.ways["pipelined"].value == exactly(2.776194825625e-3)
    assert round(answer.closed_form.k) == 23
    assert answer.closed_form.holds


def test_cut_through_by_hand():
    assert ask().ways["cut-through"].value == exactly(2.25e-6 + 64 * MIB / 25e9)
    assert ask().ways["cut-through"].value == pytest.approx(2.6866e-3, rel=1e-5)


def test_what_long_messages_tend_to():
    peak = ask().peak
    assert peak == exactly(1 / (1 / 64e9 + 1 / 25e9))
    assert ask(way="cut-through").peak == 25e9
    assert ask().half_size == math.ceil(2.25e-6 * peak) == 40450


@pytest.mark.parametrize(
    ("cut", "peak"),
    [
        (Cut(k=4), 10e9 * 4 / 6),
        (Cut(k=1), 10e9 / 3),
        (Cut(chunk=65536), 65536 / (1e-6 + 65536 / 10e9)),
        (Cut(), 10e9),
    ],
)
def test_long_messages_of_a_fixed_cut(cut, peak):
    """K chunks over 3 hops take k + 2 steps; chunks of c bytes follow at c / (start-up + c / bandwidth)."""
    answer = ask(MIB, [(1e-6, 10e9)] * 3, way="pipelined", cut=cut)
    assert answer.peak == pytest.approx(peak, rel=1e-8)


@pytest.mark.parametrize("k", [1, 4, 7])
def test_half_of_the_peak_of_a_fixed_cut(k):
    """(k + 2)(1 us + m / (k 10 GB/s)) = 2 m (k + 2) / (k 10 GB/s), so m = k x 1 us x 10 GB/s."""
    answer = ask(MIB, [(1e-6, 10e9)] * 3, way="pipelined", cut=Cut(k=k))
    assert answer.half_size == pytest.approx(k * 10_000, abs=1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cut", [Cut(), Cut(k=1), Cut(k=7), Cut(chunk=65536)])
def test_half_the_peak_is_first_reached_there(way, cut):
    answer = ask(MIB, way=way, cut=cut)
    assert float(answer.half_size).is_integer()
    for size, reached in ((answer.half_size, True), (0.99 * answer.half_size // 1, False)):
        time = WAYS[way](size, plain_route([FAST, SLOW]), cut).value
        assert (size / time >= answer.peak / 2 * (1 - 1e-6)) == reached


def test_no_size_reaches_half_of_what_is_unbounded():
    answer = ask(MIB, [(1e-6, math.inf)])
    assert (answer.half_size, answer.peak) == (None, math.inf)


# --- hops that are equal ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hops", "name"),
    [
        ([FAST, SLOW], "bandwidth of hop 2"),
        ([FAST, SLOW, SLOW], "bandwidth of hop 2 and 1 like it"),
        ([SLOW, FAST, SLOW, SLOW], "bandwidth of hop 1 and 2 like it"),
        ([SLOW] * 3, "bandwidth of all 3 hops"),
        ([SLOW], "bandwidth of hop 1"),
    ],
)
@pytest.mark.parametrize("way", ["cut-through", "wormhole"])
def test_all_hops_that_are_as_slow_are_named(hops, name, way):
    answer = ask(64 * MIB, hops, way=way)
    assert answer.estimate.binds == name
    faster = [(a, 2 * b if b == SLOW[1] else b) for a, b in hops]
    found = {lever.change: lever.time for lever in answer.levers}
    assert found[f"twice the {name}"] == exactly(ask(64 * MIB, faster, way=way).estimate.value)


def test_equal_start_ups_are_halved_together():
    answer = ask(1024, [(1e-6, 10e9), (2e-6, 20e9), (1e-6, 30e9)])
    found = {lever.change: lever.time for lever in answer.levers}
    moving = 1024 / 10e9 + 1024 / 20e9 + 1024 / 30e9
    assert found["half the start-up of hop 1 and 1 like it"] == exactly(3e-6 + moving)
    assert found["half the start-up of hop 2"] == exactly(3e-6 + moving)


@pytest.mark.parametrize("way", WAYS)
def test_terms_make_the_value(way):
    answer = ask(way=way, header=512, flit=64)
    assert answer.estimate is answer.ways[way]
    assert sum(t.value for t in answer.estimate.terms) == exactly(answer.estimate.value)


def test_a_switch_pays_no_software():
    hop = (2e-6, 50e9)
    end = ask(hops=[hop, hop]).ways["cut-through"].value
    switched = ask(hops=[hop, hop], switch_latency=0.1e-6, way="cut-through")
    assert switched.estimate.value == exactly(2e-6 + 0.1e-6 + 64 * MIB / 50e9)
    assert end - switched.estimate.value == pytest.approx(1.9e-6, rel=1e-6)
    assert "switch latency before hop 2" in {t.name for t in switched.estimate.terms}


def test_a_given_cut_is_kept():
    hops = [(1e-6, 10e9)] * 3
    route = plain_route(hops)
    by_number = cost(Transfer(MIB, route, Cut(k=4), "pipelined")).estimate
    by_size = cost(Transfer(MIB, route, Cut(chunk=MIB / 4), "pipelined")).estimate
    assert by_number.value == exactly(6 * (1e-6 + MIB / 4 / 10e9))
    assert by_size.value == exactly(by_number.value)
    assert by_number.name == "pipelined, k = 4"


def test_more_chunks_than_bytes():
    answer = cost(Transfer(3, plain_route([FAST, SLOW]), Cut(k=1000), "pipelined"))
    assert answer.estimate.name == "pipelined, k = 3"


@pytest.mark.parametrize("size", [0, 1])
def test_small_sizes(size):
    answer = ask(size)
    assert answer.best.k == 1
    assert answer.estimate.value == exactly(2.25e-6 + size / 64e9 + size / 25e9)


def test_nothing_at_no_cost():
    answer = ask(0, [(0.0, 1e9)])
    assert (answer.estimate.value, answer.levers) == (0, [])


def test_levers_are_what_the_change_would_give():
    answer = ask()
    found = {lever.change: lever.time for lever in answer.levers}
    assert found["twice the bandwidth of hop 2"] == exactly(ask(hops=[FAST, (2e-6, 50e9)]).estimate.value)
    assert found["half the start-up of hop 2"] == exactly(ask(hops=[FAST, (1e-6, 25e9)]).estimate.value)
    assert found["pipelined in 23 chunks"] == exactly(2.776194825625e-3)
    assert [lever.time for lever in answer.levers] == sorted(found.values())
    assert all(0 < lever.saves < 1 for lever in answer.levers)


@pytest.mark.parametrize("size", [1.5, float("inf"), pytest.param(-1), pytest.param(float("nan"))])
def test_sizes_that_are_none(size):
    with pytest.raises(InputError):
        ask(size)


def test_a_path_of_no_hops():
    with pytest.raises(InputError, match="no hops"):
        plain_route([])


# --- limits -------------------------------------------------------------------------------------------------------


def test_requests_in_flight_bind():
    answer = ask(24 * MIB, [(2e-6, 50e9)], window=Window(128, 256, 2e-6))
    assert answer.concurrency.throughput == exactly(16.384e9)
    assert answer.concurrency.fraction == exactly(0.32768)
    assert (answer.concurrency.needed, answer.concurrency.needed_exact) == (391, exactly(390.625))
    line = 2e-6 + 24 * MIB / 50e9
    assert answer.estimate.value == exactly(1.536e-3) == exactly(24 * MIB / 16.384e9)
    assert answer.estimate.binds == "requests in flight (128 x 256 B per 2.000 µs)"
    assert {t.name: t.value for t in answer.estimate.terms} == {
        answer.estimate.binds: exactly(1.536e-3),
        "line itself": exactly(line),
        "one turnaround": 2e-6,
    }
    assert (answer.estimate.combine, answer.estimate.next_limit) == ("max", "line itself")
    assert answer.estimate.distance == exactly(1.536e-3 / line)
    assert all(way.value == answer.estimate.value for way in answer.ways.values())
    assert {lever.change: lever.time for lever in answer.levers} == {
        "twice the requests in flight": exactly(0.768e-3),
        "half the turnaround": exactly(0.768e-3),
    }


def test_enough_requests_in_flight_do_not():
    answer = ask(24 * MIB, [(2e-6, 50e9)], window=Window(391, 256, 2e-6))
    assert answer.estimate.value == exactly(2e-6 + 24 * MIB / 50e9)
    assert answer.estimate.binds == "bandwidth of hop 1"
    assert answer.estimate is answer.ways["store-and-forward"]
    assert answer.estimate == ask(24 * MIB, [(2e-6, 50e9)]).estimate


def test_nothing_ends_before_a_turnaround():
    answer = ask(256, [(2e-6, 50e9)], window=Window(4, 256, 20e-6))
    assert (answer.estimate.value, answer.estimate.binds) == (20e-6, "one turnaround")
    assert {t.name: t.value for t in answer.estimate.terms}["line itself"] == exactly(2e-6 + 256 / 50e9)
    assert [(lever.change, lever.time) for lever in answer.levers] == [("half the turnaround", exactly(10e-6))]


def test_requests_without_a_turnaround_are_no_limit():
    answer = ask(MIB, [(0.0, 50e9)], window=Window(1, 256, 0.0))
    assert answer.estimate == ask(MIB, [(0.0, 50e9)]).estimate
    assert answer.estimate.value == exactly(MIB / 50e9)


def test_levers_do_not_promise_what_requests_in_flight_forbid():
    """500 MB of 50 GB/s take 10 ms on the line, 9 ms at 55.6 GB/s of requests: a line twice as fast ends after 9 ms."""
    answer = ask(500e6, [(2e-6, 50e9)], window=Window(1, 500e6, 9e-3))
    assert answer.estimate.value == exactly(2e-6 + 10e-3)
    found = {lever.change: lever.time for lever in answer.levers}
    assert found["twice the bandwidth of hop 1"] == exactly(9e-3)
    assert "twice the requests in flight" not in found


def test_requests_in_flight_over_several_hops():
    """The slower hop's 25 GB/s need 25e9 x 4e-6 / 256 = 390.6; 100 give 6.4 GB/s of the whole path."""
    answer = ask(MIB, window=Window(100, 256, 4e-6))
    assert (answer.concurrency.needed_exact, answer.concurrency.needed) == (exactly(390.625), 391)
    assert answer.estimate.value == exactly(MIB / 6.4e9)
    assert answer.peak == exactly(6.4e9)
    assert answer.half_size == 12800


@pytest.mark.parametrize("way", ["store-and-forward", "cut-through", "pipelined"])
def test_the_peak_and_its_half_are_those_of_the_requests_in_flight(way):
    """128 x 256 B per 2 us are 16.384 GB/s; half of it from m with 2 us + m / 50 GB/s = m / 8.192 GB/s, 19595 bytes."""
    answer = ask(24 * MIB, [(2e-6, 50e9)], way=way, window=Window(128, 256, 2e-6))
    assert answer.peak == exactly(16.384e9)
    assert answer.half_size == math.ceil(2e-6 / (1 / 8.192e9 - 1 / 50e9)) == 19595


@pytest.mark.parametrize("window", [Window(391, 256, 2e-6), Window(None, 256, 2e-6), Window(1, 256, 0.0)])
def test_requests_that_do_not_bind_leave_the_peak(window):
    answer = ask(24 * MIB, [(2e-6, 50e9)], window=window)
    assert answer.peak == exactly(50e9)
    assert answer.half_size == ask(24 * MIB, [(2e-6, 50e9)]).half_size == 100_000


def test_how_many_requests_are_needed():
    answer = ask(4096, [(2e-6, 50e9)], window=Window(None, 4096, 12.6e-6))
    assert (answer.concurrency.needed, answer.concurrency.needed_exact) == (154, exactly(630e3 / 4096))
    assert answer.concurrency.throughput == 0
    assert answer.estimate.value == exactly(2e-6 + 4096 / 50e9)
    assert answer.estimate.combine == "sum"
    assert answer.levers == ask(4096, [(2e-6, 50e9)]).levers


def test_no_request_moves_nothing():
    with pytest.raises(InputError, match="0 requests in flight move nothing"):
        ask(window=Window(0, 256, 2e-6))
    with pytest.raises(InputError, match="0 requests in flight move nothing"):
        transfer.times(Transfer(MIB, plain_route([FAST]), window=Window(0, 256, 2e-6)))


SHARED, IN_TURN = "memory that both directions share", "bytes of both directions, in turn"


def terms(answer):
    return {t.name: t.value for t in answer.exchange.terms}


def test_both_directions_share_the_memory():
    answer = ask(64 * MIB, [(0.0, 64e9)], receive=64 * MIB, memory=68.2e9)
    assert answer.exchange.value == exactly(128 * MIB / 68.2e9)
    assert answer.exchange.value == pytest.approx(1.968e-3, rel=1e-4)
    assert answer.exchange.binds == SHARED
    assert answer.estimate is answer.exchange
    assert (answer.exchange.name, answer.exchange.combine) == ("both directions at once", "max")
    way = exactly(64 * MIB / 64e9)
    assert terms(answer) == {"way there": way, "way back": way, SHARED: exactly(128 * MIB / 68.2e9)}
    assert answer.exchange.distance == exactly(2 * 64 / 68.2)


def test_both_directions_without_a_memory_or_over_a_half_duplex_link():
    full = ask(64 * MIB, [(1e-6, 64e9)], receive=32 * MIB)
    longer, shorter = exactly(1e-6 + 64 * MIB / 64e9), exactly(1e-6 + 32 * MIB / 64e9)
    assert terms(full) == {"way there": longer, "way back": shorter}
    assert (full.exchange.value, full.exchange.binds, full.exchange.next_limit) == (longer, "way there", "way back")
    back = ask(32 * MIB, [(1e-6, 64e9)], receive=64 * MIB)
    assert terms(back) == {"way there": shorter, "way back": longer}
    assert (back.exchange.value, back.exchange.binds) == (full.exchange.value, "way back")
    half = ask(64 * MIB, [(1e-6, 64e9)], receive=32 * MIB, half_duplex=True)
    assert half.exchange.value == exactly(2e-6 + 96 * MIB / 64e9)
    assert terms(half) == {"way there": longer, "way back": shorter}
    assert (half.exchange.name, half.exchange.combine) == ("both directions in turn", "sum")
    assert (half.exchange.binds, half.exchange.next_limit) == ("way there", "way back")
    assert half.estimate is half.exchange


def test_an_exchange_over_several_hops():
    there, back = (2.25e-6 + m / 64e9 + m / 25e9 for m in (64 * MIB, 128 * MIB))
    assert ask(receive=MIB).exchange.value == exactly(there)
    assert ask(receive=128 * MIB).exchange.value == exactly(back)
    assert ask(receive=0).exchange.value == ask().estimate.value
    cut = ask(receive=128 * MIB, way="cut-through")
    assert (cut.exchange.value, cut.exchange.binds) == (exactly(2.25e-6 + 128 * MIB / 25e9), "way back")
    chunks = ask(MIB, [(1e-6, 10e9)] * 3, receive=2 * MIB, way="pipelined", cut=Cut(k=4))
    assert chunks.exchange.value == exactly(6 * (1e-6 + 2 * MIB / 4 / 10e9))


@pytest.mark.parametrize(
    ("shared", "moved"),
    [
        ([(10e9, 1.0, 1.0)], 192 * MIB),
        ([(10e9, 1.0, 3.0)], 448 * MIB),
        ([(10e9, 3.0, 1.0)], 320 * MIB),
        ([(10e9, 1.0, 3.0), (10e9, 3.0, 1.0)], 448 * MIB),
        ([(20e9, 1.0, 3.0), (10e9, 3.0, 1.0)], 320 * MIB),
    ],
)
def test_an_exchange_over_several_hops_shares_the_memory(shared, moved):
    """64 MiB go, 128 MiB come back; the memory at either end may be what binds."""
    answer = ask(64 * MIB, receive=128 * MIB, shared=tuple(shared))
    assert answer.exchange.value == exactly(2.25e-6 + moved / 10e9)
    assert answer.exchange.binds == SHARED
    assert answer.ways == ask(64 * MIB).ways
    there, back = (exactly(2.25e-6 + m / 64e9 + m / 25e9) for m in (64 * MIB, 128 * MIB))
    assert terms(answer) == {"way there": there, "way back": back, SHARED: exactly(2.25e-6 + moved / 10e9)}


def test_a_memory_of_the_sender_caps_the_first_hop_and_is_shared():
    answer = ask(64 * MIB, receive=128 * MIB, memory=10e9)
    assert answer.ways[answer.chosen].value == exactly(2.25e-6 + 64 * MIB / 10e9 + 64 * MIB / 25e9)
    assert answer.estimate.value == exactly(2.25e-6 + 192 * MIB / 10e9)


ASKED = [
    {},
    {"receive": 128 * MIB},
    {"receive": 0, "way": "wormhole"},
    {"receive": MIB, "shared": ((10e9, 1.0, 3.0),)},
    {"receive": MIB, "memory": 10e9},
    {"window": Window(100, 256, 4e-6), "way": "cut-through"},
    {"window": Window(100, 256, 4e-6), "receive": MIB},
    {"hops": [FAST], "receive": MIB, "half_duplex": True},
    {"way": "pipelined", "cut": Cut(k=4)},
]


@pytest.mark.parametrize("options", ASKED)
def test_the_light_answer_is_that_of_the_full_one(options):
    hops = options.get("hops", [FAST, SLOW])
    question = Transfer(64 * MIB, plain_route(hops), **{n: v for n, v in options.items() if n != "hops"})
    assert transfer.answer(question) == cost(question).estimate


@pytest.mark.parametrize("options", ASKED)
def test_nothing_comes_back_unless_it_is_asked_for(options):
    answer = ask(64 * MIB, **options)
    assert (answer.exchange is None) == ("receive" not in options)
    assert answer.estimate is (answer.exchange or answer.ways[answer.chosen])


def test_levers_of_an_exchange_in_turn():
    answer = ask(64 * MIB, [(1e-6, 64e9)], receive=32 * MIB, half_duplex=True)
    found = {lever.change: lever.time for lever in answer.levers}
    assert found == {
        "a full-duplex link": exactly(1e-6 + 64 * MIB / 64e9),
        "twice the bandwidth of hop 1": exactly(2e-6 + 96 * MIB / 128e9),
        "half the start-up of hop 1": exactly(1e-6 + 96 * MIB / 64e9),
    }
    assert answer.levers[0].saves == exactly(1 - found[answer.levers[0].change] / answer.exchange.value)


def test_levers_of_an_exchange_that_the_memory_binds():
    """128 MiB at 10 GB/s; at 20 GB/s they still take longer than 64 MiB at 64 GB/s. A faster link would save nothing."""
    answer = ask(64 * MIB, [(1e-6, 64e9)], receive=64 * MIB, shared=((10e9, 1.0, 1.0),))
    assert {lever.change: lever.time for lever in answer.levers} == {
        "twice the memory bandwidth of both ends": exactly(1e-6 + 128 * MIB / 20e9),
        "half the start-up of hop 1": exactly(0.5e-6 + 128 * MIB / 10e9),
    }


def test_levers_of_an_exchange_are_of_the_longer_way():
    answer = ask(64 * MIB, receive=128 * MIB)
    found = {lever.change: lever.time for lever in answer.levers}
    assert found["twice the bandwidth of hop 2"] == exactly(2.25e-6 + 128 * MIB / 64e9 + 128 * MIB / 50e9)
    assert found["cut-through instead"] == exactly(2.25e-6 + 128 * MIB / 25e9)
    assert "a full-duplex link" not in found
    assert all("memory" not in name for name in found)


def test_requests_in_flight_bound_both_ways_of_an_exchange():
    answer = ask(24 * MIB, [(2e-6, 50e9)], receive=12 * MIB, window=Window(128, 256, 2e-6))
    assert terms(answer) == {"way there": exactly(1.536e-3), "way back": exactly(0.768e-3)}
    assert answer.estimate.value == exactly(1.536e-3)


def test_changes_are_routes_and_ways():
    """What each change gives, by hand, of 64 MiB as a whole over two unequal hops."""
    size, route = 64 * MIB, plain_route([FAST, SLOW])
    changes = {c.name: c for c in p2p.changes(size, route, Cut(), "store-and-forward")}
    fast, slow = size / 64e9, size / 25e9
    expected = {
        "twice the bandwidth of hop 2": 2.25e-6 + fast + slow / 2,
        "twice the bandwidth of hop 1": 2.25e-6 + fast / 2 + slow,
        "half the start-up of hop 2": 1.25e-6 + fast + slow,
        "half the start-up of hop 1": 2.125e-6 + fast + slow,
        "pipelined in 23 chunks": 2.776194825625e-3,
        "cut-through instead": 2.25e-6 + slow,
        "wormhole instead": 2.25e-6 + slow,
    }
    assert {name: WAYS[c.way](size, c.route, c.cut).value for name, c in changes.items()} == {
        name: exactly(time) for name, time in expected.items()
    }
    assert {c.way for name, c in changes.items() if "instead" not in name and "chunks" not in name} == {
        "store-and-forward"
    }


def test_a_wormhole_starts_at_its_first_hop():
    answer = ask(way="wormhole")
    found = {lever.change: lever.time for lever in answer.levers}
    assert answer.estimate.value == exactly(2.25e-6 + 64 * MIB / 25e9)
    assert found["half the start-up of hop 1"] == exactly(2.125e-6 + 64 * MIB / 25e9)
    assert found["half the start-up of hop 2"] == exactly(1.25e-6 + 64 * MIB / 25e9)


def test_a_half_duplex_exchange_is_one_way_after_the_other():
    there, back = (2.25e-6 + m / 64e9 + m / 25e9 for m in (64 * MIB, MIB))
    assert ask(receive=MIB, half_duplex=True).exchange.value == exactly(there + back)
    window = Window(1, 256, 1e-6)
    slow = ask(MIB, [(1e-6, 64e9)], receive=0, half_duplex=True, window=window)
    assert slow.exchange.value == exactly(MIB / 256 * 1e-6 + 1e-6)


def test_twice_the_memory_is_what_a_machine_with_it_gives():
    found = ask(64 * MIB, [(1e-6, 64e9)], receive=1024, memory=10e9)
    lever = next(lever for lever in found.levers if lever.change.startswith("twice the memory bandwidth of both"))
    assert lever.time == exactly(ask(64 * MIB, [(1e-6, 64e9)], receive=1024, memory=20e9).estimate.value)


def test_a_slow_memory_caps_the_sender():
    answer = ask(MIB, [(1e-6, 64e9)], memory=10e9)
    assert answer.estimate.value == exactly(1e-6 + MIB / 10e9)
    assert answer.estimate.binds == "memory bandwidth of the sender"


# --- machines -----------------------------------------------------------------------------------------------------


def sg2260(*names, size=64 * MIB, **options):
    route, path = machine_route(machines.find("sg2260"), names, size, **options)
    return cost(Transfer(size, route, way=path.forwarding))


def test_a_path_through_a_preset():
    answer = sg2260("a1", "b2")
    hops = [64 * MIB / 64e9, 64 * MIB / 25e9, 64 * MIB / 64e9]
    assert answer.estimate.value == exactly(0.55e-6 + 2e-6 + 0.55e-6 + sum(hops))


def test_a_relay_reads_and_writes_its_memory_at_once():
    """Cut into chunks, a relay both takes in and sends on: 68.2 GB/s are shared by two."""
    route, _ = machine_route(machines.find("sg2260"), ["a1", "a0", "a2"], MIB)
    assert [hop.at(MIB)[1] for hop in route.hops] == [exactly(34.1e9)] * 2
    assert [hop.at(MIB)[1] for hop in route.alone] == [64e9] * 2
    assert "memory bandwidth" in route.hops[0].limit(2**20)


def chain(bandwidth, memory, curve=None):
    """a, b and c in a row, four NICs each."""
    link = Link("l", bandwidth, Startup(1e-6), curve=curve)
    nodes = {n: Node(n, nics=4, memory=Memory(memory)) for n in "abc"}
    return Machine("m", "", {"l": link}, nodes, (Connection(("a", "b"), "l"), Connection(("b", "c"), "l")))


@pytest.mark.parametrize(("reduce", "last"), [(False, 64e9), (True, 68.2e9 / 3)])
def test_memories_cap_what_relays_and_reduces(reduce, last):
    route, _ = machine_route(chain(64e9, 68.2e9), ["a", "b", "c"], MIB, reduce=reduce)
    assert [hop.at(MIB)[1] for hop in route.hops] == [exactly(34.1e9), exactly(min(34.1e9, last))]
    assert [hop.at(MIB)[1] for hop in route.alone] == [64e9, exactly(last)]
    assert route.hops[0].limit(MIB) == "memory bandwidth of b"
    assert route.hops[1].limit(MIB) == f"memory bandwidth of {'c' if reduce else 'b'}"
    assert route.alone[0].limit(MIB) == "bandwidth of a>b (l)"


def test_several_nics_reach_the_memorys_limit():
    found = [machine_route(chain(25e9, 68.2e9), ["a", "b", "c"], MIB, nics=n)[0].alone[0] for n in (1, 2, 3, 4)]
    assert [hop.at(MIB)[1] for hop in found] == [25e9, 50e9, 68.2e9, 68.2e9]


def test_each_piece_of_a_fitted_link_is_capped():
    curve = Curve((Piece(0, 1e-6, 20e9), Piece(4096, 2e-6, 50e9)))
    hop = machine_route(chain(64e9, 68.2e9, curve), ["a", "b", "c"], MIB)[0].hops[0]
    assert [p.bandwidth for p in hop.curve.pieces] == [20e9, 34.1e9]
    assert [hop.at(size)[1] for size in (0, 4095, 4096)] == [20e9, 20e9, 34.1e9]


def test_routes_of_a_wormhole():
    timed = Link("timed", 50e9, Startup(1e-6), forwarding="wormhole", route_time=20e-9)
    slow = Link("plain", 40e9, Startup(1e-6), forwarding="wormhole")
    nodes = {"a": Node("a"), "s": Node("s", "switch", 100e-9), "b": Node("b")}
    pairs = (Connection(("a", "s"), "plain"), Connection(("s", "b"), "timed"))
    net = Machine("m", "", {"timed": timed, "plain": slow}, nodes, pairs)
    there, back = ([hop.curve for hop in machine_route(net, ends, MIB)[0].routes] for ends in (["a", "b"], ["b", "a"]))
    assert there == [Curve.line(0.0, 40e9), Curve.line(20e-9, 50e9)]
    assert back == [Curve.line(20e-9, 50e9), Curve.line(100e-9, 40e9)]


def relayed(size, **options):
    route, _ = machine_route(machines.find("sg2260"), ["a1", "a0", "a2"], size)
    return cost(Transfer(size, route, **options))


@pytest.mark.parametrize("size", [0, 1, 1000, 65536])
def test_one_chunk_is_a_message_as_a_whole(size):
    """A relay that holds the whole message reads after it wrote: 64 GB/s each, not half of the memory's 68.2."""
    whole = exactly(1.1e-6 + 2 * size / 64e9)
    for cut in (Cut(), Cut(k=1), Cut(chunk=65536)):
        answer = relayed(size, way="pipelined", cut=cut)
        assert answer.ways["pipelined"].value == answer.ways["store-and-forward"].value == whole
        assert answer.ways["pipelined"].name == "pipelined, k = 1"
        assert (answer.best.k, answer.best.time) == (1, whole)


def test_two_chunks_share_the_relays_memory():
    """Of 64 KiB two chunks are best among those that share, and yet slower than the whole."""
    answer = relayed(65536, way="pipelined", cut=Cut(k=2))
    assert answer.estimate.value == exactly(3 * (0.55e-6 + 32768 / 34.1e9))
    assert answer.best.time < answer.estimate.value < 2 * (0.55e-6 + 65536 / 34.1e9)


def test_the_sweep_over_chunks_begins_with_the_whole():
    route, _ = machine_route(machines.find("sg2260"), ["a1", "a0", "a2"], 65536)
    swept = transfer.over_chunks(Transfer(65536, route))
    assert swept.times["pipelined"][0] == min(swept.times["pipelined"]) == exactly(1.1e-6 + 2 * 65536 / 64e9)


def test_many_chunks_win_where_they_do():
    answer = relayed(1 << 34)
    assert answer.best.k > 1
    assert answer.best.time < answer.ways["store-and-forward"].value


def test_reducing_touches_memory_three_times():
    route, _ = machine_route(machines.find("sg2260"), ["a0", "a1"], MIB, reduce=True)
    assert route.hops[0].at(MIB)[1] == exactly(68.2e9 / 3)


def test_several_nics():
    one, two = (sg2260("a0", "b0", nics=n).estimate.value for n in (1, 2))
    assert one - two == exactly(64 * MIB / 25e9 - 64 * MIB / 50e9)
    with pytest.raises(InputError, match="3 NICs asked for"):
        sg2260("a0", "b0", nics=3)


def broken(answer):
    return [p.text for p in answer.estimate.shown_premises() if p.status == "broken"]


def test_a_group_beyond_the_sync_table():
    assert broken(sg2260("a0", "a1", ranks=8)) == []
    (text,) = broken(sg2260("a0", "a1", ranks=64))
    assert text.startswith("synchronisation of c2c for 64 ranks: its table covers 2 to 8")


def fitted_machine(benchmark, curve=None):
    curve = curve or Curve((Piece(0, 1e-6, 1e9), Piece(4096, 3e-6, 10e9)))
    fitted = Fitted("a log", 64, MIB, 0.02, 0.1)
    link = Link(benchmark, curve.pieces[-1].bandwidth, curve=curve, fitted=fitted)
    nodes = {n: Node(n) for n in ("rank0", "rank1")}
    return Machine("m", "", {benchmark: link}, nodes, (Connection(("rank0", "rank1"), benchmark),))


def on(machine, size, **options):
    route, path = machine_route(machine, ["rank0", "rank1"], size)
    return cost(Transfer(size, route, way=path.forwarding, **options))


@pytest.mark.parametrize("size", [64, 4095, 4096, MIB])
def test_a_wormhole_follows_the_pieces_of_a_fitted_link(size):
    """1 us + m / 1 GB/s below 4 KiB, then 3 us + m / 10 GB/s; over one hop every way is the same."""
    answer = on(fitted_machine("send"), size)
    expected = 1e-6 + size / 1e9 if size < 4096 else 3e-6 + size / 10e9
    assert {name: e.value for name, e in answer.ways.items()} == dict.fromkeys(WAYS, exactly(expected))


@pytest.mark.parametrize("size", [64, MIB])
def test_a_wormhole_through_a_switch_between_fitted_links(size):
    """The sender's start-up is that of the size asked, the switch adds its own, and the slowest link moves the bytes."""
    curve = Curve((Piece(0, 1e-6, 1e9), Piece(4096, 3e-6, 10e9)))
    link = Link("l", 10e9, curve=curve, forwarding="wormhole")
    nodes = {"a": Node("a"), "s": Node("s", "switch", 100e-9), "b": Node("b")}
    net = Machine("m", "", {"l": link}, nodes, (Connection(("a", "s"), "l"), Connection(("s", "b"), "l")))
    route, path = machine_route(net, ["a", "b"], size)
    estimate = cost(Transfer(size, route, way=path.forwarding)).estimate
    assert estimate.name == "wormhole"
    source, bandwidth = (1e-6, 1e9) if size < 4096 else (3e-6, 10e9)
    assert {t.value for t in estimate.terms if t.name.startswith("start-up")} >= {source}
    assert estimate.value == exactly(source + 100e-9 + size / bandwidth)


def test_extrapolation_is_told():
    machine = fitted_machine("latency")
    assert broken(on(machine, 64)) == broken(on(machine, MIB)) == []
    for size in (63, MIB + 1):
        (text,) = broken(on(machine, size))
        assert text.startswith("extrapolation: ")
        assert "64 B to 1 MiB" in text


def test_a_collective_is_no_send():
    (text,) = broken(on(fitted_machine("all_reduce"), 4096))
    assert "it prices that, not one send" in text
    for name in ("send", "sendrecv", "latency", "multi_lat"):
        assert broken(on(fitted_machine(name), 4096)) == []


def test_a_start_up_of_nothing_is_told():
    net = chain(64e9, 68.2e9)
    free = replace(net, links={"l": Link("l", 64e9, Startup())})
    said = "the start-up of l is 0, the machine file has none"
    for machine, told in ((net, 0), (free, 1)):
        route, _ = machine_route(machine, ["a", "b", "c"], MIB)
        assert [p.text for p in route.premises if p.status == "unknown" and p.matters].count(said) == told


def test_a_node_between_pays_as_an_end_does_unless_it_is_a_switch():
    said = "every node between pays the start-up again, as an end node does"
    for options, told in (({}, 1), ({"switch_latency": 1e-7}, 0), ({"hops": [FAST]}, 0)):
        assert [p.text for p in ask(**options).estimate.shown_premises()].count(said) == told


def test_an_unknown_switch_latency_is_told():
    route, path = machine_route(machines.find("tcp-cluster"), ["host0", "host1"], MIB)
    texts = [p.text for p in route.premises if p.status == "unknown"]
    assert "the latency of switch is 0, since the machine file has none" in texts
    assert path.names == ("host0", "switch", "host1")


NO_GROWTH = Curve((Piece(0, 1e-6, float("inf")), Piece(65536, 2e-6, 10e9)))


def test_a_cap_holds_on_every_piece():
    """12.288 GB/s bind where the piece is faster, though the last piece is slower."""
    curve = Curve((Piece(0, 1e-6, 50e9), Piece(65536, 2e-6, 10e9)))
    capped = on(fitted_machine("latency", curve), 32768, memory=12.288e9)
    assert capped.estimate.value == exactly(1e-6 + 32768 / 12.288e9)
    answer = on(fitted_machine("latency", curve), 32768, window=Window(48, 256, 1e-6))
    assert answer.estimate.value == exactly(32768 / 12.288e9)


@pytest.mark.parametrize("options", [{"receive": 32768}, {"receive": 32768, "half_duplex": True}])
def test_an_exchange_on_a_piece_that_does_not_grow(options):
    assert on(fitted_machine("latency", NO_GROWTH), 32768, **options).exchange.value >= 1e-6


def test_requests_in_flight_on_a_piece_that_does_not_grow():
    assert on(fitted_machine("latency", NO_GROWTH), 32768, window=Window(4, 256, 1e-6)).estimate.value > 1e-6


def test_long_messages_tend_to_the_last_piece():
    assert on(fitted_machine("latency"), 64).peak == 10e9
    assert on(fitted_machine("latency", NO_GROWTH), 64).peak == 10e9


# --- many at once -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [None, Window(None, 256, 4e-6), Window(64, 256, 4e-6), Window(1e6, 256, 4e-6)])
def test_sweeps_agree_with_single_answers(window):
    question = Transfer(MIB, plain_route([FAST, SLOW]), window=window)
    sizes = [0.0, 1.0, 1000.0, 1e6, 1e9]
    swept = transfer.over_size(question, sizes)
    assert (swept.axis, swept.values) == ("size", sizes)
    for i, size in enumerate(sizes):
        answer = cost(replace(question, size=size))
        assert {name: times[i] for name, times in swept.times.items()} == {
            name: e.value for name, e in answer.ways.items()
        }
        free = cost(replace(question, size=size, window=None))
        floor = max(4e-6, size / (window.in_flight * 256 / 4e-6)) if window and window.in_flight else 0.0
        assert all(e.value == exactly(max(free.ways[name].value, floor)) for name, e in answer.ways.items())


def test_the_sweep_over_chunks_passes_through_the_best():
    question = Transfer(64 * MIB, plain_route([FAST, SLOW]))
    swept = transfer.over_chunks(question)
    times = swept.times["pipelined"]
    assert swept.values[times.index(min(times))] == transfer.best_chunks(question) == 23
    assert min(times) == exactly(2.776194825625e-3)
    assert swept.values == sorted(set(swept.values))


def test_the_sweep_over_chunks_of_a_few_bytes():
    assert transfer.over_chunks(Transfer(2, plain_route([FAST, SLOW]))).values == [1, 2]
    assert transfer.over_chunks(Transfer(0, plain_route([FAST, SLOW]))).values == [1]


@pytest.mark.parametrize(
    ("cut", "peak"),
    [(Cut(k=3), 18.75e9), (Cut(k=10**15), 25e9), (Cut(k=1), 12.5e9), (Cut(chunk=1.0), 1 / (2e-6 + 1 / 25e9))],
)
def test_what_long_messages_tend_to_when_the_cut_is_fixed(cut, peak):
    """Over two equal hops k chunks take (k + 1) / k of one hop's time; chunks of a fixed size pay their start-up for ever."""
    assert ask(MIB, [(2e-6, 25e9)] * 2, way="pipelined", cut=cut).peak == pytest.approx(peak, rel=1e-9)


def test_requests_in_flight_are_held_against_the_line_and_not_the_memory():
    found = ask(MIB, [(2e-6, 25e9)], window=Window(4, 4096, 2e-6), memory=5e9).concurrency
    assert (found.throughput, found.needed) == (exactly(4 * 4096 / 2e-6), 13)
