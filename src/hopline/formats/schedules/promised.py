"""What the collectives of MSCCL and MSCCL++ promise, in place or from an input to an output.

What belongs here: their names for collectives, where input and output lie, and promises about them. Root and ranks of a
broadcast or reduce stand in no such file: the root is told from who never receives or sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hopline.errors import FormatError, InputError
from hopline.schedule import promises
from hopline.schedule.pieces import Ints, split
from hopline.schedule.promises import EVERY, Promise, given, wanted

BENCHMARKS = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "alltoall": "alltoall",
    "broadcast": "broadcast", "reduce": "reduce",
}  # fmt: skip
"""Their names, without underscores, and the benchmark's."""
_SHARED = ("all_gather", "reduce_scatter", "alltoall")
"""Those whose larger buffer has a piece for each rank."""
MOST_BYTES = 1 << 48
"""Of a buffer."""
INPUT, OUTPUT = 0, 1
"""Numbers of the buffers; in place there is one."""


def benchmark(collective: str) -> str:
    """The benchmark's name for a collective, or an empty text."""
    return BENCHMARKS.get(collective.lower().replace("_", "").replace("-", ""), "")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the chunks of input and output lie.

    ``size`` bytes (the larger of input and output) are cut into ``chunks``. What does not divide is cut as ``split`` does: a
    piece for each rank, where the collective has them, and each piece into its chunks.
    """

    collective: str
    ranks: int
    size: int
    chunks: int
    in_place: bool

    def __post_init__(self) -> None:
        if self.size > MOST_BYTES:
            raise InputError(f"{self.size} bytes: expected at most {MOST_BYTES}")
        if self.collective in _SHARED and self.chunks % self.ranks:
            raise FormatError(
                f"{self.chunks} chunks are no multiple of {self.ranks} ranks: "
                f"expected equally many for each in {self.collective}"
            )
        if self.in_place and self.collective == "alltoall" and not self.even:
            raise InputError(f"{self.size} bytes: an alltoall in place takes a multiple of its {self.chunks} chunks")

    @property
    def even(self) -> bool:
        """Whether all chunks have equally many bytes."""
        return self.size % self.chunks == 0

    @property
    def each(self) -> int:
        """Chunks of a rank's piece."""
        return self.chunks // self.ranks

    def check_scratch(self, chunks: int) -> None:
        """Raise InputError where that many chunks of scratch are more than a buffer may have."""
        if chunks * (self.size // self.chunks + 1) > MOST_BYTES:
            raise InputError(f"{chunks} chunks of scratch, of which {self.chunks} are {self.size} bytes, are too many")

    def bounds(self) -> Ints:
        """First byte of each chunk, and the end, shape (chunks + 1,)."""
        if self.even or self.collective not in _SHARED:
            return split(self.size, self.chunks)
        pieces = split(self.size, self.ranks)
        cut = [low + split(high - low, self.each)[:-1] for low, high in pairwise(pieces.tolist())]
        return np.concatenate([*cut, pieces[-1:]])

    def place(self, rank: int, name: str, chunk: int) -> tuple[int, int]:
        """Buffer and chunk of chunk ``chunk`` of input (``i``) or output (``o``): in place both are one buffer."""
        if not self.in_place:
            return (INPUT if name == "i" else OUTPUT), chunk
        own = {"all_gather": "i", "reduce_scatter": "o"}.get(self.collective)
        return INPUT, chunk + (rank * self.each if name == own else 0)

    def room(self, name: str) -> int:
        """How many chunks input (``i``) or output (``o``) has at most."""
        smaller = {"all_gather": "i", "reduce_scatter": "o"}.get(self.collective)
        return self.each if name == smaller else self.chunks

    def promise(self, root: int | None = None) -> Promise | None:
        """What the collective promises; None where that is not known."""
        if not self.collective or (self.collective in ("broadcast", "reduce") and root is None):
            return None
        if self.in_place and self.collective != "alltoall":
            rooted = {"root": root} if root is not None and self.collective in ("broadcast", "reduce") else {}
            made: Promise = getattr(promises, self.collective)(self.ranks, self.size, **rooted)
            return made
        return self._apart(root or 0)

    def _apart(self, root: int) -> Promise:
        ranks, size, out = self.ranks, self.size, INPUT if self.in_place else OUTPUT
        every, bounds = np.arange(ranks), split(size, ranks)
        piece, own = np.diff(bounds), np.tile(every, ranks)
        rank = np.repeat(every, ranks)
        whole = given(every, 0, size)
        parts = {
            "all_reduce": (whole, wanted(every, 0, size, EVERY, 0, out)),
            "broadcast": (given(root, 0, size), wanted(every, 0, size, root, 0, out)),
            "reduce": (whole, wanted(root, 0, size, EVERY, 0, out)),
            "reduce_scatter": (whole, wanted(every, 0, piece, EVERY, bounds[:-1], out)),
            "all_gather": (given(every, 0, piece), wanted(rank, bounds[own], piece[own], own, 0, out)),
            "alltoall": (whole, wanted(rank, own * piece[rank], piece[rank], own, bounds[rank], out)),
        }
        return Promise(self.collective, *parts[self.collective])
