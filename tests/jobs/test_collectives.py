"""All algorithms of a collective side by side: times, winners, limits, levers, simulation."""

import random
from pathlib import Path

import pytest

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, InputError, UnknownNameError
from hopline.jobs.collectives import contest as contests
from hopline.jobs.collectives import names, pricing
from hopline.jobs.collectives.contest import Question, contest, whole_sizes
from hopline.jobs.collectives.ground import Ground
from hopline.jobs.collectives.names import Asked
from hopline.jobs.collectives.pricing import Contender
from hopline.jobs.collectives.simulated import engine
from hopline.jobs.machines import find
from hopline.jobs.networks import by_levels, by_machine
from hopline.machine.fabric import Level
from hopline.model.collective.rounds import Form, Rounds
from hopline.schedule.collectives.table import COLLECTIVES, Collective

ALPHA, BETA = 1e-6, 50e9
MIB = 1 << 20


def uniform(ranks, nics=1, reduce=0.0):
    return by_levels([Level(ranks, Curve.line(ALPHA, BETA), nics)], reduce)


def nodes(inside=4, count=2):
    return by_levels([Level(inside, Curve.line(ALPHA, 450e9)), Level(count, Curve.line(2 * ALPHA, BETA))])


def ask(benchmark, sizes=None, algorithm="", **more):
    return Question(Asked(benchmark, algorithm), sizes, **more)


def timed(found, algorithm, size):
    (row,) = (row for row in found.rows if row.size == size)
    (one,) = (one for one in row.times if one.algorithm == algorithm)
    return one


def test_times_are_those_of_the_closed_forms():
    found = contest(uniform(16, reduce=1 / 400e9), ask("all_reduce", (0, MIB)))
    piece = MIB / 16
    assert timed(found, "ring", MIB).estimate.value == pytest.approx(30 * (ALPHA + piece / BETA) + 15 * piece / 400e9)
    assert timed(found, "ring", 0).time == pytest.approx(30 * ALPHA)
    doubling = timed(found, "recursive_doubling", MIB)
    assert doubling.time == pytest.approx(4 * (ALPHA + MIB / BETA + MIB / 400e9))
    parts = {term.name: term.value for term in doubling.estimate.terms}
    assert parts == pytest.approx({"start-ups": 4 * ALPHA, "bytes": 4 * MIB / BETA, "adding up": 4 * MIB / 400e9})
    assert (doubling.estimate.binds, doubling.estimate.next_limit) == ("bytes", "adding up")
    assert doubling.estimate.distance == pytest.approx(8)


@pytest.mark.parametrize("network", [uniform(8), uniform(6, nics=2), nodes()], ids=["uniform", "two NICs", "nodes"])
@pytest.mark.parametrize("benchmark", names.benchmarks())
def test_winners_are_right_to_the_byte(benchmark, network):
    question = ask(benchmark)
    found = contest(network, question)
    if not found.sized:
        assert (found.winners, found.limits, [row.size for row in found.rows]) == ((), (), [0])
        return
    assert (found.winners[0].low, found.winners[-1].high) == (1024, 1 << 30)
    taking, _ = pricing.contenders(benchmark, Ground.of(network), (1024, 1 << 30))

    def best(size):
        times = {contender.entry.algorithm: contender.at(size).time for contender in taking}
        return {name for name, time in times.items() if time <= min(times.values()) * (1 + 1e-9)}

    for before, after in zip(found.winners, found.winners[1:], strict=False):
        assert after.low == before.high + 1
        assert before.name in best(before.high)
        assert before.name not in best(after.low)
        assert after.name in best(after.low)
    for span in found.winners:
        assert span.name in best(random.Random(span.low).randint(span.low, span.high))


def test_two_algorithms_meet_where_their_forms_do():
    """Recursive doubling takes log2(n) (a + m/b), Rabenseifner twice as many start-ups and 2 (n - 1)/n of the bytes."""
    found = contest(uniform(16), ask("all_reduce", (1024, MIB)))
    meeting = (8 - 4) * ALPHA / ((4 - 2 * 15 / 16) / BETA)
    assert [span.name for span in found.winners] == ["recursive_doubling", "rabenseifner"]
    assert abs(found.winners[0].high - meeting) <= 16


