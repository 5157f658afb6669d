"""Options that say which network a collective runs on: a machine, or numbers.

What belongs here: the options. The network that they make is ``network_given``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from hopline.cli.options import Quantity, places_option, quantity


def _listed(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    del ctx, param
    return tuple(dict.fromkeys(name.strip() for name in _BETWEEN.split(value) if name.strip())) if value else ()


_BETWEEN = re.compile(r",(?![^,:=]*=)")
"""Between names; what follows a comma within one (``torus:dims=4x4,rate=50GB/s``) is a key with its value."""


_ONE = (
    click.option(
        "--machine",
        metavar="NAME|FILE",
        help="A preset, a saved machine, a file, or a topology: torus:dims=4x4,rate=50GB/s (hopline presets).",
    ),
    click.option("-n", "--ranks", "ranks", type=click.IntRange(1), metavar="N", help="Number of ranks."),
)
_SEVERAL = (
    click.option(
        "--machine", "machine", callback=_listed, metavar="NAME|FILE[,...]",
        help="A preset, a saved machine or a file (hopline presets); several are set side by side.",
    ),
    click.option(
        "-n", "--ranks", "ranks", type=Quantity("count", many=True, least=1), metavar="N[,...]",
        help="Number of ranks; several are set side by side (2,4,8 or 2..64:x2).",
    ),
)  # fmt: skip
_OPTIONS = (
    places_option,
    quantity("--latency", "time", "Without a machine: start-up of a message (α)."),
    quantity("--bandwidth", "bandwidth", "Without a machine: bandwidth of a rank's port, one way (β)."),
    click.option("--nics", type=click.IntRange(1), metavar="K", help="Without a machine: ports of each rank (1)."),
    click.option(
        "--level", "levels", multiple=True, metavar="RANKS:TIME:BANDWIDTH[:NICS]",
        help="Without a machine, for several levels, the innermost first: --level 8:1us:450GB/s --level 2:2us:50GB/s.",
    ),
    quantity("--reduce", "bandwidth", "How fast a rank adds up (default: a third of the memory's, else no time)."),
)  # fmt: skip


def network_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All of them, in order; the command gets them as keywords that ``network_given.network`` takes."""
    for option in reversed((*_ONE, *_OPTIONS)):
        command = option(command)
    return command


def networks_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for several machines and numbers of ranks: keywords that ``network_given.each_network`` takes."""
    for option in reversed((*_SEVERAL, *_OPTIONS)):
        command = option(command)
    return command
