"""What each communication kernel was called for.

What belongs here: joining a kernel with the call that launched it and with the spans on the host around that, and reading
operation, bytes and group from what these say. Sizes are counted as benchmarks count them (``records.busbw``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopline.formats.kineto import names as words
from hopline.formats.kineto.events import WITHOUT, Arguments
from hopline.formats.kineto.figures import Figures
from hopline.formats.kineto.head import info_of
from hopline.formats.kineto.spans import Span, Spans
from hopline.records.trace import CALL, KERNEL, NONE, Collective, Events

UNKNOWN = "unknown"
"""Operation of a kernel of which nothing says what it does."""
_OF_RESULT = frozenset({"all_gather", "gather", "recv"})
"""Operations whose size is that of the result; of others it is that of what is put in."""


def collectives(
    events: Events, names: Sequence[str], said: Mapping[int, Arguments], head: Mapping[str, Any], told: list[str]
) -> tuple[Collective, ...]:
    """The communication kernels among ``events``, in the order of their start; ``said`` are arguments by row.

    What they say and cannot be is added to ``told``.
    """
    kernels = np.unique(events.name[events.kind == KERNEL]).tolist()
    found = {number: about for number in kernels if (about := words.communication(names[number])) is not None}
    rows = np.flatnonzero(np.isin(events.name, list(found)) & (events.kind == KERNEL))
    if not len(rows):
        return ()
    figures, spans = Figures(), Spans(events, names, said)
    groups = _groups(head, figures)
    around = [spans.around(call) for call in _calls(events, rows).tolist()]
    calls = Counter(spans[0].row for spans in around if spans)
    made = tuple(
        _collective(row, found[int(events.name[row])], said.get(row, WITHOUT), spans, calls, groups, figures)
        for row, spans in zip(rows.tolist(), around, strict=True)
    )
    told += figures.told()
    return made


def _calls(events: Events, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row of the call that launched each kernel; NONE where there is none."""
    calls = np.flatnonzero((events.kind == CALL) & (events.correlation >= 0))
    if not len(calls):
        return np.full(len(rows), NONE)
    calls = calls[np.argsort(events.correlation[calls], kind="stable")]
    at = np.searchsorted(events.correlation[calls], events.correlation[rows]).clip(max=len(calls) - 1)
    return np.where(events.correlation[calls[at]] == events.correlation[rows], calls[at], NONE)


def _collective(
    row: int, kernel: tuple[str, str, str], own: Arguments, around: list[Span], calls: Mapping[int, int],
    groups: Mapping[str, tuple[int, ...]], figures: Figures,
) -> Collective:  # fmt: skip
    said = next((item for item in (own, *(span.said for span in around)) if _operation_of(item)), own)
    op = _operation_of(said) or _by_names(kernel[0], around)
    group = "" if said.group is None else str(said.group)
    ranks = groups.get(group) or figures.ranks(said.ranks)
    count = figures.number(said, "count") or len(ranks) or None
    dtype, size = _said_size(op, said, figures)
    if said.dtype is None and around and calls[around[0].row] == 1:
        dtype, size = _size_around(op, around, count, figures)
    return Collective(
        row=row, op=op, size=size, dtype=dtype, group=group, ranks=ranks, count=count,
        sequence=figures.number(said, "sequence"), peer=_peer(op, said, around, figures),
        algorithm=kernel[1], protocol=kernel[2],
    )  # fmt: skip


def _operation_of(said: Arguments) -> str:
    return words.operation(said.collective) if isinstance(said.collective, str) else ""


def _by_names(kernel: str, around: list[Span]) -> str:
    """A kernel that sends and receives may do any collective: then the host says which."""
    if kernel and kernel != "sendrecv":
        return kernel
    return next((op for span in around if (op := words.operation(span.name))), kernel or UNKNOWN)


def _peer(op: str, said: Arguments, around: list[Span], figures: Figures) -> int:
    if op not in ("send", "recv"):
        return NONE
    number = figures.number(said, "target" if op == "send" else "source")
    if number is None:
        number = next((peer for span in around if (peer := words.peer_in(span.name)) is not None), None)
    return NONE if number is None else number


# --- sizes ----------------------------------------------------------------------------------------------------------


def _said_size(op: str, said: Arguments, figures: Figures) -> tuple[str, int | None]:
    """Type of elements and bytes by what the profiler says of the call itself."""
    elements = figures.number(said, "received" if op in _OF_RESULT else "sent")
    dtype = said.dtype if isinstance(said.dtype, str) else ""
    width = words.bytes_of(dtype)
    return dtype, None if width is None or elements is None or op == "barrier" else elements * width


def _size_around(op: str, around: list[Span], count: int | None, figures: Figures) -> tuple[str, int | None]:
    """Type and bytes by the tensors that the span of the backend has, which are those that are put in."""
    for span in around:
        dtype, size = _tensors(span.said, figures) if ":" in span.name.replace("::", "") else ("", None)
        if size is None:
            continue
        if op in ("all_gather", "gather"):
            return dtype, None if count is None else size * count
        return dtype, size
    return "", None


def _tensors(said: Arguments, figures: Figures) -> tuple[str, int | None]:
    if not isinstance(said.shapes, list) or not isinstance(said.types, list):
        return "", None
    total, dtype = 0, ""
    for shape, kind in zip(said.shapes, said.types, strict=False):
        width = words.bytes_of(kind) if isinstance(kind, str) else None
        if width is not None and isinstance(shape, list) and all(type(edge) is int and edge >= 0 for edge in shape):
            elements = figures.held("shapes", prod(shape))
            if elements is None:
                return "", None
            total, dtype = total + width * elements, kind
    return dtype, total if dtype else None


# --- groups ---------------------------------------------------------------------------------------------------------


def _groups(head: Mapping[str, Any], figures: Figures) -> dict[str, tuple[int, ...]]:
    """Members of each group by its name, as the file lists them."""
    listed = info_of(head, []).get("pg_config")
    if not isinstance(listed, list):
        return {}
    return {
        str(group.get("pg_name", "")): figures.ranks(group.get("ranks")) for group in listed if isinstance(group, dict)
    }
