"""Loops that react late and packets out of order as text: where it begins to swing, and what a receiver holds.

What belongs here: pages of ``hopline queue --loop`` and ``--paths``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import binary, counted, show
from hopline.records.queue import Looped, Reordered
from hopline.show.document import Block, Grid, Heading, Line


def loop(
    title: str, law: str, limit: float | None, calm: float | None, why: str, runs: Sequence[Looped], service: float, cure: str,
) -> list[Block]:  # fmt: skip
    """A law at several delays: where it begins to swing, and what each run showed."""
    blocks: list[Block] = [Heading(title), Line(law)]
    if limit:
        still = f", without any swing up to {show(calm, 'time')}" if calm else ""
        blocks.append(Line(f"It settles with a delay below {show(limit, 'time')}{still} ({why}).", "strong"))
    else:
        blocks.append(Line(why[0].upper() + why[1:] + ".", "strong"))
    rows = [_run(run, limit, service) for run in runs]
    header = (
        "delay",
        *(("of the limit",) if limit else ()),
        "it",
        "highest",
        "swing at the end",
        "dropped",
        "service idle",
    )
    blocks.append(Grid(header, rows, left=0))
    more: list[Block] = [Heading("What to change"), Line(cure)] if cure else []
    return [*blocks, *more]


def _run(run: Looped, limit: float | None, service: float) -> tuple[str, ...]:
    end = run.times[-1]
    part = (f"{run.delay / limit:.3g}",) if limit else ()
    idle = f"{100 * run.idle / (service * end):.2g} %"
    return (
        show(run.delay, "time"),
        *part,
        verdict(run, limit),
        binary(round(max(run.levels))),
        binary(round(run.swing)),
        binary(round(run.dropped)),
        idle,
    )


_STILL = 1e-3
_SAME = 0.03


def verdict(run: Looped, limit: float | None) -> str:
    """What a run showed in its last quarter beside its second; beyond the ``limit`` (s) it only calms down to a swing."""
    last = [level for time, level in zip(run.times, run.levels, strict=True) if time >= run.times[-1] * 3 / 4]
    if not any(last):
        return "is empty"
    if run.swing <= _STILL * max(last):
        return "settles"
    if run.trend is not None and run.trend < 1 - _SAME:
        return "swings" if limit is not None and run.delay > limit else "calms down"
    return "grows" if run.trend is not None and run.trend > 1 + _SAME else "swings"


# --- reordering


def reordered(title: str, found: Reordered, packets: int, spread: float) -> list[Block]:
    """What a receiver holds, beside the two formulas."""
    rows = [
        ("held at most, of " + counted(packets, "packet"), f"{found.packets:,} packets", binary(found.size)),
        ("in the long run, Σ r_i (d_max - d_i)", "", binary(round(found.fluid))),
        ("never more than rate x (d_max - d_min)", "", binary(round(found.bound))),
        ("longest in hand", "", show(found.wait, "time")),
    ]
    why = f"The paths differ by {show(spread, 'time')}: what comes over faster ones waits for what is still on the slowest."
    none = "All paths take as long: nothing is held."
    small = "The burst is over before the slowest path has delivered, so less is held than in the long run."
    short = found.size < found.fluid * 0.9 and found.packets > 0
    blocks: list[Block] = [Heading(title), Grid(("", "", ""), rows), Line(why if spread else none)]
    return [*blocks, *([Line(small)] if short else [])]
