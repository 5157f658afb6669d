"""The parameters of LogGOPS.

What belongs here: the six numbers. What they do to a schedule is ``sim``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from hopline.quantity import NON_NEGATIVE


@dataclass(frozen=True, slots=True)
class LogGOPS:
    """T. Hoefler, T. Schneider and A. Lumsdaine, LogGOPSim (HPDC 2010).

    Attributes
    ----------
    L
        Latency of the network, s.
    o, O
        Processor time of a message, s, and of each further byte, s/byte.
    g, G
        Gap between messages at a NIC, s, and of each further byte, s/byte.
    S
        Bytes above which a Send waits for its Recv (rendezvous). None: never.
    """

    L: float
    o: float
    g: float
    G: float
    O: float = 0.0  # noqa: E741
    S: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            NON_NEGATIVE.check(field.name, getattr(self, field.name) or 0)
