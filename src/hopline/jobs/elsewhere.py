"""What collectives of a traced step would take on another machine, or by another algorithm.

What belongs here: schedules of COLLECTIVES, simulated on the ranks that take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from hopline.errors import InputError, UnknownNameError
from hopline.machine.fabric import Fabric
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import NONE, Schedule
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate
from hopline.study.changing import Price, Priced

USUAL: Mapping[str, str] = {
    "all_reduce": "ring", "all_gather": "ring", "reduce_scatter": "ring", "alltoall": "pairwise", "broadcast": "chain",
    "reduce": "chain", "gather": "direct", "scatter": "direct", "barrier": "dissemination",
}  # fmt: skip
"""Algorithms that collectives are put on a machine with, where none is named."""
MESSAGE = "send"
"""What is one message, from one rank to another."""


def priced_on(fabric: Fabric, algorithms: Mapping[str, str] | None = None) -> Price:
    """What collectives take on ``fabric``, simulated; ``algorithms``: op -> algorithm of COLLECTIVES (USUAL where not named).

    The price raises InputError for ranks that the fabric has not got, UnknownNameError for an unknown algorithm.
    """
    chosen = {**USUAL, **(algorithms or {})}

    @cache
    def price(op: str, size: int, ranks: tuple[int, ...]) -> Priced | None:
        if op != MESSAGE and op not in chosen:
            return None
        key = f"broadcast-{USUAL['broadcast']}" if op == MESSAGE else f"{op}-{chosen[op]}"
        if key not in COLLECTIVES:
            raise UnknownNameError("algorithm", key, [name for name in COLLECTIVES if name.startswith(f"{op}-")])
        if max(ranks) >= fabric.ranks:
            raise InputError(
                f"rank {max(ranks)} on {fabric.name} with {fabric.ranks} ranks: expected a machine of all ranks"
            )
        made = COLLECTIVES[key].build(Shape(len(ranks), size))
        return Priced(
            simulate(_placed(made, ranks, fabric.ranks), fabric).time, "message" if op == MESSAGE else chosen[op]
        )

    return price


def _placed(made: Schedule, ranks: tuple[int, ...], count: int) -> Schedule:
    """A schedule on some of ``count`` ranks."""
    place = np.array([*ranks, NONE], np.int32)
    columns = made.columns
    moved = replace(columns, rank=place[columns.rank], peer=place[columns.peer])
    return replace(made, ranks=count, columns=moved, promise=None)
