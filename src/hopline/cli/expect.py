"""``hopline expect``: the table that a benchmark should print on a machine.

What belongs here: its options, and its answer as JSON.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import (
    json_option,
    machine_option,
    places_option,
    plot_option,
    prediction_data,
    print_json,
    quantity,
    ranks_option,
)
from hopline.jobs import expecting, machines
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.expecting import Expected
from hopline.jobs.questions import Question
from hopline.show import expecting as pages
from hopline.show import images
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline expect all_reduce --machine dgx-h100 -n 8
  hopline expect alltoall --machine dgx-h100 -n 16 --sizes 1MiB..1GiB:x4
  hopline expect bw --machine dgx-h100 --on h0.gpu0,h1.gpu0
  hopline fit all_reduce-2.log all_reduce-4.log --save mine && hopline expect all_reduce --machine mine -n 8
"""


@click.command(epilog=EXAMPLES)
@click.argument("benchmark")
@machine_option
@ranks_option("Number of ranks.")
@quantity(
    "--sizes", "size", "Sizes as nccl-tests counts them (default: those measured, else 8 B to 128 MiB).", many=True
)
@places_option
@click.option("--extrapolate", is_flag=True, help="Go beyond the measured sizes, with the interval that this is worth.")
@plot_option("times against size, with their interval")
@json_option
def expect(
    benchmark: str, machine_name: str, ranks: int | None, sizes: list[float] | None, places: tuple[str, ...],
    extrapolate: bool, plot: File | None, as_json: bool,
) -> None:  # fmt: skip
    """The table that BENCHMARK should print on a machine, with 90 % intervals.

    BENCHMARK is a collective of nccl-tests (all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv),
    or latency or bw between two ranks. OSU's and MPI's names are understood too (allreduce, MPI_Alltoall, osu_bw).

    The times come from what was measured on the machine (hopline fit LOG --save NAME) with as many ranks; else they are
    worked out from other numbers of ranks; else by formula from its links. The answer says which.
    """
    machine = machines.find(machine_name)
    name = benchmark_of(benchmark)
    asked = Question(machine, name, ranks, tuple(dict.fromkeys(sizes or ())), places, extrapolate).with_ranks()
    answer = expecting.expect(asked)
    title = f"{asked}, {machine.name}"
    if plot is not None:
        images.save(pages.picture(title, answer.found, answer.least), plot)
    if as_json:
        print_json(_data(asked, answer))
        return
    measured = (answer.smallest, answer.largest)
    print_document(
        pages.page(title, answer.basis, answer.found, answer.premises, name, asked.ranks, answer.least, measured)
    )
    if plot is not None:
        click.echo(f"\nPicture: {plot}")


def _data(question: Question, answer: Expected) -> dict[str, Any]:
    rows = prediction_data(answer.found, answer.smallest, answer.largest)
    for row, bound in zip(rows, answer.least or (), strict=False):
        row |= {"least_s": bound[0], "least_by": bound[1]}
    return {
        "benchmark": question.benchmark,
        "ranks": question.ranks,
        "machine": question.machine.name,
        "basis": answer.basis,
        "premises": [asdict(premise) for premise in answer.premises],
        "rows": rows,
    }
