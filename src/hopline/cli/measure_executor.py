"""``hopline measure --what executor``: steps of schedules, measured as ``hopline run`` takes them.

What belongs here: its course and its page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import print_json
from hopline.cli.progress import progress
from hopline.cli.run import led, tell
from hopline.errors import INTERRUPTED, FitError, RunError
from hopline.jobs import machines, measuring, outputs, probing
from hopline.jobs.executing import Given
from hopline.jobs.probing import Probed
from hopline.machine.executor import STEPS, Executor
from hopline.quantity import show
from hopline.schedule.probes import PROBES, RANKS
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.measuring import crowds


def named(words: Sequence[str], executor: str) -> bool:
    """Whether the words of a command line ask for it, before they are read as options."""
    asked = [after for before, after in pairwise(words) if before == "--what"]
    asked += [word.partition("=")[2] for word in words if word.startswith("--what=")]
    return any(executor in value.split(",") for value in asked)


def measure(
    transport: str, sizes: list[float] | None, seconds: float, out: File | None, name: str | None, as_json: bool
) -> None:  # fmt: skip
    """Measure, keep, save and print."""
    given = led(transport)
    if given is not None and given.ranks != RANKS:
        raise RunError(
            f"the launcher started {given.ranks} ranks: the executor's steps are measured between {RANKS}; start as many"
        )
    whole = _whole(sizes)
    if not seconds > 0:
        raise click.UsageError(f"--seconds {seconds:g}: expected more than 0")
    outputs.check(out=out, save=outputs.machine_file(name))
    probing.check_target(measuring.LOCAL if name is None else name)
    file = outputs.samples_file(out)
    with progress("measuring") as bar:
        probed = probing.measure(file, transport, whole, seconds, bar, given)
    if not probed.samples:
        if probed.trouble is not None:
            raise probed.trouble
        click.echo("hopline: interrupted before anything was measured", err=True)
        raise click.exceptions.Exit(INTERRUPTED)
    _answer(probed, measuring.LOCAL if name is None else name, as_json, given)


def _whole(sizes: list[float] | None) -> tuple[int, ...]:
    if sizes is None:
        return probing.SIZES
    whole = tuple(sorted({int(size) for size in sizes}))
    if len(whole) < 2 or not whole[0]:
        raise click.UsageError("--sizes: expected two sizes or more above 0 B, since steps are read between sizes")
    return whole


def _answer(probed: Probed, name: str, as_json: bool, given: Given | None) -> None:
    saved, kept, found, reason = None, None, None, ""
    if probed.interrupted or probed.trouble is not None:
        reason = "it ended early"
    else:
        try:
            saved, kept, found = probing.save(probed, name)
        except FitError as error:
            reason = str(error)
    if as_json:
        print_json(_data(probed, saved, found, reason))
    else:
        tell(_page(probed, saved, kept, found, reason), given)
    if probed.trouble is not None:
        raise probed.trouble
    if probed.interrupted:
        click.echo(
            f"hopline: interrupted; what was timed is in {probed.file}; with --out it goes on from there", err=True
        )
        raise click.exceptions.Exit(INTERRUPTED)


def _page(probed: Probed, saved: File | None, kept: File | None, found: Executor | None, reason: str) -> list[Block]:
    blocks: list[Block] = [
        Heading(f"Steps of schedules, {RANKS} ranks over {probed.transport} on {probed.samples[0].host}")
    ]
    if probed.started is None:
        blocks.append(Line("All was in the samples file already, so nothing was measured now.", "faint"))
    else:
        blocks += crowds(probed.started.crowded)
    if found is not None:
        sizes = found.steps[STEPS[0]][0]
        rows = [
            (show(size, "size"), *(_at(found, step, size) for step in STEPS), str(_repeats(probed, size)))
            for size in sizes
        ]
        blocks.append(Grid(("size", *STEPS, "repeats"), rows, left=0))
        blocks += [Line(f"{step}: {PROBES[step].says}", "faint") for step in STEPS]
        cold = "More than half of a round trip in hopline measure: Python takes the steps, with neither caches nor code warm."
        blocks.append(Line(cold, "faint"))
        own, first = show(found.operation, "time", 3), show(found.first, "time", 3)
        told = "Medians of single steps, with all that comes before and after them: of that,"
        blocks.append(Line(f"{told} {first} only the first message of a schedule costs,"))
        blocks.append(Line(f"and {own} each operation of the executor, without a byte or a peer."))
    blocks.append(Heading(f"Samples: {probed.file}"))
    if reason:
        blocks.append(Line(f"No machine is saved: {reason}", "bad"))
    if saved is not None:
        blocks.append(Line(f"Machine: {saved}" + (f" (what was there is now {kept.name})" if kept else "")))
        over = "" if probed.transport.startswith("mpi") else f" --transport {probed.transport}"
        shown = saved.stem if saved.parent == machines.folder() else saved
        blocks.append(Line(f"Try: hopline compare all_reduce-ring -n 2 --size 1KiB..1MiB --machine {shown}{over}"))
    return blocks


def _at(found: Executor, step: str, size: float) -> str:
    sizes, times = found.steps[step]
    known = dict(zip(sizes.tolist(), times.tolist(), strict=True))
    return show(known[size], "time", 3) if size in known else ""


def _repeats(probed: Probed, size: float) -> int:
    """The fewest that a step of this size has."""
    return min(len(sample.times) for sample in probed.samples if sample.size == size)


def _data(probed: Probed, saved: File | None, found: Executor | None, reason: str) -> dict[str, Any]:
    steps = {} if found is None else found.steps
    return {
        "transport": probed.transport,
        "samples": [{**asdict(sample), "median_s": sample.median} for sample in probed.samples],
        "operation_s": None if found is None else found.operation,
        "first_s": None if found is None else found.first,
        "steps": {
            step: {"size": size.tolist(), "time_s": time.tolist()} for step, (size, time) in steps.items()
        },
        "file": str(probed.file),
        "machine": None if saved is None else str(saved),
        "reason": reason,
        "visits": probed.done,
        "visits_wanted": probed.wanted,
        "interrupted": probed.interrupted,
        "crowded": [
            {"host": host, "ranks": ranks, "cores": cores}
            for host, ranks, cores in (probed.started.crowded if probed.started else ())
        ],
    }  # fmt: skip
