"""An MSCCL++ execution plan, whichever generation of files it came from.

What belongs here: the words of ``mscclpp_json`` (files since 2025), ``mscclpp_old`` (files of 2024) and ``mscclpp_run``, which
makes rows of them. Names of operations are those of the newer files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hopline.errors import FormatError

ORDER = ("nop", "signal", "wait", "rlxsignal", "rlxwait", "flush", "barrier", "sem_acquire", "sem_release")
"""Operations that move nothing."""
SWITCH = ("glre", "glres", "gstore", "gstorepkt")
"""Operations of a switch (NVLS multimem)."""
LOOPS = ("pipeline",)
MOVES = (
    "put", "pws", "pwsf", "get", "copy", "re", "res", "rre", "rres", "ppkt", "rppkt", "respkt", "cpkt", "upkt", "repkt",
    "recpkt", "recspkt",
)  # fmt: skip
MOST_RANKS = 1 << 12
MOST_CHUNKS = 1 << 24


@dataclass(frozen=True, slots=True)
class Span:
    """``count`` chunks of a buffer (i, o or s) of a rank."""

    rank: int
    buffer: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Channel:
    """One end of a channel: its rank, the other's, and its number among those between the two."""

    rank: int
    peer: int
    number: int


@dataclass(frozen=True, slots=True)
class Action:
    """One operation.

    Attributes
    ----------
    name, kind
        As the file calls it, and as newer files do.
    inputs, outputs
        What it reads and writes; for switches left out.
    channels
        Over which it signals, waits or puts.
    port
        Whether a proxy does it, so that the thread block goes on meanwhile.
    part
        Which of how many thread blocks share its ranges.
    barrier
        Id, and how many thread blocks meet there.
    semaphores
        Ids.
    waits
        Thread blocks and steps of its GPU that must be done before.
    where
        For messages.
    """

    name: str
    kind: str
    where: str
    inputs: tuple[Span, ...] = ()
    outputs: tuple[Span, ...] = ()
    channels: tuple[Channel, ...] = ()
    port: bool = False
    part: tuple[int, int] = (0, 1)
    barrier: tuple[int, int] | None = None
    semaphores: tuple[int, ...] = ()
    waits: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Processor:
    """One GPU: thread block -> its actions; chunks of each buffer; first values of its semaphores."""

    blocks: dict[int, list[Action]]
    chunks: dict[str, int]
    semaphores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """The whole plan; ``sizes``: least and most bytes. ``names``: of all operations, inner ones of loops too."""

    name: str
    collective: str
    protocol: str
    in_place: bool
    alignment: int
    sizes: tuple[int, int]
    gpus: list[Processor] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def processor(
    number: int, chunks: dict[str, int], blocks: list[tuple[int, list[Action]]], semaphores: tuple[int, ...] = ()
) -> Processor:
    """GPU ``number``. Raises FormatError for counts that cannot be, and for thread blocks that come twice."""
    wrong = next((name for name, count in chunks.items() if not 0 <= count <= MOST_CHUNKS), None)
    if wrong is not None:
        raise FormatError(f"gpu {number} has {chunks[wrong]} chunks of buffer {wrong}: expected 0 to {MOST_CHUNKS}")
    found = dict(blocks)
    if len(found) < len(blocks):
        raise FormatError(f"gpu {number} has {len(blocks)} thread blocks with {len(found)} ids: expected one each")
    return Processor(found, chunks, semaphores)


def known(kind: str, where: str) -> str:
    """``kind``, if there is such an operation. Raises FormatError."""
    if kind not in (*ORDER, *SWITCH, *LOOPS, *MOVES):
        raise FormatError(
            f"{where} is called {kind[:40]!r}: expected an operation of MSCCL++ ({', '.join((*MOVES, *ORDER))})"
        )
    return kind


_T = TypeVar("_T")


def entry(values: Sequence[_T], number: int, where: str, what: str) -> _T:
    """``values[number]``. Raises FormatError where there is none."""
    if not 0 <= number < len(values):
        raise FormatError(f"{where} uses {what} {number}: expected 0 to {len(values) - 1}")
    return values[number]
