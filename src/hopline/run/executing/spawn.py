"""Plain processes as ranks: ``python -m hopline.run.executing.spawn RANKS MODULE ARGUMENTS...``, in place of mpirun.

What belongs here: starting them, and ending all when one fails or we are ended. Standard input goes to rank 0, as mpirun does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from hopline.run.executing.rank import SEAT

LOOK_EVERY = 0.02
END_TIME = 2.0
TELL_TIME = 0.2
"""Seconds in which others may end, too, before it is told who failed."""


def main(argv: list[str]) -> int:
    """Start the ranks and wait for them; the exit code of the first that fails, or 0."""
    count, words = int(argv[0]), argv[1:]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ranks: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(count):
            place = {SEAT[0]: str(rank), SEAT[1]: str(count), "LOCAL_RANK": str(rank)}
            told = {**os.environ, **place, "GLOO_SOCKET_IFNAME": "lo"}
            command = [sys.executable, "-P", "-m", *words]
            ranks.append(subprocess.Popen(command, env=told, stdin=None if rank == 0 else subprocess.DEVNULL))
        return _watched(ranks)
    finally:
        _end(ranks)


def _watched(ranks: list[subprocess.Popen[bytes]]) -> int:
    while True:
        codes = [rank.poll() for rank in ranks]
        if all(code == 0 for code in codes):
            return 0
        if any(codes):
            time.sleep(TELL_TIME)
            sys.stderr.write(f"\n{_told([rank.poll() for rank in ranks])}\n")
            return 1
        time.sleep(LOOK_EVERY)


def _told(codes: list[int | None]) -> str:
    """Which rank failed how: one that was killed before those that then missed it."""
    number, code = min(((number, code) for number, code in enumerate(codes) if code), key=lambda pair: pair[1])
    return f"rank {number} was ended by signal {-code}" if code < 0 else f"rank {number} failed with exit code {code}"


def _end(ranks: list[subprocess.Popen[bytes]]) -> None:
    for rank in ranks:
        if rank.poll() is None:
            rank.terminate()
    until = time.monotonic() + END_TIME
    for rank in ranks:
        try:
            rank.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            rank.kill()
            rank.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
