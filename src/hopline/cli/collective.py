"""``hopline collective``: all algorithms of a collective side by side.

What belongs here: its options. Its answer as JSON is ``collective_page``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.network_given import each_network
from hopline.cli.network_options import networks_options
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.progress import progress
from hopline.jobs.collectives import contest, names
from hopline.jobs.collectives.contest import Question
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.quantity import counted
from hopline.records.contest import Contest
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline collective all_reduce --machine dgx-h100 -n 16 --sizes 1KiB..1GiB:x4
  hopline collective all_reduce --level 8:1us:450GB/s --level 2:2us:50GB/s --sizes 192MiB --simulate
  hopline collective allreduce-ring -n 16 --latency 1us --bandwidth 50GB/s --reduce 400GB/s  # what would help a ring?
  hopline collective alltoall -n 2..64:x2 --latency 1us --bandwidth 50GB/s --plot alltoall.html
  hopline collective broadcast --machine dgx-h100,two-nodes.toml -n 8
"""


@click.command(epilog=EXAMPLES)
@click.argument("benchmark", required=False)
@networks_options
@quantity("--sizes", "size", "Sizes as nccl-tests counts them (default: 1 KiB to 1 GiB).", many=True)
@click.option("--algorithm", metavar="NAME", help="The algorithm in use: what would help is worked out for it.")
@click.option(
    "--channels",
    type=click.IntRange(1),
    metavar="K",
    help="Rings at once (default: as many as are fastest by closed form at each size).",
)
@click.option(
    "--simulate", is_flag=True, help="Simulate every algorithm at every size too, and say where that differs."
)
@click.option("--list", "as_list", is_flag=True, help="List the collectives and their algorithms.")
@plot_option("time against size for each algorithm")
@json_option
def collective(
    benchmark: str | None, sizes: list[float] | None, algorithm: str | None, channels: int | None, simulate: bool,
    as_list: bool, plot: File | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """All algorithms of a collective side by side: which is fastest from which size on, what binds it, what would help.

    BENCHMARK is a collective in the words of nccl-tests, OSU or MPI, or one with its algorithm (all_reduce-ring); without it
    all are listed. Times are by closed form, with the best number of chunks or rings for each size; --simulate puts
    simulated ones beside them. Several machines or numbers of ranks (-n 2,4,8) give the fastest of each.
    """
    if as_list or benchmark is None:
        _list(as_json)
        return
    question = Question(
        names.asked(benchmark, algorithm),
        None if sizes is None else contest.whole_sizes(sizes),
        channels,
        resolve("hopline.jobs.collectives.simulated:engine")() if simulate else None,
    )
    networks = each_network(**given)
    with progress(question.asked.benchmark) as bar:
        found, failed = contest.contests(networks, question, bar)
        if plot is not None:
            _draw(question, networks, found, plot)
    if as_json:
        print_json(resolve("hopline.cli.collective_page:data")(found, failed))
        return
    if len(networks) == 1:
        title = f"{question.asked.benchmark} on {counted(found[0][1].ranks, 'rank')}"
        print_document(resolve("hopline.show.collective:page")(title, found[0][1]))
    else:
        print_document(resolve("hopline.show.collectives:side_by_side")(question.asked.benchmark, found, failed))
    if plot is not None:
        click.echo(f"\nPicture: {plot}")


def _list(as_json: bool) -> None:
    """What there is."""
    if as_json:
        print_json({name: dict(algorithms) for name, algorithms in names.listed().items()})
    else:
        print_document(resolve("hopline.show.collectives:listing")(names.listed()))


def _draw(
    question: Question,
    networks: Sequence[tuple[str, Callable[[], Network]]],
    found: Sequence[tuple[str, Contest]],
    to: File,
) -> None:
    """Of one network all algorithms, of several the fastest of each."""
    made = dict(networks)
    drawn = [(name, contest.curve(made[name](), question), answer) for name, answer in found]
    if len(drawn) == 1:
        title = f"{question.asked.benchmark} on {counted(found[0][1].ranks, 'rank')}"
        spec = resolve("hopline.show.collectives:picture")(title, *drawn[0][1:])
    else:
        title = f"{question.asked.benchmark}: the fastest algorithm of each network"
        spec = resolve("hopline.show.collectives:picture_of_several")(title, drawn)
    resolve("hopline.show.images:save")(spec, to)
