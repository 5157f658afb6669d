"""Lasting changes of the time of a step: from where to where steps take how long.

What belongs here: cutting a run into stretches of one level. A slow step, a drift and noise that hangs together are no change:
a change is a jump from one level to another, each of which lasts.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hopline.records.step_log import Numbers, Seconds

LEAST = 0.05
"""Relative change of a level that is told."""
BLOCK, MOST_BLOCKS = 5, 250
"""Lines of a block at least, whose median stands for them: two slow steps in one do not move it; blocks of a run at most."""
SHORTEST = 3
"""Blocks of a stretch at least."""
MOST_CUTS = 6
"""More are no changes, but noise or a drift."""
SIGMAS = 4.0
"""A change is so many times what blocks scatter by within stretches."""
SUDDEN = 0.6
"""Share of a change that has come within SHORTEST blocks of it; a drift comes slowly."""
_ROBUST = 1.4826


def cuts(time: Seconds) -> tuple[int, ...]:
    """Lines of a run at which another level begins, in order. ``time``: seconds of each line, shape (lines,)."""
    width = max(BLOCK, -(-len(time) // MOST_BLOCKS))
    count = len(time) // width
    if count < 2 * SHORTEST:
        return ()
    blocks = np.median(time[: count * width].reshape(count, width), axis=1)
    found = _joined(blocks, _split(blocks))
    if len(found) > MOST_CUTS or not all(_real(blocks, found, place) for place in range(len(found))):
        return ()
    edges = [0, *found, count]
    levels = [float(np.median(blocks[a:b])) for a, b in pairwise(edges)]
    return tuple(_exact(time, cut * width, width, levels[i : i + 2]) for i, cut in enumerate(found))


def _split(blocks: Seconds) -> list[int]:
    """Cuts with the least sum of squares and a price for each, by dynamic programming over all places of the last cut."""
    noise = max(_ROBUST * float(np.median(np.abs(np.diff(blocks)))) / 2**0.5, 1e-3 * float(np.median(blocks)))
    price = 3 * float(np.log(len(blocks))) * noise**2
    one, two = (np.concatenate(([0.0], np.cumsum(blocks**power))) for power in (1, 2))
    best = np.full(len(blocks) + 1, np.inf)
    best[0] = -price
    last = np.zeros(len(blocks) + 1, np.int64)
    for end in range(SHORTEST, len(blocks) + 1):
        begin: Numbers = np.arange(end - SHORTEST + 1)
        squares = two[end] - two[begin] - (one[end] - one[begin]) ** 2 / (end - begin)
        costs = best[begin] + squares + price
        last[end] = int(np.argmin(costs))
        best[end] = costs[last[end]]
    found: list[int] = []
    end = int(last[-1])
    while end > 0:
        found.append(end)
        end = int(last[end])
    return found[::-1]


def _joined(blocks: Seconds, found: list[int]) -> list[int]:
    """Cuts between stretches whose levels differ by less than LEAST taken away, the smallest first."""
    found = list(found)
    while found:
        levels = [float(np.median(blocks[a:b])) for a, b in pairwise([0, *found, len(blocks)])]
        steps = [abs(b / a - 1) for a, b in pairwise(levels)]
        least = int(np.argmin(steps))
        if steps[least] >= LEAST:
            break
        del found[least]
    return found


def _real(blocks: Seconds, found: list[int], place: int) -> bool:
    """Whether a cut is a jump: larger than the scatter within its stretches, and most of it at once."""
    edges = [0, *found, len(blocks)]
    before, after = (blocks[edges[place + i] : edges[place + i + 1]] for i in (0, 1))
    change = float(np.median(after) - np.median(before))
    scatter = max(float(np.std(before)), float(np.std(after)))
    sudden = float(np.median(after[:SHORTEST]) - np.median(before[-SHORTEST:]))
    return abs(change) > SIGMAS * scatter and sudden / change > SUDDEN


def _exact(time: Seconds, line: int, width: int, levels: list[float]) -> int:
    """The line within a block of ``line`` at which time goes from the first of two levels to the second."""
    begin, end = max(0, line - width), min(len(time), line + width)
    near = time[begin:end]
    first, second = (np.abs(near - level) for level in levels)
    costs = np.concatenate(([0.0], np.cumsum(first))) + np.concatenate((np.cumsum(second[::-1])[::-1], [0.0]))
    return begin + int(np.argmin(costs))
