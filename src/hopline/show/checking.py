"""Checked logs as text and as JUnit XML.

What belongs here: the page of ``hopline check``, and the report that pipelines read.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import show
from hopline.records.verdict import Checked, Verdict
from hopline.show.document import Block, Grid, Heading, Line, Style

STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "unknown": "faint"}
_MOST_ROWS = 60


def page(source: str, machine: str, checked: Sequence[Checked]) -> list[Block]:
    """The verdict first, then each table with its reasons."""
    counts = {outcome: sum(table.outcome == outcome for table in checked) for outcome in STYLES}
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    worst = "fail" if counts["fail"] else "pass" if counts["pass"] else "unknown"
    blocks: list[Block] = [Heading(f"{source} against {machine}: {worst.upper()} ({told} of {len(checked)} tables)")]
    for table in checked:
        blocks += _table(table)
    return blocks


def _table(table: Checked) -> list[Block]:
    blocks: list[Block] = [Heading(f"{table.title} (line {table.line}): {table.outcome.upper()}")]
    blocks += [Line(f"  {table.basis}", "faint")] if table.basis else []
    blocks += [Line(f"  {fault}", "bad") for fault in table.faults]
    blocks += [Line(f"  {table.hint}", "strong")] if table.hint else []
    if len({(verdict.outcome, verdict.reason) for verdict in table.verdicts}) == 1 and not table.verdicts[0].expected:
        only = table.verdicts[0]
        return [*blocks, Line(f"  all {len(table.verdicts)} sizes {only.outcome}: {only.reason}", STYLES[only.outcome])]
    rows = [_row(verdict) for verdict in table.verdicts[:_MOST_ROWS]]
    blocks.append(Grid(("size", "measured", "expected", "passes up to", "", "reason"), rows, left=0))
    if len(table.verdicts) > _MOST_ROWS:
        blocks.append(Line(f"  ... and {len(table.verdicts) - _MOST_ROWS} more sizes (all in --json)", "faint"))
    return blocks


def _row(verdict: Verdict) -> tuple[str, ...]:
    times = (show(value, "time") for value in (verdict.time, verdict.expected, verdict.limit))
    return (show(verdict.size, "size"), *times, verdict.outcome, verdict.reason)


def junit(source: str, checked: Sequence[Checked], error: str = "") -> str:
    """JUnit XML: a suite for each table, a case for each size; ``error``: the log could not be read."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name=f"hopline check {source}")
    if error:
        suite = ElementTree.SubElement(root, "testsuite", name=source, tests="1", errors="1", failures="0", skipped="0")
        case = ElementTree.SubElement(suite, "testcase", name="log", classname=source)
        ElementTree.SubElement(case, "error", message=_printable(error))
    for table in checked:
        cases = [*((f"fault {i + 1}", "fail", fault, 0.0) for i, fault in enumerate(table.faults))]
        cases += [(show(v.size, "size"), v.outcome, v.reason, v.time) for v in table.verdicts]
        counts = {outcome: str(sum(case[1] == outcome for case in cases)) for outcome in STYLES}
        suite = ElementTree.SubElement(
            root, "testsuite", name=_printable(table.title), tests=str(len(cases)), errors="0",
            failures=counts["fail"], skipped=counts["unknown"],
        )  # fmt: skip
        for name, outcome, reason, time in cases:
            case = ElementTree.SubElement(
                suite, "testcase", name=name, classname=_printable(table.title), time=f"{time:.9f}"
            )
            if outcome != "pass":
                kind = "failure" if outcome == "fail" else "skipped"
                ElementTree.SubElement(case, kind, message=_printable(reason))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Without the control characters that XML has no place for."""
    return "".join(c if c.isprintable() else "?" for c in text)
