"""What samples call a schedule, and what they call its size.

What belongs here: names by which a run is gone on with, and so what two schedules must differ in to have two.
"""

from __future__ import annotations

import hashlib

import numpy as np

from hopline.jobs.schedules import Found
from hopline.schedule.operations import DTYPES, Schedule

OF_COLLECTIVE, MOST_SENT = "size", "busiest rank sends"
"""What a size counts, as heads of tables say it."""
USUAL = {"levels": (), "chunks": 1, "channels": 1, "targets": 1}


def label(found: Found) -> str:
    """What samples call a schedule: two that differ have different ones."""
    if found.entry is None or found.shape is None:
        return f"{found.schedule.name}@{_digest(found.schedule)}"
    told = []
    for name in found.entry.uses:
        value = getattr(found.shape, name)
        if value != USUAL[name]:
            shown = "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
            told.append(f"{name}={shown}")
    return ",".join([found.entry.name, *told])


def _digest(schedule: Schedule) -> str:
    hashed = hashlib.sha256()
    for name in DTYPES:
        hashed.update(np.ascontiguousarray(getattr(schedule.columns, name)).tobytes())
    for pairs in (schedule.more, schedule.begun):
        hashed.update(np.ascontiguousarray(pairs).tobytes())
    return hashed.hexdigest()[:8]


def size_of(found: Found) -> int:
    """Bytes as the collective counts them; of a file: of the rank that sends most (``size_is`` says which)."""
    return found.shape.size if found.shape is not None else int(found.schedule.sent.max(initial=0))


def size_is(found: Found) -> str:
    """What ``size_of`` counts: OF_COLLECTIVE or MOST_SENT."""
    return OF_COLLECTIVE if found.shape is not None else MOST_SENT
