"""``hopline nccl``: what NCCL would choose and how long it reckons with, and what a log of NCCL_DEBUG shows.

What belongs here: its options. Its answer as JSON is ``nccl_page``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

import click

from hopline.cli import nccl_page
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.jobs import nccl, nccl_beside, nccl_logs
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.comparing.told import Stated
from hopline.jobs.nccl import Question
from hopline.jobs.nccl_told import Asked, asked_alone
from hopline.model.nccl.forcing import Forced
from hopline.model.nccl.numbers import ARCHITECTURES, LATEST, NET_OVERHEAD
from hopline.quantity import counted
from hopline.records.nccl_names import BENCHMARKS
from hopline.show import images
from hopline.show import nccl as pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline nccl all_reduce -n 16 --nodes 2 --arch hopper
  hopline nccl all_reduce -n 128 --nodes 16 --arch hopper --channels 16 --within 24GB/s --algo ring,tree
  hopline nccl all_reduce -n 8 --arch hopper --proto ^LL128 --sizes 64KiB..1GiB:x4 --plot nccl.svg
  hopline nccl nccl.log                                    # what a log of NCCL_DEBUG=INFO says
  hopline nccl nccl.log -n 16 --nodes 2 --arch ampere      # with our figures beside it
  hopline nccl all_reduce -n 8 --arch hopper --beside all_reduce.log
"""

_ANY = "all_reduce"
"""What a question for all of a log's collectives names."""
_NOT_OF_MEASURED = {
    "plot": "draws the tuner's own times; hopline compare LOG --plot draws a measured table beside them",
    "sizes": "the sizes are those of FILE",
}
_NOT_OF_LOGS = {
    **_NOT_OF_MEASURED, "sizes": "a LOG's calls and rows have their own",
    "beside": "stands beside a COLLECTIVE; the measured rows of a LOG stand in it",
}  # fmt: skip
"""Option -> why it means nothing where measured times are read, and in a log."""
_OF_FIGURES = dict.fromkeys(
    ("nodes", "version", "cpu", "channels", "within", "between", "nic", "pci", "no_nvls", "collnet", "algo", "proto"),
    "is of our figures, which stand beside a LOG where -n or --arch is given",
)


@click.command(epilog=EXAMPLES)
@click.argument("what", metavar="COLLECTIVE|LOG")
@click.option("-n", "--ranks", type=click.IntRange(2), metavar="N", help="Number of ranks.")
@click.option(
    "--nodes",
    type=click.IntRange(1),
    metavar="N",
    help="Nodes that hold them, equally many each.  [default: 1, or what a file says]",
)
@click.option("--arch", type=click.Choice(ARCHITECTURES), help="GPUs.")
@click.option(
    "--nccl",
    "version",
    metavar="VERSION",
    help=f"NCCL's version, from 2.24.3 on.  [default: {LATEST}, or what a file says]",
)
@click.option("--cpu", type=click.Choice(tuple(NET_OVERHEAD)), help="CPU vendor; other: Arm.  [default: intel]")
@click.option("--channels", type=click.IntRange(1), metavar="C", help="Channels that NCCL's search found,")
@quantity("--within", "bandwidth", "of so much each inside of a node,")
@quantity("--between", "bandwidth", "and between nodes.")
@quantity("--nic", "bandwidth", "Or the NIC of each GPU, from which they are worked out.")
@click.option("--pci", is_flag=True, help="GPUs without NVLink, in PCIe slots of one CPU.")
@click.option("--no-nvls", is_flag=True, help="Without multicast over NVLink (NCCL_NVLS_ENABLE=0).")
@click.option("--collnet", is_flag=True, help="With sums in the network (SHARP).")
@click.option("--algo", default="", metavar="LIST", help="NCCL_ALGO, like ^nvls or ring;allreduce:tree.")
@click.option("--proto", default="", metavar="LIST", help="NCCL_PROTO, like ^LL128.")
@quantity("--sizes", "size", "Sizes as nccl-tests counts them.", many=True)
@click.option("--beside", metavar="FILE", help="Measured times of it (a log of nccl-tests) to stand beside.")
@plot_option("times against size")
@json_option
def nccl_command(what: str, as_json: bool, **told: Any) -> None:
    """What NCCL's tuner reckons and chooses: time per size by algorithm and protocol, and where the choice changes.

    With a LOG of NCCL_DEBUG=INFO (subsystems INIT, GRAPH, TUNING, COLL, NET as far as they are in it): what it says of the
    run, the choices it tells, and with -n or --arch our figures beside its own. What a file says need not be stated.
    """
    plot: File | None = told["plot"]
    beside: str | None = told["beside"]
    if _is_log(what):
        _refuse(told, _NOT_OF_LOGS)
        asks = told["ranks"] or told["arch"]
        _refuse(told, {} if asks else _OF_FIGURES)
        _log(what, _asked(_ANY, told) if asks else None, as_json)
        return
    if beside is not None:
        _refuse(told, _NOT_OF_MEASURED)
        _beside(_asked(what, told), beside, as_json)
        return
    question = asked_alone(_asked(what, told))
    found = nccl.answer(question)
    title = f"{found.function} on {question.ranks} {question.architecture} GPUs, {counted(question.nodes, 'node')}"
    title += f", NCCL {question.version}"
    title += f", {question.forced}" if question.forced else ""
    if plot is not None:
        images.save(pages.picture(title, found.sizes, found.times, found.chosen), plot)
    if as_json:
        print_json(nccl_page.answer(found))
        return
    print_document(
        pages.page(title, found.sizes, found.times, found.chosen, found.crossovers, found.premises, found.free)
    )
    if plot is not None:
        click.echo(f"\nPicture: {plot}")


def _is_log(what: str) -> bool:
    """Whether a word is a file: it looks like a path, or is there and no collective's name."""
    if what == "-" or any(mark in what for mark in (os.sep, ".")):
        return True
    return benchmark_of(what) not in BENCHMARKS and os.path.exists(what)


def _refuse(told: dict[str, Any], reasons: Mapping[str, str]) -> None:
    """Raise UsageError for the first option that is given and means nothing here."""
    for name, why in reasons.items():
        if told[name] not in (None, False, "", ()):
            raise click.UsageError(f"--{'nccl' if name == 'version' else name.replace('_', '-')}: {why}")


def _asked(benchmark: str, told: dict[str, Any]) -> Asked:
    stated = Stated(
        told["ranks"], told["nodes"], told["arch"], told["version"], told["cpu"], told["channels"], told["within"],
        told["between"], told["nic"],
    )  # fmt: skip
    sizes = tuple(dict.fromkeys(told["sizes"] or ()))
    rest = Question(
        benchmark, 2, wires="PHB" if told["pci"] else "NVL", nvls=not told["no_nvls"], collnet=told["collnet"],
        forced=Forced(told["algo"], told["proto"]), sizes=sizes,
    )  # fmt: skip
    return Asked(stated, rest)


def _log(path: str, asked: Asked | None, as_json: bool) -> None:
    found = nccl_logs.explain(path, asked)
    if as_json:
        print_json(nccl_page.log(found))
        return
    print_document(nccl_page.blocks(found))


def _beside(asked: Asked, path: str, as_json: bool) -> None:
    """Our times beside each table of a benchmark's log."""
    found, left = nccl_beside.beside_file(asked, path)
    if as_json:
        print_json(nccl_page.beside_data(found))
        return
    print_document(nccl_page.beside_blocks(found, path, left))
