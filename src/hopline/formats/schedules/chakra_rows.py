"""What the nodes of Chakra traces become: rows for computations and messages, whole schedules for collectives.

What belongs here: one schedule from the traces of all ranks.

- Only ``data_deps`` are an order, as in Chakra's own feeder; ``ctrl_deps`` name the calling operation.
- ``duration_micros`` is the time of a computation; a trace that gives ``num_ops`` instead needs a model of the device.
- The collectives of a rank go one after the other, in the order of its file, as on one stream. What else nothing orders may
  go on at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.schedules import chakra_groups
from hopline.formats.schedules.chakra_groups import MOST_BYTES, Collective
from hopline.formats.schedules.chakra_nodes import Node, Trace
from hopline.formats.schedules.chakra_order import ENDS, Key, ordered
from hopline.formats.schedules.contents import Expand
from hopline.formats.schedules.order import before_on_lane
from hopline.formats.schedules.rows import Rows
from hopline.formats.source import shown
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COMPUTE, NONE, RECV, SEND, Buffer, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.shape import Shape

MICROSECOND = 1_000_000
"""In picoseconds."""
MOST_TAG = (1 << 32) - 1
ALGORITHMS = {
    "all_reduce": "ring", "all_gather": "ring", "reduce_scatter": "ring", "alltoall": "pairwise", "broadcast": "binomial",
    "reduce": "binomial", "gather": "binomial", "scatter": "binomial", "barrier": "dissemination",
}  # fmt: skip
"""What a collective becomes where nothing else is asked for."""
_LONGEST = (1 << 62) // MICROSECOND


def expand(benchmark: str, ranks: int, size: int) -> Schedule:
    """The schedule of a collective by the algorithm in ALGORITHMS. Raises FormatError where there is none."""
    name = f"{benchmark}-{ALGORITHMS.get(benchmark, '')}"
    if name not in COLLECTIVES:
        raise FormatError(f"no algorithm is set for {benchmark}: choose one of {', '.join(COLLECTIVES)}")
    return COLLECTIVES[name].build(Shape(ranks, size))


@dataclass(frozen=True, slots=True)
class _Made:
    """A collective's schedule; by its ranks, rows that begin it and rows that end it."""

    schedule: Schedule
    begins: list[list[int]]
    ends: list[list[int]]
    tags: int