def test_limits_tell_where_bytes_take_over():
    found = contest(uniform(16), ask("all_reduce", (1024, 1 << 30), "ring"))
    assert [span.name for span in found.limits] == ["start-ups", "bytes"]
    assert found.limits[0].high == pytest.approx(16 * ALPHA * BETA, abs=16)


def test_one_size_tells_the_winners_around_it():
    found = contest(uniform(16), ask("all_reduce", (MIB,)))
    assert (found.winners[0].low, found.winners[-1].high) == (MIB >> 4, MIB << 4)
    assert len(found.rows) == 1


@pytest.mark.parametrize("network", [uniform(8, reduce=1e-12), nodes(), nodes(2, 3)], ids=["8", "4x2", "2x3"])
@pytest.mark.parametrize("benchmark", names.benchmarks())
def test_simulated_times_lie_within_the_closed_forms(benchmark, network):
    sized = (0, 24_000, 3 * MIB) if contest(uniform(2), ask(benchmark)).sized else None
    found = contest(network, ask(benchmark, sized, simulate=engine()))
    assert found.simulated
    for one in (one for row in found.rows for one in row.times):
        low = one.estimate.value if one.estimate.low is None else one.estimate.low
        assert low * 0.99 <= one.simulated <= one.estimate.value * 1.01, (one.algorithm, one.size)
        assert one.reasons == ()


def test_levers_are_worked_out_anew():
    found = contest(uniform(16, reduce=1e-12), ask("all_reduce", (1, MIB, 1 << 40), "ring"))
    gains = {lever.name: [changed.gain for changed in lever.changed] for lever in found.levers}
    start, moved, adding = 30 * ALPHA, 30 * MIB / 16 / BETA, 15 * MIB / 16 * 1e-12
    before = start + moved + adding
    assert gains["twice the bandwidth"][1] == pytest.approx(before / (start + moved / 2 + adding))
    assert gains["half the start-up"][1] == pytest.approx(before / (start / 2 + moved + adding))
    assert gains["twice the bandwidth"][0] == pytest.approx(1, abs=1e-3)
    assert gains["half the start-up"][::2] == pytest.approx([2, 1], abs=1e-3)
    assert gains["twice the NICs"] == [1, 1, 1]
    assert gains["another algorithm"][0] == pytest.approx(7.5, rel=0.01)
    assert gains["adding up twice as fast"][1] == pytest.approx(before / (before - adding / 2))
    assert [lever.gain for lever in found.levers] == sorted((lever.gain for lever in found.levers), reverse=True)


def lever(found, name):
    (one,) = (one for one in found.levers if one.name == name)
    return one


def test_twice_the_nics_let_rings_in():
    """Two rings take half the bytes each: as much as twice the bandwidth gives one ring."""
    nics = lever(contest(uniform(16), ask("all_reduce", (1024, 1 << 30))), "twice the NICs")
    assert [changed.algorithm for changed in nics.changed] == ["recursive_doubling", "rings"]
    assert nics.changed[1].gain == pytest.approx(2, rel=0.01)
    assert nics.why.startswith("a message goes by one of them, and more help only rings here;")


def test_why_nics_do_less_than_bandwidth():
    nics = lever(contest(uniform(16), ask("alltoall", (MIB,))), "twice the NICs")
    assert [changed.gain for changed in nics.changed] == [1]
    assert "more are of no use to any algorithm here" in nics.why
    assert nics.why.endswith("a library that splits messages over NICs gets what twice the bandwidth does")
    alone = lever(contest(uniform(16), ask("all_reduce", (MIB,), "ring")), "twice the NICs")
    assert "more are of no use to ring;" in alone.why


def test_nothing_is_said_of_nics_that_do_as_much_as_bandwidth():
    found = contest(nodes(8, 2), ask("all_reduce", (1 << 10,), "rings"))
    assert lever(found, "twice the NICs between nodes").why == ""


def test_more_rings_pay_more_start_ups():
    found = contest(nodes(8, 2), ask("all_reduce", (1024, 1 << 30), "rings"))
    half, twice = (lever(found, f"{many} as many rings") for many in ("half", "twice"))
    assert twice.changed[0].gain < 0.8
    assert "start-ups of its own" in twice.why
    assert half.changed[1].gain < 1
    assert half.why == ""


