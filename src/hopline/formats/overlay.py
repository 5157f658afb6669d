"""Write what was explained of several traces as one trace for Perfetto (ui.perfetto.dev) and chrome://tracing.

What belongs here: the file, and which works of GPUs are in it: of one step, where one is explained. What its events look like
is ``overlay_events``.
"""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError, OutputError
from hopline.formats.overlay_events import MARK, Overlay
from hopline.formats.schedules.bounded import new_file
from hopline.formats.source import shown
from hopline.records.explained import Explained

ENDINGS = (".json", ".json.gz")
_BLOCK = 1 << 14


def check_name(path: str) -> None:
    """Raise OutputError for a name that Perfetto would not open: before the work, not after it."""
    if not path.lower().endswith(ENDINGS):
        raise OutputError(f"{shown(path)}: expected a name that ends in {' or '.join(ENDINGS)}")


def write_overlay(explained: Explained, path: str, most: int | None = None) -> int:
    """Write a file at ``path``, compressed where its name ends in ``.gz``; one that was written here before is replaced.

    Parameters
    ----------
    most
        Works of GPUs at most: those on the critical path, then those of collectives, then the longest. None: all. The file
        says how many were left out; the path and the collectives it has whole.

    Returns
    -------
    How many works were left out.

    Raises
    ------
    InputError
        Where ``most`` is negative.
    OutputError
        Where something else of that name would be lost, it ends in none of ENDINGS, or it cannot be written.
    """
    check_name(path)
    if most is not None and most < 0:
        raise InputError(f"{most} works at most: expected 0 or more")
    works = [_in_span(explained, i) for i in range(len(explained.traces))]
    overlay = Overlay(explained, _chosen(explained, works, most), sum(map(len, works)), _origin(explained, works))
    if os.path.lexists(path) and not _is_ours(path):
        raise OutputError(
            f"{shown(path)} exists and is no file of hopline explain's: give another name, or move it away first"
        )
    if os.path.lexists(path):
        aside = f"{path}.{os.getpid()}.part" + (".gz" if path.endswith(".gz") else "")
        _write(overlay, aside)
        os.replace(aside, path)
    else:
        _write(overlay, path)
    return overlay.left_out


def _write(overlay: Overlay, path: str) -> None:
    """To a new file."""
    with new_file(path) as file:
        lines = overlay.lines()
        while block := list(islice(lines, _BLOCK)):
            file.write("".join(block).encode())


def _is_ours(path: str) -> bool:
    try:
        with gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
            return file.read(len(MARK)) == MARK.encode()
    except (OSError, EOFError, ValueError):
        return False


def _in_span(explained: Explained, i: int) -> NDArray[np.int32]:
    """Rows of work of a trace; where one step is explained, of what lies in it, be it in part."""
    trace = explained.traces[i]
    if explained.step is None:
        return trace.work
    start, end = (explained.clocks.common(i, times[trace.work]) for times in (trace.events.start, trace.events.end))
    return trace.work[(start < explained.end) & (end > explained.start)]


def _chosen(explained: Explained, works: list[NDArray[np.int32]], most: int | None) -> list[NDArray[np.int32]]:
    """Rows of work of each trace that are shown, in order, of ``works``."""
    if most is None or most >= sum(map(len, works)):
        return works
    weights, on_path = [], defaultdict(list)
    for stretch in explained.path.stretches if explained.path else ():
        on_path[stretch.trace].append(stretch.row)
    for i, (trace, work) in enumerate(zip(explained.traces, works, strict=True)):
        weight = (trace.events.end - trace.events.start)[work].astype(np.float64)
        rank = trace.is_communication()[work].astype(np.float64)
        rank[np.isin(work, on_path[i])] = 2.0
        weights.append(weight + rank * 1e18)
    order = np.argsort(-np.concatenate(weights), kind="stable")[:most]
    ends = np.cumsum([len(work) for work in works])
    kept = np.zeros(int(ends[-1]), np.bool_)
    kept[order] = True
    return [work[part] for work, part in zip(works, np.split(kept, ends[:-1]), strict=True)]


def _origin(explained: Explained, works: list[NDArray[np.int32]]) -> int:
    """Time 0 of the file: not after the first thing that is shown."""
    clocks, traces = explained.clocks, explained.traces
    if explained.step is None:
        begins = [[*trace.events.start[:1].tolist(), *(step.start for step in trace.steps[:1])] for trace in traces]
    else:
        begins = [
            [*trace.events.start[rows].tolist(), *(step.start for step in trace.steps if step.number == explained.step)]
            for trace, rows in zip(traces, works, strict=True)
        ]
    firsts = [int(clocks.common(i, np.array([min(own)]))[0]) for i, own in enumerate(begins) if own]
    return min([explained.start, *firsts, *(int(meeting.start.min()) for meeting in explained.meetings)])
