"""The steps of an MSCCL algorithm with the places they use, checked against the buffers; and lanes of thread blocks.

What belongs here: what a step reads and writes, and which sends and receives are two ends of one way. Not here: sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.schedules.msccl_cut import SCRATCH, Place
from hopline.formats.schedules.msccl_xml import Algorithm, Block, Gpu, Step
from hopline.formats.schedules.promised import Layout
from hopline.formats.source import shown
from hopline.schedule.operations import FREE

SENDS = ("s", "rcs", "rrs", "rrcs")
RECEIVES = ("r", "rcs", "rrc", "rrs", "rrcs")
_READS = ("s", "rrc", "rrs", "rrcs", "re", "cpy")
"""Steps that use their source."""
_WRITES = ("r", "rcs", "rrc", "rrcs", "re", "cpy")
"""Steps that use their target."""

Way = tuple[int, int, int]
"""From, to, channel."""


@dataclass(frozen=True, slots=True)
class At:
    """Step ``number`` of a thread block; ``source`` and ``target`` are None where its type does not use them."""

    gpu: Gpu
    block: Block
    number: int
    step: Step
    source: Place | None
    target: Place | None

    @property
    def moved(self) -> Place | None:
        """What has the size of what is sent or received."""
        return self.source if self.step.type in ("s", "rrs") else self.target

    @property
    def staged(self) -> bool:
        """Whether what arrives goes to the staging buffer."""
        return self.step.type == "rrs" or (self.step.type in ("rrc", "rrcs") and self.source == self.target)


def wrong(path: str, line: int, what: str) -> FormatError:
    """An error at a line of the file."""
    return FormatError(f"{shown(path)} line {line}: {what}")


def located(path: str, algorithm: Algorithm, layout: Layout) -> list[At]:
    """All steps by GPU and thread block, in their order. Raises FormatError for one that cannot be done."""
    return [
        _located(path, layout, algorithm.gpus[rank], block, number, step)
        for rank in range(algorithm.ranks)
        for block in algorithm.gpus[rank].blocks.values()
        for number, step in enumerate(block.steps)
    ]


def _located(path: str, layout: Layout, gpu: Gpu, block: Block, number: int, step: Step) -> At:
    if step.type != "nop" and not step.count:
        raise wrong(path, step.line, f"step {step.type} has cnt 0: expected 1 or more chunks")
    for peer, kinds, word in ((block.send, SENDS, "send"), (block.recv, RECEIVES, "recv")):
        if step.type in kinds and peer < 0:
            raise wrong(
                path, step.line, f"step {step.type} in thread block {block.id} of gpu {gpu.id}, whose {word} is -1"
            )
    source = _place(path, layout, gpu, step, *step.source) if step.type in _READS else None
    target = _place(path, layout, gpu, step, *step.target) if step.type in _WRITES else None
    near = source and target and source[1] == target[1] and abs(source[2] - target[2]) < step.count
    if near and (source != target or step.type == "re"):
        raise wrong(path, step.line, f"source and target of step {step.type} overlap: expected ranges apart")
    return At(gpu, block, number, step, source, target)


def _place(path: str, layout: Layout, gpu: Gpu, step: Step, name: str, chunk: int) -> Place:
    room = gpu.chunks["s"] if name == "s" else layout.room(name)
    if chunk < 0 or chunk + step.count > room:
        found = f"step {step.type} uses chunks {chunk} to {chunk + step.count - 1} of buffer {name}"
        raise wrong(path, step.line, f"{found}, which has {room} on gpu {gpu.id}")
    buffer, chunk = (SCRATCH, chunk) if name == "s" else layout.place(gpu.id, name, chunk)
    return gpu.id, buffer, chunk


def same(steps: list[At]) -> Iterator[tuple[Place, Place, int]]:
    """Places that hold the same data, and how many chunks of it: both sides of local steps, and both ends of messages."""
    senders: dict[Way, list[At]] = {}
    for at in steps:
        if at.source and at.target:
            yield at.source, at.target, at.step.count
        if at.step.type in SENDS:
            senders.setdefault((at.gpu.id, at.block.send, at.block.channel), []).append(at)
    turns: dict[Way, int] = {}
    for at in steps:
        if at.step.type not in RECEIVES:
            continue
        way = at.block.recv, at.gpu.id, at.block.channel
        turn = turns.get(way, 0)
        turns[way] = turn + 1
        for sender in senders.get(way, [])[turn : turn + 1]:
            if sender.moved and at.moved:
                yield sender.moved, at.moved, min(at.step.count, sender.step.count)


def lanes(path: str, gpu: Gpu) -> dict[int, int]:
    """Thread block -> lane, one that belongs to its channel; the next free one where these do not suffice."""
    if len(gpu.blocks) > FREE:
        raise FormatError(f"{shown(path)}: gpu {gpu.id} has {len(gpu.blocks)} thread blocks: expected at most {FREE}")
    _check_ways(path, gpu)
    channels = 1 + max((block.channel for block in gpu.blocks.values()), default=0)
    turns: dict[int, int] = {}
    found = {}
    for block in gpu.blocks.values():
        turn = turns.get(block.channel, 0)
        turns[block.channel] = turn + 1
        found[block.id] = 2 * (block.channel + channels * (turn // 2)) + turn % 2
    return found if max(found.values(), default=0) < FREE else {block: lane for lane, block in enumerate(gpu.blocks)}


def _check_ways(path: str, gpu: Gpu) -> None:
    """Raise FormatError where two thread blocks share a way: which of them a message is for could not be told."""
    ways: dict[tuple[str, int, int], int] = {}
    for block in gpu.blocks.values():
        for word, peer in (("send to", block.send), ("receive from", block.recv)):
            other = ways.setdefault((word, peer, block.channel), block.id)
            if peer >= 0 and other != block.id:
                what = f"thread blocks {other} and {block.id} of gpu {gpu.id} both {word} {peer} on channel {block.channel}"
                raise wrong(path, block.line, f"{what}: expected one for each way")
