"""Reports that pipelines read, written where they are asked for again and again.

What belongs here: replacing our own earlier report, and nothing else of the user's.
"""

from __future__ import annotations

import re
from pathlib import Path as File

from hopline.errors import OutputError

_OURS = re.compile(r"<\?xml[^>]{0,99}\?>\s*<testsuites name=\"hopline check ")
"""How every report of ours begins."""
_LOOK = 512


def refuse_foreign(file: File) -> None:
    """Raise OutputError where ``file`` is there and no report of ours, or its folder is not."""
    try:
        if file.exists() and not _OURS.match(_opening(file)):
            raise OutputError(f"{file} exists and is no report of hopline's: give another name")
        if not file.parent.is_dir():
            raise OutputError(f"{file} cannot be written: there is no folder {file.parent}")
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None


def _opening(file: File) -> str:
    with file.open("rb") as stream:
        return stream.read(_LOOK).decode("utf-8", "replace")


def write(file: File, text: str) -> None:
    """Write ``text``; a report of ours that was there is replaced. Raises OutputError for anything else that is."""
    refuse_foreign(file)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None
