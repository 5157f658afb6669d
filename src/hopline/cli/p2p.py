"""``hopline p2p``: the cost of one transfer, or of many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import json_option, plot_option, quantity
from hopline.cli.p2p_page import Asked, print_many, print_one
from hopline.errors import InputError, QuantityError
from hopline.jobs import routes, transfer
from hopline.jobs.loading import resolve
from hopline.jobs.transfer import Transfer, Window
from hopline.machine.topology import Path
from hopline.model.p2p import WAYS, Cut
from hopline.quantity import Dimension, show
from hopline.quantity import bandwidth as parse_bandwidth
from hopline.quantity import time as parse_time
from hopline.records.estimate import Premise

EXAMPLES = """\b
Examples:
  hopline p2p --size 64MiB --latency 0.55us --bandwidth 64GB/s
  hopline p2p --size 64MiB --hop 0.25us:64GB/s --hop 2us:25GB/s
  hopline p2p --size 1KiB..1GiB:x4 --machine sg2260 --path a1,b2
  hopline p2p --size 24MiB --latency 2us --bandwidth 50GB/s --in-flight 128 --payload 256B
  hopline p2p --payload 4KiB --turnaround 12.6us --latency 2us --bandwidth 50GB/s     # how many in flight?
  hopline p2p --size 64MiB --machine sg2260 --path a0,b0 --plot cost.html
