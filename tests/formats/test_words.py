"""The two ways of reading columns agree with each other and with float."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.formats import words
from hopline.formats.words import Grid, Tokens

numbers = st.one_of(
    st.integers(0, 10**14).map(str),
    st.floats(0, 1e9).map(lambda x: f"{x:.2f}"),
    st.floats(0, 1e9).map(lambda x: f"{x:.1f}"),
    st.sampled_from(["1e+06", "-1.00", "+2", ".5", "5.", "nan", "inf", "0", "00012.50", "1.2e-300", "2e308"]),
)


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=9), st.booleans())
def test_both_ways_of_reading_give_what_float_gives(rows, right):
    pad = str.rjust if right else str.ljust
    text = "".join(f"\n {pad(a, 24)}  float  {pad(b, 24)}" for a, b in rows).encode()
    grid = words.of(text, len(rows), 3)
    tokens = words._tokens(text, len(rows), 3)
    assert isinstance(grid, Grid)
    assert isinstance(tokens, Tokens)
    for place, column in enumerate(zip(*rows, strict=True)):
        expected = [float(word) for word in column]
        np.testing.assert_array_equal(grid.numbers(2 * place), expected)
        np.testing.assert_array_equal(tokens.numbers(2 * place), expected)
        np.testing.assert_array_equal(grid.halves(2 * place), tokens.halves(2 * place))
    assert grid.column(1) == tokens.column(1) == [b"float"]


@pytest.mark.parametrize(("word", "half"), [(b"12.34", 0.005), (b"1234.5", 0.05), (b"12345", 0.5), (b"1e+06", 5e5)])
def test_half_of_the_last_digit(word, half):
    text = b"\n " + word + b"\n " + word
    for way in (words._tokens, words._grid):
        assert way(text, 2, 1).halves(0) == pytest.approx([half, half])


@pytest.mark.parametrize(
    "text",
    [b"\n1 2\n3", b"\n1 2\n3 4 5", b"\n1 23\n1234", b"\n12 3\n 1 3 4"],
)
def test_lines_of_other_numbers_of_words_are_refused(text):
    assert words.of(text, 2, 2) is None


@pytest.mark.parametrize("word", [b"1.2.3", b".", b"N/A", b"1-2", b"X.XX"])
def test_a_word_that_is_no_number(word):
    text = (b"\n" + word) * 2
    for way in (words._tokens, words._grid):
        with pytest.raises(ValueError, match=r"."):
            way(text, 2, 1).numbers(0)


def test_a_number_longer_than_a_float_is_exact_to_a_float():
    text = b"\n12345678901234567890.5\n00000000000000000000.1"
    assert words.of(text, 2, 1).numbers(0).tolist() == [12345678901234567890.5, 0.1]
