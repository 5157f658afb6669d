"""A schedule by its name or from a file.

What belongs here: finding it, and making one name's schedule for ranks and bytes. What is done with it is elsewhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path as File

from hopline.errors import InputError, UnknownNameError
from hopline.formats.schedules.contents import Asked, Contents
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.collectives.names import several
from hopline.jobs.loading import resolve
from hopline.model.collective.table import FORMS
from hopline.schedule.collectives.table import COLLECTIVES, Collective
from hopline.schedule.operations import Schedule
from hopline.schedule.shape import Shape

MOST_ROWS = 200_000_000
"""Of a schedule made here: 8 GB."""


@dataclass(frozen=True, slots=True)
class Found:
    """A schedule, and where it comes from: an entry of COLLECTIVES with its shape, or a file.

    ``numbered``: its ranks are numbers of nodes in a topology file, where switches have numbers too.
    """

    schedule: Schedule
    entry: Collective | None = None
    shape: Shape | None = None
    file: File | None = None
    remarks: tuple[str, ...] = ()
    numbered: bool = False


def entry_of(name: str) -> Collective | None:
    """The entry of a name; the collective may be named as other tools do: ``allreduce-ring``. None: there is none."""
    collective, _, algorithm = name.partition("-")
    return COLLECTIVES.get(name) or COLLECTIVES.get(f"{benchmark_of(collective)}-{algorithm}")


def built(entry: Collective, shape: Shape) -> Found:
    """The schedule of an entry. Raises InputError for more rows than memory would hold."""
    messages = FORMS[entry.name](shape).messages
    if messages * shape.ranks * 2 > MOST_ROWS:
        raise InputError(
            f"{entry.name} of {shape.ranks} ranks has about {messages * shape.ranks * 2:.1e} operations: expected at most "
            f"{MOST_ROWS:.0e}"
        )
    return Found(entry.build(shape), entry, shape)


def read(name: str, size: int | None, ranks: int | None = None) -> Found:
    """The schedule of a file.

    ``size``: bytes that its chunks stand for, where it counts in chunks; ``ranks``: how many are expected. Raises InputError
    for a collective's name without its algorithm, UnknownNameError where there is no file, and what readers raise.
    """
    reading = resolve("hopline.formats.schedules.table:read")(str(file_of(name)), Asked(size, ranks))
    numbered = reading.contents.format in NUMBERED
    return Found(reading.schedule, file=File(name), remarks=reading.remarks, numbered=numbered)


NUMBERED = ("ns3-flow",)
"""Formats whose ranks are numbers of nodes."""


ENDINGS = {".goal": "goal", ".xml": "msccl"}
"""Ending of a file -> its format."""


def write(schedule: Schedule, to: File, format_: str | None) -> tuple[str, tuple[str, ...]]:
    """Write a schedule to a new file: (format, what a reader of it should know). Raises InputError for an unknown ending."""
    known = format_ or ENDINGS.get(File(to.name.removesuffix(".gz")).suffix.lower())
    if known is None:
        raise InputError(f"{to} ends in none of {', '.join(ENDINGS)}: give --format")
    remarks: tuple[str, ...] = resolve("hopline.formats.schedules.table:write_schedule")(schedule, str(to), known)
    return known, remarks


def contents(name: str) -> Contents:
    """What a file holds by its own count, whether or not a schedule can be made of it."""
    found: Contents = resolve("hopline.formats.schedules.table:contents")(str(file_of(name)))
    return found


def file_of(name: str) -> File:
    """The file of that name. Raises InputError and UnknownNameError where there is none."""
    file = File(name)
    if not os.path.exists(file):
        algorithms = [known for known in COLLECTIVES.values() if known.benchmark == benchmark_of(name)]
        if algorithms:
            raise InputError(several(name, algorithms))
        if os.sep in name or file.suffix:
            raise InputError(f"{name}: no such file (hopline schedule list has the names of collectives)")
        raise UnknownNameError("schedule or file", name, COLLECTIVES)
    return file
