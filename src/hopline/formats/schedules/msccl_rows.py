"""What the steps of an MSCCL algorithm become: one to three rows each, on the lane of their thread block.

What belongs here: the meaning of steps, as the interpreter in RCCL's ``msccl_kernel_impl.h`` has it.

- ``rcs`` receives into its target and sends that. ``rrc`` and ``rrcs`` make target = source + received: where both are one
  range, what arrives goes to a staging buffer and is added from there, else it goes to the target and the source is added.
  ``rrs`` keeps nothing: source and what arrives are added in the staging buffer. Each thread block has its own place there.
- With ``buffered`` all that is received goes through the staging buffer, as through the buffers of NCCL's connections: it
  arrives there whatever its thread block does, up to SLOTS messages of a way ahead, and is copied or added from there.
- A step waits for the first step at or after the one it names that is marked ``hasdep``, since flags are only set by those.
- A ``nop`` is no row: what it waits for, the next step of its thread block waits for.
"""

from __future__ import annotations

from hopline.formats.schedules.msccl_cut import Cut, Place
from hopline.formats.schedules.msccl_places import RECEIVES, SENDS, At, lanes, located, same, wrong
from hopline.formats.schedules.msccl_xml import Algorithm
from hopline.formats.schedules.promised import INPUT, OUTPUT, Layout
from hopline.formats.schedules.rows import Rows
from hopline.schedule.operations import COPY, RECV, REDUCE, SEND, Buffer, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise

STAGING = 3
SLOTS = 8
"""Messages that a connection of NCCL holds (NCCL_STEPS)."""
Range = tuple[int, int]
"""Buffer and first byte."""


