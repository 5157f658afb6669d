"""The α-β closed form of a measured collective, by the line of sends measured beside it.

What belongs here: which sends are those of a table, and the price of an algorithm on ranks that all send like that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as File

import numpy as np

from hopline.curve import Curve, Floats
from hopline.errors import HoplineError, InputError
from hopline.formats.source import shown
from hopline.jobs import fitting
from hopline.jobs.benchmarks import is_single
from hopline.jobs.collectives.ground import Ground
from hopline.jobs.collectives.pricing import Contender, contenders, fastest
from hopline.jobs.comparing.told import Told
from hopline.machine.fabric import Level, Levels
from hopline.model.nccl.devices import architecture_of, meets_in_switches
from hopline.quantity import counted, show
from hopline.records.comparison import Column
from hopline.records.estimate import Premise, Status
from hopline.records.table import Table
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.study.alternating import line_of
from hopline.study.points import Points

CLOSED_FORM = "closed form"
RING, FASTEST = "ring", "fastest"
_WHY = "what libraries run; the fastest form on paper may be one that they have not got"
COLLECTIVE = frozenset(entry.benchmark for entry in COLLECTIVES.values())
"""Benchmarks with a closed form."""


@dataclass(frozen=True, slots=True, eq=False)
class Sends:
    """A table of single sends: its line, which file and table (from 1) it is, and the table."""

    curve: Curve
    source: str
    number: int
    table: Table

    @property
    def within(self) -> bool | None:
        """Whether both ranks were on one node; None: the file does not say."""
        each = self.table.facts.get("devices_per_node")
        return each > 1 if isinstance(each, int) else None

    def __str__(self) -> str:
        piece = self.curve.pieces[0]
        rate = "any size alike" if np.isinf(piece.bandwidth) else f"m / {show(piece.bandwidth, 'bandwidth')}"
        return f"{show(piece.latency, 'time')} + {rate} (table {self.number} of {shown(File(self.source).name)})"


def sends_of(file: str, number: int | None = None) -> list[Sends]:
    """The tables of single sends of a file, or the one of that number. Raises FormatError, InputError where there is none."""
    found, reasons = [], []
    for place, table in enumerate(fitting.read(file).tables, 1):
        if number not in (None, place):
            continue
        if not is_single(table.benchmark) or table.measure != "time":
            reasons.append(f"{fitting.titled(table)} is none")
            continue
        try:
            found.append(Sends(line_of(Points.of(table.size, table.time)), file, place, table))
        except HoplineError as error:
            reasons.append(f"{fitting.titled(table)}: {error}")
    if not found:
        told = "; ".join(dict.fromkeys(reasons)) or f"it has no table {number}"
        raise InputError(f"{shown(file)} has no table of single sends that carries a line: {told}")
    return found


def closed_form(told: Told, size: Floats, sends: list[Sends], algorithm: str) -> tuple[Column, tuple[Premise, ...]]:
    """Seconds by the closed form of ``algorithm`` (FASTEST: of whichever is fastest), for ranks that all send alike.

    RING is the fastest, too, for collectives that have no ring. Raises HoplineError with the reason where nothing can be said.
    """
    if told.ranks is None:
        raise InputError(told.no_ranks)
    if not sends:
        raise InputError("no sends are given (--sends FILE)")
    chosen = _chosen(sends, told)
    sizes = [int(one) for one in size]
    ground = Ground(Levels([Level(told.ranks, chosen.curve)], name="sends"), None, max(1, told.ranks // 2))
    if algorithm == RING and f"{told.benchmark}-{RING}" in COLLECTIVES:
        contender = Contender(COLLECTIVES[f"{told.benchmark}-{RING}"], ground)
        time = np.array([contender.seconds(one) for one in sizes])
        basis = f"ring, each message a send of {chosen}: {_WHY}"
        return Column(CLOSED_FORM, basis, time), _premises(told, chosen)
    taking, _ = contenders(told.benchmark, ground, sizes)
    if algorithm not in (RING, FASTEST):
        taking = [one for one in taking if one.entry.algorithm == algorithm]
        if not taking:
            raise InputError(f"{told.benchmark} has no algorithm {algorithm} for {counted(told.ranks, 'rank')}")
    best = [fastest(taking, one)[0] for one in sizes]
    time = np.array([one.seconds(m) for one, m in zip(best, sizes, strict=True)])
    ways = tuple(one.entry.algorithm for one in best)
    basis = f"{ways[0] if len(taking) == 1 else 'the fastest of all algorithms'}, each message a send of {chosen}"
    return Column(CLOSED_FORM, basis, time, ways if len(taking) > 1 else ()), _premises(told, chosen)


def _chosen(sends: list[Sends], told: Told) -> Sends:
    """The table of sends whose two ranks lie as those of the collective do."""
    name = sends[0].table.facts.get("machine") or sends[0].table.facts.get("device")
    theirs = architecture_of(str(name or ""))
    if theirs and told.architecture and theirs != told.architecture:
        raise InputError(f"the sends are of {name} ({theirs}), the table is of {told.machine or told.architecture}")
    if len(sends) == 1:
        return sends[0]
    alike = [one for one in sends if told.nodes is not None and one.within is (told.nodes == 1)]
    if len(alike) != 1:
        numbers = ", ".join(str(one.number) for one in sends)
        raise InputError(
            f"several tables of sends would do ({numbers} of {shown(File(sends[0].source).name)}): choose with --sends-table"
        )
    return alike[0]


def _premises(told: Told, sends: Sends) -> tuple[Premise, ...]:
    theirs = str(sends.table.facts.get("machine") or sends.table.facts.get("device") or "")
    text = "sends were measured on the machine of the table"
    if theirs and told.machine and theirs != told.machine:
        text += f": they are of {theirs}, the table of {told.machine}"
    differ = {True, False} == {meets_in_switches(theirs), told.switched}
    status: Status = "holds" if theirs and theirs == told.machine else "broken" if differ else "unknown"
    return (
        Premise(text, status, matters=status != "holds"),
        Premise("every message of the collective pays the whole start-up of a send", "unknown", matters=True),
    )
