"""``hopline check``: is a benchmark log what the machine should show."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import Share, json_option, places_option, print_json, ranks_option
from hopline.errors import FormatError
from hopline.jobs import checking, machines, reports
from hopline.jobs.checking import Terms
from hopline.records.verdict import Checked
from hopline.show import checking as pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline fit yesterday.log --save cluster && hopline check today.log --machine cluster
  hopline check all_reduce.log --machine dgx-h100 --junit report.xml
  srun all_reduce_perf -b 8 -e 1G -f 2 | hopline check - --machine cluster
"""
FAILED, NOTHING_TOLD = 1, 3


@click.command(epilog=EXAMPLES)
@click.argument("log", type=click.Path(allow_dash=True), metavar="LOG")
@click.option(
    "--machine", "machine_name", required=True, metavar="NAME|FILE", help="A preset, a saved machine or a file."
)
@ranks_option
@places_option
@click.option(
    "--tolerance",
    type=Share(),
    default="10%",
    show_default=True,
    help="How much slower than the interval still passes.",
)
@click.option("--extrapolate", is_flag=True, help="Also check sizes outside of what was measured, by wide intervals.")
@click.option("--in-place", is_flag=True, help="Check the in-place half of nccl-tests tables.")
@click.option("--junit", type=click.Path(path_type=File), help="Write the verdicts as JUnit XML, a case for each size.")
@json_option
def check(
    log: str, machine_name: str, ranks: int | None, places: tuple[str, ...], tolerance: float, extrapolate: bool,
    in_place: bool, junit: File | None, as_json: bool,
) -> None:  # fmt: skip
    """Hold a benchmark LOG (- for standard input) against a machine: pass or fail for each size, with the reason.

    A size fails where it is slower than the interval of what is expected, widened for the number of sizes, and the tolerance;
    or faster than the least bytes that any algorithm must move across the machine's tightest cut allow. Wrong results and
    figures that contradict one another fail too. Exit code: 0 pass, 1 fail, 2 the log or an option is bad, 3 nothing could
    be told.
    """
    terms = Terms(machines.find(machine_name), ranks, places, tolerance, extrapolate, in_place)
    try:
        read, checked = checking.check(log, terms)
    except FormatError as error:
        if junit is not None:
            reports.write(junit, pages.junit(log, (), str(error)))
        raise
    if junit is not None:
        reports.write(junit, pages.junit(read.source, checked))
    if as_json:
        print_json(_data(read.source, terms, checked))
    else:
        print_document(pages.page(read.source, terms.machine.name, checked))
    outcomes = {table.outcome for table in checked}
    code = FAILED if "fail" in outcomes else 0 if "pass" in outcomes else NOTHING_TOLD
    raise click.exceptions.Exit(code)


def _data(source: str, terms: Terms, checked: list[Checked]) -> dict[str, Any]:
    return {
        "source": source,
        "machine": terms.machine.name,
        "tolerance": terms.tolerance,
        "tables": [{**asdict(table), "outcome": table.outcome} for table in checked],
    }
