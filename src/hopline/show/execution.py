"""What an execution trace says, on a page and as JSON.

What belongs here: words for an ExecutionReport.
"""

from __future__ import annotations

from typing import Any

from hopline.quantity import counted, show
from hopline.records.execution import FORMS, Chain, Execution, ExecutionReport, Sent
from hopline.show.document import Block, Grid, Heading, Line

MOST_NODES = 12
"""Of the chain: those that take longest."""


def page(report: ExecutionReport) -> list[Block]:
    """Nodes, what is sent, the longest chain."""
    execution = report.execution
    rank = "" if execution.rank is None else f", rank {execution.rank}"
    schema = f" {_printable(execution.schema)}" if execution.schema else ""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in execution.by_type().items())
    return [
        Heading(f"{execution.source}: {FORMS[execution.form]}{schema}{rank}"),
        Line(f"{counted(len(execution), 'node')} ({kinds}), {_work(report)}"),
        *_sent(report), *_chain(report), *(Line(remark, "faint") for remark in execution.told),
    ]  # fmt: skip


def _work(report: ExecutionReport) -> str:
    if not report.timed:
        return "none with a duration"
    return f"{report.timed:,} with a duration, {show(report.work, 'time')} together"


def _sent(report: ExecutionReport) -> list[Block]:
    if not report.sent:
        return [Line("No communication.")]
    rows = [_row(sent) for sent in report.sent]
    header = ("operation", "calls", "with a size", "bytes of these", "time")
    unknown = sum(sent.calls - sent.sized for sent in report.sent)
    more = [Line(f"{counted(unknown, 'call')} without a size: not told, which is not 0.", "faint")] if unknown else []
    return [Heading("Communication"), Grid(header, rows), *more]


def _row(sent: Sent) -> tuple[str, ...]:
    size = show(float(sent.size), "size") if sent.sized else "not told"
    return (
        _printable(sent.op),
        f"{sent.calls:,}",
        f"{sent.sized:,}",
        size,
        show(sent.time, "time") if sent.time else "not told",
    )


def _chain(report: ExecutionReport) -> list[Block]:
    chain = report.chain
    if chain is None:
        return [Line(f"No longest chain: {report.why}.", "faint")]
    untimed = f"; {chain.untimed:,} of them have no duration and count as 0" if chain.untimed else ""
    head = (
        f"Longest chain of data dependencies: {show(chain.time, 'time')} over {counted(len(chain.rows), 'node')}, "
        f"{show(chain.communication, 'time')} of it communication{untimed}"
    )
    return [Heading(head), Grid(("node", "time", "of the chain"), _longest(report.execution, chain))]


def _longest(execution: Execution, chain: Chain) -> list[tuple[str, ...]]:
    times = {row: float(execution.duration[row]) for row in chain.rows if execution.duration[row] > 0}
    order = sorted(times, key=lambda row: (-times[row], row))[:MOST_NODES]
    return [
        (_printable(execution.label(row)), show(times[row], "time"), f"{times[row] / chain.time:.1%}") for row in order
    ]


def _printable(name: str) -> str:
    """A name of the file, cut, with what would steer a terminal written out."""
    return name[:80] if name[:80].isprintable() else repr(name[:80])[1:-1]


def as_json(report: ExecutionReport) -> dict[str, Any]:
    """All of it, in bytes and seconds; null where the trace does not say."""
    execution, chain = report.execution, report.chain
    return {
        "source": execution.source, "form": execution.form, "schema": execution.schema, "rank": execution.rank,
        "nodes": len(execution), "nodes_by_type": execution.by_type(), "data_dependencies": execution.data_count,
        "control_dependencies": execution.control_count, "timed": report.timed, "work": report.work if report.timed else None,
        "calls": [
            {
                "op": call.op, "size": call.size, "dtype": call.dtype, "group": call.group, "ranks": call.ranks,
                "duration": call.duration, "ids": [int(execution.id[row]) for row in call.rows],
            } for call in execution.calls
        ],
        "sent": [
            {
                "op": sent.op, "calls": sent.calls, "sized": sent.sized, "size": sent.size if sent.sized else None,
            } for sent in report.sent
        ],
        "chain": None if chain is None else {
            "time": chain.time, "communication": chain.communication, "untimed": chain.untimed,
            "ids": [int(execution.id[row]) for row in chain.rows],
        },
        "why_no_chain": report.why or None, "about": dict(execution.about), "told": list(execution.told),
    }  # fmt: skip
