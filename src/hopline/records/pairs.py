"""All pairs of ranks, as measured and as understood: what each pair took, what it should have taken, and what is sick.

What belongs here: the record of such a study. Finding the sick ones is ``study/pairs``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

from hopline.curve import Floats

Kind = Literal["rank", "sender", "receiver", "pair", "direction"]
"""``rank``: all it sends and receives. ``sender``, ``receiver``: one side of it. ``pair``: both ways. ``direction``: one."""
Pair = tuple[int, int]
"""(sender, receiver)."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something that is slow for real (or fast, where a report says so).

    Attributes
    ----------
    kind
        What is slow, see Kind.
    ranks
        The rank; or the two of a pair, the lower first; or (sender, receiver) of a direction.
    factor, low, high
        Its time over that of a healthy one, with the 95 % interval.
    chance
        Bound on the probability that a healthy system of this noise shows as much anywhere.
    sides
        Factors of what a ``rank`` sends and of what it receives; of a ``pair``'s ways, from its lower rank first; else None.
    """

    kind: Kind
    ranks: tuple[int, ...]
    factor: float
    low: float
    high: float
    chance: float
    sides: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """As people say it: ``rank 3``, ``pair 0-4``, ``direction 0→4``."""
        return f"{self.kind} {('→' if self.kind == 'direction' else '-').join(map(str, self.ranks))}"


@dataclass(frozen=True, slots=True)
class PairClass:
    """Pairs of one kind by construction (same node, across nodes).

    Attributes
    ----------
    label
        What the caller calls it.
    pairs
        How many of them were measured.
    time
        Seconds of a healthy pair.
    noise
        Relative standard deviation of one pair's typical time about what its class and ranks explain.
    repeat
        Relative standard deviation of one repeat about its pair's typical time; nan where no pair has repeats.
    """

    label: Hashable
    pairs: int
    time: float
    noise: float
    repeat: float


@dataclass(frozen=True, slots=True, eq=False)
class PairReport:
    """What a study of all pairs concluded.

    Attributes
    ----------
    ranks
        The n ranks in growing order; rows (senders) and columns (receivers) of the matrices.
    time, expected
        (n, n) seconds: each pair's typical time, and that of a healthy system; nan on the diagonal and where nothing
        was measured.
    sender, receiver
        (n,) factors of what each rank sends and receives, 1 for a typical one, suspects included; nan where unmeasured.
    classes
        The kinds of pair, see PairClass.
    suspects
        What is slow, worst first; one entry a cause.
    fast
        What is faster than the rest by as much, fastest first: not sick, but set apart.
    least
        Kind -> the smallest factor that would have been named, at the median rank or pair: what this data can show.
    spread
        Relative standard deviation of healthy ranks that was allowed for.
    drift
        Largest over smallest level of the whole system during the measurement, taken out before; 1 where none was seen.
    missing
        Pairs without a usable time.
    notes
        What a reader should know: pairs missing, drift, pairs of several kinds, too few ranks.
    """

    ranks: tuple[int, ...]
    time: Floats
    expected: Floats
    sender: Floats
    receiver: Floats
    classes: tuple[PairClass, ...]
    suspects: tuple[Suspect, ...]
    least: Mapping[Kind, float]
    spread: float
    drift: float = 1.0
    fast: tuple[Suspect, ...] = ()
    missing: tuple[Pair, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing was named."""
        return not self.suspects
