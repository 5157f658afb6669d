"""Many files read by several processes.

What belongs here: who reads which file, and what comes back. A process of ours is a fresh interpreter that runs this module:
it imports no program of the user's, shares no lock with us, and is ended when we are interrupted; when we are killed, its
pipe breaks.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import IO

from hopline.errors import FormatError
from hopline.formats.kineto.assembling import traces_in
from hopline.records.trace import Events, Trace

Result = list[Trace] | FormatError
_PAUSE = 0.1
"""Seconds between two calls of ``watch`` while others read."""
_HEAD = 8
"""Bytes that say how long a result is."""


def shared_out(weights: Sequence[int], groups: int) -> list[list[int]]:
    """Numbers of things in groups of about equal weight: the heaviest first, each to the group that is lightest so far."""
    found: list[list[int]] = [[] for _ in range(groups)]
    loads = [0] * groups
    for at in sorted(range(len(weights)), key=lambda at: -weights[at]):
        lightest = loads.index(min(loads))
        found[lightest].append(at)
        loads[lightest] += weights[at]
    return found


def cores() -> int:
    """Processors that we may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Others:
    """Processes that read groups of files while we read ours. Use as a context: after it none of them is left."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self.results: dict[str, Result] = {}
        """Path -> what it holds; a path is missing where its process failed."""
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads = ThreadPoolExecutor(len(groups))
        self._done: list[Future[None]] = []
        for group in groups:
            self._start(group)

    def __enter__(self) -> Others:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        self._threads.shutdown()
        for process in self._processes:
            process.wait()

    def finish(self, watch: Callable[[], None]) -> Mapping[str, Result]:
        """Their results when all are done; ``watch`` is called while we wait."""
        while wait(self._done, _PAUSE).not_done:
            watch()
        return self.results

    def _start(self, group: Sequence[str]) -> None:
        command = [sys.executable, "-P", "-m", "hopline.formats.kineto.workers", *group]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError):
            return
        self._processes.append(process)
        self._done.append(self._threads.submit(self._listen, process, group))

    def _listen(self, process: subprocess.Popen[bytes], group: Sequence[str]) -> None:
        if process.stdout is None:
            return
        with process.stdout as pipe:
            for path in group:
                size = int.from_bytes(pipe.read(_HEAD))
                data = pipe.read(size)
                if not size or len(data) < size:
                    return
                self.results[path] = _unpickled(data)


def _unpickled(data: bytes) -> Result:
    found: Result = pickle.loads(data)
    if isinstance(found, FormatError):
        return found
    return [replace(trace, events=_read_only(trace.events)) for trace in found]


def _read_only(events: Events) -> Events:
    """The same events: columns that come out of a pickle can be written."""
    return replace(events)


def serve(paths: Sequence[str], pipe: IO[bytes]) -> None:
    """Read files and write what they hold, in order."""
    for path in paths:
        result: Result
        try:
            result = traces_in(path)
        except FormatError as error:
            result = FormatError(str(error))
        data = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        pipe.write(len(data).to_bytes(_HEAD))
        pipe.write(data)
        pipe.flush()


if __name__ == "__main__":
    serve(sys.argv[1:], sys.stdout.buffer)
