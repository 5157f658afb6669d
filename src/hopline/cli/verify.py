"""``hopline verify``: known cases worked out, or the founding table.

What belongs here: choosing between the two, and their form as text and as JSON.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from hopline.cli.options import json_option, print_json
from hopline.errors import InputError
from hopline.formats.lines import shown
from hopline.jobs.verify.compare import Difference
from hopline.jobs.verify.figures import Figure, FoundingRow
from hopline.jobs.verify.founding import founding_rows
from hopline.jobs.verify.vectors import CaseResult, Verification, verify_file
from hopline.quantity import show
from hopline.show.document import Block, Grid, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline verify                                  # the founding documents' figures
  hopline verify vectors.json
  hopline verify vectors.json --kind 'p2p_*'
  hopline verify vectors.json --json | jq .failed
"""
SECTIONS = {"1": "Point to point", "2": "Hand-over, congestion, critical path", "M": "Mistakes that are easily made"}
"""How a row's id begins -> the heading it stands under."""
_DIGITS = 6
_MOST_DIFFERENCES = 3
_LONGEST = 60


@click.command(epilog=EXAMPLES)
@click.argument("file", required=False, type=click.Path())
@click.option("--kind", metavar="GLOB", help="Only the cases of FILE whose kind matches, like 'p2p_*'.")
@json_option
@click.pass_context
def verify(ctx: click.Context, file: str | None, kind: str | None, as_json: bool) -> None:
    """Work out the cases of FILE and tell which differ from their expected values.

    FILE is JSON with a list of cases, each with id, kind, inputs, expected and tolerance. Without FILE the figures of
    the two founding documents are listed: what they print, what is exactly true, and under which premise.

    Exit code: 0 all passed, 1 a case failed, 2 bad input, 3 none failed but some are of kinds not known yet.
    """
    if file is None:
        _founding(kind, as_json)
        return
    found = verify_file(file, "*" if kind is None else kind)
    if as_json:
        print_json(_data(file, found))
    else:
        print_document([*_failures(found), *_summary(found)])
    ctx.exit(found.exit_code)


def _founding(kind: str | None, as_json: bool) -> None:
    if kind is not None:
        raise InputError(f"--kind {kind!r} chooses among the cases of a file: expected a FILE")
    rows = founding_rows()
    if as_json:
        print_json({"rows": [_row_data(row) for row in rows]})
    else:
        print_document([*_INTRODUCTION, *_table(rows), *_counts(rows)])


# --- cases --------------------------------------------------------------------------------------------------------


def _failures(found: Verification) -> Iterator[Block]:
    rows = [row for result in found.failed for row in _failure(result)]
    if rows:
        yield Grid(("failed case", "output", "expected", "got"), rows, left=4)


def _failure(result: CaseResult) -> Iterator[tuple[str, str, str, str]]:
    name = shown(result.id)
    if result.reason:
        yield name, "—", "—", f"no answer: {result.reason}"
    for difference in result.differences[:_MOST_DIFFERENCES]:
        yield name, shown(difference.key), _value(difference.expected), _got(difference)
    more = len(result.differences) - _MOST_DIFFERENCES
    if more > 0:
        yield name, f"and {more} more", "", ""


def _got(difference: Difference) -> str:
    return "nothing" if difference.missing else _value(difference.got)


def _value(value: object) -> str:
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _summary(found: Verification) -> Iterator[Block]:
    """Passes by kind, the totals, and the kinds that no function is there for."""
    known = {result.kind: 0 for result in found.results if result.status != "unknown kind"}
    passed = {kind: sum(r.kind == kind and r.status == "passed" for r in found.results) for kind in known}
    rows = [(shown(kind), str(count), str(sum(r.kind == kind for r in found.failed))) for kind, count in passed.items()]
    if rows:
        yield Grid(("kind", "passed", "failed"), rows)
    text = f"{found.count('passed')} passed, {found.count('failed')} failed"
    unknown = found.count("unknown kind")
    if unknown:
        text += f", {unknown} of {len(found.unknown_kinds)} kinds not known yet"
    yield Line(text, "bad" if found.failed else "good")
    kinds = ", ".join(f"{shown(kind)} ({count})" for kind, count in found.unknown_kinds.items())
    for line in textwrap.wrap(f"Not known yet: {kinds}" if kinds else "", _WIDTH, subsequent_indent="  "):
        yield Line(line, "faint")


