"""PFC headroom and thresholds as text.

What belongs here: the pages of ``hopline headroom``. Pictures are ``headroom_picture``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.quantity import binary, show
from hopline.records.headroom import Fault, Firing, Headroom
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.transfer import share


def needed(
    title: str, own: Headroom, others: Sequence[Headroom], vendors: Mapping[str, tuple[float, float]], longest: float | None,
    faults: Sequence[Fault], response: float, metre: float,
) -> list[Block]:  # fmt: skip
    """The headroom, of what it consists, and what others say; ``response`` (s) of 0 is told to be none.

    ``metre``: bytes of headroom that a metre of cable needs.
    """
    blocks: list[Block] = [
        Heading(title),
        Line(
            f"{own.total:,.0f} B ({binary(own.total)}) of headroom: {show(own.loop, 'time')} from stop to silence.",
            "strong",
        ),
        *verdicts(faults, longest),
        *([] if response else [Line(_NO_RESPONSE, "faint")]),
        Heading("Of what it consists"),
        _terms(own),
    ]
    rows = [(other.name, f"{other.total:,.0f} B", f"{other.total / own.total:.3g} x") for other in others]
    rows += [(name, f"{size:,.0f} B", f"{size / own.total:.3g} x") for name, (size, _) in vendors.items()]
    if rows:
        blocks += [Heading("What others say"), Grid(("", "", "of this"), rows)]
    for other in others:
        blocks += [Heading(other.name[0].upper() + other.name[1:]), _terms(other)]
    for name, (_, slope) in vendors.items():
        told = f"{slope:.0f} B for each metre more, {slope / metre:.2g} times the {metre:.0f} B of the cable"
        blocks.append(Line(f"{name[0].upper() + name[1:]}: {told}.", "faint"))
    return blocks


_NO_RESPONSE = (
    "The far end is taken to obey at once. None does: give --response (802.1Qbb: 3.1 µs at 10 Gb/s, 2 µs at 100)."
)


def _terms(account: Headroom) -> Grid:
    rows = [(term.name, term.why, f"{term.size:,.0f} B", share(term.size, account.total)) for term in account.terms]
    return Grid(("", "", "", ""), rows, left=2)


def verdicts(faults: Sequence[Fault], longest: float | None = None) -> list[Block]:
    """Each fault with its remedy; what the set headroom allows where there is none."""
    told: list[Block] = [Line(f"{fault.name}: {fault.found}. To mend it: {fault.remedy}.", "bad") for fault in faults]
    if longest is not None and not told:
        told.append(Line(f"What is set suffices, up to {longest:,.4g} m of cable.", "good"))
    return told


_FIRST = {"ECN at pmax": "ECN, all of its slope", "ECN": "ECN, part of its slope", "PFC": "PFC"}


def order(
    firings: Sequence[Firing], ecn: tuple[float, float], flips: int | None, full: int | None, late: int | None,
    growth: float, ports: int, faults: Sequence[Fault],
) -> list[Block]:  # fmt: skip
    """Which comes first, by the number of congested queues."""
    low, high = ecn
    blocks: list[Block] = [Heading("Which fires first, ECN or PFC?"), _flip(flips, ports), *verdicts(faults)]
    if full is not None and full not in (1, flips):
        blocks.append(
            Line(f"From {full} on, pause comes before KMAX ({binary(high)}): only part of the packets are marked.")
        )
    if growth:
        told = f"Until marks work {binary(growth)} more come to a queue"
        after = (
            "pause comes all the same"
            if late is not None
            else f"still no pause, with up to all {ports} ports congested"
        )
        where = f" from {late} on" if late is not None else ""
        blocks.append(Line(f"{told}: {after}{where}.", "bad" if late is not None else "good"))
    rows = [
        (
            str(firing.queues),
            binary(firing.threshold),
            binary(firing.pause),
            f"{firing.pause / low:.3g} x" if low else "—",
            _FIRST[firing.first],
        )
        for firing in firings
    ]
    header = ("congested queues", "Xoff of an ingress buffer", "egress queue then", "of KMIN", "first")
    return [*blocks, Grid(header, rows, left=0)]


def _flip(flips: int | None, ports: int) -> Line:
    if flips is None:
        return Line(f"ECN marks before any pause, with up to all {ports} ports congested.", "good")
    if flips == 1:
        return Line("PFC: pause comes before any mark even for one congested queue.", "bad")
    return Line(f"ECN with up to {flips - 1} congested queues; from {flips} on, pause comes before any mark.", "bad")


def pool(
    size: float, ports: int, classes: int, reserved: float, used: float, together: float, free: float
) -> list[Block]:
    """Where the buffer goes."""
    rows = [
        ("headroom", f"{ports} ports x {classes} lossless classes", binary(reserved), share(reserved, size)),
        *([("held by other queues", "", binary(used), share(used, size))] if used else []),
        ("shared by the congested", "", binary(free), share(free, size)),
    ]
    blocks: list[Block] = [Heading(f"A buffer of {binary(size)}"), Grid(("", "", "", ""), rows, left=2)]
    if classes > 1:
        told = (
            f"Classes of a port share its wire: were they all stopped at the same instant, {binary(together)} would do for "
            f"the port. One after another each can need all of its own: {binary(reserved / ports)}."
        )
        blocks.append(Line(told, "faint"))
    return blocks


def cures(alpha: float | None, enough: float | None, last: Firing) -> list[Block]:
    """What makes ECN come first with all ports congested; nothing where it does."""
    if last.first != "PFC":
        return []
    rows = [("KMIN below", binary(last.pause))]
    if alpha is not None:
        rows.append(("alpha of at least", "none: the pool is too small for it" if enough is None else f"{enough:.4g}"))
    return [Heading(f"What alone makes ECN first with {last.queues} congested queues"), Grid(("", ""), rows)]


def rules(pause: float, naive: float, dynamic: float, low: float, alpha: float | None) -> list[Block]:
    """The rules of the DCQCN paper: thresholds that hold in the worst case."""
    static = alpha is None
    kept = f": KMIN {binary(low)} {'keeps' if low < (naive if static else dynamic) else 'breaks'} it"
    rows = [
        ("static Xoff, at most", f"{pause:,.0f} B", "all ingress ports and classes full"),
        (
            "KMIN under it, below",
            f"{naive:,.0f} B",
            f"one ingress port feeds all egress queues{kept if static else ''}",
        ),
        (
            "KMIN under a dynamic Xoff, below",
            f"{dynamic:,.0f} B",
            f"the same, and all queues congested{'' if static else kept}",
        ),
    ]
    return [
        Heading("Always ECN first: the DCQCN paper's rule"),
        Grid(("", "", ""), [(a, c, b) for a, b, c in rows], left=2),
    ]
