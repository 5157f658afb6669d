"""``hopline sim``: a schedule on a network, event by event.

What belongs here: its options, and which simulation answers them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path as File
from typing import Any, NoReturn, TypeVar

import click

from hopline.cli import sim_page
from hopline.cli.network_given import network, resources
from hopline.cli.network_options import network_options
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.schedule_options import file_size, schedule_options, shape_of, whole
from hopline.cli.sim_page import Answered, said
from hopline.errors import InputError, QuantityError
from hopline.jobs import flowing, schedules, simulating
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.jobs.schedules import Found
from hopline.machine.loggops import LogGOPS
from hopline.machine.resources import Resources
from hopline.quantity import parse
from hopline.show import flows as flow_pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline sim all_reduce-ring -n 16 --size 192MiB --latency 1us --bandwidth 50GB/s
  hopline sim all_reduce-hierarchical --size 192MiB --level 8:1us:450GB/s --level 2:2us:50GB/s
  hopline sim alltoall-pairwise --machine dgx-h100 -n 16 --size 64MiB --plot who.html
  hopline sim alltoall-pairwise -n 64 --size 64MiB --sharing max-min --machine fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s
  hopline sim program.goal --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns --path
  hopline sim all_reduce-ring -n 8 --size 1MiB --latency 1us --bandwidth 50GB/s --trace ring.json.gz   # for Perfetto
"""
N = TypeVar("N", Network, Resources)
SHARING = ("ports", "max-min", "inverse-rtt")
ENGINES = ("reference", "in order", "events")


