"""The kinds of measurement: one table.

What belongs here: KINDS, and what stands in a row of it. What the ranks do in a burst of a kind is ``acts``; turns, batches,
checks and the division of time are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from hopline.errors import InputError, UnknownNameError
from hopline.run import acts
from hopline.run.ends import FLOAT, Act, Cell, End

Groups = Callable[[int], list[tuple[int, ...]]]


def _first(count: int) -> Groups:
    return lambda _: [tuple(range(count))]


def _halves(ranks: int) -> list[tuple[int, ...]]:
    return [tuple(range(ranks // 2 * 2))]


def _powers(ranks: int) -> list[tuple[int, ...]]:
    powers = [2**power for power in range(1, ranks.bit_length()) if 2**power < ranks]
    return [tuple(range(count)) for count in (*powers, ranks)]


def _all_pairs(ranks: int) -> list[tuple[int, ...]]:
    return list(permutations(range(ranks), 2))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of measurement.

    Attributes
    ----------
    name, benchmark, says
        How it is called here, in samples and tables, and what it is.
    act
        What a rank does in a burst.
    groups
        Of so many ranks started: those that take part, in one group or several; the first of a group times it.
    needs
        Ranks that must be there.
    per
        Messages one after another in one timed step, where that is no window: a round trip has two.
    windowed
        Whether messages are in flight by the window.
    together
        Whether ranks start together and the slowest of them counts.
    paired, halved
        Whether a group is one of all ordered pairs; whether it is a first half that sends to a second.
    sizes
        Sizes in bytes where the user names none; empty for those of a plain sweep that ``unit`` divides.
    unit, sized
        What sizes must be multiples of (0 allows empty messages), and whether there are sizes at all.
    transport
        What moves the bytes, where that is not MPI.
    """

    name: str
    benchmark: str
    says: str
    act: Callable[[End, Cell, int], Act]
    groups: Groups
    needs: int = 2
    per: int = 1
    windowed: bool = False
    together: bool = False
    paired: bool = False
    halved: bool = False
    sizes: tuple[int, ...] = ()
    unit: int = 0
    sized: bool = True
    transport: str = ""

    @property
    def scales(self) -> bool:
        """Whether it is about as many ranks as there are."""
        return self.needs > 2 or self.paired or self.together


KINDS = (
    Kind("latency", "latency", "ping-pong of Send/Recv: half a round trip", acts.ping_pong, _first(2), per=2),
    Kind("bw", "bw", "stream one way, a window of messages in flight: the gap between two",
         acts.stream, _first(2), windowed=True, unit=1),
    Kind("bibw", "bibw", "streams both ways at once: the gap in each direction",
         acts.both_ways, _first(2), windowed=True, unit=1),
    Kind("mbw", "mbw_mr", "n/2 pairs stream at once: the gap in each pair",
         acts.halves, _halves, needs=4, windowed=True, together=True, halved=True, unit=1),
    Kind("barrier", "barrier", "barrier of 2, 4, 8, ... and all n ranks",
         acts.barrier, _powers, together=True, sized=False),
    Kind("copy", "copy", "copy of memory by one rank", acts.copy, _first(1), needs=1, unit=1, transport="memmove"),
    Kind("reduce", "reduce_local", "sum of two float32 arrays by one rank, in place (MPI_Reduce_local)",
         acts.add, _first(1), needs=1, unit=FLOAT, transport="MPI_Reduce_local"),
    Kind("pair-latency", "latency", "ping-pong of every ordered pair of ranks",
         acts.ping_pong, _all_pairs, per=2, paired=True, sizes=(8,)),
    Kind("pair-bw", "bw", "stream one way of every ordered pair of ranks",
         acts.stream, _all_pairs, windowed=True, paired=True, sizes=(256 * 1024,), unit=1),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}
PAIRS, ALL = "pairs", "all"
WORDS: dict[str, tuple[str, ...]] = {
    **{kind.name: (kind.name,) for kind in KINDS if not kind.paired},
    PAIRS: tuple(kind.name for kind in KINDS if kind.paired),
    ALL: tuple(BY_NAME),
}
"""What a user asks for -> kinds."""


def kinds_of(words: Iterable[str]) -> tuple[str, ...]:
    """Names of the kinds that the words stand for, in the order of the table. Raises UnknownNameError."""
    asked: set[str] = set()
    for word in words:
        if word not in WORDS:
            raise UnknownNameError("measurement", word, WORDS)
        asked |= set(WORDS[word])
    return tuple(name for name in BY_NAME if name in asked)


def fitting_sizes(kind: Kind, sizes: Sequence[int]) -> tuple[int, ...]:
    """Those of ``sizes`` that the kind can take. Raises InputError where there is none."""
    if not kind.sized:
        return (0,)
    if kind.unit == 0:
        return tuple(sizes)
    found = tuple(size for size in sizes if size and size % kind.unit == 0)
    if not found:
        raise InputError(f"{kind.name}: none of the sizes can be measured; expected multiples of {kind.unit} B above 0")
    return found
