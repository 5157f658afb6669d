"""Chunks that flow along edges, one behind the other: the rounds of every pipeline.

What belongs here: which edge carries which chunk in which round. The edges and when each begins are ``pipelines`` and
``double_trees``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopline.schedule.drafting import Draft
from hopline.schedule.operations import NONE, Index
from hopline.schedule.pieces import Ints


@dataclass(frozen=True, slots=True)
class Flow:
    """Edges over which every chunk goes.

    Attributes
    ----------
    sender, receiver
        Ranks, shape (edges,).
    first
        Round in which the first chunk goes over each edge.
    bounds
        Of the chunks: bytes of buffer 0, shape (chunks + 1,).
    reduce
        The receiver adds them up.
    done
        By rank and chunk, the row after which the rank has it; NONE: from the beginning. Flows that feed one another share it.
    """

    sender: Ints
    receiver: Ints
    first: Ints
    bounds: Ints
    reduce: bool
    done: Index
    channel: int = 0

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return len(self.bounds) - 1


def nothing_yet(ranks: int, bounds: Ints) -> Index:
    """``done`` before the first row."""
    return np.full((ranks, len(bounds) - 1), NONE, np.int32)


def run(draft: Draft, flows: Sequence[Flow], period: int) -> None:
    """Every edge carries a chunk each ``period`` rounds; a Send waits for its chunk and no other."""
    ends = [int(flow.first.max(initial=-1)) + 1 + period * (flow.chunks - 1) for flow in flows if len(flow.first)]
    for number in range(max(ends, default=0)):
        draft.begin_round()
        for flow in flows:
            _round(draft, flow, number, period)


def _round(draft: Draft, flow: Flow, number: int, period: int) -> None:
    chunk, rest = np.divmod(number - flow.first, period)
    edges = np.flatnonzero((rest == 0) & (chunk >= 0) & (chunk < flow.chunks))
    if not len(edges):
        return
    sender, receiver, chunk = flow.sender[edges], flow.receiver[edges], chunk[edges]
    after = np.full(draft.ranks, NONE, np.int32)
    after[sender] = flow.done[sender, chunk]
    start, end = flow.bounds[chunk], flow.bounds[chunk + 1]
    into = 1 if flow.reduce else 0
    draft.messages(
        sender,
        receiver,
        start,
        end - start,
        into=into,
        reduce=flow.reduce,
        channel=flow.channel,
        wait=False,
        after=after,
    )
    flow.done[receiver, chunk] = draft.received(flow.channel)[receiver]
