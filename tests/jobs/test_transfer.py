"""Costs of transfers against numbers worked out by hand, and the premises that are told."""

from dataclasses import replace

import pytest

from hopline.curve import Curve, Piece
from hopline.errors import InputError
from hopline.jobs import machines, transfer
from hopline.jobs.routes import machine_route, plain_route
from hopline.jobs.transfer import Transfer, Window, cost
from hopline.machine.parts import Fitted, Link, Node
from hopline.machine.topology import Connection, Machine
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
    assert ask().half_size == exactly(2.25e-6 * peak)


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
    assert answer.estimate.value == exactly(2e-6 + 24 * MIB / 16.384e9)
    assert answer.estimate.binds.startswith("requests in flight (128 x 256 B")


def test_enough_requests_in_flight_do_not():
    answer = ask(24 * MIB, [(2e-6, 50e9)], window=Window(391, 256, 2e-6))
    assert answer.estimate.value == exactly(2e-6 + 24 * MIB / 50e9)
    assert answer.estimate.binds == "bandwidth of hop 1"


def test_no_request_moves_nothing():
    with pytest.raises(InputError, match="0 requests in flight move nothing"):
        ask(window=Window(0, 256, 2e-6))


def test_both_directions_share_the_memory():
    answer = ask(64 * MIB, [(0.0, 64e9)], receive=64 * MIB, memory=68.2e9)
    assert answer.exchange == exactly(128 * MIB / 68.2e9)
    assert answer.exchange == pytest.approx(1.968e-3, rel=1e-4)
    assert answer.exchange_binds.startswith("memory")


def test_both_directions_without_a_memory_or_over_a_half_duplex_link():
    full = ask(64 * MIB, [(1e-6, 64e9)], receive=32 * MIB)
    assert (full.exchange, full.exchange_binds) == (exactly(1e-6 + 64 * MIB / 64e9), "the larger direction")
    half = ask(64 * MIB, [(1e-6, 64e9)], receive=32 * MIB, half_duplex=True)
    assert (half.exchange, half.exchange_binds) == (exactly(2e-6 + 96 * MIB / 64e9), "the half-duplex link")


def test_an_exchange_is_of_one_hop():
    with pytest.raises(InputError, match="over one hop"):
        ask(receive=MIB)


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
    assert broken(on(fitted_machine("sendrecv"), 4096)) == []


def test_an_unknown_switch_latency_is_told():
    route, path = machine_route(machines.find("tcp-cluster"), ["host0", "host1"], MIB)
    texts = [p.text for p in route.premises if p.status == "unknown"]
    assert any("latency of switch is not in the machine file" in t for t in texts)
    assert path.names == ("host0", "switch", "host1")


NO_GROWTH = Curve((Piece(0, 1e-6, float("inf")), Piece(65536, 2e-6, 10e9)))


def test_a_cap_holds_on_every_piece():
    """12.288 GB/s of requests in flight bind where the piece is faster, though the last piece is slower."""
    curve = Curve((Piece(0, 1e-6, 50e9), Piece(65536, 2e-6, 10e9)))
    answer = on(fitted_machine("latency", curve), 32768, window=Window(48, 256, 1e-6))
    assert answer.estimate.value == exactly(1e-6 + 32768 / 12.288e9)


@pytest.mark.parametrize("options", [{"receive": 32768}, {"receive": 32768, "half_duplex": True}])
def test_an_exchange_on_a_piece_that_does_not_grow(options):
    assert on(fitted_machine("latency", NO_GROWTH), 32768, **options).exchange >= 1e-6


def test_requests_in_flight_on_a_piece_that_does_not_grow():
    assert on(fitted_machine("latency", NO_GROWTH), 32768, window=Window(4, 256, 1e-6)).estimate.value > 1e-6


def test_long_messages_tend_to_the_last_piece():
    assert on(fitted_machine("latency"), 64).peak == 10e9
    assert on(fitted_machine("latency", NO_GROWTH), 64).peak == 10e9


# --- many at once -------------------------------------------------------------------------------------------------


def test_sweeps_agree_with_single_answers():
    question = Transfer(MIB, plain_route([FAST, SLOW]))
    sizes = [0.0, 1.0, 1000.0, 1e6, 1e9]
    swept = transfer.over_size(question, sizes)
    assert (swept.axis, swept.values) == ("size", sizes)
    for i, size in enumerate(sizes):
        answer = cost(replace(question, size=size))
        assert {name: times[i] for name, times in swept.times.items()} == {
            name: e.value for name, e in answer.ways.items()
        }


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
