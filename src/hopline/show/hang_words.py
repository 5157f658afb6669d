"""Sentences about hangs.

What belongs here: words for breaks, circles, and dumps that are older than others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hopline.quantity import show
from hopline.records.flight import STARTED, WAITING, Group
from hopline.records.hang import BREAKS, Behind, Break, Short

LONG = 0.1
"""Of the timeout: that ranks wait is told with how long from here on; events end soon after the last call of a hang."""


def behind_text(found: Behind) -> str:
    """A dump that cannot be held against the others, and why."""
    since = f"; its last sign is {show(found.earlier, 'time')} before the last of all" if found.earlier else ""
    if found.group is None:
        return f"The dump of rank {found.rank} ends before all others begin{since}: it is of another run."
    last = f"at call {found.reached}" if found.reached >= 0 else "before the first call"
    return (
        f"The dump of rank {found.rank} ends {last} of group {group_text(found.group)}, and others are done with call "
        f"{found.done}, which they cannot be without it{since}: it is of another time or run, or cut; what the rank did later "
        "is not known."
    )


def empty_text(ranks: Sequence[int]) -> str:
    """Dumps without a call, which may be the finding."""
    one = len(ranks) == 1
    return (
        f"The dump{'' if one else 's'} of {ranks_text(ranks)} {'has' if one else 'have'} nothing in "
        f"{'it' if one else 'them'}: the recorder was off there, it left out calls that are done, or "
        f"{'that rank' if one else 'those ranks'} never came to a call, which may itself be the defect."
    )


def missing_text(ranks: Sequence[int]) -> str:
    """Ranks without a dump."""
    return f"There is no dump of {ranks_text(ranks)}: what happened there is not known."


def short_text(found: Short) -> str:
    """Dumps that end before those of other members."""
    one = len(found.ranks) == 1
    return (
        f"The dump{'' if one else 's'} of {ranks_text(found.ranks)} {'does' if one else 'do'} not come to call "
        f"{found.sequence} of group {group_text(found.group)}, which others have."
    )


def earlier_text(found: Break) -> str:
    """A difference in a call that all are done with."""
    return (
        f"{_differs(found, call_text(found))} All that recorded it are done with it, but what came out is not defined."
    )


def circle_text(circle: Sequence[Break]) -> str:
    """Who waits for whom, once round."""
    steps = []
    for found, cause in zip(circle, (*circle[1:], circle[0]), strict=True):
        held = [rank for rank in found.odd or found.waiting if _held(rank, cause, found)]
        steps.append(
            f"{_short(found)} waits for {ranks_text(held)}, which wait{'s' * (len(held) == 1)} in {_short(cause)}"
        )
    names = list(dict.fromkeys(found.group.name for found in circle))
    order = f": ranks make the calls of group{'s' * (len(names) > 1)} {', '.join(names)} in different orders"
    return f"They wait in a circle{'' if all(found.meets for found in circle) else order}: {'; '.join(steps[:4])}."


def _held(rank: int, cause: Break, found: Break) -> bool:
    """Whether a rank waits in ``cause`` since before its call of ``found``, if it made that."""
    mine = [call.record for view in found.views if view.rank == rank for call in view.calls]
    held = [call.record for view in cause.views if view.rank == rank for call in view.calls]
    return rank in cause.waiting and bool(held) and (not mine or min(held) < min(mine))


def _short(found: Break) -> str:
    return found.op if found.meets else f"{found.op} of group {found.group.name}"


def call_text(found: Break) -> str:
    """Which call it is."""
    if found.meets:
        return f"{found.op} of group {group_text(found.group)}"
    return f"call {found.sequence} of group {group_text(found.group)} ({found.op})"


def sentence(found: Break, bare: bool = False) -> str:
    """What broke, in one sentence or two; ``bare``: without a guess at the cause, since another is known."""
    if bare and found.kind in ("stuck", "scheduled"):
        text = f"None is done with {call_text(found)}, which all its ranks made alike."
    else:
        text = _SENTENCES.get(found.kind, _differs)(found, call_text(found))
    where = found.op if found.meets else "it"
    waits = f" {capital(ranks_text(found.waiting))} wait{'s' if len(found.waiting) == 1 else ''} in {where}{_waited(found)}."
    unknown = f" Of {ranks_text(found.unknown)} it is not known." if found.unknown and found.kind != "unknown" else ""
    return text + (waits if found.waiting else "") + unknown


def _differs(found: Break, call: str) -> str:
    return f"{capital(BREAKS[found.kind])} at {call}: {found.detail}."


def _absent(found: Break, call: str) -> str:
    if found.meets:
        return f"{capital(ranks_text(found.odd))} never made {found.meets}, which would meet {call}."
    return f"{capital(ranks_text(found.odd))} never made {call}."


def _scheduled(found: Break, call: str) -> str:
    if not found.timed:
        return f"{capital(ranks_text(found.waiting))} are not done with {call}{_UNTIMED}"
    return f"The GPU of {ranks_text(found.odd)} did not come to {call}, though the program did: earlier work holds its stream."


def _state(found: Break, call: str) -> str:
    done = [view.rank for view in found.views if view.rank not in found.waiting]
    return f"{capital(ranks_text(done))} {'is' if len(done) == 1 else 'are'} done with {call}, and others are not."


def _stuck(found: Break, call: str) -> str:
    met = f" and {found.meets}, which meet" if found.meets else ", which all its ranks made alike"
    states = {call.state for view in found.views for call in view.calls if call.state in WAITING}
    if not found.timed:
        return f"None is done with {call}{met}{_UNTIMED}"
    if states != {STARTED}:
        return f"No GPU has come to {call}{met}: earlier work holds their streams."
    return f"None is done with {call}{met}: look at the network and at the GPUs, not at the program."


_UNTIMED = (
    ": whether their GPUs have come to it is not recorded (TORCH_NCCL_ENABLE_TIMING was off), so work before it may hold it "
    "as well as the network."
)


def _unknown(found: Break, call: str) -> str:
    return f"Whether {ranks_text(found.unknown)} made {found.meets or call} is not known."


_SENTENCES: dict[str, Callable[[Break, str], str]] = {
    "absent": _absent, "scheduled": _scheduled, "state": _state, "stuck": _stuck, "unknown": _unknown,
}  # fmt: skip


def is_long(found: Break) -> bool:
    """Whether the dumps themselves show that ranks wait for a good part of the timeout."""
    return found.waited is not None and found.timeout is not None and found.waited >= LONG * found.timeout


def _waited(found: Break) -> str:
    if not is_long(found) or found.waited is None or found.timeout is None:
        return ""
    return f", for at least {show(found.waited, 'time')} of a timeout of {show(found.timeout, 'time')}"


def group_text(group: Group) -> str:
    """A group with what it is for and its members."""
    about = f" ({group.about})" if group.about else ""
    return f"{group.name}{about} of {ranks_text(group.ranks)}" if group.ranks else f"{group.name}{about}"


def ranks_text(ranks: Sequence[int], most: int = 8) -> str:
    """``rank 3``, ``ranks 0-2, 5``."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:most]] + (["..."] if len(runs) > most else [])
    return f"rank{'s' if len(set(ranks)) != 1 else ''} {', '.join(parts)}"


def capital(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]
