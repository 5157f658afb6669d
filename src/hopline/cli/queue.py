"""``hopline queue``: what a burst, late feedback, a control loop or reordering does to a buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.loop_page import show_loop
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.queue_page import show_filled, show_late, show_reordered
from hopline.machine.loop import LAWS

EXAMPLES = """\b
Examples:
  hopline queue --arrival 100GB/s,40GB/s@20us --service 50GB/s --capacity 512KiB --initial 256KiB
  hopline queue --arrival 100GB/s,0@3us --every 8us --horizon 40us --service 50GB/s --then 40GB/s:128KiB:1us
  hopline queue --arrival 100GB/s --service 50GB/s --capacity 512KiB --initial 256KiB --feedback 20us --after 40GB/s
  hopline queue --loop proportional:time=10us,setpoint=64KiB --service 50GB/s --delay 2us,10us,17us --plot loop.svg
  hopline queue --loop pause:xoff=200KiB,xon=150KiB --service 50GB/s --line 100GB/s --delay 1us,5us
  hopline queue --paths 5us,6us,7us,11us --packet 4KiB --arrival 50GB/s
"""
LAWS_HELP = "; ".join(f"{name} ({kind.title}): {', '.join(kind.parameters)}" for name, kind in LAWS.items())


@dataclass(frozen=True, slots=True)
class _Way:
    """A question of this command: the option that asks it, those that go with it, those that it needs."""

    allowed: tuple[str, ...]
    needed: tuple[str, ...]


_WAYS: Mapping[str, _Way] = {
    "--loop": _Way(("service", "capacity", "initial", "line", "start", "delay", "horizon"), ("service", "delay")),
    "--paths": _Way(("arrival", "packet", "packets", "pattern"), ("arrival", "packet")),
    "--feedback": _Way(
        ("arrival", "service", "capacity", "initial", "after", "drain"), ("arrival", "service", "capacity", "after")
    ),
    "": _Way(("arrival", "service", "capacity", "initial", "horizon", "every", "then"), ("arrival", "service")),
}


@click.command(epilog=EXAMPLES)
@click.option("--arrival", metavar="RATE[,RATE@TIME...]", help="What comes, in steps. Like 100GB/s,40GB/s@20us.")
@click.option("--service", metavar="RATE[,RATE@TIME...]", help="What can leave, in steps. Like 50GB/s.")
@quantity("--capacity", "size", "The queue holds that (default: without limit).")
@quantity("--initial", "size", "What is in it at first.")
@quantity("--horizon", "time", "How long to look (default: until it is empty again).")
@quantity("--every", "time", "The arrivals repeat: bursts. Needs --horizon.")
@click.option(
    "--then",
    multiple=True,
    metavar="SERVICE[:CAPACITY[:DELAY]]",
    help="A further queue, fed by the one before. Repeatable.",
)
@quantity("--feedback", "time", "Late feedback: how long until the sender's slower rate is there.")
@click.option("--after", metavar="RATE", help="What comes after the feedback. Like 40GB/s.")
@quantity("--drain", "time", "The queue is to be empty that long after the feedback: which rate does it?")
@click.option("--loop", "law", metavar="LAW:key=value,...", help=f"A law that sees the queue late. {LAWS_HELP}.")
@quantity("--delay", "time", "With --loop: how late.", many=True)
@quantity("--line", "bandwidth", "With --loop: what the senders can send at most (default: twice the service).")
@quantity("--start", "bandwidth", "With --loop: what they send at first (default: the line).")
@quantity("--paths", "time", "Reordering: the delays of the paths that packets take in turn.", many=True)
@quantity("--packet", "size", "With --paths: bytes of a packet.", least=1)
@click.option("--packets", type=click.IntRange(1), metavar="N", help="With --paths: how many (default 4000).")
@click.option("--pattern", metavar="PATH,...", help="With --paths: the order in which they are taken, like 0,0,0,1.")
@plot_option("the queue over time")
@json_option
def queue(
    law: str | None, paths: list[float] | None, feedback: float | None, plot: File | None, as_json: bool, **told: Any
) -> None:  # fmt: skip
    """What a buffer goes through: a burst, feedback that is late, a control loop, packets out of order.

    Without --feedback, --loop or --paths a queue is filled and drained, exactly: what is dropped and from when on, when it is
    empty again, and what would have lost nothing. λ = B stops its growth, only λ < B drains.
    """
    way = _way(law, paths, feedback)
    _check(way, told)
    if way == "--loop":
        data = show_loop(law or "", told, plot, as_json)
    elif way == "--paths":
        if plot is not None:
            raise click.UsageError("--plot does not go with --paths: there is nothing over time to draw")
        data = show_reordered(paths or [], told, as_json)
    elif way == "--feedback":
        data = show_late(feedback or 0.0, told, plot, as_json)
    else:
        data = show_filled(told, plot, as_json)
    if as_json:
        print_json(data)
    elif plot is not None:
        click.echo(f"\nPicture: {plot}")


def _way(law: str | None, paths: list[float] | None, feedback: float | None) -> str:
    asked = [
        name for name, value in (("--loop", law), ("--paths", paths), ("--feedback", feedback)) if value is not None
    ]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} are different questions: give one of them")
    return asked[0] if asked else ""


def _check(way: str, told: Mapping[str, Any]) -> None:
    """Options that have no say in a question are refused, and those that it needs are named."""
    rules = _WAYS[way]
    given = [name for name, value in told.items() if value not in (None, ())]
    for name in given:
        if name not in rules.allowed:
            where = f"with {way}" if way else f"without {_owner(name)}"
            raise click.UsageError(f"--{name} does not go {where}")
    missing = [f"--{name}" for name in rules.needed if name not in given]
    if missing:
        raise click.UsageError(f"{way or 'a queue'} needs {' and '.join(missing)}: like in the examples")


def _owner(name: str) -> str:
    return next(way for way, rules in _WAYS.items() if name in rules.allowed)
