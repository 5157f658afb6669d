"""Sends and receives that do not meet.

What belongs here: pairs of ranks of a group. The k-th send of a pair meets its k-th receive; where a recorder lost the
beginning, only those that are not done can be aligned, in order, and their sizes are compared only where both ranks give them
one number. Calls that were put in together are done together: one of them may be held up by any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from hopline.records.flight import COMPLETED, SCHEDULED, WAITING, Call, Dump, Group
from hopline.records.hang import ALIKE, Break, BreakKind, View
from hopline.study.hang_sizes import count

Pair = tuple[int, int]
"""Ranks (of the job) that send and receive."""
Calls = dict[Pair, list[Call]]


def unmet(group: Group, dumps: Mapping[int, Dump], lost: frozenset[int]) -> tuple[tuple[Break, ...], dict[Pair, int]]:
    """The first send or receive of each pair that is not met, or met by another size, by when it was called; and of each
    pair how many met.

    Of those that are met and not done only the first, and of calls that were put in together only where none is left unmet.
    ``lost``: ranks whose dumps do not tell what they did later.
    """
    sends, receives = _by_pair(group, dumps)
    found = [_pair(group, pair, sends.get(pair, []), receives.get(pair, []), dumps, lost) for pair in sends | receives]
    real = sorted((one for one in found if one is not None), key=_since)
    hard = [one for one in real if one.kind not in ALIKE]
    soft = [one for one in real if one.kind in ALIKE and not (hard and _in_batch(one))]
    met = {pair: min(len(calls), len(receives[pair])) for pair, calls in sends.items() if pair in receives}
    return (*hard, *soft[:1]), met


def _in_batch(found: Break) -> bool:
    return any(call.batch for view in found.views for call in view.calls)


def _since(found: Break) -> tuple[int, int]:
    """When the first side of a break was called; those without a time come last."""
    calls = [call for view in found.views for call in view.calls]
    times = [call.created for call in calls if call.created is not None]
    return (min(times) if times else 1 << 63, min(call.record for call in calls))


def _by_pair(group: Group, dumps: Mapping[int, Dump]) -> tuple[Calls, Calls]:
    sides: dict[str, Calls] = {"send": {}, "recv": {}}
    for dump in dumps.values():
        for call in dump.calls:
            pair = _pair_of(group, call) if call.point and call.op in sides and call.group == group.name else None
            if pair is not None and dump.rank == pair[call.op == "recv"]:
                sides[call.op].setdefault(pair, []).append(call)
    return sides["send"], sides["recv"]


def _pair_of(group: Group, call: Call) -> Pair | None:
    """Numbers within the group -> ranks; None where the call or the group does not tell them."""
    ends = (call.source, call.target)
    if None in ends or any(end is None or end >= len(group.ranks) for end in ends):
        return None
    source, target = (group.ranks[end] for end in ends if end is not None)
    return source, target


def _pair(
    group: Group, pair: Pair, sends: Iterable[Call], receives: Iterable[Call], dumps: Mapping[int, Dump],
    lost: frozenset[int],
) -> Break | None:  # fmt: skip
    """The first break of a pair. Behind calls that are met and not done, only others of their batch can be the cause."""
    whole = all(rank in dumps and dumps[rank].whole and not dumps[rank].gaps and rank not in lost for rank in pair)
    if not whole:
        sends, receives = ([call for call in calls if call.state in WAITING] for calls in (sends, receives))
    held: Break | None = None
    batch: set[tuple[str, int]] = set()
    for send, receive in zip_longest(sends, receives):
        here = {(call.op, call.sequence) for call in (send, receive) if call is not None and call.batch}
        if held is not None and not here & batch:
            break
        if send is not None and receive is not None:
            found = _both(group, pair, send, receive, whole, dumps)
        else:
            found = _alone(group, pair, send or receive, dumps, whole, lost)
        if found is not None and found.kind not in ALIKE:
            return found
        if found is not None:
            held, batch = held or found, batch | here
    return held


def _both(group: Group, pair: Pair, send: Call, receive: Call, whole: bool, dumps: Mapping[int, Dump]) -> Break | None:
    calls = (send, receive)
    waiting = tuple(rank for rank, call in zip(pair, calls, strict=True) if call.state in WAITING)
    if not waiting:
        return None
    kind, detail = _differ(send, receive)
    if kind is not None and (whole or send.sequence == receive.sequence):
        return _made(group, pair, kind, calls, (), waiting, detail, dumps)
    late = tuple(rank for rank, call in zip(pair, calls, strict=True) if call.state == SCHEDULED)
    other: BreakKind = "stuck" if len(late) != 1 or len(waiting) == 1 else "scheduled"
    if any(call.state == COMPLETED for call in calls):
        other = "state"
    unsure = "" if kind is None else "which belong together is not sure, since the recorders lost calls"
    return _made(group, pair, other, calls, late if other == "scheduled" else (), waiting, unsure, dumps)


def _differ(send: Call, receive: Call) -> tuple[BreakKind | None, str]:
    sent, expected = count(send.inputs), count(receive.outputs)
    if sent != expected and send.inputs and receive.outputs:
        return "size", f"{sent:,} elements are sent and {expected:,} expected"
    if send.dtypes[0] != receive.dtypes[1] and send.dtypes[0] and receive.dtypes[1]:
        return "dtype", f"{'/'.join(send.dtypes[0])} is sent and {'/'.join(receive.dtypes[1])} expected"
    return None, ""


def _alone(
    group: Group, pair: Pair, call: Call | None, dumps: Mapping[int, Dump], whole: bool, lost: frozenset[int]
) -> Break | None:
    """One side without the other."""
    if call is None or call.state not in WAITING:
        return None
    here, other = pair if call.op == "send" else pair[::-1]
    calls = (call, None) if call.op == "send" else (None, call)
    dump = dumps.get(other)
    # Of calls put in together one may be done at the other rank, whose dump leaves it out, while another is not.
    told = dump is not None and other not in lost and dump.whole and not (dump.gaps and call.batch)
    if whole or told:
        return _made(group, pair, "absent", calls, (other,), (here,), "", dumps)
    return _made(group, pair, "unknown", calls, (), (here,), "", dumps, (other,))


def _made(
    group: Group, pair: Pair, kind: BreakKind, calls: Sequence[Call | None], odd: tuple[int, ...],
    waiting: tuple[int, ...], detail: str, dumps: Mapping[int, Dump], unknown: tuple[int, ...] = (),
) -> Break:  # fmt: skip
    send, receive = calls
    first = send or receive
    assert first is not None
    words = (f"send {pair[0]}->{pair[1]}", f"recv {pair[1]}<-{pair[0]}")
    op, meets = words if send else words[::-1]
    views = [View(rank, (call,) if call else ()) for rank, call in zip(pair, calls, strict=True) if rank not in unknown]
    timed = all(dumps[rank].timed for rank in waiting)
    return Break(
        kind, group, first.sequence, op, tuple(sorted(views, key=lambda view: view.rank)), odd, waiting, unknown, detail,
        meets=meets, timed=timed,
    )  # fmt: skip
