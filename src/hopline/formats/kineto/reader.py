"""Trace files become Traces.

What belongs here: many files, in this process or several, and how far that is. All that is wrong with a file is a FormatError
in one line.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.kineto.assembling import traces_in
from hopline.formats.kineto.workers import Others, Result, cores, shared_out
from hopline.formats.source import STDIN, shown
from hopline.records.trace import Trace

WORTH = 40_000_000
"""Bytes of text for which one more process is worth its start."""
_PACKED = 14
"""Bytes of text to a byte of a compressed trace, about."""
_PLAIN = b"{[ \t\r\n\xef"

Progress = Callable[[int, int], None]
"""Called with bytes of text read so far and in all; both are estimates for compressed files."""


def read_trace(path: str) -> Trace:
    """The trace in one file ("-" is standard input), plain or packed. Raises FormatError, also where there are several."""
    found = traces_in(path)
    if len(found) > 1:
        raise FormatError(f"{shown(path)} holds {len(found)} traces: expected one")
    return found[0]


def read_traces(paths: Sequence[str], progress: Progress | None = None) -> list[Trace]:
    """The traces in files, in the order of ``paths``; an archive gives several. Raises FormatError."""
    weights = [_weight(path) for path in paths]
    watch = _Watch(sum(weights), progress)
    processes = min(cores(), sum(weight > 0 for weight in weights), sum(weights) // WORTH)
    groups = shared_out(weights, max(1, processes))
    mine = sorted(groups[0] + [at for group in groups[1:] for at in group if not weights[at]])
    theirs = [[at for at in group if weights[at]] for group in groups[1:]]
    if not theirs:
        return [trace for at in mine for trace in watch.read(paths[at], weights[at])]
    return _together(paths, weights, mine, theirs, watch)


def _together(
    paths: Sequence[str], weights: Sequence[int], mine: list[int], theirs: list[list[int]], watch: _Watch
) -> list[Trace]:
    results: dict[str, Result] = {}
    with Others([[paths[at] for at in group] for group in theirs]) as others:
        watch.beside(others.results, dict(zip(paths, weights, strict=True)))
        for at in mine:
            try:
                results[paths[at]] = watch.read(paths[at], weights[at])
            except FormatError as error:
                results[paths[at]] = error
                break
        results |= others.finish(watch.tell)
    found: list[Trace] = []
    for path, weight in zip(paths, weights, strict=True):
        result = results.get(path)
        if isinstance(result, FormatError):
            raise result
        found += watch.read(path, weight) if result is None else result
    return found


@dataclass(slots=True)
class _Watch:
    """How much is read."""

    total: int
    progress: Progress | None
    done: int = 0
    now: int = 0
    results: Mapping[str, Result] | None = None
    weights: Mapping[str, int] | None = None

    def beside(self, results: Mapping[str, Result], weights: Mapping[str, int]) -> None:
        """Count what others have read."""
        self.results, self.weights = results, weights

    def read(self, path: str, weight: int) -> list[Trace]:
        """The traces in a file, telling how far that is."""
        if self.progress is None:
            return traces_in(path)
        self.now = 0

        def more(size: int) -> None:
            self.now = min(weight, self.now + size)
            self.tell()

        found = traces_in(path, more)
        self.done, self.now = self.done + weight, 0
        self.tell()
        return found

    def tell(self) -> None:
        """Call ``progress``."""
        if self.progress is not None:
            others = sum((self.weights or {})[path] for path in list(self.results or ()))
            self.progress(min(self.total, self.done + self.now + others), self.total)


def _weight(path: str) -> int:
    """Bytes of text in a file, about; 0 for what can only be read here (a pipe, standard input) or not at all."""
    try:
        found = os.stat(path)
        if path == STDIN or not stat.S_ISREG(found.st_mode):
            return 0
        with open(path, "rb") as file:
            first = file.read(1)
    except (OSError, ValueError):
        return 0
    return found.st_size * (1 if first and first in _PLAIN else _PACKED)