class Composition:
    """The traces of all ranks as one schedule. Raises FormatError."""

    def __init__(self, name: str, traces: list[Trace], collective: Expand | None = None) -> None:
        self._name, self._traces, self._expand = name, traces, collective or expand
        self._rows = Rows()
        self._collectives = chakra_groups.collectives(traces)
        self._of = {(rank, node): one for one in self._collectives for rank, node in one.nodes.items()}
        self._nodes = {(rank, node.id): node for rank, trace in enumerate(traces) for node in trace.nodes}
        self._keys = list(self._nodes)
        self._marks = {key: number for number, key in enumerate(self._keys)}
        self._messages = any(node.type in ENDS for node in self._nodes.values())
        self._ends: dict[Key, list[int]] = {}
        """Node -> rows after which it is done."""
        self._last: list[list[int]] = [[] for _ in traces]
        """Rank -> rows after which its last collective is done."""
        self._used = {SEND: [0] * len(traces), RECV: [0] * len(traces)}
        """Bytes of each rank's messages so far: each has a place of its own in the buffers."""
        self._made: dict[tuple[str, int, int], _Made] = {}

    def schedule(self) -> tuple[Schedule, Ints]:
        """The schedule and the mark of each row: of one collective of all ranks and nothing else its own, with its promise."""
        ranks, others = len(self._traces), set(self._nodes) - set(self._of)
        if len(self._collectives) == 1 and all(self._nodes[key].type == "METADATA" for key in others):
            sole = self._collectives[0]
            if len(sole.nodes) == ranks:
                made = self._built(sole).schedule
                return made, np.array([self._marks[key] for key in sorted(sole.nodes.items())])[made.columns.rank]
        tag = 1 + max((self._nodes[key].number("comm_tag", 0) for key in others if self._talks(key)), default=0)
        for unit in ordered(self._name, self._traces, self._nodes, self._collectives):
            if isinstance(unit, Collective):
                tag += self._whole(unit, tag)
            else:
                self._single(*unit)
        return self._rows.made(self._name, ranks, self._buffers())

    def place(self, mark: int) -> str:
        """Where a node stands: ``rank 2 node 17 'name'``."""
        key = self._keys[mark]
        name = excerpt(self._nodes[key].name.encode(), 40)
        return f"rank {key[0]} node {key[1]}" + (f" {name!r}" if name else "")

    def remarks(self) -> tuple[str, ...]:
        """What was understood from the traces; once ``schedule`` was made."""
        names = sorted({made.schedule.name for made in self._made.values()})
        out = chakra_groups.told(chakra_groups.groups(self._traces))
        if names:
            out.append(f"collectives are only named in the traces: they become {', '.join(names)}")
        larger = next((one for one in self._collectives if one.benchmark in chakra_groups.FROM_EACH), None)
        if larger:
            out.append(
                f"comm_size is what each rank puts in, as in ASTRA-sim: {larger.benchmark} of {len(larger.nodes)} ranks by "
                f"{larger.size // len(larger.nodes)} bytes is one of {larger.size} as benchmarks count"
            )
        if any(node.control for node in self._nodes.values()):
            out.append("ctrl_deps name the calling operation and are no order: only data_deps are")
        return tuple(out)

    def _talks(self, key: Key) -> bool:
        return self._nodes[key].type in ENDS

    def _wrong(self, rank: int, what: str) -> FormatError:
        return FormatError(f"{shown(self._traces[rank].path)}: {what}")

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _single(self, rank: int, number: int) -> None:
        """A node that is no collective."""
        node, self._rows.mark = self._nodes[rank, number], self._marks[rank, number]
        waits = [row for on in node.data for row in self._ends[rank, on]]
        row = self._message(rank, node) if self._talks((rank, number)) else self._computation(rank, node)
        self._ends[rank, number] = waits if row is None else [row]
        for on in waits if row is not None else ():
            self._rows.wait(row, on)  # type: ignore[arg-type]

    def _computation(self, rank: int, node: Node) -> int | None:
        if node.type == "METADATA":
            return None
        if node.type not in ("COMP", "MEM_LOAD", "MEM_STORE", "COMM_COLL"):
            raise self._wrong(rank, f"node {node.id} is of type {node.type}: expected one that does something")
        work = "num_ops" if node.type == "COMP" else "tensor_size"
        if not node.duration and node.number(work, 0):
            raise self._wrong(
                rank, f"node {node.id} gives {work} and no duration_micros: what it takes is not known here"
            )
        if node.duration > _LONGEST:
            raise self._wrong(rank, f"node {node.id} takes {node.duration} us: expected at most {_LONGEST}")
        return self._rows.add(COMPUTE, rank, node.duration * MICROSECOND)

    def _message(self, rank: int, node: Node) -> int:
        kind, far, near = ENDS[node.type]
        peer, size = node.number(far), node.number("comm_size")
        if not 0 <= peer < len(self._traces) or peer == rank:
            raise self._wrong(
                rank, f"node {node.id} has {far} {peer}: expected another rank from 0 to {len(self._traces) - 1}"
            )
        if node.number(near, rank) != rank:
            raise self._wrong(rank, f"node {node.id} has {near} {node.number(near)}: expected its own rank, {rank}")
        for name, value, most in (("comm_size", size, MOST_BYTES), ("comm_tag", node.number("comm_tag", 0), MOST_TAG)):
            if not 0 <= value <= most:
                raise self._wrong(rank, f"node {node.id} has {name} {value}: expected 0 to {most}")
        used = self._used[kind]
        start, used[rank] = used[rank], used[rank] + size
        placed = bool(self._collectives)
        return self._rows.add(
            kind, rank, size, buffer=int(placed and kind == RECV), start=start if placed else 0, peer=peer,
            other=node.number("comm_tag", 0),
        )  # fmt: skip

    def _whole(self, one: Collective, tag: int) -> int:
        """All rows of a collective; how many tags it takes."""
        made, members = self._built(one), one.members
        marks = np.array([self._marks[rank, one.nodes[rank]] for rank in members])
        buffers = 2 if self._messages else 0
        first = self._rows.extend(made.schedule, np.array(members, np.int32), tag, marks, buffers)
        for place, rank in enumerate(members):
            node = self._nodes[rank, one.nodes[rank]]
            waits = {*self._last[rank], *(row for on in node.data for row in self._ends[rank, on])}
            for row in made.begins[place]:
                for on in waits:
                    self._rows.wait(first + row, on)
            ends = [first + row for row in made.ends[place]] or sorted(waits)
            self._ends[rank, node.id] = self._last[rank] = ends
        return made.tags

    def _built(self, one: Collective) -> _Made:
        key = one.benchmark, len(one.nodes), one.size
        if key not in self._made:
            self._made[key] = _edges(self._expand(*key))
        return self._made[key]

    def _buffers(self) -> tuple[Buffer, ...]:
        """Of messages, then of collectives; none where nothing but messages uses them."""
        if not self._made:
            return ()
        names = [("sent", max(self._used[SEND])), ("received", max(self._used[RECV]))] if self._messages else []
        rooms: dict[int, tuple[str, int]] = {}
        for made in self._made.values():
            for number, buffer in enumerate(made.schedule.buffers):
                name, size = rooms.get(number, (buffer.name, 0))
                rooms[number] = name, max(size, buffer.size)
        return tuple(Buffer(name, size) for name, size in [*names, *rooms.values()])


def _edges(schedule: Schedule) -> _Made:
    """Rows of each rank that wait for no other, and rows that no other waits for."""
    columns = schedule.columns
    lane = before_on_lane(columns.rank, columns.lane)
    waits = np.zeros(len(schedule), np.bool_)
    waits[(lane != NONE) | (columns.after != NONE)] = True
    waits[schedule.more[:, 0]] = True
    awaited = np.zeros(len(schedule), np.bool_)
    for rows in (lane[lane != NONE], columns.after[columns.after != NONE], schedule.more[:, 1]):
        awaited[rows] = True
    by_rank = []
    for chosen in (~waits, ~awaited):
        parts: list[list[int]] = [[] for _ in range(schedule.ranks)]
        for row in np.flatnonzero(chosen).tolist():
            parts[columns.rank[row]].append(row)
        by_rank.append(parts)
    tags = columns.other[columns.peer != NONE]
    return _Made(schedule, by_rank[0], by_rank[1], 1 + int(tags.max(initial=0)))
