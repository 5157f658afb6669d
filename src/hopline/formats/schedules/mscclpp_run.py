"""What the operations of an MSCCL++ plan become: the plan is gone through as its thread blocks would, without a clock.

What belongs here: who waits for whom. Thread blocks go on in turn, each until it has to wait. What an operation moves is
``mscclpp_moves``. The meaning of operations is that of ``src/core/include/execution_kernel.hpp``:

- A signal is a message of 0 bytes. It arrives whatever its receiver does, behind all that the sender is known to have put
  there before; a wait is for its arrival.
- What a thread block knows to be done on other ranks (puts that it, or one it has heard from, made) goes with its signals.
- A barrier, a semaphore and, in older files, the deps of a nop order the thread blocks of one GPU.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.schedules.mscclpp_moves import Blocked, Moves, Worker
from hopline.formats.schedules.mscclpp_parts import ORDER, Action, Channel, Execution
from hopline.formats.schedules.promised import Layout
from hopline.formats.schedules.rows import Rows
from hopline.schedule.operations import FREE, Schedule
from hopline.schedule.pieces import Ints
from hopline.schedule.promises import Promise

_SIGNALS = ("signal", "rlxsignal", "pws", "pwsf")
_WAITS = ("wait", "rlxwait")
Knowledge = dict[int, set[int]]
"""Rank -> rows there that are known to be done."""


@dataclass(slots=True)
class _Meeting:
    """A barrier: how many come, and who has."""

    expected: int
    open: bool = False
    come: list[Worker] = field(default_factory=list)


class Run:
    """The rows of a plan, made by going through it."""

    def __init__(self, plan: Execution, layout: Layout) -> None:
        self._plan = plan
        self.rows = Rows()
        self._at: list[tuple[int, int, int]] = []
        """GPU, thread block and place of the operations as they are done; a mark of ``rows`` is a number here."""
        self._moves = Moves(self.rows, plan, layout)
        self._workers = {
            (rank, block): Worker(rank, block, _lane(number, len(gpu.blocks)), actions)
            for rank, gpu in enumerate(plan.gpus)
            for number, (block, actions) in enumerate(gpu.blocks.items())
        }
        self._signals: dict[Channel, list[tuple[int, Knowledge]]] = defaultdict(list)
        """By the receiver's end: the Recv, and what is known with it."""
        self._taken: dict[Channel, int] = defaultdict(int)
        self._meetings: dict[tuple[int, int, int], _Meeting] = {}
        self._released: dict[tuple[int, int], list[tuple[set[int], Knowledge]]] = defaultdict(list)
        self._acquired: dict[tuple[int, int], int] = defaultdict(int)
        self._check_users()
        self._wanted = self._waits_of()
        self._go()

    def made(self, name: str, promise: Promise | None) -> tuple[Schedule, Ints]:
        """The schedule, and the number of the operation of each row."""
        return self.rows.made(name, len(self._plan.gpus), self._moves.buffers(), promise)

    def place(self, number: int) -> str:
        """Where an operation stands: ``gpu 0 threadblock 1 op 3``."""
        rank, block, step = self._at[number]
        return f"gpu {rank} threadblock {block} op {step}"

    def _go(self) -> None:
        """Go on with each thread block in turn until all are done. Raises FormatError where none can."""
        going = list(self._workers.values())
        while going:
            before = sum(worker.at for worker in going)
            for worker in going:
                self._advance(worker)
            if sum(worker.at for worker in going) == before:
                stuck = next(worker for worker in going if worker.at < len(worker.actions))
                raise FormatError(
                    f"{stuck.actions[stuck.at].where} ({stuck.actions[stuck.at].name}) waits for ever: {stuck.why}"
                )
            going = [worker for worker in going if worker.at < len(worker.actions)]

    def _advance(self, worker: Worker) -> None:
        while worker.at < len(worker.actions):
            action = worker.actions[worker.at]
            self.rows.mark = len(self._at)
            try:
                self._do(worker, action)
            except Blocked as blocked:
                worker.why = str(blocked)
                return
            self._at.append((worker.rank, worker.block, worker.at))
            worker.at += 1
            worker.done.append(frozenset(worker.ends()))

    def _do(self, worker: Worker, action: Action) -> None:
        for block, step in action.waits:
            self._after_step(worker, block, step, action)
        if action.kind in _WAITS:
            self._wait(worker, action)
        elif action.kind == "barrier":
            self._meet(worker, action)
        elif action.kind == "sem_acquire":
            self._acquire(worker, action)
        elif action.kind == "sem_release":
            for number in action.semaphores:
                self._released[worker.rank, number].append((worker.ends(), _copied(worker.known)))
        elif action.kind == "flush":
            for channel in action.channels:
                worker.flush(channel)
        elif action.kind not in ORDER:
            self._moves.do(worker, action)
        if action.kind in _SIGNALS:
            for channel in action.channels:
                self._signal(worker, channel, action.port)

    # --- signals ------------------------------------------------------------------------------------------------------

    def _waits_of(self) -> dict[Channel, int]:
        """How many waits each end of a channel has."""
        counts: dict[Channel, int] = defaultdict(int)
        for worker in self._workers.values():
            for action in worker.actions:
                for channel in action.channels if action.kind in _WAITS else ():
                    counts[channel] += 1
        return counts

    def _signal(self, worker: Worker, channel: Channel, port: bool) -> None:
        """A message without bytes, where the other end ever waits for it."""
        there = Channel(channel.peer, channel.rank, channel.number)
        turn = len(self._signals[there])
        known = _copied(worker.known)
        for rank, rows in worker.behind.get(channel, {}).items() if port else ():
            known.setdefault(rank, set()).update(rows)
        if turn < self._wanted[there]:
            tag = 2 * channel.number + 1
            send, recv = self._moves.message(
                worker, worker.rank, channel.peer, 0, tag=tag, port=channel if port else None
            )
            known[worker.rank] = {send}
            self._signals[there].append((recv, known))

    def _wait(self, worker: Worker, action: Action) -> None:
        for channel in action.channels:
            if self._taken[channel] >= len(self._signals[channel]):
                raise Blocked(f"no signal of gpu {channel.peer} is left for it")
        for channel in action.channels:
            row, known = self._signals[channel][self._taken[channel]]
            self._taken[channel] += 1
            worker.pending.add(row)
            worker.learn(known)

    # --- inside of a GPU ----------------------------------------------------------------------------------------------

    def _meet(self, worker: Worker, action: Action) -> None:
        number, expected = action.barrier or (0, 1)
        key = worker.rank, number, worker.met.get(number, 0)
        meeting = self._meetings.setdefault(key, _Meeting(expected))
        if worker not in meeting.come:
            meeting.come.append(worker)
        if len(meeting.come) < meeting.expected:
            raise Blocked(f"{len(meeting.come)} of {meeting.expected} thread blocks come to its barrier")
        if not meeting.open:
            meeting.open = True
            ends = set().union(*(one.ends() for one in meeting.come))
            known = [_copied(one.known) for one in meeting.come]
            for one in meeting.come:
                one.pending |= ends
                for facts in known:
                    one.learn(facts)
        worker.met[number] = worker.met.get(number, 0) + 1

    def _acquire(self, worker: Worker, action: Action) -> None:
        first = self._plan.gpus[worker.rank].semaphores
        turns = {}
        for number in action.semaphores:
            turn = self._acquired[worker.rank, number] - (first[number] if number < len(first) else 0)
            if turn >= len(self._released[worker.rank, number]):
                raise Blocked(f"nothing releases its semaphore {number}")
            turns[number] = turn
        for number, turn in turns.items():
            self._acquired[worker.rank, number] += 1
            if turn >= 0:
                ends, known = self._released[worker.rank, number][turn]
                worker.pending |= ends
                worker.learn(known)

    def _after_step(self, worker: Worker, block: int, step: int, action: Action) -> None:
        other = self._workers.get((worker.rank, block))
        if other is None or step >= len(other.actions) or step < 0:
            raise FormatError(f"{action.where} waits for step {step} of thread block {block}, which is not there")
        if other is worker and step >= worker.at:
            raise FormatError(f"{action.where} waits for step {step} of its own thread block: expected an earlier one")
        if step >= other.at:
            raise Blocked(f"step {step} of thread block {block} is not done")
        worker.pending |= other.done[step]
        worker.learn(other.known)

    def _check_users(self) -> None:
        """Raise FormatError where thread blocks share an end of a channel or a semaphore: whose turn it is is not told."""
        users: dict[object, Worker] = {}
        for worker in self._workers.values():
            for action in worker.actions:
                does = "signals" if action.kind in _SIGNALS else "waits" if action.kind in _WAITS else ""
                ends = [(does, channel) for channel in action.channels if does]
                ends += [(action.kind, (worker.rank, number)) for number in action.semaphores]  # type: ignore[misc]
                for end in ends:
                    if users.setdefault(end, worker) is not worker:
                        raise FormatError(
                            f"{action.where} ({action.name}) shares its channel or semaphore with thread block "
                            f"{users[end].block}: which of them comes first is known only when it runs"
                        )


def _lane(number: int, count: int) -> int:
    """A channel's own lane for each thread block, as long as there are enough."""
    if count > FREE:
        raise FormatError(f"a gpu has {count} thread blocks: expected at most {FREE}")
    return 2 * number if 2 * count <= FREE else number


def _copied(known: Knowledge) -> Knowledge:
    return {rank: set(rows) for rank, rows in known.items()}
