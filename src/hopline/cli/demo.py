"""``hopline demo``: measure, fit, predict and draw, on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File

import click
import numpy as np

from hopline.cli.options import json_option, print_json, quantity
from hopline.errors import OutputError
from hopline.jobs import demonstration, measuring, routes, transfer
from hopline.jobs.demonstration import Demonstration
from hopline.jobs.machines import find
from hopline.quantity import show
from hopline.records.sample import Sample
from hopline.show import fitting as fit_pages
from hopline.show import images
from hopline.show import measuring as pages
from hopline.show import transfer as transfer_pages
from hopline.show.document import Block, Grid, Heading, Line, print_document

EXAMPLES = """\b
Example:
  hopline demo --folder hopline-demo
"""
_SECONDS = 25.0
_SMALL, _LARGE = 1024.0, float(32 << 20)


@click.command(epilog=EXAMPLES)
@click.option(
    "--folder",
    type=click.Path(path_type=File, file_okay=False),
    default=File("hopline-demo"),
    show_default=True,
    help="Where samples and pictures go.",
)
@quantity("--seconds", "time", "Time to measure for (default 25 s).", bare="s")
@json_option
def demo(folder: File, seconds: float | None, as_json: bool) -> None:
    """Measure this machine, fit on part of the sizes, predict the others and compare, say what binds, draw it.

    It saves this machine as 'local' for the other commands.
    """
    time = _SECONDS if seconds is None else seconds
    demonstration.plan(time)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from None
    samples = folder / measuring.new_file().name
    if not as_json:
        text = f"Sending real messages between two processes of this machine for about {show(time, 'time', 2)} ..."
        click.echo(text, err=True)
    found = demonstration.conclude(_measured(time, samples))
    machine, _ = measuring.save_local(measuring.fitted(found.samples, samples), "local")
    pictures = _pictures(found, folder)
    if as_json:
        files = {"samples": str(samples), "machine": str(machine), "pictures": [str(file) for file in pictures]}
        print_json({**_data(found), **files})
        return
    print_document([*_page(found), Heading("Files"), *(Line(f"  {file}") for file in (samples, machine, *pictures))])
    click.echo("\nNext: hopline p2p --size 1MiB --machine local --path rank0,rank1")


def _pictures(found: Demonstration, folder: File) -> list[File]:
    """Draw what was fitted and what was predicted, as an image and as a page."""
    curves = {"one line": found.line, "pieces": found.pieces}
    title = "Send/Recv on this machine: fitted on some sizes, predicted on the others"
    held_out = np.array(demonstration.HELD_OUT_SIZES, dtype=float)
    drawing = fit_pages.picture(found.all_size, found.all_time, curves, title, held_out)
    files = [folder / "prediction.png", folder / "prediction.html"]
    for file in files:
        images.save(drawing, file)
    return files


def _data(found: Demonstration) -> dict[str, object]:
    predicted = [{"size": s.size, "measured_s": s.median, "predicted_s": t} for s, t in found.predicted]
    return {"predicted": predicted, "line": asdict(found.line), "pieces": asdict(found.pieces)}


def _measured(seconds: float, file: File) -> list[Sample]:
    with pages.progress("measuring") as bar:
        return demonstration.measure(seconds, file, measuring.told(bar))


def _page(found: Demonstration) -> list[Block]:
    first = found.samples[0]
    blocks: list[Block] = [
        Heading(f"Measured: {first.benchmark} of Send/Recv between {first.ranks} ranks on {first.host}")
    ]
    blocks += pages.samples([s for s in found.samples if s.size in demonstration.FITTED_SIZES][::3])
    blocks += [
        Heading("Fitted on those sizes"),
        *fit_pages.fit_lines(found.line, found.pieces),
    ]
    rows = []
    for (sample, time), error in zip(found.predicted, found.errors, strict=True):
        rows.append(
            (show(sample.size, "size"), show(time, "time"), show(sample.median, "time"), f"{100 * error:+.1f} %")
        )
    absolute = [abs(error) for error in found.errors]
    blocks += [
        Heading("Predicted for sizes that the fit has not seen"),
        Grid(("size", "predicted", "measured", "error"), rows, left=0),
    ]
    blocks.append(
        Line(f"Mean error {100 * sum(absolute) / len(absolute):.1f} %, worst {100 * max(absolute):.1f} %.", "strong")
    )
    return blocks + _limits()


def _limits() -> list[Block]:
    """What binds at a small and at a large size, by the machine just saved."""
    blocks: list[Block] = [Heading("Which limit binds")]
    for size in (_SMALL, _LARGE):
        route, path = routes.machine_route(find("local"), ["rank0", "rank1"], size)
        answer = transfer.cost(transfer.Transfer(size, route, way=path.forwarding))
        part = max(answer.estimate.terms, key=lambda term: term.value)
        share = transfer_pages.share(part.value, answer.estimate.value)
        blocks.append(
            Line(
                f"  {show(size, 'size'):>7}: {share} of {show(answer.estimate.value, 'time')} is the {answer.estimate.binds}"
            )
        )
    return blocks
