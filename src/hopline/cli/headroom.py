"""``hopline headroom``: the buffer that a lossless line needs, and whether ECN or PFC fires first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.errors import HoplineError
from hopline.jobs import headroom as jobs
from hopline.jobs.headroom import Buffer, Needed, Order
from hopline.jobs.loading import resolve
from hopline.quantity import show
from hopline.show import headroom as pages
from hopline.show.document import Block, print_document

EXAMPLES = """\b
Examples:
  hopline headroom --rate 100Gb/s --cable 100m --mtu 1500B
  hopline headroom --rate 400Gb/s --cable 300m --medium fibre --mtu 4200B --response 1us --headroom 100KB
  hopline headroom --rate 100Gb/s --cable 40m --mtu 9216B --profile size=54272,xon=18432,xoff=35840
  hopline headroom --rate 100Gb/s --cable 40m --mtu 4200B --buffer 32MiB --ports 32 --classes 2 --ecn hpcc --alpha 1/8
"""
_FAULTS = 1


class _Read(click.ParamType):  # type: ignore[type-arg]
    """Text by one of the job's readers."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self.read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A refusal becomes one line that names the option."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except HoplineError as error:
            raise click.UsageError(f"{param.opts[0] if param else ''}: {error}", ctx) from None


@click.command(epilog=EXAMPLES)
@quantity("--rate", "bandwidth", "Of the line.")
@click.option("--cable", type=_Read("length", jobs.length), metavar="LENGTH", help="Of the cable. Like 40m.")
@quantity("--mtu", "size", "Largest frame of the lossless class.", least=1)
@quantity("--reverse-mtu", "size", "Largest frame the other way, that the pause waits for (default: --mtu).")
@quantity("--response", "time", "Until the far end obeys a pause that it got (default: none).")
@click.option(
    "--medium", default="cable", metavar="NAME", help="cable (5 ns/m, default), copper (4.76) or fibre (5.13)."
)
@click.option("--gaps", is_flag=True, help="Count preamble and gap, 20 B a frame.")
@quantity("--headroom", "size", "What is set: is it enough, and for which cable?")
@click.option(
    "--profile",
    type=_Read("profile", jobs.profile),
    metavar="size=,xon=,xoff=",
    help="A SONiC profile; its xoff is headroom.",
)
@quantity("--buffer", "size", "Of the switch: which fires first, ECN or PFC?", least=1)
@click.option("--ports", type=click.IntRange(1, 4096), metavar="N", help="Of the switch.")
@click.option("--classes", type=click.IntRange(1, 8), metavar="N", help="Lossless ones (default 1).")
@click.option("--ecn", metavar="KMIN:KMAX|NAME", help="Where marks begin and reach pmax, or those of hpcc or simai.")
@click.option(
    "--alpha", type=_Read("factor", jobs.ratio), metavar="FACTOR", help="Xoff = alpha x free. Like 1/8, 2^-3."
)
@quantity("--xoff", "size", "A static Xoff instead of --alpha.")
@quantity("--xon", "size", "Where a paused sender may go on.")
@click.option(
    "--senders", type=click.IntRange(1, 4096), metavar="K", help="Ingress ports that feed a congested queue (1)."
)
@click.option(
    "--feeds", metavar="NAME", help="own: each congested queue has senders of its own (default); one: they share them."
)
@quantity("--used", "size", "What other queues hold of the shared buffer (default: nothing).")
@quantity("--reaction", "time", "Until marks slow the senders down; needs --senders of 2 or more.")
@plot_option("the terms, or with --buffer of the order")
@json_option
def headroom(
    rate: float | None, cable: float | None, mtu: float | None, reverse_mtu: float | None, response: float | None,
    medium: str, gaps: bool, headroom: float | None, profile: tuple[float, float, float] | None, plot: File | None,
    as_json: bool, **told: Any,
) -> None:  # fmt: skip
    """The buffer that a lossless line needs beyond its Xoff, and whether ECN marks come before pauses.

    Headroom is what can still arrive after a queue has said stop: a frame that the pause waits for, the pause, the cable
    twice, the response, and one more frame. With --buffer thresholds are held against one another for one and for many
    congested queues.

    Exit code: 0 nothing is set wrongly, 1 something is, 2 an option is bad.
    """
    missing = [name for name, value in (("--rate", rate), ("--cable", cable), ("--mtu", mtu)) if value is None]
    if missing or rate is None or cable is None or mtu is None:
        raise click.UsageError(f"give {' and '.join(missing)}, like --rate 100Gb/s --cable 40m --mtu 4200B")
    if headroom is not None and profile is not None:
        raise click.UsageError("--profile says the headroom, its xoff: leave --headroom out")
    line = jobs.line(rate, cable, mtu, response or 0.0, reverse_mtu, medium, gaps)
    found = jobs.needed(line, headroom, profile)
    room = headroom if profile is None else profile[2]
    order = _order(told, rate, found.own.total if room is None else room, profile)
    title = f"A lossless line of {show(rate, 'bandwidth')} over {cable:g} m, frames of {show(mtu, 'size')}"
    if plot is not None:
        _draw(plot, found, order, title)
    if as_json:
        print_json({**_plain(found), "order": None if order is None else asdict(order)})
    else:
        print_document(_page(title, found, order, told["buffer"]))
        if plot is not None:
            click.echo(f"\nPicture: {plot}")
    if found.faults or (order is not None and order.faults):
        raise click.exceptions.Exit(_FAULTS)


