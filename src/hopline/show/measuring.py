"""Measured samples as text, and how a run goes on while it lasts.

What belongs here: FORMS, the table of each benchmark's samples, the matrix of all pairs, the progress bar. What a study of
pairs concludes is in ``pairs``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from hopline.quantity import show, show_within
from hopline.records.pairs import Suspect
from hopline.records.sample import Sample
from hopline.records.table import Measure
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line

Column = tuple[str, Callable[[Sample], str]]


def _rate(sample: Sample, copies: int = 1) -> str:
    return show(copies * sample.size / sample.median, "bandwidth", 3) if sample.median else "—"


def _spread(sample: Sample) -> str:
    low, high = sample.quartiles
    return f"{show(low, 'time', 3)} .. {show(high, 'time', 3)}"


def _median(sample: Sample) -> str:
    low, high = sample.quartiles
    return show_within(sample.median, (high - low) / 2, "time")


def _per_second(sample: Sample) -> str:
    return f"{sample.pairs / sample.median:.3g}" if sample.median else "—"


_SIZE: Column = ("size", lambda s: show(s.size, "size"))
_TIME: tuple[Column, ...] = (
    ("median", _median),
    ("middle half", _spread),
    ("repeats", lambda s: str(len(s.times))),
)
_GAP: tuple[Column, ...] = (("gap", _median), *_TIME[1:])


@dataclass(frozen=True, slots=True)
class Form:
    """How a benchmark's samples are shown: a title, the table's columns, and what its numbers mean."""

    title: str
    columns: tuple[Column, ...]
    meaning: str


FORMS = {
    "latency": Form(
        "Send/Recv between {ranks} ranks over {transport} on {where}",
        (_SIZE, *_TIME, ("effective", _rate)),
        "One way, half of a round trip.",
    ),
    "bw": Form(
        "Stream from rank 0 to rank 1, {window} messages in flight, over {transport} on {where}",
        (_SIZE, *_GAP, ("bandwidth", _rate), ("messages/s", _per_second)),
        "The gap is the time per message of a stream; it holds no latency.",
    ),
    "bibw": Form(
        "Streams both ways between 2 ranks, {window} messages in flight each, over {transport} on {where}",
        (_SIZE, *_GAP, ("each way", _rate), ("both ways", lambda s: _rate(s, 2))),
        "The gap is the time per message in each direction.",
    ),
    "mbw_mr": Form(
        "{pairs} pairs of ranks stream at once, {window} messages in flight each, over {transport} on {where}",
        (_SIZE, *_GAP, ("each pair", _rate), ("all pairs", lambda s: _rate(s, s.pairs)), ("messages/s", _per_second)),
        "The gap is the time per message of each pair, by the slowest of them.",
    ),
    "barrier": Form(
        "Barrier over {transport} on {where}",
        (("ranks", lambda s: str(s.ranks)), *_TIME),
        "One barrier, by the slowest rank. This is a time of the software: no machine gets it.",
    ),
    "copy": Form(
        "Copy of memory by one rank ({transport}) on {where}",
        (_SIZE, *_TIME, ("copied", _rate)),
        "Bytes copied a second: each is read and written. The same buffers again and again, so small ones stay in the caches.",
    ),
    "reduce_local": Form(
        "Sum of two float32 arrays by one rank ({transport}) on {where}",
        (_SIZE, *_TIME, ("summed", _rate)),
        "Bytes of the result a second: two arrays are read and one written. Small ones stay in the caches.",
    ),
}
"""Benchmark -> how its samples are shown."""


def samples(measured: Sequence[Sample]) -> list[Block]:
    """The table of one benchmark's samples, and what its numbers mean."""
    form = FORMS[measured[0].benchmark]
    rows = [tuple(text(sample) for _, text in form.columns) for sample in measured]
    clock = max(sample.clock for sample in measured)
    return [
        Grid(tuple(title for title, _ in form.columns), rows, left=0),
        Line(f"{form.meaning} Reading the clock adds at most {show(clock, 'time', 2)} to a time.", "faint"),
    ]


