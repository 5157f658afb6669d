"""A log to which several tools wrote, as the output of one job often is.

What belongs here: handing the file to the reader of each tool, and putting together what they find, in file order.
"""

from __future__ import annotations

from collections.abc import Callable

from hopline.errors import FormatError
from hopline.formats import nccl_tests, nccom, netpipe, osu, perftest, ucc, ucx_perftest
from hopline.formats.kinds import FORMATS, heads
from hopline.formats.lines import shown
from hopline.formats.source import kept
from hopline.records.table import Log

READERS: dict[str, Callable[[str], Log]] = {
    "nccom-test": nccom.read, "nccl-tests": nccl_tests.read, "osu": osu.read, "ucx-perftest": ucx_perftest.read,
    "ucc-perftest": ucc.read, "netpipe": netpipe.read, "perftest": perftest.read,
}  # fmt: skip
"""Kind -> its reader."""


def read(path: str) -> Log:
    """The tables of all tools, in file order. Raises FormatError where none of them has a usable row."""
    logs: list[Log] = []
    notes: list[str] = []
    with kept(path):
        for name in heads(path):
            try:
                logs.append(READERS[name](path))
            except FormatError as error:
                notes.append(f"{FORMATS[name].title}: {str(error).removeprefix(shown(path) + ': ')}")
    if not logs:
        raise FormatError(f"{shown(path)}: {'; '.join(notes)}")
    tables = sorted((table for log in logs for table in log.tables), key=lambda table: table.line)
    told = dict.fromkeys(note for log in logs for note in log.notes)
    dropped = tuple(part for log in logs for part in log.dropped)
    return Log(path, " and ".join(log.kind for log in logs), tuple(tables), dropped, (*told, *notes))
