"""Which NVTX ranges are training steps.

What belongs here: the table of names that programs give them, and choosing among those that a process has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from hopline.records.trace import Index, Nanoseconds, Step

PATTERNS = (
    re.compile(r"ProfilerStep#(?P<number>\d{1,15})"),
    re.compile(r"(?:\w+[ _-])?(?:step|iteration|iter)[ _:=#-]*(?P<number>\d{1,15})", re.IGNORECASE),
    re.compile(r"(?:\w+[ _-])?batch[ _:=#-]*(?P<number>\d{1,15})", re.IGNORECASE),
    re.compile(r"(?:train(?:ing)?[ _-]?(?:step|iteration|iter|batch)|step|iteration|iter)", re.IGNORECASE),
    re.compile(r"(?:run_training_batch|\[.*\]\w*\.run_training_batch)"),
)
"""Names of a step, as a whole, in the order in which they are tried; without a number they are counted from 0."""
LEAST = 2
"""A range that stands once is no step: it may as well be the whole program."""


def steps(
    names: Sequence[str], code: Index, start: Nanoseconds, end: Nanoseconds, lane: Index
) -> tuple[tuple[Step, ...], str]:
    """The steps of a process, and why there are none where there are none.

    code, start, end, lane: of each range, in order of start; ``code`` numbers ``names``. Of several threads the one with most
    steps is taken; ranges that lie in another step are left out.
    """
    for pattern in PATTERNS:
        found = {at: match for at, name in enumerate(names) if (match := pattern.fullmatch(name.strip()))}
        rows = np.flatnonzero(np.isin(code, list(found)))
        if len(rows) < LEAST:
            continue
        rows = rows[lane[rows] == np.bincount(lane[rows]).argmax()]
        made = _made(rows, [found[int(one)].groupdict().get("number") for one in code[rows]], start, end)
        if len(made) >= LEAST:
            return made, ""
    return (), _why(names, code)


def _made(rows: Index, numbers: Sequence[str | None], start: Nanoseconds, end: Nanoseconds) -> tuple[Step, ...]:
    made: list[Step] = []
    for row, number in zip(rows.tolist(), numbers, strict=True):
        if made and start[row] < made[-1].end:
            continue
        made.append(Step(len(made) if number is None else int(number), int(start[row]), int(end[row])))
    return tuple(made)


def _why(names: Sequence[str], code: Index) -> str:
    often = [(names[at], count) for at, count in Counter(code.tolist()).most_common(3) if count >= LEAST]
    if not often:
        return "no NVTX range repeats: steps are not known (mark them, like torch.cuda.nvtx.range_push('step 12'))"
    listed = ", ".join(f"{name[:40]!r} ({count} times)" for name, count in often)
    return f"no NVTX range is named like a step ('step 12', 'iteration 12', 'train_step'): those that repeat most are {listed}"
