"""``hopline deadlock``: can flows come to wait for one another in a circle, and what would exclude it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.jobs import deadlocks
from hopline.jobs.deadlocks import Asked
from hopline.jobs.loading import resolve
from hopline.records.deadlock import Answer, Remedy, Wait
from hopline.show import deadlock as pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline deadlock --machine torus:dims=5,rate=50GB/s --plot cycle.svg
  hopline deadlock --machine torus:dims=5,rate=50GB/s --classes valley    # two classes, no cycle
  hopline deadlock --machine dragonfly:groups=9,routers=4,hosts=2,rate=25GB/s --routing ecmp
  hopline deadlock routes.txt --bandwidth 40Gb/s --ttl 16

\b
A route file has a line for each flow, its nodes in order, or its hops with classes; in brackets what it sends:
  f1: A leaf0 spine1 leaf2 B
  f2: B>leaf2:0 leaf2>spine1:0 spine1>leaf0:1 leaf0>A:1 [10Gb/s]
"""
_CYCLE = 1


def _listed(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    del ctx, param
    return tuple(name.strip() for name in value.split(",") if name.strip()) if value else ()


@click.command(epilog=EXAMPLES)
@click.argument("file", type=click.Path(), metavar="[FILE]", required=False)
@click.option("--machine", metavar="NAME|FILE|TOPOLOGY", help="Whose edges the flows take (hopline presets).")
@click.option("--routing", metavar="NAME", help="Without a FILE: shortest (default), d-mod-k, ecmp, up-down.")
@click.option(
    "--pairs", callback=_listed, metavar="A>B[,...]", help="Without a FILE: these flows (default: all pairs)."
)
@click.option("--channels", type=click.IntRange(1, 64), metavar="C", help="Without a FILE: flows of each pair (1).")
@click.option(
    "--classes", metavar="RULE",
    help="Buffer class of each hop: one (default without a FILE); hop: rises with each hop; dateline: rises over links of "
    "--mark; valley: rises where a flow goes up again in an order of nodes. A FILE says its own.",
)  # fmt: skip
@click.option("--mark", "marked", callback=_listed, metavar="A>B[,...]", help="Links that --classes dateline rises on.")
@quantity("--bandwidth", "bandwidth", "With a FILE and no machine: what every edge carries, one way.")
@click.option("--ttl", type=click.IntRange(1, 255), metavar="HOPS", help="Hops that a packet lives, for routing loops.")
@plot_option("the cycle")
@json_option
def deadlock(
    file: str | None, machine: str | None, routing: str | None, pairs: tuple[str, ...], channels: int | None,
    classes: str | None, marked: tuple[str, ...], bandwidth: float | None, ttl: int | None, plot: File | None, as_json: bool,
) -> None:  # fmt: skip
    """Look for flows that can come to wait for one another in a circle, in a lossless network.

    A packet that holds a buffer waits for one at the next hop, of its class. A circle of such waits is found or excluded,
    printed hop by hop with the flows that make it, and broken in three ways, with the fewest flows: raised classes, other
    ways, an up-down order. Each is looked at again. Flows that come back to a node are named too.

    FILE lists flows; --machine with --routing makes them. A circle is necessary for a deadlock, not sufficient. Deadlocks of
    Send and Recv in a program are found by hopline schedule check.

    Exit code: 0 no circle of waits and no routing loop, 1 one was found, 2 the file or an option is bad.
    """
    asked = _asked(file, machine, routing, pairs, channels, bandwidth)
    rule = classes or (None if file else "one")
    if marked and rule != "dateline":
        raise click.UsageError("--mark goes with --classes dateline")
    if rule is not None:
        asked = deadlocks.with_classes(asked, rule, marked)
    found = deadlocks.find(asked, ttl)
    title = f"{asked.title}, classes: {'as in the file' if rule is None else deadlocks.CLASS_RULES[rule][0]}"
    if plot is not None and found.cycle:
        spec = resolve("hopline.show.deadlock_picture:picture")(asked.net, asked.trails, found.cycle, title)
        resolve("hopline.show.images:save")(spec, plot)
    if as_json:
        print_json(_data(asked, found, title))
    else:
        print_document(pages.page(title, asked.net, asked.trails, found, ttl, asked.note if found.cycle else ""))
        if plot is not None:
            click.echo(f"\nPicture: {plot}" if found.cycle else "\nNo picture: there is no cycle to draw")
    if found.cycle or found.loops:
        raise click.exceptions.Exit(_CYCLE)


def _asked(
    file: str | None, machine: str | None, routing: str | None, pairs: tuple[str, ...], channels: int | None,
    bandwidth: float | None,
) -> Asked:  # fmt: skip
    if file is not None:
        for name, value in (("--routing", routing), ("--pairs", pairs), ("--channels", channels)):
            if value:
                raise click.UsageError(f"{name} does not go with a FILE, which says where flows go")
        if machine is not None and bandwidth is not None:
            raise click.UsageError("--bandwidth does not go with --machine, which says it")
        return deadlocks.of_file(file, machine, bandwidth)
    if machine is None:
        raise click.UsageError("which flows? Give a FILE of routes, or --machine")
    if bandwidth is not None:
        raise click.UsageError("--bandwidth does not go with --machine, which says it")
    return deadlocks.of_name(machine, routing or "shortest", pairs, channels or 1)


def _data(asked: Asked, found: Answer, title: str) -> dict[str, Any]:
    """The answer with names in place of numbers."""
    net, flows = asked.net, asked.trails.flows
    plain = asdict(found)
    return {
        **plain,
        "title": title,
        "note": asked.note,
        "cycle": [_wait(asked, wait) for wait in found.cycle],
        "forbidden": [[[net.edge(edge), one] for edge, one in turn] for turn in found.forbidden],
        "remedies": [_remedy(asked, remedy) for remedy in found.remedies],
        "loops": [
            {
                "flow": flows[loop.flow],
                "nodes": [net.names[node] for node in loop.nodes],
                "rate_bytes_per_s": loop.rate,
                "threshold_bytes_per_s": loop.threshold,
            }
            for loop in found.loops
        ],
    }


def _wait(asked: Asked, wait: Wait) -> dict[str, Any]:
    return {
        "edge": asked.net.edge(wait.edge),
        "class": wait.buffer_class,
        "flows": [asked.trails.flows[flow] for flow in wait.flows],
        "offered_bytes_per_s": wait.offered,
        "carries_bytes_per_s": wait.carries,
        "congests": wait.congests,
    }


def _remedy(asked: Asked, remedy: Remedy) -> dict[str, Any]:
    net = asked.net
    return {
        "kind": remedy.kind,
        "flows": len(remedy.changes),
        "least": remedy.least,
        "exact": remedy.exact,
        "classes": remedy.classes,
        "free": remedy.free,
        "root": None if remedy.root is None else net.names[remedy.root],
        "turns": [[net.edge(a), net.edge(b)] for a, b in remedy.turns],
        "changes": [
            {
                "flow": asked.trails.flows[change.flow],
                "edges": [net.edge(edge) for edge in change.edges],
                "classes": list(change.classes),
            }
            for change in remedy.changes
        ],
    }
