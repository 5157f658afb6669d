"""Published tables of ../shared/measured, where they stand beside the repository, in SI.

What belongs here: reading them. One table is one operation, data type or placement, number of ranks and machine; its time
at a size is the median over ranks.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hopline.curve import Floats
from hopline.study.points import Points

FOLDER = Path(__file__).resolve().parents[2] / "shared/measured"
SKIPPED = "skipped: no measured tables beside the project"
_BYTES = {"half": 2, "int8": 1}


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One table. ``variant`` tells data types or placements of one operation apart."""

    machine: str
    benchmark: str
    ranks: int
    variant: str
    points: Points

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"{self.machine} {self.benchmark} {self.ranks} ranks, {self.variant}"


def tables() -> Iterator[Measured]:
    """All tables, in the order of the files. Nothing where there are none."""
    found: dict[tuple[str, str, int, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted(FOLDER.glob("*.csv")) if FOLDER.is_dir() else []:
        with file.open(newline="") as text:
            for row in csv.DictReader(text):
                key, size, time = _vidur(file, row) if "size" in row else _aiconfigurator(file, row)
                if time > 0:
                    found[key][size].append(time)
    for key, times in found.items():
        sizes = sorted(times)
        medians: Floats = np.array([np.median(times[size]) for size in sizes])
        yield Measured(*key, Points(np.array(sizes), medians))


def _vidur(file: Path, row: Mapping[str, str]) -> tuple[tuple[str, str, int, str], float, float]:
    name = row["collective"]
    machine = file.stem.removesuffix(f"-{name}")
    key = machine, name, int(row["num_workers"]), f"{row['devices_per_node']} a node"
    return key, float(row["size"]), float(row[f"time_stats.{name}.median"]) * 1e-3


def _aiconfigurator(file: Path, row: Mapping[str, str]) -> tuple[tuple[str, str, int, str], float, float]:
    kind = row["nccl_dtype"]
    key = file.stem.split("-")[1], row["op_name"], int(row["num_gpus"]), kind
    return key, float(row["message_size"]) * _BYTES[kind], float(row["latency"]) * 1e-3
