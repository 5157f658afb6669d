"""Intervals of transfers over links that were fitted."""

import json

import numpy as np
import pytest
from written import SIZES, line, noisy, osu

from hopline.cli.main import code_of
from hopline.jobs import drawn, fitting, machines, routes, transfer
from hopline.jobs.transfer import Transfer, Window

ENDS = ("rank0", "rank1")
TRUTH = line((0, *SIZES), 3e-6, 12e9)


def machine_from(tmp_path, scatter, seed=0):
    file = tmp_path / f"latency{seed}.out"
    file.write_text(osu(noisy(TRUTH, scatter, seed)))
    _, fits = fitting.fit_files([str(file)])
    return fitting.machine_of(fits, "fitted")


def question(machine, size, **more):
    route, path = routes.machine_route(machine, ENDS, size)
    return Transfer(size, route, way=path.forwarding, drawn=drawn.routes(machine, ENDS, size), **more)


def test_there_are_as_many_routes_as_said_and_the_same_each_time(tmp_path):
    machine = machine_from(tmp_path, 0.05)
    first, again = (drawn.routes(machine, ENDS, 1e6) for _ in range(2))
    assert len(first) == drawn.ROUTES
    assert first == again
    assert len(set(first)) > 1


def test_links_that_were_not_fitted_do_not_vary():
    preset = machines.find("dgx-h100")
    assert drawn.routes(preset, ("h0.gpu0", "h0.gpu1"), 1e6) == ()


def test_the_interval_holds_the_truth_about_nine_times_in_ten(tmp_path):
    """A new measurement scatters as those that were fitted."""
    random = np.random.default_rng(5)
    held, runs, sizes = 0, 30, (8.0, 65536.0, 2.0**24)
    for seed in range(runs):
        machine = machine_from(tmp_path, 0.05, seed)
        for size in sizes:
            estimate = transfer.cost(question(machine, size)).estimate
            new = (3e-6 + size / 12e9) * np.exp(0.05 * random.standard_normal())
            held += estimate.low <= new <= estimate.high
    assert 0.82 <= held / (runs * len(sizes)) <= 0.98


def test_noise_widens_it(tmp_path):
    widths = []
    for scatter in (0.005, 0.1):
        estimate = transfer.cost(question(machine_from(tmp_path, scatter, 1), 2.0**20)).estimate
        assert estimate.low <= estimate.value <= estimate.high
        widths.append(np.log(estimate.high / estimate.low))
    assert widths[1] > 5 * widths[0]


def test_both_ways_and_requests_have_one_too(tmp_path):
    machine = machine_from(tmp_path, 0.05)
    exchange = transfer.cost(question(machine, 2.0**20, receive=2.0**20)).estimate
    assert exchange.low < exchange.value < exchange.high
    held = transfer.cost(question(machine, 2.0**20, window=Window(1.0, 4096.0, 1e-3))).estimate
    assert held.low == held.value == held.high == pytest.approx(2**20 / 4096 * 1e-3)


def test_p2p_shows_it_for_one_question_and_not_for_sweeps(tmp_path, capsys, monkeypatch):
    file = tmp_path / "latency.out"
    file.write_text(osu(noisy(TRUTH, 0.05, 3)))
    assert code_of(["fit", str(file), "--save", "mine"]) == 0
    capsys.readouterr()
    assert code_of(["p2p", "--size", "1MiB", "--machine", "mine", "--path", "rank0,rank1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (way,) = {found["way"]}
    assert found["ways"][way]["low"] < found["time_s"] < found["ways"][way]["high"]
    monkeypatch.setattr(drawn, "routes", lambda *_: pytest.fail("a sweep shows no interval and needs none"))
    assert code_of(["p2p", "--size", "1KiB..1GiB", "--machine", "mine", "--path", "rank0,rank1", "--json"]) == 0
