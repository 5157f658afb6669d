"""``hopline compare``: models beside what was measured, on real ranks or in a log.

What belongs here: its options, and which of the two is asked for.
"""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import click

from hopline.cli import compare_options as options
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.progress import progress
from hopline.cli.run import OneOfRanks, check_timed, founds_of, led, tell
from hopline.cli.run_page import gone_on
from hopline.cli.schedule_options import SIZE, shape_options
from hopline.errors import INTERRUPTED, InputError
from hopline.jobs import executing, machines, measuring, outputs
from hopline.jobs.comparing import logs
from hopline.jobs.comparing.real_ranks import Beside
from hopline.jobs.comparing.real_ranks import compare as beside_ranks
from hopline.jobs.loading import resolve
from hopline.machine.executor import executor_of
from hopline.model.nccl.numbers import ARCHITECTURES, NET_OVERHEAD
from hopline.run.executing.transports import TRANSPORTS
from hopline.show import comparison as pages
from hopline.show import images
from hopline.show.document import Block, Heading, Line, print_document
from hopline.show.schedule import remarks

EPILOG = """\b
Examples:
  hopline measure                                     # Send/Recv of this machine, for the formula
  hopline measure --what executor                     # what steps of schedules take, for the simulation
  hopline compare all_reduce-ring -n 2 --size 1KiB..16MiB
  hopline compare all_reduce-ring -n 2 --size 1KiB..16MiB --out ring.jsonl   # what hopline run wrote is not run again
  hopline compare all_reduce.log --arch hopper        # a log of nccl-tests beside fits and NCCL's tuner
  hopline compare nccl-2.29.csv --sends sends.csv --table 1 --plot errors.svg
"""
_STATED = ("ranks", "nodes", "version", "cpu", "channels", "within", "between", "nic")
_MOST, _FEW = 40, 12
"""Sizes that are shown of one table, and of each of several; --json has all."""


@click.command(cls=OneOfRanks, epilog=EPILOG)
@click.argument("what", metavar="NAME|SCHEDULE|LOG")
@click.option(
    "--transport", type=click.Choice(list(TRANSPORTS)), help="Real ranks: what carries messages.  [default: mpi]"
)
@click.option(
    "-n",
    "--ranks",
    "ranks",
    type=click.IntRange(1),
    metavar="N",
    help="Real ranks: how many. Log: where it does not say.",
)
@quantity("--size", "size", f"Real ranks: {SIZE[0].lower()}{SIZE[1:]}", many=True)
@shape_options("Real ranks: rings at once (1). Log: channels that NCCL's search found, with --within.")
@click.option(
    "--repeats", type=click.IntRange(1), metavar="K",
    help=f"Real ranks: how often each is carried out.  [default: {executing.REPEATS}]",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=File), metavar="FILE",
    help="Real ranks: samples file to begin or go on with (default: a new one).",
)  # fmt: skip
@click.option("--machine", metavar="NAME|FILE", help="Real ranks: what formula and simulation go by.  [default: local]")
@click.option("--sends", metavar="FILE", help="Log: measured single sends, for the closed form.")
@click.option(
    "--sends-table", type=click.IntRange(1), metavar="K", help="Log: which table of --sends, where several would do."
)
@click.option(
    "--algorithm", metavar="NAME", help="Log: whose closed form is made of --sends; fastest: of all.  [default: ring]"
)
@click.option("--arch", type=click.Choice(ARCHITECTURES), help="Log: GPUs, where it does not say, for NCCL's tuner.")
@click.option(
    "--nodes", type=click.IntRange(1), metavar="N", help="Log: nodes that hold the ranks, where it does not say."
)
@click.option("--nccl", "version", metavar="VERSION", help="Log: NCCL's version, where it does not say.")
@click.option(
    "--cpu",
    type=click.Choice(tuple(NET_OVERHEAD)),
    help="Log: CPU vendor, where it does not say and ranks are on several nodes.",
)
@quantity("--within", "bandwidth", "Log: rate of each of NCCL's --channels inside of a node.")
@quantity("--between", "bandwidth", "Log: rate of each of them between nodes (default: as --within).")
@quantity("--nic", "bandwidth", "Log: the NIC of each GPU on several nodes, from which channels are worked out.")
@click.option("--table", type=click.IntRange(1), metavar="K", help="Log: only this one of its tables.")
@plot_option("times against size (of a log with several tables: with --table)")
@json_option
def compare(what: str, plot: File | None, as_json: bool, **told: Any) -> None:
    """How far formula, simulation and fits are from what was measured, size by size.

    With the NAME of a collective's algorithm, or the file of a SCHEDULE: it is carried out on real ranks as hopline run does,
    and the closed form and the simulation on the machine measured here stand beside. With a LOG, or a table of measured
    collectives: the closed form, a line and a reading fitted to it (each size predicted without itself), and NCCL's tuner.

    An option that nothing here goes by is refused. A picture that hopline drew before is kept under a dated name (.bak); any
    other file that is there is refused, and no folder is made.
    """
    options.check_alone(told)
    if logs.is_log(what):
        options.refuse_of_ranks(told, what)
        _log(what, told, plot, as_json)
        return
    options.refuse_of_logs(told, what)
    _ranks(what, told, plot, as_json)


