"""Options that say what a schedule is made for.

What belongs here: bytes, hierarchy, chunks, channels and targets, and the shape they make.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from hopline.cli.options import quantity
from hopline.errors import InputError
from hopline.schedule.collectives.table import Collective
from hopline.schedule.shape import Shape


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    del param
    parts = [part.strip() for part in value.split(",")] if value else []
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise click.UsageError(f"--hierarchy: {value!r} is no list of whole numbers like 8,2", ctx)
    return tuple(int(part) for part in parts)


CHUNKS = 16
"""Where nobody says: enough that a pipeline shows."""
SIZE = "Bytes, as nccl-tests counts them (of MSCCL: of a rank's buffer)."


def _shape(levels: str, channels: str) -> tuple[Callable[..., Any], ...]:
    """All but ``--size``; ``levels``: what ``--hierarchy`` is where nobody says, ``channels``: what ``--channels`` is."""
    return (
        click.option(
            "--hierarchy", callback=_numbers, metavar="N[,...]",
            help=f"Hierarchical ones: ranks of each level, the innermost first, like 8,2; default: {levels}.",
        ),
        click.option(
            "--chunks", type=click.IntRange(1), metavar="K", help=f"Pieces that pipelines cut the message into ({CHUNKS})."
        ),
        click.option("--channels", type=click.IntRange(1), metavar="K", help=channels),
        click.option(
            "--targets", type=click.IntRange(1), metavar="N", help="Ranks that a reshard goes to, the last ones (half)."
        ),
    )  # fmt: skip


def shape_options(channels: str = "Rings at once (1).") -> Callable[..., Any]:
    """All but ``--size``, for a command that takes several sizes and has no network."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(_shape("all ranks on one level", channels)):
            command = option(command)
        return command

    return decorated


def schedule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All of them, in order; the command gets them as keywords that ``shape_of`` takes."""
    options = (
        quantity("--size", "size", SIZE),
        *_shape("those of the network", "Rings at once (default: one for each NIC)."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def shape_of(
    entry: Collective, ranks: int | None, size: float | None, hierarchy: tuple[int, ...], chunks: int | None,
    channels: int | None, targets: int | None, network: tuple[tuple[int, ...], int] = ((), 1),
) -> Shape:  # fmt: skip
    """What the options say of an entry; ``network``: its levels and the NICs of a rank, for what they leave open.

    Options that the entry does not use are refused, so that nobody takes them for heeded.
    """
    told: dict[str, Any] = {"levels": hierarchy, "chunks": chunks, "channels": channels, "targets": targets}
    refuse_unused(told, entry.uses, entry.name)
    if entry.benchmark == "barrier":
        if size:
            raise click.UsageError(f"--size: {entry.name} moves no bytes", click.get_current_context())
        size = 0.0
    if ranks is None or size is None:
        lacking = " and ".join(name for name, value in (("-n", ranks), ("--size", size)) if value is None)
        raise click.UsageError(f"{entry.name} needs {lacking}", click.get_current_context())
    if hierarchy and math.prod(hierarchy) != ranks:
        shown = ",".join(map(str, hierarchy))
        raise InputError(f"--hierarchy {shown} holds {math.prod(hierarchy)} ranks: expected {ranks}")
    open_levels, nics = network
    defaults: dict[str, Any] = {
        "levels": open_levels,
        "chunks": CHUNKS,
        "channels": nics,
        "targets": max(1, ranks // 2),
    }
    chosen = {name: told[name] or default for name, default in defaults.items() if name in entry.uses}
    return Shape(ranks, whole(size), **chosen)


def file_size(given: dict[str, Any]) -> int | None:
    """The size that the options give to a file. Raises UsageError for what files say themselves."""
    told = {"levels": given["hierarchy"], **{name: given[name] for name in ("chunks", "channels", "targets")}}
    refuse_unused(told, (), "a file, which says all")
    return None if given["size"] is None else whole(given["size"])


def refuse_unused(told: dict[str, Any], uses: tuple[str, ...], whose: str) -> None:
    """Raise UsageError for an option that was given and means nothing to ``whose``."""
    for name, value in told.items():
        if value and name not in uses:
            option = {"levels": "hierarchy"}.get(name, name)
            raise click.UsageError(f"--{option} means nothing to {whose}", click.get_current_context())


def whole(size: float) -> int:
    """A size in whole bytes. Raises InputError for any other."""
    if not float(size).is_integer() or size >= 2**62:
        raise InputError(f"--size is {size!r} bytes: expected a whole number below 4 EiB")
    return int(size)
