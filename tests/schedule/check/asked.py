"""Shapes to build every entry of COLLECTIVES with: fields that it uses get values, all others stay as they are."""

import math

from hopline.errors import HoplineError
from hopline.schedule.shape import Shape

CHUNKS = 3
CHANNELS = 2


def levels(ranks):
    """Ways to lay ranks out: (inner, outer), and three levels where there are enough factors; a prime is one level."""
    inner = next((n for n in range(math.isqrt(ranks), 1, -1) if ranks % n == 0), ranks)
    ways = [(inner, ranks // inner), (ranks // inner, inner)]
    if ranks % 8 == 0:
        ways.append((2, 2, ranks // 4))
    return list(dict.fromkeys(ways))


def shapes(entry, ranks, size):
    """Shapes for an entry; several where it knows levels."""
    fields = {
        "chunks": CHUNKS,
        "channels": CHANNELS,
        "targets": max(1, ranks // 2),
    }
    more = {name: value for name, value in fields.items() if name in entry.uses}
    laid = levels(ranks) if "levels" in entry.uses else [()]
    return [Shape(ranks, size, levels=way, **more) for way in laid]


def built(entry, ranks, size):
    """Schedules of an entry; none for shapes that it refuses."""
    made = []
    for shape in shapes(entry, ranks, size):
        try:
            made.append(entry.build(shape))
        except HoplineError:
            continue
    return made