"""
_MOST_QUESTIONS = 10_000
_MOST_HOPS = 1000
_TURNAROUND = "give --turnaround"


@click.command(epilog=EXAMPLES)
@quantity("--size", "size", "Bytes to move; a list or a range sweeps.", many=True)
@quantity("--latency", "time", "Start-up of each hop (α).", many=True)
@quantity("--bandwidth", "bandwidth", "Bandwidth of each hop, one way (β).", many=True)
@quantity("--hops", "count", "Number of equal hops.", many=True, least=1)
@click.option("--hop", "unequal", multiple=True, metavar="TIME:BANDWIDTH", help="One hop; repeat for unequal hops.")
@quantity(
    "--switch-latency", "time", "The nodes between are switches of this latency: no start-up is paid there.", many=True
)
@click.option("--machine", metavar="NAME|FILE", help="A preset, a saved machine or a machine file (hopline presets).")
@click.option(
    "--path",
    metavar="A,B,C",
    help="Nodes along the way; the fewest hops between any two.",
)
@quantity("--ranks", "count", "Ranks that synchronise: start-up can grow with them.", many=True, least=2)
@quantity("--nics", "count", "NICs to spread the message over.", many=True, least=1)
@click.option("--reduce", "reduce_", is_flag=True, help="The receiver adds what arrives (memory is touched 3 times).")
@click.option("--way", type=click.Choice(list(WAYS)), help="How the nodes between forward (default: as the path does).")
@quantity("--chunks", "count", "Number of chunks k of the pipelined way (default: the best).", many=True, least=1)
@quantity("--chunk", "size", "Size of a chunk instead of a number of them.", many=True, least=1)
@quantity("--header", "size", "Cut-through: bytes a node needs before it sends on.", many=True)
@quantity("--flit", "size", "Wormhole: bytes of a flit.", many=True, least=1)
@quantity("--route-time", "time", "Wormhole: routing time of each hop.", many=True)
@quantity("--receive", "size", "Bytes that come back at the same time.", many=True)
@click.option("--half-duplex", is_flag=True, help="Both directions share the link's bandwidth.")
@quantity("--memory", "bandwidth", "Memory bandwidth that sending and receiving share.", many=True)
@quantity("--in-flight", "count", "Requests in flight at once.", many=True)
@quantity("--payload", "size", "Bytes of one request.", many=True, least=1)
@quantity("--turnaround", "time", "Time from a request to its completion (default: the start-up).", many=True)
@plot_option("time against size and against k")
@json_option
def p2p(plot: File | None, as_json: bool, **given: Any) -> None:
    """Cost of one transfer: how long, where the time goes, which limit binds, what to change.

    Give the hops (--latency and --bandwidth, or --hop for each), or a --machine and a --path through it. Every quantity
    may be a list (1KiB,64KiB) or a range (1KiB..1GiB doubles, 1KiB..1GiB:x4, 1us..9us:+2us; counts go by one).
    """
    asked = list(_questions(given))
    if plot is not None:
        resolve("hopline.cli.p2p_picture:draw")(asked, plot)
    if len(asked) == 1:
        answer = transfer.cost(asked[0].question)
        print_one(asked[0], answer, as_json)
    else:
        print_many(asked, as_json)
    if plot is not None and not as_json:
        click.echo(f"\nPicture: {plot}")


_AXES: dict[str, Dimension] = {
    "size": "size", "latency": "time", "bandwidth": "bandwidth", "hops": "count", "switch_latency": "time", "ranks": "count",
    "nics": "count", "chunks": "count", "chunk": "size", "header": "size", "flit": "size", "route_time": "time",
    "receive": "size", "memory": "bandwidth", "in_flight": "count", "payload": "size", "turnaround": "time",
}  # fmt: skip
"""Options that may hold several values, with their dimension."""


def _questions(given: dict[str, Any]) -> Iterator[Asked]:
    _check_options(given)
    axes = {name: given[name] for name in _AXES if given[name]}
    total = math.prod(len(values) for values in axes.values())
    if total > _MOST_QUESTIONS:
        raise InputError(f"the lists make {total} combinations: expected at most {_MOST_QUESTIONS}")
    for combination in product(*axes.values()):
        chosen = dict(zip(axes, combination, strict=True))
        varied = {n: (v, _AXES[n]) for n, v in chosen.items() if len(axes[n]) > 1}
        question, path = _question({**given, **dict.fromkeys(axes), **chosen}, intervals=total == 1)
        yield Asked(question, varied, path)


_NEEDS = {"half_duplex": "receive", "turnaround": "payload", "in_flight": "payload"}
"""Option -> the one without which it means nothing."""


def _check_options(given: dict[str, Any]) -> None:
    if not given["size"] and given["payload"]:
        given["size"] = [max(given["payload"])]
    if not given["size"]:
        raise _usage("--size is missing: how many bytes are moved? Like --size 64MiB")
    if given["chunks"] and given["chunk"]:
        raise _usage("--chunks and --chunk exclude each other: give the number or the size")
    if (given["chunks"] or given["chunk"]) and given["way"] not in (None, "pipelined"):
        raise _usage(f"--way {given['way']} moves the message uncut: leave --chunks and --chunk away")
    for name, needed in _NEEDS.items():
        if not _absent(given[name]) and given[needed] is None:
            raise _usage(f"{_option(name)} means nothing without {_option(needed)}")


def _absent(value: object) -> bool:
    """Whether an option was not given; 0 is a value."""
    return value is None or value is False or value == ()


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())


def _option(name: str) -> str:
    return "--" + {"unequal": "hop", "reduce_": "reduce"}.get(name, name).replace("_", "-")


def _refuse(one: dict[str, Any], names: Sequence[str], reason: str) -> None:
    """Refuse the first of ``names`` that was given."""
    for name in names:
        if not _absent(one[name]):
            raise _usage(f"{_option(name)} {reason}")


def _question(one: dict[str, Any], intervals: bool) -> tuple[Transfer, str]:
    """One question from options that hold one value each; ``intervals``: with what its interval is worked out from."""
    cut = Cut(k=None if one["chunks"] is None else int(one["chunks"]), chunk=one["chunk"])
    question, path = _by_numbers(one) if one["machine"] is None else _by_machine(one, intervals)
    latency = sum(hop.at(one["size"])[0] for hop in question.route.hops)
    question = replace(question, cut=cut, receive=one["receive"], window=_window(one, latency))
    if one["payload"] is not None and one["turnaround"] is None:
        taken = Premise(
            f"a request's turnaround is the start-up, {show(latency, 'time')}", "unknown", _TURNAROUND, True
        )
        question = replace(question, route=replace(question.route, premises=(*question.route.premises, taken)))
    return replace(question, way=one["way"] or ("pipelined" if cut != Cut() else question.way)), path


def _by_machine(one: dict[str, Any], intervals: bool) -> tuple[Transfer, str]:
    told = ("latency", "bandwidth", "hops", "unequal", "switch_latency", "header", "flit", "route_time", "memory")
    _refuse(one, told, "does not go with --machine: the file says it")
    machine = resolve("hopline.jobs.machines:find")(one["machine"])
    if not machine.nodes:
        machine.path(())
    if not one["path"]:
        some = ", ".join(list(machine.nodes)[:8])
        raise _usage(f"--path is missing: which nodes? {machine.name} has {some}, ...")
    names = [name.strip() for name in one["path"].split(",")]
    ranks, nics = int(one["ranks"] or 2), int(one["nics"] or 1)
    route, path = routes.machine_route(machine, names, one["size"], ranks, nics, one["reduce_"])
    half = one["half_duplex"] or path.legs[0].link.duplex == "half"
    fitted = intervals and any(leg.link.operation for leg in path.legs)
    draw = resolve("hopline.jobs.drawn:routes") if fitted else None
    question = Transfer(
        one["size"], route, way=path.forwarding, half_duplex=half, shared=_shared(path, one["reduce_"]),
        drawn=draw(machine, names, one["size"], ranks, nics, one["reduce_"]) if draw else (),
    )  # fmt: skip
    return question, f"{' > '.join(path.names)} ({machine.name})"


def _shared(path: Path, reduce: bool) -> tuple[tuple[float, float, float], ...]:
    """For the memory at each end: byte/s, touches by a byte that goes there and by one that comes back."""
    arrives = "reduce" if reduce else "receive"
    found = []
    for node, out, home in ((path.legs[0].origin, "send", arrives), (path.legs[-1].target, arrives, "send")):
        if node.memory is not None:
            found.append((node.memory.bandwidth, node.memory.touches[out], node.memory.touches[home]))
    return tuple(found)


def _by_numbers(one: dict[str, Any]) -> tuple[Transfer, str]:
    _refuse(one, ("path", "ranks", "nics", "reduce_"), "needs a --machine")
    lines = _lines(one)
    if one["switch_latency"] is not None and len(lines) == 1 and one["hops"] is None:
        raise _usage("--switch-latency means nothing over one hop: there is no node between")
    if one["memory"] is not None and len(lines) > 1:
        raise _usage("--memory is the sender's on one hop: for longer paths give a --machine")
    route = routes.plain_route(lines, one["switch_latency"], one["header"] or 0.0, one["flit"], one["route_time"])
    switched = one["switch_latency"] is not None and len(lines) > 1
    way = "cut-through" if switched else "store-and-forward"
    question = Transfer(one["size"], route, way=way, half_duplex=one["half_duplex"], memory=one["memory"])
    return question, "1 hop" if len(lines) == 1 else f"{len(lines)} hops"


def _lines(one: dict[str, Any]) -> list[tuple[float, float]]:
    if one["unequal"]:
        told = ("latency", "bandwidth", "hops", "switch_latency")
        _refuse(one, told, "does not go with --hop, which gives each hop its own")
        return [_line(text) for text in one["unequal"]]
    if one["hops"] is not None and one["hops"] > _MOST_HOPS:
        raise InputError(f"{one['hops']:.0f} hops: expected at most {_MOST_HOPS}")
    missing = [f"--{name}" for name in ("latency", "bandwidth") if one[name] is None]
    if missing:
        raise _usage(f"{' and '.join(missing)} missing: give both, or --hop, or --machine and --path")
    return [(one["latency"], one["bandwidth"])] * int(one["hops"] or 1)


def _line(text: str) -> tuple[float, float]:
    latency, colon, bandwidth = text.partition(":")
    if not colon:
        raise _usage(f"--hop: {text!r} is not TIME:BANDWIDTH, like 2us:25GB/s")
    try:
        return parse_time(latency), parse_bandwidth(bandwidth)
    except QuantityError as error:
        raise _usage(f"--hop: {error}") from None


def _window(one: dict[str, Any], latency: float) -> Window | None:
    if one["payload"] is None:
        return None
    return Window(one["in_flight"], one["payload"], latency if one["turnaround"] is None else one["turnaround"])
