"""Collectives on another machine, or by another algorithm: what they take there in place of what was measured.

What belongs here: which collectives have a price, and what becomes of those that have none. Prices come in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError
from hopline.quantity import counted
from hopline.records.trace import NONE, Collective
from hopline.records.what_if import Swap
from hopline.schedule.activities import COMMUNICATION
from hopline.study.changing import PICOSECONDS, Changed, Priced, Setting
from hopline.study.replaying import Inferred

Told = Mapping[tuple[int, int], Collective]
"""(number of the trace, row) -> what its file says of a collective."""
BARRIER = "barrier"


class _Transfer(NamedTuple):
    """Rows of one collective, and what it moves among whom."""

    rows: NDArray[np.intp]
    op: str
    size: int | None
    ranks: tuple[int, ...]


class _Kind(NamedTuple):
    op: str
    size: int
    ranks: int
    algorithm: str
    waits: bool
    there: float


def priced(inferred: Inferred, setting: Setting) -> Changed:
    """Collectives take what ``setting.price`` says in place of what was measured."""
    made = inferred.activities
    work, sure = made.work.copy(), made.work.copy()
    left: Counter[str] = Counter()
    swapped: dict[_Kind, list[float]] = defaultdict(list)
    for one in _transfers(inferred):
        found, why = _price(one, setting)
        if found is None:
            left[why] += 1
            continue
        mixed = bool((made.kind[one.rows] == COMMUNICATION).any())
        kind = _Kind(one.op, one.size or 0, len(one.ranks), found.algorithm, mixed, found.time)
        swapped[kind].append(float(np.median(made.work[one.rows])) / PICOSECONDS)
        for column in (work,) if mixed else (work, sure):
            column[one.rows] = round(found.time * PICOSECONDS)
    reasons = ", ".join(f"{count} {why}" for why, count in left.most_common())
    if not swapped:
        raise InputError(_none(left.total(), reasons))
    told = [f"{counted(left.total(), 'collective')} kept their measured time: {reasons}"] if left else []
    waits = any(kind.waits for kind in swapped)
    told += ["waiting that the traces cannot tell from transfer is gone with what was measured"] if waits else []
    surely = replace(made, work=sure) if waits else None
    return Changed(replace(made, work=work), tuple(told), prices=_swaps(swapped), surely=surely)


def collectives_of(inferred: Inferred) -> Told:
    """What the files say of their collectives."""
    return {(number, one.row): one for number, trace in enumerate(inferred.traces) for one in trace.collectives}


def members(inferred: Inferred, number: int, told: Told) -> tuple[int, ...]:
    """Ranks of the job that take part in a meeting, () where the traces do not say."""
    met = inferred.meetings[number]
    collective = told.get((int(met.traces[0]), int(met.row[0])))
    if collective is not None and collective.ranks:
        return collective.ranks
    own = tuple(inferred.traces[number].rank for number in met.traces.tolist())
    known = tuple(sorted(rank for rank in own if rank is not None))
    return known if len(known) == (met.ranks or len(own)) and not met.missing else ()


def _transfers(inferred: Inferred) -> Iterator[_Transfer]:
    """All collectives: those that are joined, and of the others each rank's own."""
    made, told = inferred.activities, collectives_of(inferred)
    order = np.argsort(made.meeting, kind="stable")
    numbers, first = np.unique(made.meeting[order], return_index=True)
    for number, rows in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
        if number != NONE:
            met = inferred.meetings[number]
            yield _Transfer(rows, met.op, met.size, members(inferred, number, told))
    for row in np.flatnonzero((made.meeting == NONE) & (made.kind == COMMUNICATION)).tolist():
        one = told[int(made.rank[row]), int(inferred.event[row])]
        yield _Transfer(np.array([row]), one.op, one.size, one.ranks)


def _price(one: _Transfer, setting: Setting) -> tuple[Priced | None, str]:
    """What it takes there; or why that is not known."""
    if setting.price is None:
        raise InputError("no machine was given: expected one that the collectives are put on")
    size = 0 if one.op == BARRIER else one.size
    if size is None or len(one.ranks) < 2:
        missing = [name for name, gone in (("size", size is None), ("ranks", len(one.ranks) < 2)) if gone]
        return None, f"{one.op} of unknown {' and '.join(missing)}"
    found = setting.price(one.op, size, one.ranks)
    return found, "" if found else f"{one.op} that no algorithm stands for"


def _none(count: int, reasons: str) -> str:
    if not count:
        return "the traces have no collectives that could be put on another machine: expected some"
    return (
        f"none of {counted(count, 'collective')} can be put on another machine: {reasons}; expected sizes and ranks, as "
        "PyTorch writes them since 2024"
    )


def _swaps(swapped: Mapping[_Kind, list[float]]) -> tuple[Swap, ...]:
    """One row a kind, from most measured time."""
    rows = [
        Swap(kind.op, kind.size, kind.ranks, len(each), float(np.mean(each)), kind.there, kind.algorithm, kind.waits)
        for kind, each in swapped.items()
    ]
    return tuple(sorted(rows, key=lambda row: -row.times * row.measured))
