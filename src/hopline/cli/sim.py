"""``hopline sim``: a schedule on a network, event by event.

What belongs here: its options, and its answer as JSON.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.network_options import network, network_options
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.schedule_options import file_size, schedule_options, shape_of, whole
from hopline.errors import InputError, QuantityError
from hopline.jobs import schedules, simulating
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.jobs.schedules import Found
from hopline.jobs.simulating import Simulated
from hopline.machine.loggops import LogGOPS
from hopline.quantity import counted, parse, show
from hopline.records.estimate import Premise
from hopline.show import simulation as pages
from hopline.show.document import print_document
from hopline.show.schedule import remarks

EXAMPLES = """\b
Examples:
  hopline sim all_reduce-ring -n 16 --size 192MiB --latency 1us --bandwidth 50GB/s
  hopline sim all_reduce-hierarchical --size 192MiB --level 8:1us:450GB/s --level 2:2us:50GB/s
  hopline sim alltoall-pairwise --machine dgx-h100 -n 16 --size 64MiB --plot who.html
  hopline sim program.goal --loggops L=2500ns,o=1500ns,g=1000ns,G=6ns --path
  hopline sim all_reduce-ring -n 8 --size 1MiB --latency 1us --bandwidth 50GB/s --trace ring.json.gz   # for Perfetto
"""
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
@click.option("--by-rounds", is_flag=True, help="No round begins before the one before it has ended everywhere.")
@click.option("--path", "show_path", is_flag=True, help="Show the operations on the critical path.")
@click.option("--engine", type=click.Choice(ENGINES), help="Which engine; they agree (default: the fastest that can).")
@click.option(
    "--trace", type=click.Path(path_type=File), help="Write all operations for ui.perfetto.dev (.json, .json.gz)."
)
@plot_option("who does what when")
@json_option
def sim(
    name: str, loggops: str | None, eager: float | None, by_rounds: bool, show_path: bool, engine: str | None,
    trace: File | None, plot: File | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Simulate a schedule: NAME of a collective and its algorithm (hopline schedule list), or a FILE (GOAL, MSCCL XML).

    A message starts when both ends are ready and their ports are free, and holds both ports for its start-up and its bytes.
    Times are whole picoseconds; the same question always gives the same answer. Formula and simulation stand side by side.
    """
    keep = trace is not None or plot is not None
    if loggops is not None:
        found, answer = _by_loggops(name, loggops, keep, engine, {"eager": eager, "by_rounds": by_rounds, **given})
        title, note = _said(found), f"LogGOPS: {loggops}"
        premises: tuple[Premise, ...] = ()
    else:
        found, network = _found(name, given)
        answer = simulating.simulate(
            found, network, eager=whole(eager or 0), by_rounds=by_rounds, keep=keep, way=engine
        )
        title, note = f"{_said(found)}, {network.fabric.name}", network.note
        premises = network.premises
    written = _write(title, found, answer, trace, plot)
    if as_json:
        print_json(_data(found, answer))
        return
    form = None if answer.least is None or answer.most is None else (answer.least, answer.most)
    page = pages.page(title, note, answer.timeline, form, answer.busbw, answer.shares, answer.busiest)
    page += pages.premises(premises)
    page += pages.path(_path(found, answer)) if show_path else []
    page += remarks(found.remarks)
    print_document(page)
    for line in written:
        click.echo(line)


def _found(name: str, given: dict[str, Any]) -> tuple[Found, Network]:
    """The schedule and its network; of a file the ranks are those it says."""
    choice = {key: given.pop(key) for key in ("size", "hierarchy", "chunks", "channels", "targets")}
    entry = schedules.entry_of(name)
    if entry is None:
        found = schedules.read(name, file_size(choice), given["ranks"])
        made = network(**given, least=found.schedule.ranks)
        if made.ranks != found.schedule.ranks:
            raise InputError(
                f"{name} is for {found.schedule.ranks} ranks: expected as many on the network, not {made.ranks}"
            )
        return found, made
    made = network(**given)
    shape = shape_of(entry, made.ranks, **choice, network=(made.shape, made.nics))
    return schedules.built(entry, shape), made


def _by_loggops(name: str, text: str, keep: bool, engine: str | None, given: dict[str, Any]) -> tuple[Found, Simulated]:
    """LogGOPS takes the place of a network, so only the ranks of it may be given."""
    for option in ("eager", "by_rounds", "machine", "places", "latency", "bandwidth", "nics", "levels"):
        if given.pop(option):
            raise click.UsageError(
                f"--{option.replace('_', '-')} does not go with --loggops, which says what messages cost",
                click.get_current_context(),
            )
    params, rate = _parameters(text), given.pop("reduce")
    ranks = given.pop("ranks")
    entry = schedules.entry_of(name)
    found = (
        schedules.read(name, file_size(given), ranks)
        if entry is None
        else schedules.built(entry, shape_of(entry, ranks, **given))
    )
    return found, simulating.simulate_loggops(found, params, reduce=1 / rate if rate else 0.0, keep=keep, way=engine)


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


def _said(found: Found) -> str:
    parts = [found.schedule.name, counted(found.schedule.ranks, "rank")]
    if found.shape is not None and found.entry is not None:
        parts.append(show(found.shape.size, "size"))
        for name in ("chunks", "channels", "targets"):
            if name in found.entry.uses:
                parts.append(counted(getattr(found.shape, name), name[:-1]))
    return ", ".join(parts)


def _path(found: Found, answer: Simulated) -> list[pages.PathStep]:
    steps = simulating.steps(found.schedule, answer.timeline)
    return [(step.kind, step.rank, step.peer, step.size, step.start, step.end) for step in steps]


def _write(title: str, found: Found, answer: Simulated, trace: File | None, plot: File | None) -> list[str]:
    """Write the files that were asked for; a line for each."""
    written = []
    if trace is not None:
        resolve("hopline.formats.perfetto:write_perfetto")(found.schedule, answer.timeline, str(trace))
        written.append(f"\nTrace: {trace} (open it in ui.perfetto.dev)")
    if plot is not None and not answer.timeline.ticks:
        written.append("\nNo picture: nothing takes any time.")
    elif plot is not None:
        bars = simulating.bars(found.schedule, answer.timeline)
        picture = pages.picture(title, bars.rows, (bars.lanes, bars.all_lanes), bars.all_bars)
        resolve("hopline.show.images:save")(picture, plot)
        written.append(f"\nPicture: {plot}")
    return written


def _data(found: Found, answer: Simulated) -> dict[str, Any]:
    timeline = answer.timeline
    return {
        "schedule": found.schedule.name,
        "ranks": found.schedule.ranks,
        "size": None if found.shape is None else found.shape.size,
        "machine": timeline.machine,
        "engine": timeline.engine,
        "remarks": found.remarks,
        "time_s": timeline.time,
        "time_ps": timeline.ticks,
        "closed_form_s": None if answer.most is None else {"least": answer.least, "most": answer.most},
        "busbw": answer.busbw,
        "messages": timeline.messages,
        "bytes": timeline.size,
        "finish_ps": timeline.finish.tolist(),
        "critical_path_shares": answer.shares,
        "critical_path": [asdict(step) for step in simulating.steps(found.schedule, timeline)],
        "ports": dict(answer.busiest),
    }
