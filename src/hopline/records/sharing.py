"""What flows got: when each ran, what held it back, and what each resource carried.

What belongs here: the answer of a flow simulation beside its timeline.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.timeline import Ticks, Timeline

Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Flows in the order of their Sends; resources are those that a flow goes through.

    Attributes
    ----------
    timeline
        When each row began and ended; its ports are the resources, ``busy`` is how long each would have worked at capacity.
    rule
        A key of RULES: how flows share.
    row
        Row of the Send of each flow, shape (flows,).
    alone
        Ticks that each flow would have taken from its begin without any other, shape (flows,).
    lost
        Ticks that it took longer, shape (flows,).
    blame
        Ticks lost by all flows while this resource was the one that held them back, shape (resources,). The sum over
        resources is that over ``lost``, but for rounding.
    bound
        Ticks during which the resource set the rate of at least one flow, be it alone there, shape (resources,).
    worst
        Resource that cost each flow most, as a number among the timeline's ports, of several the first; -1 for a flow that
        lost nothing.
    carried
        Bytes that went through each resource, weights included, shape (resources,).
    capacity
        Byte/s of each resource, shape (resources,).
    solves
        How often shares were worked out anew.
    spans
        (resource, begin, end) in ticks for each time that a resource set the rate of a flow, by begin; None where only
        the summary was kept.
    """

    timeline: Timeline
    rule: str
    row: Index
    alone: Ticks
    lost: Ticks
    blame: Floats
    bound: Ticks
    worst: Index
    carried: Floats
    capacity: Floats
    solves: int
    spans: NDArray[np.int64] | None = None
