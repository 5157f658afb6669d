"""Sends and receives that do not meet.

What belongs here: pairs of ranks of a group. The k-th send of a pair meets its k-th receive; where a recorder lost the
beginning, only those that are not done can be aligned, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.records.hang import COMPLETED, SCHEDULED, Break, BreakKind, Call, Dump, Group, View
from hopline.study.hang_sizes import count

Pair = tuple[int, int]
"""Ranks (of the job) that send and receive."""


def unmet(group: Group, dumps: Mapping[int, Dump]) -> Break | None:
    """The send or receive that waits longest and is not met, or met by one of another size; None: all are met."""
    sends, receives = _by_pair(group, dumps)
    found = [_pair(group, pair, sends.get(pair, []), receives.get(pair, []), dumps) for pair in {**sends, **receives}]
    real = [one for one in found if one is not None]
    return min(real, key=_since, default=None)


def _since(found: Break) -> tuple[int, int]:
    """When the first side of a break was called; those without a time come last."""
    calls = [call for view in found.views for call in view.calls]
    times = [call.created for call in calls if call.created is not None]
    return (min(times) if times else 1 << 63, min(call.record for call in calls))


def _by_pair(group: Group, dumps: Mapping[int, Dump]) -> tuple[dict[Pair, list[Call]], dict[Pair, list[Call]]]:
    sends: dict[Pair, list[Call]] = {}
    receives: dict[Pair, list[Call]] = {}
    for dump in dumps.values():
        for call in dump.calls:
            pair = _pair_of(group, call) if call.group == group.name and call.point else None
            if pair is not None and call.op in ("send", "recv"):
                (sends if call.op == "send" else receives).setdefault(pair, []).append(call)
    return sends, receives


def _pair_of(group: Group, call: Call) -> Pair | None:
    """Numbers within the group -> ranks; None where the call or the group does not tell them."""
    ends = (call.source, call.target)
    if None in ends or any(end is None or end >= len(group.ranks) for end in ends):
        return None
    source, target = (group.ranks[end] for end in ends if end is not None)
    return source, target


def _pair(
    group: Group, pair: Pair, sends: Sequence[Call], receives: Sequence[Call], dumps: Mapping[int, Dump]
) -> Break | None:
    whole = all(rank in dumps and dumps[rank].whole and not dumps[rank].gaps for rank in pair)
    if not whole:
        sends, receives = ([call for call in calls if call.state != COMPLETED] for calls in (sends, receives))
    for place in range(max(len(sends), len(receives))):
        send = sends[place] if place < len(sends) else None
        receive = receives[place] if place < len(receives) else None
        found = (
            _both(group, pair, send, receive)
            if send and receive
            else _alone(group, pair, send or receive, dumps, whole)
        )
        if found is not None:
            return found
    return None


def _both(group: Group, pair: Pair, send: Call, receive: Call) -> Break | None:
    waiting = tuple(rank for rank, call in zip(pair, (send, receive), strict=True) if call.state != COMPLETED)
    sent, expected = count(send.inputs), count(receive.outputs)
    if not waiting:
        return None
    if sent != expected and send.inputs and receive.outputs:
        return _made(
            group, pair, "size", send, receive, (), waiting, f"{sent:,} elements are sent and {expected:,} expected"
        )
    if send.dtypes[0] != receive.dtypes[1] and send.dtypes[0] and receive.dtypes[1]:
        types = f"{'/'.join(send.dtypes[0])} is sent and {'/'.join(receive.dtypes[1])} expected"
        return _made(group, pair, "dtype", send, receive, (), waiting, types)
    late = tuple(rank for rank, call in zip(pair, (send, receive), strict=True) if call.state == SCHEDULED)
    kind: BreakKind = "stuck" if len(late) != 1 else "scheduled"
    if len(waiting) == 1:
        kind, late = "state", ()
    return _made(group, pair, kind, send, receive, late if kind == "scheduled" else (), waiting, "")


def _alone(group: Group, pair: Pair, call: Call | None, dumps: Mapping[int, Dump], whole: bool) -> Break | None:
    """One side without the other."""
    if call is None or call.state == COMPLETED:
        return None
    here, other = pair if call.op == "send" else pair[::-1]
    send, receive = (call, None) if call.op == "send" else (None, call)
    if other not in dumps or not (whole or dumps[other].whole):
        return _with_unknown(_made(group, pair, "unknown", send, receive, (), (here,), ""), other)
    return _made(group, pair, "absent", send, receive, (other,), (here,), "")


def _with_unknown(found: Break, other: int) -> Break:
    views = tuple(view for view in found.views if view.rank != other)
    return Break(found.kind, found.group, found.sequence, found.op, views, (), found.waiting, (other,), found.detail)


def _made(
    group: Group, pair: Pair, kind: BreakKind, send: Call | None, receive: Call | None,
    odd: tuple[int, ...], waiting: tuple[int, ...], detail: str,
) -> Break:  # fmt: skip
    first = send or receive
    assert first is not None
    views = tuple(View(rank, (call,) if call else ()) for rank, call in zip(pair, (send, receive), strict=True))
    op = f"send {pair[0]}->{pair[1]}" if send else f"recv {pair[1]}<-{pair[0]}"
    return Break(kind, group, first.sequence, op, tuple(sorted(views, key=lambda v: v.rank)), odd, waiting, (), detail)
