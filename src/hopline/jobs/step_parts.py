"""What a step is made of, as it is asked: compute, what is sent and what it costs, when gradients are ready, the pipeline.

What belongs here: from numbers that people have to the buckets and times that the model takes, and changing one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from hopline.errors import InputError
from hopline.model import bubble, step
from hopline.model.step import NO_CONTENTION, Slow
from hopline.quantity import POSITIVE, exact, show
from hopline.records.step import Bubble, Stepped
from hopline.sim.stages import Pipeline

BACKWARD = Fraction(2, 3)
"""Of compute, where nothing else is told: a backward pass has two matrix products for each one of a forward pass."""


@dataclass(frozen=True, slots=True)
class Price:
    """Seconds of one message or collective: start-ups, bytes, and what is neither; ``least``: a lower bound of all."""

    start: float = 0.0
    bytes: float = 0.0
    rest: float = 0.0
    least: float | None = None

    @property
    def time(self) -> float:
        """All of it."""
        return self.start + self.bytes + self.rest


@dataclass(frozen=True, slots=True)
class Window:
    """Requests of ``request`` bytes that are ``turnaround`` s on their way; ``count`` in flight (None: enough)."""

    request: float
    turnaround: float
    count: float | None = None

    def __post_init__(self) -> None:
        POSITIVE.check("bytes of a request", self.request)
        POSITIVE.check("turnaround of a request", self.turnaround)

    def bandwidth(self, link: float) -> float:
        """Byte/s: the link's, or what requests in flight carry (Little's law)."""
        return link if self.count is None else min(link, self.count * self.request / self.turnaround)


@dataclass(frozen=True, slots=True)
class Sending:
    """What is sent in a step.

    Attributes
    ----------
    seconds
        All of it, where the time is told; cut in buckets each takes its part.
    size, price
        Bytes, and what a bucket of so many costs.
    latency, bandwidth, window
        Of one line, where the price is α + bytes / β.
    factor, starts, wires
        On all times, on start-ups, and on bandwidth: what changes are told by.
    lower
        Whether a price that is one of bounds counts with the lower one.
    rises
        Whether more bytes never cost less: a fitted curve may fall where its protocol changes.
    """

    seconds: float | None = None
    size: float | None = None
    price: Callable[[float], Price] | None = None
    latency: float | None = None
    bandwidth: float | None = None
    window: Window | None = None
    factor: float = 1.0
    starts: float = 1.0
    wires: float = 1.0
    lower: bool = False
    rises: bool = True

    def parts(self, amounts: list[float]) -> list[Price]:
        """The prices of buckets: of bytes, or of parts of the whole."""
        prices = {amount: self._part(amount) for amount in set(amounts)}
        return [prices[amount] for amount in amounts]

    def _part(self, amount: float) -> Price:
        if self.seconds is not None:
            return Price(rest=times(self.seconds, amount, self.factor))
        one = self._priced(amount)
        scaled = (one.start * self.starts, one.bytes / self.wires, one.rest)
        found = Price(*(times(time, self.factor) for time in scaled))
        return Price(rest=found.time * one.least / one.time) if self.lower and one.least is not None else found

    def _priced(self, size: float) -> Price:
        if self.price is not None:
            return self.price(size)
        assert self.bandwidth is not None
        rate = self.window.bandwidth(self.bandwidth) if self.window else self.bandwidth
        return Price(self.latency or 0.0, float(exact(size) / exact(rate)) if rate else math.inf)


def times(*factors: float) -> float:
    """Exact in what was typed: 0.1 x 3 is 0.3."""
    return float(math.prod((exact(factor) for factor in factors), start=Fraction(1)))


@dataclass(frozen=True, slots=True)
class Pipe:
    """Stages and micro-batches; ``hop``: seconds from stage to stage. One stage: gradients are accumulated."""

    stages: int = 1
    microbatches: int = 1
    virtual: int = 1
    hop: float = 0.0

    def bubble(self, compute: float) -> Bubble:
        """Of ``compute`` s of work of a stage, a third of it forward."""
        return _bubble(self, compute)


@lru_cache(maxsize=256)
def _bubble(pipe: Pipe, compute: float) -> Bubble:
    bubble.check(pipe.stages, pipe.microbatches, pipe.virtual)
    each = exact(compute) / pipe.microbatches
    ways = float(each * (1 - BACKWARD)), float(each * BACKWARD)
    if pipe.hop == 0 and bubble.closed(pipe.stages, pipe.microbatches, pipe.virtual):
        return bubble.bubble(pipe.stages, pipe.microbatches, *ways, pipe.virtual)
    return _pipeline(pipe.stages, pipe.microbatches, pipe.virtual).bubble(*ways, pipe.hop)


_pipeline = lru_cache(maxsize=16)(Pipeline)


@dataclass(frozen=True, slots=True)
class Parts:
    """A step as it is asked.

    Attributes
    ----------
    compute, update
        Seconds of work of a rank.
    ready
        Seconds after which the gradients are there; with buckets, the first of them; None: as ``backward`` says.
    backward
        Seconds at the end of compute in which gradients come; None: BACKWARD of the last micro-batch.
    buckets, bucket
        How many, or bytes of one; neither: all in one, which is ready at ``ready``, else when compute ends.
    """

    compute: float
    sending: Sending = Sending(0.0)
    update: float = 0.0
    ready: float | None = None
    backward: float | None = None
    buckets: int | None = None
    bucket: float | None = None
    slow: Slow = NO_CONTENTION
    pipe: Pipe | None = None

    @property
    def cut(self) -> bool:
        """Whether gradients travel in buckets."""
        return self.buckets is not None or self.bucket is not None

    @property
    def whole(self) -> float:
        """Compute with the pipeline's bubble."""
        return self.compute if self.pipe is None else self.pipe.bubble(self.compute).makespan

    def amounts(self) -> list[float]:
        """Bytes of each bucket, or its part of the whole where only a time is told. Raises InputError."""
        size = self.sending.size
        if self.cut and size == 0:
            raise InputError("0 bytes in buckets: expected bytes to send")
        if self.bucket is not None and size is not None:
            if not self.bucket > 0:
                raise InputError(f"buckets of {self.bucket:g} bytes: expected at least 1")
            full, rest = divmod(size, self.bucket)
            _few(int(full) + bool(rest))
            return [self.bucket] * int(full) + ([rest] if rest or not full else [])
        count = _few(self.buckets or 1)
        if size is None:
            return [1.0] if count == 1 else [float(Fraction(1, count))] * count
        if size != int(size):
            return [size / count] * count
        if self.cut and size < count:
            raise InputError(f"{count} buckets of {size:.0f} bytes: expected at most one a byte")
        each, more = divmod(int(size), count)
        return [float(each + (i < more)) for i in range(count)]

    def begin(self, whole: float, amounts: list[float]) -> float:
        """When gradients begin to come. Raises InputError where that is before the step."""
        if self.ready is not None and len(amounts) == 1:
            return self.ready
        if self.ready is not None:
            if self.ready > whole:
                raise InputError(
                    f"the first of {len(amounts)} buckets ready at {show(self.ready, 'time')}, and compute takes "
                    f"{show(whole, 'time')}: expected a time within it, since they are what compute makes"
                )
            later = sum(amounts[1:])
            start = exact(self.ready) - (exact(whole) - exact(self.ready)) * exact(amounts[0]) / exact(later)
            if start < 0:
                earliest = float(exact(whole) * exact(amounts[0]) / exact(amounts[0] + later))
                raise InputError(
                    f"the first of {len(amounts)} buckets ready at {show(self.ready, 'time')}, "
                    f"the last at {show(whole, 'time')}: "
                    f"they come one after the other, so expected {show(earliest, 'time')} or more"
                )
            return float(start)
        backward = self.backward
        if backward is None:
            backward = float(exact(self.compute) * BACKWARD / (self.pipe.microbatches if self.pipe else 1))
        if backward > whole:
            raise InputError(
                f"a backward pass of {show(backward, 'time')} in {show(whole, 'time')} of compute: expected at most as long"
            )
        return float(exact(whole) - exact(backward))

    def stepped(self) -> Stepped:
        """The step's course. Raises InputError."""
        whole, ready, taken = self._told()
        return step.bucketed(whole, ready, taken, self.update, self.slow)

    def seconds(self) -> float:
        """The step; in floats where buckets are many. Raises InputError."""
        whole, ready, taken = self._told()
        if len(ready) <= step.MOST_EXACT:
            return float(step.bucketed(whole, ready, taken, self.update, self.slow).step)
        return step.quick(whole, ready, taken, self.update, self.slow)

    def _told(self) -> tuple[float, list[float], list[float]]:
        """Compute with its bubble, when each bucket is ready, and what it takes alone."""
        whole, amounts = self.whole, self.amounts()
        taken = [price.time for price in self.sending.parts(amounts)]
        if len(amounts) == 1:
            return whole, [whole if self.ready is None else self.ready], taken
        return whole, self._readies(whole, amounts), taken

    def _readies(self, whole: float, amounts: list[float]) -> list[float]:
        """In proportion to the bytes made so far; the last as compute ends."""
        begin, total = self.begin(whole, amounts), sum(map(exact, amounts))
        if len(amounts) > step.MOST_EXACT:
            share = (whole - begin) / float(total)
            return [*(min(whole, begin + share * made) for made in accumulate(amounts[:-1])), whole]
        span = (exact(whole) - exact(begin)) / total
        made = accumulate(map(exact, amounts[:-1]))
        return [*(min(whole, float(exact(begin) + span * part)) for part in made), whole]


def _few(count: int) -> int:
    if not 1 <= count <= step.MOST_BUCKETS:
        raise InputError(f"{count:,} buckets: expected 1 to {step.MOST_BUCKETS:,}")
    return count
