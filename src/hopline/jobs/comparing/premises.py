"""On which premises formula and simulation stand beside what real ranks took.

What belongs here: what a run and a machine say of each, and what comes of those that are broken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hopline.jobs.executing import Cell, Ran
from hopline.jobs.fitting import ENDS
from hopline.machine.executor import Executor
from hopline.machine.topology import Machine
from hopline.quantity import counted, show
from hopline.records.comparison import RANKS_FIT
from hopline.records.estimate import Premise
from hopline.records.sample import Sample
from hopline.schedule.operations import COPY, REDUCE, SEND
from hopline.show.executed import HIGH, LOW

UNSTEADY = 5.0
"""A spread that repeats on cores of their own do not have."""
PAIRS_ALIKE = "all pairs of ranks are like the pair that was measured"
FREE = "the executor costs nothing"
STEADY = "the machine is steady"
NO_LARGER = "steps are no larger than those measured"


def of_link(machine: Machine, sample: Sample, priced: bool) -> list[Premise]:
    """A machine of hopline measure has a link of MPI, and of two ranks."""
    if not priced or set(machine.nodes) != set(ENDS):
        return []
    told = [Premise(PAIRS_ALIKE, "unknown", matters=True)] if sample.ranks > 2 else []
    if not sample.transport.startswith("mpi"):
        whose = f"{machine.name}'s link is one of {sample.transport}"
        told.append(Premise(whose, "broken", "it was measured over MPI", matters=True))
    return told


def of_run(ran: Ran, cells: Sequence[Cell], executor: Executor | None) -> list[Premise]:
    """What has to hold of the ranks and of their executor for a comparison to mean something."""
    sample = cells[0].sample
    assert sample is not None
    spread = _spread(cells)
    told = [_cores(ran, spread)]
    if not ran.crowded and spread > UNSTEADY:
        effect = (
            f"95 % of the repeats over 5 % of them is up to {spread:.3g}: does other work share the cores? Run it again"
        )
        told.append(Premise(STEADY, "broken", effect, matters=True))
    if executor is None:
        how = f"hopline measure --what executor over {sample.transport}, started the same way, tells what single steps cost"
        return [*told, Premise(FREE, "broken", how, matters=True)]
    if sample.ranks > 2:
        told.append(Premise(f"a step costs with {sample.ranks} ranks what it costs with 2", "unknown", matters=True))
    largest = max((int(cell.found.schedule.columns.size[_moves(cell)].max(initial=0)) for cell in cells), default=0)
    if largest > executor.largest:
        by = f"the largest has {show(largest, 'size')}, measured is up to {show(executor.largest, 'size')}"
        told.append(Premise(NO_LARGER, "broken", by, matters=True))
    return told


def _moves(cell: Cell) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(cell.found.schedule.columns.kind, (SEND, COPY, REDUCE))
    return found


def _spread(cells: Sequence[Cell]) -> float:
    """The largest ratio of the slow repeats of a size to its quick ones."""
    times = [np.quantile(cell.sample.times, (LOW, HIGH)) for cell in cells if cell.sample is not None]
    return max(float(high / low) for low, high in times)


def _cores(ran: Ran, spread: float) -> Premise:
    """The premise that each rank has a core of its own, with what comes of it where it is broken."""
    if ran.started is None:
        return Premise(
            RANKS_FIT, "unknown", "all repeats were in the samples file, which does not say on how many cores"
        )
    if not ran.crowded:
        return Premise(RANKS_FIT, "holds")
    where = "; ".join(f"{ranks} ranks on {counted(cores, 'core')} of {host}" for host, ranks, cores in ran.crowded)
    effect = f"{where}; 95 % of the repeats over 5 % of them is up to {spread:.3g}: nothing is judged"
    return Premise(RANKS_FIT, "broken", effect, matters=True)
