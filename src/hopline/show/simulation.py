"""What a simulation says: the time beside the closed form's, the critical path, the busiest ports.

What belongs here: the page and the picture of ``hopline sim``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hopline.quantity import show
from hopline.records.estimate import Premise
from hopline.records.timeline import TICK, Timeline
from hopline.show import figures
from hopline.show.document import Block, Grid, Heading, Line

_PORTS = 4
PathStep = tuple[str, int, int, int, float, float]
"""(kind, rank, peer, size, start in s, end in s)"""


def page(
    title: str,
    note: str,
    timeline: Timeline,
    form: tuple[float, float] | None,
    busbw: float | None,
    shares: Mapping[str, float],
    busiest: Sequence[tuple[str, float]],
) -> list[Block]:
    """The answer; ``form`` is the closed form's least and most."""
    rows = [("time", show(timeline.time, "time", 7), _beside(timeline, form))]
    if busbw is not None:
        rows.append(("busbw", show(busbw, "bandwidth"), "as nccl-tests counts it"))
    first, last = int(timeline.finish.min()), timeline.ticks
    if first != last:
        rows.append(("ranks end", f"{show(first * TICK, 'time')} .. {show(last * TICK, 'time')}", ""))
    rows.append(("messages", f"{timeline.messages:,}", f"{show(timeline.size, 'size')} in all"))
    blocks: list[Block] = [Heading(title), Line(note, "faint"), Grid(("", "", ""), rows, left=3)]
    if shares:
        blocks += [
            Heading("On the critical path"),
            Grid(("", ""), [(k, f"{100 * v:.1f} %") for k, v in shares.items()]),
        ]
        if not {"messages", "waiting"} & shares.keys():
            blocks.append(Line("No message is on it: a faster network changes nothing.", "strong"))
    if busiest:
        worked = [(name, f"{100 * share:.1f} %") for name, share in busiest[:_PORTS]]
        rest = len(busiest) - _PORTS
        blocks += [Heading("Busiest ports"), Grid(("", ""), worked)]
        blocks += [Line(f"  and {rest} more", "faint")] if rest > 0 else []
    return blocks


def _beside(timeline: Timeline, form: tuple[float, float] | None) -> str:
    """The closed form; each duration on the critical path was rounded to a whole picosecond."""
    if form is None:
        return ""
    least, most = form
    if least != most:
        return f"closed form between {show(least, 'time', 5)} and {show(most, 'time', 5)}"
    apart = timeline.time - most
    same = abs(apart) <= (len(timeline.path) + 1) * TICK
    return f"closed form {show(most, 'time', 7)}: {'the same' if same else f'simulated {100 * apart / most:+.2g} %'}"


def premises(found: Iterable[Premise]) -> list[Block]:
    """Broken premises of the closed form."""
    return [Line(f"broken: {premise.text}: {premise.effect}", "bad") for premise in found if premise.status == "broken"]


def path(found: Sequence[PathStep], most: int = 12) -> list[Block]:
    """The first steps of the critical path, those alike in one line, and how many more there are."""
    folded: list[tuple[str, str, str, int]] = []
    for kind, rank, peer, size, start, end in found:
        takes, words = show(end - start, "time"), _words(kind, rank, peer, size)
        if folded and folded[-1][1:3] == (takes, words):
            folded[-1] = (*folded[-1][:3], folded[-1][3] + 1)
        else:
            folded.append((show(start, "time"), takes, words, 1))
    rows = [
        (start, takes, words, f"{times} times" if times > 1 else "") for start, takes, words, times in folded[:most]
    ]
    blocks: list[Block] = [Heading("Critical path"), Grid(("from", "takes", "", ""), rows, left=4)]
    return [*blocks, Line(f"  and {len(folded) - most} more", "faint")] if len(folded) > most else blocks


_VERBS = {"send": "sends to", "recv": "receives from", "reduce": "adds up", "copy": "copies", "compute": "computes"}


def _words(kind: str, rank: int, peer: int, size: int) -> str:
    parts = [
        f"rank {rank} {_VERBS[kind]}",
        str(peer) if kind in ("send", "recv") else "",
        "" if kind == "compute" else show(size, "size"),
    ]
    return " ".join(part for part in parts if part)


def picture(
    title: str, bars: Sequence[tuple[str, str, float, float]], lanes: tuple[int, int], most: int
) -> figures.Spec:
    """Bars of (lane, kind, start, end) in s: who does what when; ``lanes`` are drawn of how many, ``most`` bars there are."""
    left_out = [f"the first {lanes[0]} of {lanes[1]} lanes"] if lanes[0] < lanes[1] else []
    left_out += [f"the {len(bars)} longest of {most} operations"] if len(bars) < most else []
    return figures.gantt(bars, title, ", ".join(left_out))
