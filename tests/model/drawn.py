"""What the property tests of the models draw from: hops as lines and curves, in SI and of realistic size."""

from __future__ import annotations

from hypothesis import strategies as st

from hopline.curve import Curve, Piece

LATENCIES = st.just(0.0) | st.floats(1e-9, 1e-3)
BANDWIDTHS = st.floats(1e6, 1e12)
LINES = st.tuples(LATENCIES, BANDWIDTHS)
SIZES = st.integers(0, 1 << 34)
PATHS = st.lists(LINES, min_size=1, max_size=5)


@st.composite
def small_curves(draw):
    """Curves whose pieces change within the first few bytes."""
    lows = draw(st.lists(st.sampled_from([1, 2, 3, 4.5, 6, 10, 13]), min_size=1, max_size=3, unique=True))
    parts = st.tuples(st.sampled_from([0, 0.5, 1, 2, 5, 20]), st.sampled_from([0.1, 0.5, 1, 2, 8]))
    return Curve(tuple(Piece(low, *draw(parts)) for low in [0, *sorted(lows)]))


SMALL_LINES = st.tuples(st.sampled_from([0, 0.25, 1, 3, 20]), st.sampled_from([0.1, 0.5, 1, 1.5, 3, 8]))
SMALL_HOPS = st.lists(SMALL_LINES | small_curves(), min_size=1, max_size=4)
"""Hops of a few seconds and bytes a second, so that ties and changes of the bottleneck are common."""
