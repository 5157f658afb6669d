"""A schedule in the making: messages and copies round by round, with the order between them worked out.

What belongs here: from arrays of messages to columns. Which messages a collective needs is ``collectives``.

A rank goes through its rounds one after the other, as MPI_Sendrecv or one step of an NCCL kernel does: what it sends waits
for all that it received in earlier rounds, what it receives waits for all that it sent in earlier rounds, and inside a round
it sends and receives at once. A Reduce also waits for what its rank sends in the same round. Channels are apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hopline.errors import InputError
from hopline.schedule.growing import Growing
from hopline.schedule.operations import COPY, FREE, NONE, RECV, REDUCE, SEND, Buffer, Index, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise

BLOCK = 1 << 17
"""Messages that are written at a time, so that what lies between stays small."""
Ends = tuple[Ints, Ints]
"""Channel and rank of each message's end."""


class Draft:
    """Rows so far, and the last one of each rank's lanes."""

    def __init__(self, name: str, ranks: int, buffers: tuple[Buffer, ...], promise: Promise | None) -> None:
        self.name, self.ranks, self.buffers, self.promise = name, ranks, buffers, promise
        self._columns = Growing()
        self._rounds: list[int] = []
        self._out: Index = np.full((1, ranks), NONE, np.int32)
        self._in: Index = self._out.copy()

    def begin_round(self) -> None:
        """What follows belongs to a new round (for simulations and formulas that go round by round)."""
        if not self._rounds or self._rounds[-1] != len(self._columns):
            self._rounds.append(len(self._columns))

    def received(self, channel: int = 0) -> Index:
        """Row of the last operation that each rank received, reduced or copied with on ``channel``; NONE: no such row."""
        got: Index = self._lanes(channel)[1][channel]
        return got.copy()

    def sent(self, channel: int = 0) -> Index:
        """Row of the last operation that each rank sent on ``channel``; NONE: no such row."""
        out: Index = self._lanes(channel)[0][channel]
        return out.copy()

    def messages(
        self,
        sender: ArrayLike,
        receiver: ArrayLike,
        start: ArrayLike,
        size: ArrayLike,
        *,
        to: ArrayLike | None = None,
        buffer: int = 0,
        into: int | None = None,
        reduce: bool = False,
        channel: int | Ints = 0,
        wait: bool | Index = True,
        after: Index | None = None,
    ) -> None:
        """Messages of one round that go on at once; arrays, of channels too, that broadcast to one shape (messages,).

        Parameters
        ----------
        start, size
            Bytes of ``buffer`` that are sent.
        to, into
            Where they arrive: first byte (None: ``start``) and buffer (None: ``buffer``).
        reduce
            The receiver then adds what arrived to the same bytes of ``buffer``; ``into`` must be another buffer. Each stands
            below its Recv, or all below all Recvs where one waits for a Send of these messages that stands further down.
        wait
            False: a Recv does not wait for what its rank sent before. By rank, rows that Recvs wait for instead.
        after
            By rank, rows that Sends wait for instead of the last row received on this channel.
        """
        to = start if to is None else to
        into = buffer if into is None else into
        parts = np.broadcast_arrays(
            *(np.asarray(value, np.int64) for value in (sender, receiver, start, size, to, channel))
        )
        source, target, first, sizes, there, way = (np.ravel(part) for part in parts)
        if not len(source):
            return
        out, got = self._lanes(way)
        sent = wait[target] if isinstance(wait, np.ndarray) else out[way, target] if wait else NONE
        waits = {"after": got[way, source] if after is None else after[source]}, {"after": sent}
        lanes = {"lane": 2 * way}, {"lane": 2 * way + 1}
        ends: list[dict[str, Any]] = [
            {"kind": SEND, "buffer": buffer, "rank": source, "peer": target, "start": first, "size": sizes}
            | {"other": way, **lanes[0], **waits[0]},
            {"kind": RECV, "buffer": into, "rank": target, "peer": source, "start": there, "size": sizes}
            | {"other": way, **lanes[1], **waits[1]},
        ]
        number = np.arange(len(source), dtype=np.int32)
        goes = np.full(out.shape, NONE, np.int32)
        goes[way, source] = number
        own = goes[way, target]
        apart = reduce and bool((own > number).any())
        width = 3 if reduce and not apart else 2
        rows = len(self._columns) + width * number
        out[way, source] = rows
        if reduce:
            after_own = np.where(own == NONE, NONE, len(self._columns) + width * own)
            summed = {"kind": REDUCE, "buffer": buffer, "source": into, "rank": target, "start": there, "other": there}
            ends.append(summed | {"size": sizes, "after": after_own, **lanes[1]})
        got[way, target] = len(self._columns) + 2 * len(source) + number if apart else rows + width - 1
        self._columns.add(source.shape, ends[:width])
        if apart:
            self._columns.add(source.shape, ends[2:])

    def steady(
        self,
        sender: Ints,
        receiver: Ints,
        start: Ints,
        size: Ints,
        *,
        reduce: bool = False,
        channel: int | Ints = 0,
        wait: Index | None = None,
        after: Index | None = None,
    ) -> None:
        """Rounds in which the same senders send to the same receivers, each rank once on a channel: as rings do.

        ``sender``, ``receiver``: shape (messages,), each a set of the same ranks on each ``channel``. ``start``, ``size``:
        shape (rounds, messages), bytes of buffer 0 that are sent to the same place of buffer 0, or to buffer 1 and added from
        there (``reduce``). A rank never reduces in a round what it sends in it. ``wait``, ``after``: by rank, rows that Recvs
        and Sends of the first round wait for instead of the last ones sent and received on their channel.
        """
        rounds, count = start.shape
        if not rounds * count:
            return
        self._columns.reserve((3 if reduce else 2) * rounds * count)
        way = np.broadcast_to(np.asarray(channel, np.int64), sender.shape)
        step = max(1, BLOCK // count)
        for low in range(0, rounds, step):
            pieces = start[low : low + step], size[low : low + step]
            self._steady_block((way, sender), (way, receiver), pieces, reduce, wait, after)
            wait = after = None

    def _steady_block(
        self, sends: Ends, recvs: Ends, pieces: tuple[Ints, Ints], reduce: bool, wait: Index | None, after: Index | None
    ) -> None:
        """Some of the rounds of ``steady``."""
        width = 3 if reduce else 2
        (rounds, count), way = pieces[0].shape, sends[0]
        rows = len(self._columns) + width * np.arange(rounds * count, dtype=np.int32).reshape(rounds, count)
        after_send, after_recv = self._steadily(rows, sends, recvs, width - 1, wait, after)
        piece = {"other": way, "start": pieces[0], "size": pieces[1]}
        send = {"kind": SEND, "buffer": 0, "rank": sends[1], "peer": recvs[1], "lane": 2 * way, "after": after_send}
        recv = {"kind": RECV, "buffer": int(reduce), "rank": recvs[1], "peer": sends[1], "after": after_recv}
        ends: list[dict[str, Any]] = [send | piece, recv | piece | {"lane": 2 * way + 1}]
        if reduce:
            summed = {"kind": REDUCE, "buffer": 0, "source": 1, "rank": recvs[1], "lane": 2 * way + 1}
            ends.append(summed | piece | {"other": pieces[0]})
        self._rounds += rows[:, 0].tolist()
        self._columns.add(rows.shape, ends)

    def _steadily(
        self, rows: Index, sends: Ends, recvs: Ends, last: int, wait: Index | None, after: Index | None
    ) -> tuple[Index, Index]:
        """What Sends and Recvs wait for, row by row, where each round has those of the first in the same order.

        ``rows``: of the Sends, shape (rounds, messages); ``last``: rows from a Send to the last one of its message.
        """
        out, got = self._lanes(sends[0])
        came, goes = np.empty(out.shape, np.intp), np.empty(out.shape, np.intp)
        came[recvs] = goes[sends] = np.arange(rows.shape[1])
        first_send = got[sends] if after is None else after[sends[1]]
        first_recv = out[recvs] if wait is None else wait[recvs[1]]
        after_send = np.vstack([first_send[None], rows[:-1, came[sends]] + last])
        after_recv = np.vstack([first_recv[None], rows[:-1, goes[recvs]]])
        out[sends], got[recvs] = rows[-1], rows[-1] + last
        return after_send, after_recv

    def copies(
        self,
        rank: ArrayLike,
        start: ArrayLike,
        size: ArrayLike,
        other: ArrayLike,
        *,
        buffer: int,
        source: int,
        channel: int = 0,
        wait: bool = True,
    ) -> None:
        """``size`` bytes from ``other`` of ``source`` to ``start`` of ``buffer``, on the lane that receives."""
        parts = np.broadcast_arrays(*(np.asarray(value, np.int64) for value in (rank, start, size, other)))
        who, first, sizes, there = (np.ravel(part) for part in parts)
        if not len(who):
            return
        out, got = self._lanes(channel)
        waits = out[channel, who] if wait else NONE
        got[channel, who] = len(self._columns) + np.arange(len(who), dtype=np.int32)
        row: dict[str, Any] = {
            "kind": COPY,
            "buffer": buffer,
            "source": source,
            "rank": who,
            "start": first,
            "size": sizes,
        }
        self._columns.add(who.shape, [row | {"other": there, "after": waits, "lane": 2 * channel + 1}])

    def made(self) -> Schedule:
        """The schedule."""
        rounds: Ints = np.array(self._rounds, np.int64)
        return Schedule(self.name, self.ranks, self._columns.columns(), self.buffers, self.promise, rounds)

    def _lanes(self, channel: ArrayLike) -> tuple[Index, Index]:
        """Last rows sent and received, shape (channels, ranks), with room for ``channel``."""
        last = int(np.max(channel))
        if last >= FREE // 2:
            raise InputError(f"{last + 1} channels: expected at most {FREE // 2}")
        if (more := last + 1 - len(self._out)) > 0:
            unused = np.full((more, self.ranks), NONE, np.int32)
            self._out, self._in = np.vstack([self._out, unused]), np.vstack([self._in, unused])
        return self._out, self._in
