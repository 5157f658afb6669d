"""Models beside measurements, as text and as a picture.

What belongs here: how a Comparison reads. What else a command has to say of it is the command's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from hopline.quantity import show
from hopline.records.comparison import APART, RANKS_FIT, Column, Comparison
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line, Style

APART_MARK, INSIDE_MARK, NOTHING = "!", "in", "—"


def page(found: Comparison, most: int = 40, before: str = "") -> list[Block]:
    """One comparison: what it goes by, a row a size (``most`` of them, evenly), and each model over all sizes."""
    blocks: list[Block] = [Heading(f"{before}{found.title}: {found.source}")]
    blocks += [Line(f"{column.model}: {column.basis}", "faint") for column in found.columns]
    blocks += [Line(f"no {model}: {reason}", "bad") for model, reason in found.left]
    blocks += [table(found, most)]
    shown = len(_shown(found, most))
    blocks += [Line(f"{shown} of {len(found.size)} sizes; --json has all", "faint")] if shown < len(found.size) else []
    if summary := [] if not _judged(found) else [_summary(found, column) for column in found.columns]:
        header = ("over all sizes", "mean error", "median", "worst", "at", f"> {APART:.0%}")
        with_range = any(row[-1] for row in summary)
        rows = [row if with_range else row[:-1] for row in summary]
        blocks += [Line(""), Grid((*header, "in range") if with_range else header, rows)]
    return [*blocks, *_premises(found), *(Line(f"left out: {note}", "faint") for note in found.notes)]


def _premises(found: Comparison) -> list[Block]:
    """Those that do not hold, and those of which nobody knows."""
    words: dict[str, tuple[str, Style]] = {
        "broken": ("premise broken", "bad"),
        "unknown": ("premise, not known to hold", "faint"),
    }
    return [
        Line(f"{said}: {': '.join(filter(None, (one.text, one.effect)))}", style)
        for status, (said, style) in words.items()
        for one in found.premises
        if one.status == status
    ]


def _judged(found: Comparison) -> bool:
    """Whether a broken premise leaves the figures worth a verdict."""
    return not any(one.text == RANKS_FIT and one.status == "broken" for one in found.premises)


def table(found: Comparison, most: int) -> Grid:
    """A row a size: measured, then time and error of each model."""
    known = not np.isnan(found.low).all()
    header = [found.size_is, "measured", *(["5 % .. 95 %"] if known else [])]
    for column in found.columns:
        header += [column.model, "error"] + (["by"] if column.ways else [])
    places = _shown(found, most)
    return Grid(tuple(header), [_row(found, int(place), known) for place in places], left=0)


def _shown(found: Comparison, most: int) -> list[int]:
    """Places of the sizes that are shown: ``most`` of them evenly, and the worst of each model."""
    count = len(found.size)
    if count <= most:
        return list(range(count))
    places = set(np.linspace(0, count - 1, most).round().astype(int).tolist())
    for column in found.columns:
        total = found.summary(column)
        places |= set(np.flatnonzero(found.size == total.worst_size).tolist()) if total else set()
    return sorted(places)


def _row(found: Comparison, place: int, known: bool) -> tuple[str, ...]:
    cells = [show(found.size[place], "size"), show(found.time[place], "time", 3)]
    if known:
        cells.append(f"{show(found.low[place], 'time', 3)} .. {show(found.high[place], 'time', 3)}")
    for column in found.columns:
        time = float(column.time[place])
        if math.isnan(time):
            cells += [NOTHING, ""] + ([""] if column.ways else [])
            continue
        error, inside = float(found.errors(column)[place]), float(found.inside(column)[place])
        cells += [show(time, "time", 3), f"{100 * error:+.1f} %{_marks(error, inside) if _judged(found) else ''}"]
        cells += [column.ways[place]] if column.ways else []
    return tuple(cells)


def _marks(error: float, inside: float) -> str:
    """Both marks of a row, each in its place: what is apart counts as apart, inside of the repeats' range or not."""
    apart = APART_MARK if abs(error) > APART else " "
    within = "" if math.isnan(inside) else f" {INSIDE_MARK if inside else '  '}"
    return f" {apart}{within}"


