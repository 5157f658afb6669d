"""``hopline schedule``: what collectives there are, what a schedule is, whether it is right, and writing it to a file.

What belongs here: the options of its four commands, and their answers as JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import json_option, print_json, quantity
from hopline.cli.schedule_options import file_size, schedule_options, shape_of
from hopline.errors import InputError
from hopline.jobs import schedules
from hopline.jobs.loading import resolve
from hopline.jobs.schedules import Found
from hopline.quantity import counted
from hopline.schedule.check.proof import Checked, check
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import DTYPES, KINDS, Schedule
from hopline.show import schedule as pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline schedule list
  hopline schedule show all_reduce-ring -n 4 --size 1KiB
  hopline schedule check all_reduce-rabenseifner -n 12 --size 1000003B
  hopline schedule check program.goal
  hopline schedule write all_reduce-ring -n 8 --size 1MiB --to ring.xml
"""
_WRONG = 1
_LONG = 300_000
"""Operations from which a proof shows its progress."""


@click.group(epilog=EXAMPLES)
def schedule() -> None:
    """Collectives as Send/Recv schedules: list them, look at one, prove it, write it to a file.

    A schedule is NAME, a collective and its algorithm, made for -n ranks and --size bytes; or a FILE: GOAL, MSCCL XML,
    MSCCL++ JSON, Chakra, a table of messages (CSV: src,dst,bytes), flows of ns-3, connections of htsim. Lane 2c of a rank
    sends on channel c, lane 2c + 1 receives and adds up. All four take --json.
    """


def _about_one(command: Callable[..., Any]) -> Callable[..., Any]:
    """What commands about one schedule have in common."""
    ranks = click.option("-n", "--ranks", "ranks", type=click.IntRange(1), metavar="N", help="Number of ranks.")
    return click.argument("name", metavar="NAME|FILE")(ranks(schedule_options(json_option(command))))


def _found(name: str, given: dict[str, Any]) -> Found:
    entry = schedules.entry_of(name)
    if entry is not None:
        return schedules.built(entry, shape_of(entry, **given))
    return schedules.read(name, file_size(given), given["ranks"])


@schedule.command("list")
@json_option
def list_(as_json: bool) -> None:
    """All collectives and their algorithms; in brackets the options that each heeds."""
    if as_json:
        entries = COLLECTIVES.values()
        print_json([{"name": e.name, "benchmark": e.benchmark, "about": e.about, "uses": e.uses} for e in entries])
        return
    print_document(pages.collectives(COLLECTIVES.values()))


@schedule.command()
@_about_one
@click.option("--rank", type=click.IntRange(0), metavar="R", help="Only the operations of this rank.")
@quantity("--rows", "count", "Operations to show (40).")
def show(name: str, as_json: bool, rank: int | None, rows: float | None, **given: Any) -> None:
    """Counts, buffers and the first operations."""
    contents = None if schedules.entry_of(name) else schedules.contents(name)
    found = None if contents is not None and contents.refusal else _found(name, given)
    if found is not None and rank is not None and rank >= found.schedule.ranks:
        raise InputError(f"--rank {rank}: expected a rank below {found.schedule.ranks}")
    if as_json:
        print_json(
            {"file": None if contents is None else asdict(contents), "schedule": found and _counts(found, rank, rows)}
        )
        return
    blocks = [] if contents is None else pages.contents(contents.format, contents.facts, contents.remarks)
    if contents is not None and contents.refusal:
        blocks.append(pages.refused(contents.refusal))
    if found is not None:
        most = 40 if rows is None else int(rows)
        blocks += [*pages.summary(found.schedule), *pages.operations(found.schedule, rank, most)]
    print_document(blocks)


def _counts(found: Found, rank: int | None, rows: float | None) -> dict[str, Any]:
    """The schedule as JSON, all operations unless ``rows`` says how many."""
    made, columns = found.schedule, found.schedule.columns
    kept = [row for row in range(len(made)) if rank is None or columns.rank[row] == rank]
    return {
        "name": made.name,
        "ranks": made.ranks,
        "operations": len(made),
        "messages": made.messages,
        "rounds": len(made.rounds),
        "sent_per_rank": made.sent.tolist(),
        "buffers": {buffer.name: buffer.size for buffer in made.buffers},
        "promise": None if made.promise is None else made.promise.collective,
        "rows": [_row(made, row) for row in kept[: None if rows is None else int(rows)]],
    }


def _row(made: Schedule, row: int) -> dict[str, Any]:
    columns = made.columns
    told = {name: int(getattr(columns, name)[row]) for name in DTYPES}
    return {"row": row, **told, "kind": KINDS[columns.kind[row]]}


@schedule.command("check")
@_about_one
def check_(name: str, as_json: bool, **given: Any) -> None:
    """Prove a schedule: sends meet receives, nothing deadlocks, no byte is lost, overwritten or added twice.

    Exit code 1 where it is wrong. The proof is exact: it covers all orders in which the operations may run. Deadlock is
    looked for where sends block until they are received, and where they are buffered.
    """
    found = _found(name, given)
    long = len(found.schedule) > _LONG and not as_json
    with resolve("hopline.show.measuring:progress")("proving") if long else nullcontext() as bar:
        answer = check(found.schedule, progress=bar)
    if as_json:
        print_json({**_data(answer), "remarks": found.remarks})
    else:
        page = pages.proof(answer.name, answer.faults, _proved(answer), answer.unchecked)
        print_document([*page, *pages.remarks(found.remarks)])
    if answer.faults:
        raise click.exceptions.Exit(_WRONG)


def _proved(answer: Checked) -> list[str]:
    """What is known, in sentences."""
    counts = ((answer.ranks, "rank"), (answer.operations, "operation"), (answer.messages, "message"))
    said = [", ".join(counted(count, thing) for count, thing in counts)]
    ends = {
        (True, True): "finishes whether sends block or are buffered",
        (False, True): "finishes only where sends are buffered: where they block it deadlocks",
        (False, False): "deadlocks, whether sends block or are buffered",
    }
    if answer.blocking is not None and answer.buffered is not None:
        said.append(ends[answer.blocking, answer.buffered])
    if answer.buffers is not None:
        what = (
            "no byte is overwritten before it is read"
            if answer.buffers == 1
            else f"{answer.buffers} buffers in turn would do"
        )
        said.append(what)
    if not answer.faults and not answer.unchecked:
        said.append("every rank ends with exactly what the collective promises")
    return said


def _data(answer: Checked) -> dict[str, Any]:
    return {**asdict(answer), "right": answer.right}


@schedule.command()
@_about_one
@click.option("--to", type=click.Path(path_type=File), required=True, metavar="FILE", help="The file to write.")
@click.option(
    "--format", "format_", metavar="NAME", help="goal or msccl (default: by the file's ending, .goal or .xml)."
)
def write(name: str, as_json: bool, to: File, format_: str | None, **given: Any) -> None:
    """Write a schedule for another tool: GOAL text (LogGOPSim, ATLAHS) or MSCCL XML (RCCL, MSCCL)."""
    made = _found(name, given).schedule
    format_, remarks = schedules.write(made, to, format_)
    if as_json:
        print_json({"file": str(to), "format": format_, "remarks": remarks})
        return
    click.echo("\n".join([f"{made.name}, {counted(made.ranks, 'rank')}: written to {to} ({format_})", *remarks]))
