"""Whether ranks mean the same by one collective: op, element type, number of elements.

What belongs here: what must agree among the ranks of each op, as NCCL's documentation of collectives has it. Elements are
counted, not shapes compared: [2, 3] and [6] are the same message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import prod

from hopline.records.flight import Call, Group, Shape
from hopline.records.hang import BreakKind

Calls = tuple[Call, ...]
Odds = tuple[BreakKind, tuple[int, ...], str]
"""Kind of a break, the ranks that differ from most, and what differs."""

AGREE: dict[str, tuple[str, ...]] = {
    "all_reduce": ("inputs", "outputs"), "broadcast": ("inputs", "outputs"), "reduce": ("inputs", "outputs"),
    "all_gather": ("inputs", "outputs"), "reduce_scatter": ("inputs", "outputs"), "barrier": (),
    "gather": ("inputs",), "scatter": ("outputs",), "alltoall": (),
}  # fmt: skip
"""Op -> the tensors whose elements must be as many on all ranks. Only the root of a gather has outputs, only that of a
scatter has inputs; of an all-to-all only the sum can be held against anything."""


def differences(group: Group, here: Mapping[int, Calls]) -> Odds | None:
    """What ranks differ in at one call; None: nothing. ``here``: calls by rank, those of the same sequence."""
    tests: tuple[tuple[BreakKind, Callable[[Calls], object]], ...] = (
        ("op", lambda calls: tuple(call.op for call in calls)),
        ("dtype", lambda calls: tuple(_dtypes(call) for call in calls)),
        ("size", lambda calls: tuple(_elements(call) for call in calls)),
    )
    for kind, key in tests:
        found = {rank: key(calls) for rank, calls in here.items()}
        if len(set(found.values())) > 1:
            return kind, _odd(found), _detail(kind, here, found)
    return _unbalanced(group, here)


def _odd(found: Mapping[int, object]) -> tuple[int, ...]:
    """Ranks that differ from most; () where no side has most."""
    (most, times), (_, second) = Counter(found.values()).most_common(2)
    return tuple(sorted(rank for rank, value in found.items() if value != most)) if times > second else ()


def _dtypes(call: Call) -> object:
    """Element types of the tensors that must agree, of an all-to-all those it sends; a barrier has none that matter."""
    sides = AGREE.get(call.op) or (() if call.op == "barrier" else ("inputs",))
    return tuple(frozenset(call.dtypes[("inputs", "outputs").index(side)]) for side in sides)


def _elements(call: Call) -> object:
    return tuple(
        count(getattr(call, side)) for side in AGREE.get(call.op, ()) if side != _UNEVEN.get(call.op) or _even(call)
    )


_UNEVEN = {"all_gather": "inputs", "reduce_scatter": "outputs"}
"""Op -> its own piece of a list of pieces: where the list has pieces of several sizes, so have the ranks, and rightly."""


def _even(call: Call) -> bool:
    pieces = call.outputs if call.op == "all_gather" else call.inputs
    return len({count((piece,)) for piece in pieces}) <= 1


def count(shapes: tuple[Shape, ...]) -> int:
    """Elements of tensors together."""
    return sum(prod(shape) for shape in shapes)


def _detail(kind: BreakKind, here: Mapping[int, Calls], found: Mapping[int, object]) -> str:
    """``all_reduce on ranks 0-2, all_gather on rank 3``: each value once, with the ranks that have it."""
    ranks: dict[object, list[int]] = {}
    for rank, value in sorted(found.items()):
        ranks.setdefault(value, []).append(rank)
    parts = [f"{_value(kind, here[mine[0]])} on {ranks_text(mine)}" for mine in ranks.values()]
    return "; ".join([*parts[:4], *(["..."] if len(parts) > 4 else [])])


def _value(kind: BreakKind, calls: Calls) -> str:
    words = {"op": _op_words, "dtype": _dtype_words, "size": _size_words}[kind]
    return ", ".join([words(call) for call in calls[:3]] + (["..."] if len(calls) > 3 else []))


def _op_words(call: Call) -> str:
    return call.op


def _dtype_words(call: Call) -> str:
    return "/".join(sorted({*call.dtypes[0], *call.dtypes[1]})) or "no type"


def _size_words(call: Call) -> str:
    return " and ".join(
        f"{count(getattr(call, side)):,} elements {word}" for side, word in _SIDES if getattr(call, side)
    )


_SIDES = (("inputs", "in"), ("outputs", "out"))


def ranks_text(ranks: list[int] | tuple[int, ...], most: int = 6) -> str:
    """``rank 3``, ``ranks 0-2, 5``."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:most]] + (["..."] if len(runs) > most else [])
    return f"rank{'s' if len(set(ranks)) != 1 else ''} {', '.join(parts)}"


def _unbalanced(group: Group, here: Mapping[int, Calls]) -> Odds | None:
    """An all-to-all in which all members take part, and which together send more or fewer elements than they expect."""
    calls = [call for mine in here.values() for call in mine]
    if set(here) != set(group.ranks) or any(call.op != "alltoall" for call in calls):
        return None
    sent, expected = sum(count(call.inputs) for call in calls), sum(count(call.outputs) for call in calls)
    if sent == expected:
        return None
    return "size", (), f"together they send {sent:,} elements and expect {expected:,}"
