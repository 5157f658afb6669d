"""What a change would bring to a step of which there are traces.

What belongs here: traces, meetings, dependencies, the simulation and the price of collectives elsewhere handed to one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from hopline.errors import InputError, UnknownNameError
from hopline.machine.fabric import Fabric
from hopline.records.matched import Matched
from hopline.records.trace import Trace
from hopline.records.what_if import WhatIfs
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import NONE, Schedule
from hopline.schedule.shape import Shape
from hopline.sim.activities import simulate_activities
from hopline.sim.engine import simulate
from hopline.study.changing import Price, Priced
from hopline.study.dependencies import Dependencies, depend
from hopline.study.meetings import meet
from hopline.study.replaying import Inferred, activities
from hopline.study.what_if import ASKED, CHANGES, Question, what_if

USUAL: Mapping[str, str] = {
    "all_reduce": "ring", "all_gather": "ring", "reduce_scatter": "ring", "alltoall": "pairwise", "broadcast": "chain",
    "reduce": "chain", "gather": "direct", "scatter": "direct", "barrier": "dissemination",
}  # fmt: skip
"""Algorithms that collectives are put on a machine with, where none is named."""
MESSAGE = "send"
"""What is one message, from one rank to another."""


def what_ifs(
    traces: Sequence[Trace],
    questions: Sequence[Question],
    *,
    span: tuple[int, int] | None = None,
    matched: Matched | None = None,
    dependencies: Sequence[Dependencies] | None = None,
) -> WhatIfs:
    """Answers about the step of ``traces``; what is known of it already need not be worked out again.

    Raises InputError where the traces do not go together or a change cannot be made on them.
    """
    return what_if(inferred(traces, span, matched, dependencies), questions, simulate_activities)


def inferred(
    traces: Sequence[Trace],
    span: tuple[int, int] | None = None,
    matched: Matched | None = None,
    dependencies: Sequence[Dependencies] | None = None,
    step: int | None = None,
) -> Inferred:
    """The activities of ``traces``; ``step``: number of the step that ``span`` is."""
    together = meet(traces) if matched is None else matched
    depends = [depend(trace) for trace in traces] if dependencies is None else dependencies
    found = activities(traces, together.clocks, together.meetings, depends, span, step)
    return replace(found, premises=(*found.premises, *together.told))


def question(text: str, price: Price | None = None, words: str = "") -> Question:
    """``communication=2`` or ``free``, a name of CHANGES with its value. Raises InputError, UnknownNameError."""
    name, _, value = text.partition("=")
    if name not in CHANGES:
        raise UnknownNameError("change", name, ASKED)
    try:
        number = float(value.removeprefix("rank").removesuffix("x")) if value else None
    except ValueError:
        raise InputError(f"{text!r}: expected a number after the equals sign, as in {name}=2") from None
    return Question(name, number, price, words)


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
