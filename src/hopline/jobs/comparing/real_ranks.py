"""Formula and simulation beside what real ranks took.

What belongs here: asking each for a schedule that was run, and the premises on which they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.errors import HoplineError, InputError
from hopline.jobs import networks, simulating
from hopline.jobs.comparing.premises import of_link, of_run
from hopline.jobs.executing import Cell, Ran
from hopline.jobs.fitting import ENDS
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.machine.executor import Executor
from hopline.machine.fabric import Level
from hopline.machine.topology import Machine
from hopline.model.collective.rounds import bounds
from hopline.quantity import counted, show
from hopline.records.comparison import Column, Comparison
from hopline.records.timeline import TICK, Timeline
from hopline.schedule.operations import COPY, RECV, REDUCE, SEND, Schedule
from hopline.show.executed import HIGH, LOW

FORMULA, SIMULATION = "formula", "simulation"
FIRST, OWN, MESSAGES, ADDING, COPYING, COMPUTE = TERMS = (
    "first message", "executor", "messages", "adding up", "copying", "compute",
)  # fmt: skip
_WORK = {SEND: MESSAGES, RECV: MESSAGES, REDUCE: ADDING, COPY: COPYING}


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """What was run, and what is said of it.

    Attributes
    ----------
    ran, cells
        The run itself, and its cells that have times, in order of size.
    comparison
        Sizes in order, with columns FORMULA and SIMULATION.
    terms
        By size: what the simulated time is made of, in seconds; empty where single steps were not measured.
    executor
        What steps cost; None: not measured over this transport.
    """

    ran: Ran
    cells: tuple[Cell, ...]
    comparison: Comparison
    terms: tuple[dict[str, float], ...]
    executor: Executor | None


def compare(ran: Ran, machine: Machine, executor: Executor | None) -> Beside:
    """The cells of a run that have times, beside formula and simulation; ``executor`` is the machine's over its transport.

    Raises InputError where no cell has times.
    """
    cells = tuple(sorted((cell for cell in ran.cells if cell.sample is not None), key=lambda cell: cell.size))
    if not cells:
        raise InputError("nothing was run to its end: there is nothing to compare with")
    network, reason = _network(machine, cells[0].found.schedule.ranks, executor)
    formula, no_formula = _formula(cells, network, reason)
    simulated, terms, no_simulation = _simulated(cells, network, executor, reason)
    times = [np.array(cell.sample.times) for cell in cells if cell.sample is not None]
    columns = [
        Column(name, basis, time)
        for name, basis, time in (
            (FORMULA, _formula_basis(machine, network), formula),
            (SIMULATION, _simulation_basis(machine, executor), simulated),
        )
        if time is not None
    ]
    left = tuple((name, why) for name, why in ((FORMULA, no_formula), (SIMULATION, no_simulation)) if why)
    sample = cells[0].sample
    assert sample is not None
    comparison = Comparison(
        title=f"{cells[0].label}, {counted(sample.ranks, 'rank')} over {sample.transport}",
        source=f"real ranks on {' and '.join(dict.fromkeys(sample.hosts)) or sample.host}",
        size=np.array([float(cell.size) for cell in cells]),
        time=np.array([float(np.median(one)) for one in times]),
        low=np.array([float(np.quantile(one, LOW)) for one in times]),
        high=np.array([float(np.quantile(one, HIGH)) for one in times]),
        columns=tuple(columns),
        premises=(*of_run(ran, cells, executor), *of_link(machine, sample, formula is not None)),
        left=left,
        size_is=cells[0].size_is,
    )
    return Beside(ran, cells, comparison, terms, executor)


def _network(machine: Machine, ranks: int, executor: Executor | None) -> tuple[Network | None, str]:
    """The machine as ranks see it, all pairs alike where it was measured between two; or why there is none."""
    reduce = 0.0 if executor is None else _rate(executor)
    if not machine.nodes:
        return None, f"{machine.name} has no link: hopline measure measures Send/Recv (over MPI)"
    try:
        if set(machine.nodes) == set(ENDS) and machine.connections:
            curve = machine.links[machine.connections[0].link].curve
            if curve is not None:
                return networks.by_levels([Level(ranks, curve)], reduce), ""
        return networks.by_machine(machine, ranks, reduce=reduce or None), ""
    except HoplineError as error:
        return None, str(error)


def _rate(executor: Executor) -> float:
    """Seconds a byte that adding up takes at the largest size measured."""
    largest = np.array([executor.largest])
    return float(executor.adding(True, largest)[0]) / executor.largest


def _formula(
    cells: Sequence[Cell], network: Network | None, reason: str
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]] | None, str]:
    """Upper bounds of the closed form, as ``hopline collective`` counts; None and why."""
    if network is None:
        return None, reason
    found = []
    for cell in cells:
        form = simulating.form_of(cell.found, network)
        if form is None:
            return None, "no closed form is known for it on this network"
        found.append(bounds(form, network.levels)[1])
    return np.array(found), ""


def _simulated(
    cells: Sequence[Cell], network: Network | None, executor: Executor | None, reason: str
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]] | None, tuple[dict[str, float], ...], str]:
    if executor is not None:
        simulate = resolve("hopline.sim.executing:simulate_executor")
        lines: list[Timeline] = [simulate(cell.found.schedule, executor) for cell in cells]
        terms = tuple(_terms(cell.found.schedule, line, executor) for cell, line in zip(cells, lines, strict=True))
        return np.array([line.time for line in lines]), terms, ""
    if network is None:
        return None, (), reason
    return np.array([simulating.simulate(cell.found, network).timeline.time for cell in cells]), (), ""


def _terms(schedule: Schedule, line: Timeline, executor: Executor) -> dict[str, float]:
    """What the critical path is made of."""
    told = dict.fromkeys(TERMS, 0.0)
    last = 0.0
    for row, start, end in line.path:
        begin = max(start * TICK, last)
        took = end * TICK - begin
        work = _WORK.get(int(schedule.columns.kind[row]), COMPUTE)
        own = 0.0 if work == COMPUTE else min(executor.operation, took)
        told[OWN] += own
        told[work] += took - own
        last = end * TICK
    told[FIRST] = executor.first if line.messages else 0.0
    return {name: seconds for name, seconds in told.items() if seconds > TICK}


def _formula_basis(machine: Machine, network: Network | None) -> str:
    adding = (
        f", adding up at {show(1 / network.levels.reduce, 'bandwidth')}" if network and network.levels.reduce else ""
    )
    return f"closed form on α + m/β of {machine.name}{adding}; nothing of the executor's own cost"


def _simulation_basis(machine: Machine, executor: Executor | None) -> str:
    if executor is None:
        return f"event by event on α + m/β of {machine.name}; nothing of the executor's own cost"
    own = show(executor.operation, "time", 3)
    return (
        f"event by event on steps measured under the executor ({machine.name}), of which {own} an operation are its own"
    )
