"""What ``hopline run`` prints and writes.

What belongs here: the parts of its page in their order, its files, and its answer in JSON.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import numpy as np

from hopline.jobs import outputs, simulating
from hopline.jobs.executing import Cell, Ran
from hopline.quantity import counted, show
from hopline.records.busbw import FACTORS
from hopline.records.executed import Executed
from hopline.records.timeline import TICK
from hopline.schedule.operations import KINDS
from hopline.show import executed as pages
from hopline.show import images
from hopline.show.document import Block, Heading, Line
from hopline.show.schedule import remarks
from hopline.show.simulation import picture


def page(ran: Ran) -> list[Block]:
    """The answer as text."""
    shown = [cell for cell in ran.cells if cell.sample is not None]
    first = shown[0]
    blocks: list[Block] = [Heading(_title(first)), *pages.crowds(ran.crowded), *gone_on(ran)]
    samples = [cell.sample for cell in shown if cell.sample is not None]
    blocks += pages.table(samples, [_busbw(cell) for cell in shown], first.size_is)
    for cell in shown:
        executed, numbers = cell.executed, cell.simulated
        if executed is not None and numbers is not None:
            blocks += [Heading(f"{cell.size_is} {show(cell.size, 'size')}")] if len(shown) > 1 else []
            blocks += pages.one(executed, numbers.shares if len(shown) == 1 else {}, _means(cell, executed))
    blocks += remarks(ran.remarks)
    return [*blocks, Heading(f"Samples: {ran.file}")] if ran.unwritten is None else blocks


def gone_on(ran: Ran) -> list[Block]:
    """What the samples file had before."""
    before = sum(cell.earlier for cell in ran.cells)
    if ran.nothing_new:
        return [Line("All repeats were in the samples file already, so nothing was run now.", "faint")]
    return [Line(f"Gone on from the samples file, which had {counted(before, 'repeat')}.", "faint")] if before else []


def _title(cell: Cell) -> str:
    sample = cell.sample
    assert sample is not None
    where = " and ".join(dict.fromkeys(sample.hosts)) or sample.host
    return f"{cell.label}, {counted(sample.ranks, 'rank')} over {sample.transport} on {where}"


def _busbw(cell: Cell) -> float | None:
    sample, entry = cell.sample, cell.found.entry
    if sample is None or entry is None or entry.benchmark not in FACTORS or not sample.median:
        return None
    return sample.size / sample.median * FACTORS[entry.benchmark](sample.ranks)


def _means(cell: Cell, executed: Executed) -> list[tuple[str, float]]:
    """Mean time of each kind of operation in the middle repeat, in s."""
    timeline, kinds = executed.timeline, cell.found.schedule.columns.kind
    assert timeline.start is not None
    assert timeline.end is not None
    took = timeline.end - timeline.start
    return [
        (name, float(took[kinds == kind].mean()) * TICK) for kind, name in enumerate(KINDS) if np.any(kinds == kind)
    ]


def write(ran: Ran, trace: File | None, plot: File | None) -> list[str]:
    """Write the files that were asked for; a line for each."""
    done = [cell for cell in ran.cells if cell.executed is not None]
    if (trace is None and plot is None) or not done:
        return [] if trace is None and plot is None else ["No trace and no picture: nothing was run to its end now."]
    cell, lines = done[0], []
    executed = cell.executed
    assert executed is not None
    if trace is not None:
        kept = outputs.write_trace(trace, cell.found.schedule, executed.timeline)
        lines.append(f"Trace: {images.written(trace, kept)}; open it in ui.perfetto.dev")
    if plot is not None:
        bars = simulating.bars(cell.found.schedule, executed.timeline)
        drawn = picture(_title(cell), bars.rows, (bars.lanes, bars.all_lanes), bars.all_bars)
        lines.append(f"Picture: {images.written(plot, images.save(drawn, plot))}")
    return lines


def written(lines: list[str]) -> list[Block]:
    """The lines of ``write``."""
    return [Line(line) for line in lines]


def data(ran: Ran) -> dict[str, Any]:
    """The answer in SI."""
    return {
        "runs": [_cell(cell) for cell in ran.cells if cell.sample is not None],
        "file": None if ran.unwritten else str(ran.file),
        "repeats": ran.repeats,
        "interrupted": ran.interrupted,
        "nothing_new": ran.nothing_new,
        "crowded": [{"host": host, "ranks": ranks, "cores": cores} for host, ranks, cores in ran.crowded],
        "premises": [{"text": "ranks <= cores", "status": "broken" if ran.crowded else "holds"}] if ran.started else [],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    sample = cell.sample
    assert sample is not None
    told: dict[str, Any] = {
        **asdict(sample),
        "size_is": cell.size_is,
        "schedule": cell.found.schedule.name,
        "median_s": sample.median,
        "quartiles_s": list(sample.quartiles),
        "busbw": _busbw(cell),
        "earlier": cell.earlier,
        "remarks": cell.found.remarks,
    }
    executed, numbers = cell.executed, cell.simulated
    if executed is None or numbers is None:
        return told
    return told | {
        "late_s": list(executed.late),
        "clock": asdict(executed.clock),
        "cost_s": executed.cost,
        "checked_bytes": executed.checked,
        "finish_ps": executed.timeline.finish.tolist(),
        "critical_path": [asdict(step) for step in simulating.steps(cell.found.schedule, executed.timeline)],
        "critical_path_shares": numbers.shares,
        "mean_s": dict(_means(cell, executed)),
    }