def test_numbers_far_below_the_line_rate_are_told():
    told = [p.text for p in contest(by_machine(find("dgx-h100"), 16), ask("all_reduce", (MIB,))).premises]
    (line,) = (text for text in told if "line rate" in text)
    assert "between nodes: 35.90 GB/s of 50.00 GB/s line rate (ndr)" in line
    assert "inside nodes: 357.5 GB/s of 450.0 GB/s line rate (nvlink)" in line
    inside = contest(by_machine(find("dgx-h100"), 8), ask("all_reduce", (MIB,))).premises
    assert "357.5 GB/s of 450.0 GB/s line rate (nvlink)" in [p.text for p in inside]
    near = contest(by_machine(find("tcp-cluster"), 8), ask("all_reduce", (MIB,))).premises
    assert not any("line rate" in premise.text for premise in near)


def test_no_other_algorithm_beats_the_fastest():
    found = contest(uniform(16), ask("all_reduce"))
    (other,) = (lever for lever in found.levers if lever.name == "another algorithm")
    assert all(changed.gain <= 1 for changed in other.changed)
    for changed in other.changed:
        (row,) = (row for row in found.rows if row.size == changed.size)
        assert changed.time == sorted(one.time for one in row.times)[1]


def pipelined():
    return [
        entry for entry in COLLECTIVES.values() if "chunks" in entry.uses and entry.benchmark in ("broadcast", "reduce")
    ]


@pytest.mark.parametrize("entry", pipelined(), ids=lambda entry: entry.name)
@pytest.mark.parametrize("size", [2, 1000, 100_000, 1 << 20])
def test_the_best_chunks_are_those_of_trying_all(entry, size):
    contender = Contender(entry, Ground.of(uniform(8)))
    found = contender.at(size)
    best = min(contender.seconds(size, k) for k in range(1, min(size, 300) + 1))
    assert found.time <= best * 1.001
    assert 1 <= found.chunks <= size
    assert min(found.beside) >= found.time


def test_nothing_is_cut_into_less_than_bytes():
    contender = Contender(pipelined()[0], Ground.of(uniform(8)))
    assert [contender.at(size).chunks for size in (0, 1)] == [1, 1]
    assert contender.at(0).beside is None


def added(monkeypatch, name, form, uses=()):
    benchmark, algorithm = name.split("-")
    entry = Collective(benchmark, algorithm, COLLECTIVES["all_reduce-ring"].build, uses)
    monkeypatch.setitem(COLLECTIVES, name, entry)
    monkeypatch.setitem(pricing.FORMS, name, form)


def test_an_algorithm_of_the_table_takes_part(monkeypatch):
    added(monkeypatch, "all_reduce-magic", lambda shape: Form((Rounds(1, 0.0),), 0))
    found = contest(uniform(16), ask("all_reduce"))
    assert [span.name for span in found.winners] == ["magic"]
    assert found.algorithms[0] == "magic"


def test_what_cannot_be_asked_is_left_out_with_the_reason(monkeypatch):
    def fussy(shape):
        raise InputError(f"{shape.ranks} ranks: expected 17")

    added(monkeypatch, "all_reduce-fussy", fussy)
    found = contest(uniform(16), ask("all_reduce"))
    assert ("fussy", "16 ranks: expected 17") in [(out.algorithm, out.reason) for out in found.left_out]
    with pytest.raises(InputError, match="all_reduce-fussy: 16 ranks: expected 17"):
        contest(uniform(16), ask("all_reduce", algorithm="fussy"))


def test_algorithms_of_levels_need_some():
    left = [(out.algorithm, out.reason) for out in contest(uniform(8), ask("all_reduce")).left_out]
    assert ("hierarchical", "the network has one level") in left
    assert ("rings", "the network has one level and one NIC") in left
    assert "rings" in contest(uniform(8, nics=2), ask("all_reduce")).algorithms
    assert contest(nodes(), ask("all_reduce")).left_out == ()
    with pytest.raises(InputError, match="all_reduce-hierarchical: the network has one level"):
        contest(uniform(8), ask("all_reduce", algorithm="hierarchical"))


