"""Telling logs of measured collectives from schedules.

What belongs here: which of the two a name means, and what is said of a file that is neither.
"""

from __future__ import annotations

import os

from hopline.errors import FormatError
from hopline.formats.kinds import recognise
from hopline.formats.source import shown
from hopline.jobs.loading import resolve
from hopline.jobs.schedules import entry_of, file_of

STANDARD_INPUT = "-"
READS = "a schedule, a benchmark's log or a table of measured collectives"


def is_log(name: str) -> bool:
    """Whether ``name`` is a file that a benchmark wrote, and no collective's algorithm or schedule.

    Raises FormatError for a file that is neither, with what is read; InputError and UnknownNameError where there is none.
    """
    if entry_of(name) is not None or name == STANDARD_INPUT:
        return name == STANDARD_INPUT
    file = file_of(name)
    if file.is_dir() or (file.is_file() and not os.path.getsize(file)):
        raise FormatError(f"{shown(name)} is {'a folder' if file.is_dir() else 'empty'}: expected {READS}")
    try:
        recognise(name)
    except FormatError as error:
        no_log = str(error)
    else:
        return True
    try:
        resolve("hopline.formats.schedules.table:recognise")(name)
    except FormatError as no_schedule:
        if str(no_schedule) == no_log:
            raise
        raise FormatError(f"{no_log}; and it {str(no_schedule).removeprefix(shown(name) + ' ')}") from None
    return False
