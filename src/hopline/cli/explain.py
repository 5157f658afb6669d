"""``hopline explain``: where the time of a training step goes, from traces and other evidence of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.explain_page import Asked, answer
from hopline.cli.network_options import network_options
from hopline.cli.options import json_option, plot_option
from hopline.errors import OutputError
from hopline.jobs.loading import resolve

EXAMPLES = """\b
Examples:
  hopline explain --example traces             # no traces yet? write some of 8 made-up ranks, and explain them
  hopline explain traces                       # all traces of a folder, one file a rank
  hopline explain rank*.json.gz --report step.html --perfetto step.json.gz
  hopline explain traces --step slowest --what-if communication=2 --what-if straggler
  hopline explain traces --machine dgx-h100 --algorithm ring      # collectives there instead of as measured
  hopline explain nccl_trace_rank_*            # flight recorder: who never came to which collective
  hopline explain megatron.log                 # step times of a training log
"""
CHANGES_HELP = (
    "communication=2 (twice as fast), free, earlier, buckets=4, straggler[=RANK], compute=2, host=2; repeatable. Default: a "
    "choice of them."
)


def _new_report(ctx: click.Context, param: click.Parameter, value: File | None) -> File | None:
    del ctx, param
    if value is not None:
        if value.suffix.lower() not in (".html", ".htm"):
            raise OutputError(f"--report {value}: expected a name that ends in .html")
        resolve("hopline.show.images:check_free")(value)
    return value


def _new_overlay(ctx: click.Context, param: click.Parameter, value: File | None) -> File | None:
    del ctx, param
    if value is not None:
        resolve("hopline.formats.overlay:check_name")(str(value))
    return value


@click.command(epilog=EXAMPLES)
@click.argument("files", nargs=-1, metavar="FILE|FOLDER...")
@click.option(
    "--step", default="all", show_default=True, metavar="N|median|slowest|fastest|all", help="Which step to explain."
)
@click.option("--what-if", "changes", multiple=True, metavar="CHANGE[=VALUE]", help=CHANGES_HELP)
@click.option(
    "--algorithm", "algorithms", multiple=True, metavar="[COLLECTIVE=]NAME",
    help="With a network: the algorithm that collectives take on it, like ring or all_reduce=double_binary_tree.",
)  # fmt: skip
@click.option(
    "--report", type=click.Path(path_type=File), callback=_new_report, metavar="FILE",
    help="One page with figures and tables that needs no network (.html).",
)  # fmt: skip
@click.option(
    "--perfetto", type=click.Path(path_type=File), callback=_new_overlay, metavar="FILE",
    help="All ranks on one clock with waiting, transfer and the critical path, for ui.perfetto.dev (.json, .json.gz).",
)  # fmt: skip
@click.option("--example", type=click.Path(path_type=File), metavar="FOLDER", help="Write made-up traces there first.")
@network_options
@plot_option("where the time goes, who is waited for, what is critical, what would help")
@json_option
def explain(
    files: Sequence[str], step: str, changes: tuple[str, ...], algorithms: tuple[str, ...], report: File | None,
    perfetto: File | None, example: File | None, plot: File | None, as_json: bool, **network: Any,
) -> None:  # fmt: skip
    """Where the time of a training step goes, who waits for whom, and what would help.

    FILES are Kineto traces (PyTorch's profiler), one a rank, or a folder of them; Nsight Systems exports (.sqlite),
    flight-recorder dumps, execution traces (PyTorch, Chakra) and training logs are read too, told apart by their content.

    Clocks are brought together by the ends of the same collectives; in those that wait for all, transfer is told from waiting
    for the last to come. The critical path goes through all ranks. What-ifs play the step again. With --machine, or --latency
    and --bandwidth, collectives take what a simulation of them on that network takes.
    """
    asked = Asked(tuple(files), step, changes, algorithms, network, report, perfetto, example, plot, as_json)
    answer(asked)
