"""What each operation of an MSCCL++ plan moves: copies, sums and messages.

What belongs here: one operation of one thread block, as rows. When it may begin is ``mscclpp_run``.

- A put is a Send whose Recv waits for nobody there; a get is a Recv whose Send waits for nobody but those who said that they
  are done. Where a proxy puts (channels of type port), the thread block goes on; a flush waits for it.
- Packets carry flags: who reads them waits for whoever writes them, once. Their flags are not counted as bytes.
- What is read from remote buffers to be added goes through a staging buffer.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.schedules.mscclpp_parts import Action, Channel, Execution
from hopline.formats.schedules.mscclpp_ranges import PUTS, SUMS, Range, Ranges, check
from hopline.formats.schedules.promised import Layout
from hopline.formats.schedules.rows import Rows
from hopline.schedule.operations import COPY, RECV, REDUCE, SEND, Buffer

_PACKETS = ("ppkt", "rppkt", "respkt", "recspkt")
"""Operations that put packets."""


class Blocked(Exception):  # noqa: N818
    """A thread block cannot go on yet."""


@dataclass(eq=False, slots=True)
class Worker:
    """A thread block on its way.

    Attributes
    ----------
    at
        The action it comes to next.
    last, pending
        Its last row, and further rows that its next one waits for.
    known
        Rank -> rows there that are done, for all it knows.
    ports, behind
        Channel -> what a proxy does last over it for this thread block, and what is known once that is done.
    done
        Rows after which each of its actions is done.
    """

    rank: int
    block: int
    lane: int
    actions: list[Action]
    at: int = 0
    last: int | None = None
    pending: set[int] = field(default_factory=set)
    known: dict[int, set[int]] = field(default_factory=dict)
    ports: dict[Channel, int] = field(default_factory=dict)
    behind: dict[Channel, dict[int, set[int]]] = field(default_factory=dict)
    done: list[frozenset[int]] = field(default_factory=list)
    met: dict[int, int] = field(default_factory=dict)
    why: str = ""

    def ends(self) -> set[int]:
        """Rows after which all it did is done."""
        return self.pending | ({self.last} if self.last is not None else set())

    def flush(self, port: Channel) -> None:
        """Wait for what a proxy does over a channel."""
        if port in self.ports:
            self.pending.add(self.ports[port])
            self.learn(self.behind.get(port, {}))

    def learn(self, known: dict[int, set[int]]) -> None:
        """Know what another one knows."""
        for rank, rows in known.items():
            if rank != self.rank:
                self.known.setdefault(rank, set()).update(rows)


class Moves:
    """Makes rows of actions; ``layout`` says where chunks lie."""

    def __init__(self, rows: Rows, plan: Execution, layout: Layout) -> None:
        self._rows, self._plan, self._layout = rows, plan, layout
        self._ranges = Ranges(plan, layout)
        self._packets: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        """Rank -> first byte, end and row of packets in its scratch."""
        self._staging: dict[tuple[int, int], tuple[int, int]] = {}
        self._staged: dict[int, int] = defaultdict(int)
        self._tags = 0

    def buffers(self) -> tuple[Buffer, ...]:
        """Input and output, scratch, staging; the last ones only where they are used."""
        layout, sizes = (
            self._layout,
            {"data": (self._layout.chunks if self._layout.in_place else self._layout.room("i")) * self._ranges.each},
        )
        if not layout.in_place:
            sizes["output"] = layout.room("o") * self._ranges.each
        scratch = max(gpu.chunks["s"] for gpu in self._plan.gpus) * self._ranges.each
        staged = max(self._staged.values(), default=0)
        sizes |= {"scratch": scratch} if scratch or staged else {}
        sizes |= {"staging": staged} if staged else {}
        return tuple(Buffer(name, size) for name, size in sizes.items())

    def do(self, worker: Worker, action: Action) -> None:
        """The rows of an action. Raises Blocked, before any, where it waits for packets."""
        inputs = [self._ranges.of(span, action) for span in action.inputs]
        outputs = [self._ranges.of(span, action) for span in action.outputs]
        check(worker.rank, action, inputs, outputs)
        self._await_packets(worker, action, inputs)
        if action.kind in PUTS:
            for number, target in enumerate(outputs):
                self._put(worker, action, inputs[min(number, len(inputs) - 1)], target, number)
        elif action.kind == "get":
            for source, target in zip(inputs, outputs, strict=True):
                self._get(worker, source, target)
        elif action.kind in ("copy", "cpkt", "upkt"):
            self._local(worker, COPY, outputs[0], inputs[0], packets=action.kind == "cpkt")
        elif action.kind in SUMS:
            self._sum(worker, action, inputs, outputs)

    def message(
        self, worker: Worker, source: int, target: int, size: int, *,
        read: Range | None = None, write: Range | None = None, tag: int | None = None, port: Channel | None = None,
    ) -> tuple[int, int]:  # fmt: skip
        """A Send at ``source`` and a Recv at ``target``, one of them on the lane of ``worker`` or done by its proxy."""
        if tag is None:
            self._tags += 1
            tag = 2 * self._tags
        ends = []
        for kind, rank, peer, where in ((SEND, source, target, read), (RECV, target, source, write)):
            own = rank == worker.rank
            place = {"buffer": where.buffer, "start": where.start} if where else {}
            lane = {"lane": worker.lane} if own and port is None else {}
            row = self._rows.add(kind, rank, size, peer=peer, other=tag, **place, **lane)
            ends.append(row)
            if own:
                self._begin(worker, row, port)
            else:
                known = worker.known if port is None else worker.behind.setdefault(port, {})
                for on in worker.known.get(rank, set()) | known.get(rank, set()):
                    self._rows.wait(row, on)
                known[rank] = {row}
        return ends[0], ends[1]

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _begin(self, worker: Worker, row: int, port: Channel | None = None) -> None:
        """Let a row wait for what its thread block has waited for; it is the last one then, unless a proxy does it."""
        if port is None:
            for on in worker.pending:
                self._rows.wait(row, on)
            worker.last, worker.pending = row, set()
            return
        for on in worker.ends() | ({worker.ports[port]} if port in worker.ports else set()):
            self._rows.wait(row, on)
        worker.ports[port] = row

    def _local(self, worker: Worker, kind: int, target: Range, source: Range, packets: bool = False) -> None:
        row = self._rows.add(
            kind, worker.rank, target.size, lane=worker.lane, buffer=target.buffer, start=target.start,
            source=source.buffer, other=source.start,
        )  # fmt: skip
        self._begin(worker, row)
        if packets:
            self._packets[worker.rank].append((target.start, target.start + target.size, row))

    def _put(self, worker: Worker, action: Action, source: Range, target: Range, number: int) -> None:
        channel = action.channels[min(number, len(action.channels) - 1)] if action.channels else None
        port = (channel or Channel(worker.rank, target.rank, 0)) if action.port else None
        _, recv = self.message(worker, worker.rank, target.rank, source.size, read=source, write=target, port=port)
        if action.kind in _PACKETS:
            self._packets[target.rank].append((target.start, target.start + target.size, recv))
        if action.kind == "pwsf" and port is not None:
            worker.flush(port)

    def _get(self, worker: Worker, source: Range, target: Range) -> None:
        self.message(worker, source.rank, worker.rank, source.size, read=source, write=target)

    def _sum(self, worker: Worker, action: Action, inputs: list[Range], outputs: list[Range]) -> None:
        """outputs[0] = the sum of all inputs; that goes to the other outputs, too."""
        target, own = outputs[0], [source for source in inputs if source.rank == worker.rank]
        if target in own:
            own.remove(target)
        else:
            self._local(worker, COPY, target, own.pop(0))
        for source in own:
            self._local(worker, REDUCE, target, source)
        for source in inputs:
            if source.rank != worker.rank:
                staging = self._stage(worker, source.size)
                self._get(worker, source, staging)
                self._local(worker, REDUCE, target, staging)
        for number, other in enumerate(outputs[1:]):
            if other.rank == worker.rank:
                self._local(worker, COPY, other, target, packets=True)
            else:
                self._put(worker, action, target, other, number)

    def _stage(self, worker: Worker, size: int) -> Range:
        """The thread block's place in the staging buffer."""
        key = worker.rank, worker.block
        start, room = self._staging.get(key, (0, 0))
        if room < size:
            start = self._staged[worker.rank]
            self._staged[worker.rank] += size
            self._staging[key] = start, size
        return Range(worker.rank, self._ranges.scratch + 1, start, size)

    # --- packets ------------------------------------------------------------------------------------------------------

    def _read_as_packets(self, action: Action, inputs: list[Range]) -> list[Range]:
        if action.kind in ("upkt", "rppkt"):
            return inputs[:1]
        return inputs[1:] if action.kind in ("repkt", "respkt", "recpkt", "recspkt") else []

    def _await_packets(self, worker: Worker, action: Action, inputs: list[Range]) -> None:
        """Wait for whoever writes the packets that are read. Raises Blocked until all of them are written."""
        waits: set[int] = set()
        for source in self._read_as_packets(action, inputs):
            found = [
                one
                for one in self._packets[worker.rank]
                if one[0] < source.start + source.size and source.start < one[1]
            ]
            covered = sum(min(end, source.start + source.size) - max(begin, source.start) for begin, end, _ in found)
            if covered < source.size:
                raise Blocked("nobody writes the packets that it reads")
            if covered > source.size:
                raise FormatError(f"{action.where} ({action.name}) reads packets that are written twice: expected once")
            waits |= {row for _, _, row in found}
        worker.pending |= waits
