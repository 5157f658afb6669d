"""Options about slots that more than one command of ``hopline slots`` takes.

What belongs here: the options, and the setup that they say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from hopline.cli.options import quantity
from hopline.machine.slots import Moderation, Slots


def sender_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how requests are sent and completed."""
    options = (
        quantity(
            "--slots", "count", "Requests that may be in flight or wait for release (none told: no limit).", least=1
        ),
        quantity("--issue", "time", "Least time between two submits (0)."),
        quantity("--turnaround", "time", "Time from the begin of a request to its completion (0)."),
        quantity("--poll", "time", "Interval between two looks at the completions (none told: each releases at once)."),
        quantity("--batch", "count", "Completions handled at a look (none told: all).", least=1),
        quantity("--first-poll", "time", "The first look (default: after one interval)."),
        quantity("--bandwidth", "bandwidth", "A serial wire that each request crosses."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def sender(given: dict[str, Any], size: float | None = None) -> Slots:
    """The setup that the options say. Raises click.UsageError for those that mean nothing without another."""
    if given["poll"] is None and (given["batch"] is not None or given["first_poll"] is not None):
        raise click.UsageError("--batch and --first-poll mean nothing without --poll", click.get_current_context())
    if given["bandwidth"] is not None and not size:
        raise click.UsageError("--bandwidth needs --size: how many bytes cross it?", click.get_current_context())
    return Slots(
        size=size or 0.0,
        turnaround=given["turnaround"] or 0.0,
        count=whole(given["slots"]),
        issue=given["issue"] or 0.0,
        poll=given["poll"] or 0.0,
        batch=whole(given["batch"]),
        first_poll=given["first_poll"],
        bandwidth=given["bandwidth"],
        moderation=_moderation(given.get("every"), given.get("after")),
    )


def whole(value: float | None) -> int | None:
    """A count as a number of things; None stays None."""
    return None if value is None else int(value)


def _moderation(every: float | None, after: float | None) -> Moderation | None:
    if every is None and after is not None:
        raise click.UsageError("--after means nothing without --every", click.get_current_context())
    return None if every is None else Moderation(int(every), after)
