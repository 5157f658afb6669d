"""``hopline check``: is a benchmark log what the machine should show.

What belongs here: its options, its exit code, and its answer as JSON.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import Share, json_option, machine_option, places_option, plot_option, print_json, ranks_option
from hopline.errors import FormatError
from hopline.jobs import checking, machines, reports
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.checking import Terms
from hopline.records.verdict import Checked, Outcome
from hopline.show import checking as pages
from hopline.show import images
from hopline.show.document import print_document

EXAMPLES = """\b
Exit code, for scripts and schedulers:
  0  pass: at least one size was judged, none fails
  1  fail: at least one table fails
  2  an option is wrong, or LOG holds no table that can be read
  3  nothing could be told: the reasons are printed

\b
Examples:
  hopline fit yesterday.log --save cluster && hopline check today.log --machine cluster
  hopline check osu_latency.out --machine dgx-h100 --on h0.gpu0,h1.gpu0
  hopline check all_reduce.log --machine dgx-h100 --junit report.xml
  srun all_reduce_perf -b 8 -e 1G -f 2 | hopline check - --machine cluster
"""
FAILED, NOTHING_TOLD = 1, 3


@click.command(epilog=EXAMPLES)
@click.argument("log", type=click.Path(allow_dash=True), metavar="LOG")
@machine_option
@ranks_option("Number of ranks, where the log does not say.")
@places_option
@click.option("--benchmark", metavar="NAME", help="What was run, like all_reduce, where the log does not say.")
@click.option(
    "--tolerance",
    type=Share(),
    default="10%",
    show_default=True,
    help="How much slower than the interval still passes.",
)
@click.option("--extrapolate", is_flag=True, help="Also check sizes outside of what was measured, by wide intervals.")
@click.option("--in-place", is_flag=True, help="Check the in-place half of nccl-tests tables.")
@click.option(
    "--junit", type=click.Path(path_type=File), help="Write the verdicts as JUnit XML too; replaces its own report."
)
@plot_option("measured against expected times")
@json_option
def check(
    log: str, machine_name: str, ranks: int | None, places: tuple[str, ...], benchmark: str | None, tolerance: float,
    extrapolate: bool, in_place: bool, junit: File | None, plot: File | None, as_json: bool,
) -> None:  # fmt: skip
    """Is a benchmark LOG (- for standard input) what the machine should show? Pass or fail for each size.

    What is expected comes from what was measured on the machine (hopline fit GOOD.log --save NAME), else by formula from
    its links, which is far less sure. The answer says which.

    A size fails where its time is above the expected interval (wider the more sizes there are) by more than the tolerance,
    or below what the links can carry at line rate, whatever the algorithm: then the figure is wrong. A table also fails for
    wrong results (#wrong, Validation) and for figures that contradict one another.
    """
    if junit is not None:
        reports.refuse_foreign(junit)
    named = benchmark_of(benchmark) if benchmark else ""
    terms = Terms(machines.find(machine_name), ranks, places, tolerance, extrapolate, in_place, named)
    try:
        read, checked = checking.check(log, terms)
    except FormatError as error:
        if junit is not None:
            reports.write(junit, pages.junit(log, (), str(error)))
        raise
    if as_json:
        print_json(_data(read.source, terms, checked))
    else:
        print_document(pages.page(read.source, terms.machine.name, checked))
    if junit is not None:
        reports.write(junit, pages.junit(read.source, checked))
    drawn = pages.picture(File(read.source).name, checked) if plot is not None else None
    if plot is not None and drawn is not None:
        images.save(drawn, plot)
        if not as_json:
            click.echo(f"\nPicture: {plot}")
    raise click.exceptions.Exit(_code({table.outcome for table in checked}))


def _code(outcomes: set[Outcome]) -> int:
    return FAILED if "fail" in outcomes else 0 if "pass" in outcomes else NOTHING_TOLD


def _data(source: str, terms: Terms, checked: list[Checked]) -> dict[str, Any]:
    return {
        "source": source,
        "machine": terms.machine.name,
        "tolerance": terms.tolerance,
        "exit_code": _code({table.outcome for table in checked}),
        "tables": [{**asdict(table), "outcome": table.outcome} for table in checked],
    }
