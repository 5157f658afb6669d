"""From the options of ``hopline step`` to the parts of a step.

What belongs here: which options go together, and what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import click

from hopline.cli.network_given import network
from hopline.cli.options import typed
from hopline.jobs.loading import resolve
from hopline.jobs.step_parts import Parts, Pipe, Price, Sending, Window
from hopline.model.step import Slow
from hopline.quantity import show

Told = Mapping[str, Any]


class Number(click.FloatRange):
    """A finite number of at least ``least`` (or above it)."""

    def __init__(self, least: float, above: bool = False) -> None:
        super().__init__(min=least, min_open=above)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Text to a float; what is not finite is refused."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return found


_NETWORK = ("machine", "ranks", "places", "nics", "levels", "reduce")


@dataclass(frozen=True, slots=True)
class Asked:
    """A step, the same after a change, and what is taken for granted, in words."""

    parts: Parts
    after: Parts | None
    words: tuple[str, ...]


def asked(told: Told) -> Asked:
    """The step that the options say. Raises click.UsageError, and what pricing raises."""
    _check(told)
    sending, words = _sending(told)
    parts = Parts(
        told["compute"], sending, told["update"] or 0.0, told["ready"], told["backward"], told["buckets"],
        told["bucket_size"], Slow(told["slow_compute"] or 1.0, told["slow_comm"] or 1.0), _pipe(told),
    )  # fmt: skip
    return Asked(parts, _after(told, parts), words)


def _after(told: Told, parts: Parts) -> Parts | None:
    if told["comm_after"] is not None:
        return replace(parts, sending=replace(parts.sending, seconds=told["comm_after"]))
    if told["faster"] is not None:
        return replace(parts, sending=replace(parts.sending, factor=1 / told["faster"]))
    return None


def _pipe(told: Told) -> Pipe | None:
    if told["microbatches"] is None:
        return None
    return Pipe(told["stages"] or 1, told["microbatches"], told["virtual"] or 1, told["hop"] or 0.0)


def _sending(told: Told) -> tuple[Sending, tuple[str, ...]]:
    if told["size"] is None:
        return Sending(seconds=told["comm"] or 0.0), ()
    if told["op"] is None:
        return _line(told), ()
    return _collective(told)


def _line(told: Told) -> Sending:
    """α + bytes / β."""
    window = None
    if told["request"] is not None:
        window = Window(told["request"], told["turnaround"], told["in_flight"])
    return Sending(size=told["size"], latency=told["latency"] or 0.0, bandwidth=told["bandwidth"], window=window)


def _collective(told: Told) -> tuple[Sending, tuple[str, ...]]:
    """The collective's closed form on a network."""
    resolve("hopline.jobs.collectives.names:asked")(told["op"], told["algorithm"])
    given = {name: told[name] for name in (*_NETWORK, "latency", "bandwidth")}
    if told["machine"] is not None and told["ranks"] is not None:
        network(**{**given, "ranks": 1, "places": ()})
        machine = resolve("hopline.jobs.machines:find")(told["machine"])
        gamma = None if told["reduce"] is None else 1 / told["reduce"]
        ground = resolve("hopline.jobs.subgroups:of_machine")(machine, told["ranks"], told["places"], gamma)
        made, premises = ground.network(told["ranks"]), ground.grown(told["ranks"])
        cut = [text] if (text := ground.uneven(told["ranks"])) else []
    else:
        made = network(**given)
        premises, cut = made.premises, []
    pricing = resolve("hopline.jobs.collective_prices:Pricing")(made, told["op"], told["algorithm"])
    if made.ranks > 1 and told["size"] and not pricing.price(told["size"]).bytes:
        raise click.UsageError(f"--op {told['op']} moves no bytes: expected a collective that does, like all_reduce")
    price: Callable[[float], Price] = pricing.price
    words = [pricing.words(told["size"]), *cut, *(f"{premise.text}: {premise.effect}" for premise in premises)]
    return Sending(size=told["size"], price=price, rises=pricing.rises), tuple(words)


# --- which go together


_SENT = ("comm", "size")
_OVERLAPS = ("ready", "buckets", "bucket_size")
_NEEDS_ONE: Mapping[str, tuple[str, ...]] = {
    "faster": _SENT,
    "ready": _SENT,
    "buckets": _SENT,
    "budget": _SENT,
    "backward": ("buckets", "bucket_size"),
    "slow_compute": _OVERLAPS,
    "slow_comm": _OVERLAPS,
}
"""Option -> those of which it needs one."""
_NEEDS = {
    "comm_after": ("comm",),
    "bucket_size": ("size",),
    "op": ("size",),
    "algorithm": ("op",),
    "machine": ("op",),
    "levels": ("op",),
    "ranks": ("op",),
    "places": ("op",),
    "nics": ("op",),
    "reduce": ("op",),
    "request": ("turnaround", "bandwidth", "size"),
    "turnaround": ("request",),
    "in_flight": ("request",),
    "stages": ("microbatches",),
    "virtual": ("stages",),
    "hop": ("stages",),
}
_AGAINST = (
    ("comm", "size"),
    ("comm_after", "faster"),
    ("buckets", "bucket_size"),
    ("ready", "backward"),
    ("op", "request"),
)


def _check(told: Told) -> None:
    """Refuse what has no say, and name what is missing."""
    given = [name for name, value in told.items() if value not in (None, ())]
    if "compute" not in given:
        raise click.UsageError("--compute is missing: what does a rank compute in a step? Like --compute 20ms")
    for one, other in _AGAINST:
        if one in given and other in given:
            raise click.UsageError(f"{typed(one)} and {typed(other)} say the same twice: give one of them")
    for name in given:
        for needed in _NEEDS.get(name, ()):
            if needed not in given:
                raise click.UsageError(f"{typed(name)} needs {typed(needed)}")
    for name in given:
        if name in _NEEDS_ONE and not set(_NEEDS_ONE[name]) & set(given):
            raise click.UsageError(f"{typed(name)} needs {' or '.join(map(typed, _NEEDS_ONE[name]))}")
    if told["stages"] == 1 and {"virtual", "hop"} & set(given):
        raise click.UsageError("--virtual and --hop are of several stages, and --stages is 1")
    for name in ("latency", "bandwidth"):
        if name in given and "size" not in given:
            raise click.UsageError(f"{typed(name)} needs --size")
    if "size" in given and "op" not in given and "bandwidth" not in given:
        raise click.UsageError(f"{show(told['size'], 'size')} over what? Give --bandwidth, or --op with a network")
    if not told["compute"]:
        raise click.UsageError("--compute is 0: expected more")
