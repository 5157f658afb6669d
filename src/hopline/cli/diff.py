"""``hopline diff``: is a change between two measurements real or noise."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import Share, json_option, plot_option, print_json, quantity
from hopline.jobs import diffing
from hopline.jobs.diffing import Choice, Compared, Diff
from hopline.show import diffing as pages
from hopline.show import images
from hopline.show.document import Block, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline diff before.log after.log
  hopline diff monday.jsonl tuesday.jsonl --threshold 3% --plot change.svg
  cat run1.log run2.log run3.log > before.log     # repeats tell noise best
  hopline diff before.log after.log || echo slower
"""
SLOWER, NOTHING_TOLD = 1, 3


@click.command(epilog=EXAMPLES)
@click.argument("before", type=click.Path(), metavar="BEFORE")
@click.argument("after", type=click.Path(), metavar="AFTER")
@click.option("--threshold", type=Share(), default="5%", show_default=True, help="Changes below this do not matter.")
@click.option(
    "--false-alarms", type=Share(), default="5%", show_default=True,
    help="Bound on the chance that a table without a change is said to have one.",
)  # fmt: skip
@quantity("--table", "count", "Compare this table of BEFORE.", least=1)
@quantity("--against", "count", "With this table of AFTER, of whatever kind.", least=1)
@click.option("--in-place", is_flag=True, help="Compare the in-place halves of nccl-tests tables.")
@click.option("--in-order", is_flag=True, help="Tables of one kind are no repeats: pair them in their order.")
@plot_option("ratio against size")
@json_option
def diff(
    before: str, after: str, threshold: float, false_alarms: float, table: float | None, against: float | None,
    in_place: bool, in_order: bool, plot: File | None, as_json: bool,
) -> None:  # fmt: skip
    """Tell whether AFTER is slower or faster than BEFORE for real, or whether the difference is noise.

    Both are benchmark logs (nccl-tests, OSU, ...) or samples files; tables are matched by benchmark, ranks and measure, and
    several tables of one kind in a file are repeats of it. Noise is learnt from whole runs where there are several, else from
    the repeats of one run, else from the scatter of the ratio over sizes; the answer says from which.

    Exit code: 0 nothing is slower for real (improvements are told), 1 slower for real by the threshold or more, 2 the files or
    an option are bad, 3 nothing could be told.
    """
    if not 0 < false_alarms < 1:
        raise click.UsageError("--false-alarms: expected a percentage above 0 % and below 100 %")
    first, second = (None if n is None else int(n) for n in (table, against))
    found = diffing.diff(before, after, Choice(first, second, in_place, in_order), threshold, false_alarms)
    titled = [(_title(c), c.change) for c in found.compared]
    if plot is not None:
        images.save(pages.picture(titled), plot)
    if as_json:
        print_json(_data(found))
    else:
        print_document(_document(found))
        if plot is not None:
            click.echo(f"\nPicture: {plot}")
    verdicts = {c.change.verdict for c in found.compared}
    code = SLOWER if "slower" in verdicts else NOTHING_TOLD if verdicts == {"cannot tell"} else 0
    raise click.exceptions.Exit(code)


def _title(compared: Compared) -> str:
    before, after = compared.before, compared.after
    kinds = str(before.kind) if before.kind == after.kind else f"{before.kind} against {after.kind}"
    tables = [
        " and ".join(filter(None, [", ".join(map(str, n[:-1])), str(n[-1])])) for n in (before.numbers, after.numbers)
    ]
    return f"{kinds} (table {tables[0]} against {tables[1]})"


def _document(found: Diff) -> list[Block]:
    changes = [c.change for c in found.compared]
    blocks: list[Block] = [
        Heading(f"{found.before.source} (before) against {found.after.source} (after)"), pages.verdict(changes),
    ]  # fmt: skip
    blocks += [Line(note, "strong") for note in found.notes]
    for log in (found.before, found.after):
        blocks += [Line(f"  {log.source}: {dropped}", "bad") for dropped in log.dropped]
        blocks += [Line(f"  {log.source}: {d}", "bad") for table in log.tables for d in table.dropped]
    for compared in found.compared:
        blocks += pages.table(_title(compared), compared.change, len(changes) > 1)
    alone = (("before", found.only_before), ("after", found.only_after))
    blocks += [Line(f"only {where}: {kind}", "strong") for where, kinds in alone for kind in kinds]
    return blocks


def _data(found: Diff) -> dict[str, Any]:
    return {
        "before": found.before.source,
        "after": found.after.source,
        "tables": [
            {
                "title": _title(c),
                "before_tables": list(c.before.numbers),
                "after_tables": list(c.after.numbers),
                "verdict": c.change.verdict,
                **asdict(c.change),
            }
            for c in found.compared
        ],
        "only_before": list(found.only_before),
        "only_after": list(found.only_after),
        "notes": list(found.notes),
    }
