"""From logs to machines, and what is refused on the way."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FitError, FormatError, OutputError
from hopline.jobs import benchmarks, fitting, machines, routes, transfer
from hopline.records.table import Table

LOGS = Path(__file__).parents[1] / "data" / "logs"


def fits_of(*names: str, **options):
    return fitting.fit_files([str(LOGS / name) for name in names], **options)[1]


def test_a_planted_line_comes_out():
    (found,) = fits_of("nccl-a-all-reduce.log")
    assert (found.title, found.reason) == ("all_reduce, 4 ranks", "")
    (piece,) = found.pieces.curve.pieces
    assert (piece.latency, piece.bandwidth) == (pytest.approx(20e-6, rel=1e-3), pytest.approx(50e9, rel=1e-3))


def test_tables_of_all_files_are_numbered_on():
    names = ("nccl-c-reduce-scatter-twice.log", "osu-pairs.out")
    found = fits_of(*names)
    assert [(f.number, Path(f.source).name) for f in found] == [
        (1, names[0]), (2, names[0]), (3, names[1]), (4, names[1]), (5, names[1]),
    ]  # fmt: skip
    assert [f.table.measure for f in found] == ["time", "time", "time", "gap", "gap"]


def test_choosing_a_table():
    one, two = fits_of("nccl-c-reduce-scatter-twice.log")
    assert fitting.choose([one], None) is one
    assert fitting.choose([one, two], 2) is two
    with pytest.raises(FitError, match=r"2 tables have a fit: choose one with --table \(1, 2\)"):
        fitting.choose([one, two], None)
    with pytest.raises(FitError, match="no table 3: the files hold 2"):
        fitting.choose([one, two], 3)


def test_choosing_among_many_lists_the_first():
    many = fits_of(*["nccl-c-reduce-scatter-twice.log"] * 8)
    with pytest.raises(FitError, match=r"16 tables have a fit: .*12, \.\.\.\)"):
        fitting.choose(many, None)


def test_one_rank_is_no_network():
    (alone,) = fits_of("nccl-one-rank.log")
    assert (alone.pieces, alone.reason) == (None, "one rank ran: no network was used")
    with pytest.raises(FitError, match=r"no table can be fitted: .*one rank ran"):
        fitting.choose([alone], None)
    (good,) = fits_of("nccl-a-all-reduce.log")
    assert fitting.choose([alone, good], None) is good
    with pytest.raises(FitError, match="table 1 has no fit: one rank ran"):
        fitting.choose([alone, good], 1)
    with pytest.raises(FitError, match="no fit: one rank ran"):
        fitting.machine_of(alone, "x")


def test_too_few_sizes(tmp_path):
    log = tmp_path / "short.out"
    log.write_text("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n1    1.5\n2    1.6\n")
    _, (found,) = fitting.fit_files([str(log)])
    assert found.reason.startswith("2 distinct sizes are too few")


def test_in_place_is_another_column(tmp_path):
    log = (LOGS / "nccl-a-all-reduce.log").read_text()
    table = fitting.fit_files([str(LOGS / "nccl-a-all-reduce.log")], in_place=True)[1][0]
    assert "in-place" in log
    assert table.time is table.table.columns["time_in_place"]
    (osu,) = fits_of("osu-allreduce-full.out", in_place=True)
    assert osu.reason == "it has no in-place half"


def test_a_table_brings_its_points_and_what_is_odd_about_them():
    plain, *_ = fits_of("nccl-a-all-reduce.log")
    assert plain.findings == ()
    assert plain.points.size.tolist() == plain.table.size.tolist()
    assert plain.points.time.tolist() == plain.table.time.tolist()
    odd = bent()
    assert [f.kind for f in odd.findings] == ["pieces", "switch"]
    assert odd.findings[1].text == "protocol switch near 5793 B: the time steps up by a factor 2.55"
    spoilt = replace(
        odd.table, columns={"size": odd.table.size, "time": np.where(odd.table.size == 64, 1e-5, odd.table.time)}
    )
    assert "outlier" in [f.kind for f in fitting.fit_table(1, "x", spoilt, False, 8).findings]


def test_a_table_without_a_fit_has_nothing_odd():
    (alone,) = fits_of("nccl-one-rank.log")
    assert alone.findings == ()
    assert (alone.line, alone.pieces) == (None, None)


def test_at_most_one_piece():
    latency = fits_of("osu-pairs.out", most_pieces=1)[0]
    assert latency.pieces.curve == latency.line.curve


def test_what_is_no_log(tmp_path):
    for name, content in {"empty": b"", "text": b"hello\n" * 9, "binary": bytes(range(256)) * 20}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError, match=name):
            fitting.fit_files([str(tmp_path / name)])
    with pytest.raises(FormatError, match="directory"):
        fitting.fit_files([str(tmp_path)])
    with pytest.raises(FormatError, match=r"osu-crash\.out: no row"):
        fits_of("osu-crash.out")


# --- machines made from fits --------------------------------------------------------------------------------------


def test_a_gap_table_makes_an_operation_and_no_link(tmp_path):
    for gap in fits_of("osu-pairs.out")[1:]:
        file = fitting.save(fitting.to_save([gap], None), str(tmp_path / f"{gap.table.benchmark}.toml"))
        machine = machines.find(str(file))
        (operation,) = machine.operations.values()
        assert (operation.name, operation.measure) == (f"{gap.table.benchmark}.2", "gap")
        assert operation.curve == gap.pieces.curve
        assert operation.draws == gap.pieces.draws
        assert (machine.links, machine.nodes, machine.connections) == ({}, {}, ())


def test_a_gap_is_no_send_whatever_it_is_called():
    gap = fits_of("osu-pairs.out")[1]
    named = replace(gap, table=replace(gap.table, benchmark="latency"))
    assert fitting.machine_of(named, "m").links == {}


def test_a_collective_makes_an_operation_and_no_link(tmp_path):
    for log, name in (("nccl-a-all-reduce.log", "all_reduce.4"), ("nccl-a-alltoall.log", "alltoall.4")):
        (chosen,) = fits_of(log)
        machine = machines.find(str(fitting.save([chosen], str(tmp_path / f"{name}.toml"))))
        assert list(machine.operations) == [name]
        assert (machine.links, machine.nodes) == ({}, {})
        assert machine.operations[name].curve == chosen.pieces.curve


def test_an_operation_holds_the_measured_medians():
    size = np.array([8.0, 64, 64, 64, 512, 4096])
    time = np.array([1.23456789e-6, 3e-6, 2e-6, 9e-6, 4e-6, 1 / 3 * 1e-4])
    fitted = fitting.fit_table(
        7, "a/b.out", Table("osu", "reduce", "time", {"size": size, "time": time}, 6, 16, 9), False, 8
    )
    operation = fitting.machine_of(fitted, "m").operations["reduce.16"]
    assert operation.points == ((8, 1.23457e-6), (64, 3e-6), (512, 4e-6), (4096, 3.33333e-5))
    assert operation.fitted.origin == "osu reduce, 16 ranks, b.out line 9"
    assert (operation.fitted.smallest, operation.fitted.largest) == (8, 4096)
    assert operation.fitted.mean_error == fitted.pieces.held_out.mean


def test_tables_without_ranks_or_name_are_operations_too():
    one, two = (
        replace(f, table=replace(f.table, ranks=None)) for f in fits_of("nccl-a-all-reduce.log", "nccl-a-alltoall.log")
    )
    assert list(fitting.machine_of([one, two], "m").operations) == ["all_reduce", "alltoall"]
    nameless = replace(one, table=replace(one.table, benchmark=""))
    assert list(fitting.machine_of(nameless, "m").operations) == ["unnamed"]


def test_latency_bandwidth_and_collective_make_one_machine(tmp_path):
    chosen = fitting.to_save(fits_of("osu-pairs.out", "nccl-a-all-reduce.log"), None)
    machine = machines.find(str(fitting.save(chosen, str(tmp_path / "mine.toml"))))
    assert machine == fitting.machine_of(chosen, "mine")
    assert list(machine.operations) == ["latency.2", "bw.2", "bibw.2", "all_reduce.4"]
    assert [o.measure for o in machine.operations.values()] == ["time", "gap", "gap", "time"]
    assert [o.curve for o in machine.operations.values()] == [f.pieces.curve for f in chosen]
    assert [o.draws for o in machine.operations.values()] == [f.pieces.draws for f in chosen]
    assert list(machine.links) == ["send"]
    assert machine.links["send"].operation == "latency.2"
    assert machine.links["send"].curve == machine.operations["latency.2"].curve
    assert machine.title == (
        "fitted to osu latency, 2 ranks, node-1 node-2, osu-pairs.out line 5; osu bw, 2 ranks, node-1 node-2, "
        "osu-pairs.out line 13; osu bibw, 2 ranks, node-1 node-3, osu-pairs.out line 20; nccl-tests all_reduce, 4 ranks, nccl-a-all-reduce.log line 12"
    )


def test_which_tables_are_saved(tmp_path):
    fits = fits_of("osu-pairs.out", "nccl-one-rank.log")
    assert fitting.to_save(fits, None) == fits[:3]
    assert fitting.to_save(fits, 2) == [fits[1]]
    with pytest.raises(FitError, match="table 4 has no fit: one rank ran"):
        fitting.to_save(fits, 4)
    with pytest.raises(FitError, match=r"no table can be fitted: .*one rank ran"):
        fitting.to_save(fits[3:], None)


def test_two_tables_of_one_operation_are_not_both_saved():
    twice = fits_of("nccl-c-reduce-scatter-twice.log")
    with pytest.raises(
        FitError, match=r"tables 1 and 2 are both reduce_scatter, \d+ ranks: choose one to save with --table"
    ):
        fitting.to_save(twice, None)
    assert fitting.to_save(twice, 2) == [twice[1]]


def test_two_tables_that_price_a_send_are_not_both_saved(tmp_path):
    one = fits_of("osu-pairs.out")[0]
    two = replace(one, number=2, table=replace(one.table, benchmark="sendrecv"))
    with pytest.raises(FitError, match="tables 1 and 2 both price a send: choose one with --table"):
        fitting.save(fitting.to_save([one, two], None), str(tmp_path / "x.toml"))
    assert list(tmp_path.iterdir()) == []
    assert fitting.machine_of(fitting.to_save([one, two], 2), "m").links["send"].operation == "sendrecv.2"


def test_times_that_do_not_grow_make_an_operation_and_no_link():
    size = 2.0 ** np.arange(12)
    table = Table("osu", "latency", "time", {"size": size, "time": 1e-6 / (1 + np.arange(12) / 50)}, 12, ranks=2)
    flat = fitting.fit_table(1, "flat.out", table, False, 8)
    assert np.isinf(flat.pieces.curve.pieces[-1].bandwidth)
    with pytest.raises(FitError, match=r"latency\.2: time does not grow with size"):
        fitting.machine_of(flat, "flat")
    reduce = replace(flat, table=replace(table, benchmark="barrier"))
    assert fitting.machine_of(reduce, "flat").operations["barrier.2"].curve == flat.pieces.curve


def test_a_saved_machine_prices_what_the_fit_predicts(tmp_path):
    prices_what_is_predicted(tmp_path, fitting.choose(fits_of("osu-pairs.out"), 1))


def bent():
    """A table whose time rises by 4 us above 4 KiB: two pieces."""
    size = np.array([2.0**p for p in range(24)])
    time = 2e-6 + size / 1e10 + np.where(size > 4096, 4e-6, 0)
    return fitting.fit_table(1, "bent.out", Table("osu", "latency", "time", {"size": size, "time": time}, 24), False, 8)


def test_a_saved_machine_of_several_pieces_prices_what_the_fit_predicts(tmp_path):
    chosen = bent()
    assert len(chosen.pieces.curve.pieces) == 2
    prices_what_is_predicted(tmp_path, chosen)


def prices_what_is_predicted(tmp_path, chosen):
    assert fitting.save(chosen, str(tmp_path / "mine.toml")) == tmp_path / "mine.toml"
    machine = machines.find(str(tmp_path / "mine.toml"))
    assert machine == fitting.machine_of(chosen, "mine")
    around = [int(low) + d for low in chosen.pieces.curve.breaks for d in (-1, 0, 1)]
    for size in (0, 1, 100, 103, 104, 4096, 1 << 20, 1 << 30, *around):
        route, path = routes.machine_route(machine, ["rank0", "rank1"], size)
        cost = transfer.cost(transfer.Transfer(size, route, way=path.forwarding))
        assert cost.estimate.value == pytest.approx(float(chosen.pieces.curve.time(size)), rel=1e-12)


def test_saving_twice_is_refused(tmp_path):
    (chosen,) = fits_of("nccl-a-all-reduce.log")
    fitting.save(chosen, str(tmp_path / "mine.toml"))
    before = (tmp_path / "mine.toml").read_bytes()
    with pytest.raises(OutputError, match="exists"):
        fitting.save(chosen, str(tmp_path / "mine.toml"))
    assert (tmp_path / "mine.toml").read_bytes() == before


def test_saving_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (chosen,) = fits_of("nccl-a-all-reduce.log")
    assert fitting.save(chosen, "mine") == tmp_path / "home" / "mine.toml"
    assert machines.find("mine") == fitting.machine_of(chosen, "mine")
    with pytest.raises(OutputError, match="exists"):
        fitting.save(chosen, "mine")
    for name in ("sg2260", "dgx-h100", "", "a b", "../"):
        with pytest.raises(OutputError):
            fitting.save(chosen, name)
    assert [p.name for p in tmp_path.rglob("*.toml")] == ["mine.toml"]


@pytest.mark.parametrize("name", ["send", "sendrecv", "latency", "multi_lat"])
def test_a_link_fitted_to_sends_is_called_send(name):
    chosen = fits_of("osu-pairs.out")[0]
    chosen = replace(chosen, table=replace(chosen.table, benchmark=name))
    assert name in benchmarks.SENDS
    assert list(fitting.machine_of(chosen, "m").links) == ["send"]
    assert set(fitting.machine_of(chosen, "m").sources) == {"links.send.bandwidth", "links.send.startup.whole"}


def test_what_prices_a_send():
    assert frozenset({"send", "sendrecv", "latency", "multi_lat"}) == benchmarks.SENDS


def test_the_evidence_stands_in_the_file(tmp_path):
    chosen = fits_of("osu-pairs.out")[0]
    fitting.save(chosen, str(tmp_path / "mine.toml"))
    fitted = machines.find(str(tmp_path / "mine.toml")).links["send"].fitted
    assert fitted == machines.find(str(tmp_path / "mine.toml")).operations["latency.2"].fitted
    assert fitted.origin.endswith("osu-pairs.out line 5")
    assert (fitted.smallest, fitted.largest) == (0, 1 << 20)
    assert (fitted.mean_error, fitted.worst_error) == (chosen.pieces.held_out.mean, chosen.pieces.held_out.worst)
