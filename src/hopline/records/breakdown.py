"""Breakdowns: what the GPU of one rank did with a span of time.

What belongs here: the lengths, and what they have to do with one another. How they are measured is ``study/busy``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What a span of time went to; all but ``communication_sum`` are lengths of unions of intervals, in nanoseconds.

    Attributes
    ----------
    start, end
        The span, on the clock of the trace.
    busy
        Any work on any stream; a synchronisation that stands on a stream is none.
    compute
        Work other than communication: kernels, copies and memory sets.
    compute_kernel
        Kernels other than communication.
    communication_sum
        The communication kernels' times added up: those that overlap count twice.
    communication
        Their union.
    outside
        Busy time of the trace that this span has not.
    """

    start: int
    end: int
    busy: int
    compute: int
    compute_kernel: int
    communication_sum: int
    communication: int
    outside: int = 0

    @property
    def span(self) -> int:
        """How long it is."""
        return self.end - self.start

    @property
    def idle(self) -> int:
        """No work on any stream."""
        return self.span - self.busy

    @property
    def exposed(self) -> int:
        """Communication with no other work beside it: busy - compute."""
        return self.busy - self.compute

    @property
    def hidden(self) -> int:
        """Communication with other work beside it."""
        return self.communication - self.exposed