def title(sample: Sample) -> str:
    """What was measured where."""
    where = " and ".join(dict.fromkeys(sample.hosts)) or sample.host
    return FORMS[sample.benchmark].title.format(
        ranks=sample.ranks, transport=sample.transport, where=where, window=sample.window, pairs=sample.pairs
    )


def results(series: Sequence[Sequence[Sample]]) -> list[Block]:
    """A heading and a table for each benchmark; of one that ran on several numbers of ranks, one table of all."""
    blocks: list[Block] = []
    for _, group in groupby(series, key=lambda one: one[0].benchmark):
        together = [sample for one in group for sample in one]
        blocks += [Heading(title(together[0])), *samples(together)]
    return blocks


def crowds(crowded: Sequence[tuple[str, int, int]]) -> list[Block]:
    """Where more ranks ran than there are cores."""
    return [
        Line(
            f"{ranks} ranks share {cores} core{'s' if cores > 1 else ''} of {host}: what many of them do at once takes "
            "longer than on cores of their own.",
            "bad",
        )
        for host, ranks, cores in crowded
    ]


def points(size: Sequence[float], time: Sequence[float], title: str) -> figures.Spec:
    """Measured times against size, as a picture without a fit."""
    drawn = figures.times({"measured": (size, time)}, "size", title)
    drawn["layer"][0]["mark"] = {"type": "line", "strokeWidth": 1, "point": {"size": 60, "filled": True}}
    return drawn


WIDEST = 16
"""Ranks of the largest matrix that is shown."""
_SHOWN: dict[Measure, tuple[str, tuple[tuple[float, str], ...]]] = {
    "time": ("one-way time", ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))),
    "gap": ("bandwidth", ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s"))),
}


def pairs_heading(benchmark: str, size: int, ranks: int) -> Heading:
    """What was measured of all pairs."""
    return Heading(f"All ordered pairs of {ranks} ranks: {benchmark} at {show(size, 'size')}")


def matrix(times: Mapping[tuple[int, int], Sequence[float]], measure: Measure, size: int) -> list[Block]:
    """All pairs, senders down and receivers across: bandwidth of streams, time of messages."""
    ranks = sorted({rank for pair in times for rank in pair})
    if len(ranks) > WIDEST:
        return [Line(f"The matrix of {len(ranks)} ranks is in --json and in the samples.", "faint")]
    what, steps = _SHOWN[measure]
    value = {pair: float(np.median(all_times)) for pair, all_times in times.items()}
    if measure == "gap":
        value = {pair: size / gap for pair, gap in value.items()}
    middle = float(np.median(list(value.values())))
    scale, unit = next((step for step in steps if middle >= step[0]), steps[-1])

    def cell(pair: tuple[int, int]) -> str:
        return f"{value[pair] / scale:.3g}" if pair in value else "·"

    return [
        Line(f"Median {what} in {unit}; rows send, columns receive.", "faint"),
        Grid(("", *map(str, ranks)), [(f"{one} →", *(cell((one, other)) for other in ranks)) for one in ranks]),
    ]


def whereabouts(suspects: Sequence[Suspect], hosts: Mapping[int, str]) -> list[Block]:
    """On which hosts the slow ones are."""
    lines = []
    for suspect in suspects:
        where = ", ".join(f"rank {rank} is on {hosts[rank]}" for rank in suspect.ranks)
        lines.append(Line(where if len(suspect.ranks) == 1 else f"{suspect.name}: {where}", "bad"))
    return [*lines]


@contextmanager
def progress(what: str) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error while it is a terminal, nothing elsewhere: call it with (fraction, what is going on)."""
    if not sys.stderr.isatty():
        yield lambda fraction, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda fraction, text: bar.update(task, completed=fraction, description=f"{what}: {text}")
