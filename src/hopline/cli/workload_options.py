"""Options of ``hopline workload``: a number of tokens, and which options have a say.

What belongs here: what is refused before a job is looked at.
"""

from __future__ import annotations

import re
from typing import Any

import click
from click.core import ParameterSource

from hopline.cli.options import typed
from hopline.workload import files
from hopline.workload.shapes import Model


class Tokens(click.ParamType):  # type: ignore[type-arg]
    """A number of tokens: 8192, 8Ki, 2Mi; 8k could mean two numbers."""

    name = "tokens"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Text to a whole number of at least 1."""
        found = _TOKENS.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no number of tokens: expected a whole one, like 8192 or 8Ki", param, ctx)
        number, prefix = int(found[1]), found[2]
        if prefix in _BOTH:
            tens, twos = number * _BOTH[prefix], number * _PREFIX[f"{prefix.upper()}i"]
            self.fail(f"{value!r} is ambiguous: it could be {tens} or {twos} ({number}{prefix.upper()}i)", param, ctx)
        if not number:
            self.fail(f"{value!r} is below 1", param, ctx)
        return number * _PREFIX.get(prefix, 1)


_PREFIX = {"Ki": 1 << 10, "Mi": 1 << 20}
_BOTH = {"k": 1000, "K": 1000, "m": 10**6, "M": 10**6}
_TOKENS = re.compile(r"(\d{1,12})\s?([kKmM]?i?)")


def _told() -> set[str]:
    """Options that were typed."""
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE}
    return given - {"model", "as_json", "as_file"}


def check_given(model: str | None, as_file: bool) -> None:
    """Refuse options that would have no say."""
    told = sorted(map(typed, _told()))
    if model is None and (told or as_file):
        option = told[0] if told else "--show"
        raise click.UsageError(f"{option} needs a MODEL: one of {', '.join(files.model_names())}, or a .toml file")
    if as_file and told:
        raise click.UsageError(f"{told[0]} does not go with --show, which prints the model's file")


_OF_PHASES = {
    "micro_batch": ("training",),
    "grad_dtype": ("training",),
    "zero": ("training",),
    "vpp": ("training",),
    "kv_dtype": ("prefill", "decode"),
}


def check_phase(phase: str, model: Model, ep: int) -> None:
    """Refuse options that have no say in ``phase``."""
    told = _told()
    for name in sorted(told):
        if phase not in _OF_PHASES.get(name, (phase,)):
            hint = ": --batch says how many sequences are at once" if name == "micro_batch" else ""
            of = " and ".join(_OF_PHASES[name])
            raise click.UsageError(f"{typed(name)} does not go with --phase {phase}, but with {of}{hint}")
    if "dispatch" in told and (model.experts is None or ep == 1):
        raise click.UsageError("--dispatch is of tokens on their way to experts of other ranks, and --ep is 1")
