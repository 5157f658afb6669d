"""Write an MSCCL algorithm, which ``msccl`` reads back to the same operations in the same order.

What belongs here: from rows to thread blocks and steps. A thread block has one peer to send to or to receive from; rows of a
lane that talk to several become several thread blocks, which wait for one another as the lane had it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hopline.errors import FormatError
from hopline.formats.schedules.bounded import new_file
from hopline.formats.schedules.msccl_chunks import Chunking, chunking, is_in_place, scratch
from hopline.formats.schedules.order import before_on_lane
from hopline.formats.schedules.promised import BENCHMARKS
from hopline.schedule.operations import COMPUTE, COPY, FREE, KINDS, NONE, RECV, REDUCE, SEND, Schedule, channel

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_TYPES = {SEND: "s", RECV: "r", REDUCE: "re", COPY: "cpy"}
Key = tuple[str, int, int]
"""What a thread block does (send, recv or local), its peer or lane, and its channel."""


def write(schedule: Schedule, path: str) -> tuple[str, ...]:
    """Write ``schedule`` to a new file at ``path``, for the size that it is for.

    Returns
    -------
    What a reader should know.

    Raises
    ------
    FormatError
        Where MSCCL cannot say it.
    OutputError
        Where the file exists or cannot be written.
    """
    _check(schedule)
    name = schedule.promise.collective if schedule.promise else ""
    known = name if name in BENCHMARKS.values() else ""
    chunks = chunking(schedule, known, is_in_place(schedule))
    blocks = _Blocks(schedule)
    with new_file(path) as file:
        file.writelines(line.encode() for line in _document(schedule, known, chunks, blocks))
    if known:
        return ()
    return (f"MSCCL has no word for {name or 'what it promises'}: it is called custom, and its result not checked",)


def _check(schedule: Schedule) -> None:
    columns = schedule.columns
    if not schedule.buffers:
        raise FormatError(f"{schedule.name} has no buffers: MSCCL moves chunks of them")
    if len(schedule.begun):
        raise FormatError(
            f"row {schedule.begun[0, 0]} waits for the beginning of another: MSCCL's steps wait for ends only"
        )
    for broken, what in (
        (columns.kind == COMPUTE, "computes: MSCCL has no such step"),
        (columns.lane == FREE, "stands on no lane: MSCCL's steps stand in thread blocks"),
        (columns.size == 0, "has no bytes: MSCCL moves whole chunks"),
        ((columns.kind <= RECV) & (columns.other < 0), "has a negative tag: MSCCL's channels begin at 0"),
    ):
        if broken.any():
            row = int(np.argmax(broken))
            raise FormatError(f"row {row} (rank {columns.rank[row]}, {KINDS[columns.kind[row]]}) {what}")


class _Blocks:
    """Thread blocks of all ranks, the steps in them, and what each step waits for."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self.of: list[dict[Key, list[int]]] = [{} for _ in range(schedule.ranks)]
        """Rank -> thread block -> its rows."""
        self._number: list[int] = [0] * len(schedule)
        """Thread block of each row."""
        self._assign()
        self.waits = self._waits()
        self.awaited = {on for rows in self.waits.values() for on in rows}
        self.step = self._steps()

    def block(self, row: int) -> int:
        """Number of the thread block of a row, on its rank."""
        return self._number[row]

    def _assign(self) -> None:
        columns, tracks = self._schedule.columns, channel(self._schedule.columns.lane).tolist()
        last: dict[tuple[int, int], Key] = {}
        lanes: dict[tuple[int, Key], int] = {}
        numbers: dict[tuple[int, Key], int] = {}
        rows = zip(
            *(column.tolist() for column in (columns.kind, columns.rank, columns.lane, columns.peer, columns.other)),
            strict=True,
        )
        for row, (kind, rank, lane, peer, tag) in enumerate(rows):
            if kind in (SEND, RECV):
                key: Key = (KINDS[kind], peer, tag)
            else:
                key = last.get((rank, lane), ("local", lane, tracks[row]))
            last[rank, lane] = key
            if lanes.setdefault((rank, key), lane) != lane:
                raise FormatError(
                    f"rank {rank} has two lanes that {key[0]} with rank {peer} and tag {tag}: "
                    "expected one, since MSCCL has one thread block for each way"
                )
            self.of[rank].setdefault(key, []).append(row)
            self._number[row] = numbers.setdefault((rank, key), len(self.of[rank]) - 1)

    def _waits(self) -> dict[int, list[int]]:
        """Row -> rows of other thread blocks that it waits for, without those that its thread block has waited for."""
        columns, more = self._schedule.columns, self._schedule.more
        lane = before_on_lane(columns.rank, columns.lane)
        direct: dict[int, set[int]] = {}
        for column in (lane, columns.after):
            for row in np.flatnonzero(column != NONE).tolist():
                direct.setdefault(row, set()).add(int(column[row]))
        for row, on in more.tolist():
            direct.setdefault(row, set()).add(on)
        found: dict[int, list[int]] = {}
        seen: dict[tuple[int, int, int], int] = {}
        for row in sorted(direct):
            rank, block = int(columns.rank[row]), self._number[row]
            latest: dict[int, int] = {}
            for on in direct[row]:
                if self._number[on] != block:
                    latest[self._number[on]] = max(on, latest.get(self._number[on], NONE))
                elif on >= row:
                    raise FormatError(f"row {row} waits for row {on}, which its thread block does later")
            news = {to: on for to, on in latest.items() if on > seen.get((rank, block, to), NONE)}
            seen |= {(rank, block, to): on for to, on in news.items()}
            if news:
                found[row] = sorted(news.values())
        return found

    def _steps(self) -> dict[int, int]:
        """Row -> its step; a wait beyond the first takes a step of its own before it."""
        steps = {}
        for blocks in self.of:
            for rows in blocks.values():
                number = 0
                for row in rows:
                    number += max(len(self.waits.get(row, ())) - 1, 0)
                    steps[row] = number
                    number += 1
        return steps


