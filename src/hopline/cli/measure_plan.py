"""What the options of ``hopline measure`` ask for: a plan of the loops of messages.

What belongs here: which option is of which kinds of measurement, refusing it where none of them is asked for, and the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as File

import click

from hopline.errors import UnknownNameError
from hopline.jobs import measuring
from hopline.jobs.measuring import World
from hopline.quantity import counted, show
from hopline.run.kinds import ALL, BY_NAME, WORDS, Kind
from hopline.run.plan import DEFAULT_SIZES, DEFAULT_WINDOW, Plan
from hopline.study.centres import FEWEST_RANKS
from hopline.study.points import FEWEST_POINTS

SECONDS = 30.0
EXECUTOR = "executor"
"""By itself: it is not loops of messages that are measured, but steps of schedules."""
LATENCY = "latency"
_OF: Mapping[str, tuple[Callable[[Kind], bool], str]] = {
    "--sizes": (lambda kind: kind.sized, "has messages of a size"),
    "--window": (lambda kind: kind.windowed, "streams"),
    "--ranks": (lambda kind: kind.scales, "takes another number of ranks than its own"),
    "--plot": (lambda kind: kind.paired or kind.name == LATENCY, "has a picture"),
    "--save": (lambda kind: kind.name == LATENCY, "makes a machine"),
}
"""Option -> the kinds that it is of, and what they do that others do not."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is asked for; None where the user does not say."""

    what: list[str]
    sizes: list[float] | None = None
    seconds: float | None = None
    window: int | None = None
    ranks: int | None = None
    name: str | None = None
    plot: File | None = None

    @property
    def given(self) -> list[str]:
        """The options of ``_OF`` that the user names."""
        values = (self.sizes, self.window, self.ranks, self.plot, self.name)
        return [option for option, value in zip(_OF, values, strict=True) if value is not None]


def check_words(what: Sequence[str]) -> None:
    """Raise UnknownNameError for a word that is none of those of --what."""
    for word in what:
        if word not in (*WORDS, EXECUTOR):
            raise UnknownNameError("measurement", word, (*WORDS, EXECUTOR))


def refuse_beside_executor(told: Told) -> None:
    """Raise UsageError for what is not measured of the executor."""
    others = [word for word in told.what if word != EXECUTOR]
    others += [option for option in told.given if option in ("--window", "--ranks", "--plot")]
    if others:
        raise click.UsageError(f"executor is measured by itself: leave {', '.join(others)} out")


def plan_of(told: Told, world: World | None) -> tuple[Plan, list[str]]:
    """The plan, and what is to be said of it. Raises UsageError, InputError for what cannot be."""
    names, _ = measuring.kinds(told.what, 2)
    _refuse_unused(told, [BY_NAME[name] for name in names])
    if world is not None and told.ranks not in (None, world.ranks):
        raise click.UsageError(f"--ranks {told.ranks}: the launcher started {world.ranks}; leave --ranks out")
    count = world.ranks if world else measuring.usual_ranks(names) if told.ranks is None else told.ranks
    names, short = measuring.kinds(told.what, count)
    whole = None if told.sizes is None else tuple(dict.fromkeys(int(size) for size in told.sizes))
    plan = Plan(
        sizes=whole or DEFAULT_SIZES,
        seconds=SECONDS if told.seconds is None else told.seconds,
        kinds=names,
        window=DEFAULT_WINDOW if told.window is None else told.window,
        ranks=count,
        pair_sizes=whole,
    )
    _refuse_too_few(told, plan)
    notes = [f"{name} is left out: it needs {BY_NAME[name].needs} ranks, there are {count}." for name in short]
    return plan, [*notes, *(_left_sizes(plan, whole) if whole else [])]


def _refuse_unused(told: Told, chosen: Sequence[Kind]) -> None:
    for option in told.given:
        takes, does = _OF[option]
        if any(takes(kind) for kind in chosen):
            continue
        of = ", ".join(word for word, names in WORDS.items() if word != ALL and any(takes(BY_NAME[n]) for n in names))
        raise click.UsageError(f"{option}: nothing of --what {','.join(told.what)} {does}; it is for {of}")


def _refuse_too_few(told: Told, plan: Plan) -> None:
    """Raise UsageError where what is asked for could not come of so few sizes or ranks."""
    if told.name is not None and len(plan.sizes) < FEWEST_POINTS:
        sizes = counted(len(plan.sizes), "size")
        raise click.UsageError(f"--save: no machine is fitted to {sizes}: expected {FEWEST_POINTS} or more in --sizes")
    if told.plot is not None and LATENCY not in plan.kinds and plan.ranks < FEWEST_RANKS:
        raise click.UsageError(
            f"--plot: pairs of {plan.ranks} ranks have no picture: expected {FEWEST_RANKS} ranks or more (--ranks)"
        )


def _left_sizes(plan: Plan, asked: Sequence[int]) -> list[str]:
    """Sizes that the user names and some kind cannot take."""
    found = []
    for kind in plan.chosen:
        left = [show(size, "size") for size in asked if kind.sized and size not in plan.sizes_of(kind)]
        if left:
            found.append(
                f"{kind.name} is not measured at {', '.join(left)}: its sizes are multiples of {kind.unit} B above 0."
            )
    return found
