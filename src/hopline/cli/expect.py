"""``hopline expect``: the table that a benchmark should print on a machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from hopline.cli.options import json_option, places_option, prediction_data, print_json, quantity, ranks_option
from hopline.jobs import expecting, machines
from hopline.jobs.expecting import Expected, Question
from hopline.show import expecting as pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline expect all_reduce --machine dgx-h100 -n 8
  hopline expect alltoall --machine dgx-h100 -n 16 --sizes 1MiB..1GiB:x4
  hopline fit all_reduce-2.log all_reduce-4.log --save mine && hopline expect all_reduce --machine mine -n 8
"""


@click.command(epilog=EXAMPLES)
@click.argument("collective")
@click.option(
    "--machine", "machine_name", required=True, metavar="NAME|FILE", help="A preset, a saved machine or a file."
)
@ranks_option
@quantity(
    "--sizes", "size", "Sizes as nccl-tests counts them (default: those measured, else 8 B to 128 MiB).", many=True
)
@places_option
@click.option("--extrapolate", is_flag=True, help="Go beyond the measured sizes, with the interval that is worth.")
@json_option
def expect(
    collective: str, machine_name: str, ranks: int | None, sizes: list[float] | None, places: tuple[str, ...],
    extrapolate: bool, as_json: bool,
) -> None:  # fmt: skip
    """What nccl-tests should print for COLLECTIVE (all_reduce, all_gather, ...) on a machine, with 90 % intervals.

    Taken from what was measured on the machine (hopline fit --save) with as many ranks; else worked out from other numbers
    of ranks; else by formula from its links. The answer says which. OSU names (allreduce) are understood; latency and bw too.
    """
    machine = machines.find(machine_name)
    benchmark = expecting.benchmark_of(collective)
    question = Question(machine, benchmark, ranks, tuple(dict.fromkeys(sizes or ())), places, extrapolate)
    answer = expecting.expect(question)
    if as_json:
        print_json(_data(question, answer))
        return
    title = f"{benchmark}{f' on {ranks} ranks' if ranks else ''}, {machine.name}"
    measured = (answer.smallest, answer.largest)
    print_document(
        pages.page(title, answer.basis, answer.found, answer.premises, benchmark, ranks, answer.least, measured)
    )


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
