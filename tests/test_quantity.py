"""Quantities: every form that is read, every text that is refused and why, and numbers that survive being written."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from spent import at_most

from hopline import quantity
from hopline.errors import InputError, QuantityError
from hopline.quantity import (
    DTYPES,
    NON_NEGATIVE,
    POSITIVE,
    UNITS,
    Bound,
    convert,
    exact,
    parse,
    parse_list,
    show,
    show_within,
    write,
)
from hopline.quantity.units import BANDWIDTHS, SIZES, TIMES

DIMENSIONS = tuple(UNITS)


def refusal(text, dimension):
    """The message of a refused text, which is one line."""
    with pytest.raises(QuantityError) as caught:
        parse(text, dimension)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("192MiB", 192 * 2**20),
        ("192 MiB", 192 * 2**20),
        ("  192\tMiB ", 192 * 2**20),
        ("192\u00a0MiB", 192 * 2**20),
        ("1e6 B", 1e6),
        ("1e6B", 1e6),
        ("1E+3 B", 1000),
        ("+8 B", 8),
        ("8. B", 8),
        (".5 KB", 500),
        ("1.5KiB", 1536),
        ("1KB", 1000),
        ("1kB", 1000),
        ("1KiB", 1024),
        ("1 MB", 1e6),
        ("1 GB", 1e9),
        ("1 TB", 1e12),
        ("1 PB", 1e15),
        ("1 PiB", 2**50),
        ("8 b", 1),
        ("8 Kb", 1000),
        ("8 Kib", 1024),
        ("8 Mbit", 1e6),
        ("8 bits", 1),
        ("3 bytes", 3),
        ("1 Mbyte", 1e6),
        ("0", 0),
        ("0 B", 0),
        ("-0 B", 0),
        ("5120 x bf16", 10240),
        ("5120xbf16", 10240),
        ("5120 × bf16", 10240),
        ("5120*fp32", 20480),
        ("1x4096x7168 x bf16", 58_720_256),
        ("2 x int4", 1),
        ("7 x fp8", 7),
        ("9223372036854775808 B", 2.0**63),
    ],
)
def test_sizes(text, value):
    assert parse(text, "size") == value == quantity.size(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.25us", 0.25e-6),
        ("0.25 us", 0.25e-6),
        ("0.25 \u00b5s", 0.25e-6),
        ("0.25 \u03bcs", 0.25e-6),
        ("0.25 usec", 0.25e-6),
        ("12 ms", 12e-3),
        ("12 msec", 12e-3),
        ("1.2 ns", 1.2e-9),
        ("3ps", 3e-12),
        ("2 s", 2),
        ("2 sec", 2),
        ("2 min", 120),
        ("0", 0),
        ("0.3us", 3e-7),
    ],
)
def test_times(text, value):
    assert parse(text, "time") == value == quantity.time(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("50GB/s", 50e9),
        ("68.2GB/s", 68.2e9),
        ("400Gb/s", 50e9),
        ("400 Gbps", 50e9),
        ("400 Gbit/s", 50e9),
        ("50 GBps", 50e9),
        ("1 GiB/s", 2**30),
        ("8 Kib/s", 1024),
        ("50 KB/us", 50e9),
        ("50 KB/\u00b5s", 50e9),
        ("5 B/ns", 5e9),
        ("3 TB/s", 3e12),
        ("1 MB/ms", 1e9),
        ("1 byte/sec", 1),
    ],
)
def test_bandwidths(text, value):
    assert parse(text, "bandwidth") == value == quantity.bandwidth(text)


@pytest.mark.parametrize(("text", "value"), [("16", 16), ("0", 0), ("1e3", 1000), (" 7 ", 7)])
def test_counts(text, value):
    assert parse(text, "count") == value == quantity.count(text)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eight_elements_of_every_type(dtype):
    assert parse(f"8 x {dtype}", "size") == 8 * DTYPES[dtype]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_unit_of_the_tables_is_read(dimension):
    for unit, scale in UNITS[dimension].items():
        assert parse(f"8 {unit}", dimension) == float(8 * scale)


def test_decimal_and_binary_bit_and_byte():
    assert SIZES["MiB"] / SIZES["MB"] == Fraction(2**20, 10**6)
    assert BANDWIDTHS["GB/s"] == 8 * BANDWIDTHS["Gb/s"] == 8 * BANDWIDTHS["Gbps"]
    assert TIMES["min"] == 60


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dimension", "said"),
    [
        ("50G", "bandwidth", ["ambiguous", "50 GB/s", "50 Gb/s"]),
        ("50 Gb/S", "bandwidth", ["ambiguous", "50 GB/s", "50 Gb/s"]),
        ("1 gb/s", "bandwidth", ["ambiguous", "1 GB/s", "1 Gb/s"]),
        ("64M", "size", ["ambiguous", "64 MB", "64 MiB"]),
        ("64 mb", "size", ["ambiguous", "64 MB", "64 Mb"]),
        ("64K", "size", ["ambiguous", "64 KB", "64 KiB"]),
        ("64", "size", ["no unit", "192MiB"]),
        ("5", "time", ["no unit", "0.25us"]),
        ("400", "bandwidth", ["no unit", "50GB/s"]),
        ("10 ms", "size", ["is a time", "expected a size"]),
        ("10 GiB", "bandwidth", ["is a size", "expected a bandwidth"]),
        ("10 GB/s", "time", ["is a bandwidth", "expected a time"]),
        ("10 s", "count", ["is a time", "expected a count"]),
        ("10 things", "count", ["not a count"]),
        ("64 m", "time", ["unknown unit 'm'"]),
        ("64 parsec", "time", ["unknown unit 'parsec'"]),
        ("1_000 B", "size", ["unknown unit"]),
        ("1,024 B", "size", ["ambiguous", "'1024 B'", "'1.024 B'"]),
        ("1,5 us", "time", ["ambiguous", "'1.5 us'"]),
        ("nan", "time", ["not a finite time"]),
        ("NaN B", "size", ["not a finite size"]),
        ("inf", "bandwidth", ["not a finite bandwidth"]),
        ("-Infinity s", "time", ["not a finite time"]),
        ("-3 us", "time", ["negative"]),
        ("-1 B", "size", ["negative"]),
        ("-1 GB/s", "bandwidth", ["negative"]),
        ("-1", "count", ["negative"]),
        ("0 GB/s", "bandwidth", ["above 0"]),
        ("0", "bandwidth", ["above 0"]),
        ("0.5 B", "size", ["0.5 bytes", "whole number"]),
        ("4 b", "size", ["0.5 bytes", "whole number"]),
        ("3 x fp4", "size", ["1.5 bytes", "whole number"]),
        ("2.5", "count", ["2.5", "whole number"]),
        ("5120 x bf17", "size", ["unknown data type 'bf17'", "bf16"]),
        ("5120 x", "size", ["unknown unit 'x'"]),
        ("x bf16", "size", ["not a size"]),
        ("", "size", ["not a size", "192MiB"]),
        ("   ", "time", ["not a time"]),
        ("us", "time", ["not a time"]),
        ("1.2.3 us", "time", ["not a time"]),
        ("1e us", "time", ["unknown unit"]),
        ("0x10 B", "size", ["unknown unit"]),
        ("\u0663 B", "size", ["not a size"]),
        ("\u00b2 B", "size", ["not a size"]),
        ("1\u0663 B", "size", ["unknown unit"]),
        ("1 B B", "size", ["unknown unit"]),
        ("9223372036854780000 B", "size", ["out of range"]),
        ("1e309 s", "time", ["out of range"]),
        ("1e300 PB/ns", "bandwidth", ["out of range"]),
    ],
)
def test_refused_with_the_way_out(text, dimension, said):
    message = refusal(text, dimension)
    assert all(part in message for part in said), message


@pytest.mark.parametrize(
    "text",
    [
        "1e999999999 B", "1e-999999999 B", "1e99999999999999999999 B", "0.1e-99999999999999999999 B",
        "9" * 100_000 + " B", "9" * 100_000 + " x bf16", "1e999999999 x bf16", ",".join("1" * 50_000),
    ],
)  # fmt: skip
def test_absurd_numbers_are_refused_at_once(text):
    with at_most(0.5):
        refusal(text, "size")


@pytest.mark.parametrize("text", ["0e999999999 B", "0e-999999999 B", "0.000 B"])
def test_nothing_is_nothing_however_it_is_written(text):
    assert parse(text, "size") == 0


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("5 x" + " " * 500 + "6 x bf16", "size"),
        ("9" * 400 + " x fp4", "size"),
        ("1" + "0" * 320 + ".5 B", "size"),
        ("1" + "0" * 320 + ".5", "count"),
    ],
)
def test_long_texts_end_in_a_value_or_a_refusal(text, dimension):
    with contextlib.suppress(QuantityError):
        assert parse(text, dimension) >= 0


def test_leading_zeros_change_nothing():
    assert parse("0" * 150 + "5 B", "size") == 5
    assert parse("0" * 150 + "5 x bf16", "size") == 10


def test_a_bandwidth_is_above_zero_even_where_floats_end():
    with pytest.raises(QuantityError):
        parse("1e-329 B/s", "bandwidth")


NEAR_MISSES = st.builds(
    "".join,
    st.lists(
        st.sampled_from(
            ["1", "0", "9", "٣", "²", ".", ",", "e", "E", "+", "-", "x", "×", "*", " ", "\t", "\n", "\u00a0", "µ", "μ", "K",
             "Mi", "G", "B", "b", "b/s", "bps", "/s", "us", "bf16", "fp4", "nan", "inf", "..", ":", "e99999"]
        ),
        max_size=12,
    ),
)  # fmt: skip


@settings(deadline=None)
@given(st.text(max_size=40) | NEAR_MISSES, st.sampled_from(DIMENSIONS))
@example("1e5", "size")
def test_parse_gives_a_number_or_a_quantity_error(text, dimension):
    try:
        value = parse(text, dimension)
    except QuantityError:
        return
    assert math.isfinite(value)
    assert value > 0 or (value == 0 and dimension != "bandwidth")


@settings(deadline=None)
@given(st.text(max_size=30) | NEAR_MISSES, st.sampled_from(DIMENSIONS))
def test_parse_list_gives_numbers_or_a_quantity_error(text, dimension):
    try:
        values = parse_list(text, dimension)
    except QuantityError:
        return
    assert 1 <= len(values) <= quantity.MOST_VALUES


# --- lists and ranges ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dimension", "values"),
    [
        ("8B", "size", [8]),
        ("1KiB,64KiB", "size", [1024, 65536]),
        (" 1 KiB , 2 KiB ", "size", [1024, 2048]),
        ("5120 x bf16,4B", "size", [10240, 4]),
        ("1KiB..8KiB", "size", [1024, 2048, 4096, 8192]),
        ("1KiB..9KiB", "size", [1024, 2048, 4096, 8192]),
        ("1KiB..64KiB:x4", "size", [1024, 4096, 16384, 65536]),
        ("1KiB..1KiB", "size", [1024]),
        ("1B..10B:x1.5", "size", [1, 2, 3, 4, 6, 9]),
        ("0B..8B:+4B", "size", [0, 4, 8]),
        ("8B,1KiB..2KiB", "size", [8, 1024, 2048]),
        ("1us..9us:+2us", "time", [1e-6, 3e-6, 5e-6, 7e-6, 9e-6]),
        ("0.1us..0.3us:+0.1us", "time", [1e-7, 2e-7, 3e-7]),
        ("1GB/s..4GB/s", "bandwidth", [1e9, 2e9, 4e9]),
        ("1..4", "count", [1, 2, 3, 4]),
        ("1..8:x2", "count", [1, 2, 4, 8]),
        ("1,24", "count", [1, 24]),
    ],
)
def test_lists_and_ranges(text, dimension, values):
    assert parse_list(text, dimension) == values


@pytest.mark.parametrize(
    ("text", "dimension", "said"),
    [
        ("", "size", "not a size"),
        ("1KiB,,2KiB", "size", "not a size"),
        ("1KiB,", "size", "not a size"),
        ("2KiB..1KiB", "size", "empty range"),
        ("0B..1KiB", "size", "cannot start at 0"),
        ("1KiB..1MiB:x1", "size", "factor above 1"),
        ("1KiB..1MiB:x0.5", "size", "factor above 1"),
        ("1KiB..1MiB:x-2", "size", "factor above 1"),
        ("1KiB..1MiB:xx", "size", "factor above 1"),
        ("1KiB..1MiB:+0B", "size", "step must be above 0"),
        ("1KiB..1MiB:+1us", "size", "is a time"),
        ("1KiB..1MiB:x1e400", "size", "out of range"),
        ("1..10001", "count", "more than 10000"),
        ("1B..1PiB:+1B", "size", "more than 10000"),
        ("1us..9us:x1.0001", "time", "more than 10000"),
        (",".join(["8B"] * 10_001), "size", "10001 values"),
        ("1,024 B", "size", "ambiguous"),
        ("1,024", "count", "ambiguous"),
        ("..", "size", "not a size"),
    ],
)
def test_lists_that_are_refused(text, dimension, said):
    with pytest.raises(QuantityError) as caught:
        parse_list(text, dimension)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(0, 12), st.integers(2, 9))
def test_a_range_meets_its_end(low, steps, factor):
    assume(low * factor**steps <= 2**53)
    assert parse_list(f"{low}B..{low * factor**steps}B:x{factor}", "size") == [
        low * factor**i for i in range(steps + 1)
    ]


# --- printing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (1.049126e-3, "time", "1.049 ms"),
        (999.96e-6, "time", "1.000 ms"),
        (0.55e-6, "time", "550.0 ns"),
        (0.0, "time", "0 s"),
        (2.5, "time", "2.500 s"),
        (1e-12, "time", "1.000 ps"),
        (120.0, "time", "120.0 s"),
        (67108864.0, "size", "64 MiB"),
        (1536.0, "size", "1.5 KiB"),
        (1024.0, "size", "1 KiB"),
        (1000.0, "size", "1000 B"),
        (0.0, "size", "0 B"),
        (737856.0, "size", "720.6 KiB"),
        (100_000.0, "size", "100.0 KB"),
        (123_456_789.0, "size", "117.7 MiB"),
        (125_850_000_001.0, "size", "117.2 GiB"),
        (12_345_678.0, "size", "11.77 MiB"),
        (9999.0, "size", "9999 B"),
        (10_001.0, "size", "9.767 KiB"),
        (10_240.5, "size", "10.00 KiB"),
        (1e9, "size", "1.000 GB"),
        (2.0**60, "size", "1024 PiB"),
        (17977528089.9, "bandwidth", "17.98 GB/s"),
        (50e9, "bandwidth", "50.00 GB/s"),
        (999_999.0, "bandwidth", "1.000 MB/s"),
        (3.0, "bandwidth", "3.000 B/s"),
        (16.0, "count", "16"),
        (21.8, "count", "21.80"),
        (math.inf, "time", "unbounded"),
        (None, "bandwidth", "—"),
    ],
)
def test_show(value, dimension, text):
    assert show(value, dimension) == text


def test_show_has_the_digits_that_were_asked_for():
    assert [show(1.23456e-3, "time", digits) for digits in (1, 2, 3, 6)] == ["1 ms", "1.2 ms", "1.23 ms", "1.23456 ms"]
    assert [show(100_000.0, "size", digits) for digits in (1, 2, 3, 4)] == ["100 KB", "100 KB", "100 KB", "100.0 KB"]
    assert [show(737_856.0, "size", digits) for digits in (2, 3, 6)] == ["721 KiB", "721 KiB", "720.562 KiB"]


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (1.049126e-3, 1e-3, "1.0 ms"),
        (1.049126e-3, 1e-5, "1.049 ms"),
        (1.049126e-3, 5e-3, "1 ms"),
        (1.049126e-3, 0.0, "1.049 ms"),
        (1.049126e-3, math.inf, "1.049 ms"),
    ],
)
def test_show_no_more_than_the_spread_is_worth(value, spread, text):
    assert show_within(value, spread, "time") == text


@settings(deadline=None)
@given(st.floats(1e-11, 1e11), st.sampled_from(["time", "bandwidth"]))
def test_what_is_shown_is_the_value_to_four_figures(value, dimension):
    text = show(value, dimension)
    if "e" not in text.split()[0]:
        shown = parse(text.replace("µ", "u"), dimension)
        assert shown == pytest.approx(value, rel=5.1e-4 if value >= 1 or dimension == "time" else 1e-3)


@settings(deadline=None)
@given(st.integers(0, 2**62))
def test_a_shown_size_is_within_four_figures(value):
    number, unit = show(float(value), "size").split()
    assert float(number) * float(SIZES[unit]) == pytest.approx(value, rel=5.1e-4)


@settings(deadline=None)
@given(st.integers(0, 2**62) | st.builds(lambda a, e: a * 10**e, st.integers(1, 9999), st.integers(3, 14)))
def test_a_size_in_decimal_units_is_exact(value):
    number, unit = show(float(value), "size").split()
    if unit != "B" and "i" not in unit:
        assert Fraction(number) * Fraction(SIZES[unit]) == Fraction(float(value))


VALUES = {
    "time": st.floats(0, 1e290) | st.floats(0, 1e-3),
    "bandwidth": st.floats(1e-290, 1.7e308) | st.floats(1e6, 1e13),
    "size": st.integers(0, 2**63).map(float),
    "count": st.integers(0, 10**300).map(float),
}


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_what_is_written_is_read_back_to_the_very_float(dimension):
    @settings(deadline=None)
    @given(VALUES[dimension])
    def survives(value):
        assert parse(write(value, dimension), dimension) == value

    survives()


@pytest.mark.parametrize(("value", "dimension"), [(1e305, "time"), (5e-324, "bandwidth"), (1e-315, "bandwidth")])
def test_the_ends_of_the_floats_are_written_too(value, dimension):
    assert parse(write(value, dimension), dimension) == value


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [(0.25e-6, "time", "0.25 us"), (64e9, "bandwidth", "64 GB/s"), (1024.0, "size", "1024 B"), (8.0, "count", "8")],
)
def test_what_people_wrote_is_written_again(value, dimension, text):
    assert write(value, dimension) == text


# --- numbers and units apart --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "si"),
    [
        (7.6, "us", 7.6e-6),
        (7.6, "µs", 7.6e-6),
        (7.6, "\u03bcs", 7.6e-6),
        (50, "GB/s", 50e9),
        (400, "Gbps", 50e9),
        (1.5, "KiB", 1536),
        (0.1, "us", 1e-7),
        (-2, "ms", -2e-3),
        (3, "", 3),
    ],
)
def test_convert(value, unit, si):
    assert convert(value, unit) == si


@pytest.mark.parametrize("unit", ["parsec", "gb/s", "G", "MIB", "us "])
def test_convert_knows_its_units(unit):
    with pytest.raises(QuantityError, match="unknown unit"):
        convert(1.0, unit)


def test_exact_is_what_was_written():
    assert exact(0.1) == Fraction(1, 10)
    assert exact(45e9) * exact(4.3e-6) / 129 == 1500
    assert exact(7) == 7


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1e-9, "x", None, 10**400])
def test_bounds_refuse(value):
    for bound in (NON_NEGATIVE, POSITIVE):
        with pytest.raises(InputError, match="latency is") as caught:
            bound.check("latency", value)
        assert "\n" not in str(caught.value)


def test_bounds_at_their_edge():
    assert NON_NEGATIVE.check("latency", 0) == 0.0
    assert Bound(least=2).check("ranks", 2) == 2.0
    with pytest.raises(InputError, match="above 0"):
        POSITIVE.check("bandwidth", 0)
