"""How far fits are off on points they have not seen: python validation/held_out.py

Every table of tests/data/logs, and of ../shared/field and ../shared/measured where they stand beside the repository, is
fitted by one line and in pieces. Printed are the errors on held-out points. Leaves with code 1 where, over all tables
together, the pieces' median is worse than that of the one line.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hopline.errors import FitError, HoplineError
from hopline.jobs.fitting import fit_files
from hopline.records.fit import Fit
from hopline.study.calibrate import calibrate

ROOT = Path(__file__).resolve().parents[1]
LOGS = (ROOT / "tests/data/logs", ROOT.parent / "shared/field/nccl-tests", ROOT.parent / "shared/field/osu")
MEASURED = ROOT.parent / "shared/measured"
FEWEST = 5
"""Tables of fewer sizes say nothing of held-out points."""
BYTES = {"half": 2, "int8": 1}


@dataclass(frozen=True, slots=True)
class Row:
    """One table's two fits."""

    name: str
    line: Fit
    pieces: Fit


def logs() -> Iterator[Row]:
    """Tables of benchmark logs; files that hopline refuses are told and passed over."""
    for folder in LOGS:
        for file in sorted(folder.glob("*")) if folder.is_dir() else []:
            try:
                _, fits = fit_files([str(file)])
            except HoplineError as error:
                print(f"  passed over: {' '.join(str(error).replace(str(file), file.name).split())[:110]}")
                continue
            for fit in fits:
                if fit.line is not None and fit.pieces is not None and fit.pieces.points >= FEWEST:
                    yield Row(f"{file.name} #{fit.number} {fit.title}", fit.line, fit.pieces)


def measured() -> Iterator[Row]:
    """Published tables of times in ms: one row of points for each operation, number of ranks and data type or placement."""
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for file in sorted(MEASURED.glob("*.csv")) if MEASURED.is_dir() else []:
        with file.open(newline="") as text:
            for row in csv.DictReader(text):
                name, size, time = _vidur(row) if "size" in row else _aiconfigurator(row)
                if time > 0:
                    groups[f"{file.stem.split('-nccl')[0]} {name}"].append((size, time))
    for name, points in groups.items():
        size, time = zip(*points, strict=True)
        try:
            line, pieces = calibrate(size, time, most_pieces=1), calibrate(size, time)
        except FitError as error:
            print(f"  passed over: {name}: {error}")
            continue
        if pieces.points >= FEWEST:
            yield Row(name, line, pieces)


def _vidur(row: dict[str, str]) -> tuple[str, float, float]:
    name = row["collective"]
    time = float(row[f"time_stats.{name}.median"]) * 1e-3
    return f"{name} {row['num_workers']} ranks, {row['devices_per_node']} a node", float(row["size"]), time


def _aiconfigurator(row: dict[str, str]) -> tuple[str, float, float]:
    size = float(row["message_size"]) * BYTES[row["nccl_dtype"]]
    return f"{row['op_name']} {row['num_gpus']} ranks, {row['nccl_dtype']}", size, float(row["latency"]) * 1e-3


def main() -> int:
    """Print the table; the exit code."""
    rows = [*logs(), *measured()]
    print(f"\n{'table':78} sizes   one line: mean  worst   pieces   mean  worst")
    for row in rows:
        line, pieces = row.line.held_out, row.pieces.held_out
        print(
            f"{row.name[:78]:78} {row.pieces.points:5} {100 * line.mean:14.1f} % {100 * line.worst:4.0f} %"
            f" {len(row.pieces.curve.pieces):7} {100 * pieces.mean:5.1f} % {100 * pieces.worst:4.0f} %"
        )
    by_line, by_pieces = (median(getattr(row, kind).held_out.mean for row in rows) for kind in ("line", "pieces"))
    better = sum(row.pieces.held_out.mean < row.line.held_out.mean * (1 - 1e-9) for row in rows)
    worse = sum(row.pieces.held_out.mean > row.line.held_out.mean * (1 + 1e-9) for row in rows)
    print(f"\n{len(rows)} tables: pieces are better than one line on {better}, worse on {worse}, the same on the rest")
    print(f"median held-out error: one line {100 * by_line:.2f} %, pieces {100 * by_pieces:.2f} %")
    if not math.isfinite(by_pieces) or by_pieces > by_line:
        print("the pieces are worse than one line", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
