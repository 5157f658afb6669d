"""What real ranks made of schedules, as text.

What belongs here: the page of ``hopline run``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.quantity import counted, show, show_within
from hopline.records.executed import Executed
from hopline.records.sample import Sample
from hopline.show.document import Block, Grid, Heading, Line

LOW, HIGH = 0.05, 0.95
"""Quantiles that are shown."""
MESSAGES = "messages"


def table(samples: Sequence[Sample], busbw: Sequence[float | None], size_is: str) -> list[Block]:
    """The times of each schedule, one row a size, which counts what ``size_is`` says; busbw where there is one."""
    rows, head = [], (size_is, "median", "middle half", "repeats", "busbw")
    for sample, rate in zip(samples, busbw, strict=True):
        low, high = sample.quartiles
        rows.append(
            (
                show(sample.size, "size"),
                show_within(sample.median, (high - low) / 2, "time"),
                f"{show(low, 'time', 3)} .. {show(high, 'time', 3)}",
                str(len(sample.times)),
                "" if rate is None else show(rate, "bandwidth", 3),
            )
        )
    width = len(head) if any(rate is not None for rate in busbw) else len(head) - 1
    return [Grid(head[:width], [row[:width] for row in rows], left=0)]


def one(executed: Executed, shares: Mapping[str, float], ends: Sequence[tuple[str, float]]) -> list[Block]:
    """How the repeats of one schedule went; ``ends``: what kind of operation took how long in the mean."""
    clock = executed.clock
    rows = [
        ("5 % to 95 %", f"{show(executed.quantile(LOW), 'time')} .. {show(executed.quantile(HIGH), 'time')}", ""),
        ("ranks set out within", show(max(executed.late), "time", 3), "of one another, at worst"),
        (
            "clocks agree within",
            show(clock.error, "time", 2),
            f"offset {show(abs(clock.offset), 'time', 2)}, drift {clock.drift * 1e6:.3g} ± {clock.drift_error * 1e6:.3g} ppm",
        ),
        ("cost of an operation", show(executed.cost, "time", 2), "hopline's own, without bytes: part of every time"),
        ("verified", show(executed.checked, "size") if executed.checked else "nothing", _verified(executed)),
    ]
    blocks: list[Block] = [Grid(("", "", ""), rows, left=3)]
    if shares:
        blocks += [
            Heading("On the critical path of the middle repeat"),
            Grid(("", ""), [(name, f"{100 * share:.1f} %") for name, share in shares.items()]),
        ]
    if ends:
        blocks.append(Line("Mean of " + ", ".join(f"{kind} {show(time, 'time', 3)}" for kind, time in ends), "faint"))
    return blocks


def _verified(executed: Executed) -> str:
    return "of all ranks after each repeat, byte for byte" if executed.checked else "this schedule promises no data"


def crowds(crowded: Sequence[tuple[str, int, int]]) -> list[Block]:
    """The premise that is broken where ranks share cores."""
    return [
        Line(
            f"broken: ranks <= cores: {counted(ranks, 'rank')} on {counted(cores, 'core')} of {host}: times show how the "
            "system shares its cores among ranks, not what a schedule costs",
            "bad",
        )
        for host, ranks, cores in crowded
    ]
