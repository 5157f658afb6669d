"""What a benchmark should show, as the table that the benchmark itself prints, with intervals.

What belongs here: the page of ``hopline expect``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import show
from hopline.records.busbw import FACTORS
from hopline.records.estimate import Premise
from hopline.records.fit import Prediction
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line


def page(
    title: str,
    basis: str,
    found: Prediction,
    premises: Sequence[Premise],
    benchmark: str,
    ranks: int | None,
    least: Sequence[tuple[float, str]] | None,
    measured: tuple[float, float],
) -> list[Block]:
    """A line for each size: time, algbw and busbw with their 90 % interval, and the most that the machine allows."""
    factor = FACTORS[benchmark](ranks) if ranks and benchmark in FACTORS else None
    rate = "algbw" if benchmark in FACTORS else "bandwidth"
    header = ["size", "time", "90 % interval", rate]
    header += ["busbw", "90 % interval"] if factor is not None else []
    header += [f"{rate if factor is None else 'busbw'} at most"] if least else []
    rows = []
    for i, (m, t, low, high) in enumerate(zip(found.size, found.time, found.low, found.high, strict=True)):
        row = [show(m, "size"), show(t, "time"), f"{show(low, 'time', 3)} .. {show(high, 'time', 3)}", _rate(m, t)]
        if factor is not None:
            row += [_rate(m * factor, t), f"{_rate(m * factor, high, 3)} .. {_rate(m * factor, low, 3)}"]
        if least:
            row.append(_rate(m * (factor or 1.0), least[i][0], 3))
        outside = "" if measured[0] <= m <= measured[1] else "extrapolation"
        rows.append((*row, outside))
    largest = least[int(found.size.argmax())][1] if least else ""
    blocks: list[Block] = [Heading(title), Line(basis), Grid((*header, ""), rows, left=0)]
    blocks += [Line(f"At most: what the links allow any algorithm, {largest}.", "faint")] if least else []
    return [*blocks, *[_premise(premise) for premise in premises]]


def _rate(size: float, time: float, digits: int = 4) -> str:
    return show(size / time, "bandwidth", digits) if time > 0 else "—"


def _premise(premise: Premise) -> Line:
    mark = "broken" if premise.status == "broken" else "premise"
    effect = f": {premise.effect}" if premise.effect else ""
    return Line(f"{mark}: {premise.text}{effect}", "bad" if premise.status == "broken" else "faint")


def picture(title: str, found: Prediction, least: Sequence[tuple[float, str]] | None) -> figures.Spec:
    """Expected times with their interval, and the least that the links allow."""
    sizes = found.size.tolist()
    lines = {"expected": (sizes, found.time.tolist())}
    if least:
        lines["least possible"] = (sizes, [bound for bound, _ in least])
    band = list(zip(sizes, found.low.tolist(), found.high.tolist(), strict=True))
    return figures.against([], lines, band, f"{title}; shaded: 90 % interval")