SHARED = """
[nodes."h0.nic"]
kind = "switch"
[nodes."h1.nic"]
kind = "switch"
[[connections]]
ends = ["h0.gpu*", "h0.nic"]
link = "nvlink"
[[connections]]
ends = ["h1.gpu*", "h1.nic"]
link = "nvlink"
[[connections]]
ends = ["h0.nic", "leaf"]
link = "ib"
[[connections]]
ends = ["h1.nic", "leaf"]
link = "ib"
"""


def test_ranks_that_share_a_nic(tmp_path):
    text = (Path(__file__).parents[1] / "data" / "machines" / "two-nodes.toml").read_text(encoding="utf-8")
    file = tmp_path / "shared.toml"
    file.write_text(text[: text.index('[[connections]]\nends = ["h0.gpu*", "leaf"]')] + SHARED, encoding="utf-8")
    network = by_machine(find(str(file)), 8)
    found = contest(network, ask("all_reduce", (1 << 28,), simulate=engine()))
    assert next((p.status, p.text) for p in found.premises) == ("broken", "each rank has a NIC of its own")
    (lying,) = (one for one in found.rows[0].times if one.algorithm == "hierarchical")
    assert lying.difference > 1
    assert lying.reasons[0].startswith("ports and wires of the machine")


def test_a_bound_that_may_be_faster_is_marked(monkeypatch):
    added(monkeypatch, "all_reduce-vague", lambda shape: Form((Rounds(99, 1e9),), 0, ((Rounds(1, 0.0),),)))
    found = contest(uniform(16), ask("all_reduce"))
    assert all([one.algorithm for one in row.perhaps] == ["vague"] for row in found.rows)
    simulated = contest(uniform(16), ask("all_reduce", (1024, MIB), simulate=engine()))
    assert all(row.perhaps == () for row in simulated.rows)


def test_as_fast_is_no_change(monkeypatch):
    added(monkeypatch, "all_reduce-twin", pricing.FORMS["all_reduce-ring"])
    found = contest(uniform(3), ask("all_reduce", (1 << 30,)))
    assert {"ring", "twin"} <= {one.algorithm for one in found.rows[0].fastest}
    assert "twin" not in [span.name for span in found.winners]


def test_one_rank_sends_nothing():
    found = contest(uniform(1), ask("all_reduce", (MIB,)))
    assert (found.winners, found.levers) == ((), ())
    assert all(one.time == 0 for one in found.rows[0].times)


def test_ports_of_a_machine_are_told_as_the_reason():
    """Ranks in turns over two nodes: what formulas take to be inside of a node goes between nodes."""
    places = ("h0.gpu0", "h1.gpu0", "h0.gpu1", "h1.gpu1")
    network = by_machine(find("dgx-h100"), None, places)
    found = contest(network, ask("all_reduce", (1 << 30,), simulate=engine()))
    assert [p.text for p in found.premises if p.status == "broken"] == ["ranks stand node by node, all over like links"]
    rabenseifner = timed(found, "rabenseifner", 1 << 30)
    assert rabenseifner.difference > 0.5
    assert rabenseifner.reasons[0].startswith("ports and wires of the machine")
    right = by_machine(find("dgx-h100"), 16)
    assert not [p for p in contest(right, ask("all_reduce", (MIB,))).premises if p.status == "broken"]


def test_a_form_that_takes_more_than_its_rounds_do(monkeypatch):
    """No ports are shared and nobody is ahead: what is left is the form."""
    added(monkeypatch, "all_reduce-heavy", lambda shape: Form((Rounds(30, 2.0 * shape.size / 16),), 0))
    one = timed(contest(uniform(16), ask("all_reduce", (1 << 30,), simulate=engine())), "heavy", 1 << 30)
    assert one.difference == pytest.approx(-0.5, abs=1e-3)
    assert one.reasons == ("the form takes the largest message of each round (a bound)",)


def test_too_large_to_simulate_is_said(monkeypatch):
    monkeypatch.setattr("hopline.jobs.collectives.simulated.MOST_MESSAGES", 100)
    found = contest(uniform(8), ask("all_reduce", (MIB,), simulate=engine()))
    ring = timed(found, "ring", MIB)
    assert ring.simulated is None
    assert "112 messages" in ring.skipped
    assert timed(found, "recursive_doubling", MIB).simulated is not None


