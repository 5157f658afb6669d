"""Calls that were put in together: one kernel does them all, and one entry of the recorder says how far it is.

What belongs here: giving that entry's state to the calls it closes. PyTorch records the calls of ``batch_isend_irecv`` and of
coalesced collectives without events (``ProcessGroupNCCL.cpp``, pointToPoint and collective: they stay "scheduled" for ever),
then one entry of the same number, "nccl:coalesced" or "nccl:ALLGATHER_coalesced", that has no sizes and the state of all
(``test_c10d_nccl.py``, test_batched_send_recv and test_allgather_uneven).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hopline.records.flight import SCHEDULED, UNKNOWN, Call

CLOSES = "coalesced"
"""Op of the entry that closes a batch."""
Key = tuple[str, bool, int]


def settled(calls: Sequence[Call], gaps: bool) -> tuple[Call, ...]:
    """Calls in the order of record, with the state of their batch; UNKNOWN where the entry that closes it is not there.

    ``gaps``: the dump leaves out calls that are done, so that a batch may be done of which only the entries without a state
    are left.
    """
    found = list(calls)
    blocks: dict[Key, list[int]] = {}
    for place, call in enumerate(found):
        blocks.setdefault((call.group, call.point, call.sequence), []).append(place)
    for places in blocks.values():
        closing = next((place for place in reversed(places) if found[place].op == CLOSES), None)
        if closing is not None:
            _close(found, places, closing)
        elif len(places) > 1 or (gaps and _cut(found, places[-1])):
            _open(found, places)
    return tuple(found)


def _close(calls: list[Call], places: Sequence[int], closing: int) -> None:
    end = calls[closing]
    for place in places:
        call = calls[place]
        if place < closing and call.op != CLOSES and call.state == SCHEDULED:
            calls[place] = replace(
                call, state=end.state, started=end.started, completed=end.completed, batch=True, timeout=end.timeout
            )
    calls[closing] = replace(end, batch=True)


def _cut(calls: Sequence[Call], place: int) -> bool:
    """Whether what came after a call is left out of the dump."""
    return place + 1 == len(calls) or calls[place + 1].record > calls[place].record + 1


def _open(calls: list[Call], places: Sequence[int]) -> None:
    for place in places:
        if calls[place].state == SCHEDULED:
            calls[place] = replace(calls[place], state=UNKNOWN, batch=True)
