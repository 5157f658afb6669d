"""How fast and with how much memory nccl-tests logs are read, beside a plain pass of Python over the same lines.

Run as ``python benchmarks/read_log.py [MB]``. Two made-up files of that size (100 MB unless told): one table of very
many rows, and the run of 34 sizes that people really have, over and over, with its header and some NCCL INFO lines.
Each reading takes place in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_HEADER = b"""#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
_START = b"""# nccl-tests version 2.18.0 nccl-headers=22907 nccl-library=22907
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1
#
# Using devices
"""
_END = (
    b"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.34\n#\n# Collective test concluded: all_reduce_perf\n"
)
_INFO = b"node%d:4711:4712 [%d] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM\n"
_RANK = b"#  Rank %2d Group  0 Pid   %4d on      node0 device %2d [0000:1b:00] NVIDIA H100 80GB HBM3\n"


def _printed(value: float, width: int) -> str:
    """A number as the tool prints it: never wider than ``width``, so that all lines are of one length."""
    digits = len(str(int(value)))
    decimals = 2 if digits < width - 2 else 1 if digits < width - 1 else 0
    return f"{value:{width}.{decimals}f}"


def _row(power: int, ranks: int = 8) -> bytes:
    size = 2.0**power
    half = ""
    for latency in (21.3, 20.7):
        micros = latency + size / 230e3
        algbw = size / micros / 1e3
        busbw = algbw * 2 * (ranks - 1) / ranks
        half += f"  {_printed(micros, 7)}  {_printed(algbw, 6)}  {_printed(busbw, 6)}       0"
    return f"{size:12.0f}  {size / 4:12.0f}     float     sum      -1{half}\n".encode()


def one_table(file: Path, size: int) -> None:
    """A single table."""
    rows = b"".join(_row(power) for power in range(3, 35))
    with file.open("wb") as out:
        out.write(_START + _HEADER)
        for _ in range(size // len(rows)):
            out.write(rows)
        out.write(_END)


def many_runs(file: Path, size: int) -> None:
    """The same run many times."""
    parts = [_START, *(_RANK % (rank, 4000 + rank, rank) for rank in range(8)), _HEADER]
    for power in range(1, 35):
        parts.append(_row(power))
        if power % 8 == 0:
            parts.append(_INFO % (power, power % 8))
    run = b"".join(parts) + _END
    with file.open("wb") as out:
        for _ in range(size // len(run)):
            out.write(run)


def plain_pass(path: str) -> None:
    """What reading costs at least in a loop over lines."""
    with open(path, "rb") as file:
        for line in file:
            line.split()


def read(path: str) -> None:
    """The reader."""
    from hopline.formats import nccl_tests

    nccl_tests.read(path)


_WAYS: dict[str, Callable[[str], None]] = {"plain": plain_pass, "read": read}


def _measured(way: str, path: str) -> tuple[float, float]:
    """Seconds and peak bytes of one reading in a fresh process."""
    told = subprocess.run([sys.executable, __file__, way, path], check=True, capture_output=True, text=True).stdout
    seconds, peak = told.split()
    return float(seconds), float(peak)


def _child(way: str, path: str) -> None:
    begun = time.perf_counter()
    _WAYS[way](path)
    print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def main(megabytes: float) -> None:
    """Make the files, read them, print a line each."""
    with tempfile.TemporaryDirectory() as folder:
        for make in (one_table, many_runs):
            file = Path(folder) / f"{make.__name__}.log"
            make(file, int(megabytes * 1e6))
            size = os.path.getsize(file)
            plain, _ = _measured("plain", str(file))
            seconds, peak = min(_measured("read", str(file)) for _ in range(3))
            print(
                f"{make.__name__:10} {size / 1e6:6.0f} MB  {seconds:5.2f} s  {size / 1e6 / seconds:4.0f} MB/s  "
                f"peak {peak / size:4.2f} x file  {seconds / plain:4.2f} x plain pass ({plain:.2f} s)"
            )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _child(*sys.argv[1:])
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 100.0)
