"""How far a long command is.

What belongs here: the bar that commands share.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from hopline.jobs.loading import resolve


def progress(what: str) -> AbstractContextManager[Callable[[float, str], None]]:
    """A bar on a terminal; elsewhere nothing, for which nothing is loaded."""
    if not sys.stderr.isatty():
        return nullcontext(lambda fraction, text: None)
    bar: AbstractContextManager[Callable[[float, str], None]] = resolve("hopline.show.measuring:progress")(what)
    return bar
