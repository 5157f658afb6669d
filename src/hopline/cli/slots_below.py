"""The sub-commands of ``hopline slots``: buffers, connection state, faults.

What belongs here: their options and their answers as JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, astuple
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.slots_options import sender, sender_options, whole
from hopline.jobs.loading import resolve
from hopline.model import slots as model
from hopline.quantity import counted, show
from hopline.show import slots as pages
from hopline.show.document import Block, Heading, Line, print_document


@click.command()
@quantity("--period", "time", "The producer fills a buffer every so often.")
@quantity("--busy", "time", "A buffer is in use so long from the begin of its filling until its completion.")
@quantity("--poll", "time", "Completions are looked at every so often (none told: each gives its buffer back at once).")
@quantity("--batch", "count", "Buffers given back at a look (none told: all).", least=1)
@quantity("--first-poll", "time", "The first look (default: after one interval).")
@json_option
def buffers(as_json: bool, **given: Any) -> None:
    """How many buffers keep a producer running.

    A buffer is in use from the begin of its filling until a poll sees its completion; then it can be filled again.
    """
    period, busy, poll, batch = given["period"], given["busy"], given["poll"] or 0.0, whole(given["batch"])
    if not period or busy is None:
        raise click.UsageError(
            "--period and --busy are needed, like --period 4us --busy 30us", click.get_current_context()
        )
    if not poll and (batch is not None or given["first_poll"] is not None):
        raise click.UsageError("--batch and --first-poll mean nothing without --poll", click.get_current_context())
    found = model.buffers(period, busy, poll, given["first_poll"], batch)
    if as_json:
        print_json({"buffers": found})
        return
    print_document(pages.buffers(found, period, batch, poll))


_CLUSTER: tuple[tuple[str, str, int], ...] = (
    ("--nodes", "Nodes.", 1),
    ("--processes", "Processes on each node.", 1),
    ("--peers", "Processes on other nodes that each talks to (default: all).", 0),
    ("--connections", "Queue pairs for each pair of processes (1).", 1),
    ("--nics", "NICs of a node, among which its contexts are spread (1).", 1),
    ("--initiators", "DC initiators of a process (8).", 1),
    ("--endpoints", "Jetties of a process (1).", 1),
    ("--channels", "Transport channels of a pair of nodes (1).", 1),
)
_SIZES: tuple[tuple[str, str], ...] = (
    ("--queue-pair", "Bytes of a queue pair's context (512)."),
    ("--channel", "Bytes of a transport channel's context (512)."),
    ("--endpoint", "Bytes of a jetty's context (256)."),
    ("--buffer", "Bytes of a posted receive (8 KiB)."),
)


def _state_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, text in reversed(_SIZES):
        command = quantity(name, "size", text)(command)
    for name, text, least in reversed(_CLUSTER):
        command = quantity(name, "count", text, least=least)(command)
    return command


@click.command()
@_state_options
@quantity("--depth", "count", "Receives posted to a queue pair of its own (128).")
@quantity("--shared-depth", "count", "Receives posted to a shared queue (4096).")
@quantity("--cache", "size", "The NIC's cache for contexts (about 2 MB).")
@quantity("--fetch", "time", "Time to fetch a context from host memory (about 0.5 us).")
@quantity("--fetches", "count", "Fetches at a time (1, the worst case).", least=1)
@quantity("--rate", "count", "Messages a second of the NIC when no context misses (100000000).", least=1)
@plot_option("bytes of contexts against the number of nodes")
@json_option
def state(plot: File | None, as_json: bool, **given: Any) -> None:
    """Contexts and bytes of connection state: RC, RC with a shared receive queue, DC, and connectionless jetties.

    A context that the NIC's cache does not hold is fetched from host memory, while nothing else moves. By "uniform" each
    look-up goes to any context alike; by "cyclic" they are used in turn, as in an all-to-all, and then LRU misses all.
    """
    if given["nodes"] is None or given["processes"] is None:
        raise click.UsageError(
            "--nodes and --processes are needed, like --nodes 128 --processes 8", click.get_current_context()
        )
    found = resolve("hopline.jobs.slot_state:states")(
        {name: value for name, value in given.items() if value is not None}
    )
    if plot is not None:
        spec = resolve("hopline.show.slots_picture:grown")(
            found.grown, found.cache.size, "Contexts of a NIC, all talking to all"
        )
        resolve("hopline.show.images:save")(spec, plot)
    if as_json:
        print_json(asdict(found))
        return
    cluster, cache = found.cluster, found.cache
    processes = f"{cluster.processes} processes, each talks to {cluster.talks_to:,} on other nodes"
    title = f"{counted(cluster.nodes, 'node')} x {processes}"
    note = (
        f"A cache of {show(cache.size, 'size')} a NIC, a fetch {show(cache.fetch, 'time')}, {cache.overlap} at a time, "
        f"{pages.per_second(cache.rate)} without misses. "
        "These and the sizes of contexts are approximate: give your own. What DC targets keep for the moment is not counted."
    )
    blocks: list[Block] = []
    for access, rows in found.rows.items():
        blocks += pages.states([astuple(row) for row in rows], f"{title}; {access} use", note)
    print_document([*blocks[:2], *blocks[3:]])
    if plot is not None:
        click.echo(f"\nPicture: {plot}")


@click.command()
@sender_options
@quantity("--size", "size", "Bytes of a request; only for --bandwidth.")
@quantity("--endpoints", "count", "Endpoints that take turns (1).", least=1)
@quantity("--dead", "count", "How many of them never answer (0).")
@quantity("--cap", "count", "Most slots for each endpoint, with isolation (default: an even share).", least=1)
@quantity("--lost-every", "count", "Every so many-th completion is lost.", least=1)
@quantity("--timeout", "time", "After it a request without completion gives its slot back (none told: never).")
@plot_option("answered requests over time")
@json_option
def faults(plot: File | None, as_json: bool, **given: Any) -> None:
    """Who else stalls when an endpoint is dead or completions are lost, with isolation and without.

    Without isolation requests to all endpoints go out in turn and take any slot: those to a dead one keep it until a timeout.
    With isolation an endpoint that holds its share is passed over.
    """
    if given["slots"] is None or not (given["dead"] or given["lost_every"]):
        raise click.UsageError(
            "--slots, and --dead or --lost-every are needed, like --slots 64 --endpoints 8 --dead 1",
            click.get_current_context(),
        )
    asked = sender(given, given["size"])
    wrong = resolve("hopline.sim.slots_faults:Faults")(
        endpoints=whole(given["endpoints"]) or 1, dead=whole(given["dead"]) or 0, cap=whole(given["cap"]),
        lost_every=whole(given["lost_every"]), timeout=given["timeout"],
    )  # fmt: skip
    found = resolve("hopline.jobs.slot_faults:stalls")(asked, wrong)
    if plot is not None:
        resolve("hopline.show.images:save")(
            resolve("hopline.show.slots_picture:left")(found.over_time(), "What the others still get"), plot
        )
    if as_json:
        print_json(_stalls(found))
        return
    rows = [(way.name, way.formula, way.rate, way.run.stalled, way.run.gone) for way in found.shared]
    told: list[Block] = [Heading("Answered requests a second"), Line(pages.setup(asked), "faint")]
    print_document([*told, *pages.stalls(found.healthy, found.binds, rows, found.leaks)])
    if plot is not None:
        click.echo(f"\nPicture: {plot}")


def _stalls(found: Any) -> dict[str, Any]:
    ways = [
        {"sharing": way.name, "formula_per_s": way.formula, "simulated_per_s": way.rate, "stalled_s": way.run.stalled,
         "slots_gone": way.run.gone}
        for way in found.shared
    ]  # fmt: skip
    leaks = None if found.leaks is None else {"half_s": found.leaks[0], "all_s": found.leaks[1]}
    return {"healthy_per_s": found.healthy, "binds": found.binds, "shared": ways, "leaks": leaks}
