"""Whether we were started as one of several ranks: mpirun, mpiexec and srun say so in the environment.

What belongs here: LAUNCHERS and how their variables are read. Not MPI itself (``world``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

UNKNOWN = 0
"""Number of ranks where a launcher does not say."""
LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("PALS_SIZE", "PALS_RANKID"),
    ("FLUX_JOB_SIZE", "FLUX_TASK_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
    ("", "PMIX_RANK"),
)
"""(number of ranks, rank): Open MPI, MVAPICH2, MPICH and Intel MPI, Cray PALS, Flux, a job step of Slurm's srun, any other
with PMIx (which does not say how many). The first that is set counts: an mpirun in a batch job is nearer than the job.

A Slurm batch script and salloc's shell have SLURM_PROCID and SLURM_NTASKS too, but are one process; the number of tasks of a
step is set by srun only."""


@dataclass(frozen=True, slots=True)
class Launched:
    """What the launcher says: our rank of how many (or UNKNOWN), and which variable told."""

    rank: int
    size: int
    told_by: str


def launched(environment: Mapping[str, str] = os.environ) -> Launched | None:
    """What the launcher says where it started several ranks; None where we are on our own."""
    for size_name, rank_name in LAUNCHERS:
        size, rank = environment.get(size_name, "" if size_name else str(UNKNOWN)), environment.get(rank_name, "")
        if size.isdecimal() and rank.isdecimal():
            return Launched(int(rank), int(size), size_name or rank_name) if int(size) != 1 else None
    return None
