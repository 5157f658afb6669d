"""What a schedule is made for: ranks, bytes, and what else an algorithm may choose.

What belongs here: the question put to a generator, checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hopline.errors import InputError

MOST_RANKS, MOST_BYTES = 2**31 - 1, 2**56
"""More do not fit into columns, or into sums of several buffers."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a schedule is made for.

    Attributes
    ----------
    ranks, size
        ``size`` is bytes as nccl-tests counts them: the buffer of one rank; for all_gather, reduce_scatter, gather, scatter
        and alltoall the larger one, of all ranks' pieces.
    levels
        Ranks of each level, the innermost first: (8, 2) are two nodes of eight. Empty: one level of all ranks.
    chunks
        Pieces that pipelines cut the message into; at most one for each byte.
    channels
        Rings that go on at once.
    targets
        Of a reshard: how many of the ranks, the last ones, receive.
    """

    ranks: int
    size: int
    levels: tuple[int, ...] = ()
    chunks: int = 1
    channels: int = 1
    targets: int = 1

    def __post_init__(self) -> None:
        for name, least in (("ranks", 1), ("size", 0), ("chunks", 1), ("channels", 1), ("targets", 1)):
            value = getattr(self, name)
            if value < least:
                raise InputError(f"{name} is {value}: expected at least {least}")
        for name, most in (("ranks", MOST_RANKS), ("size", MOST_BYTES)):
            if (value := getattr(self, name)) > most:
                raise InputError(
                    f"{name} is {f'{value:.3g}' if value < 10**300 else 'above 1e300'}: expected at most {most}"
                )
        if any(level < 1 for level in self.levels):
            raise InputError(f"levels are {self.levels}: expected at least 1 member in each")
        if self.levels and math.prod(self.levels) != self.ranks:
            shown = " x ".join(map(str, self.levels))
            raise InputError(f"levels {shown} hold {math.prod(self.levels)} ranks: expected {self.ranks}")

    @property
    def groups(self) -> tuple[int, ...]:
        """``levels``; one of all ranks where none are told."""
        return self.levels or (self.ranks,)
