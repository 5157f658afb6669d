"""What NCCL would do, as pages: times by algorithm and protocol, the choice, crossovers; and what a log shows.

What belongs here: from an answer to blocks and pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from hopline.curve import Floats
from hopline.quantity import counted, show
from hopline.records.nccl_log import NcclLog, Way
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line

MOST_ROWS = 40


class Change(Protocol):
    """Where a choice changes."""

    @property
    def size(self) -> int:
        """First bytes of the new way."""

    @property
    def before(self) -> Way:
        """The way up to there."""

    @property
    def after(self) -> Way:
        """The way from there on."""


class Pair(Protocol):
    """Two figures for one thing."""

    @property
    def what(self) -> str:
        """Of what."""

    @property
    def ours(self) -> float:
        """Ours."""

    @property
    def other(self) -> float:
        """The other."""

    @property
    def error(self) -> float:
        """Ours over the other, less 1."""

    @property
    def parts(self) -> bool:
        """Whether they are far apart."""


def page(
    title: str,
    sizes: Floats,
    times: Mapping[Way, Floats],
    chosen: Sequence[Way],
    changes: Sequence[Change],
    premises: Sequence[str],
    free: Floats | None = None,
) -> list[Block]:
    """A row a size, a column a way; the chosen one is named in front."""
    header = ("size", "choice", "time", *(("unforced",) if free is not None else ()), *map(" ".join, times))
    rows = []
    for i, size in enumerate(sizes.tolist()):
        own = (show(float(free[i]), "time", 3),) if free is not None else ()
        every = (show(float(column[i]), "time", 3) for column in times.values())
        taken = show(float(times[chosen[i]][i]), "time", 4)
        rows.append((show(size, "size"), " ".join(chosen[i]), taken, *own, *every))
    blocks: list[Block] = [Heading(title), Grid(header, rows, left=2)]
    return [*blocks, *crossings(changes), *premise_lines(premises)]


def premise_lines(premises: Sequence[str]) -> list[Block]:
    """What was assumed, a line each."""
    return [Line(f"premise: {text}", "faint") for text in premises]


def crossings(changes: Sequence[Change]) -> list[Block]:
    """Where the choice changes, a line each."""
    if not changes:
        return [Line("One way at all sizes.")]
    return [
        Line(f"from {show(float(c.size), 'size')} ({c.size} B): {' '.join(c.after)} in place of {' '.join(c.before)}")
        for c in changes
    ]


def log_facts(log: NcclLog) -> list[Block]:
    """What a log says of the run; what it does not say is called unknown."""
    net = ", ".join(f"{name} ({counted(count, 'line')})" for name, count in log.networks.items()) or "not told"
    ways = ", ".join(f"{way} {count}" for way, count in log.connections.most_common()) or "not told"
    channels = (
        "not told" if log.channels is None else f"{log.channels}" + (f" ({log.listed} listed)" if log.listed else "")
    )
    rows = [
        ("version", f"{log.flavour} {log.version}".strip() or "not told"), ("ranks", _number(log.ranks)),
        ("nodes", _number(log.nodes)), ("hosts", _number(len(log.hosts) or None)), ("network", net), ("connections", ways),
        ("channels", channels), ("tuning tables", str(len(log.tables))), ("choices told", str(len(log.calls))),
        ("calls told", str(len(log.collectives))),
    ]  # fmt: skip
    rows += [(name, value) for name, value in log.environment.items()]
    blocks: list[Block] = [Heading(f"NCCL's log {log.source}"), Grid(("", ""), rows, left=2)]
    return [*blocks, *(Line(f"note: {text}", "faint") for text in log.notes)]


def _number(value: int | None) -> str:
    return "not told" if value is None else str(value)


def beside(title: str, pairs: Sequence[Pair], heads: tuple[str, str] = ("ours", "theirs")) -> list[Block]:
    """Two figures for each thing, what tells them apart, and the mean and worst in words."""
    if not pairs:
        return []
    far = [pair for pair in pairs if pair.parts]
    both = [pair for pair in pairs if pair.ours and pair.other]
    alone = [pair for pair in pairs if bool(pair.ours) != bool(pair.other)]
    rows = [
        (
            p.what,
            _figure(p.ours, p),
            _figure(p.other, p),
            _error(p.error, heads),
            "apart" if p.parts else "",
        )
        for p in pairs
    ]
    blocks: list[Block] = [Heading(title), Grid(("", *heads, "error", ""), rows[:MOST_ROWS], left=1)]
    blocks += [Line(f"... and {len(rows) - MOST_ROWS} more (--json has all)", "faint")] if len(rows) > MOST_ROWS else []
    told = f"{len(far)} of {len(pairs)} {'parts' if len(far) == 1 else 'part'} by more than 15 %"
    if both:
        mean = sum(abs(pair.error) for pair in both) / len(both)
        worst = max(both, key=lambda pair: abs(pair.error))
        told += f"; mean {mean:.1%}, worst {_error(worst.error, heads)} ({worst.what})"
    if alone:
        stand = "stands in one of the two only, and is" if len(alone) == 1 else "stand in one of the two only, and are"
        told += f"; {len(alone)} {stand} in no mean"
    return [*blocks, Line(told, "bad" if far else "good")]


def _figure(value: float, pair: Pair) -> str:
    return show(value, "bandwidth" if pair.what.endswith(" bandwidth") else "time", 4)


def _error(error: float, heads: tuple[str, str]) -> str:
    if math.isinf(error):
        return f"only {heads[0 if error > 0 else 1]}"
    return f"{error:+.1%}"


def picture(title: str, sizes: Floats, times: Mapping[Way, Floats], chosen: Sequence[Way]) -> figures.Spec:
    """Times of all ways against size, and the choice."""
    best = [float(times[way][i]) for i, way in enumerate(chosen)]
    lines = {"choice": (sizes.tolist(), best)} | {
        " ".join(way): (sizes.tolist(), column.tolist()) for way, column in times.items()
    }
    return figures.times(lines, "size", title)
