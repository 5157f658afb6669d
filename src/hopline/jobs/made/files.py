"""Made steps as files: a trace a rank, and the truth beside them.

What belongs here: names of files, the truth as JSON, and an example for whoever has no traces yet.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hopline.errors import OutputError
from hopline.formats.kineto.writing import write_kineto
from hopline.formats.schedules.bounded import new_file
from hopline.jobs.evidence_files import TRUTH
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import Made, make
from hopline.jobs.made.tracing import Profiling

EXAMPLE = Job(gradients=64 << 20, noise=0.02, seed=1, slow={5: 1.2})
"""Eight ranks, of which rank 5 is slow."""
SEEN = Profiling(skew=2e-3, seed=1)


def write_example(folder: str) -> list[str]:
    """Write the traces of EXAMPLE, and the truth beside them, to a folder that is new or empty; the traces' paths.

    Raises OutputError where something is in the folder, or it cannot be made.
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise OutputError(f"{folder} is there and not empty: give the name of a new folder")
    return write(make(EXAMPLE, profiling=SEEN), folder)[:-1]


def write(made: Made, folder: str) -> list[str]:
    """Write ``rank0.pt.trace.json.gz`` and so on and ``truth.json`` to a folder, made where it is not there; their paths.

    Raises OutputError where a file exists or cannot be written.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made a folder: {error.strerror}") from None
    paths = [str(place / f"rank{trace.rank}.pt.trace.json.gz") for trace in made.traces]
    for trace, path in zip(made.traces, paths, strict=True):
        write_kineto(trace, path)
    truth = str(place / TRUTH)
    with new_file(truth) as file:
        file.write((json.dumps(as_data(made), indent=1) + "\n").encode())
    return [*paths, truth]


def as_data(made: Made) -> dict[str, Any]:
    """The truth for people and programs: seconds, nanoseconds where the name says so."""
    met = [
        {
            "op": each.joined.op, "group": each.joined.group, "number": each.joined.sequence, "ranks": each.joined.ranks,
            "bytes": each.joined.size, "last": each.last, "margin_ns": each.margin, "transfer_ns": each.transfer,
        }
        for each in made.truth.met
    ]  # fmt: skip
    job = {name: dict(value) if name.startswith("slow") else value for name, value in _fields(made).items()}
    truth = made.truth
    return {
        "job": job, "makespan": truth.makespan, "finish_ns": truth.finish, "exposed_ns": truth.exposed,
        "clocks_ahead_ns": truth.ahead, "collectives": met,
    }  # fmt: skip


def _fields(made: Made) -> dict[str, Any]:
    """Fields of the job."""
    return {name: getattr(made.job, name) for name in made.job.__slots__}