@click.command(epilog=EXAMPLES)
@click.argument("name", metavar="NAME|FILE")
@schedule_options
@network_options
@click.option(
    "--loggops",
    metavar="L=TIME,o=,g=,G=,O=,S=",
    help="By LogGOPS instead: latency, overhead, gap; gap and overhead of a further byte; bytes above which a send waits for "
    "its receive (none: never). Like L=2500ns,o=1500ns,g=1000ns,G=6ns,O=0ns,S=256KiB.",
)
@quantity("--eager", "size", "Messages of at most these bytes do not wait for their receiver (0).")
@click.option(
    "--sharing",
    type=click.Choice(SHARING),
    default="ports",
    help="What happens where messages meet: ports carry one at a time, or flows share all links of their ways (ports).",
)
@click.option(
    "--routing",
    metavar="RULE",
    help="Ways of flows: shortest, d-mod-k, ecmp (or ecmp:seed=7), up-down (d-mod-k).",
)
@click.option("--by-rounds", is_flag=True, help="No round begins before the one before it has ended everywhere.")
@click.option("--path", "show_path", is_flag=True, help="Show the operations on the critical path.")
@click.option("--engine", type=click.Choice(ENGINES), help="Which engine; they agree (default: the fastest that can).")
@click.option(
    "--trace", type=click.Path(path_type=File), help="Write all operations for ui.perfetto.dev (.json, .json.gz)."
)
@plot_option("who does what when")
@json_option
def sim(
    name: str, loggops: str | None, eager: float | None, sharing: str, routing: str | None, by_rounds: bool, show_path: bool,
    engine: str | None, trace: File | None, plot: File | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Simulate a schedule: NAME of a collective and its algorithm (hopline schedule list), or a FILE (GOAL, MSCCL XML,
    a table of messages as CSV: src,dst,bytes).

    By ports: a message starts when both ends are ready and their ports are free, and holds both for its start-up and bytes.
    By --sharing max-min: messages are flows that start when both ends are ready and share all links of their ways; what
    binds, and who loses by it, is told. Times are whole picoseconds; the same question always gives the same answer.
    """
    asked = Asked(
        name, loggops, sharing, routing, whole(eager or 0), by_rounds, engine, trace is not None or plot is not None
    )
    _check(asked, given)
    answered = (_by_loggops if loggops is not None else _by_ports if sharing == "ports" else _by_flows)(asked, given)
    written = sim_page.write(answered, trace, plot)
    if as_json:
        print_json(sim_page.data(answered))
        return
    print_document(sim_page.page(answered, show_path))
    for line in written:
        click.echo(line)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options say beside the network and the schedule's shape."""

    name: str
    loggops: str | None
    sharing: str
    routing: str | None
    eager: int
    by_rounds: bool
    engine: str | None
    keep: bool


def _check(asked: Asked, given: dict[str, Any]) -> None:
    """Options that exclude each other."""
    if asked.sharing == "ports" and asked.routing is not None:
        _exclude("--routing", "without --sharing max-min: between ports the shortest way is taken")
    if asked.sharing != "ports":
        for option, value in (
            ("--loggops", asked.loggops),
            ("--by-rounds", asked.by_rounds),
            ("--engine", asked.engine),
        ):
            if value:
                _exclude(option, f"with --sharing {asked.sharing}")
    if asked.loggops is None:
        return
    beside = {"eager": asked.eager, "by_rounds": asked.by_rounds} | given
    for option in ("eager", "by_rounds", "machine", "places", "latency", "bandwidth", "nics", "levels"):
        if beside[option]:
            _exclude(f"--{option.replace('_', '-')}", "with --loggops, which says what messages cost")


def _exclude(option: str, why: str) -> NoReturn:
    raise click.UsageError(f"{option} does not go {why}", click.get_current_context())


def _by_ports(asked: Asked, given: dict[str, Any]) -> Answered:
    found, made = _found(asked.name, given, lambda file: network(**given, least=_least(file, given)))
    answer = simulating.simulate(
        found, made, eager=asked.eager, by_rounds=asked.by_rounds, keep=asked.keep, way=asked.engine
    )
    return Answered(found, answer, f"{said(found)}, {made.fabric.name}", made.note, made.premises)


def _by_flows(asked: Asked, given: dict[str, Any]) -> Answered:
    found, made = _found(asked.name, given, lambda file: _resources(asked, file, given))
    with resolve("hopline.show.measuring:progress")("simulating") as watch:
        flowed = flowing.flow(found, made, rule=asked.sharing, eager=asked.eager, keep=asked.keep, watch=watch)
    note = flow_pages.rule(asked.sharing, flowed.routing)
    return Answered(found, flowed.simulated, f"{said(found)}, {made.name}", note, flowed=flowed)


def _least(file: Found | None, given: dict[str, Any]) -> int | None:
    if file is not None and file.numbered and given["machine"] and not given["places"]:
        _exclude(
            "--machine",
            "by ports with ranks that are numbers of nodes: give --sharing max-min, or --on with their devices",
        )
    return None if file is None else file.schedule.ranks


def _resources(asked: Asked, file: Found | None, given: dict[str, Any]) -> Resources:
    if file is None:
        return resources(asked.routing, **given)
    used = sorted(set(file.schedule.columns.rank.tolist())) if file.numbered else None
    return resources(asked.routing, used, **given, least=file.schedule.ranks)


def _found(name: str, given: dict[str, Any], make: Callable[[Found | None], N]) -> tuple[Found, N]:
    """The schedule and its network, which is made for what a file says (None: there is no file)."""
    choice = {key: given.pop(key) for key in ("size", "hierarchy", "chunks", "channels", "targets")}
    entry = schedules.entry_of(name)
    if entry is None:
        found = schedules.read(name, file_size(choice), given["ranks"])
        made = make(found)
        if made.ranks != found.schedule.ranks:
            raise InputError(
                f"{name} is for {found.schedule.ranks} ranks: expected as many on the network, not {made.ranks}"
            )
        return found, made
    made = make(None)
    nested = (
        made if isinstance(made, Network) else network(**given) if {"levels", "channels"} & set(entry.uses) else None
    )
    shape = shape_of(entry, made.ranks, **choice, network=(nested.shape, nested.nics) if nested else ((), 1))
    return schedules.built(entry, shape), made


def _by_loggops(asked: Asked, given: dict[str, Any]) -> Answered:
    """LogGOPS takes the place of a network, so only the ranks of it may be given."""
    for option in ("machine", "places", "latency", "bandwidth", "nics", "levels"):
        given.pop(option)
    assert asked.loggops is not None
    params, rate = _parameters(asked.loggops), given.pop("reduce")
    ranks = given.pop("ranks")
    entry = schedules.entry_of(asked.name)
    found = (
        schedules.read(asked.name, file_size(given), ranks)
        if entry is None
        else schedules.built(entry, shape_of(entry, ranks, **given))
    )
    reduce = 1 / rate if rate else 0.0
    answer = simulating.simulate_loggops(found, params, reduce=reduce, keep=asked.keep, way=asked.engine)
    return Answered(found, answer, said(found), f"LogGOPS: {asked.loggops}")


def _parameters(text: str) -> LogGOPS:
    """``L=2500ns,o=1500ns,...``: all are times, but S is bytes."""
    known = [field.name for field in fields(LogGOPS)]
    told: dict[str, Any] = {}
    for part in text.split(","):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in known or key in told or not value:
            raise InputError(f"--loggops: {part!r}: expected each once of {', '.join(f'{name}=' for name in known)}")
        try:
            told[key] = whole(parse(value, "size")) if key == "S" else parse(value, "time")
        except QuantityError as error:
            raise InputError(f"--loggops: {key}: {error}") from None
    missing = [name for name in ("L", "o", "g", "G") if name not in told]
    if missing:
        raise InputError(f"--loggops: {', '.join(missing)} missing: expected like L=2500ns,o=1500ns,g=1000ns,G=6ns")
    return LogGOPS(**told)
