"""The smallest schedules: one kind of step, taken once or twice, to learn what it costs whoever carries it out.

What belongs here: PROBES and how each is written down. What they cost somewhere is measured; what that says of other
schedules is ``sim``.

Each has two ranks. Taken twice, the second step uses other bytes than the first, as those of a collective do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hopline.schedule import promises
from hopline.schedule.drafting import Draft
from hopline.schedule.operations import Buffer, Schedule
from hopline.schedule.promises import EVERY, Promise, given, wanted

RANKS = 2
_EVERY = np.arange(RANKS)


@dataclass(frozen=True, slots=True)
class Probe:
    """One kind of step.

    Attributes
    ----------
    name, says
        How it is called, and what a rank does in it.
    both
        Whether both ranks send and receive at once; else one sends to the other, and the second time the other way round.
    adds
        Whether who receives adds what came to what it has.
    promise
        Of a size in bytes and a number of times, what must be where in the end.
    """

    name: str
    says: str
    both: bool
    adds: bool
    promise: Callable[[int, int], Promise]

    def build(self, size: int, times: int) -> Schedule:
        """``times`` steps of ``size`` bytes."""
        room = size * times
        draft = Draft(self.name, RANKS, (Buffer("data", room), Buffer("arrived", room)), self.promise(size, times))
        for step in range(times):
            draft.begin_round()
            sender = _EVERY if self.both else np.array([step % RANKS])
            draft.messages(sender, 1 - sender, step * size, size, buffer=0, into=1, reduce=self.adds)
        return draft.made()


@dataclass(frozen=True, slots=True)
class Copying(Probe):
    """Both ranks copy."""

    def build(self, size: int, times: int) -> Schedule:
        """``times`` copies of ``size`` bytes by each rank."""
        room = size * times
        draft = Draft(self.name, RANKS, (Buffer("data", room), Buffer("copied", room)), self.promise(size, times))
        for step in range(times):
            draft.begin_round()
            draft.copies(_EVERY, step * size, size, step * size, buffer=1, source=0)
        return draft.made()


def _sent(size: int, times: int) -> Promise:
    step = np.arange(times)
    sender, start = step % RANKS, step * size
    return Promise(
        "send", given(sender, start, size), wanted(1 - sender, start, size, sender, start, buffer=1)
    )  # fmt: skip


def _exchanged(size: int, times: int) -> Promise:
    room = size * times
    return Promise("exchange", given(_EVERY, 0, room), wanted(_EVERY, 0, room, 1 - _EVERY, 0, buffer=1))


def _sent_and_added(size: int, times: int) -> Promise:
    step = np.arange(times)
    return Promise(
        "send and add", given(_EVERY, 0, size * times), wanted(1 - step % RANKS, step * size, size, EVERY, step * size)
    )  # fmt: skip


def _exchanged_and_added(size: int, times: int) -> Promise:
    return promises.all_reduce(RANKS, size * times)


def _copied(size: int, times: int) -> Promise:
    room = size * times
    return Promise("copy", given(_EVERY, 0, room), wanted(_EVERY, 0, room, _EVERY, 0, buffer=1))


PROBES: dict[str, Probe] = {
    probe.name: probe
    for probe in (
        Probe("send", "one rank sends, the other receives", False, False, _sent),
        Probe("exchange", "both ranks send and receive", True, False, _exchanged),
        Probe("send-add", "one rank sends, the other receives and adds", False, True, _sent_and_added),
        Probe("exchange-add", "both ranks send, receive and add", True, True, _exchanged_and_added),
        Copying("copy", "both ranks copy", False, False, _copied),
    )
}
