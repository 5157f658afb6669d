"""``hopline run``: a schedule on real ranks, verified and timed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path as File
from typing import Any

import click

from hopline.cli import run_page as page
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.progress import progress
from hopline.cli.schedule_options import SIZE, file_size, shape_of, shape_options, whole
from hopline.errors import INTERRUPTED, HoplineError
from hopline.jobs import executing, outputs, schedules
from hopline.jobs.executing import Given
from hopline.jobs.schedules import Found
from hopline.run.executing.transports import TRANSPORTS
from hopline.show.document import Block, plain, print_document

_SAYS = "\n".join(f"  {name:<6}{carrier.says}" for name, carrier in TRANSPORTS.items())
EPILOG = f"""\b
Transports:
{_SAYS}

\b
Examples:
  hopline run all_reduce-ring -n 4 --size 1MiB
  hopline run all_reduce-ring -n 2 --size 1KiB..1MiB --out ring.jsonl    # Ctrl-C; the same again goes on
  hopline run program.goal --trace run.json.gz                           # open it in ui.perfetto.dev
  mpirun -n 16 hopline run alltoall-pairwise --size 16MiB
  torchrun --nproc-per-node 4 --no-python hopline run all_reduce-ring --size 1MiB --transport gloo
"""


class OneOfRanks(click.Command):
    """A command that a launcher may have started several times: all read the same words, and the first rank speaks."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the words; ranks but the first are silent about what is wrong with them."""
        with _silent_but_first():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Do it; ranks but the first are silent about what is found before they attend, and print no answer."""
        with _silent_but_first():
            return super().invoke(ctx)


@contextlib.contextmanager
def _silent_but_first() -> Iterator[None]:
    """Of ranks but the first nothing is heard, and what ends them is no failure of theirs."""
    if not executing.rank_told():
        yield
        return
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    except (click.ClickException, click.exceptions.Exit, HoplineError):
        raise click.exceptions.Exit(0) from None


@click.command(cls=OneOfRanks, epilog=EPILOG)
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--transport", type=click.Choice(list(TRANSPORTS)), default="mpi", show_default=True, help="What carries messages."
)
@click.option("-n", "--ranks", "ranks", type=click.IntRange(1), metavar="N", help="Number of ranks.")
@quantity("--size", "size", f"{SIZE} Several are run one after another.", many=True)
@shape_options()
@click.option(
    "--repeats", type=click.IntRange(1), default=executing.REPEATS, show_default=True, metavar="K",
    help="How often each is carried out, after two warm-ups that do not count.",
)  # fmt: skip
@click.option(
    "--out",
    type=click.Path(path_type=File),
    metavar="FILE",
    help="Samples file to begin or go on with (default: a new one).",
)
@click.option(
    "--trace", type=click.Path(path_type=File), metavar="FILE",
    help="Trace of the middle repeat for ui.perfetto.dev (.json, .json.gz).",
)  # fmt: skip
@plot_option("who did what when in the middle repeat")
@json_option
def run(
    name: str, transport: str, ranks: int | None, size: list[float] | None, repeats: int,
    out: File | None, trace: File | None, plot: File | None, as_json: bool, **shape: Any,
) -> None:  # fmt: skip
    """Carry out a schedule on real ranks: data verified, every operation timed on one clock.

    NAME is a collective and its algorithm (hopline schedule list), FILE a schedule of another tool (hopline schedule). hopline
    starts ranks on this host; started by mpirun, srun or torchrun, it uses theirs. Every rank's result is compared with what
    the schedule promises, byte for byte, after each repeat.

    Ctrl-C keeps what was timed; the same command with the same --out goes on from there. A trace or a picture that hopline
    wrote before is kept under a dated name (.bak); any other file that is there is refused, and no folder is made.
    """
    context, given = click.get_current_context(), led(transport, ranks)
    for file, option in ((trace, "--trace"), (plot, "--plot")):
        if file is not None and len(size or ()) > 1:
            raise click.UsageError(f"{option}: shows one size, and --size has {len(size or ())}", context)
    outputs.check(trace=trace, plot=plot, out=out)
    count = given.ranks if given else ranks
    founds = founds_of(name, count, size, dict(shape))
    file = outputs.samples_file(out)
    with progress("running") as bar:
        ran = executing.execute(founds, transport, repeats=repeats, file=file, watch=bar, given=given)
    if ran.nothing_new and (trace or plot):
        shown = "--plot" if trace is None else "--trace"
        raise click.UsageError(
            f"{shown}: shows a repeat of this run, and all {repeats} are in {file} already: raise --repeats, or leave it out"
        )
    _answer(ran, trace, plot, as_json, out is not None, given)


def led(transport: str, ranks: int | None = None) -> Given | None:
    """The ranks that a launcher started us with, until the command ends; None where none did.

    All but the first attend here, silent about what goes wrong, and leave. Raises UsageError where the user says that there
    are ``ranks``, and there are not.
    """
    try:
        given = executing.join(transport)
    except HoplineError:
        if executing.rank_told():
            raise click.exceptions.Exit(0) from None
        raise
    if given is None:
        return None
    if not given.leads:
        given.attend()
        raise click.exceptions.Exit(0)
    context = click.get_current_context()
    context.with_resource(given)
    if ranks not in (None, given.ranks):
        raise click.UsageError(f"-n {ranks}: the launcher started {given.ranks}; leave -n out", context)
    return given


def check_timed(ran: executing.Ran) -> None:
    """Leave with what went wrong where nothing was timed."""
    if any(cell.sample for cell in ran.cells):
        return
    if trouble := ran.unwritten or ran.trouble:
        raise trouble
    click.echo("hopline: interrupted before anything was timed", err=True)
    raise click.exceptions.Exit(INTERRUPTED)


def tell(blocks: Sequence[Block], given: Given | None) -> None:
    """Print; under a launcher plainly, as it looks like a terminal and often is a file."""
    if given is None:
        print_document(blocks)
    else:
        click.echo(plain(blocks), nl=False)


def founds_of(name: str, ranks: int | None, sizes: list[float] | None, shape: dict[str, Any]) -> list[Found]:
    """The schedule of each size, once; of a file that says its own, where there is no size."""
    wanted: list[float | None] = [*sizes] if sizes else [None]
    return [_found(name, ranks, one, dict(shape)) for one in dict.fromkeys(wanted)]


def _found(name: str, ranks: int | None, size: float | None, shape: dict[str, Any]) -> Found:
    entry = schedules.entry_of(name)
    if entry is not None:
        return schedules.built(entry, shape_of(entry, ranks, size, **shape))
    return schedules.read(name, file_size({"size": None if size is None else whole(size), **shape}), ranks)


def _answer(
    ran: executing.Ran, trace: File | None, plot: File | None, as_json: bool, named: bool, given: Given | None
) -> None:  # fmt: skip
    """Write what was asked for, print, and leave with what went wrong."""
    trouble: Exception | None = ran.unwritten or ran.trouble
    written: list[str] = []
    try:
        written = page.write(ran, trace, plot)
    except HoplineError as error:
        trouble = trouble or error
    check_timed(ran)
    if as_json:
        print_json(page.data(ran))
    else:
        tell([*page.page(ran), *page.written(written)], given)
    if ran.interrupted:
        again = "; the same command again goes on from there" if named else ""
        click.echo(f"hopline: interrupted; what was timed is in {ran.file}{again}", err=True)
        raise click.exceptions.Exit(INTERRUPTED)
    if trouble is not None:
        raise trouble
