"""Options of ``hopline compare`` that mean nothing to what it is given.

What belongs here: which of the two uses an option is of, and refusing it beside the other one. Which models of a log go by
which option is ``jobs.comparing.used``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from hopline.cli.options import typed
from hopline.errors import HoplineError, UnknownNameError
from hopline.model.nccl.numbers import numbers
from hopline.schedule.collectives.table import COLLECTIVES

OF_RANKS = ("transport", "size", "repeats", "out", "machine", "hierarchy", "chunks", "targets")
OF_LOGS = ("sends", "sends_table", "algorithm", "table", "nodes", "arch", "version", "cpu", "within", "between", "nic")
_NEEDS_SENDS = {"sends_table": "names a table", "algorithm": "names the closed form that is made"}
FASTEST = "fastest"


def check_alone(told: Mapping[str, Any]) -> None:
    """Raise UsageError, UnknownNameError for what is wrong whatever is compared."""
    known = (FASTEST, *dict.fromkeys(entry.algorithm for entry in COLLECTIVES.values()))
    if told["algorithm"] not in (None, *known):
        raise UnknownNameError("algorithm", told["algorithm"], known)
    for name, what in _NEEDS_SENDS.items():
        if told[name] is not None and told["sends"] is None:
            raise click.UsageError(f"{typed(name)}: {what} of --sends FILE, which is not given")
    if told["version"] is not None:
        try:
            numbers(told["version"])
        except HoplineError as error:
            raise click.UsageError(f"--nccl: {error}") from None


def refuse_of_ranks(told: Mapping[str, Any], what: str) -> None:
    """Raise UsageError for an option of real ranks beside a log."""
    _refuse(told, OF_RANKS, f"{what} is a log, measured already")


def refuse_of_logs(told: Mapping[str, Any], what: str) -> None:
    """Raise UsageError for an option of logs beside real ranks."""
    _refuse(told, OF_LOGS, f"{what} is carried out on real ranks, and is no log")


def given(told: Mapping[str, Any]) -> list[str]:
    """The options that were given, as they are typed."""
    return [typed(name) for name in told if _is_given(told[name])]


def _refuse(told: Mapping[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if _is_given(told[name]):
            raise click.UsageError(f"{typed(name)}: {why}")


def _is_given(value: object) -> bool:
    return value not in (None, ())
