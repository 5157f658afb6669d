"""One-way times of real messages between two MPI processes of this host.

What belongs here: from a Plan to Samples, and what a rank's events mean. ``launch`` knows processes, ``pingpong`` what
the ranks do.

    with measuring(Plan(seconds=10)) as events:
        for event in events:      # Progress while a size is timed, a Sample after each turn
            ...

A size is visited several times, so several Samples of one cell come; they add up. A time is half of a round trip of
MPI_Send and MPI_Recv through mpi4py, so it holds what Python's call into MPI takes, as a Python program pays it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from hopline.errors import DataMismatchError, HoplineError, RunError
from hopline.records.sample import Sample
from hopline.run.launch import Ranks
from hopline.run.mpirun import environment, private_folder, rank_command
from hopline.run.plan import RANKS, Plan

RANK_PROGRAM = "hopline.run.mpi_rank"
BENCHMARK, TRANSPORT = "latency", "mpi"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    size, repeats, batch
        The size being timed, its repeats so far, and the round trips that one repeat is the mean of.
    turn, turns
        Which visit this is (from 1), and how many there are: passes times sizes.
    used
        Fraction of the time used, 0 to 1.
    """

    size: int
    repeats: int
    batch: int
    turn: int
    turns: int
    used: float


Event = Progress | Sample


@contextmanager
def measuring(plan: Plan) -> Iterator[Iterator[Event]]:
    """Start two ranks; the events of their run. On the way out, also by an exception or Ctrl-C, no rank is left.

    Raises RunError where mpi4py or mpirun is missing or ranks fail, DataMismatchError where other bytes arrive than
    were sent.
    """
    with private_folder() as folder:
        command = rank_command(RANK_PROGRAM, [json.dumps(asdict(plan))], RANKS, folder)
        with Ranks(command, environment(folder)) as ranks:
            yield events_of(ranks)


def events_of(ranks: Ranks) -> Iterator[Event]:
    """What the ranks say, as events; raises RunError where they end other than well."""
    host: str | None = None
    failure = ""
    for line in ranks.lines():
        event = parse(line)
        match event.get("event"):
            case "start":
                host = str(event["host"])
            case "mismatch":
                raise DataMismatchError(str(event["message"]))
            case "failure":
                failure = failure or str(event["message"])
            case "turn" | "sample" as kind:
                yield EVENTS[kind](event, host or "")
    if failure:
        raise RunError(f"the ranks failed: {failure}")
    ranks.finish()
    if host is None:
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


def _progress(event: Mapping[str, Any], _host: str) -> Progress:
    names = ("size", "repeats", "batch", "turn", "turns", "used")
    return Progress(**_taken(event, names))


def _sample(event: Mapping[str, Any], host: str) -> Sample:
    taken = _taken(event, ("size", "times", "clock", "started"))
    try:
        return Sample(BENCHMARK, TRANSPORT, host, RANKS, **{**taken, "times": tuple(taken["times"])})
    except (TypeError, HoplineError) as error:
        raise RunError(f"the ranks sent a sample that is none: {error}") from error


def _taken(event: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    try:
        return {name: event[name] for name in names}
    except KeyError as error:
        raise RunError(f"the ranks' {event['event']!r} event has no {error}") from None


EVENTS: dict[str, Callable[[Mapping[str, Any], str], Event]] = {"turn": _progress, "sample": _sample}
"""Name of a rank's event -> what it is to who asked for the run."""
