"""``hopline machine``: what a topology file says, and a machine made of it.

What belongs here: the options of the command and how its answer is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path as File

import click

from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.errors import InputError, MachineError
from hopline.jobs import machines, topologies
from hopline.jobs.loading import resolve
from hopline.machine.topology import Machine
from hopline.machine.wiring import Wiring, wiring_of
from hopline.show import machine as pages
from hopline.show import wiring as wired
from hopline.show.document import Block, Grid, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline machine ndv4-topo.xml                              # what a topology file says
  hopline machine topo.txt --rate NV=25GB/s --save dgx       # rates that it does not say; then --machine dgx
  hopline machine topology.conf --nodes 'n[0-3,7]' --per-node 8   # where Slurm's nodes sit
  hopline machine fat-tree:leaves=8,hosts=8,spines=4,rate=50GB/s --plot tree.png
"""


@click.command(epilog=EXAMPLES)
@click.argument("name")
@click.option(
    "--rate",
    "rates",
    multiple=True,
    metavar="LABEL=BANDWIDTH",
    help="How fast one cable of a kind is, one way, where the file does not say it; may be repeated.",
)
@quantity("--latency", "time", "Of a cable whose latency the file does not say (else 0).")
@click.option("--save", metavar="NAME|FILE", help="Save the machine: a name for --machine, or a file like mine.toml.")
@click.option("--replace", is_flag=True, help="With --save: replace what is there; it is kept under a dated name.")
@click.option("--nodes", metavar="LIST", help="Node list as Slurm writes it, like n[0-3,7]: where its ranks sit.")
@click.option("--per-node", type=click.IntRange(1), metavar="N", help="With --nodes: ranks on each node (1).")
@click.option("--order", type=click.Choice(["block", "cyclic"]), help="With --nodes: how ranks go over nodes (block).")
@plot_option("nodes and cables")
@json_option
def machine(
    name: str, rates: tuple[str, ...], latency: float | None, save: str | None, replace: bool, nodes: str | None,
    per_node: int | None, order: str | None, plot: File | None, as_json: bool,
) -> None:  # fmt: skip
    """Show a machine: NAME of a preset, a saved machine or a topology, or a FILE that another tool wrote.

    Files are told by their content: NCCL topology and graph XML, nvidia-smi topo -m, hwloc XML, TACCL JSON, ASTRA-sim YAML,
    SimGrid XML, ns-3 and htsim topologies, ibnetdiscover, Slurm's topology.conf; and hopline's own TOML.
    """
    _check(save, replace, nodes, per_node, order)
    given = Given(topologies.rates(rates), latency)
    found, title, made = _found(name, given)
    told = [Line(f"\nSaved: {_save(found, made, given, save, replace)}")] if save else []
    placed = topologies.placed(found, nodes, per_node or 1, order or "block") if nodes else None
    if plot is not None:
        if not found.nodes:
            raise InputError(f"--plot: {found.name} has no nodes to draw")
        resolve("hopline.show.images:save")(wired.picture(found), plot)
        told.append(Line(f"\nPicture: {plot}"))
    if as_json:
        extra = {} if placed is None else {"places": list(placed.places), "ranks_under": dict(placed.held)}
        print_json((wired.data(found, title) if made is None else pages.data(made)) | extra)
        return
    page = wired.page(found, title) if made is None else pages.page(made)
    print_document(
        [*page, *_placement(placed), *_untimed(found, given, made), *_next(found, made, given, save, name), *told]
    )


@dataclass(frozen=True, slots=True)
class Given:
    """What the options say of cables: byte/s by label, and seconds."""

    rates: dict[str, float] = field(default_factory=dict)
    latency: float | None = None


def _untimed(found: Wiring, given: Given, made: Machine | None) -> list[Block]:
    if made is not None or found.refusal or found.timed or given.latency is not None:
        return []
    told = "Latencies that are not in the file are taken as 0: short messages are priced too low. Give --latency."
    return [Line(told, "bad")]


def _check(save: str | None, replace: bool, nodes: str | None, per_node: int | None, order: str | None) -> None:
    needs = (
        ("--replace", replace, "--save", save),
        ("--per-node", per_node, "--nodes", nodes),
        ("--order", order, "--nodes", nodes),
    )
    for option, given, needed, there in needs:
        if given and not there:
            raise click.UsageError(f"{option} needs {needed}", click.get_current_context())


def _found(name: str, given: Given) -> tuple[Wiring, str, Machine | None]:
    """The wiring, what it is in words, and the machine where it was one from the start."""
    if machines.is_foreign(name):
        return *topologies.understood(name), None
    if given != Given():
        raise click.UsageError(
            "--rate and --latency are for topology files; this machine has its own", click.get_current_context()
        )
    made = machines.find(name)
    return wiring_of(made), made.title, made


def _save(found: Wiring, made: Machine | None, given: Given, save: str, replace: bool) -> str:
    file = machines.target(save)
    machines.save(made or found.machine(given.rates, given.latency), file, replace)
    return str(file)


def _placement(placed: topologies.Placed | None) -> list[Block]:
    if placed is None:
        return []
    rows = [(switch, f"{ranks:,}") for switch, ranks in placed.held.items()]
    first = ", ".join(placed.places[:8]) + (" ..." if len(placed.places) > 8 else "")
    return [
        Heading(f"{len(placed.places):,} ranks"),
        Grid(("under", "ranks"), rows),
        Line(f"  rank 0 on: {first}", "faint"),
    ]


def _next(found: Wiring, made: Machine | None, given: Given, save: str | None, name: str) -> list[Block]:
    """What can be done with it."""
    if save or found.refusal or not found.nodes:
        return []
    devices = pages.example_path(made) if made else ",".join(wired.ends(found))
    use = f"hopline p2p --size 1MiB --machine {name} --path {devices}"
    if made is not None:
        return [Line(f"\nTry: {use}")] if devices else []
    try:
        found.machine(given.rates)
    except MachineError as error:
        return [Line(f"\nBefore it is a machine: {error}", "strong")]
    own = "".join(f" --rate {label!r}={rate:g}B/s" for label, rate in given.rates.items())
    own += f" --latency {given.latency:g}s" if given.latency is not None else ""
    return [Line(f"\nTry: hopline machine {name}{own} --save mine" if own else f"\nTry: {use}")]
