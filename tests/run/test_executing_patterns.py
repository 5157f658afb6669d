"""The bytes that ranks start with, and how surely a wrong one is seen."""

from __future__ import annotations

import numpy as np
import pytest

from hopline.run.executing.part import parts_of
from hopline.run.executing.pattern import BLOCK, Filling, moved, values
from hopline.schedule.collectives.table import find
from hopline.schedule.shape import Shape

SEED = 7


def ended(name: str, ranks: int, size: int, repeat: int, rank: int = 0):
    """A filling, and what its rank must hold in the end, put together from the definition of an all_reduce's promise."""
    made = find(name).build(Shape(ranks, size))
    filling = Filling(parts_of(made)[rank], SEED)
    after = [buffer.copy() for buffer in filling.fill(repeat)]
    data = [values(SEED, r, 0, 0, size) + np.uint8(moved(SEED, r, repeat)) for r in range(ranks)]
    return filling, after, data


def test_values_are_odd_all_different_within_a_block_and_the_same_from_anywhere():
    found = values(SEED, 3, 0, 0, 50 * BLOCK)
    assert (found % 2 == 1).all()
    assert all(len(set(block.tolist())) == BLOCK for block in found.reshape(-1, BLOCK))
    for start, size in ((0, 1), (127, 2), (128, 0), (300, 1000), (6399, 1)):
        assert np.array_equal(values(SEED, 3, 0, start, size), found[start : start + size])
    assert abs(found.mean() - 128) < 2


def test_ranks_buffers_and_seeds_have_values_of_their_own():
    rows = [values(seed, rank, buffer, 0, 12800) for seed in (1, 2) for rank in (0, 1) for buffer in (0, 1)]
    for i, one in enumerate(rows):
        for other in rows[:i]:
            assert 0.002 < np.mean(one == other) < 0.02, "as often as chance has it: once in 128"


def test_repeats_move_values_by_even_numbers_that_differ():
    moves = [moved(SEED, rank, repeat) for rank in range(4) for repeat in range(-2, 30)]
    assert all(move % 2 == 0 and 0 <= move < 256 for move in moves)
    assert len(set(moves)) > 60


def test_bytes_without_data_are_even_and_given_ones_are_as_the_values_say():
    made = find("all_gather-ring").build(Shape(4, 999))
    part = parts_of(made)[2]
    filling = Filling(part, SEED)
    buffer = filling.fill(3)[0]
    own = slice(500, 750)
    assert np.array_equal(buffer[own], values(SEED, 2, 0, 500, 250) + np.uint8(moved(SEED, 2, 3)))
    rest = np.delete(buffer, np.arange(500, 750))
    assert (rest % 2 == 0).all()


@pytest.mark.parametrize("repeat", [-1, 0, 5])
def test_the_sum_of_all_ranks_is_accepted(repeat):
    filling, after, data = ended("all_reduce-ring", 3, 500, repeat)
    after[0][:] = sum(data)
    assert filling.difference(after) is None
    assert filling.checked == 500


def test_every_flipped_byte_is_seen_and_named():
    filling, after, data = ended("all_reduce-ring", 3, 300, 1)
    right = sum(data)
    for offset in range(300):
        after[0][:] = right
        after[0][offset] ^= 1 << offset % 8
        found = filling.difference(after)
        assert (found.rank, found.buffer, found.offset, found.wrong) == (0, "data", offset, 1)
        assert (found.expected, found.got) == (int(right[offset]), int(after[0][offset]))
        assert f"buffer data, offset {offset} is 0x{found.got:02x}, expected 0x{found.expected:02x}" in str(found)


def test_a_part_that_is_missing_or_there_twice_changes_every_byte():
    filling, after, data = ended("all_reduce-ring", 4, 1000, 2)
    for rank in range(4):
        for times in (0, 2, 3, 255):
            after[0][:] = sum(data) + data[rank] * np.uint8(times - 1 & 255)
            assert filling.difference(after).wrong == 1000
    after[0][:] = sum(data) - data[1] + data[2]
    assert filling.difference(after).wrong > 900, "one rank missing and another twice"


def test_every_byte_that_is_moved_by_less_than_a_block_is_seen():
    filling, after, data = ended("broadcast-binomial", 2, 1280, 0, rank=1)
    for by in (1, 2, 64, 127):
        after[0][:] = np.roll(data[0], by)
        inside = sum(1 for i in range(1280) if i // BLOCK == (i - by) // BLOCK)
        assert filling.difference(after).wrong >= inside


def test_bytes_of_another_repeat_are_seen():
    filling, after, _ = ended("broadcast-binomial", 2, 64, 4, rank=1)
    before = values(SEED, 0, 0, 0, 64) + np.uint8(moved(SEED, 0, 3))
    assert moved(SEED, 0, 3) != moved(SEED, 0, 4)
    after[0][:] = before
    assert filling.difference(after).wrong == 64


def test_a_byte_that_the_schedule_does_not_write_is_seen():
    made = find("broadcast-binomial").build(Shape(2, 64))
    filling = Filling(parts_of(made)[0], SEED)
    after = [buffer.copy() for buffer in filling.fill(0)]
    assert filling.difference(after) is None
    scatter = find("alltoall-pairwise").build(Shape(2, 64))
    filling = Filling(parts_of(scatter)[0], SEED)
    after = [buffer.copy() for buffer in filling.fill(0)]
    wanted = [values(SEED, r, 0, 0, 32) + np.uint8(moved(SEED, r, 0)) for r in (0, 1)]
    after[1][:] = np.concatenate(wanted)
    assert filling.difference(after) is None
    after[0][40] += 2
    found = filling.difference(after)
    assert found.untouched
    assert (found.buffer, found.offset) == (scatter.buffers[0].name, 40)
    assert "wrote a byte that the schedule does not write" in str(found)
