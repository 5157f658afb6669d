"""Reports that pipelines read, written where they are asked for again and again.

What belongs here: replacing our own earlier report, and nothing else of the user's.
"""

from __future__ import annotations

from pathlib import Path as File

from hopline.errors import OutputError

MARK = 'name="hopline check'
"""Stands near the start of every report of ours."""
_LOOK = 512


def write(file: File, text: str) -> None:
    """Write ``text``; a report of ours that was there is replaced. Raises OutputError for anything else that is."""
    try:
        if file.exists() and MARK not in file.read_bytes()[:_LOOK].decode("utf-8", "replace"):
            raise OutputError(f"{file} exists and is no report of hopline's: give another name")
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None
