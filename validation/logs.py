"""Formulas beside public logs that no constant was learnt from, and those that some were: python validation/logs.py

Prints how measured times compare with what `expect` works out from a preset's links, in three ranges of sizes, and how much of
a start-up is left between the messages of a stream (the premise of model/sends). Nothing is asserted: these are single logs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hopline.jobs import expecting, machines
from hopline.jobs.fitting import read
from hopline.jobs.questions import Question
from hopline.records.table import Table

FIELD = Path(__file__).resolve().parents[2] / "shared/field"
RANGES = ((0, 64 << 10), (64 << 10, 8 << 20), (8 << 20, 1 << 60))


@dataclass(frozen=True, slots=True)
class Case:
    """A log, the machine it is held against, and what the log does not say."""

    file: str
    machine: str
    title: str
    places: tuple[str, ...] = ()


CASES = (
    Case("nccl-tests/block-aws-batch-1.log", "dgx-h100", "8 H100, NVLS"),
    Case("nccl-tests/sb-a100x8-allreduce-v2.8-novalidate.log", "dgx-a100", "8 A100, NCCL 2.8"),
    Case("nccl-tests/sb-a100x8-allgather-v2.8-novalidate.log", "dgx-a100", "8 A100, NCCL 2.8"),
    Case("nccl-tests/sb-a100x8-alltoall-v2.8-novalidate.log", "dgx-a100", "8 A100, NCCL 2.8"),
    Case("nccl-tests/block-cscs-gh200-1.log", "gh200-slingshot", "8 GH200 on two nodes"),
    Case(
        "nccl-tests/cscs-allreduce-2.18.2-newest-layout.log", "gh200-slingshot", "2 GH200 on two nodes",
        ("h0.gpu0", "h1.gpu0"),
    ),
)  # fmt: skip
STREAMS = (
    ("perftest/ib_write_bw-a-cpufreq-warnings-hdr200.log", "perftest/ib_write_lat-a-cpufreq-warnings.log"),
    ("osu/omb5.8-bw-aks-ib.out", "osu/omb5.8-latency-aks-ib.out"),
    ("osu/omb5.8-bw-eks-cpu-efa.out", "osu/omb5.8-latency-eks-cpu-efa.out"),
    ("osu/omb5.7-osu_mbw_mr+multi_lat-a100-gpu-1pair.txt", "osu/omb5.7-osu_multi_lat-a100-gpu.txt"),
)
"""(gaps of a stream, latencies of the same pair of hosts)"""


def against(case: Case) -> None:
    """Least, median and largest measured / expected in each range of sizes."""
    table = read(str(FIELD / case.file)).tables[0]
    ranks = table.ranks or 8
    sizes = tuple(float(m) for m in np.unique(table.size))
    found = expecting.expect(Question(machines.find(case.machine), table.benchmark, ranks, sizes, case.places)).found
    ratio = table.time[np.argsort(table.size)] / found.time
    cells = []
    for low, high in RANGES:
        some = ratio[(found.size >= low) & (found.size < high)]
        cells.append(f"{some.min():5.2f} {np.median(some):5.2f} {some.max():5.2f}" if len(some) else " " * 17)
    print(f"{case.title + ', ' + table.benchmark:36}" + "   ".join(cells))


def left_over(gaps: Table, latencies: Table) -> None:
    """(gap - size / β) / α over all sizes, α the least latency and β the best rate."""
    alpha, beta = float(latencies.time.min()), float((gaps.size / gaps.time).max())
    share = (gaps.time - gaps.size / beta) / alpha
    told = (
        f"{share.min():.2f} to {share.max():.2f}, at sizes up to 1 MiB at most {share[gaps.size <= 1 << 20].max():.2f}"
    )
    print(f"{gaps.tool} {gaps.benchmark}, {len(gaps)} sizes: {told}")


def main() -> int:
    """Print both; the exit code."""
    if not FIELD.is_dir():
        print("skipped: no public logs beside the project")
        return 0
    print(f"{'measured / expected by formula':36}{'below 64 KiB':>17}   {'below 8 MiB':>17}   {'from 8 MiB':>17}")
    for case in CASES:
        against(case)
    print("\npart of a start-up that is left between the messages of a stream")
    for gaps, latencies in STREAMS:
        left_over(*(read(str(FIELD / file)).tables[0] for file in (gaps, latencies)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
