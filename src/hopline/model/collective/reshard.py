"""Closed form of a reshard.

What belongs here: what each port has to carry; the busiest one is never idle.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from hopline.model.collective.rounds import Abreast, Form, Rounds
from hopline.schedule.collectives.reshard import parts_of
from hopline.schedule.shape import Shape


def direct(shape: Shape) -> Form:
    """All ports at the same time, each one message after the other (``turns`` says why none of the busiest waits)."""
    _, size, holder, target = parts_of(shape)
    ports: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for bytes_, one, other in zip(size.tolist(), holder.tolist(), target.tolist(), strict=True):
        ports["out", one][bytes_] += 1
        ports["in", other][bytes_] += 1
    loads = {tuple(sorted(load.items(), reverse=True)): None for load in ports.values()}
    ways = tuple(tuple(Rounds(count, bytes_) for bytes_, count in load) for load in loads)
    sent = -(-shape.size // (shape.ranks - shape.targets)) if shape.ranks > shape.targets else 0
    return Form((Abreast(1, ways),) if ways else (), sent)
