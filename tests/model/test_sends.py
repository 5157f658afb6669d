"""Single sends and streams from a path's curve."""

import numpy as np
import pytest

from hopline.curve import Curve, Piece
from hopline.model import sends

CURVE = Curve.line(2e-6, 25e9)
SIZES = [0.0, 8.0, 65536.0, 2.0**30, 2.0**40]


def test_a_send_is_its_curve_within_a_fifth():
    found = sends.single(CURVE, SIZES)
    assert found.time == pytest.approx([2e-6 + m / 25e9 for m in SIZES])
    assert np.log(found.high / found.time) == pytest.approx(0.2)
    assert np.log(found.time / found.low) == pytest.approx(0.2)


def test_a_stream_hides_most_of_its_start_ups():
    found = sends.stream(CURVE, SIZES)
    assert found.time == pytest.approx([0.3e-6 + m / 25e9 for m in SIZES])
    assert found.high == pytest.approx([np.exp(0.2) * (0.7e-6 + m / 25e9) for m in SIZES])
    assert found.low == pytest.approx([np.exp(-0.2) * m / 25e9 for m in SIZES])


def test_pieces_count_at_their_sizes():
    curve = Curve((Piece(0.0, 1e-6, 1e9), Piece(1000.0, 3e-6, 25e9)))
    found = sends.stream(curve, [10.0, 1e6])
    assert found.time == pytest.approx([10 / 1e9 + 0.15e-6, 1e6 / 25e9 + 0.45e-6])


@pytest.mark.parametrize("latency", [1.87e-6, 2.12e-6, 15.98e-6])
def test_measured_streams_lie_inside(latency):
    """Of the public logs named in the module: least and largest share of a start-up that was left, small and at 64 KiB."""
    found = sends.stream(Curve.line(latency, 24e9), [2.0, 65536.0])
    for share in (0.02, 0.33):
        gap = np.array([2.0, 65536.0]) / 24e9 + share * latency
        assert np.all((found.low < gap) & (gap < found.high))
