"""Every error a user can cause or meet: one class per cause, one line per message.

What belongs here: exception classes. The command line prints ``str(error)`` and leaves with code 2; a message names the
value, what was expected and how to mend it. The exit code of an interrupt stands here too, beside the errors it is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

INTERRUPTED = 130
"""Exit code of what Ctrl-C ended, as shells have it."""


class HoplineError(Exception):
    """Base of all errors that hopline raises on purpose."""


class QuantityError(HoplineError):
    """A text is not the quantity that was asked for: unit missing, ambiguous or of another dimension."""


class InputError(HoplineError):
    """A number is outside of what the model can take (negative, not finite, zero where a rate is needed)."""


class MachineError(HoplineError):
    """A machine file is wrong, or asks for something that this machine has not got."""


class WorkloadError(HoplineError):
    """A model file is wrong, or a job cannot be spread over ranks as it is said to be."""


class FormatError(HoplineError):
    """A file is not what it should be, or holds nothing that can be used."""


class FitError(HoplineError):
    """The measured points do not carry a fit."""


class SimulationError(HoplineError):
    """A schedule that no clock can run to its end: it waits for itself, or messages have one end only."""


class RunError(HoplineError):
    """Real ranks could not be started, or failed."""


class DataMismatchError(RunError):
    """What arrived differs from what was sent."""


class OutputError(HoplineError):
    """A result could not be written, or would overwrite something of the user's."""


class UnknownNameError(HoplineError):
    """A name is not in its table; the message lists the names that are."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        super().__init__(f"unknown {what} {name!r}: {hint}known are {', '.join(names) if names else 'none'}")