class Expansion:
    """The rows of one algorithm, its chunks laid out as ``layout`` says."""

    def __init__(self, path: str, algorithm: Algorithm, layout: Layout, buffered: bool = False) -> None:
        self._path, self._algorithm, self._layout = path, algorithm, layout
        self.rows, self._buffered = Rows(), buffered
        self._done: dict[tuple[int, int, int], int] = {}
        """GPU, thread block and step -> its last row."""
        self._steps = steps = located(path, algorithm, layout)
        scratch = [algorithm.gpus[rank].chunks["s"] for rank in range(algorithm.ranks)]
        layout.check_scratch(max(scratch))
        self._cut = Cut(layout, scratch, same(steps))
        self._staging, self._staged = self._stage(steps)
        self._lanes = {gpu.id: lanes(path, gpu) for gpu in algorithm.gpus.values()}
        self._expand(steps)

    def made(self, name: str, promise: Promise | None) -> tuple[Schedule, Ints]:
        """The schedule and the number of each row's step; buffers that nothing needs are left out."""
        rooms = self._cut.rooms
        sizes = {"data": rooms[INPUT], "output": rooms[OUTPUT], "scratch": self._cut.scratch, "staging": self._staged}
        if self._layout.in_place:
            del sizes["output"]
        names = list(sizes)
        while names[-1] in ("scratch", "staging") and not sizes[names[-1]]:
            names.pop()
        buffers = tuple(Buffer(buffer, sizes[buffer]) for buffer in names)
        return self.rows.made(name, self._algorithm.ranks, buffers, promise)

    def place(self, number: int) -> str:
        """Where a step stands: ``gpu 0 tb 1 step 2 (line 14)``."""
        at = self._steps[number]
        return f"gpu {at.gpu.id} tb {at.block.id} step {at.number} (line {at.step.line})"

    def _stage(self, steps: list[At]) -> tuple[dict[tuple[int, int], tuple[int, int]], int]:
        """First byte and bytes of a slot of each thread block in the staging buffer, and bytes of the GPU with the most."""
        widths: dict[tuple[int, int], int] = {}
        for at in steps:
            if self._stages(at):
                key = at.gpu.id, at.block.id
                widths[key] = max(widths.get(key, 0), self._size(at))
        begins, used = {}, dict.fromkeys(self._algorithm.gpus, 0)
        for (gpu, block), width in widths.items():
            begins[gpu, block] = used[gpu], width
            used[gpu] += width * (SLOTS if self._buffered else 1)
        return begins, max(used.values())

    def _stages(self, at: At) -> bool:
        return at.staged or (self._buffered and at.step.type in RECEIVES)

    def _expand(self, steps: list[At]) -> None:
        waits: list[tuple[int, At, tuple[int, int]]] = []
        pending: list[tuple[int, int]] = []
        slots: list[int] = []
        for number, at in enumerate(steps):
            self.rows.mark = number
            if at.number == 0:
                pending, slots = [], []
            pending += [at.step.waits] if at.step.waits else []
            if at.step.type == "nop":
                continue
            received = self._arrival(at, slots)
            waits += [(len(self.rows), at, wait) for wait in pending]
            pending = []
            self._rows_of(at, len(slots) % SLOTS if self._buffered else 0, received)
            last = self._done[at.gpu.id, at.block.id, at.number] = len(self.rows) - 1
            slots += [last] if received is not None else []
        for row, at, wait in waits:
            self.rows.wait(row, self._awaited(at, *wait))

    def _arrival(self, at: At, slots: list[int]) -> int | None:
        """The Recv into a slot that is free again, where messages are buffered; ``slots`` holds the rows that freed them."""
        if not self._buffered or at.step.type not in RECEIVES:
            return None
        first, width = self._staging[at.gpu.id, at.block.id]
        start = first + len(slots) % SLOTS * width
        row = self.rows.add(
            RECV, at.gpu.id, self._size(at), buffer=self._buffer(STAGING), start=start,
            peer=at.block.recv, other=at.block.channel,
        )  # fmt: skip
        if len(slots) >= SLOTS:
            self.rows.wait(row, slots[-SLOTS])
        return row

    def _awaited(self, at: At, block: int, step: int) -> int:
        found = at.gpu.blocks.get(block)
        what = f"step {at.step.type} of thread block {at.block.id} waits for step {step} of thread block {block}"
        if found is None or step >= len(found.steps):
            raise wrong(self._path, at.step.line, f"{what}, which gpu {at.gpu.id} has not got")
        for number in range(step, len(found.steps)):
            if found.steps[number].marked and found.steps[number].type != "nop":
                return self._done[at.gpu.id, block, number]
        raise wrong(self._path, at.step.line, f"{what}, and none from there on has hasdep=1: it would wait for ever")

    def _rows_of(self, at: At, slot: int, received: int | None) -> None:
        """The rows of a step on its thread block's lane; ``received``: the row by which its message has arrived."""
        kind, size, first = at.step.type, self._size(at), len(self.rows)
        source, target = self._range(at.source), self._range(at.target)
        begin, width = self._staging.get((at.gpu.id, at.block.id), (0, 0))
        staging = self._buffer(STAGING), begin + slot * width
        if received is None and kind in RECEIVES:
            self._message(RECV, at, staging if at.staged else target, size)
        elif received is not None and not at.staged:
            self._local(COPY, at, target, staging, size)
        if kind in ("re", "cpy"):
            self._local(REDUCE if kind == "re" else COPY, at, target, source, 0 if source == target else size)
        if kind in ("rrc", "rrcs"):
            self._local(REDUCE, at, target, staging if at.staged else source, size)
        if kind == "rrs":
            self._local(REDUCE, at, staging, source, size)
        if kind in SENDS:
            self._message(SEND, at, {"s": source, "rrs": staging}.get(kind, target), size)
        if received is not None:
            self.rows.wait(first, received)

    def _size(self, at: At) -> int:
        place = at.source or at.target
        return self._cut.range(place, at.step.count)[1] if place else 0

    def _range(self, place: Place | None) -> Range:
        return (self._buffer(place[1]), self._cut.range(place, 0)[0]) if place else (0, 0)

    def _buffer(self, buffer: int) -> int:
        """Its number in the schedule: in place there is no output."""
        return buffer - 1 if self._layout.in_place and buffer > OUTPUT else buffer

    def _message(self, kind: int, at: At, where: Range, size: int) -> None:
        peer = at.block.send if kind == SEND else at.block.recv
        lane = self._lanes[at.gpu.id][at.block.id]
        self.rows.add(
            kind, at.gpu.id, size, lane=lane, buffer=where[0], start=where[1], peer=peer, other=at.block.channel
        )

    def _local(self, kind: int, at: At, to: Range, source: Range, size: int) -> None:
        lane = self._lanes[at.gpu.id][at.block.id]
        self.rows.add(kind, at.gpu.id, size, lane=lane, buffer=to[0], start=to[1], source=source[0], other=source[1])
