"""``hopline measure``: real Send/Recv between two processes of this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File

import click

from hopline.cli.options import json_option, print_json, quantity
from hopline.errors import INTERRUPTED, FitError
from hopline.jobs import machines, measuring
from hopline.jobs.fitting import TableFit
from hopline.jobs.measuring import Measured
from hopline.run.plan import DEFAULT_SIZES, Plan
from hopline.show import fitting as fit_pages
from hopline.show import measuring as pages
from hopline.show.document import Block, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline measure                                  # about half a minute at most, saved as 'local'
  hopline measure --sizes 1KiB..1MiB --seconds 5s --out samples.jsonl
  hopline p2p --size 1MiB --machine local --path rank0,rank1
"""


@click.command(epilog=EXAMPLES)
@quantity("--sizes", "size", "Message sizes (default: 0 B, 1 B and 8 B to 64 MiB, doubling).", many=True)
@quantity("--seconds", "time", "Time for all sizes together (default 30 s).")
@click.option("--out", type=click.Path(path_type=File), help="Samples file to append to (default: a new one each run).")
@click.option(
    "--save",
    "name",
    default="local",
    show_default=True,
    metavar="NAME|FILE",
    help="Save the fitted machine: by name, or as FILE.toml.",
)
@json_option
def measure(sizes: list[float] | None, seconds: float | None, out: File | None, name: str, as_json: bool) -> None:
    """Measure the one-way time of real Send/Recv between two MPI processes on this machine, and save it as a machine.

    hopline starts its own two ranks; no MPI of the system is needed (pip install 'hopline[mpi]'). What arrives is compared
    with what was sent, byte for byte. Repeats go on until the median's 95 % interval is within 2 % or the time is used.
    Ctrl-C keeps what was measured.
    """
    machines.target(name)
    whole = tuple(int(size) for size in sizes or DEFAULT_SIZES)
    plan = Plan(sizes=tuple(dict.fromkeys(whole)), seconds=30.0 if seconds is None else seconds)
    file = out or measuring.new_file()
    measured = _watched(plan, file)
    if not measured.samples:
        click.echo("hopline: interrupted before the first size was measured", err=True)
        raise click.exceptions.Exit(INTERRUPTED)
    fit = measuring.fitted(measured.samples, file)
    saved, kept, reason = None, None, fit.reason
    if fit.pieces is not None and not measured.interrupted:
        try:
            saved, kept = measuring.save_local(fit, name)
        except FitError as error:
            reason = str(error)
    if as_json:
        print_json(_data(measured, fit, file, saved))
    else:
        _print(measured, fit, file, name, saved, kept, reason)
    if measured.interrupted:
        click.echo(
            f"hopline: interrupted after {len(measured.samples)} of {len(plan.sizes)} sizes, which are kept", err=True
        )
        raise click.exceptions.Exit(INTERRUPTED)


def _watched(plan: Plan, file: File) -> Measured:
    with pages.progress("measuring") as bar:
        return measuring.measure(plan, file, measuring.told(bar))


def _print(
    measured: Measured, fit: TableFit, file: File, name: str, saved: File | None, kept: File | None, reason: str
) -> None:
    sample = measured.samples[0]
    blocks: list[Block] = [Heading(f"Send/Recv between {sample.ranks} ranks over {sample.transport} on {sample.host}")]
    blocks += pages.samples(measured.samples)
    if fit.line is not None and fit.pieces is not None:
        blocks += [Heading("Fitted"), *fit_pages.fit_lines(fit.line, fit.pieces, fit.table.size, fit.time)]
    if reason:
        blocks.append(Line(f"No machine is saved: {reason}", "bad"))
    blocks.append(Heading(f"Samples: {file}"))
    if saved is not None:
        blocks.append(Line(f"Machine: {saved}" + (f" (what was there is now {kept.name})" if kept else "")))
        blocks.append(Line(f"Try: hopline p2p --size 1MiB --machine {name} --path rank0,rank1"))
    print_document(blocks)


def _data(measured: Measured, fit: TableFit, file: File, saved: File | None) -> dict[str, object]:
    return {
        "samples": [{**asdict(s), "median_s": s.median, "quartiles_s": list(s.quartiles)} for s in measured.samples],
        "line": None if fit.line is None else asdict(fit.line),
        "pieces": None if fit.pieces is None else asdict(fit.pieces),
        "file": str(file),
        "machine": None if saved is None else str(saved),
        "interrupted": measured.interrupted,
    }
