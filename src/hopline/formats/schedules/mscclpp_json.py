"""Execution plans of MSCCL++ as files have them since 2025 (``src_buff``, ``dst_buff``).

What belongs here: the document, and from its numbers of channels and buffers to ranks. Layout: microsoft/mscclpp,
``src/core/executor/execution_plan.cc``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hopline.errors import FormatError
from hopline.formats.schedules.mscclpp_parts import (
    LOOPS,
    MOST_RANKS,
    SWITCH,
    Action,
    Channel,
    Execution,
    Processor,
    Span,
    entry,
    known,
    processor,
)

_PORTS = "port"
_KINDS = ("memory", "port", "switch", "none", "")
_BUFFERS = ("i", "o", "s")


class _Chunk(msgspec.Struct):
    index: int
    size: int
    type: str | None = None
    buffer_id: int | None = None
    switch_channel_id: int | None = None


class _Part(msgspec.Struct):
    tb_id: int
    tbg_size: int


class _Operation(msgspec.Struct):
    name: str
    src_buff: list[_Chunk] = []
    dst_buff: list[_Chunk] = []
    channel_type: str = ""
    channel_ids: list[int] = []
    tbg_info: _Part | None = None
    barrier_id: int | None = None
    num_threadblocks: int = 0
    semaphore_ids: list[int] = []
    ops: list[_Operation] = []


class _Ids(msgspec.Struct):
    channel_type: str
    channel_ids: list[int] = []


class _References(msgspec.Struct):
    access_channel_type: str
    remote_buffer_ids: list[int] = []


class _Block(msgspec.Struct):
    id: int
    ops: list[_Operation]
    channels: list[_Ids] = []
    remote_buffer_refs: list[_References] = []


class _Channels(msgspec.Struct):
    channel_type: str
    connected_to: list[int] = []


class _Remote(msgspec.Struct):
    rank: int
    type: str


class _Semaphore(msgspec.Struct):
    init_value: int = 0


class _Gpu(msgspec.Struct):
    id: int
    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    threadblocks: list[_Block]
    channels: list[_Channels] = []
    remote_buffers: list[_Remote] = []
    semaphores: list[_Semaphore] = []


class Document(msgspec.Struct):
    """The file."""

    name: str
    collective: str
    protocol: str
    inplace: bool
    gpus: list[_Gpu]
    buffer_alignment: int = 16
    min_message_size: int = 0
    max_message_size: int = (1 << 64) - 1


def execution(document: Document) -> Execution:
    """The plan in a document. Raises FormatError."""
    check_ranks([gpu.id for gpu in document.gpus])
    if not 1 <= document.buffer_alignment <= 1 << 20:
        raise FormatError(f"buffer_alignment is {document.buffer_alignment}: expected 1 to {1 << 20}")
    sizes = max(document.min_message_size, 0), min(document.max_message_size, (1 << 62) - 1)
    names = [op.name for gpu in document.gpus for block in gpu.threadblocks for op in _flat(block.ops)]
    gpus = [_Reader(gpu, len(document.gpus)).processor() for gpu in document.gpus]
    return Execution(
        document.name,
        document.collective,
        document.protocol,
        document.inplace,
        document.buffer_alignment,
        sizes,
        gpus,
        names,
    )


def check_ranks(ids: list[int]) -> None:
    """Raise FormatError where the GPUs are not 0, 1, 2, ..."""
    if not 1 <= len(ids) <= MOST_RANKS:
        raise FormatError(f"{len(ids)} gpus: expected 1 to {MOST_RANKS}")
    wrong = next((place for place, number in enumerate(ids) if number != place), None)
    if wrong is not None:
        raise FormatError(f"gpu {wrong} has id {ids[wrong]}: expected {wrong}")


def _flat(operations: list[_Operation]) -> Iterator[_Operation]:
    for operation in operations:
        yield operation
        yield from operation.ops


class _Reader:
    """One GPU."""

    def __init__(self, gpu: _Gpu, ranks: int) -> None:
        self._gpu, self._ranks = gpu, ranks
        self._ends = {kind: list(self._channels(kind)) for kind in ("memory", "port")}

    def processor(self) -> Processor:
        gpu = self._gpu
        chunks = {"i": gpu.input_chunks, "o": gpu.output_chunks, "s": gpu.scratch_chunks}
        blocks = [
            (block.id, [self._action(block, number, op) for number, op in enumerate(block.ops)])
            for block in gpu.threadblocks
        ]
        return processor(gpu.id, chunks, blocks, tuple(semaphore.init_value for semaphore in gpu.semaphores))

    def _channels(self, kind: str) -> Iterator[Channel]:
        """Ends of channels of one kind; pairs are numbered by memory channels first, as the executor connects them."""
        turns: dict[int, int] = {}
        for this in ("memory", "port"):
            for channels in self._gpu.channels:
                for peer in channels.connected_to if channels.channel_type == this else ():
                    number = turns[peer] = turns.get(peer, -1) + 1
                    if not 0 <= peer < self._ranks or peer == self._gpu.id:
                        raise FormatError(
                            f"gpu {self._gpu.id} has a channel to {peer}: expected another of {self._ranks} gpus"
                        )
                    if this == kind:
                        yield Channel(self._gpu.id, peer, number)

    def _action(self, block: _Block, number: int, operation: _Operation) -> Action:
        where = f"operation {number} of thread block {block.id} of gpu {self._gpu.id}"
        kind = known(operation.name, where)
        if operation.channel_type not in _KINDS:
            raise FormatError(
                f"{where} has channel_type {operation.channel_type[:40]!r}: expected memory, port or switch"
            )
        part = operation.tbg_info
        barrier = None if operation.barrier_id is None else (operation.barrier_id, operation.num_threadblocks)
        if kind in (*SWITCH, *LOOPS):
            return Action(kind, kind, where)
        return Action(
            kind, kind, where,
            tuple(self._span(block, chunk, operation.channel_type, where) for chunk in operation.src_buff),
            tuple(self._span(block, chunk, operation.channel_type, where) for chunk in operation.dst_buff),
            tuple(self._channel(block, number, operation.channel_type, where) for number in operation.channel_ids),
            operation.channel_type == _PORTS, (part.tb_id, part.tbg_size) if part else (0, 1), barrier,
            tuple(operation.semaphore_ids),
        )  # fmt: skip

    def _channel(self, block: _Block, number: int, kind: str, where: str) -> Channel:
        own = [i for ids in block.channels if ids.channel_type == kind for i in ids.channel_ids]
        return entry(self._ends.get(kind, []), entry(own, number, where, "channel_id"), where, "channel")

    def _span(self, block: _Block, chunk: _Chunk, kind: str, where: str) -> Span:
        rank, buffer = self._gpu.id, chunk.type
        if chunk.buffer_id is not None:
            own = [
                i
                for refs in block.remote_buffer_refs
                if refs.access_channel_type == kind
                for i in refs.remote_buffer_ids
            ]
            remote = entry(
                self._gpu.remote_buffers, entry(own, chunk.buffer_id, where, "buffer_id"), where, "remote buffer"
            )
            rank, buffer = remote.rank, remote.type
        if buffer not in _BUFFERS or chunk.switch_channel_id is not None:
            raise FormatError(f"{where} uses no buffer of the kinds i, o and s: expected type or buffer_id")
        if not 0 <= rank < self._ranks or (rank == self._gpu.id) != (chunk.buffer_id is None):
            raise FormatError(f"{where} uses a remote buffer of gpu {rank}: expected another of {self._ranks} gpus")
        return Span(rank, buffer, chunk.index, chunk.size)