def _order(told: dict[str, Any], rate: float, room: float, profile: tuple[float, float, float] | None) -> Order | None:
    """The question about the switch; None where there is none."""
    if told["buffer"] is None:
        given = [f"--{name}" for name, value in told.items() if value is not None]
        if given:
            raise click.UsageError(f"{given[0]} goes with --buffer")
        return None
    for name in ("ports", "ecn"):
        if told[name] is None:
            raise click.UsageError(f"--buffer needs --{name}")
    if (told["alpha"] is None) == (told["xoff"] is None):
        raise click.UsageError("--buffer needs one threshold of PFC: --alpha (dynamic) or --xoff (static)")
    if told["reaction"] and (told["senders"] or 1) < 2:
        raise click.UsageError(
            "--reaction needs --senders of 2 or more: one sender does not fill a queue of its own rate"
        )
    try:
        ecn = jobs.ecn(told["ecn"], rate)
    except HoplineError as error:
        raise click.UsageError(f"--ecn: {error}") from None
    xon = told["xon"] if profile is None or told["xon"] is not None else profile[1]
    buffer = Buffer(
        told["buffer"], told["ports"], told["classes"] or 1, ecn, told["alpha"], told["xoff"], xon, told["senders"] or 1,
        told["feeds"] or "own", told["used"] or 0.0,
    )  # fmt: skip
    return jobs.order(buffer, room, rate, told["reaction"] or 0.0)


def _page(title: str, found: Needed, order: Order | None, buffer: float | None) -> list[Block]:
    line = found.line
    blocks = pages.needed(
        title, found.own, found.others, found.vendors, found.longest, found.faults, line.response,
        2 * line.rate * line.per_metre,
    )  # fmt: skip
    if order is None or buffer is None:
        return blocks
    switch, rule = order.switch, order.dcqcn
    return [
        *blocks,
        *pages.pool(buffer, order.ports, order.classes, order.reserved, order.used, order.together, switch.pool),
        *pages.order(
            order.firings, switch.ecn, order.flips, order.full, order.late, order.growth, order.ports, order.faults
        ),
        *pages.cures(switch.alpha, order.enough, order.firings[-1]),
        *pages.rules(rule.pause, rule.naive, rule.dynamic, switch.ecn[0], switch.alpha),
    ]


def _plain(found: Needed) -> dict[str, Any]:
    plain = asdict(found)
    return {
        **plain,
        "headroom_bytes": found.own.total,
        "pause_loop_s": found.own.loop,
        "propagation_s": found.line.propagation,
    }


def _draw(plot: File, found: Needed, order: Order | None, title: str) -> None:
    if order is None:
        spec = resolve("hopline.show.headroom_picture:terms")((found.own, *found.others), title)
    else:
        levels = zip(("KMIN", "KMAX"), order.switch.ecn, strict=True)
        marks = {f"{name} {show(level, 'size')}": level for name, level in levels if level}
        told = f"ECN against PFC, {show(order.switch.pool, 'size')} shared"
        spec = resolve("hopline.show.headroom_picture:order")(order.firings, marks, order.flips, told)
    resolve("hopline.show.images:save")(spec, plot)
