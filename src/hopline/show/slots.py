"""Slots as text: both end times, the steady rate, what binds, what would help, what a target asks for.

What belongs here: the pages of ``hopline slots``; its pictures are in ``slots_picture``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.machine.slots import Slots
from hopline.quantity import counted, show
from hopline.show.document import Block, Grid, Heading, Line

_STEPS = ((1e9, "G/s"), (1e6, "M/s"), (1e3, "K/s"), (1.0, "/s"))


def per_second(rate: float | None) -> str:
    """A rate of requests, like ``6.104 M/s``."""
    if rate is None:
        return "unbounded"
    scale, unit = next((step for step in _STEPS if rate >= step[0]), _STEPS[-1])
    return f"{rate / scale:.4g} {unit}"


def bandwidth(rate: float | None) -> str:
    """Byte/s; None is no bound."""
    return "unbounded" if rate is None else show(rate, "bandwidth")


def setup(asked: Slots) -> str:
    """The setup in a line."""
    parts = ["no limit of slots" if asked.count is None else counted(asked.count, "slot")]
    parts += [f"a request every {show(asked.issue, 'time')} at most"] if asked.issue else []
    parts.append(_turnaround(asked))
    if asked.poll:
        most = "all there are" if asked.batch is None else f"at most {asked.batch}"
        parts.append(f"a poll every {show(asked.poll, 'time')} takes {most}")
    elif asked.moderation is not None:
        late = "" if asked.moderation.time is None else f" or {show(asked.moderation.time, 'time')} after the first"
        parts.append(f"an event every {counted(asked.moderation.count, 'completion')}{late}")
    else:
        parts.append("each completion releases its slot")
    parts += [f"wire {show(asked.bandwidth, 'bandwidth')}"] if asked.bandwidth else []
    return "; ".join(parts)


def _turnaround(asked: Slots) -> str:
    if not asked.loaded:
        return f"turnaround {show(asked.turnaround, 'time')}"
    low, high = show(asked.loaded[0], "time"), show(asked.loaded[-1], "time")
    return f"turnaround by load: {low} with 1 in flight, {high} with {len(asked.loaded)}"


def ends(requests: int, transfer: float, release: float, average: float | None) -> list[Block]:
    """When all has been moved, and when all slots are free again."""
    rows = [
        ("transfer end", show(transfer, "time"), "the last request has completed"),
        ("release end", show(release, "time"), "the last slot is free again"),
        ("average", bandwidth(average), "bytes over the release end"),
    ]
    return [Heading(counted(requests, "request")), Grid(("", "", ""), rows, left=3)]


def rates(
    asked: Slots, rate: float | None, exact: bool, limits: Sequence[tuple[str, float]], binds: Sequence[str]
) -> list[Block]:
    """The long-run rate beside what each thing alone would allow: (name, requests per second), the smallest first."""
    rows = [
        (name, per_second(most), bandwidth(most * asked.size), "binds" if name in binds else "")
        for name, most in limits
    ]
    found = "" if exact else " (over a long run: no round was found)"
    if rate is None:
        return [Heading("In the long run"), Line("  unbounded: nothing that was told takes any time", "strong")]
    blocks: list[Block] = [
        Heading("In the long run"),
        Line(f"  {per_second(rate)}, {bandwidth(rate * asked.size)}{found}", "strong"),
    ]
    if rows:
        blocks += [Heading("What each alone would allow"), Grid(("", "", "", ""), rows, left=1)]
    if not rows:
        return blocks
    what = " and ".join(_SAID[name] for name in binds)
    blocks.append(Line(f"Binds: {what}.", "strong"))
    lost = 1 - rate / limits[0][1]
    if lost > 1e-9:
        blocks.append(Line(f"All together give {100 * lost:.2g} % less than that: slots wait to be given back."))
    return blocks


_SAID = {
    "issue": "the issue interval",
    "completions": "completion processing (batch / poll)",
    "slots": "slots x payload / turnaround",
    "wire": "the wire",
}


def levers(found: Sequence[tuple[str, float | None, float | None]]) -> list[Block]:
    """(change, byte/s, factor), the best first."""
    if not found:
        return []
    rows = [(change, bandwidth(rate), "" if gain is None else f"x {gain:.3g}") for change, rate, gain in found]
    return [Heading("What would help, each alone"), Grid(("", "", ""), rows)]


def swept(rows: Sequence[tuple[int, float | None, float | None, float | None]], now: int | None) -> list[Block]:
    """(slots, transfer end, release end, byte/s)."""
    if not rows:
        return []
    timed = rows[0][1] is not None
    cells = []
    for slots, transfer, release, rate in rows:
        times = (show(transfer, "time"), show(release, "time")) if timed else ()
        cells.append((f"{slots}{' *' if slots == now else '  '}", *times, bandwidth(rate)))
    header = ("slots  ", "transfer end", "release end", "long run") if timed else ("slots  ", "long run")
    return [Heading("With other numbers of slots"), Grid(header, cells, left=0)]


def target(
    asked: Slots, rows: Sequence[tuple[str, str, str]], wanted: float, rate: float, changed: Slots | None
) -> list[Block]:
    """What a target asks for: (what, needed, now); and the least change that reaches it."""
    blocks: list[Block] = [
        Heading(f"For {show(wanted, 'bandwidth')}: {per_second(rate)} of {show(asked.size, 'size')}"),
        Grid(("", "needed", "now"), rows),
    ]
    if changed is None:
        return [*blocks, Line("No number of slots of which the turnaround is known reaches it.", "bad")]
    if changed == asked:
        return [*blocks, Line("It is reached as it is.", "good")]
    return [*blocks, Line(f"Reached with: {setup(changed)}.", "strong")]


def needed(
    asked: Slots, issue: float, batch: int | None, poll: float | None, slots: tuple[int | None, int | None], wire: float
) -> list[tuple[str, str, str]]:
    """What a target needs of each part beside what there is; ``slots``: where all release at once, and at polls."""
    rows = [
        ("a request every", f"at most {show(issue, 'time')}", show(asked.issue, "time") if asked.issue else "no limit")
    ]
    if batch is not None:
        rows.append(("completions at a poll", f"at least {batch}", "all" if asked.batch is None else str(asked.batch)))
    if poll is not None:
        rows.append(("or a poll every", f"at most {show(poll, 'time')}", show(asked.poll, "time")))
    now = "no limit" if asked.count is None else str(asked.count)
    least, polled = ("no number" if count is None else f"at least {count}" for count in slots)
    rows.append(("slots", least + (f", with these polls {polled}" if polled != least else ""), now))
    if asked.bandwidth is not None:
        rows.append(("wire", f"at least {show(wire, 'bandwidth')}", show(asked.bandwidth, "bandwidth")))
    return rows


def loads(asked: Slots, rows: Sequence[tuple[int, float, float]], note: str) -> list[Block]:
    """Turnaround by load: (in flight, s, requests per second)."""
    cells = [
        (str(load), show(turn, "time"), per_second(rate), bandwidth(rate * asked.size)) for load, turn, rate in rows
    ]
    return [Heading(f"Turnaround by load ({note})"), Grid(("in flight", "turnaround", "at most", ""), cells, left=0)]


def buffers(count: int | None, period: float, batch: int | None, poll: float) -> list[Block]:
    """How many buffers keep a producer running."""
    if count is None:
        needed = f"{show(poll, 'time')} / {show(period, 'time')}"
        text = (
            f"No number is enough: a poll gives {counted(batch or 0, 'buffer')} back and {needed} are filled meanwhile."
        )
        return [Line(text, "bad")]
    return [
        Line(
            f"{counted(count, 'buffer')}: in the long run it waits with fewer, and does not run faster with more.",
            "strong",
        )
    ]


def states(rows: Sequence[tuple[str, int, float, float, float, float, int]], header: str, note: str) -> list[Block]:
    """(name, contexts, their bytes, receive bytes, part that misses, messages/s, nodes that fit) of each way of connecting."""
    cells = [
        (
            name,
            f"{contexts:,}",
            show(held, "size"),
            show(receive, "size"),
            f"{100 * missing:.3g} %",
            per_second(rate),
            _nodes(fits),
        )
        for name, contexts, held, receive, missing, rate, fits in rows
    ]
    titles = ("", "contexts", "bytes of them", "posted receives", "misses", "messages", "all to all fits up to")
    return [Heading(header), Grid(titles, cells), Line(note, "faint")]


def _nodes(count: int) -> str:
    return "any" if count >= 1 << 20 else counted(count, "node")


def stalls(
    healthy: float,
    binds: str,
    rows: Sequence[tuple[str, float, float, float | None, int]],
    leaks: tuple[float, float] | None,
) -> list[Block]:
    """(sharing, formula, simulated rate, s after which all stands still, slots gone), beside the rate without faults."""
    cells = [("no fault", per_second(healthy), "", "", "")]
    for name, formula, rate, stalled, gone in rows:
        left = (
            f"{100 * rate / healthy:.3g} % is left"
            if stalled is None
            else f"stands still after {show(stalled, 'time')}"
        )
        cells.append((name, per_second(formula), per_second(rate), left, counted(gone, "slot") + " gone"))
    blocks: list[Block] = [Grid(("", "formula", "simulated", "", ""), cells)]
    if binds not in ("slots", ""):
        blocks.append(
            Line(f"Slots do not bind, {_SAID[binds]} does: as long as enough are left, the others lose nothing.")
        )
    if leaks is not None:
        half, whole = (show(time, "time") for time in leaks)
        blocks.append(Line(f"By formula half of the slots are lost after about {half} and all after about {whole}."))
    return blocks