def _document(schedule: Schedule, collective: str, chunks: Chunking, blocks: _Blocks) -> Iterator[str]:
    layout = chunks.layout
    words = {benchmark: word for word, benchmark in BENCHMARKS.items()}
    name = "".join(_ESCAPES.get(c, c) if c.isprintable() else "?" for c in schedule.name)
    channels = 1 + max(key[2] for keys in blocks.of for key in keys)
    yield (
        f'<algo name="{name}" proto="Simple" nchannels="{channels}" nchunksperloop="{layout.chunks}" ngpus="{schedule.ranks}" '
        f'coll="{words.get(collective, "custom")}" inplace="{int(layout.in_place)}" outofplace="{int(not layout.in_place)}" '
        f'minBytes="{layout.size}" maxBytes="{layout.size}">\n'
    )
    room = {name: layout.room(name) for name in ("i", "o")} | {"s": scratch(chunks, schedule)}
    rooms = " ".join(f'{name}_chunks="{count}"' for name, count in room.items())
    for rank, keys in enumerate(blocks.of):
        yield f'  <gpu id="{rank}" {rooms}>\n'
        for number, (key, rows) in enumerate(keys.items()):
            send, recv = (key[1] if key[0] == word else -1 for word in (KINDS[SEND], KINDS[RECV]))
            yield f'    <tb id="{number}" send="{send}" recv="{recv}" chan="{key[2]}">\n'
            yield from (line for row in rows for line in _step(schedule, chunks, blocks, row))
            yield "    </tb>\n"
        yield "  </gpu>\n"
    yield "</algo>\n"


def _step(schedule: Schedule, chunks: Chunking, blocks: _Blocks, row: int) -> Iterator[str]:
    columns, kind = schedule.columns, int(schedule.columns.kind[row])
    waits = [(blocks.block(on), blocks.step[on]) for on in blocks.waits.get(row, [])]
    number = blocks.step[row] - max(len(waits) - 1, 0)
    for block, step in waits[:-1]:
        yield _line(number, "nop", ("i", -1), ("o", -1), 0, (block, step), False)
        number += 1
    own = _place(chunks, int(columns.buffer[row]), int(columns.start[row]))
    source = own if kind in (SEND, RECV) else _place(chunks, int(columns.source[row]), int(columns.other[row]))
    count = int(chunks.chunk(int(columns.buffer[row]), int(columns.start[row] + columns.size[row]))) - own[1]
    yield _line(number, _TYPES[kind], source, own, count, waits[-1] if waits else (-1, -1), row in blocks.awaited)


def _place(chunks: Chunking, buffer: int, start: int) -> tuple[str, int]:
    return chunks.letters[buffer], int(chunks.chunk(buffer, start))


def _line(
    number: int,
    kind: str,
    source: tuple[str, int],
    target: tuple[str, int],
    count: int,
    wait: tuple[int, int],
    awaited: bool,
) -> str:
    return (
        f'      <step s="{number}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" dstbuf="{target[0]}" '
        f'dstoff="{target[1]}" cnt="{count}" depid="{wait[0]}" deps="{wait[1]}" hasdep="{int(awaited)}"/>\n'
    )
