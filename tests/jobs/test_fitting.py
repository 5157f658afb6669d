"""From logs to machines, and what is refused on the way."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FitError, FormatError, OutputError
from hopline.jobs import fitting, machines, routes, transfer
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


def test_gap_tables_make_no_machine(tmp_path):
    for gap in fits_of("osu-pairs.out")[1:]:
        with pytest.raises(FitError, match="bandwidth table: it holds the gap"):
            fitting.save(gap, str(tmp_path / "x.toml"))
    assert list(tmp_path.iterdir()) == []


def test_times_that_do_not_grow_make_no_machine():
    size = np.array([1.0, 2, 4, 8])
    table = Table("osu", "latency", "time", {"size": size, "time": np.full(4, 1e-6)}, 4, ranks=2)
    flat = fitting.fit_table(1, "flat.out", table, False, 8)
    if np.isinf(flat.pieces.curve.pieces[-1].bandwidth):
        with pytest.raises(FitError, match="does not grow with size"):
            fitting.machine_of(flat, "flat")


@pytest.mark.parametrize(
    ("log", "number"),
    [("nccl-a-all-reduce.log", 1), ("osu-pairs.out", 1), ("osu-allreduce-full.out", 1), ("nccl-a-alltoall.log", 1)],
)
def test_a_saved_machine_prices_what_the_fit_predicts(tmp_path, log, number):
    prices_what_is_predicted(tmp_path, fitting.choose(fits_of(log), number))


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
    assert name in routes.SENDS
    assert list(fitting.machine_of(chosen, "m").links) == ["send"]
    assert set(fitting.machine_of(chosen, "m").sources) == {"links.send.bandwidth", "links.send.startup.whole"}


def test_a_link_fitted_to_a_collective_keeps_its_name():
    (chosen,) = fits_of("nccl-a-all-reduce.log")
    assert list(fitting.machine_of(chosen, "m").links) == ["all_reduce"]
    assert frozenset({"send", "sendrecv", "latency", "multi_lat"}) == routes.SENDS


def test_the_evidence_stands_in_the_file(tmp_path):
    chosen = fits_of("osu-pairs.out")[0]
    fitting.save(chosen, str(tmp_path / "mine.toml"))
    fitted = machines.find(str(tmp_path / "mine.toml")).links["send"].fitted
    assert fitted.origin.endswith("osu-pairs.out line 5")
    assert (fitted.smallest, fitted.largest) == (0, 1 << 20)
    assert (fitted.mean_error, fitted.worst_error) == (chosen.pieces.held_out.mean, chosen.pieces.held_out.worst)
