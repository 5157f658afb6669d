"""Which buffers wait for which in a circle, and what would break it.

What belongs here: the page of ``hopline deadlock``. Its picture is ``deadlock_picture``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hopline.quantity import counted, show
from hopline.records.deadlock import Answer, Change, Loop, Net, Remedy, RemedyKind, Trails, Wait
from hopline.show.document import Block, Grid, Heading, Line

MOST_ROWS, MOST_LOOPS, MOST_CHANGES = 24, 6, 3
"""Of a cycle, of loops, and of changes of a remedy, that are listed."""


def page(title: str, net: Net, trails: Trails, found: Answer, ttl: int | None, note: str = "") -> list[Block]:
    """The verdict, the cycle hop by hop, whether it can lock, what breaks it, and routing loops."""
    counts = ((found.flows, "flow"), (found.buffers, "buffer"), (found.dependencies, "wait"))
    told = ", ".join(counted(count, thing) for count, thing in counts)
    blocks: list[Block] = [
        Heading(title),
        Line(f"{told}, {found.classes} buffer class{'es' if found.classes != 1 else ''} in use"),
        *([Line(note, "faint")] if note else []),
    ]
    if found.cycle:
        blocks += [*_cycle(net, trails, found), *_locking(found), *_remedies(net, trails, found)]
    elif found.loops:
        blocks.append(
            Line("No cycle in the ways as they are written, but flows that come back to a node make one:", "bad")
        )
    else:
        blocks.append(Line("No cycle: these flows cannot deadlock over buffers, whatever their rates.", "good"))
    return [*blocks, *(_loops(net, trails, found.loops, ttl) if found.loops else [])]


def _cycle(net: Net, trails: Trails, found: Answer) -> list[Block]:
    cycle = found.cycle
    short = "none is shorter" if found.shortest else "a shorter one may exist"
    head = f"A cycle of {counted(len(cycle), 'buffer')}, each of which waits for the next ({short}):"
    rows = [_wait(net, trails, wait, cycle[(place + 1) % len(cycle)]) for place, wait in enumerate(cycle[:MOST_ROWS])]
    told = any(wait.offered is not None for wait in cycle)
    header = ("at", "a packet that came over", "waits for", "as do", *(("can come", "carries") if told else ()))
    more = [Line(f"  and {len(cycle) - MOST_ROWS} more", "faint")] if len(cycle) > MOST_ROWS else []
    sizes = ", ".join(map(str, found.tangles[:6])) + (" ..." if len(found.tangles) > 6 else "")
    tangles = (
        f"In all {counted(len(found.tangles), 'tangle')} (buffers of which each waits for all, over others) of {sizes} "
        f"buffers; {counted(found.tangled, 'flow')} of {found.flows:,} take part."
    )
    return [Line(head, "bad"), Grid(header, rows, left=4), *more, Line(tangles)]


def _wait(net: Net, trails: Trails, wait: Wait, then: Wait) -> tuple[str, ...]:
    """One row; the buffer stands at the far end of its edge."""
    rates: tuple[str, ...] = ()
    if wait.offered is not None and wait.carries is not None:
        rates = (show(wait.offered, "bandwidth"), show(wait.carries, "bandwidth"))
    at = net.names[net.target[wait.edge]]
    return (at, _buffer(net, wait), _buffer(net, then), _some(trails, wait.flows), *rates)


def _buffer(net: Net, wait: Wait) -> str:
    return f"{net.edge(wait.edge)}:{wait.buffer_class}"


def _some(trails: Trails, flows: Sequence[int], most: int = 2) -> str:
    named = ", ".join(trails.flows[flow] for flow in flows[:most])
    return named if len(flows) <= most else f"{named} and {len(flows) - most:,} more"


def _locking(found: Answer) -> list[Block]:
    """What rates say about it."""
    blocks: list[Block] = [
        Heading("Does it lock?"),
        Line("A cycle is necessary for a deadlock, not sufficient: all buffers on it must be full at the same time."),
    ]
    if found.overloaded is None:
        return [*blocks, Line("Rates are not told (--bandwidth, and [10Gb/s] behind a flow), so nothing is excluded.")]
    if found.overloaded == 0:
        return [*blocks, Line(_CALM, "good")]
    congested = sum(bool(wait.congests) for wait in found.cycle)
    most = (
        f"More can come than they carry for {congested} of the {len(found.cycle)} edges on it, for "
        f"{counted(found.overloaded, 'edge')} in all"
    )
    rest = "; the others fill only where a pause from further on reaches them." if congested < len(found.cycle) else "."
    return [
        *blocks,
        Line(most + rest),
        Line("Whether all are full at once is a question for a packet simulation: not decided here."),
    ]


_CALM = (
    "It does not while flows keep to their rates: for no edge can more come than it carries, so no buffer fills up and nobody "
    "is paused (buffers that hold a few packets of each flow)."
)
_KINDS: dict[RemedyKind, str] = {
    "raise": "raise the class where flows turn",
    "reroute": "move flows to other ways",
    "up-down": "keep to an up-down order",
}


def _remedies(net: Net, trails: Trails, found: Answer) -> list[Block]:
    blocks: list[Block] = [Heading("What breaks all cycles")]
    if found.changed is not None and found.turns is not None:
        least, most = found.changed.least, found.changed.most
        flows = f"{counted(least, 'flow')} or more" if least == most else f"between {least:,} and {most:,} flows"
        turns = _between(found.turns.least, found.turns.most)
        blocks.append(Line(f"Whatever is done, {flows} must change; {turns} must not be made any more."))
    rows = [
        (_KINDS[cure.kind], f"{len(cure.changes):,}", _known(cure), str(cure.classes), "yes" if cure.free else "NO")
        for cure in found.remedies
    ]
    blocks.append(Grid(("", "flows that change", "fewer would do", "classes", "free of cycles"), rows, left=1))
    blocks += [Line(f"  {_KINDS[kind]}: not possible, {why}", "bad") for kind, why in found.hopeless]
    for cure in found.remedies:
        blocks += _detail(net, trails, cure)
    return blocks


def _between(least: int, most: int) -> str:
    return f"{counted(least, 'turn')} or more" if least == most else f"between {least:,} and {most:,} turns"


def _known(cure: Remedy) -> str:
    return "no" if cure.exact else f"not below {cure.least:,}"


def _detail(net: Net, trails: Trails, cure: Remedy) -> list[Block]:
    """The first changes of a remedy."""
    head = _KINDS[cure.kind] + ("" if cure.root is None else f", with {net.names[cure.root]} at the top")
    blocks: list[Block] = [Heading(f"To {head}")]
    if cure.turns:
        places = [f"at {net.names[net.target[a]]} from {net.edge(a)} to {net.edge(b)}" for a, b in cure.turns[:4]]
        blocks.append(Line(f"  it rises {'; '.join(places)}{_more(len(cure.turns) - 4, 'turn')}"))
    rows = [(f"  {trails.flows[change.flow]}", _trail(net, change)) for change in cure.changes[:MOST_CHANGES]]
    more = len(cure.changes) - MOST_CHANGES
    return [*blocks, Grid(("", ""), rows, left=2), *([Line(f"  and {more:,} more", "faint")] if more > 0 else [])]


def _more(count: int, thing: str) -> str:
    return f"; and {counted(count, f'more {thing}')}" if count > 0 else ""


def _trail(net: Net, change: Change) -> str:
    """``A leaf0:1 B``: the class of a hop behind the node where its buffer is, where it is not 0."""
    if not change.edges:
        return "stays where it is"
    first = net.names[net.origin[change.edges[0]]]
    hops = zip(change.edges, change.classes, strict=True)
    return " ".join([first, *(net.names[net.target[edge]] + (f":{one}" if one else "") for edge, one in hops)])


def _loops(net: Net, trails: Trails, loops: Sequence[Loop], ttl: int | None) -> list[Block]:
    head = f"{counted(len(loops), 'flow')} come back to a node" if len(loops) > 1 else "One flow comes back to a node"
    rows = [
        (
            trails.flows[loop.flow],
            " ".join(net.names[node] for node in loop.nodes),
            _locks(loop, ttl, float(trails.rate[loop.flow])),
        )
        for loop in loops[:MOST_LOOPS]
    ]
    more = [Line(f"  and {len(loops) - MOST_LOOPS} more", "faint")] if len(loops) > MOST_LOOPS else []
    why = "Where switches look at the destination only, such a flow goes round until its packets expire."
    return [Heading("Routing loops"), Line(head, "bad"), Grid(("flow", "loop", ""), rows, left=3), *more, Line(why)]


def _locks(loop: Loop, ttl: int | None, offers: float) -> str:
    hops = len(loop.nodes) - 1
    if loop.threshold is None:
        return f"{counted(hops, 'hop')}; locks above {hops} x rate / TTL of injection: give --ttl" + (
            "" if loop.rate else " and --bandwidth"
        )
    limit = f"{show(loop.threshold, 'bandwidth')} ({loop.threshold * 8 / 1e9:.4g} Gb/s)"
    told = f"locks above {limit} of injection: each of its packets crosses an edge {-(-(ttl or 1) // hops)} times"
    if not math.isfinite(offers):
        return told
    return f"{told}; it offers {show(offers, 'bandwidth')}: {'it LOCKS' if offers > loop.threshold else 'it drains'}"
