"""Read the algorithms of MSCCL, as msccl-tools writes them and RCCL and msccl's NCCL run them.

What belongs here: the file as a Plan, its counts, and what of it is in order. What a step becomes is ``msccl_rows``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from hopline.errors import FormatError, InputError
from hopline.formats.schedules.contents import (
    Asked,
    Contents,
    Fact,
    Reading,
    beyond,
    counted,
    exact,
    expect_ranks,
    idle,
)
from hopline.formats.schedules.msccl_places import RECEIVES, SENDS
from hopline.formats.schedules.msccl_rows import Expansion
from hopline.formats.schedules.msccl_xml import Algorithm, parse
from hopline.formats.schedules.promised import Layout, benchmark
from hopline.formats.source import shown
from hopline.schedule.pieces import Ints

BUFFERED = (
    "its thread blocks send before they receive, which needs the buffers of NCCL's connections: what arrives goes there, "
    "and is copied or added from there"
)


@dataclass(frozen=True, slots=True)
class MscclPlan:
    """An MSCCL algorithm; see Plan."""

    path: str
    algorithm: Algorithm
    contents: Contents

    def reading(self, asked: Asked) -> Reading:
        """See Plan. ``asked.size`` may be left out where the file is made for one size only."""
        expect_ranks(shown(self.path), self.contents.ranks, asked)
        algorithm, size = self.algorithm, asked.size
        own: tuple[str, ...] = ()
        if size is None and algorithm.sizes and algorithm.sizes[0] == algorithm.sizes[1] > 0:
            size = algorithm.sizes[0]
            own = (f"for {exact(size)}, the size that the file is made for",)
        if size is None:
            raise InputError(
                f"{shown(self.path)} counts in chunks: give the size of a rank's buffer, "
                f"best a multiple of {algorithm.chunks} bytes"
            )
        name = benchmark(algorithm.collective)
        try:
            layout = Layout(name, algorithm.ranks, size, algorithm.chunks, algorithm.in_place)
        except FormatError as error:
            raise FormatError(f"{shown(self.path)}: {error}") from None
        used, how = self._expansion(layout)
        made, steps = used.made(self.contents.name, layout.promise(root(algorithm, name)))
        remarks = (*own, *beyond(self.contents, size), *how, *idle(made.ranks, made.columns.rank))
        return Reading(made, self.contents, (*self.contents.remarks, *remarks), partial(_place, used, steps))

    def _expansion(self, layout: Layout) -> tuple[Expansion, tuple[str, ...]]:
        """Its rows, messages straight to their places; through buffers where it would else not come to its end."""
        straight = Expansion(self.path, self.algorithm, layout)
        if straight.rows.circular():
            buffered = Expansion(self.path, self.algorithm, layout, buffered=True)
            if not buffered.rows.circular():
                return buffered, (BUFFERED,)
        return straight, ()


def _place(used: Expansion, steps: Ints, row: int) -> str:
    return used.place(int(steps[row]))


def read(path: str) -> MscclPlan:
    """The plan of the algorithm in the file at ``path``. Raises FormatError."""
    algorithm = parse(path)
    return MscclPlan(path, algorithm, _contents(algorithm))


def root(algorithm: Algorithm, collective: str) -> int | None:
    """The root: the one rank that never receives (broadcast) or never sends (reduce); None where that is not one."""
    moves = {"broadcast": RECEIVES, "reduce": SENDS}.get(collective, ())
    still = [
        gpu.id for gpu in algorithm.gpus.values()
        if not any(step.type in moves for block in gpu.blocks.values() for step in block.steps)
    ]  # fmt: skip
    return still[0] if moves and len(still) == 1 else None


def _contents(algorithm: Algorithm) -> Contents:
    blocks = [block for gpu in algorithm.gpus.values() for block in gpu.blocks.values()]
    types = counted(step.type for block in blocks for step in block.steps)
    facts: dict[str, Fact] = {
        "name": algorithm.name, "coll": algorithm.collective, "proto": algorithm.protocol, "ngpus": algorithm.ranks,
        "gpu_elements": len(algorithm.gpus), "nchannels": algorithm.channels,
        "chan_used": len({block.channel for block in blocks}), "threadblocks": len(blocks),
        "tb_per_gpu": max(len(gpu.blocks) for gpu in algorithm.gpus.values()), "steps": sum(types.values()),
        "steps_by_type": types, "nchunksperloop": algorithm.chunks, "inplace": int(algorithm.in_place),
    }  # fmt: skip
    if algorithm.sizes:
        facts |= {"minBytes": algorithm.sizes[0], "maxBytes": algorithm.sizes[1]}
    remarks = []
    if algorithm.protocol.startswith("LL"):
        remarks.append(f"protocol {algorithm.protocol} sends flags among the data: their bytes are not in the schedule")
    if not benchmark(algorithm.collective):
        remarks.append(
            f"collective {algorithm.collective!r} promises nothing that is known here: its result is not checked"
        )
    name = algorithm.name or algorithm.collective
    return Contents("msccl", name, algorithm.ranks, facts, algorithm.sizes, tuple(remarks))
