"""``hopline presets``: the machines that can be named."""

from __future__ import annotations

import click

from hopline.cli.options import json_option, print_json
from hopline.jobs import machines
from hopline.machine.families.table import TOPOLOGIES, Topology
from hopline.machine.topology import Machine
from hopline.quantity import show
from hopline.show import machine as pages
from hopline.show.document import Block, Grid, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline presets
  hopline presets sg2260
  hopline presets fat-tree                      # what a topology asks for
  hopline presets torus:dims=4x4,rate=50GB/s    # one made by it
  hopline presets sg2260 --toml > mine.toml     # a start for your own machine
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--toml", "as_toml", is_flag=True, help="Print the machine file itself.")
@json_option
def presets(name: str | None, as_toml: bool, as_json: bool) -> None:
    """List the machines that can be named, or show NAME (a preset, a saved machine, a topology or a file) and its sources."""
    if as_toml and (as_json or name is None):
        needed = "needs a NAME" if name is None else "and --json exclude each other"
        raise click.UsageError(f"--toml {needed}", click.get_current_context())
    if name is None:
        _print_list(as_json)
    elif name in TOPOLOGIES and not as_toml and not machines.saved_file(name).is_file():
        _print_topology(name, TOPOLOGIES[name], as_json)
    elif as_toml:
        click.echo(machines.text(name), nl=False)
    elif as_json:
        print_json(pages.data(machines.find(name)))
    else:
        print_document(_page(machines.find(name), name))


def _print_list(as_json: bool) -> None:
    found = machines.listed()
    if as_json:
        own = [{"name": p.name, "title": p.title, "file": str(p.file) if p.file else None} for p in found]
        made = [{"name": name, "title": t.title, "example": f"{name}:{t.example}"} for name, t in TOPOLOGIES.items()]
        print_json([*own, *made])
        return
    rows = [(p.name, p.title, "saved by you" if p.file else "preset") for p in found]
    blocks: list[Block] = [Heading("Machines"), Grid(("name", "what it is", ""), rows, left=3)]
    like = [(f"{name}:{topology.example}", topology.title) for name, topology in TOPOLOGIES.items()]
    blocks += [Heading("Topologies, made of numbers"), Grid(("like", "what it is"), like, left=2)]
    if not any(p.name == "local" for p in found):
        blocks.append(Line("hopline measure adds 'local', this machine.", "faint"))
    print_document(blocks)


def _print_topology(name: str, topology: Topology, as_json: bool) -> None:
    """What it asks for."""
    if as_json:
        asked = [{"name": p.name, "sort": p.sort, "about": p.about, "default": p.default} for p in topology.parameters]
        print_json({"name": name, "title": topology.title, "example": topology.example, "parameters": asked})
        return
    rows = [
        (p.name, p.sort, p.about, "needed" if p.default is None else f"default {p.default}" if p.default else "")
        for p in topology.parameters
    ]
    blocks: list[Block] = [Heading(f"{name}: {topology.title}"), Grid(("", "", "", ""), rows, left=4)]
    print_document([*blocks, Line(f"\nTry: hopline presets {name}:{topology.example}")])


def _page(machine: Machine, name: str) -> list[Block]:
    blocks = pages.page(machine)
    ends = pages.example_path(machine)
    first = next(iter(machine.operations.values()), None)
    if first is not None:
        ranks = f" -n {first.ranks}" if first.ranks and first.ranks > 1 else ""
        blocks.append(Line(f"\nTry: hopline expect {first.benchmark} --machine {name}{ranks}"))
    if ends:
        blocks.append(
            Line(f"\nTry: hopline p2p --size {show(2.0**20, 'size').replace(' ', '')} --machine {name} --path {ends}")
        )
    return blocks
