"""Which files are logs of measured collectives.

What belongs here: telling them from schedules, and asking ``tables``.
"""

from __future__ import annotations

import os

from hopline.jobs.schedules import entry_of


def is_log(name: str) -> bool:
    """Whether ``name`` is a file that benchmarks wrote, and no collective or schedule."""
    return entry_of(name) is None and os.path.exists(name)


def compare(file, **told):
    return []
