"""Times of real messages between MPI processes that are started here, on this host.

What belongs here: from a Plan to events, and what a rank's lines mean. ``launch`` knows processes, ``course`` what the ranks
do; ranks that somebody else started are ``world``'s.

    with measuring(Plan(seconds=10)) as events:
        for event in events:      # Started, Progress while a cell is timed, a Sample after each turn
            ...

A cell is visited several times, so several Samples of one cell come; they add up. Messages go through mpi4py, so their times
hold what Python's call into MPI takes, as a Python program pays it.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hopline.errors import DataMismatchError, HoplineError, RunError
from hopline.records.sample import Sample
from hopline.run.cells import NOTHING, Earlier, Place, cells_of, order, sample_of
from hopline.run.ends import Cell
from hopline.run.launch import Ranks
from hopline.run.mpi_rank import EARLIER_FILE
from hopline.run.mpirun import environment, private_folder, rank_command
from hopline.run.plan import Plan

RANK_PROGRAM = "hopline.run.mpi_rank"
TRANSPORT = "mpi"
"""MPI's shared memory, see ``mpirun.FLAGS``."""
Known = Mapping[Cell, Earlier]


@dataclass(frozen=True, slots=True)
class Started:
    """Ranks that run: the host of each; ``crowded`` has (host, ranks, cores) where there are more ranks than cores."""

    hosts: tuple[str, ...]
    crowded: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    size, repeats, batch
        The size being timed, its repeats so far, and the steps that one repeat is the mean of.
    turn, turns
        Which visit this is (from 1), and how many there are: passes times cells.
    used
        Fraction of the time used, 0 to 1.
    kind, ranks
        What is being timed, between whom.
    """

    size: int
    repeats: int
    batch: int
    turn: int
    turns: int
    used: float
    kind: str = "latency"
    ranks: tuple[int, ...] = (0, 1)


Event = Started | Progress | Sample


@dataclass(frozen=True, slots=True)
class Context:
    """What is needed to read events: the cells that they number, and where their ranks are once that was said."""

    cells: Sequence[Cell]
    place: Place | None = None


def stages(plan: Plan) -> list[Plan]:
    """The plan in runs of as few ranks as will do: ranks that nobody needs would only take cores and memory."""
    few = tuple(kind.name for kind in plan.chosen if not kind.scales)
    many = tuple(kind.name for kind in plan.chosen if kind.scales)
    found = [replace(plan, kinds=kinds, ranks=ranks) for kinds, ranks in ((few, 2), (many, plan.ranks)) if kinds]
    turns = [len(cells_of(stage, stage.ranks)) for stage in found]
    return [replace(stage, seconds=plan.seconds * n / sum(turns)) for stage, n in zip(found, turns, strict=True)]


def places(plan: Plan) -> dict[Cell, Place]:
    """All cells of a plan that is run here, and where."""
    return {
        cell: Place((platform.node(),) * stage.ranks, TRANSPORT)
        for stage in stages(plan)
        for cell in cells_of(stage, stage.ranks)
    }


@contextmanager
def measuring(plan: Plan, earlier: Known = NOTHING) -> Iterator[Iterator[Event]]:
    """Start ranks; the events of their runs. On the way out, also by an exception or Ctrl-C, no rank is left.

    ``earlier`` holds what need not be measured again. Raises RunError where mpi4py or mpirun is missing or ranks fail,
    DataMismatchError where other bytes arrive than were sent.
    """
    with closing(_all_stages(plan, earlier)) as events:
        yield events


def _all_stages(plan: Plan, earlier: Known) -> Generator[Event]:
    planned = stages(plan)
    turns = [len(order(stage, cells_of(stage, stage.ranks), earlier)) for stage in planned]
    for number, stage in enumerate(planned):
        before, all_turns = sum(turns[:number]), sum(turns)
        if not turns[number]:
            continue
        with closing(_one_stage(stage, earlier)) as events:
            for event in events:
                if isinstance(event, Progress):
                    used = (before + event.used * turns[number]) / all_turns
                    yield replace(event, turn=event.turn + before, turns=all_turns, used=used)
                else:
                    yield event


def _one_stage(plan: Plan, earlier: Known) -> Generator[Event]:
    cells = cells_of(plan, plan.ranks)
    rows = [(number, earlier[cell].turns, earlier[cell].times) for number, cell in enumerate(cells) if cell in earlier]
    with private_folder() as folder:
        Path(folder, EARLIER_FILE).write_text(json.dumps(rows))
        command = rank_command(RANK_PROGRAM, [json.dumps(plan.to_json())], plan.ranks, folder)
        with Ranks(command, environment(folder)) as ranks:
            yield from events_of(ranks, cells)


def events_of(ranks: Ranks, cells: Sequence[Cell]) -> Iterator[Event]:
    """What the ranks say, as events; raises RunError where they end other than well."""
    context, failure = Context(cells), ""
    for line in ranks.lines():
        said = parse(line)
        match said.get("event"):
            case "start":
                started = started_of(said)
                context = replace(context, place=Place(started.hosts, TRANSPORT))
                yield started
            case "mismatch":
                raise DataMismatchError(str(said["message"]))
            case "failure":
                failure = failure or str(said["message"])
            case "turn" | "sample" as kind:
                yield EVENTS[kind](said, context)
    if failure:
        raise RunError(f"the ranks failed: {failure}")
    ranks.finish()
    if context.place is None:
        raise RunError("the ranks ended without a word: do mpirun and mpi4py belong to the same MPI library?")


def parse(line: str) -> Mapping[str, Any]:
    """A line as an event; an empty one for what others print on our ranks' output (an MPI library's notes)."""
    if not line.startswith('{"event"'):
        return {}
    try:
        event = json.loads(line)
    except ValueError:
        raise RunError(f"the ranks' output is garbled: {line[:80]!r}") from None
    return event if isinstance(event, dict) else {}


def started_of(said: Mapping[str, Any]) -> Started:
    """The first event of a run."""
    return Started(tuple(said["hosts"]), tuple((host, ranks, cores) for host, ranks, cores in said["crowded"]))


def _progress(said: Mapping[str, Any], context: Context) -> Progress:
    number, repeats, batch, turn, turns, used = _taken(said, ("cell", "repeats", "batch", "turn", "turns", "used"))
    cell = context.cells[number]
    return Progress(cell.size, repeats, batch, turn, turns, used, cell.kind, cell.ranks)


def _sample(said: Mapping[str, Any], context: Context) -> Sample:
    number, times, clock, started = _taken(said, ("cell", "times", "clock", "started"))
    if context.place is None:
        raise RunError("the ranks sent a sample before they said where they are")
    try:
        return sample_of(context.cells[number], context.place, times, clock, started)
    except (TypeError, HoplineError) as error:
        raise RunError(f"the ranks sent a sample that is none: {error}") from error


def _taken(said: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    try:
        return [said[name] for name in names]
    except KeyError as error:
        raise RunError(f"the ranks' {said['event']!r} event has no {error}") from None


EVENTS: dict[str, Callable[[Mapping[str, Any], Context], Event]] = {"turn": _progress, "sample": _sample}
"""Name of a rank's event -> what it is to who asked for the run."""
