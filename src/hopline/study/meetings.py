"""Meetings: who came when to each collective, who was last, and what of the time was transfer.

What belongs here: arrivals and transfer on one clock. Which collectives are the same is ``study/matching``, clocks are
``study/clocks``.

Where every rank waits for all, no rank is done before the last has come, and then all need about the same time: the shortest
of the kernels is the transfer, whatever the clocks say. It is too long where the last to come was also late to end; then the
time from the last arrival to the common end says less, and counts where it says less by more than the clocks' error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopline.records.matched import Match, Matched
from hopline.records.meeting import Clocks, Meeting
from hopline.records.trace import WAITS_FOR_ALL, Nanoseconds, Trace
from hopline.study.clocks import solve
from hopline.study.groups import ranks_text
from hopline.study.matching import match


def meetings(traces: Sequence[Trace]) -> tuple[Meeting, ...]:
    """Collectives that at least two traces have, in the order of their ends on the common clock.

    Raises
    ------
    InputError
        Two traces are of one rank, or of jobs of different size.
    """
    return meet(traces).shared


def meet(traces: Sequence[Trace]) -> Matched:
    """All collectives of several traces, the clocks that bring them together, and what did not match.

    Raises
    ------
    InputError
        Two traces are of one rank, or of jobs of different size.
    """
    matches, told = match(traces)
    clocks = solve(traces, matches)
    told = (*told, *_of_clocks(traces, clocks))
    by_traces: dict[bytes, list[Match]] = defaultdict(list)
    for one in matches:
        by_traces[one.traces.tobytes()].append(one)
    blocks = [_Arrivals.of(traces, clocks, group) for group in by_traces.values()]
    found = sorted(
        (meeting for block in blocks for meeting in block.meetings()), key=lambda m: (int(m.end.max()), m.number)
    )
    against = sum(int(block.against.sum()) for block in blocks)
    early = sum(block.early() for block in blocks)
    if against:
        told += (f"{_many(against, 'collective')} ended on one rank before the last had come: not one collective, or clocks "
                 "that jump; of these no transfer is told",)  # fmt: skip
    if early:
        told += (
            f"{_many(early, 'message')} arrived before being sent: clocks that jump, or ends that do not belong together",
        )
    return Matched(tuple(found), clocks, told)


def _many(count: int, noun: str) -> str:
    """``1 message``, ``2 messages``."""
    return f"{count} {noun}{'s' if count != 1 else ''}"


@dataclass(frozen=True, slots=True, eq=False)
class _Arrivals:
    """Collectives that the same traces have, on the common clock; one row each, one column a trace.

    ``error`` is that of each trace's clock, shape (k,); ``waits`` says where transfer can be told, ``against`` where times
    contradict that all waited for all, shape (n,).
    """

    matches: Sequence[Match]
    start: Nanoseconds
    end: Nanoseconds
    error: Nanoseconds
    waits: NDArray[np.bool_]
    against: NDArray[np.bool_]

    @classmethod
    def of(cls, traces: Sequence[Trace], clocks: Clocks, matches: Sequence[Match]) -> _Arrivals:
        """Bring the times of ``matches`` together."""
        members = matches[0].traces.tolist()
        rows = np.array([one.row for one in matches])
        start, end = (
            np.stack(
                [clocks.common(t, getattr(traces[t].events, side)[rows[:, k]]) for k, t in enumerate(members)], axis=1
            )
            for side in ("start", "end")
        )
        error = clocks.error[members]
        whole = np.array([one.complete and one.op in WAITS_FOR_ALL for one in matches])
        together = len(members) > 1 and len(set(clocks.part[members].tolist())) == 1
        all_wait = np.array([one.op in WAITS_FOR_ALL for one in matches]) & together
        against = all_wait & np.any(end + error < (start - error).max(axis=1, keepdims=True), axis=1)
        return cls(matches, start, end, error, whole & together & ~against, against)

    def early(self) -> int:
        """How many messages arrived before they were sent."""
        if self.matches[0].op != "send" or self.start.shape[1] != 2:
            return 0
        sent = np.array([one.op == "send" for one in self.matches])
        return int((sent & (self.end[:, 1] + self.error.sum() < self.start[:, 0])).sum())

    def meetings(self) -> Iterator[Meeting]:
        """One by one."""
        who = self.start.argmax(axis=1)
        each = np.arange(len(who))
        came = self.start[each, who]
        margin = came - np.sort(self.start, axis=1)[:, -2] if self.start.shape[1] > 1 else np.zeros_like(came)
        close = self.start + np.hypot(self.error, self.error[who][:, None]) > came[:, None]
        close[each, who] = False
        transfer = self._transfer(who, came).tolist()
        for k, one in enumerate(self.matches):
            seen = (
                one.op,
                one.group,
                one.number,
                one.traces,
                one.row,
                self.start[k],
                self.end[k],
                one.missing,
                one.size,
                one.ranks,
            )
            if not self.waits[k]:
                yield Meeting(*seen)
                continue
            rivals = tuple(one.traces[close[k]].tolist()) if close[k].any() else ()
            yield Meeting(*seen, transfer[k], int(one.traces[who[k]]), int(margin[k]), rivals)

    def _transfer(self, who: NDArray[np.intp], came: Nanoseconds) -> Nanoseconds:
        """Nanoseconds after the last had come, shape (n,)."""
        shortest = (self.end - self.start).min(axis=1)
        after = np.sort(self.end, axis=1)[:, (self.end.shape[1] - 1) // 2] - came
        return np.asarray(np.where(after < shortest - self.error[who], after.clip(min=0), shortest))


def _of_clocks(traces: Sequence[Trace], clocks: Clocks) -> list[str]:
    """What the clocks rest on, where that must be said."""
    told = []
    parts = [
        np.flatnonzero(clocks.part == part).tolist() for part in range(int(clocks.part.max()) + 1 if len(traces) else 0)
    ]
    if len(parts) > 1:
        named = "; ".join(_names(traces, members) for members in parts[:6]) + ("; and more" if len(parts) > 6 else "")
        told.append(f"nothing joins the clocks of {named}: between them no times can be compared")
    if clocks.drift:
        worst = max(clocks.drift, key=abs)
        told.append(
            f"clocks drift, by up to {abs(worst) * 1e6:.3g} us per second against that of {traces[0].label}: corrected"
        )
    if clocks.apart is not None:
        rate, one, other = clocks.apart
        told.append(
            f"ends of the same collectives diverge by {rate * 1e6:,.0f} us per second between {traces[one].label} and "
            f"{traces[other].label}, more than clocks drift: the traces are not of one run, or repeat steps at different "
            "periods; nothing is corrected"
        )
    return told


def _names(traces: Sequence[Trace], members: Sequence[int]) -> str:
    """``ranks 0-3``, or files where ranks are not known."""
    ranks = [traces[t].rank for t in members]
    known = sorted(rank for rank in ranks if rank is not None)
    return ranks_text(known) if len(known) == len(ranks) else ", ".join(traces[t].label for t in members[:4])
