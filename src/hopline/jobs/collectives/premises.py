"""What the times of a contest stand on, checked where the network tells.

What belongs here: premises of closed forms that a network breaks, or of which it says nothing.
"""

from __future__ import annotations

import numpy as np

from hopline.jobs import layout
from hopline.jobs.collectives.ground import level_names
from hopline.jobs.collectives.pricing import Contender
from hopline.jobs.networks import Network
from hopline.machine.fabric import Wired
from hopline.quantity import show
from hopline.records.contest import Timed
from hopline.records.estimate import Premise

FAR_BELOW = 0.9
"""Part of a line rate below which a bandwidth is told beside it."""


def premises(network: Network, contender: Contender, timed: Timed) -> tuple[Premise, ...]:
    """Those broken first; ``contender`` is the one that matters most, at one size."""
    found = [*network.premises, *_laid_out(network), *_below_line_rate(network)]
    if not network.levels.reduce and contender.form(timed.size, timed.number).adds:
        found.append(
            Premise("adding up takes no time", "unknown", "--reduce says how fast a rank adds up", matters=True)
        )
    if network.fabric is not network.levels and network.ranks > 1:
        whole = "every message pays the whole start-up of a send"
        said = "a library that runs a collective as one kernel pays most of it once; 'hopline expect' goes by that"
        found.append(Premise(whole, "unknown", said, matters=True))
    return tuple(sorted(found, key=lambda premise: premise.status != "broken"))


def _below_line_rate(network: Network) -> tuple[Premise, ...]:
    """The bandwidths of a machine that are far below the line rates of its links."""
    fabric, told, span = network.fabric, list[str](), 1
    if not isinstance(fabric, Wired) or network.ranks == 1:
        return ()
    order = layout.in_nodes(fabric.machine, fabric.places)
    for name, level in zip(level_names(network.levels), network.levels.levels, strict=True):
        link = min((leg.link for leg in fabric.path(order[0], order[span]).legs), key=lambda link: link.bandwidth)
        span *= level.ranks
        if link.peak is not None and link.bandwidth < FAR_BELOW * link.peak:
            rates = f"{show(link.bandwidth, 'bandwidth')} of {show(link.peak, 'bandwidth')} line rate"
            told.append(f"{name}: {rates} ({link.name})".removeprefix(": "))
    said = "the ranking hangs on what sends reach; 'hopline presets' with the machine's name says where that is from"
    return (Premise("; ".join(told), "holds", said),) if told else ()


def _laid_out(network: Network) -> tuple[Premise, ...]:
    """Whether neighbours reach one another on the machine as they do on the levels."""
    fabric, levels = network.fabric, network.levels
    if fabric is levels or network.ranks == 1:
        return ()
    here = np.arange(network.ranks - 1, dtype=np.int32)
    real, laid = (net.ways(here, here + 1, np.zeros_like(here)).curve for net in (fabric, levels))
    other = [rank for rank in here.tolist() if fabric.curves[real[rank]] != levels.curves[laid[rank]]]
    if not other:
        return ()
    said = f"rank {other[0]} reaches rank {other[0] + 1} another way than formulas take, simulations go by the machine"
    return (Premise("ranks stand node by node, all over like links", "broken", said, matters=True),)
