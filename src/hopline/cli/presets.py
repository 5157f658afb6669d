"""``hopline presets``: the machines that can be named."""

from __future__ import annotations

import click

from hopline.cli.options import json_option, print_json
from hopline.jobs import machines
from hopline.machine.topology import Machine
from hopline.quantity import show
from hopline.show import machine as pages
from hopline.show.document import Block, Grid, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline presets
  hopline presets sg2260
  hopline presets sg2260 --toml > mine.toml     # a start for your own machine
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--toml", "as_toml", is_flag=True, help="Print the machine file itself.")
@json_option
def presets(name: str | None, as_toml: bool, as_json: bool) -> None:
    """List the machines that can be named, or show NAME (a preset, a saved machine or a file) with its sources."""
    if as_toml and (as_json or name is None):
        needed = "needs a NAME" if name is None else "and --json exclude each other"
        raise click.UsageError(f"--toml {needed}", click.get_current_context())
    if name is None:
        _print_list(as_json)
    elif as_toml:
        click.echo(machines.text(name), nl=False)
    elif as_json:
        print_json(pages.data(machines.find(name)))
    else:
        print_document(_page(machines.find(name), name))


def _print_list(as_json: bool) -> None:
    found = machines.listed()
    if as_json:
        print_json([{"name": p.name, "title": p.title, "file": str(p.file) if p.file else None} for p in found])
        return
    rows = [(p.name, p.title, "saved by you" if p.file else "preset") for p in found]
    blocks: list[Block] = [Heading("Machines"), Grid(("name", "what it is", ""), rows, left=3)]
    if not any(p.name == "local" for p in found):
        blocks.append(Line("hopline measure adds 'local', this machine.", "faint"))
    print_document(blocks)


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
