"""The turns of the rank that leads a cell: half a round trip, a gap, a barrier, whatever its kind is.

What belongs here: what the first rank of a cell does in one turn. It tells the others how many steps follow, times them, and
decides when the cell has had enough. Not which turns there are (``course``), nor what moves (``acts``).

Bursts that move up to LEAD_IN bytes a step are all checked; of larger ones the warm-up, repeats 1, 2, 4, 8, ... of a turn
and its last, since comparing takes longer than sending.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import numpy as np

from hopline.errors import DataMismatchError
from hopline.run.burst import END, Burst, difference, packed, play, release, unpacked
from hopline.run.clock import Clock, batch_size, now, overhead
from hopline.run.comm import ORDER_TAG, SLOWEST_TAG, VERDICT_TAG
from hopline.run.ends import LEAD_IN, Cell, End
from hopline.run.kinds import BY_NAME
from hopline.run.plan import Plan, is_over

LONG_STEP = 16 * 2**20
"""Bytes of a step that is long enough by itself: 160 µs at 100 GB/s."""
REPORT_EVERY = 0.25
"""Seconds between two progress events of one turn."""

Said = dict[str, Any]


def never() -> bool:
    """Nobody asks to stop."""
    return False


@dataclass(frozen=True, slots=True)
class Turn:
    """One visit of a cell.

    Attributes
    ----------
    cell
        Its number in the list of cells.
    seconds, limit
        Time it may take and repeats it may add.
    batch
        Steps of one repeat; 0 where they are still to be found.
    before
        Times of the cell's earlier turns, in seconds.
    """

    cell: int
    seconds: float
    limit: int
    batch: int
    before: tuple[float, ...]


@dataclass(slots=True)
class Leader:
    """A rank that leads turns: yields ``turn`` events while one lasts, and a ``sample`` when it is over."""

    end: End
    plan: Plan
    clock: Clock = now
    stop: Callable[[], bool] = never
    iterations: count[int] = field(default_factory=lambda: count(1))
    reading: float | None = None

    def lead(self, cell: Cell, turn: Turn) -> Generator[Said]:
        """One turn. A DataMismatchError ends it for all ranks of the cell, and is raised on."""
        self.end.settle(cell.ranks.index(self.end.rank))
        try:
            yield from self._turn(cell, turn)
        except (DataMismatchError, GeneratorExit):
            self._order(cell, END)
            raise
        self._order(cell, END)
        release(self.end)

    def _turn(self, cell: Cell, turn: Turn) -> Generator[Said]:
        started, here = datetime.now(UTC).isoformat(), list[float]()
        end_at, report_at = self.clock() + turn.seconds, 0.0
        batch = self._warm_up(cell, turn.batch)
        per = batch * steps(cell)
        last = END
        while not (is_over(turn.before, here, self.plan, turn.limit, self.clock() >= end_at) or self.stop()):
            if self.clock() >= report_at:
                report_at = self.clock() + REPORT_EVERY
                yield {"event": "turn", "cell": turn.cell, "batch": batch, "repeats": len(turn.before) + len(here)}
            last = Burst(batch, next(self.iterations), _is_checked(cell, len(here) + 1))
            here.append(self._timed(cell, last) / per)
        if not last.check and here:
            self._compare(cell, last, ordered=False)
        timing = {"clock": self._reading() / per, "times": [round(time, 12) for time in here]}
        yield {"event": "sample", "cell": turn.cell, "batch": batch, "started": started, **timing}

    def _reading(self) -> float:
        if self.reading is None:
            self.reading = overhead(self.clock)
        return self.reading

    def _warm_up(self, cell: Cell, batch: int) -> int:
        """Send a checked burst; where the batch is not known, find it. Returns the batch."""
        self._timed(cell, Burst(1, next(self.iterations), check=True))
        if cell.size * cell.in_flight >= LONG_STEP:
            return 1
        return batch or batch_size(
            lambda steps: self._timed(cell, Burst(steps, next(self.iterations), check=False)), self._reading()
        )

    def _timed(self, cell: Cell, burst: Burst) -> float:
        """Seconds of a burst's timed steps; of the slowest rank where all start together."""
        self._order(cell, burst)
        elapsed = play(self.end, cell, burst, self.clock)
        if BY_NAME[cell.kind].together:
            elapsed = max(elapsed, *(self._heard(rank, SLOWEST_TAG, np.zeros(1))[0] for rank in cell.ranks[1:]))
        if burst.check:
            self._compare(cell, burst)
        return float(elapsed)

    def _compare(self, cell: Cell, burst: Burst, ordered: bool = True) -> None:
        """Compare what the last burst left in all inboxes; ``ordered`` where that burst's own order said so."""
        if not ordered:
            self._order(cell, Burst(0, burst.iteration, check=True))
        verdicts = [packed(difference(self.end))]
        verdicts += [self._heard(rank, VERDICT_TAG, np.zeros(3, dtype=np.int64)) for rank in cell.ranks[1:]]
        for rank, verdict in zip(cell.ranks, verdicts, strict=True):
            found = unpacked(rank, verdict)
            if found is not None:
                raise DataMismatchError(
                    f"rank {rank} received other bytes than were sent: offset {found.offset} of {cell.size} is "
                    f"0x{found.got:02x}, expected 0x{found.expected:02x} ({cell.kind}, burst {burst.iteration}); "
                    "check the memory of this machine and the MPI transport before trusting its data"
                )

    def _heard(self, rank: int, tag: int, answer: Any) -> Any:
        self.end.comm.Recv(answer, rank, tag)
        return answer

    def _order(self, cell: Cell, burst: Burst) -> None:
        for rank in cell.ranks[1:]:
            self.end.comm.Send(burst.pack(), rank, ORDER_TAG)


def steps(cell: Cell) -> int:
    """Messages one after another in one step of a cell: what a time is divided by."""
    kind = BY_NAME[cell.kind]
    return cell.in_flight if kind.windowed else kind.per


def _is_checked(cell: Cell, repeat: int) -> bool:
    """Small steps always; large ones in repeats 1, 2, 4, 8, ... (the last is checked by the turn)."""
    return cell.size * cell.in_flight <= LEAD_IN or repeat & (repeat - 1) == 0