def test_several_networks_leave_out_what_cannot_be():
    def none():
        raise InputError("no such network")

    question = ask("broadcast", (MIB,))
    found, failed = contests.contests([("a", none), ("b", lambda: uniform(4))], question)
    assert [name for name, _ in found] == ["b"]
    assert failed == [("a", "no such network")]
    with pytest.raises(HoplineError, match="no such network"):
        contests.contests([("a", none)], question)


def test_progress_goes_forward_to_the_end():
    told = []
    contests.contests(
        [("a", lambda: uniform(4)), ("b", lambda: uniform(8))],
        ask("all_reduce", (1024, MIB), simulate=engine()),
        lambda fraction, text: told.append((fraction, text)),
    )
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] < 1
    assert told[0][1].startswith("a, ")


def test_nics_of_the_outermost_level_are_counted():
    assert Ground.of(uniform(16)).nics == 1
    assert Ground.of(uniform(16, nics=4)).nics == 4
    assert Ground.of(nodes(8, 2)).nics == 8


def rings(network, channels=None):
    return Contender(COLLECTIVES["all_reduce-rings"], Ground.of(network, channels))


@pytest.mark.parametrize("network", [uniform(8, nics=4), nodes(8, 2), nodes(3, 2)], ids=["4 NICs", "8x2", "3x2"])
@pytest.mark.parametrize("size", [2, 1000, 100_000, MIB, 20 * MIB, 1 << 30])
def test_the_best_number_of_rings_is_that_of_trying_all(network, size):
    contender = rings(network)
    found = contender.at(size)
    assert found.channels == found.number == contender.shape(size).channels
    assert found.time <= min(contender.seconds(size, k) for k in range(1, 3 * Ground.of(network).nics)) * 1.0001
    assert min(found.beside) >= found.time


def test_rings_are_few_where_start_ups_matter_and_many_where_bytes_do():
    contender = rings(nodes(8, 2))
    assert [contender.at(size).channels for size in (1024, 1 << 30)] == [2, 8]
    assert contender.at(1024).time < rings(nodes(8, 2), 8).at(1024).time / 3


def test_rings_that_are_asked_for_are_taken():
    contender = rings(nodes(8, 2), channels=3)
    assert {contender.at(size).channels for size in (0, 1024, 1 << 30)} == {3}
    assert contender.at(1024).beside is None


FALLING = Curve((Piece(0.0, 9e-6, 1e9), Piece(65536.0, 1e-6, 50e9)))
"""A message of 65536 bytes takes a thirtieth of one of 65535."""


@pytest.mark.parametrize("curve", [Curve.line(ALPHA, BETA), FALLING], ids=["rising", "falling"])
def test_the_fastest_is_found_whatever_was_asked_before(curve):
    ground = Ground.of(by_levels([Level(12, curve)]))
    drawn = random.Random(7)
    sizes = [round(2 ** drawn.uniform(0, 32)) for _ in range(60)]
    asked, _ = pricing.contenders("all_reduce", ground, (1,))
    for size in sizes:
        fresh, _ = pricing.contenders("all_reduce", ground, (1,))
        times = {one.entry.algorithm: one.at(size).time for one in fresh}
        best = [name for name, time in times.items() if time <= min(times.values()) * (1 + 1e-9)]
        assert [one.entry.algorithm for one in pricing.fastest(asked, size)] == best


def test_few_numbers_of_chunks_are_tried(monkeypatch):
    """A contest on one network takes some hundredths of a second, which many networks are a multiple of."""
    tried = []
    form = pricing.FORMS["all_reduce-double_binary_tree"]
    monkeypatch.setitem(
        pricing.FORMS, "all_reduce-double_binary_tree", lambda shape: tried.append(shape) or form(shape)
    )
    contest(uniform(64), ask("all_reduce"))
    assert len(tried) < 800


def test_levels_of_one_are_no_levels():
    """A level without a second member must not shift the levels that forms count."""
    alone = by_levels([Level(1, Curve.line(5.0, 1.0)), Level(8, Curve.line(ALPHA, BETA))])
    times = [
        [one.time for one in contest(net, ask("all_reduce", (MIB,))).rows[-1].times] for net in (alone, uniform(8))
    ]
    assert times[0] == times[1]