def _summary(found: Comparison, column: Column) -> tuple[str, ...]:
    total = found.summary(column)
    if total is None:
        return (column.model, "says nothing", "", "", "", "", "")
    inside = "" if total.inside is None else f"{100 * total.inside:.0f} %"
    return (
        column.model, f"{100 * total.mean:.1f} %", f"{100 * total.median:.1f} %", f"{100 * total.worst:+.1f} %",
        show(total.worst_size, "size"), f"{total.apart} of {total.sizes}", inside,
    )  # fmt: skip


def overall(found: Sequence[Comparison]) -> list[Block]:
    """Each model over all tables; nothing for a single one."""
    models = list(dict.fromkeys(column.model for one in found for column in one.columns))
    rows = []
    for model in models:
        said = [(one, column) for one in found for column in one.columns if column.model == model]
        totals = [(one, total) for one, column in said if (total := one.summary(column)) is not None]
        if not totals:
            continue
        where, worst = max(totals, key=lambda pair: abs(pair[1].worst))
        mean = float(np.mean([total.mean for _, total in totals]))
        at = f"{where.title}, {show(worst.worst_size, 'size')}"
        rows.append((model, str(len(totals)), f"{100 * mean:.1f} %", f"{100 * worst.worst:+.1f} %", at))
    if len(found) < 2 or not rows:
        return []
    return [Heading(f"Over {len(found)} tables"), Grid(("", "tables", "mean of means", "worst", "where"), rows)]


def legend(found: Iterable[Comparison]) -> list[Block]:
    """What the marks mean, those that are there."""
    shown = [one for one in found if _judged(one)]
    apart = any((np.abs(c.errors(column)) > APART).any() for c in shown for column in c.columns)
    ranges = any(not np.isnan(c.low).all() for c in shown)
    told = [f'"{APART_MARK}": off by more than {APART:.0%}'] if apart else []
    told += [f'"{INSIDE_MARK}": within 5 % .. 95 % of the repeats'] if ranges else []
    return [Line(", ".join(told), "faint")] if told else []


def terms(found: Comparison, told: Sequence[Mapping[str, float]]) -> list[Block]:
    """What each simulated time is made of, a row a size."""
    names = list(dict.fromkeys(name for one in told for name in one))
    rows = [
        (show(bytes_, "size"), *(show(one[name], "time", 3) if name in one else "" for name in names))
        for bytes_, one in zip(found.size.tolist(), told, strict=True)
    ]
    return [Heading("What the simulated time is made of"), Grid((found.size_is, *names), rows, left=0)]


def picture(found: Comparison) -> figures.Spec:
    """Measured times with their range, and each model, against size."""
    size = found.size.tolist()
    series = {"measured": (size, found.time.tolist())}
    for column in found.columns:
        there = ~np.isnan(column.time)
        series[column.model] = (found.size[there].tolist(), column.time[there].tolist())
    drawn = figures.times(series, "size", f"{found.title}: {found.source}")
    if found.size_is != "size":
        drawn["layer"][0]["encoding"]["x"]["title"] = found.size_is
    bars = [row for row in zip(size, found.low.tolist(), found.high.tolist(), strict=True) if not math.isnan(row[1])]
    return figures.ranged(drawn, bars) if bars else drawn


def data(found: Comparison) -> dict[str, Any]:
    """All of it in SI; what is not known is null."""
    return {
        "title": found.title,
        "source": found.source,
        "size": found.size.tolist(),
        "size_is": found.size_is,
        "time_s": found.time.tolist(),
        "low_s": _plain(found.low),
        "high_s": _plain(found.high),
        "models": {
            column.model: {
                "basis": column.basis,
                "time_s": _plain(column.time),
                "error": _plain(found.errors(column)),
                "inside": [None if math.isnan(one) else bool(one) for one in found.inside(column).tolist()],
                "ways": list(column.ways),
                "summary": None if (total := found.summary(column)) is None else asdict(total),
            }
            for column in found.columns
        },
        "left_out": dict(found.left),
        "notes": list(found.notes),
        "premises": [asdict(premise) for premise in found.premises],
    }


def _plain(values: Any) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
