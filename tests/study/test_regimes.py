"""What is told of odd tables: one case of each kind with its numbers, and nothing of tables that are well."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import DOUBLING, TRUTHS, measured

from hopline.records.fit import HeldOut
from hopline.study import regimes
from hopline.study.calibrate import line_and_best
from hopline.study.local import Local
from hopline.study.points import Points

CASE = Path(__file__).parents[3] / "shared" / "cases" / "35.md"


def found(sizes, times, measure="time"):
    """Kind -> the findings of it."""
    points = Points.of(sizes, times)
    line, best = line_and_best(points.size, points.time, measure)
    kinds = {}
    for finding in regimes.findings(points, line, best, Local.of(points).errors):
        kinds.setdefault(finding.kind, []).append(finding)
    return kinds


def only(kinds, kind):
    (finding,) = kinds[kind]
    return finding.text, finding.smallest, finding.largest


# --- tables that are well -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [DOUBLING, DOUBLING[::2], DOUBLING[[0, 3, 7, 23]], np.array([0.0, *DOUBLING])])
@pytest.mark.parametrize("bandwidth", [1e9, 2e10])
def test_a_line_has_nothing_odd(sizes, bandwidth):
    assert found(sizes, 5e-6 + sizes / bandwidth) == {}


def test_a_line_with_a_little_noise_has_nothing_odd():
    rng = np.random.default_rng(1)
    for _ in range(15):
        points = measured(TRUTHS["a line"], DOUBLING, 0.01, rng)
        assert found(points.size, points.time) == {}


def test_noise_of_five_per_cent_is_seldom_taken_for_more():
    rng, kinds = np.random.default_rng(2), []
    for _ in range(25):
        points = measured(TRUTHS["a line"], DOUBLING, 0.05, rng)
        kinds += found(points.size, points.time)
    assert len(kinds) <= 6
    assert not {"hump", "outlier", "lost plateau", "noise", "doubt"} & set(kinds)


@pytest.mark.parametrize("name", ["two rates", "a step", "three pieces"])
def test_pieces_that_are_told_apart_are_not_called_noise(name):
    kinds = found(DOUBLING, TRUTHS[name](DOUBLING))
    assert set(kinds) <= {"pieces", "switch", "regimes"}
    assert "pieces" in kinds


# --- one case of each kind ----------------------------------------------------------------------------------------

HUMP_SIZES = [8, 64, 128, 256, 1024, 2048, 131072, 1 << 20, 2 << 20]
HUMP_TIMES = np.array([3.53, 6.71, 10.34, 28.88, 102.97, 5.07, 19.98, 105.77, 202.88]) * 1e-6
"""osu_latency to memory of a GPU, openucx/ucx issue 7442."""


def test_a_latency_hump_with_its_crossing():
    """Copies cost some 0.1 us a byte from 3 us on, the other way 5 us at once: they meet at some 15 to 35 bytes."""
    text, smallest, largest = only(found(HUMP_SIZES, HUMP_TIMES), "hump")
    assert text.startswith("latency hump from 256 B to 1 KiB: up to 103 µs, 20.3 times the 5.07 µs of 2 KiB")
    assert (smallest, largest) == (256, 1024)
    (at,) = re.findall(r"cost the same at about ([\d.]+) B: switch there", text)
    assert 12 <= float(at) <= 40


def test_the_numbers_of_the_hump_are_those_of_the_case():
    if not CASE.exists():
        pytest.skip("the case is not here")
    numbers = re.findall(r"([\d.]+) ([KM]?i?B) ([\d.]+)", CASE.read_text(encoding="utf-8"))
    units = {"B": 1, "KiB": 1024, "MiB": 1 << 20}
    rows = [(float(size) * units[unit], float(time) * 1e-6) for size, unit, time in numbers]
    assert [size for size, _ in rows] == HUMP_SIZES
    assert [time for _, time in rows] == pytest.approx(HUMP_TIMES.tolist())


def test_a_hump_in_a_fine_table_begins_where_it_passes_the_threshold():
    """0.1 us a byte up to 1 KiB, then 5 us: 128 B cost 16.3 us, the first above 1.5 times 5 us is 64 B with 9.9 us."""
    sizes = 2.0 ** np.arange(0, 22)
    times = np.where(sizes <= 1024, 3.5e-6 + 0.1e-6 * sizes, 5e-6 + sizes / 1e10)
    text, smallest, largest = only(found(sizes, times), "hump")
    assert (smallest, largest) == (64, 1024)
    assert "from 64 B to 1 KiB: up to 106 µs, 20.3 times the 5.20 µs of 2 KiB" in text
    assert "about 15 B: switch there" in text


def test_what_follows_a_hump_is_its_least_time():
    """From 16 us down to 10 us step by step: no more than the first is 1.5 times as long as the least after it."""
    text, smallest, largest = only(
        found([1, 2, 4, 8, 16, 32, 64, 128], np.array([16, 14.5, 13, 12, 11, 10, 10.4, 10.8]) * 1e-6), "first touch"
    )
    assert (smallest, largest) == (1, 1)
    assert text == "the first size (1 B) takes 1.6 times as long as a larger one: first touch or warm-up?"


def test_an_outlier():
    times = 5e-6 + DOUBLING / 2e10
    times[8] *= 3
    kinds = found(DOUBLING, times)
    text, smallest, largest = only(kinds, "outlier")
    assert text == "outlier at 2 KiB: 15.3 µs, 2.94 times the 5.20 µs of 4 KiB"
    assert (smallest, largest) == (2048, 2048)
    assert "fall" not in kinds  # it is the outlier's end
    assert "hump" not in kinds


def test_an_outlier_of_an_empty_message():
    sizes = np.array([0.0, *DOUBLING])
    text, smallest, _ = only(found(sizes, np.where(sizes == 0, 12e-6, 5e-6 + sizes / 2e10)), "first touch")
    assert smallest == 0
    assert text.startswith("the first size (0 B) takes 2.4 times")


def test_a_timer_is_a_constant_time_at_a_round_rate():
    sizes = np.arange(1.0, 11.0)
    text, *_ = only(found(sizes, np.full(10, 250e-6)), "timer")
    assert "a timer (4000 a second" in text
    for time in (257e-6, 5e-6):
        assert "timer" not in found(sizes, np.full(10, time))


def test_a_fall():
    """Above 64 KiB 20 % less: no hump, which begins at 1.5 times."""
    times = np.where(DOUBLING <= 65536, 20e-6, 16e-6)
    text, smallest, largest = only(found(DOUBLING, times), "fall")
    assert text == "time falls by 20 % from 64 KiB to 128 KiB: another protocol, or noise"
    assert (smallest, largest) == (65536, 131072)


@pytest.mark.parametrize(("after", "told"), [(19e-6, False), (18.2e-6, False), (17.8e-6, True)])
def test_a_fall_of_less_than_a_tenth_is_not_told(after, told):
    assert ("fall" in found(DOUBLING, np.where(DOUBLING <= 65536, 20e-6, after))) == told


def test_what_falls_in_a_rough_table_is_noise():
    rng = np.random.default_rng(3)
    points = measured(TRUTHS["no growth"], DOUBLING, 0.12, rng)
    falls = 1 - points.time[1:] / points.time[:-1]
    assert falls.max() > regimes.FALL
    assert found(points.size, points.time).get("fall", []) == []


def test_a_halving_is_told_in_any_table():
    text, *_ = only(found([1, 1024, 1 << 20], [1e-6, 8e-6, 3.9e-6]), "fall")
    assert text.startswith("time falls by 51 % from 1 KiB to 1 MiB")


def test_a_protocol_switch():
    """6 us at once above 16 KiB: 2.8 us before, 8.8 us after."""
    text, smallest, largest = only(found(DOUBLING, TRUTHS["a step"](DOUBLING)), "switch")
    assert smallest == largest
    assert 8192 < smallest <= 16384
    at, factor = re.fullmatch(
        r"protocol switch near ([\d.]+) KiB: the time steps up by a factor ([\d.]+)", text
    ).groups()
    assert float(at) * 1024 == pytest.approx(smallest, rel=0.01)
    assert float(factor) == pytest.approx((8e-6 + smallest / 2e10) / (2e-6 + smallest / 2e10), rel=0.01)


def test_a_switch_that_pays():
    times = np.where(DOUBLING < 16384, 12e-6 + DOUBLING / 4e9, 6e-6 + DOUBLING / 4e9)
    text, *_ = only(found(DOUBLING, times), "switch")
    assert "the time steps down by a factor 1.6" in text


@pytest.mark.parametrize(("step", "told"), [(1.2, False), (1.32, True), (1 / 1.2, False), (1 / 1.32, True)])
def test_a_step_of_less_than_a_quarter_is_no_switch(step, told):
    times = np.where(DOUBLING < 16384, 20e-6, 20e-6 * step) + DOUBLING / 2e10
    assert ("switch" in found(DOUBLING, times)) == told


def test_two_regimes():
    """3 GB/s before some 14 KiB, 20 GB/s after it; they meet, so nothing steps."""
    kinds = found(DOUBLING, TRUTHS["two rates"](DOUBLING))
    text, smallest, _ = only(kinds, "regimes")
    assert 14000 < smallest < 14200
    assert text == "two regimes meet near 13.8 KiB: bandwidth 3.00 GB/s before, 20.0 GB/s after"
    assert "switch" not in kinds


def test_why_one_line_is_not_enough():
    points = Points.of(DOUBLING, TRUTHS["two rates"](DOUBLING))
    line, best = line_and_best(points.size, points.time)
    text, smallest, largest = only(found(DOUBLING, TRUTHS["two rates"](DOUBLING)), "pieces")
    told = f"{100 * line.held_out.mean:.0f} % (worst {100 * line.held_out.worst:.0f} %)"
    assert text == f"one line is not enough: it misses left-out sizes by {told}, 2 pieces by 0 % (worst 0 %)"
    assert best.held_out.mean < line.held_out.mean
    assert (smallest, largest) == (8, 2**26)


def test_where_a_miss_beside_a_break_spoils_the_pieces_the_measured_sizes_say_why():
    size = np.array([2.0**p for p in range(24)])
    time = np.where(size > 4096, 1e-4, 1e-6) + size / 1e12
    line, best = line_and_best(size, time)
    assert best.held_out.mean > line.held_out.mean
    text, *_ = only(found(size, time), "pieces")
    assert text.startswith(
        f"one line is not enough: it misses the measured sizes by {100 * line.inside.mean:.0f} % (worst "
    )
    assert text.endswith("2 pieces by 0 % (worst 0 %)")


def test_one_line_that_is_the_answer_is_enough():
    points = measured(TRUTHS["a line"], DOUBLING, 0.05, np.random.default_rng(9))
    line, best = line_and_best(points.size, points.time)
    assert line.curve == best.curve
    assert "pieces" not in found(points.size, points.time)


def test_a_lost_plateau():
    """20 GB/s up to 16 MiB, then only 10: at 64 MiB 12.3 GB/s are left of the 19.9."""
    times = 5e-6 + np.minimum(DOUBLING, 2.0**24) / 2e10 + np.maximum(DOUBLING - 2.0**24, 0) / 1e10
    text, smallest, largest = only(found(DOUBLING, times), "lost plateau")
    assert text.startswith("the rate falls from 19.9 GB/s at 16 MiB to 11.4 GB/s at 64 MiB")
    assert (smallest, largest) == (2**24, 2**26)


@pytest.mark.parametrize(("slower", "lost"), [(1.2, False), (1.3, True)])
def test_a_plateau_that_holds_four_fifths_is_not_lost(slower, lost):
    times = (5e-6 + DOUBLING / 2e10) * np.where(DOUBLING == 2**26, slower, 1)
    assert ("lost plateau" in found(DOUBLING, times)) == lost


def test_a_range_that_is_too_short():
    sizes = DOUBLING[:12]
    text, smallest, _ = only(found(sizes, 5e-6 + sizes / 2e10), "short range")
    assert smallest == 16384
    assert text == (
        "range too short: latency still makes up 86 % of the time at 16 KiB, so the bandwidth is not reached; measure larger sizes"
    )
    text, *_ = only(found(sizes, 5e-6 + sizes / 2e10, "gap"), "short range")
    assert "the least gap still makes up 86 %" in text


@pytest.mark.parametrize(("latency", "short"), [(4.9e-4, False), (5.2e-4, True)])
def test_half_of_the_last_time_is_the_limit(latency, short):
    sizes = DOUBLING[DOUBLING <= 1e7]
    assert ("short range" in found(sizes, latency + sizes / sizes[-1] * 5e-4)) == short


def test_a_noisy_table():
    points = measured(TRUTHS["no growth"], DOUBLING, 0.7, np.random.default_rng(5))
    kinds = found(points.size, points.time)
    text, smallest, largest = only(kinds, "noise")
    median = float(np.median(Local.of(points).errors))
    assert text == f"noisy: sizes left out are missed by {100 * np.expm1(median):.0f} % (median)"
    assert (smallest, largest) == (8, 2**26)
    assert "doubt" in kinds


def test_a_coarse_table_may_be_rough_without_noise():
    text, *_ = only(
        found([8, 1024, 1 << 17, 1 << 24], TRUTHS["three pieces"](np.array([8, 1024, 1 << 17, 1 << 24]))), "noise"
    )
    assert text.startswith("noisy, or too few sizes: sizes left out are missed by ")


@pytest.mark.parametrize(
    ("errors", "doubted"),
    [
        ({}, False),
        ({"held_out": HeldOut(0.19, 0.9, 9), "inside": HeldOut(0.19, 0.39, 9)}, False),
        ({"held_out": HeldOut(0.21, 0.9, 9)}, False),
        ({"inside": HeldOut(0.21, 0.3, 9)}, True),
        ({"inside": HeldOut(0.01, 0.41, 9)}, True),
    ],
)
def test_large_errors_are_not_to_be_trusted(errors, doubted):
    points = Points.of(DOUBLING, 5e-6 + DOUBLING / 2e10)
    line, best = line_and_best(points.size, points.time)
    told = regimes.findings(points, line, replace(best, **errors), Local.of(points).errors)
    assert [f.kind for f in told] == (["doubt"] if doubted else [])
    assert not doubted or told[0].text.startswith("do not trust this fit")


# --- whatever comes -----------------------------------------------------------------------------------------------

SIZES = st.integers(0, 2**40) | st.integers(0, 16) | st.sampled_from([2**p for p in range(41)])
TIMES = st.floats(1e-9, 1e3) | st.sampled_from([1e-6, 2e-6])
KINDS = {
    "pieces", "hump", "outlier", "switch", "regimes", "fall", "lost plateau", "short range", "noise",
    "doubt", "first touch", "timer",
}  # fmt: skip


@given(st.lists(st.tuples(SIZES, TIMES), min_size=3, max_size=10, unique_by=lambda p: p[0]))
def test_any_points(points):
    sizes, times = zip(*points, strict=True)
    for kind, several in found(sizes, times).items():
        assert kind in KINDS
        for finding in several:
            assert "nan" not in finding.text
            assert "inf" not in finding.text
            assert "\n" not in finding.text
            assert min(sizes) <= finding.smallest <= finding.largest <= max(sizes)


def test_a_rate_without_growth_is_told_in_words():
    assert regimes._rate(np.inf) == "no growth with size"
    assert regimes._rate(2e10) == "20.0 GB/s"