@pytest.mark.parametrize(
    ("name", "algorithm", "meant"),
    [
        ("allreduce", None, ("all_reduce", "")),
        ("MPI_Allreduce", None, ("all_reduce", "")),
        ("bcast", "chain", ("broadcast", "chain")),
        ("allreduce-ring", None, ("all_reduce", "ring")),
        ("all_reduce-recursive_doubling", None, ("all_reduce", "recursive_doubling")),
        ("all-reduce", None, ("all_reduce", "")),
        ("all-reduce-ring", None, ("all_reduce", "ring")),
        ("AllReduce-Ring", None, ("all_reduce", "ring")),
        ("allreduce_ring", None, ("all_reduce", "ring")),
        ("MPI_Allreduce recursive doubling", None, ("all_reduce", "recursive_doubling")),
        ("all_reduce_perf-rabenseifner", None, ("all_reduce", "rabenseifner")),
        ("reduce-scatter", None, ("reduce_scatter", "")),
        ("reduce_scatter_direct", None, ("reduce_scatter", "direct")),
        ("reduce_scatter_gather", None, ("reduce", "scatter_gather")),
        ("Rabenseifner", None, ("all_reduce", "rabenseifner")),
        ("sendrecv", None, ("sendrecv", "")),
        ("all_reduce", "Ring", ("all_reduce", "ring")),
        ("all_reduce", "recursive-doubling", ("all_reduce", "recursive_doubling")),
        ("all_reduce", "allreduce-ring", ("all_reduce", "ring")),
        ("all_reduce-ring", "RING", ("all_reduce", "ring")),
    ],
)
def test_names_are_understood(name, algorithm, meant):
    found = names.asked(name, algorithm)
    assert (found.benchmark, found.algorithm) == meant


@pytest.mark.parametrize(
    ("name", "algorithm"), [("foo", None), ("all_reduce", "foo"), ("foo-ring", None), ("all_reduce-x", None)]
)
def test_names_that_there_are_not(name, algorithm):
    with pytest.raises(UnknownNameError, match="known are"):
        names.asked(name, algorithm)


@pytest.mark.parametrize("entry", COLLECTIVES.values(), ids=lambda entry: entry.name)
def test_every_entry_is_found_however_it_is_spelled(entry):
    words = f"{entry.benchmark}_{entry.algorithm}".split("_")
    camel = "".join(word.capitalize() for word in entry.benchmark.split("_")) + "-" + entry.algorithm.upper()
    for name in (entry.name, "-".join(words), "_".join(words), " ".join(words), camel):
        assert names.entry_of(name) is entry


def test_what_may_mean_several_is_told():
    with pytest.raises(InputError) as error:
        names.asked("Ring")
    assert str(error.value) == (
        "several collectives have Ring: expected one of all_reduce-ring, reduce_scatter-ring, all_gather-ring, sendrecv-ring"
    )
    with pytest.raises(
        InputError, match="reduce has several algorithms: expected one of reduce-binomial, reduce-chain"
    ):
        names.entry_of("reduce")
    with pytest.raises(InputError, match="all_reduce-ring and --algorithm direct are two algorithms"):
        names.asked("all_reduce-ring", "direct")


@pytest.mark.parametrize("name", ["", "-", "ringg", "all_reduce-ring.xml", "ring.goal", "foo-ring"])
def test_other_names_mean_nothing(name):
    assert names.entry_of(name) is None


def test_the_list_is_the_table():
    listed = names.listed()
    assert sum(map(len, listed.values())) == len(COLLECTIVES)
    assert all(about for algorithms in listed.values() for _, about in algorithms)


@pytest.mark.parametrize("size", [-1.0, 1.5, 1e300, float("nan"), float("inf")])
def test_sizes_are_whole_bytes(size):
    with pytest.raises(InputError, match="whole bytes"):
        whole_sizes([size])


def test_sizes_stand_in_order_once():
    assert whole_sizes([8.0, 0.0, 8.0, 4.0]) == (0, 4, 8)
