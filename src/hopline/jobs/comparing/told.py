"""What is known of a measured table's job: what the file says of it, and where it is silent what the user states.

What belongs here: GPUs, version and nodes of a table. What follows from them is ``tuner`` and ``closed_form``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats import aiconfigurator, nccl_tests, vidur
from hopline.formats.nccl_debug import reader
from hopline.jobs.benchmarks import benchmark_of
from hopline.model.nccl.devices import architecture_of, has_arm, meets_in_switches
from hopline.records.estimate import Premise
from hopline.records.nccl_log import NcclLog, Search
from hopline.records.table import Table

ONE_NODE = 8
"""Ranks up to which one node is taken for granted, and said to be, where nobody says how many there are."""
_LIBRARY = "NCCL"
_USUAL_CPU = "intel"
_TOOLS = (nccl_tests.TOOL, aiconfigurator.TOOL, vidur.TOOL, "hopline")
"""Tools that run NCCL, or say what they run."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What the user states for files that do not say it; the fields are those of ``jobs.nccl.Question``."""

    ranks: int | None = None
    nodes: int | None = None
    architecture: str | None = None
    version: str | None = None
    cpu: str | None = None
    channels: int | None = None
    within: float | None = None
    between: float | None = None
    nic: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The job behind a table.

    Attributes
    ----------
    benchmark
        In hopline's words.
    ranks, nodes
        None: nobody says.
    architecture, version
        Of GPUs and NCCL; "": nobody says.
    cpu
        Vendor: intel, amd, mixed or other (Arm).
    switched
        Whether all GPUs of a node meet in switches; None: nobody says.
    searches
        What NCCL's search found, where its log is there.
    other
        Why the run was none of NCCL's; "": nothing says so.
    machine
        GPU or machine by name; "": nobody says.
    premises
        What had to be taken for granted.
    """

    benchmark: str
    ranks: int | None
    nodes: int | None
    architecture: str
    version: str
    cpu: str
    switched: bool | None
    searches: tuple[Search, ...]
    other: str
    machine: str
    premises: tuple[Premise, ...]


def told_of(table: Table, stated: Stated, log: NcclLog | None) -> Told:
    """What is known of ``table``; ``log`` is what NCCL said in the same file."""
    said, name = said_of(table, log, stated.ranks), _name(table)
    ranks = said.ranks or stated.ranks
    nodes, placed = _nodes(table, ranks, said.nodes or stated.nodes)
    named = Premise(f"the GPUs are those that the file's path names: {name}", "unknown", matters=True)
    return Told(
        benchmark_of(table.benchmark), ranks, nodes, said.architecture or stated.architecture or "",
        said.version or stated.version or "", said.cpu or stated.cpu or _USUAL_CPU, meets_in_switches(name),
        log.searches if log else (), _other(table, log), name, (*placed, named) if "machine" in table.facts else placed,
    )  # fmt: skip


def said_of(table: Table, log: NcclLog | None, ranks: int | None = None) -> Stated:
    """What the file says itself; ``ranks``: where it does not say how many there are."""
    facts, name = table.facts, _name(table)
    theirs = log.version.partition("+")[0] if log and log.flavour == _LIBRARY else ""
    return Stated(
        table.ranks, _said_nodes(table, table.ranks or ranks, log), architecture_of(name) or None,
        str(theirs or facts.get("nccl_version") or "") or None, "other" if has_arm(name) else None,
    )  # fmt: skip


def _name(table: Table) -> str:
    """Of the GPUs, or of their machine."""
    return str(table.facts.get("device") or table.facts.get("machine") or "")


def log_of(source: str, table: Table) -> NcclLog | None:
    """What NCCL says in the file of a table, where it may."""
    if table.tool != nccl_tests.TOOL:
        return None
    try:
        return reader.read(source)
    except FormatError:
        return None


def _said_nodes(table: Table, ranks: int | None, log: NcclLog | None) -> int | None:
    each, hosts = table.facts.get("devices_per_node"), table.facts.get("hosts", table.facts.get("host"))
    if isinstance(each, int) and ranks:
        return None if ranks % each else ranks // each
    if isinstance(hosts, str):
        return len(set(hosts.split(", ")))
    return hosts if isinstance(hosts, int) and hosts > 0 else (log.nodes if log else None)


def _nodes(table: Table, ranks: int | None, known: int | None) -> tuple[int | None, tuple[Premise, ...]]:
    """Nodes, and what had to be taken for granted of them; ``known``: what the file or the user says."""
    each = table.facts.get("devices_per_node")
    if isinstance(each, int) and ranks and ranks % each:
        return None, (Premise(f"nodes hold equally many ranks: {ranks}, {each} on each", "broken"),)
    if known or not ranks or ranks > ONE_NODE:
        return known, ()
    return 1, (Premise(f"all {ranks} ranks are on one node (--nodes says how many)", "unknown", matters=True),)


def _other(table: Table, log: NcclLog | None) -> str:
    """Why it was none of NCCL's runs."""
    if table.tool not in _TOOLS:
        return f"{table.tool} does not run {_LIBRARY}"
    transport, library = table.facts.get("transport"), table.facts.get("library")
    if transport is not None and str(transport).lower() != _LIBRARY.lower():
        return f"it ran over {transport}, not {_LIBRARY}"
    if library is not None and library != _LIBRARY:
        return f"it ran on {library}, not {_LIBRARY}"
    return f"it ran on {log.flavour}, not {_LIBRARY}" if log and log.flavour not in ("", _LIBRARY) else ""
