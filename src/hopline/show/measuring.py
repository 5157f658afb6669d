"""Measured samples as text, and how a run goes on while it lasts.

What belongs here: the table of samples and the progress bar.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from hopline.quantity import show, show_within
from hopline.records.sample import Sample
from hopline.show.document import Block, Grid, Line


def samples(measured: Sequence[Sample]) -> list[Block]:
    """Median and quartiles of each size."""
    rows = []
    for s in measured:
        low, high = s.quartiles
        spread = f"{show(low, 'time', 3)} .. {show(high, 'time', 3)}"
        effective = show(s.size / s.median, "bandwidth", 3) if s.median else "—"
        rows.append(
            (
                show(s.size, "size"),
                show_within(s.median, (high - low) / 2, "time"),
                spread,
                str(len(s.times)),
                effective,
            )
        )
    clock = max((s.clock for s in measured), default=0.0)
    return [
        Grid(("size", "median", "middle half", "repeats", "effective"), rows, left=0),
        Line(
            f"One way, half of a round trip. Reading the clock adds at most {show(clock, 'time', 2)} to a time.",
            "faint",
        ),
    ]


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
