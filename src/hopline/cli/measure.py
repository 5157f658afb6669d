"""``hopline measure``: real messages between processes, started here or by mpirun and srun."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path as File
from typing import Any

import click

from hopline.cli import measure_executor
from hopline.cli import measure_page as page
from hopline.cli.measure_plan import EXECUTOR, LATENCY, SECONDS, Told, check_words, plan_of, refuse_beside_executor
from hopline.cli.options import Quantity, json_option, plot_option, print_json, quantity
from hopline.cli.run import OneOfRanks
from hopline.errors import INTERRUPTED, FitError, HoplineError
from hopline.jobs import measured_pairs, measuring, outputs
from hopline.jobs.measuring import Measured, World
from hopline.run.executing.transports import TRANSPORTS
from hopline.run.kinds import ALL, BY_NAME, PAIRS, WORDS
from hopline.run.plan import DEFAULT_WINDOW
from hopline.show import images
from hopline.show import measuring as pages
from hopline.show.document import Block, Line, plain, print_document

_SAYS = {
    **{name: kind.says for name, kind in BY_NAME.items() if not kind.paired},
    PAIRS: "every ordered pair of ranks: ping-pong and stream; names a slow rank or link",
    ALL: "all of these",
}
_WHAT = "\n".join(f"  {word:<9}{_SAYS[word]}" for word in WORDS)
EPILOG = f"""\b
What can be measured:
{_WHAT}
  {EXECUTOR:<9}steps of schedules as hopline run takes them, which hopline compare predicts with; by itself

\b
Examples:
  hopline measure                                  # about half a minute at most, saved as 'local'
  hopline measure --sizes 1KiB..1MiB --seconds 5s --out samples.jsonl
  hopline measure --what bw,bibw --window 16
  hopline measure --what all --out all.jsonl       # Ctrl-C; the same again goes on
  hopline measure --what executor                  # added to 'local'; then hopline compare
  mpirun -n 16 hopline measure --what pairs        # the ranks of mpirun or srun, on any hosts
  hopline p2p --size 1MiB --machine local --path rank0,rank1
"""


class OneOfSeveral(OneOfRanks):
    """A command that mpirun or srun may have started several times: the first rank runs it, the others attend."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Join the ranks before options are looked at, so that a wrong one ends all of them, with one message."""
        world = None if measure_executor.named(args, EXECUTOR) else self._joined()
        if world is None or parent is None:
            return super().make_context(info_name, args, parent, **extra)
        if not world.leads:
            world.attend()
            raise click.exceptions.Exit(0)
        parent.obj = parent.with_resource(world)
        return super().make_context(info_name, args, parent, **extra)

    @staticmethod
    def _joined() -> World | None:
        try:
            return measuring.join()
        except HoplineError:
            told = measuring.launched()
            if told is not None and told.rank > 0:
                raise click.exceptions.Exit(0) from None
            raise


def _words(_context: click.Context, _option: click.Parameter, value: str) -> list[str]:
    return [word.strip() for word in value.split(",")]


