"""What is to be said of an explained step, in order of importance: where its time goes, who waits for whom, what would help.

What belongs here: sentences that follow from the records, each with the time that it is about. Nothing is computed here that a
record does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hopline.quantity import show
from hopline.records.explained import Explained
from hopline.records.launch_order import LaunchOrder
from hopline.records.trace import NANOSECOND
from hopline.records.what_if import WhatIf
from hopline.study.stragglers import sentences

_SAID = {
    "compute": "kernels", "copy": "copies", "transfer": "transfer of collectives", "communication": "communication",
    "launch": "launches", "gap": "gaps between kernels", "host": "the host", "sync": "synchronisation",
    "idle": "time not seen in the traces",
}  # fmt: skip
"""Parts of a path in words."""
_MOST = 3
"""Parts that a sentence names."""
_IDLE = 0.5
"""Share of a span without work on the GPU from which on it is said first."""
_WORTH = 0.02
"""Share of a path from which on a part of it is told."""
_MOSTLY = 0.9
"""Share of a stretch that makes it what it mostly is."""
_MUCH = 0.05
"""Gain without a straggler from which on it is the answer."""
_LITTLE = 0.01
"""Gain below which a change is not worth a sentence."""
_SLOWER = 1.02
"""Slowdown from which on contention is."""
_MAY_WAIT = ", as waiting is in it that the traces cannot tell from transfer"
"""Why a gain is a bound."""


def findings(explained: Explained, orders: Sequence[LaunchOrder | None]) -> tuple[str, ...]:
    """The sentences. ``orders``: of each trace, where its launches tell.

    Who is waited for comes first, unless it is known that the step would gain little without that wait.
    """
    first, second = (_waiting, _limit) if _is_worth_waiting(explained) else (_limit, _waiting)
    return tuple(sentence for tell in (first, second, *TELLERS) for sentence in tell(explained, orders))


def _is_worth_waiting(explained: Explained) -> bool:
    played = explained.what_ifs
    answers = [one for one in played.answers if one.name == "straggler"] if played is not None else []
    return not answers or max(one.gain for one in answers) >= _MUCH


def _limit(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    """Where the path goes, and what would help most."""
    for tell in (_path, _begin, _best):
        yield from tell(explained, orders)


def _path(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    blame = explained.blame
    if blame is None or not blame.time:
        return
    parts = [
        f"{_SAID[item.name]} {item.time / blame.time:.0%}"
        for item in blame.parts[:_MOST]
        if item.time >= _WORTH * blame.time
    ]
    yield f"the critical path of {_time(blame.time)} goes to {', '.join(parts)}"


def _begin(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    """A path that begins with nothing: its rank's trace begins later than others."""
    del orders
    path = explained.path
    first = path.stretches[0] if path is not None and path.stretches else None
    if path is None or first is None or first.part != "idle" or first.time < _WORTH * path.time:
        return
    begins = {
        i: int(explained.clocks.common(i, t.events.start[:1])[0])
        for i, t in enumerate(explained.traces)
        if len(t.events)
    }
    own = begins[first.trace]
    if own - first.start >= _MOSTLY * first.time:
        label = explained.traces[first.trace].label
        later = _time(own - min(begins.values()))
        yield f"the trace of {label} begins {later} after the first: what it did before is not seen"


