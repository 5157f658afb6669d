"""A whole run: rank 0 hands out the turns, every other rank waits for its own.

What belongs here: which rank does what when, the time of each turn, the batch and times that a cell keeps between turns. A
turn is led by the first rank of its cell; ranks that are not in it sleep.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from hopline.errors import DataMismatchError
from hopline.run.burst import follow
from hopline.run.cells import NOTHING, Earlier, order
from hopline.run.comm import LEADER, RESULT_TAG, SHORTEST_NAP, TURN_TAG, napping, wait_for
from hopline.run.ends import Cell
from hopline.run.leading import REPORT_EVERY, Leader, Said, Turn
from hopline.run.plan import Budget

OVER = None
"""Sent in place of a turn: the run is over."""


def attend(leader: Leader, cells: Sequence[Cell]) -> None:
    """Every rank but LEADER: take part in turns, lead those of own cells, until the run is over."""
    comm = leader.end.comm
    while True:
        turn: Turn | None = wait_for(comm, LEADER, TURN_TAG)
        if turn is OVER:
            return
        cell = cells[turn.cell]
        if cell.ranks[0] == comm.rank:
            comm.send(_result(leader, cell, turn), LEADER, RESULT_TAG)
        else:
            follow(leader.end, cell)


def _result(leader: Leader, cell: Cell, turn: Turn) -> Said:
    try:
        *_, sample = leader.lead(cell, turn)
    except DataMismatchError as error:
        return {"event": "mismatch", "message": str(error)}
    return sample


@dataclass(slots=True)
class Course:
    """Rank LEADER's part: yields what all turns say, each event with its place among the turns."""

    leader: Leader
    cells: Sequence[Cell]
    earlier: Mapping[Cell, Earlier] = field(default_factory=lambda: NOTHING)
    times: dict[Cell, list[float]] = field(default_factory=lambda: defaultdict(list))
    batches: dict[tuple[str, int, int], int] = field(default_factory=dict)
    visits: dict[Cell, int] = field(default_factory=lambda: defaultdict(int))

    def run(self) -> Generator[Said]:
        """All turns. Raises DataMismatchError; KeyboardInterrupt where the leader was asked to stop."""
        plan, turns = self.leader.plan, order(self.leader.plan, self.cells, self.earlier)
        numbers = {cell: number for number, cell in enumerate(self.cells)}
        for cell, known in self.earlier.items():
            self.times[cell], self.visits[cell] = list(known.times), known.turns
        budget = Budget(plan.seconds, len(turns), self.leader.clock)
        for number, cell in enumerate(turns, 1):
            with contextlib.closing(self._turn(cell, self._made(cell, numbers[cell], budget))) as turn:
                for said in turn:
                    yield {**said, "turn": number, "turns": len(turns), "used": budget.used}
            if self.leader.stop():
                raise KeyboardInterrupt

    def end(self) -> None:
        """Tell all ranks that the run is over."""
        comm = self.leader.end.comm
        for rank in range(1, comm.size):
            comm.send(OVER, rank, TURN_TAG)

    def _made(self, cell: Cell, number: int, budget: Budget) -> Turn:
        before = tuple(self.times[cell])
        limit = self.leader.plan.turn_limit(len(before), min(self.visits[cell], self.leader.plan.passes - 1))
        seconds = budget.end_of_turn() - self.leader.clock()
        return Turn(number, seconds, limit, self.batches.get(_alike(cell), 0), before)

    def _turn(self, cell: Cell, turn: Turn) -> Generator[Said]:
        comm = self.leader.end.comm
        for rank in cell.ranks:
            if rank != LEADER:
                comm.send(turn, rank, TURN_TAG)
        if cell.ranks[0] == LEADER:
            events = self.leader.lead(cell, turn)
        else:
            if LEADER in cell.ranks:
                follow(self.leader.end, cell)
            events = self._awaited(cell, turn)
        with contextlib.closing(events):
            for said in events:
                if said["event"] == "sample":
                    self._keep(cell, said)
                if said.get("times") != []:
                    yield said

    def _keep(self, cell: Cell, said: Said) -> None:
        self.times[cell] += said["times"]
        self.visits[cell] += 1
        self.batches.setdefault(_alike(cell), said["batch"])

    def _awaited(self, cell: Cell, turn: Turn) -> Generator[Said]:
        """The sample of a turn that another rank leads, with a sign of life now and then."""
        comm, lead = self.leader.end.comm, cell.ranks[0]
        nap, report_at = SHORTEST_NAP, 0.0
        try:
            while not comm.iprobe(lead, RESULT_TAG):
                if self.leader.clock() >= report_at:
                    report_at = self.leader.clock() + REPORT_EVERY
                    yield {"event": "turn", "cell": turn.cell, "batch": turn.batch, "repeats": len(turn.before)}
                nap = napping(nap)
        except GeneratorExit:
            comm.recv(source=lead, tag=RESULT_TAG)
            raise
        said: Said = comm.recv(source=lead, tag=RESULT_TAG)
        if said["event"] == "mismatch":
            raise DataMismatchError(said["message"])
        yield said


def _alike(cell: Cell) -> tuple[str, int, int]:
    """What cells have in common that share a batch."""
    return cell.kind, cell.size, len(cell.ranks)
