"""The bytes sent, and the first difference."""

from __future__ import annotations

import numpy as np
import pytest

from hopline.run.pattern import STRETCH, WINDOWS, Difference, Pattern, first_difference


def test_both_ranks_make_the_same_bytes():
    one, other = Pattern(5000, seed=3), Pattern(5000, seed=3)
    assert np.array_equal(one.window(0, 5000, 7), other.window(0, 5000, 7))
    assert not np.array_equal(one.window(0, 5000, 7), Pattern(5000, seed=4).window(0, 5000, 7))


def test_windows_differ_by_rank_iteration_and_size():
    pattern = Pattern(64, seed=1)
    windows = {pattern.window(rank, 64, step).tobytes() for rank in (0, 1) for step in range(WINDOWS // 2)}
    assert len(windows) == WINDOWS // 2 * 2
    assert not np.array_equal(pattern.window(0, 32, 1), pattern.window(0, 64, 1)[:32])


@pytest.mark.parametrize("size", [0, 1, 4096, 5000])
def test_window_is_as_long_as_asked_for_any_iteration(size):
    pattern = Pattern(5000, seed=1)
    assert {len(pattern.window(1, size, step)) for step in range(3 * WINDOWS)} == {size}


@pytest.mark.parametrize("at", [0, 1, STRETCH - 1, STRETCH, 2 * STRETCH + 5])
def test_first_difference_is_found_in_every_stretch(at):
    sent = Pattern(2 * STRETCH + 6, seed=1).window(0, 2 * STRETCH + 6, 1)
    got = sent.copy()
    got[at] ^= 0xFF
    got[-1] ^= 0xFF if at != len(got) - 1 else 0
    assert first_difference(1, sent, got) == Difference(1, at, int(sent[at]), int(sent[at]) ^ 0xFF)


def test_equal_and_empty_rows_have_no_difference():
    row = np.arange(200, dtype=np.uint8)
    assert first_difference(0, row, row.copy()) is None
    assert first_difference(0, row[:0], row[:0]) is None
