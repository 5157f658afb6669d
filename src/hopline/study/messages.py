"""Messages: which send of one trace is which receive of another.

What belongs here: pairs by peer and order. Collectives are ``study/matching``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hopline.records.matched import Match
from hopline.records.trace import NONE, Collective, Trace
from hopline.study.groups import PAIRED, numbers_text

End = tuple[int, Collective]
"""(Number of the trace, what it has)."""


@dataclass(slots=True)
class _Way:
    """Messages from one rank to another in one group."""

    sends: list[End] = field(default_factory=list)
    recvs: list[End] = field(default_factory=list)


def messages(traces: Sequence[Trace]) -> tuple[list[Match], list[str]]:
    """The k-th send of a rank to another in a group meets the k-th receive there, or the one of its sequence number."""
    ways: dict[tuple[str, int, int], _Way] = defaultdict(_Way)
    alone: list[End] = []
    for number, trace in enumerate(traces):
        for collective in trace.collectives:
            if collective.op not in PAIRED:
                continue
            if trace.rank is None or collective.peer == NONE:
                alone.append((number, collective))
            elif collective.op == "send":
                ways[(collective.group, trace.rank, collective.peer)].sends.append((number, collective))
            else:
                ways[(collective.group, collective.peer, trace.rank)].recvs.append((number, collective))
    present = {trace.rank for trace in traces}
    found: list[Match] = []
    told: list[str] = []
    for (_, source, target), way in ways.items():
        missing = tuple(rank for rank in (source, target) if rank not in present)
        found += _of_way(way, missing, f"messages from rank {source} to rank {target}", told)
    found += [_match(k, end, end, ()) for k, end in enumerate(alone)]
    if alone:
        told.append(f"{len(alone)} sends and receives do not say their peer: they are matched with nothing")
    absent = sorted({rank for one in found for rank in one.missing})
    if absent:
        told.append(
            f"messages to and from {numbers_text(absent).replace('number', 'rank', 1)}: there is no trace of the other end"
        )
    return found, told


def _of_way(way: _Way, missing: tuple[int, ...], label: str, told: list[str]) -> list[Match]:
    """Messages of one way."""
    if not way.sends or not way.recvs:
        if not missing:
            told.append(f"{label}: only one end has them ({len(way.sends)} sends, {len(way.recvs)} receives)")
        return [_match(k, end, end, missing) for k, end in enumerate(way.sends or way.recvs)]
    sends, recvs = ([c.sequence for _, c in ends] for ends in (way.sends, way.recvs))
    if None not in sends + recvs and len(set(sends)) == len(sends) and len(set(recvs)) == len(recvs):
        return _by_sequence(way, label, told)
    if len(sends) != len(recvs):
        told.append(f"{label}: {len(sends)} sends, but {len(recvs)} receives: which is which the files do not say")
        return [_match(k, end, end, ()) for ends in (way.sends, way.recvs) for k, end in enumerate(ends)]
    return [_match(k, one, other, ()) for k, (one, other) in enumerate(zip(way.sends, way.recvs, strict=True))]


def _by_sequence(way: _Way, label: str, told: list[str]) -> list[Match]:
    """Messages whose ends have numbers."""
    sends, recvs = ({end[1].sequence: end for end in ends} for ends in (way.sends, way.recvs))
    every = sorted(number for number in {*sends, *recvs} if number is not None)
    found, lone = [], []
    for k, number in enumerate(every):
        one, other = sends.get(number), recvs.get(number)
        if one is None or other is None:
            lone.append(k)
        one, other = one or other, other or one
        assert one is not None
        assert other is not None
        found.append(_match(k, one, other, ()))
    if lone:
        told.append(f"{label}: one end lacks {len(lone)} of {len(every)} ({numbers_text(lone)})")
    return found


def _match(number: int, one: End, other: End, missing: tuple[int, ...]) -> Match:
    """A message; of one end only where both are the same."""
    ends = (one,) if one is other else (one, other)
    sizes = {collective.size for _, collective in ends if collective.size is not None}
    op = one[1].op if len(ends) == 1 else "send"
    return Match(
        op, one[1].group, number, np.array([n for n, _ in ends], np.int32), np.array([c.row for _, c in ends], np.int32),
        missing, sizes.pop() if len(sizes) == 1 else None, 2,
    )  # fmt: skip
