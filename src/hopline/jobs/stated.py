"""What the user states for logs that do not say it.

What belongs here: whether that may be said beside what a log says itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.errors import InputError


def refuse_other(option: str, given: object, said: Sequence[object]) -> None:
    """Raise InputError where every table of a log says something, and one of them something else than ``given``."""
    if given and all(said) and any(one != given for one in said):
        other = next(one for one in said if one != given)
        raise InputError(f"{option} {given}: the log says {other}; leave {option} away, it is for logs that do not say")
