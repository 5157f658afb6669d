"""``hopline nccl``: what NCCL would choose and how long it reckons with, and what a log of NCCL_DEBUG shows.

What belongs here: its options. Its answer as JSON is ``nccl_page``.
"""

from __future__ import annotations

import os
from pathlib import Path as File
from typing import Any

import click

from hopline.cli import nccl_page
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.jobs import fitting, nccl, nccl_logs
from hopline.jobs.nccl import Question
from hopline.model.nccl.forcing import Forced
from hopline.model.nccl.numbers import ARCHITECTURES, LATEST, NET_OVERHEAD
from hopline.quantity import counted
from hopline.show import images
from hopline.show import nccl as pages
from hopline.show.document import Line, print_document

EXAMPLES = """\b
Examples:
  hopline nccl all_reduce -n 16 --nodes 2 --arch hopper
  hopline nccl all_reduce -n 128 --nodes 16 --arch hopper --channels 16 --within 24GB/s --algo ring,tree
  hopline nccl all_reduce -n 8 --arch hopper --proto ^LL128 --sizes 64KiB..1GiB:x4 --plot nccl.svg
  hopline nccl nccl.log                                    # what a log of NCCL_DEBUG=INFO says
  hopline nccl nccl.log -n 16 --nodes 2 --arch ampere      # with our figures beside it
  hopline nccl all_reduce -n 8 --arch hopper --beside all_reduce.log
"""


@click.command(epilog=EXAMPLES)
@click.argument("what", metavar="COLLECTIVE|LOG")
@click.option("-n", "--ranks", type=click.IntRange(2), metavar="N", help="Number of ranks.")
@click.option(
    "--nodes", type=click.IntRange(1), default=1, show_default=True, help="Nodes that hold them, equally many each."
)
@click.option("--arch", type=click.Choice(ARCHITECTURES), help="GPUs.")
@click.option(
    "--nccl", "version", default=LATEST, show_default=True, metavar="VERSION", help="NCCL's version, from 2.24.3 on."
)
@click.option(
    "--cpu", type=click.Choice(tuple(NET_OVERHEAD)), default="intel", show_default=True, help="CPU vendor; other: Arm."
)
@click.option("--channels", type=click.IntRange(1), metavar="C", help="Channels that NCCL's search found,")
@quantity("--within", "bandwidth", "of so much each inside of a node,")
@quantity("--between", "bandwidth", "and between nodes.")
@quantity("--nic", "bandwidth", "Or the NIC of each GPU, from which they are worked out.")
@click.option("--pci", is_flag=True, help="GPUs without NVLink.")
@click.option("--no-nvls", is_flag=True, help="Without multicast over NVLink (NCCL_NVLS_ENABLE=0).")
@click.option("--collnet", is_flag=True, help="With sums in the network (SHARP).")
@click.option("--algo", default="", metavar="LIST", help="NCCL_ALGO, like ^nvls or ring;allreduce:tree.")
@click.option("--proto", default="", metavar="LIST", help="NCCL_PROTO, like ^LL128.")
@quantity("--sizes", "size", "Sizes as nccl-tests counts them.", many=True)
@click.option("--beside", metavar="FILE", help="Measured times of it (a log of nccl-tests) to stand beside.")
@plot_option("times against size")
@json_option
def nccl_command(what: str, beside: str | None, plot: File | None, as_json: bool, **told: Any) -> None:
    """What NCCL's tuner reckons and chooses: time per size by algorithm and protocol, and where the choice changes.

    With a LOG of NCCL_DEBUG=INFO (subsystems INIT, GRAPH, TUNING, COLL, NET as far as they are in it): what it says of the
    run, the choices it tells, and with -n and --arch our figures beside its own.
    """
    is_log = what == "-" or os.path.exists(what) or os.sep in what
    if plot is not None and (is_log or beside is not None):
        raise click.UsageError(
            "--plot: draws the tuner's own times; hopline compare LOG --plot draws a measured table beside them"
        )
    if is_log:
        _log(what, _question("all_reduce", told) if told["ranks"] and told["arch"] else None, as_json)
        return
    if told["ranks"] is None or told["arch"] is None:
        raise click.UsageError("-n and --arch are needed: like -n 16 --nodes 2 --arch hopper")
    question = _question(what, told)
    if beside is not None:
        _beside(question, beside, as_json)
        return
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


def _question(benchmark: str, told: dict[str, Any]) -> Question:
    sizes = tuple(dict.fromkeys(told["sizes"] or ()))
    return Question(
        benchmark, told["ranks"], told["nodes"], told["arch"], told["version"], told["cpu"], told["cpu"] != "other",
        told["channels"], told["within"], told["between"], told["nic"], "PHB" if told["pci"] else "NVL", not told["no_nvls"],
        told["collnet"], Forced(told["algo"], told["proto"]), sizes,
    )  # fmt: skip


def _log(path: str, question: Question | None, as_json: bool) -> None:
    found = nccl_logs.explain(path, question)
    if as_json:
        print_json(nccl_page.log(found))
        return
    print_document(nccl_page.blocks(found))


def _beside(question: Question, path: str, as_json: bool) -> None:
    """Our times beside each table of a benchmark's log."""
    shown = []
    for table in fitting.read(path).tables:
        found, pairs = nccl.beside_measured(question, table)
        shown.append((fitting.titled(table), found, pairs))
    if as_json:
        print_json([{"table": title, "rows": nccl_page.pairs(rows)} for title, _, rows in shown])
        return
    blocks = [block for title, _, rows in shown for block in pages.beside(f"{title}: NCCL's tuner beside {path}", rows)]
    premises = dict.fromkeys(text for _, found, _ in shown for text in found.premises)
    print_document([*blocks, *(Line(f"premise: {text}", "faint") for text in premises)])
