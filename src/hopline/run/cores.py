"""The cores that a rank may run on.

What belongs here: asking the system.
"""

from __future__ import annotations

import os


def own() -> list[int]:
    """Cores that this process may run on, by number; where the system does not tell, as many as it has."""
    return sorted(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