_WIDTH = 110


def _data(file: str, found: Verification) -> dict[str, Any]:
    return {
        "file": shown(file),
        "passed": found.count("passed"),
        "failed": found.count("failed"),
        "unknown": found.count("unknown kind"),
        "unknown_kinds": found.unknown_kinds,
        "exit_code": found.exit_code,
        "results": [_result_data(result) for result in found.results],
    }


def _result_data(result: CaseResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "kind": result.kind,
        "status": result.status,
        "reason": result.reason,
        "differences": [{**asdict(d), "got": _readable(d.got)} for d in result.differences],
    }


def _readable(value: object) -> object:
    """What JSON has no number for as text, so that it is not taken for null."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# --- the founding table -------------------------------------------------------------------------------------------


_INTRODUCTION = (
    Line("hopline grew from two documents: one on point-to-point transfers, one on congestion and the critical path."),
    Line("Each verdict is on what the document says; 'exact' is what hopline's formulas give now, under the premise."),
    Line(
        "RIGHT; COND right only under the premise; APPROX near; WRONG; UNVERIFIABLE; QUALITATIVE without a number.",
        "faint",
    ),
)


def _counts(rows: tuple[FoundingRow, ...]) -> list[Block]:
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(row.verdict for row in rows).most_common())
    waiting = sum(bool(row.needs) for row in rows)
    return [
        Heading(f"{len(rows)} statements: {verdicts}."),
        Line(f"{waiting} wait for models still to come.", "faint"),
    ]


def _table(rows: tuple[FoundingRow, ...]) -> list[Block]:
    """The sections, with columns that stand under one another throughout."""
    cells = {start: [c for row in rows if row.id.startswith(start) for c in _cells(row)] for start in SECTIONS}
    header = ("id", "statement", "verdict", "document", "exact", "", "premise")
    everything = [header, *(c for section in cells.values() for c in section)]
    widths = [max(len(row[i]) for row in everything) for i in range(len(header) - 1)] + [0]
    blocks: list[Block] = []
    for start, title in SECTIONS.items():
        padded = [_padded(row, widths) for row in cells[start]]
        blocks += [Heading(title), Grid(_padded(header, widths), padded, left=len(header))]
    return blocks


def _padded(row: tuple[str, ...], widths: list[int]) -> tuple[str, ...]:
    return tuple(text.ljust(width) for text, width in zip(row, widths, strict=True))


def _cells(row: FoundingRow) -> Iterator[tuple[str, ...]]:
    """A line for the row with its first figure, then one for each further figure."""
    premise = f"{row.premise} (needs {row.needs})" if row.needs else row.premise
    first, *rest = row.figures or (None,)
    name, number = _exact(first)
    yield row.id, row.statement, row.verdict, row.document or "—", number, name, premise
    for figure in rest:
        name, number = _exact(figure)
        yield "", "", "", "", number, name, ""


def _exact(figure: Figure | None) -> tuple[str, str]:
    return ("", "—") if figure is None else (figure.name, exact_text(figure))


def exact_text(figure: Figure) -> str:
    """The figure to six digits without idle zeros; a size that is shown in a binary unit also in a decimal one."""
    number, _, unit = show(figure.value, figure.dimension, _DIGITS).partition(" ")
    text = f"{_trimmed(number)} {unit}".strip()
    if "iB" not in unit:
        return text
    scale, prefix = next((s for s in _DECIMAL if figure.value >= s[0]), _DECIMAL[-1])
    return f"{text} = {_trimmed(f'{figure.value / scale:.4f}')} {prefix}"


_DECIMAL = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))


def _trimmed(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number and "e" not in number else number


def _row_data(row: FoundingRow) -> dict[str, Any]:
    return {**asdict(row), "figures": [{**asdict(f), "shown": exact_text(f)} for f in row.figures]}
