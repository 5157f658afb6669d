"""Execution plans of MSCCL++ as files had them in 2024 (``i_cids``, ``o_cids``, ``srcbuff``; ``colletive`` in the first ones).

What belongs here: the older document, told in the words of the newer one. Layout: microsoft/mscclpp before its new DSL (pull
request 579), ``src/executor/execution_plan.cc``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hopline.errors import FormatError
from hopline.formats.schedules.mscclpp_json import check_ranks
from hopline.formats.schedules.mscclpp_parts import (
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

_NAMES = {
    "rs": "res", "rrc": "rre", "rrcs": "rres", "rspkt": "respkt", "rpkt": "repkt", "cpkt": "upkt", "tpkt": "cpkt",
}  # fmt: skip
"""Older names, where newer files have others; ``cpkt`` changed its meaning."""
_ALIGNMENT = 16
_BUFFERS = ("i", "o", "s")


class _Offset(msgspec.Struct):
    off: int
    buff: str = ""


class _End(msgspec.Struct):
    id: int
    off: int = 0


class _Pair(msgspec.Struct):
    src: str
    dst: str


class _Wait(msgspec.Struct):
    tb: int
    step: int


class _Operation(msgspec.Struct):
    name: str
    i_buff: _Pair | None = None
    i_cids: list[_End] = []
    o_buff: _Pair | None = None
    o_cids: list[_End] = []
    srcs: list[_Offset] = []
    dsts: list[_Offset] = []
    srcbuff: str | None = None
    srcoff: int = 0
    dstbuff: str | None = None
    dstoff: int = 0
    ctype: str = ""
    cnt: int = 0
    deps: list[_Wait] = []
    barrier_id: int | None = None
    nthread_blocks: int = 0


class _Ids(msgspec.Struct):
    ctype: str
    src: str = ""
    dst: str = ""
    cids: list[int] = []


class _Block(msgspec.Struct):
    id: int
    ops: list[_Operation]
    channels: list[_Ids] = []


class _Channels(msgspec.Struct):
    type: str
    srcbuff: str = ""
    dstbuff: str = ""
    connectedTo: list[int] = []  # noqa: N815


class _Gpu(msgspec.Struct):
    id: int
    inputChunks: int  # noqa: N815
    outputChunks: int  # noqa: N815
    scratchChunks: int  # noqa: N815
    threadblocks: list[_Block]
    channels: list[_Channels] = []


class Document(msgspec.Struct):
    """The file."""

    name: str
    protocol: str
    gpus: list[_Gpu]
    collective: str = ""
    colletive: str = ""
    inplace: bool = False


def execution(document: Document) -> Execution:
    """The plan in a document. Raises FormatError."""
    check_ranks([gpu.id for gpu in document.gpus])
    names = [op.name for gpu in document.gpus for block in gpu.threadblocks for op in block.ops]
    gpus = [_Reader(gpu, len(document.gpus)).processor() for gpu in document.gpus]
    collective = document.collective or document.colletive
    return Execution(
        document.name, collective, document.protocol, document.inplace, _ALIGNMENT, (0, (1 << 62) - 1), gpus, names
    )


_Key = tuple[str, str, str]


class _Reader:
    """One GPU."""

    def __init__(self, gpu: _Gpu, ranks: int) -> None:
        self._gpu, self._ranks = gpu, ranks
        self._ends: dict[_Key, list[Channel]] = {}
        for key, end in self._channels():
            self._ends.setdefault(key, []).append(end)

    def processor(self) -> Processor:
        gpu = self._gpu
        chunks = {"i": gpu.inputChunks, "o": gpu.outputChunks, "s": gpu.scratchChunks}
        blocks = [
            (block.id, [self._action(block, number, op) for number, op in enumerate(block.ops)])
            for block in gpu.threadblocks
        ]
        return processor(gpu.id, chunks, blocks)

    def _channels(self) -> Iterator[tuple[_Key, Channel]]:
        turns: dict[int, int] = {}
        for kind in ("sm", "proxy"):
            for channels in self._gpu.channels:
                for peer in channels.connectedTo if channels.type == kind else ():
                    number = turns[peer] = turns.get(peer, -1) + 1
                    if not 0 <= peer < self._ranks or peer == self._gpu.id:
                        raise FormatError(
                            f"gpu {self._gpu.id} has a channel to {peer}: expected another of {self._ranks} gpus"
                        )
                    yield (channels.srcbuff, channels.dstbuff, kind), Channel(self._gpu.id, peer, number)

    def _action(self, block: _Block, number: int, operation: _Operation) -> Action:
        where = f"operation {number} of thread block {block.id} of gpu {self._gpu.id}"
        kind = known(_NAMES.get(operation.name, operation.name), where)
        if kind in SWITCH or operation.ctype == "nvls":
            return Action(operation.name, SWITCH[0] if kind not in SWITCH else kind, where)
        came = [(self._channel(block, operation, operation.i_buff, end, where), end.off) for end in operation.i_cids]
        goes = [(self._channel(block, operation, operation.o_buff, end, where), end.off) for end in operation.o_cids]
        barrier = None if operation.barrier_id is None else (operation.barrier_id, operation.nthread_blocks)
        far = operation.i_buff.dst if operation.i_buff else ""
        there = operation.o_buff.dst if operation.o_buff else ""
        count, own = operation.cnt, self._gpu.id
        inputs = [
            *([(own, operation.srcbuff, operation.srcoff)] if operation.srcbuff is not None else []),
            *[(own, offset.buff, offset.off) for offset in operation.srcs], *[(end.peer, far, off) for end, off in came],
        ]  # fmt: skip
        outputs = [
            *([(own, operation.dstbuff, operation.dstoff)] if operation.dstbuff is not None else []),
            *[(own, offset.buff, offset.off) for offset in operation.dsts], *[(end.peer, there, off) for end, off in goes],
        ]  # fmt: skip
        moves = kind not in ("signal", "wait", "flush", "nop", "barrier")
        return Action(
            operation.name, kind, where, tuple(self._span(*one, count, where) for one in inputs) if moves else (),
            tuple(self._span(*one, count, where) for one in outputs) if moves else (),
            tuple(end for end, _ in (came if kind == "wait" else goes)), operation.ctype == "proxy", (0, 1), barrier, (),
            tuple((wait.tb, wait.step) for wait in operation.deps),
        )  # fmt: skip

    def _channel(self, block: _Block, operation: _Operation, pair: _Pair | None, end: _End, where: str) -> Channel:
        if pair is None:
            raise FormatError(f"{where} has channels and no buffers: expected i_buff or o_buff")
        key = pair.src, pair.dst, operation.ctype
        own = [i for ids in block.channels if (ids.src, ids.dst, ids.ctype) == key for i in ids.cids]
        return entry(self._ends.get(key, []), entry(own, end.id, where, "channel"), where, "channel")

    def _span(self, rank: int, buffer: str | None, first: int, count: int, where: str) -> Span:
        if buffer not in _BUFFERS:
            raise FormatError(f"{where} uses buffer {str(buffer)[:40]!r}: expected i, o or s")
        return Span(rank, buffer, first, count)
