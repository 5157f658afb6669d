"""The piecewise α-β curve: which piece a size falls into, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.curve import Curve, Piece, breaks_of, line_at
from hopline.errors import InputError

TWO = Curve((Piece(0.0, 1e-6, 1e9), Piece(1024.0, 3e-6, 2e9)))


def test_a_line_is_latency_and_size_over_bandwidth():
    assert Curve.line(1e-6, 2e9).time(4000) == pytest.approx(3e-6)
    assert Curve.line(1e-6, 2e9).breaks == ()


@pytest.mark.parametrize(("size", "time"), [(0, 1e-6), (1023, 2.023e-6), (1024, 3.512e-6), (4096, 5.048e-6)])
def test_a_piece_begins_with_its_first_size(size, time):
    assert TWO.time(size) == pytest.approx(time)
    assert TWO.piece_at(size) is TWO.pieces[size >= 1024]


def test_arrays_keep_their_shape():
    sizes = np.array([[0, 1023], [1024, 4096]])
    latency, bandwidth = TWO.at(sizes)
    assert latency.tolist() == [[1e-6, 1e-6], [3e-6, 3e-6]]
    assert bandwidth.shape == TWO.time(sizes).shape == (2, 2)


@settings(deadline=None)
@given(st.lists(st.floats(1, 1e12), min_size=0, max_size=5, unique=True), st.floats(0, 1e13))
def test_at_and_piece_at_agree(lows, size):
    curve = Curve(tuple(Piece(low, i * 1e-6, 1e9 + i) for i, low in enumerate([0.0, *sorted(lows)])))
    latency, bandwidth = curve.at(size)
    piece = curve.piece_at(size)
    assert (float(latency), float(bandwidth)) == (piece.latency, piece.bandwidth)


def test_time_that_does_not_grow():
    assert Curve.line(2e-6, math.inf).time([0, 1e12]).tolist() == [2e-6, 2e-6]


def test_capped_and_delayed():
    assert [p.bandwidth for p in TWO.capped(1.5e9).pieces] == [1e9, 1.5e9]
    assert TWO.capped(math.inf) is TWO
    assert [p.latency for p in TWO.delayed(1e-6).pieces] == pytest.approx([2e-6, 4e-6])
    assert TWO.delayed(1e-6).breaks == TWO.breaks


def test_hops_of_both_kinds():
    assert line_at((1e-6, 2e9), 8) == (1e-6, 2e9)
    assert line_at(Curve.line(1e-6, 2e9), 8) == (1e-6, 2e9)
    assert [float(part) for part in line_at(TWO, 2048)] == [3e-6, 2e9]
    assert breaks_of([TWO, (1e-6, 1e9), Curve((Piece(0, 0, 1), Piece(8, 0, 1)))]) == (8, 1024)


@pytest.mark.parametrize("lows", [(), (1.0,), (0.0, 0.0), (0.0, 5.0, 3.0)])
def test_pieces_begin_at_zero_and_grow(lows):
    with pytest.raises(InputError, match="expected 0 first"):
        Curve(tuple(Piece(low, 0.0, 1.0) for low in lows))


@pytest.mark.parametrize(
    ("low", "latency", "bandwidth"),
    [(-1, 0, 1), (math.nan, 0, 1), (math.inf, 0, 1), (0, -1, 1), (0, math.nan, 1), (0, math.inf, 1), (0, 0, 0),
     (0, 0, -1), (0, 0, math.nan)],
)  # fmt: skip
def test_impossible_pieces(low, latency, bandwidth):
    with pytest.raises(InputError) as caught:
        Piece(low, latency, bandwidth)
    assert "\n" not in str(caught.value)


def test_curves_do_not_change():
    with pytest.raises(AttributeError):
        TWO.pieces = ()
