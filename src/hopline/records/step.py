"""A training step: when each bucket of gradients travelled, what of it delayed the step, and what changes would bring.

What belongs here: the form of those answers. The numbers come from ``model.step`` and its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hopline.quantity import Dimension

_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Gradients that travel together.

    Attributes
    ----------
    ready
        Seconds of compute after which they are there; contention makes that later by the clock.
    alone
        Seconds that they take where nothing disturbs them.
    start, end
        Seconds by the clock.
    """

    ready: Fraction
    alone: Fraction
    start: Fraction
    end: Fraction


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step with its communication; all in exact seconds.

    Attributes
    ----------
    compute
        Where nothing disturbs it.
    compute_end
        When it ends beside the communication.
    update
        After both.
    buckets
        In the order in which they were told.
    """

    compute: Fraction
    compute_end: Fraction
    update: Fraction
    buckets: tuple[Bucket, ...]

    @property
    def comm(self) -> Fraction:
        """What communication takes where nothing disturbs it."""
        return sum((bucket.alone for bucket in self.buckets), _NOTHING)

    @property
    def busy(self) -> Fraction:
        """How long the network is busy."""
        return sum((bucket.end - bucket.start for bucket in self.buckets), _NOTHING)

    @property
    def comm_end(self) -> Fraction:
        """When the last bucket is there; 0 without any."""
        return max((bucket.end for bucket in self.buckets), default=_NOTHING)

    @property
    def exposed(self) -> Fraction:
        """Communication after the end of compute: what the step waits for."""
        return max(_NOTHING, self.comm_end - self.compute_end)

    @property
    def hidden(self) -> Fraction:
        """Communication beside compute. After the end of compute the network does not rest, so that the rest is exposed."""
        return self.busy - self.exposed

    @property
    def slowed(self) -> Fraction:
        """What communication costs compute while both run."""
        return self.compute_end - self.compute

    @property
    def cost(self) -> Fraction:
        """What communication costs the step: exposed, and what it slows."""
        return self.exposed + self.slowed

    @property
    def slack(self) -> Fraction:
        """How much earlier than compute communication ends; negative: what is exposed."""
        return self.compute_end - self.comm_end

    @property
    def step(self) -> Fraction:
        """The whole step."""
        return self.compute_end + self.exposed + self.update

    @property
    def ceiling(self) -> Fraction:
        """The step if communication cost nothing."""
        return self.compute + self.update


@dataclass(frozen=True, slots=True)
class Speedup:
    """What a change of one part brings to the whole.

    Attributes
    ----------
    speedup
        Time before over time after; None: nothing is left.
    reduction, part_reduction
        Less of the whole and of the part, as fractions; None: there was nothing.
    limit
        Speed-up if the part cost nothing; None: nothing would be left.
    """

    speedup: float | None
    reduction: float | None
    part_reduction: float | None
    limit: float | None


@dataclass(frozen=True, slots=True)
class Bubble:
    """A pipeline's time for all micro-batches, in seconds; ``ideal`` is the work of a stage without waiting."""

    stages: int
    microbatches: int
    virtual: int
    makespan: float
    ideal: float

    @property
    def bubble(self) -> float:
        """What a stage waits."""
        return self.makespan - self.ideal

    @property
    def over_ideal(self) -> float:
        """Waiting over work: (p-1)/(v m)."""
        return self.bubble / self.ideal if self.ideal else 0.0

    @property
    def over_total(self) -> float:
        """Waiting over the whole time: (p-1)/(v m + p-1)."""
        return self.bubble / self.makespan if self.makespan else 0.0


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change of one input, alone, does to a time.

    ``better`` and ``worse``: its value and the seconds then; gains are fractions of the time now, positive where it falls.
    """

    name: str
    dimension: Dimension
    now: float
    better: float
    better_time: float
    worse: float
    worse_time: float
    gain: float
    loss: float


@dataclass(frozen=True, slots=True)
class Reached:
    """One input, changed alone until a time is reached.

    Attributes
    ----------
    now, value
        What it is and what it has to be, the nearest to that; None: it reaches the time nowhere.
    best
        The fewest seconds of all that were looked at.
    more
        Whether more of it is better.
    until
        Of what is counted: the last number that reaches it, ``value`` being the first; None: there is no last one.
    """

    name: str
    dimension: Dimension
    now: float
    value: float | None
    best: float
    more: bool = False
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything about a step.

    Attributes
    ----------
    now, after
        Its course, and that with other communication (None: none was asked for).
    speedup
        From one to the other, or to none at all; its part is what communication costs the step.
    bubble
        Of its pipeline; None: there is none.
    effects, choices
        What a tenth of each input brings, and half or twice of what is counted.
    target, reached
        Seconds that are aimed at, and what each input would have to be; ``budget``: communication's own, not the step's.
    best_buckets, best_step, most_buckets
        The number of buckets with the shortest step, and up to which number was looked; None: they were not asked about.
    least
        Seconds of the step where collectives whose price is one of bounds take the lower ones; None: they are none.
    words
        What is sent, how it is priced, and what is taken for granted.
    """

    now: Stepped
    after: Stepped | None
    speedup: Speedup
    bubble: Bubble | None
    effects: tuple[Effect, ...]
    choices: tuple[Effect, ...]
    target: float | None
    budget: bool
    reached: tuple[Reached, ...]
    best_buckets: int | None
    best_step: float | None
    words: tuple[str, ...]
    most_buckets: int | None = None
    least: float | None = None

    @property
    def bytes_unknown(self) -> bool:
        """Whether communication was told as a time."""
        return any(effect.name == "communication" for effect in self.effects)

    @property
    def last(self) -> Stepped:
        """The course that is left: after the change, where there is one."""
        return self.now if self.after is None else self.after
