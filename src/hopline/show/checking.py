"""Checked logs as text and as JUnit XML.

What belongs here: the page of ``hopline check``, and the report that pipelines read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopline.quantity import show
from hopline.records.verdict import Checked, Outcome, Verdict
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_WORST_FIRST: tuple[Outcome, ...] = ("fail", "pass", "unknown")
_MOST_ROWS = 60
_WIDE = 2.0
"""Where a healthy time may be this much above the expected one, the page says how to know more exactly."""


def page(source: str, machine: str, checked: Sequence[Checked]) -> list[Block]:
    """The verdict first, then each table with its reasons."""
    counts = Counter(table.outcome for table in checked)
    worst = next((outcome for outcome in _WORST_FIRST if counts[outcome]), "unknown")
    told = "" if len(checked) == 1 else f" ({_counted(counts)} of {len(checked)} tables)"
    blocks: list[Block] = [Heading(f"{source} against {machine}: {worst.upper()}{told}")]
    for table in checked:
        blocks += _table(table)
    return blocks


def _counted(counts: Mapping[Outcome, int]) -> str:
    """``2 fail, 1 pass``, the worst first."""
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _WORST_FIRST if counts[outcome])


def _table(table: Checked) -> list[Block]:
    sizes = Counter(verdict.outcome for verdict in table.verdicts)
    blocks: list[Block] = [
        Heading(f"{table.title} (line {table.line}): {table.outcome.upper()} (sizes: {_counted(sizes)})")
    ]
    blocks += [Line(f"  {table.basis}", "faint")] if table.basis else []
    blocks += [Line(f"  {fault}", "bad") for fault in table.faults]
    blocks += [Line(f"  {table.hint}", "strong")] if table.hint else []
    alike = {(verdict.outcome, verdict.reason) for verdict in table.verdicts}
    if len(alike) == 1 and sizes["unknown"]:
        return [*blocks, Line(f"  nothing can be told of its sizes: {table.verdicts[0].reason}", "faint")]
    rows = [_row(verdict) for verdict in table.verdicts[:_MOST_ROWS]]
    blocks.append(Grid(("size", "measured", "expected", "passes up to", "times", "", ""), _left(rows), left=0))
    if len(table.verdicts) > _MOST_ROWS:
        blocks.append(Line(f"  ... and {len(table.verdicts) - _MOST_ROWS} more sizes (all in --json)", "faint"))
    return [*blocks, *_notes(table)]


def _notes(table: Checked) -> Iterator[Line]:
    widest = max((v.limit / v.expected for v in table.verdicts if v.limit and v.expected), default=0.0)
    if table.basis.startswith("by formula") and widest > _WIDE:
        yield Line(
            f"  A formula is unsure: up to {widest:.2g} times the expected passes. hopline fit GOOD.log --save NAME makes a "
            "machine of a log of healthy days, and --machine NAME then checks closely.",
            "faint",
        )


def _left(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Rows with their last two columns filled up, so that they stand left in a grid that stands right."""
    widths = [max((len(row[i]) for row in rows), default=0) for i in (-2, -1)]
    return [(*row[:-2], row[-2].ljust(widths[0]), row[-1].ljust(widths[1])) for row in rows]


def _row(verdict: Verdict) -> tuple[str, ...]:
    times = (show(value, "time") for value in (verdict.time, verdict.expected, verdict.limit))
    ratio = f"{verdict.time / verdict.expected:.2f}" if verdict.expected else "—"
    reason = "" if verdict.reason.startswith(("slower", "faster")) else verdict.reason
    return (show(verdict.size, "size"), *times, ratio, verdict.outcome, reason)


MOST_DRAWN = 6


def picture(source: str, checked: Sequence[Checked]) -> figures.Spec | None:
    """Measured against expected times of the first MOST_DRAWN tables that something is expected of; None for none."""
    told = [table for table in checked if any(verdict.expected for verdict in table.verdicts)]
    specs = [_drawn(table, source) for table in told[:MOST_DRAWN]]
    return figures.stacked(specs) if len(specs) > 1 else next(iter(specs), None)


def _drawn(table: Checked, source: str) -> figures.Spec:
    points = [(verdict.size, verdict.time, verdict.outcome) for verdict in table.verdicts]
    lines = {}
    for name, part in (("expected", "expected"), ("passes up to", "limit"), ("least possible", "least")):
        known = [(v.size, float(getattr(v, part))) for v in table.verdicts if getattr(v, part)]
        if known:
            sizes, times = zip(*known, strict=True)
            lines[name] = (sizes, times)
    return figures.against(points, lines, [], f"{table.title}, {source}")


def junit(source: str, checked: Sequence[Checked], error: str = "") -> str:
    """JUnit XML: a suite for each table, a case for each size; ``error``: the log could not be read."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name=_printable(f"hopline check {source}"))
    if error:
        _suite(root, source, [("log", "error", error, 0.0)])
    for table in checked:
        cases = [(f"fault {i + 1}", "fail", fault, 0.0) for i, fault in enumerate(table.faults)]
        cases += [(f"{v.size:.0f} B", v.outcome, v.reason, v.time) for v in table.verdicts]
        _suite(root, table.title, cases)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written.decode() + "\n"


_TAGS = {"fail": "failure", "unknown": "skipped", "error": "error"}
"""Outcome -> the element that says so; a pass has none."""


def _suite(root: Element, name: str, cases: Sequence[tuple[str, str, str, float]]) -> None:
    """Add a suite; ``cases`` are (name, outcome, reason, seconds)."""
    from xml.etree import ElementTree

    counts = Counter(outcome for _, outcome, _, _ in cases)
    told = {"failures": counts["fail"], "errors": counts["error"], "skipped": counts["unknown"]}
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {key: str(count) for key, count in told.items()},
        name=_printable(name),
        tests=str(len(cases)),
    )
    for title, outcome, reason, time in cases:
        case = ElementTree.SubElement(suite, "testcase", name=title, classname=_printable(name), time=f"{time:.9f}")
        if outcome in _TAGS:
            ElementTree.SubElement(case, _TAGS[outcome], message=_printable(reason))


def _printable(text: str) -> str:
    """Without the control characters that XML has no place for."""
    return "".join(c if c.isprintable() else "?" for c in text)
