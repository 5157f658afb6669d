"""``check``: proves a schedule, and says what was proved, what is wrong, and what could not be looked at.

What belongs here: the order of the proofs, and when a fault makes the next ones pointless.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hopline.errors import InputError
from hopline.schedule.check import barriers, cells, deadlocks, following, forms, hazards, keeping, meetings
from hopline.schedule.check.deadlocks import Course
from hopline.schedule.check.order import AFTER, edges
from hopline.schedule.check.sorts import Sort
from hopline.schedule.faults import FAULTS, Fault
from hopline.schedule.matching import match
from hopline.schedule.operations import NONE, SEND, Schedule
from hopline.schedule.promises import Promise

Progress = Callable[[float, str], None]
BARRIER = "barrier"
"""The collective that promises no bytes, but who waits for whom."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was proved of a schedule.

    Attributes
    ----------
    name, ranks, operations, messages, size
        Of the schedule; ``size`` is the bytes of all messages.
    faults
        What is wrong, a cause before its consequences: the first of each kind, and how many more there are.
    found
        The same one by one, the first ``sorts.MOST`` of each kind.
    blocking, buffered
        Whether it comes to its end where every send blocks until its receive has begun, and where sends are buffered; None:
        not checked.
    buffers
        How many of each buffer, used in turn, keep all bytes until their readers are done: 1 where it is right as it is; None:
        not checked, or no number of buffers would.
    unchecked
        What was not proved, and why.
    """

    name: str
    ranks: int
    operations: int
    messages: int
    size: int
    faults: tuple[Fault, ...]
    blocking: bool | None
    buffered: bool | None
    buffers: int | None
    unchecked: tuple[str, ...]
    found: tuple[Fault, ...] = ()

    @property
    def right(self) -> bool:
        """Whether nothing is wrong with what was checked."""
        return not self.faults

    @property
    def proved(self) -> bool:
        """Whether all was checked, to the last byte that is promised, and nothing is wrong."""
        return self.right and not self.unchecked


def check(schedule: Schedule, *, progress: Progress | None = None) -> Checked:
    """Prove ``schedule``: form, meetings, waits, order of accesses, data. ``progress`` hears a share and what is being done.

    Nothing is sampled: each of these is exact, or told in ``unchecked``.
    """
    proof = _Proof(schedule, progress)
    proof.run()
    rank = list(FAULTS).index
    told = sorted(proof.sorts, key=lambda sort: rank(sort.told.kind))
    return Checked(
        schedule.name,
        schedule.ranks,
        len(schedule),
        schedule.messages,
        int(schedule.columns.size[schedule.columns.kind == SEND].sum()),
        tuple(sort.told for sort in told),
        proof.blocking,
        proof.buffered,
        proof.buffers,
        tuple(proof.unchecked),
        tuple(fault for sort in told for fault in sort.faults),
    )


@dataclass(slots=True)
class _Proof:
    """A check that is under way."""

    schedule: Schedule
    progress: Progress | None
    sorts: list[Sort] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    blocking: bool | None = None
    buffered: bool | None = None
    buffers: int | None = None

    def run(self) -> None:
        """One proof after the other, as far as they make sense."""
        self.sorts += forms.faults(self.schedule)
        if self.sorts:
            self.unchecked.append("meetings, waits, order of accesses and data: the schedule is malformed")
            return
        self._tell(0.05, "matching messages")
        mate = match(self.schedule)
        self.sorts += meetings.alone(self.schedule, mate)
        if self.sorts:
            self.unchecked.append("waits, order of accesses and data: messages do not meet")
            return
        self._tell(0.1, "looking for deadlock")
        course = deadlocks.course(self.schedule, mate)
        self.blocking, self.buffered = course.blocking, course.buffered
        uneven = meetings.unequal(self.schedule, mate)
        self.sorts += [*forms.rounds(self.schedule, mate), *course.faults, *uneven]
        if uneven or not course.buffered:
            reason = "sizes differ" if uneven else "it never comes to its end"
            self.unchecked.append(f"order of accesses and data: {reason}")
        else:
            self._contents(course)

    def _tell(self, share: float, what: str) -> None:
        if self.progress:
            self.progress(share, what)

    def _contents(self, course: Course) -> None:
        """Order of accesses and data, or whether a barrier holds."""
        promise = self.schedule.promise
        races = self._accesses(course) if self.schedule.buffers else None
        if promise is not None and promise.collective == BARRIER:
            self._or_told("barrier", lambda: self.sorts.extend(barriers.faults(self.schedule, course.past())))
        elif not self.schedule.buffers:
            self.unchecked.append("order of accesses and data: there are no buffers")
        elif promise is None:
            self.unchecked.append("data: nothing is promised")
        else:
            self._or_told("data", lambda: self._data(course, promise, races))

    def _or_told(self, what: str, proof: Callable[[], None]) -> None:
        """Do ``proof``; what is too large is told."""
        try:
            proof()
        except InputError as error:
            self.unchecked.append(f"{what}: too large, {error}")

    def _accesses(self, course: Course) -> hazards.Races | None:
        """The races; None: not known."""
        found: list[hazards.Races] = []
        self._tell(0.2, "ordering accesses")
        self._or_told("order of accesses", lambda: found.append(self._races(course)))
        return found[0] if found else None

    def _races(self, course: Course) -> hazards.Races:
        where = cells.line(self.schedule)
        touches = cells.touches(self.schedule, where)
        cuts = cells.distinct(np.concatenate([touches.address, touches.address + touches.size]))
        past = course.past()
        order = hazards.sequence(touches, cuts, None if course.down else past.place())
        found = hazards.races(self.schedule, order, past)
        count, whole = hazards.buffers(self.schedule, order, found, past)
        self.buffers = count if np.all(hazards.mended(self.schedule, found)) else None
        hint = f"; {'' if whole else 'at least '}{count} buffers used in turn would do"
        self.sorts += hazards.faults(self.schedule, found, where, cuts, hint)
        return found

    def _data(self, course: Course, promise: Promise, races: hazards.Races | None) -> None:
        """Follow the bytes; through races, in the order of rows, if that is an order that they can run in."""
        raced = races is not None and len(races.first) > 0
        step = course.levels(edges(races.first, races.second, AFTER) if races is not None and raced else None)
        if (raced and not course.down) or np.any(step == NONE):
            self.unchecked.append("data: it depends on who wins a race")
            return
        where = cells.line(self.schedule)
        plan = following.moves(self.schedule, course.mate, where, step, flying=not course.blocking)
        cuts = following.cut(promise, where, plan)
        state = following.begun(self.schedule, promise, where, cuts)
        following.follow(state, plan, lambda share: self._tell(0.4 + 0.6 * share, "following the bytes"))
        self.sorts += keeping.faults(self.schedule, course.mate, step, where, state, promise.wanted)
