"""Beyond the measured sizes: it begins where the points end, grows unsure with the distance, and holds what is plausible."""

import numpy as np
import pytest
from simulated import DOUBLING, TRUTHS, measured

from hopline.study import beyond
from hopline.study.beyond import COLLECTIVE, DRAWS, REACH, SEND, Growth
from hopline.study.points import Points

LARGEST, SMALLEST = DOUBLING[-1], DOUBLING[0]
FAR = LARGEST * np.array([1.5, 2, 4, 16, 64])


def middle(drawn):
    return np.quantile(drawn, (0.05, 0.5, 0.95), axis=0)


def line(latency=5e-6, bandwidth=2e10, sizes=DOUBLING):
    return Points.of(sizes, latency + sizes / bandwidth)


# --- above --------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_draws():
    one, two = (beyond.above(line(), FAR, COLLECTIVE, seed=seed) for seed in (3, 4))
    assert one.shape == (DRAWS, 5)
    assert one.tolist() == beyond.above(line(), FAR, COLLECTIVE, seed=3).tolist()
    assert one.tolist() != two.tolist()
    assert beyond.below(line(), np.array([1.0])).tolist() == beyond.below(line(), np.array([1.0])).tolist()


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_it_begins_at_the_last_point(name, noise):
    points = measured(TRUTHS[name], DOUBLING, noise, np.random.default_rng(1))
    for time in (points.time[-1], 0.8 * points.time[-1]):
        drawn = beyond.above(points, np.array([LARGEST * 1.0001]), SEND, end=time)
        assert np.median(drawn) == pytest.approx(time, rel=0.06)


@pytest.mark.parametrize("growth", [COLLECTIVE, SEND])
def test_the_interval_widens_with_the_distance(growth):
    low, _, high = middle(beyond.above(line(1e-3), LARGEST * np.array([1.01, 1.3, 2, 8, 64]), growth))
    width = np.log(high / low)
    assert np.all(np.diff(width) > -0.02)
    assert width[2] > 3 * width[0]
    assert width[4] > 1.2 * width[2]


def test_a_line_past_its_latency_goes_on():
    _, time, _ = middle(beyond.above(line(), FAR, SEND))
    assert time == pytest.approx(5e-6 + FAR / 2e10, rel=0.05)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("growth", [COLLECTIVE, SEND])
def test_it_holds_lines_that_go_on(growth, noise):
    rng = np.random.default_rng(31)
    held = [inside(TRUTHS["a line"], growth, noise, rng) for _ in range(60)]
    assert np.mean(held, axis=0).min() >= 0.88


def cheaper(size):
    """Seconds where bytes beyond 64 MiB cost 0.8 of those before."""
    return 5e-6 + np.minimum(size, 2.0**26) / 1e10 + 0.8 * np.maximum(size - 2.0**26, 0) / 1e10


def test_it_holds_lines_that_become_cheaper():
    rng = np.random.default_rng(32)
    held = [inside(cheaper, COLLECTIVE, 0.02, rng) for _ in range(60)]
    assert np.mean(held, axis=0).min() >= 0.88


def test_it_holds_a_collective_that_ends_in_its_latency_and_becomes_much_cheaper():
    """Half of the last time is latency; each further byte costs half as much."""
    sizes = DOUBLING[:12]
    alpha, beta = 20e-6, 20e-6 / sizes[-1]
    far = sizes[-1] * np.array([4.0, 16, 64])
    truth = alpha + beta * (sizes[-1] + 0.5 * (far - sizes[-1]))
    low, _, high = middle(beyond.above(Points.of(sizes, alpha + beta * sizes), far, COLLECTIVE))
    assert np.all((low < truth) & (truth < high))
    assert np.all(high > alpha + beta * far)


def inside(truth, growth, noise, rng):
    points = measured(truth, DOUBLING, noise, rng)
    low, _, high = middle(beyond.above(points, FAR, growth))
    new = truth(FAR) * rng.lognormal(0, noise, len(FAR))
    return (low <= new) & (new <= high)


def test_more_latency_at_the_end_promises_more_of_larger_messages():
    """At 16 times the largest size, in units of the line that leads there."""
    said = []
    for latency in (1e-7, 2e-4, 1e-2):
        points = line(latency)
        said.append(
            np.median(beyond.above(points, LARGEST * np.array([16.0]), COLLECTIVE)) / (latency + LARGEST * 16 / 2e10)
        )
    assert said[0] > said[1] > said[2]
    assert said[0] == pytest.approx(1, abs=0.05)
    assert said[2] < 0.8


def test_sends_promise_less_than_collectives():
    points = line(1e-2)
    send, collective = (np.median(beyond.above(points, FAR, growth), axis=0) for growth in (SEND, COLLECTIVE))
    assert np.all(send[2:] > collective[2:])
    assert send[0] == pytest.approx(collective[0], rel=0.02)


def test_no_growth_known_is_no_growth_drawn():
    exact = Growth(0.0, narrow=0.0, wide=0.0, bend=0.0)
    low, time, high = middle(beyond.above(line(), FAR, exact))
    assert time == pytest.approx(5e-6 + FAR / 2e10, rel=0.03)
    assert np.all(high / low < 1.2)
    assert REACH == 2


def test_times_that_do_not_grow_are_not_promised_for_ever():
    low, time, _ = middle(beyond.above(Points.of(DOUBLING, np.full(24, 2e-5)), np.array([LARGEST * 1000]), SEND))
    assert time[0] > 2e-4
    assert low[0] > 2e-5


# --- below --------------------------------------------------------------------------------------------------------


def test_below_begins_at_the_first_point():
    for time in (5e-6, 4e-6):
        drawn = beyond.below(line(), np.array([SMALLEST * 0.9999]), end=time)
        assert np.median(drawn) == pytest.approx(time, rel=0.05)


def test_a_table_that_begins_in_its_latency_stays_there():
    low, time, high = middle(beyond.below(line(), np.array([4.0, 1.0, 0.0])))
    assert time == pytest.approx(np.full(3, 5e-6), rel=0.05)
    assert np.all((low < 5e-6) & (high > 5e-6) & (high < 9e-6))


def test_a_table_that_begins_in_its_bandwidth_goes_down_with_the_size():
    """From 64 MiB on, 5 us and 3.4 ms: 8 MiB cost 424 us, and 1 MiB 57 us; the first time is no bound to go by."""
    points = line(sizes=2.0 ** np.arange(26, 34))
    size = np.array([2.0**25, 2.0**23, 2.0**20])
    low, time, high = middle(beyond.below(points, size))
    truth = 5e-6 + size / 2e10
    assert time[:2] == pytest.approx(truth[:2], rel=0.25)
    assert np.all((low[:2] < truth[:2]) & (truth[:2] < high[:2]))
    assert low[2] < 1.0 * points.time[0] * 0.1
    assert np.all(np.diff(time) < 0)


def test_below_widens_with_the_distance_and_with_the_part_that_grows():
    size = 2.0**26 / np.array([1.1, 2.0, 8.0])
    widths = []
    for latency in (1e-1, 5e-6):
        low, _, high = middle(beyond.below(line(latency, sizes=2.0 ** np.arange(26, 34)), size))
        widths.append(np.log(high / low))
    assert np.all(np.diff(widths[0]) > 0)
    assert np.all(widths[1][1:] > 1.5 * widths[0][1:])


def test_below_one_byte_there_is_only_the_empty_message():
    low, time, high = middle(beyond.below(line(sizes=2.0 ** np.arange(0, 20)), np.array([0.0])))
    assert low[0] < time[0] < high[0]
    assert high[0] / low[0] > 1.5
