"""Token buckets: the formulas against buckets that are emptied byte by byte in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.errors import InputError
from hopline.model import pipeline
from hopline.model.forwarding import cut_through as without_bursts
from hopline.model.shaping import Bucket, arrivals, cut_through

BUCKETS = st.builds(
    Bucket,
    rate=st.sampled_from([0.5, 1.0, 2.0, 4.0, 8.0]),
    burst=st.integers(1, 20).map(float),
    latency=st.sampled_from([0.0, 0.25, 3.0]),
)
"""Rates and latencies that fractions and floats hold alike."""
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=6)


def through(ready: list[Fraction], hop: Bucket) -> list[Fraction]:
    """When each byte leaves a bucket that is full at first: in order, and each takes one token."""
    rate, most = Fraction(hop.rate), Fraction(hop.burst)
    tokens, at, out = most, Fraction(0), []
    for when in ready:
        begin = max(when, at)
        tokens = min(most, tokens + (begin - at) * rate)
        wait = max(Fraction(0), (1 - tokens) / rate)
        at, tokens = begin + wait, tokens + wait * rate - 1
        out.append(at)
    return [when + Fraction(hop.latency) for when in out]


def walked(sizes: list[int], hops: list[Bucket]) -> list[list[Fraction]]:
    """When each chunk is at the end of each hop, byte by byte: a relay sends a chunk on once all of it is there."""
    ends = np.cumsum(sizes).tolist()
    ready, out = [Fraction(0)] * ends[-1], []
    for hop in hops:
        left = through(ready, hop)
        out.append([left[end - 1] for end in ends])
        ready = [when for when, size in zip(out[-1], sizes, strict=True) for _ in range(size)]
    return out


@given(SIZES, st.lists(BUCKETS, min_size=1, max_size=4))
def test_chunks_arrive_when_the_bytes_do(sizes, hops):
    assert arrivals(sizes, hops) == pytest.approx(np.array(walked(sizes, hops), float), rel=1e-12)


@given(st.integers(1, 40), st.lists(BUCKETS, min_size=1, max_size=4))
def test_cut_through_is_the_worst_bucket(size, hops):
    ready = [Fraction(0)] * size
    for hop in hops:
        ready = through(ready, hop)
    assert cut_through(size, hops) == pytest.approx(float(ready[-1]), rel=1e-12)


@given(SIZES, st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 10)), min_size=1, max_size=4))
def test_without_bursts_it_is_the_pipeline_with_latency_that_overlaps(sizes, hops):
    buckets = [Bucket(rate, latency=latency) for latency, rate in hops]
    assert arrivals(sizes, buckets)[-1, -1] == pytest.approx(pipeline.explicit(hops, sizes, occupies=False))
    assert cut_through(sum(sizes), buckets) == pytest.approx(float(without_bursts(sum(sizes), hops)))


def test_one_chunk_saves_a_burst_on_every_hop():
    hops = [Bucket(10.0, 5.0, 1.0), Bucket(20.0, 50.0, 2.0), Bucket(5.0)]
    assert arrivals([40], hops)[:, 0].tolist() == pytest.approx([1 + 3.5, 4.5 + 2, 6.5 + 8])


def test_an_idle_link_saves_up_for_each_chunk():
    """Chunks of 10 come each second; the second hop, twice as fast, has its 5 tokens again each time."""
    assert arrivals([10] * 4, [Bucket(10.0), Bucket(20.0, 5.0)])[1].tolist() == pytest.approx([1.25, 2.25, 3.25, 4.25])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: arrivals([], [Bucket(1.0)]),
        lambda: arrivals([1.0], []),
        lambda: arrivals([-1.0], [Bucket(1.0)]),
        lambda: cut_through(1.0, []),
        lambda: cut_through(-1.0, [Bucket(1.0)]),
        lambda: Bucket(0.0),
        lambda: Bucket(1.0, -1.0),
        lambda: Bucket(1.0, 1.0, -1.0),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()
