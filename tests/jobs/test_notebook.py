"""The functions that a notebook calls: text or numbers in, arrays out."""

from pathlib import Path

import numpy as np
import pytest

import hopline
from hopline.curve import Curve, Piece
from hopline.errors import InputError, MachineError, QuantityError, UnknownNameError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/logs"
HOPS = [("0.25us", "64GB/s"), ("2us", "25GB/s")]
NUMBERS = [(0.25e-6, 64e9), (2e-6, 25e9)]


def test_text_and_numbers_mean_the_same():
    assert float(hopline.p2p("64MiB", HOPS)) == float(hopline.p2p(64 << 20, NUMBERS)) == pytest.approx(3.73518e-3, 1e-5)


@pytest.mark.parametrize("way", ["store-and-forward", "cut-through", "wormhole", "pipelined"])
def test_arrays_keep_their_shape(way):
    sizes = np.array([[0.0, 1, 1024], [1 << 20, 1 << 26, 12345]])
    times = hopline.p2p(sizes, NUMBERS, way)
    assert times.shape == sizes.shape
    for size, time in zip(sizes.ravel(), times.ravel(), strict=True):
        assert float(hopline.p2p(size, NUMBERS, way)) == pytest.approx(time, rel=1e-12)


def test_hops_may_be_arrays_too():
    bandwidths = np.array([1e9, 1e10, 1e11])
    times = hopline.p2p(1 << 20, [(1e-6, bandwidths)])
    assert times == pytest.approx(1e-6 + (1 << 20) / bandwidths, rel=1e-12)


def test_chunks():
    assert hopline.best_chunks("64MiB", HOPS).k == 23
    assert float(hopline.p2p("64MiB", HOPS, "pipelined")) == pytest.approx(2.776194825625e-3, rel=1e-12)
    counts = np.arange(1, 60)
    times = hopline.p2p("64MiB", HOPS, "pipelined", chunks=counts)
    assert counts[times.argmin()] == 23
    with pytest.raises(InputError, match="chunks go with"):
        hopline.p2p("64MiB", HOPS, chunks=3)
    with pytest.raises(InputError):
        hopline.p2p("64MiB", HOPS, "pipelined", chunks=0)


def test_the_best_chunks_of_arrays_of_hops():
    bandwidths = np.array([1e9, 1e10])
    times = hopline.p2p(1 << 20, [(1e-6, bandwidths), (1e-6, 1e10)], "pipelined")
    assert times.shape == (2,)


def test_curves_are_hops():
    curve = Curve((Piece(0, 1e-6, 1e9), Piece(4096, 3e-6, 1e10)))
    assert hopline.p2p([64, 8192], [curve]) == pytest.approx(curve.time([64, 8192]), rel=1e-12)


@pytest.mark.parametrize(
    ("size", "hops", "way", "error"),
    [
        ("64", HOPS, "cut-through", QuantityError),
        ("1MiB", [("1", "1GB/s")], "cut-through", QuantityError),
        ("1MiB", [("1us", "1GB")], "cut-through", QuantityError),
        (-1, NUMBERS, "store-and-forward", InputError),
        (float("nan"), NUMBERS, "store-and-forward", InputError),
        (1.5, NUMBERS, "pipelined", InputError),
        (1, [], "store-and-forward", InputError),
        (1, [(1e-6, 0.0)], "store-and-forward", InputError),
        (1, [(-1e-6, 1e9)], "wormhole", InputError),
        (1, NUMBERS, "teleport", UnknownNameError),
    ],
)
def test_what_is_refused(size, hops, way, error):
    with pytest.raises(error):
        hopline.p2p(size, hops, way)


def test_machines_and_logs():
    assert hopline.find_machine("sg2260").name == "SG2260"
    with pytest.raises(MachineError):
        hopline.find_machine("local")
    log = f"{__file__.rpartition('/jobs/')[0]}/data/logs/nccl-a-all-reduce.log"
    assert len(hopline.read_log(log).tables) == len(hopline.fit(log)) == 1


def test_routes_are_public():
    route = hopline.plain_route(NUMBERS)
    assert hopline.cost(hopline.Transfer(64 << 20, route)).estimate.value == pytest.approx(3.73518e-3, rel=1e-5)
    route, path = hopline.machine_route(hopline.find_machine("sg2260"), ["a0", "a1"], 1 << 20)
    assert (len(route.hops), path.names) == (1, ("a0", "a1"))
    assert {"machine_route", "plain_route"} <= set(hopline.__all__)


def test_expect_and_check():
    found = hopline.expect("allreduce", "dgx-h100", ranks=8, sizes=["1KiB", 2.0**30])
    assert found.size.tolist() == [1024.0, 2.0**30]
    assert np.all((found.low < found.time) & (found.time < found.high))
    monday = str(EXAMPLES / "monday.toml")
    assert [t.outcome for t in hopline.check(str(EXAMPLES / "tuesday.log"), hopline.find_machine(monday))] == ["pass"]
    assert [t.outcome for t in hopline.check(str(EXAMPLES / "wednesday.log"), monday)] == ["fail"]


def test_numbers_that_cannot_be_are_refused():
    for sizes, ranks in (([float("nan")], 8), ([-5.0], 8), ([1024.0], 0), ([1024.0], -3)):
        with pytest.raises(InputError):
            hopline.expect("all_reduce", "dgx-h100", ranks, sizes)
    with pytest.raises(InputError):
        hopline.check(str(EXAMPLES / "tuesday.log"), str(EXAMPLES / "monday.toml"), tolerance=float("nan"))
