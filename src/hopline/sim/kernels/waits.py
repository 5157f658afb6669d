"""Who waits for whom, row by row.

What belongs here: from lanes, ``after`` and pairs to the rows that wait for each.
"""

from hopline.sim.kernels.compiled import kernel

FREE = 255


@kernel
def above(lane, rank, last, before):
    """Fills ``before`` with the row above on the lane; ``last``: -1 for each lane of each rank."""
    for row in range(len(lane)):
        if lane[row] != FREE:
            before[row] = last[rank[row], lane[row]]
            last[rank[row], lane[row]] = row


@kernel
def count(before, after, pairs, pending, to):
    """How many rows each waits for, and in ``to`` where the rows that wait for each begin."""
    for row in range(len(before)):
        for other in (before[row], after[row]):
            if other >= 0:
                pending[row] += 1
                to[other + 1] += 1
    for place in range(len(pairs)):
        pending[pairs[place, 0]] += 1
        to[pairs[place, 1] + 1] += 1
    for row in range(len(to) - 1):
        to[row + 1] += to[row]


@kernel
def fill(before, after, pairs, places, waiting):
    """The rows that wait for each, in their order. ``places``: where those of each begin; then where they end."""
    at = 0
    for row in range(len(places)):
        if len(before) > 0:
            for other in (before[row], after[row]):
                if other >= 0:
                    waiting[places[other]] = row
                    places[other] += 1
        while at < len(pairs) and pairs[at, 0] == row:
            other = pairs[at, 1]
            waiting[places[other]] = row
            places[other] += 1
            at += 1