def _log(what: str, told: dict[str, Any], plot: File | None, as_json: bool) -> None:
    outputs.check(plot=plot)
    stated = {name: told[name] for name in _STATED}
    found = resolve("hopline.jobs.comparing.tables:compare")(
        what, table=told["table"], sends=told["sends"], sends_table=told["sends_table"], architecture=told["arch"],
        algorithm=told["algorithm"] or "ring", **stated,
    )  # fmt: skip
    if not any(one.columns for one in found):
        reason = resolve("hopline.jobs.comparing.used:reasons")(found)
        raise InputError(f"{what}: nothing can be set beside it: {reason}")
    resolve("hopline.jobs.comparing.used:refuse_idle")(options.given(told), found)
    drawn, lines = [one for one in found if one.columns], []
    if plot is not None:
        if len(drawn) != 1:
            raise click.UsageError(f"--plot: shows one table, {len(drawn)} of {what} can be drawn: choose with --table")
        lines = [f"Picture: {images.written(plot, images.save(pages.picture(drawn[0]), plot))}"]
    if as_json:
        print_json([pages.data(one) for one in found])
        return
    alone = len(found) == 1 and told["table"] is None
    blocks = [
        block
        for place, one in enumerate(found, told["table"] or 1)
        for block in pages.page(one, _MOST if len(found) == 1 else _FEW, "" if alone else f"Table {place}: ")
    ]
    print_document([*blocks, *pages.overall(found), *pages.legend(found), *map(Line, lines)])


def _ranks(what: str, told: dict[str, Any], plot: File | None, as_json: bool) -> None:
    transport = told.pop("transport") or "mpi"
    shape = {name: told[name] for name in ("hierarchy", "chunks", "channels", "targets")}
    given = led(transport, told["ranks"])
    if told["ranks"] == 1 or (given is not None and given.ranks == 1):
        raise click.UsageError("one rank sends nothing: expected -n 2 or more")
    outputs.check(plot=plot, out=told["out"])
    machine = machines.find(told["machine"] or measuring.LOCAL)
    executor = executor_of(machine.operations, given.transport.label if given else transport)
    founds = founds_of(what, given.ranks if given else told["ranks"], told["size"], shape)
    file = outputs.samples_file(told["out"])
    with progress("running") as bar:
        ran = executing.execute(
            founds, transport, repeats=told["repeats"] or executing.REPEATS, file=file, watch=bar, given=given
        )
    check_timed(ran)
    found = beside_ranks(ran, machine, executor)
    lines = []
    if plot is not None:
        lines = [f"Picture: {images.written(plot, images.save(pages.picture(found.comparison), plot))}"]
    if as_json:
        print_json({**pages.data(found.comparison), **_run_data(found)})
    else:
        tell([*_page(found), *map(Line, lines)], given)
    if trouble := ran.unwritten or ran.trouble:
        raise trouble
    if ran.interrupted:
        click.echo(f"hopline: interrupted; what was timed is in {ran.file}", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


def _page(found: Beside) -> list[Block]:
    blocks = [*gone_on(found.ran), *pages.page(found.comparison), *pages.legend([found.comparison])]
    if found.terms:
        blocks += pages.terms(found.comparison, found.terms)
    blocks += remarks(found.ran.remarks)
    return [*blocks, Heading(f"Samples: {found.ran.file}")]


def _run_data(found: Beside) -> dict[str, Any]:
    """Of the run itself; ``costs_s``: seconds of an operation of the executor as it was then, by size."""
    first = found.cells[0].sample
    assert first is not None
    return {
        "schedule": first.benchmark, "ranks": first.ranks, "transport": first.transport, "host": first.host,
        "repeats": [len(cell.sample.times) for cell in found.cells if cell.sample is not None],
        "terms": found.terms, "remarks": found.ran.remarks, "file": str(found.ran.file),
        "costs_s": [None if cell.executed is None else cell.executed.cost for cell in found.cells],
    }  # fmt: skip
