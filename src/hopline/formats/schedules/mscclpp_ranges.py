"""Bytes that the operations of an MSCCL++ plan read and write.

What belongs here: from chunks to bytes, and which inputs and outputs a kind of operation has.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.schedules.mscclpp_parts import Action, Execution, Span
from hopline.formats.schedules.promised import Layout
from hopline.schedule.pieces import split

SUMS = ("re", "res", "rre", "rres", "repkt", "respkt", "recpkt", "recspkt")
PUTS = ("put", "pws", "pwsf", "ppkt", "rppkt")
_LEAST = {"recpkt": (2, 2), "recspkt": (2, 3), "res": (2, 2), "rres": (2, 2), "respkt": (2, 2)}
"""Inputs and outputs at least; of other sums 2 and 1, else 1 and 1."""


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of a rank's buffer."""

    rank: int
    buffer: int
    start: int
    size: int


class Ranges:
    """Where chunks lie; ``each``: bytes of one, ``scratch``: number of the scratch buffer."""

    def __init__(self, plan: Execution, layout: Layout) -> None:
        self._plan, self._layout = plan, layout
        layout.check_scratch(max(gpu.chunks["s"] for gpu in plan.gpus))
        self.each = layout.size // layout.chunks
        self.scratch = 1 if layout.in_place else 2

    def of(self, span: Span, action: Action) -> Range:
        """The bytes of a span, or the part of them that is the action's. Raises FormatError."""
        gpu, layout = self._plan.gpus[span.rank], self._layout
        room = gpu.chunks["s"] if span.buffer == "s" else layout.room(span.buffer)
        if span.first < 0 or span.count < 1 or span.first + span.count > room:
            used = f"chunks {span.first} to {span.first + span.count - 1} of buffer {span.buffer}"
            raise FormatError(f"{action.where} ({action.name}) uses {used}, which has {room} on gpu {span.rank}")
        if span.buffer == "s":
            buffer, chunk = self.scratch, span.first
        else:
            buffer, chunk = layout.place(span.rank, span.buffer, span.first)
        place, parts = action.part
        if not 0 <= place < parts <= 1 << 16:
            raise FormatError(f"{action.where} is part {place} of {parts}: expected 0 to {parts - 1}")
        bounds = split(span.count * self.each // self._plan.alignment, parts) * self._plan.alignment
        start, end = int(bounds[place]), int(bounds[place + 1])
        return Range(span.rank, buffer, chunk * self.each + start, end - start)


def check(own: int, action: Action, inputs: list[Range], outputs: list[Range]) -> None:
    """Raise FormatError for inputs and outputs that its kind has not got."""
    kind = action.kind
    least = _LEAST.get(kind, (2, 1) if kind in SUMS else (1, 1))
    fits = (
        len(inputs) >= least[0] and len(outputs) >= least[1] and len({part.size for part in (*inputs, *outputs)}) == 1
    )
    if fits and kind in PUTS:
        fits = inputs[0].rank == own and all(part.rank != own for part in outputs)
    elif fits and kind == "get":
        fits = len(inputs) == len(outputs) and all(
            there.rank != own and here.rank == own for there, here in zip(inputs, outputs, strict=True)
        )
    elif fits:
        fits = inputs[0].rank == own and outputs[0].rank == own
    if not fits:
        raise FormatError(
            f"{action.where} ({action.name}) has {len(inputs)} inputs and {len(outputs)} outputs that do not fit it: "
            "expected ranges of one size, on its own gpu or on another as it needs them"
        )
