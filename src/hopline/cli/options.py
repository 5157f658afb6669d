"""What the commands' options have in common: quantities with units, lists of them, JSON out.

What belongs here: click parameter types and the option decorators used by more than one command.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path as File
from typing import Any

import click

from hopline.errors import HoplineError
from hopline.jobs.loading import resolve
from hopline.quantity import EXAMPLES, Dimension, parse, parse_list
from hopline.records.fit import Fit, Prediction

_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_LIST = re.compile(r"[A-Za-z]\s*,|\.\.")


def typed(name: str) -> str:
    """How a parameter of the command that runs is typed as an option (ranks: -n)."""
    command = click.get_current_context().command
    return next(param.opts[0] for param in command.params if param.name == name)


class Quantity(click.ParamType):  # type: ignore[type-arg]
    """A quantity of one dimension, or with ``many`` a list or range of them; the value is SI floats."""

    def __init__(self, dimension: Dimension, many: bool = False, least: float = 0.0, bare: str = "") -> None:
        self.dimension, self.many, self.least, self.bare = dimension, many, least, bare
        self.name = dimension

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What --help shows in place of the value."""
        del param, ctx
        return self.dimension.upper() + ("[,...]" if self.many else "")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Text to SI; a refusal becomes one line that names the option."""
        if not isinstance(value, str):
            return value
        if not self.many and _LIST.search(value):
            raise click.UsageError(
                f"{param.opts[0] if param else ''}: {value!r} is a list, and this option takes one value", ctx
            )
        if self.bare and _PLAIN.fullmatch(value.strip()):
            value += self.bare
        try:
            found = parse_list(value, self.dimension) if self.many else [parse(value, self.dimension)]
            below = [v for v in found if v < self.least]
            if below:
                raise HoplineError(f"{value!r} is below {self.least:g}")
        except HoplineError as error:
            option = param.opts[0] if param is not None else ""
            raise click.UsageError(f"{option}: {error}", ctx) from None
        return found if self.many else found[0]


_SIZES = ("--size", "--sizes")


def quantity(
    name: str, dimension: Dimension, text: str, many: bool = False, least: float = 0.0, bare: str = ""
) -> Callable[..., Any]:
    """An option that takes a quantity; its help ends with an example.

    ``bare`` is the unit of a plain number, where the option's own name says it. ``--size`` and ``--sizes`` are one word
    where several sizes may be asked for.
    """
    kind = Quantity(dimension, many, least, bare)
    names = _SIZES if many and name in _SIZES else (name,)
    parameter = name.removeprefix("--").replace("-", "_")
    return click.option(*names, parameter, type=kind, help=f"{text} Like {EXAMPLES[dimension].split(', ')[0]}.")


class Share(click.ParamType):  # type: ignore[type-arg]
    """A part of something in per cent, like ``10%``; the value is 0.1."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Text to a fraction; without its % a number could mean either."""
        if not isinstance(value, str):
            return value
        found = _SHARE.fullmatch(value)
        if found is None:
            self.fail(f"{value!r} is no percentage: expected one like 10%", param, ctx)
        return float(found[1]) / 100


_SHARE = re.compile(r"\s*(\d{1,4}(?:\.\d{1,6})?)\s*%\s*")

machine_option = click.option(
    "--machine",
    "machine_name",
    required=True,
    metavar="NAME|FILE",
    help="A preset, a saved machine or a file (hopline presets lists them).",
)


def ranks_option(text: str) -> Callable[..., Any]:
    """An option for the number of ranks."""
    return click.option("-n", "--ranks", "ranks", type=click.IntRange(2), metavar="N", help=text)


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    del ctx, param
    return tuple(name.strip() for name in value.split(",") if name.strip()) if value else ()


places_option = click.option(
    "--on", "places", callback=_names, metavar="DEVICE[,...]",
    help="The devices of the ranks in order, like h0.gpu0,h1.gpu0 (* is any number: h0.gpu*); default: the first ones.",
)  # fmt: skip


def plot_option(what: str) -> Callable[..., Any]:
    """``--plot`` with what it shows; its ending must be that of a picture."""
    return click.option(
        "--plot",
        type=click.Path(path_type=File),
        callback=_picture_file,
        help=f"Picture of {what} (.html, .svg, .png); an earlier one is kept as .bak.",
    )


def _picture_file(ctx: click.Context, param: click.Parameter, value: File | None) -> File | None:
    del ctx, param
    if value is not None:
        resolve("hopline.show.images:check_ending")(value)
    return value


json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, in SI units.")


def print_json(answer: object) -> None:
    """Write ``answer`` as JSON; what is not a finite number becomes null."""
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    json.dump(_finite(answer), sys.stdout, indent=2, ensure_ascii=plain)
    sys.stdout.write("\n")


def fit_data(fit: Fit | None) -> dict[str, Any] | None:
    """A fit without its draws, of which the intervals are told."""
    if fit is None:
        return None
    pieces = []
    for i, piece in enumerate(fit.curve.pieces):
        latency, bandwidth = fit.intervals(i)
        pieces.append({**asdict(piece), "latency_interval": list(latency), "bandwidth_interval": list(bandwidth)})
    data = asdict(replace(fit, draws=()))
    del data["draws"]
    return {**data, "curve": {"pieces": pieces}}


def prediction_data(found: Prediction, smallest: float, largest: float) -> list[dict[str, Any]]:
    """A prediction as JSON: one entry for each size, told apart from extrapolations."""
    rows = zip(found.size.tolist(), found.time.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [
        {"size": m, "time_s": t, "low_s": low, "high_s": high, "extrapolation": not smallest <= m <= largest}
        for m, t, low, high in rows
    ]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
