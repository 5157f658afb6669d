"""The pipelined message of a vector case: how it is cut, what the chunks come to, how long it takes.

What belongs here: the three ways in which a case can say how its message is cut (a number of chunks, a chunk size, a
list of sizes), as adapters to ``model.pipeline``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hopline.curve import Hop
from hopline.errors import InputError, UnknownNameError
from hopline.jobs.verify.inputs import Inputs, hops, number, numbers, text, whole
from hopline.model import pipeline
from hopline.quantity import exact


@dataclass(frozen=True, slots=True)
class Cut:
    """Seconds in all, the number of chunks, and the sizes in bytes of the first, the largest and the last one."""

    time: float
    number: int
    first: float
    largest: float
    last: float


def pipelined(inputs: Inputs) -> dict[str, Any]:
    """The outputs of a case of kind p2p_pipelined_saf. Raises InputError."""
    given = [key for key in CUTS if inputs.get(key) is not None]
    if len(given) != 1:
        raise InputError(f"the inputs hold {' and '.join(given) or 'no cut'}: expected one of {', '.join(CUTS)}")
    path = hops(inputs)
    cut = CUTS[given[0]](inputs, path)
    return {
        "time_s": cut.time,
        "chunks_used": cut.number,
        "first_chunk_arrival_s": float(pipeline.first_chunk(cut.first, path)),
        "largest_chunk_bytes": cut.largest,
        "last_chunk_bytes": cut.last,
    }


def occupies(inputs: Inputs) -> bool:
    """Whether α occupies the hop: it does unless the case says that it is latency."""
    mode = text(inputs, "alpha_mode", "occupancy")
    if mode not in _ALPHA_MODES:
        raise UnknownNameError("alpha_mode", mode, _ALPHA_MODES)
    return _ALPHA_MODES[mode]


_ALPHA_MODES = {"occupancy": True, "occupies": True, "latency": False}


def _counted(inputs: Inputs, path: Sequence[Hop]) -> Cut:
    split = text(inputs, "split", "fractional")
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    count = whole(inputs, "chunks")
    if count < 1:
        raise InputError(f"'chunks' is {count}: expected at least 1")
    return SPLITS[split](inputs, path, count)


def _fractional(inputs: Inputs, path: Sequence[Hop], count: int) -> Cut:
    size = number(inputs, "size_bytes")
    time = pipeline.equal(size, path, float(count), occupies(inputs))
    return Cut(float(time), count, size / count, size / count, size / count)


def _balanced(inputs: Inputs, path: Sequence[Hop], count: int) -> Cut:
    size = whole(inputs, "size_bytes")
    time = pipeline.balanced(size, path, float(count), occupies(inputs))
    used = min(count, max(1, size))
    return Cut(float(time), used, -(-size // used), -(-size // used), size // used)


def _fixed(inputs: Inputs, path: Sequence[Hop]) -> Cut:
    size, chunk = number(inputs, "size_bytes"), number(inputs, "chunk_bytes")
    time = pipeline.fixed(size, path, chunk, occupies(inputs))
    used = max(1, math.ceil(exact(size) / exact(chunk)))
    last = exact(size) - (used - 1) * exact(chunk)
    return Cut(float(time), used, min(size, chunk), min(size, chunk), float(last))


def _explicit(inputs: Inputs, path: Sequence[Hop]) -> Cut:
    sizes = numbers(inputs, "chunk_sizes_bytes")
    time = pipeline.explicit(path, sizes, occupies(inputs))
    total, size = sum(map(exact, sizes)), inputs.get("size_bytes")
    if size is not None and exact(number(inputs, "size_bytes")) != total:
        raise InputError(f"'chunk_sizes_bytes' add up to {float(total):g}: expected 'size_bytes', {size!r}")
    return Cut(time, len(sizes), sizes[0], max(sizes), sizes[-1])


CUTS: dict[str, Callable[[Inputs, Sequence[Hop]], Cut]] = {
    "chunks": _counted,
    "chunk_bytes": _fixed,
    "chunk_sizes_bytes": _explicit,
}
"""Input that says how the message is cut -> its pricing."""

SPLITS: dict[str, Callable[[Inputs, Sequence[Hop], int], Cut]] = {"fractional": _fractional, "balanced": _balanced}
"""How a number of chunks divides the message -> its pricing."""
