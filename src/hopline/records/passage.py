"""Passages: one message that went through a chain of stations, and when its chunks were where.

What belongs here: the record. Who sends it is ``run/relaying``, what it should take ``model/shaping``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A message that arrived as it was sent.

    Attributes
    ----------
    size, chunks, way
        Bytes, in how many chunks, and by which rule relays sent them on (``run.relaying.ways``).
    start
        When the sender was about to send the first byte, in s of the clock that all stations share.
    arrivals
        For each station behind the sender, in order: when each chunk had arrived there, in s of that clock.
    """

    size: int
    chunks: int
    way: str
    start: float
    arrivals: tuple[tuple[float, ...], ...]

    @property
    def time(self) -> float:
        """Seconds from the first send to the last byte at the receiver."""
        return self.arrivals[-1][-1] - self.start

    @property
    def hops(self) -> tuple[float, ...]:
        """Seconds from the first send to the last byte at each station behind the sender."""
        return tuple(times[-1] - self.start for times in self.arrivals)
