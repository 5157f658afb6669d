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
    facts = table.facts
    name = str(facts.get("device") or facts.get("machine") or "")
    ranks = table.ranks or stated.ranks
    nodes, placed = _nodes(table, ranks, stated, log)
    named = Premise(f"the GPUs are those that the file's path names: {name}", "unknown", matters=True)
    theirs = log.version if log and log.flavour == _LIBRARY else ""
    version, cpu = (
        str(theirs or facts.get("nccl_version") or stated.version or ""),
        "other" if has_arm(name) else "intel",
    )
    return Told(
        benchmark_of(table.benchmark), ranks, nodes, architecture_of(name) or stated.architecture or "", version, cpu,
        meets_in_switches(name), log.searches if log else (), _other(table, log), name,
        (*placed, named) if "machine" in facts else placed,
    )  # fmt: skip


def log_of(source: str, table: Table) -> NcclLog | None:
    """What NCCL says in the file of a table, where it may."""
    if table.tool != nccl_tests.TOOL:
        return None
    try:
        return reader.read(source)
    except FormatError:
        return None


def _nodes(
    table: Table, ranks: int | None, stated: Stated, log: NcclLog | None
) -> tuple[int | None, tuple[Premise, ...]]:
    """Nodes, and what had to be taken for granted of them."""
    each, hosts = table.facts.get("devices_per_node"), table.facts.get("hosts", table.facts.get("host"))
    if isinstance(each, int) and ranks:
        text = f"nodes hold equally many ranks: {ranks}, {each} on each"
        return (None, (Premise(text, "broken"),)) if ranks % each else (ranks // each, ())
    if isinstance(hosts, str):
        return len(set(hosts.split(", "))), ()
    if isinstance(hosts, int) and hosts > 0:
        return hosts, ()
    said = (log.nodes if log else None) or stated.nodes
    if said or not ranks or ranks > ONE_NODE:
        return said, ()
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
