"""Published tables of ../shared/measured, where they stand beside the repository.

What belongs here: which table is which, by the names that validation prints. Reading them is ``hopline.formats``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hopline.jobs.fitting import read
from hopline.records.table import Table
from hopline.study.points import Points, medians

FOLDER = Path(__file__).resolve().parents[2] / "shared/measured"
SKIPPED = "skipped: no measured tables beside the project"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One table. ``variant`` tells data types or placements of one operation apart."""

    machine: str
    benchmark: str
    ranks: int
    variant: str
    points: Points
    table: Table
    source: str

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"{self.machine} {self.benchmark} {self.ranks} ranks, {self.variant}"


def tables() -> Iterator[Measured]:
    """All tables, in the order of the files. Nothing where there are none."""
    for file in sorted(FOLDER.glob("*.csv")) if FOLDER.is_dir() else []:
        for table in read(str(file)).tables:
            vidur = table.tool == "vidur"
            benchmark = "send_recv" if vidur and table.benchmark == "send" else table.benchmark
            machine = file.stem.removesuffix(f"-{benchmark}") if vidur else file.stem.split("-")[1]
            variant = f"{table.facts['devices_per_node']} a node" if vidur else str(table.facts["type"])
            points = Points(*medians(table.size, table.time))
            yield Measured(machine, benchmark, table.ranks or 0, variant, points, table, str(file))
