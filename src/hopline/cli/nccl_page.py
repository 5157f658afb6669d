"""``hopline nccl``'s answers: as JSON in SI units, and a log's as a page.

What belongs here: the shape of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hopline.jobs.fitting import titled
from hopline.jobs.nccl import Answer
from hopline.jobs.nccl_beside import Apart, Beside
from hopline.jobs.nccl_logs import Explained
from hopline.model.nccl.job import Graph
from hopline.quantity import counted
from hopline.show import nccl as pages
from hopline.show.document import Block, Grid, Heading, Line

_GBPS, _US = 1e9, 1e-6


def answer(found: Answer) -> dict[str, Any]:
    """A row a size with all ways, the table, the crossovers, the premises."""
    rows = []
    for i, size in enumerate(found.sizes.tolist()):
        every = {" ".join(way): float(column[i]) for way, column in found.times.items()}
        rows.append({"size": size, "algorithm": found.chosen[i][0], "protocol": found.chosen[i][1],
                     "time_s": float(found.time[i]), "unforced_s": None if found.free is None else float(found.free[i]),
                     "ways_s": every})  # fmt: skip
    cells = [
        {"function": f, "algorithm": a, "protocol": p, "latency_s": c.latency, "bandwidth": c.bandwidth}
        for (f, a, p), c in found.cells.items()
        if f == found.function
    ]
    return {
        "function": found.function, "ranks": found.job.ranks, "nodes": found.job.nodes,
        "architecture": found.job.architecture, "nccl": found.job.version,
        "graphs": {name: _graph(graph) for name, graph in found.job.graphs.items()}, "rows": rows,
        "table": cells, "crossovers": [asdict(change) for change in found.crossovers], "premises": list(found.premises),
    }  # fmt: skip


def _graph(graph: Graph) -> dict[str, Any]:
    """A graph in byte/s and seconds; the model keeps NCCL's units."""
    data = asdict(graph)
    rates = {"within": graph.within * _GBPS, "between": graph.between * _GBPS, "latency_s": data.pop("latency") * _US}
    return {**data, **rates}


def pairs(rows: Sequence[Apart]) -> list[dict[str, Any]]:
    """Two figures for one thing each."""
    return [{"what": p.what, "ours": p.ours, "other": p.other, "error": p.error, "apart": p.parts} for p in rows]


def log(found: Explained) -> dict[str, Any]:
    """All that a log says, and what stands beside it."""
    log = found.log
    return {
        "source": log.source, "flavour": log.flavour, "version": log.version, "git": log.git, "ranks": log.ranks,
        "nodes": log.nodes, "hosts": list(log.hosts), "networks": dict(log.networks), "missing": dict(log.missing),
        "plugins": list(log.plugins), "tuner": list(log.tuner), "connections": dict(log.connections),
        "devices": dict(log.devices), "gdrdma": log.direct, "channels": log.channels, "channels_listed": log.listed,
        "environment": dict(log.environment), "facts": dict(log.facts), "levels": dict(log.levels),
        "warnings": dict(log.warnings), "notes": list(log.notes), "searches": [asdict(one) for one in log.searches],
        "tables": [
            [{"function": f, "algorithm": a, "protocol": p, "latency_s": c.latency, "bandwidth": c.bandwidth}
             for (f, a, p), c in table.cells.items()] for table in log.tables
        ],
        "calls": [asdict(call) for call in log.calls], "collectives": [asdict(one) for one in log.collectives],
        "crossovers": {name: [asdict(change) for change in changes] for name, changes in found.crossovers.items()},
        "choices": [{**asdict(one.call), "times": one.times, "expected": one.ours, "same": one.same} for one in found.chosen],
        "choices_by": found.basis, "beside_table": pairs(found.apart), "expected_beside_measured": pairs(found.waits),
        "beside_benchmark": [{"benchmark": t.benchmark, "rows": pairs(rows)} for t, rows in found.measured],
        "findings": list(found.findings), "premises": list(found.premises),
    }  # fmt: skip


def blocks(found: Explained) -> list[Block]:
    """A log's page."""
    made = pages.log_facts(found.log)
    made += [Heading("Worth a look"), *map(Line, found.findings)] if found.findings else []
    for name, changes in found.crossovers.items():
        made += [Heading(f"{name} by the log's own table"), *pages.crossings(changes)]
    made += _choices(found)
    made += pages.beside(
        "NCCL's expectation beside the measured row it stands in", found.waits, ("expected", "measured")
    )
    made += pages.beside("Our tuning table beside the log's", found.apart)
    for table, rows in found.measured:
        made += pages.beside(f"NCCL's tuner beside the measured {table.benchmark}", rows)
    if found.answer is not None:
        made += [Heading("Our figures are of"), Line(job(found.answer))]
    return [*made, *pages.premise_lines(found.premises)]


def job(found: Answer) -> str:
    """Of which job an answer is."""
    return (
        f"{counted(found.job.ranks, f'{found.job.architecture} GPU')}, {counted(found.job.nodes, 'node')}, "
        f"NCCL {found.job.version}"
    )


def beside_data(found: Sequence[Beside]) -> list[dict[str, Any]]:
    """Measured tables beside ours."""
    return [
        {"table": titled(one.table), "nccl": one.answer.job.version, "ranks": one.answer.job.ranks,
         "nodes": one.answer.job.nodes, "architecture": one.answer.job.architecture, "rows": pairs(one.pairs),
         "premises": list(one.premises)} for one in found
    ]  # fmt: skip


def beside_blocks(found: Sequence[Beside], path: str, left: int) -> list[Block]:
    """The same as a page; ``left``: how many tables of the file time something else."""
    made: list[Block] = []
    for one in found:
        made += pages.beside(f"{titled(one.table)}: NCCL's tuner ({job(one.answer)}) beside {path}", one.pairs)
    made += [Line(f"{counted(left, 'table')} of {path} left out: of another collective", "faint")] if left else []
    return [*made, *pages.premise_lines(tuple(dict.fromkeys(text for one in found for text in one.premises)))]


def _choices(found: Explained) -> list[Block]:
    if not found.chosen:
        return []
    rows = [
        (one.call.function or "?", str(one.call.size), f"{one.call.algorithm} {one.call.protocol}", str(one.times),
         " ".join(one.ours) if one.ours else "unknown", "" if one.same or one.ours is None else "another")
        for one in found.chosen
    ]  # fmt: skip
    other = sum(one.ours is not None and not one.same for one in found.chosen)
    told = f"by {found.basis}" if found.basis else "expected"
    verb = "is" if other == 1 else "are"
    end = (
        f"{other} of {counted(len(rows), 'choice')} {verb} other than {told}."
        if found.basis
        else "No table to hold them against."
    )
    header = ("function", "bytes", "chosen", "calls", told, "")
    return [Heading("Choices"), Grid(header, rows[: pages.MOST_ROWS], left=1), Line(end, "bad" if other else "plain")]
