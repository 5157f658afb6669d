"""Telling logs of measured collectives from schedules.

What belongs here: which of the two a name means.
"""

from __future__ import annotations

import os

from hopline.errors import FormatError
from hopline.formats.kinds import recognise
from hopline.jobs.schedules import entry_of

STANDARD_INPUT = "-"


def is_log(name: str) -> bool:
    """Whether ``name`` is a file that a benchmark wrote, and no collective's algorithm or schedule."""
    if entry_of(name) is not None or not (name == STANDARD_INPUT or (os.path.exists(name) and not os.path.isdir(name))):
        return False
    try:
        return name == STANDARD_INPUT or bool(recognise(name).reader)
    except FormatError:
        return False
