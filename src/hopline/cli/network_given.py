"""The network that options say: a machine, or numbers.

What belongs here: from the keywords of ``network_options`` to a network, and what does not go together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import click

from hopline.curve import Curve
from hopline.errors import QuantityError
from hopline.jobs import networks
from hopline.jobs.loading import resolve
from hopline.jobs.networks import Network
from hopline.machine.fabric import Level, Levels
from hopline.machine.resources import Resources
from hopline.machine.wires import Crossbar
from hopline.quantity import bandwidth as parse_bandwidth
from hopline.quantity import count as parse_count
from hopline.quantity import counted
from hopline.quantity import time as parse_time


def each_network(
    machine: tuple[str, ...], ranks: list[float] | None, **given: Any
) -> list[tuple[str, Callable[[], Network]]]:
    """Every machine with every number of ranks: what tells it apart from the others, and what makes it."""
    broken = next((asked for asked in ranks or () if asked != int(asked)), None)
    if broken is not None:
        _refuse(f"-n {broken:g}: expected a whole number of ranks")
    made: list[tuple[str, Callable[[], Network]]] = []
    names: list[str | None] = [*machine]
    counts: list[float | None] = [*dict.fromkeys(ranks or ())]
    for name in names or [None]:
        for count in counts or [None]:
            whole = None if count is None else int(count)
            shown = [name] if name and (len(machine) > 1 or whole is None) else []
            shown += [counted(whole, "rank")] if whole and (len(ranks or ()) > 1 or not shown) else []
            made.append((", ".join(shown) or "as given", partial(network, name, whole, **given)))
    return made


def network(
    machine: str | None, ranks: int | None, places: tuple[str, ...], latency: float | None, bandwidth: float | None,
    nics: int | None, levels: tuple[str, ...], reduce: float | None, least: int | None = None,
) -> Network:  # fmt: skip
    """The network that the options say; ``least``: the ranks that a file says."""
    ranks = least if ranks is None else ranks
    told = _told(latency, bandwidth, nics, levels)
    _check(reduce, bandwidth, told if machine is not None else [])
    gamma = None if reduce is None else 1 / reduce
    if machine is not None:
        return networks.by_machine(resolve("hopline.jobs.machines:find")(machine), ranks, places, gamma)
    if places:
        _refuse("--on needs a --machine")
    if levels:
        if told != ["--level"]:
            _refuse(f"{told[0]} does not go with --level, which gives each level its own")
        return _by_levels(levels, ranks, gamma)
    if latency is None or bandwidth is None:
        _refuse("which network? Give --machine, or --latency and --bandwidth, or --level for each level")
    if ranks is None:
        _refuse("-n is missing: how many ranks?")
    return networks.by_levels([Level(ranks, Curve.line(latency, bandwidth), nics or 1)], gamma or 0.0)


def _told(latency: float | None, bandwidth: float | None, nics: int | None, levels: tuple[str, ...]) -> list[str]:
    """Options that say a network without a machine."""
    plain = {"--latency": latency, "--bandwidth": bandwidth, "--nics": nics}
    return [name for name, value in plain.items() if value is not None] + (["--level"] if levels else [])


def _check(reduce: float | None, bandwidth: float | None, beside: list[str]) -> None:
    """``beside``: options that were given beside a machine."""
    if reduce == 0 or bandwidth == 0:
        _refuse("a bandwidth of 0: expected more")
    if beside:
        _refuse(f"{beside[0]} does not go with --machine: the file says it")


def resources(routing: str | None, used: Sequence[int] | None = None, **given: Any) -> Resources:
    """What flows share on the network that the same options say; ``routing`` None: d-mod-k; ``used``: as ``wires`` has it."""
    if given["machine"] is None:
        if routing is not None:
            _refuse("--routing needs a --machine: between levels there is one way")
        made = network(**given).fabric
        assert isinstance(made, Levels)
        return Crossbar(made)
    _check(
        given["reduce"],
        given["bandwidth"],
        _told(*(given[name] for name in ("latency", "bandwidth", "nics", "levels"))),
    )
    ranks, reduce = given.get("least") if given["ranks"] is None else given["ranks"], given["reduce"]
    machine = resolve("hopline.jobs.machines:find")(given["machine"])
    gamma = None if reduce is None else 1 / reduce
    return networks.wires(machine, ranks, given["places"], routing or "d-mod-k", gamma, used)


def _by_levels(texts: tuple[str, ...], ranks: int | None, gamma: float | None) -> Network:
    made = networks.by_levels([_level(text) for text in texts], gamma or 0.0)
    if ranks not in (None, made.ranks):
        _refuse(f"-n {ranks}, and the levels hold {counted(made.ranks, 'rank')}: leave -n away, or mend one of them")
    return made


def _level(text: str) -> Level:
    parts = text.split(":")
    if len(parts) not in (3, 4):
        _refuse(
            f"--level: {text!r} is not RANKS:TIME:BANDWIDTH, like 8:1us:450GB/s, or with a number of NICs, 2:2us:50GB/s:2"
        )
    try:
        latency, bandwidth = parse_time(parts[1]), parse_bandwidth(parts[2])
        members, nics = _members(parts[0], "ranks"), _members(parts[3], "NICs") if len(parts) == 4 else 1
    except QuantityError as error:
        _refuse(f"--level: {error}")
    if not bandwidth:
        _refuse(f"--level: {text!r} has a bandwidth of 0: expected more")
    return Level(members, Curve.line(latency, bandwidth), nics)


def _members(text: str, what: str) -> int:
    number = parse_count(text)
    if number < 1 or number != int(number):
        _refuse(f"--level: {text!r} {what}: expected a whole number of at least 1")
    return int(number)


def _refuse(message: str) -> NoReturn:
    raise click.UsageError(message, click.get_current_context())