@click.command(cls=OneOfSeveral, epilog=EPILOG)
@click.option(
    "--what", callback=_words, default="latency", show_default=True, metavar="KIND[,...]", help="What to measure, see below."
)  # fmt: skip
@quantity(
    "--sizes", "size", "Message sizes (default: 0 B, 1 B and 8 B to 64 MiB, doubling; pairs: 8 B, 256 KiB).", many=True
)
@click.option(
    "--seconds", type=Quantity("time", bare="s"),
    help=f"Time for all that is still to be measured (default {SECONDS:g} s); 5 repeats of each may take longer. Like 5s.",
)  # fmt: skip
@click.option(
    "--window", type=int, metavar="K", help=f"Messages in flight in bw, bibw, mbw and pairs (default {DEFAULT_WINDOW})."
)
@click.option(
    "--transport", type=click.Choice(list(TRANSPORTS)), default="mpi", show_default=True,
    help="What carries messages; other than mpi for executor only.",
)  # fmt: skip
@click.option(
    "-n",
    "--ranks",
    "ranks",
    type=int,
    metavar="N",
    help="Ranks for mbw, barrier and pairs (default: one a core, 4 to 8).",
)
@click.option(
    "--out",
    type=click.Path(path_type=File),
    metavar="FILE",
    help="Samples file to begin or go on with (default: a new one).",
)
@click.option(
    "--save",
    "name",
    metavar="NAME|FILE",
    help="Save the machine made of latency or executor: by name (default local), or as FILE.toml.",
)
@plot_option("the latencies, and of all pairs")
@json_option
@click.pass_context
def measure(
    context: click.Context, what: list[str], sizes: list[float] | None, seconds: float | None, window: int | None,
    transport: str, ranks: int | None, out: File | None, name: str | None, plot: File | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure real messages between MPI processes, and save the one-way time of Send/Recv as a machine.

    hopline starts its own ranks on this host; no MPI of the system is needed (pip install 'hopline[mpi]'). Started by mpirun
    or srun, it uses their ranks instead, and their MPI decides how bytes travel. What arrives is compared with what was
    sent, byte for byte. Repeats go on until the median's 95 % interval is within 2 % or the time is used.

    Ctrl-C keeps what was measured; the same command with the same --out goes on from there. A machine or a picture that
    hopline wrote before is kept under a dated name (.bak); any other file that is there is refused, and no folder is made.
    """
    told = Told(what, sizes, seconds, window, ranks, name, plot)
    check_words(what)
    if EXECUTOR in what:
        refuse_beside_executor(told)
        measure_executor.measure(transport, sizes, SECONDS if seconds is None else seconds, out, name, as_json)
        return
    if transport != "mpi":
        raise click.UsageError(f"--transport {transport}: only executor is measured over it; --what {what[0]} is MPI's")
    world: World | None = context.parent.obj if context.parent and isinstance(context.parent.obj, World) else None
    plan, notes = plan_of(told, world)
    outputs.check(plot=plot, out=out, save=outputs.machine_file(name) if LATENCY in plan.kinds else None)
    file = outputs.samples_file(out)
    if world is not None:
        click.echo(f"hopline: {world.ranks} ranks that were started for it; samples go to {file}", err=True)
    with pages.progress("measuring") as bar:
        more = {} if world is None else {"world": world}
        measured = measuring.measure(plan, file, measuring.told(bar), **more)
    if not measured.samples:
        click.echo("hopline: interrupted before anything was measured", err=True)
        raise click.exceptions.Exit(INTERRUPTED)
    _answer(measured, file, name, plot, as_json, notes, print_document if world is None else _print_plain)
    if measured.interrupted:
        begun = f"{len(measured.samples)} of {max(measured.planned, len(measured.samples))}"
        click.echo(f"hopline: interrupted after {begun} measurements were begun; they are kept in {file}", err=True)
        if out is not None:
            click.echo("hopline: the same command again goes on from there", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


def _print_plain(blocks: Sequence[Block]) -> None:
    """To what a launcher makes of our output: it looks like a terminal and often is a file."""
    click.echo(plain(blocks), nl=False)


def _answer(
    measured: Measured, file: File, name: str | None, plot: File | None, as_json: bool, notes: list[str],
    write: Callable[[Sequence[Block]], None],
) -> None:  # fmt: skip
    """Fit, save and print."""
    fit = measuring.fitted(measured.latencies, file) if measured.latencies else None
    saved, kept, reason = None, None, "" if fit is None else fit.reason
    if fit is not None and name is None and measured.nothing_new:
        reason = reason or "nothing was measured now; --save NAME saves it all the same"
    elif fit is not None and fit.pieces is not None and not measured.interrupted:
        try:
            saved, kept = measuring.save_measured(measured, fit, name)
        except FitError as error:
            reason = str(error)
    found = measured_pairs.studies(measured.turns)
    if plot is not None and (drawn := page.picture(fit, found)) is not None:
        notes = [*notes, f"Picture: {images.written(plot, images.save(drawn, plot))}"]
    elif plot is not None:
        notes = [*notes, page.no_picture(found)]
    if as_json:
        print_json(page.data(measured, fit, found, file, saved, notes))
        return
    blocks = [*page.gone_on(measured), *(Line(note, "faint") for note in notes), *pages.crowds(measured.crowded)]
    blocks += pages.results(measured.series)
    blocks += [block for study in found for block in page.pairs(study, bool(measured.crowded))]
    write(blocks + page.end(fit, file, saved, kept, reason))
