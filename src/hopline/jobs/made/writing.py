"""Made-up traces as files: something to explain for whoever has none yet.

What belongs here: the example, and where it is put.
"""

from __future__ import annotations

from pathlib import Path

from hopline.errors import OutputError
from hopline.formats.kineto.writing import write_kineto
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import make
from hopline.jobs.made.tracing import Profiling

EXAMPLE = Job(gradients=64 << 20, noise=0.02, seed=1, slow={5: 1.2})
"""Eight ranks, of which rank 5 is slow."""
SEEN = Profiling(skew=2e-3, seed=1)


def write_example(folder: str, job: Job = EXAMPLE, seen: Profiling = SEEN) -> list[str]:
    """Write one trace a rank to a new (or empty) folder; the files.

    Raises OutputError where the folder has something in it or cannot be made.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise OutputError(f"{folder} is not empty: give the name of a new folder")
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from None
    files = []
    for trace in make(job, profiling=seen).traces:
        files.append(str(place / f"rank{trace.rank}.json.gz"))
        write_kineto(trace, files[-1])
    return files
