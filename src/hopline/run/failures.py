"""What ended a rank, in a line.

What belongs here: words for an exception that a rank or a station met, without the name of its class where it says enough.
"""

from __future__ import annotations

from hopline.errors import HoplineError


def said(error: BaseException) -> str:
    """``error`` in a line; one that nobody foresaw is said to be hopline's own, with its kind, so that it can be reported."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"out of memory: {text}" if text else "out of memory"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, (HoplineError, OSError, RuntimeError, ImportError)) and text:
        return text
    return f"an error of hopline itself ({type(error).__name__}{': ' if text else ''}{text}); please report it"