def _waiting(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    if explained.stragglers is None:
        return
    said = sentences(explained.stragglers)
    yield from said
    played = explained.what_ifs
    for one in played.answers if played and said else ():
        if one.name == "straggler" and one.gain >= _LITTLE:
            yield f"without that wait: {_gain(one)}"


def _exposed(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    parts = [(i, part) for i, part in enumerate(explained.breakdowns) if part is not None and part.communication]
    if not parts:
        return
    share = {i: part.exposed / part.span for i, part in parts}
    most, least = max(share, key=lambda i: share[i]), min(share, key=lambda i: share[i])
    several = share[most] - share[least] >= _LITTLE
    hidden = sum(part.hidden for _, part in parts) / sum(part.communication for _, part in parts)
    span = f"{share[most]:.0%} of the time of {explained.traces[most].label}"
    if several:
        span += f", {share[least]:.0%} of that of {explained.traces[least].label}"
    of_it = _of_it_waiting(explained, [i for i, _ in parts], sum(part.exposed for _, part in parts))
    yield f"communication is exposed for {span}{of_it}; {hidden:.0%} of communication is hidden behind compute"


def _of_it_waiting(explained: Explained, numbers: Sequence[int], exposed: int) -> str:
    """How much of exposed communication is known to be waiting, and whether there may be more."""
    waited = sum(explained.waited[i] for i in numbers) if explained.waited else 0
    untold = sum(explained.untold[i] for i in numbers) if explained.untold else 0
    if not waited or not exposed:
        return "; how much of it is waiting cannot be told" if untold >= _LITTLE * exposed > 0 else ""
    least = "at least " if untold >= _LITTLE * exposed else ""
    return f"; {least}{waited / exposed:.0%} of it is waiting for the last to come"


def _idle(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    parts = [part for part in explained.breakdowns if part is not None]
    span = sum(part.span for part in parts)
    idle = sum(part.idle for part in parts)
    if span and idle >= _IDLE * span:
        host = explained.blame.part("host") + explained.blame.part("launch") if explained.blame else 0
        limit = ": the host is the limit" if explained.blame and host >= _IDLE * explained.blame.time else ""
        yield f"the GPUs are without work for {idle / span:.0%} of the time{limit}"


def _best(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    played = explained.what_ifs
    sure = [answer for answer in played.answers if not answer.within_error] if played is not None else []
    best = max(sure, key=lambda answer: answer.sure_gain, default=None)
    if best is not None and best.sure_gain >= _LITTLE:
        yield f"what would help most: {_gain(best)}{_where(explained)}"


def _where(explained: Explained) -> str:
    """Which part of the span was played again, where it is not all of it."""
    return f", of {explained.played}" if explained.played else ""


def _ceiling(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    played = explained.what_ifs
    if played is None or played.refused:
        return
    gain = 1 - played.ceiling / played.replayed if played.replayed else 0.0
    if gain > played.error:
        bound, why = ("at least ", _MAY_WAIT) if played.ceiling_surely is not None else ("", "")
        yield (
            f"the ceiling: with communication for nothing the step would take {bound}{show(played.ceiling, 'time')} "
            f"({bound and 'at most '}{-gain:.1%}{why})"
        )
    for slow in played.contention:
        if slow.factor >= _SLOWER and slow.pairs and slow.rank is None:
            other = "communication" if slow.what == "compute" else "compute"
            yield f"{slow.what} takes {slow.factor:.2f} times as long beside {other}, as {slow.pairs} pairs show"


def _gain(answer: WhatIf) -> str:
    most, why = ("at most ", _MAY_WAIT) if answer.at_most else ("", "")
    ends = f"{show(answer.before, 'time')} -> {show(answer.after, 'time')}"
    return f"{answer.words}, {ends} ({most}{-answer.gain:+.1%}{why})"


def _no_gpu(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    without = [trace.label for trace, part in zip(explained.traces, explained.breakdowns, strict=True) if part is None]
    if without:
        who = (
            "the traces show"
            if len(without) == len(explained.traces)
            else f"the traces of {', '.join(without[:_MOST])} show"
        )
        yield f"{who} no work of a GPU: what it did is unknown, and not nothing"


def _steps(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    del orders
    found = explained.comparison
    if found is None or found.longest - found.median < _WORTH * found.median:
        return
    why = ""
    if found.trace is not None and found.due is not None:
        more = _time(found.more[found.due])
        why = f": {found.due} time of {explained.traces[found.trace].label} is {more} above its median"
    yield (
        f"of {found.steps} steps the slowest is {found.slowest}, {_time(found.longest)} against a median of "
        f"{_time(found.median)}{why}"
    )


def _one_queue(explained: Explained, orders: Sequence[LaunchOrder | None]) -> Iterable[str]:
    found = [(trace.label, order) for trace, order in zip(explained.traces, orders, strict=True) if order is not None]
    bound = [(label, order) for label, order in found if order.is_one_queue]
    if bound:
        pairs = sum(order.pairs for _, order in bound)
        who = "all ranks" if len(bound) == len(explained.traces) > 1 else ", ".join(label for label, _ in bound)
        yield (
            f"on {who} communication overlaps nothing, and {pairs} pairs of collectives and kernels that were queued together "
            "began in launch order: as with one hardware queue; unset CUDA_DEVICE_MAX_CONNECTIONS=1, or raise it, unless "
            "tensor-parallel overlap needs it"
        )


def _time(nanoseconds: int) -> str:
    return show(nanoseconds * NANOSECOND, "time")


Teller = Callable[[Explained, Sequence[LaunchOrder | None]], Iterable[str]]
TELLERS: tuple[Teller, ...] = (_exposed, _idle, _no_gpu, _steps, _ceiling, _one_queue)
"""In the order in which they speak, after who is waited for and where the path goes."""
