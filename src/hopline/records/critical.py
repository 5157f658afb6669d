"""Critical paths of what was measured: why a span of time was as long as it was.

What belongs here: the path and its parts. How it is found is ``study``.
"""

from __future__ import annotations

from dataclasses import dataclass

PARTS = ("compute", "copy", "transfer", "communication", "launch", "gap", "host", "sync", "idle")
"""What a stretch of the path is: kernels; memcpy and memset; a collective after its last rank had come; a collective of which
that cannot be told; from a launch's call to the begin of its work; from work to the next of its stream that was launched
already; the host between calls; the end of a wait of the host (or a stream) after the work that it waited for; nothing that
the trace shows."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a critical path.

    Attributes
    ----------
    part
        One of PARTS.
    trace
        Number of the trace.
    row
        Of the event in it; NONE where there is none.
    start, end
        On the common clock, nanoseconds.
    """

    part: str
    trace: int
    row: int
    start: int
    end: int

    @property
    def time(self) -> int:
        """Nanoseconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """Stretches in order of time, each beginning where the one before ended: together they are the whole span.

    ``skew`` counts the edges that went back in time (a kernel before its launch) and were taken as 0, ``inferred`` the waits
    on the path that no event of the file tells; ``told`` says what else limits it, a sentence each.
    """

    start: int
    end: int
    stretches: tuple[Stretch, ...]
    skew: int = 0
    inferred: int = 0
    told: tuple[str, ...] = ()

    @property
    def time(self) -> int:
        """Nanoseconds."""
        return self.end - self.start
