"""Simulated times beside those of closed forms, and why the two differ.

What belongs here: running the schedules of a contest, and telling by further runs which premise of a form a difference is due
to: ports that ranks share, ranks that run ahead of others, or what a form says of its rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hopline.jobs.collectives.pricing import Contender
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.machine.fabric import Fabric
from hopline.quantity import counted, show
from hopline.records.contest import DIFFERS, Row, Timed
from hopline.records.timeline import Timeline
from hopline.schedule.operations import Schedule

Simulate = Callable[[Schedule, Fabric, bool], Timeline]
"""(schedule, fabric, whether rounds wait for one another) -> timeline."""
Watch = Callable[[float, str], None]
"""Is told the part that is done, and what is going on."""
MOST_MESSAGES = 4_000_000
"""Of a schedule that is simulated here."""


def engine() -> Simulate:
    """The simulation, loaded when it is wanted."""
    run = resolve("hopline.sim.engine:simulate")
    return lambda schedule, fabric, by_rounds: run(schedule, fabric, by_rounds=by_rounds)


def simulated(
    rows: Sequence[Row], taking: Sequence[Contender], network: Network, simulate: Simulate, watch: Watch
) -> tuple[Row, ...]:
    """The rows with simulated times; of the contenders, what they were priced by."""
    by_name = {contender.entry.algorithm: contender for contender in taking}
    total, done = sum(len(row.times) for row in rows), 0
    found = []
    for row in rows:
        times = []
        for timed in row.times:
            watch(done / total, f"{timed.algorithm} {show(row.size, 'size')}")
            times.append(_simulated(timed, by_name[timed.algorithm], network, simulate))
            done += 1
        found.append(replace(row, times=tuple(times)))
    return tuple(found)


def _simulated(timed: Timed, contender: Contender, network: Network, simulate: Simulate) -> Timed:
    most = contender.form(timed.size, timed.number).messages * network.ranks
    if most > MOST_MESSAGES:
        return replace(
            timed, skipped=f"up to {counted(most, 'message')}: more than the {MOST_MESSAGES:,} that are simulated"
        )
    schedule = contender.entry.build(contender.shape(timed.size, timed.chunks, timed.channels))
    found = replace(timed, simulated=simulate(schedule, network.fabric, False).time)
    if abs(found.difference or 0.0) <= DIFFERS:
        return found
    return replace(found, reasons=tuple(_reasons(found, schedule, contender, network, simulate)))


def _reasons(
    timed: Timed, schedule: Schedule, contender: Contender, network: Network, simulate: Simulate
) -> Iterator[str]:
    """Step by step from the simulated time to the form's: whichever step changes the time is a reason."""
    levels = contender.ground.levels
    seconds = [timed.simulated or 0.0]
    if network.fabric is not network.levels:
        seconds.append(simulate(schedule, levels, False).time)
        if _differ(*seconds[-2:]):
            yield f"ports and wires of the machine ({_ratio(*seconds[-2:])} with ports of each rank's own)"
    seconds.append(simulate(schedule, levels, True).time)
    if _differ(*seconds[-2:]):
        yield f"ranks need not wait for the end of a round everywhere ({_ratio(*seconds[-2:])} if they did)"
    if _differ(seconds[-1], timed.estimate.value):
        why = "of unequal pieces" if timed.size % contender.ground.ranks else "a bound"
        yield f"the form takes the largest message of each round ({why})"


def _differ(first: float, second: float) -> bool:
    return abs(first - second) > DIFFERS / 2 * max(first, second)


def _ratio(first: float, second: float) -> str:
    return f"{second / first:.3g} times as long" if first > 0 else "not at once"
