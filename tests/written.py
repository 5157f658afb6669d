"""Logs as benchmarks write them, from sizes and times of a test's own choice."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

SIZES = tuple(1024 << power for power in range(17))
"""1 KiB to 64 MiB."""
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "sendrecv": lambda n: 1.0, "broadcast": lambda n: 1.0}
"""busbw / algbw, (n - 1) / n for those that are not here."""


def line(sizes: Iterable[float], latency: float, bandwidth: float) -> dict[float, float]:
    """Size -> seconds of an α-β line, rounded as logs round."""
    return {m: float(f"{latency + m / bandwidth:.4g}") for m in sizes}


def nccl(
    times: Mapping[float, float],
    ranks: int | None = 8,
    name: str = "all_reduce",
    wrong: Mapping[float, int] | None = None,
    factor: float | None = None,
    in_place: float = 1.0,
) -> str:
    """A console log of nccl-tests; ``ranks`` None: neither rank lines nor a factor tell."""
    bus = factor or FACTORS.get(name, lambda n: (n - 1) / n)(ranks or 8)
    reduces = name in ("all_reduce", "reduce_scatter", "reduce")
    lines = [f"# Collective test starting: {name}_perf", "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)"]
    lines += ["# Using devices"]
    lines += [
        f"#  Rank {i:2d} Group  0 Pid {700 + i:6d} on host0 device {i:2d} [0x10] Made-up" for i in range(ranks or 0)
    ]
    lines += [
        "#                                                              out-of-place                       in-place",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    for size, time in times.items():
        halves = [(time, (wrong or {}).get(size, 0)), (time * in_place, 0)]
        cells = [f"{t * 1e6:10.2f} {size / t / 1e9:9.4f} {bus * size / t / 1e9:9.4f} {w:6d}" for t, w in halves]
        redop, root = ("sum" if reduces else "none"), (0 if name in ("broadcast", "reduce") else -1)
        lines.append(f"{size:12.0f} {size / 4:13.0f} {'float':>9} {redop:>7} {root:7d} {' '.join(cells)}")
    return "\n".join([*lines, "# Out of bounds values : 0 OK", ""])


def osu(times: Mapping[float, float], title: str = "MPI Latency Test", unit: str = "Latency (us)") -> str:
    """A log of the OSU micro-benchmarks; in MB/s where ``unit`` says so."""
    rows = [f"{m:<12.0f}{m / t / 1e6 if 'MB' in unit else t * 1e6:>20.2f}" for m, t in times.items()]
    return "\n".join([f"# OSU {title} v7.4", f"# {'Size':<10}{unit:>20}", *rows, ""])


def scaled(times: Mapping[float, float], factor: float, sizes: Sequence[float] | None = None) -> dict[float, float]:
    """The times, ``factor`` times as long at ``sizes`` (None: at all)."""
    return {m: t * (factor if sizes is None or m in sizes else 1.0) for m, t in times.items()}


def noisy(times: Mapping[float, float], scatter: float, seed: int) -> dict[float, float]:
    """The times with a relative scatter, as a repeat of the run would show."""
    random = np.random.default_rng(seed)
    return {m: t * float(np.exp(scatter * random.standard_normal())) for m, t in times.items()}
