"""The answer of ``hopline explain``: what is read, what is printed and what is written.

What belongs here: from what was asked to pages, files and JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import click

from hopline.cli.options import print_json
from hopline.cli.progress import progress
from hopline.errors import InputError
from hopline.jobs.evidence import ANSWERS, TRACES, Answer
from hopline.jobs.evidence_files import Files
from hopline.jobs.loading import resolve
from hopline.records.explained import Explained
from hopline.records.trace import Trace
from hopline.show.document import Block, Heading, Line, print_document
from hopline.study.what_if import Question

if TYPE_CHECKING:
    from hopline.schedule.collectives.table import Collective

MOST_SLICES = 400_000
"""Works of GPUs in a file for Perfetto, above which it is thinned."""
MOST_ROWS = 100_000
"""Collectives, causes and steps in the JSON."""
_READING = 0.7
"""Share of the time that reading takes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options say."""

    files: tuple[str, ...]
    step: str
    changes: tuple[str, ...]
    algorithms: tuple[str, ...]
    network: dict[str, Any]
    report: File | None
    perfetto: File | None
    example: File | None
    plot: File | None
    as_json: bool

    @property
    def about_traces(self) -> list[str]:
        """Options that only traces of ranks answer."""
        told = {
            "--step": self.step != "all", "--what-if": self.changes, "--algorithm": self.algorithms, "--report": self.report,
            "--perfetto": self.perfetto, "--plot": self.plot, "a network": any(self.network.values()),
        }  # fmt: skip
        return [name for name, value in told.items() if value]


def answer(asked: Asked) -> None:
    """Read, explain, print and write."""
    files = list(asked.files)
    if asked.example is not None:
        files += resolve("hopline.jobs.made.files:write_example")(str(asked.example))
    if not files:
        raise click.UsageError("which files? Give traces or a folder of them; --example FOLDER makes some")
    sorted_out: Files = resolve("hopline.jobs.evidence_files:sorted_out")(files)
    found = sorted_out.kinds
    data: list[Any] = []
    blocks: list[Block] = []
    if any(found.get(kind) for kind in TRACES):
        explained = _explain(asked, found)
        data.append({"kind": "traces", **resolve("hopline.show.explain:explained_json")(explained, MOST_ROWS)})
        blocks += [*resolve("hopline.show.explain:page")(explained), *_written(asked, explained)]
    elif asked.about_traces:
        raise click.UsageError(f"{asked.about_traces[0]} needs traces of ranks: there are none among these files")
    for kind in (kind for kind in found if kind not in TRACES):
        other: Answer = ANSWERS[kind](found[kind])
        data.append({"kind": kind, **other.json})
        blocks += other.blocks
    if sorted_out.left_out:
        blocks += [Heading("Files left out"), *(Line(f"  {text}") for text in sorted_out.left_out)]
        data[0]["left_out"] = list(sorted_out.left_out)
    if asked.as_json:
        print_json(data[0] if len(data) == 1 else data)
    else:
        print_document(blocks)


def _explain(asked: Asked, files: Mapping[str, Sequence[str]]) -> Explained:
    questions = _questions(asked)
    with progress("explain") as bar:
        traces: list[Trace] = []
        if files.get("kineto"):
            traces += resolve("hopline.formats.kineto.reader:read_traces")(files["kineto"], partial(_reading, bar))
        if files.get("nsys"):
            traces += resolve("hopline.jobs.evidence:traces")(files["nsys"])
        usual = () if questions else resolve("hopline.jobs.explaining:usual")(traces)
        questions = (*_priced(asked, traces), *questions, *usual)
        explained: Explained = resolve("hopline.jobs.explaining:explain")(
            traces, asked.step, questions, lambda fraction, text: bar(_READING + (1 - _READING) * fraction, text)
        )
    return explained


def _reading(bar: Callable[[float, str], None], done: int, whole: int) -> None:
    bar(_READING * done / max(whole, 1), "reading")


def _questions(asked: Asked) -> tuple[Question, ...]:
    """The what-ifs that need no network, before anything is read."""
    if asked.algorithms and not any(asked.network.values()):
        raise click.UsageError("--algorithm needs a network: --machine, or --latency and --bandwidth")
    return tuple(resolve("hopline.jobs.what_ifs:question")(text) for text in asked.changes)


def _priced(asked: Asked, traces: Sequence[Trace]) -> tuple[Question, ...]:
    """What collectives would take on the network that was given, which has as many ranks as the job; () without one."""
    if not any(asked.network.values()):
        return ()
    worlds = [trace.world or (trace.rank or 0) + 1 for trace in traces]
    given = {**asked.network, "ranks": asked.network["ranks"] or max(len(traces), *worlds)}
    fabric = resolve("hopline.cli.network_given:network")(**given).fabric
    price = resolve("hopline.jobs.elsewhere:priced_on")(fabric, _by_op(asked.algorithms))
    words = f"collectives on {fabric.name}" + (f" by {', '.join(asked.algorithms)}" if asked.algorithms else "")
    return (resolve("hopline.jobs.what_ifs:question")("network", price, words),)


def _by_op(algorithms: Sequence[str]) -> dict[str, str]:
    """Collective -> algorithm; a name alone is for all collectives that have it."""
    chosen: dict[str, str] = {}
    for text in algorithms:
        op, _, name = text.rpartition("=")
        entries: Sequence[Collective] = resolve("hopline.jobs.collectives.names:meant")(name)
        having = {entry.benchmark: entry.algorithm for entry in entries}
        if not having or (op and op not in having):
            raise InputError(
                f"--algorithm {text}: no algorithm {name!r}{f' of {op}' if op else ''}; hopline schedule list has all of them"
            )
        chosen |= {op: having[op]} if op else having
    return chosen


def _written(asked: Asked, explained: Explained) -> list[Block]:
    """Write the files that were asked for, and say so."""
    lines: list[Block] = []
    if asked.report is not None:
        resolve("hopline.show.report:save")(explained, asked.report)
        lines.append(Line(f"Report: {asked.report}"))
    if asked.perfetto is not None:
        left = resolve("hopline.formats.overlay:write_overlay")(explained, str(asked.perfetto), MOST_SLICES)
        lines.append(
            Line(f"For ui.perfetto.dev: {asked.perfetto}" + (f" ({left:,} shorter works left out)" if left else ""))
        )
    if asked.plot is not None:
        found = resolve("hopline.show.explain_numbers:numbers")(explained)
        drawn = resolve("hopline.show.explain_figures:figures")(explained, found)
        resolve("hopline.show.images:save")(resolve("hopline.show.explain_figures:picture")(drawn), asked.plot)
        lines.append(Line(f"Picture: {asked.plot}"))
    return [Line(""), *lines] if lines else []
