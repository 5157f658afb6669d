"""What is known of a measured table's job: what the file says of it, and where it is silent what the user states.

What belongs here: ranks, GPUs, version and nodes of a table, and what may not be stated beside them. What follows from them is
``tuner`` and ``closed_form``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopline.errors import FormatError, InputError
from hopline.formats import aiconfigurator, nccl_tests, vidur
from hopline.formats.nccl_debug import reader
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.comparing.ranks_said import refuse_other_ranks, why_unknown
from hopline.jobs.stated import refuse_other
from hopline.model.nccl.devices import architecture_of, has_arm, meets_in_switches
from hopline.quantity import counted
from hopline.records.estimate import Premise
from hopline.records.nccl_log import NcclLog, Search
from hopline.records.table import Table

ONE_NODE = 8
"""Ranks up to which one node is taken for granted, and said to be, where nobody says how many there are."""
_STATED = {"-n": "ranks", "--nodes": "nodes", "--arch": "architecture", "--nccl": "version", "--cpu": "cpu"}
"""Option -> what it states where files do not say it."""
_SEARCHED = {"--channels": "channels", "--within": "within", "--between": "between", "--nic": "nic"}
"""Option -> what it states where no GRAPH lines say it."""
_OF_SEVERAL_NODES = {"--nic": "nic", "--cpu": "cpu"}
"""Option -> what counts only where something goes over a network: NCCL's costs of posting are the CPU's."""
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
    no_ranks, no_nodes
        Why their number is not known, where it is not.
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
    no_ranks: str
    no_nodes: str


def told_of(table: Table, stated: Stated, log: NcclLog | None) -> Told:
    """What is known of ``table``; ``log`` is what NCCL said in the same file."""
    said, name = said_of(table, log, stated.ranks), _name(table)
    ranks = said.ranks or stated.ranks
    nodes, placed, lacking = _nodes(table, ranks, said.nodes or stated.nodes)
    named = Premise(f"the GPUs are those that the file's path names: {name}", "unknown", matters=True)
    return Told(
        benchmark_of(table.benchmark), ranks, nodes, said.architecture or stated.architecture or "",
        said.version or stated.version or "", said.cpu or stated.cpu or _USUAL_CPU, meets_in_switches(name),
        log.searches if log else (), _other(table, log), name, (*placed, named) if "machine" in table.facts else placed,
        why_unknown(table), lacking,
    )  # fmt: skip


def check_stated(stated: Stated, tables: Sequence[Table], log: NcclLog | None) -> None:
    """Raise InputError where what is stated is not what the file says of ``tables``, or means nothing to any of them."""
    said = [said_of(one, log, stated.ranks) for one in tables]
    for option, name in _STATED.items():
        refuse_other(option, getattr(stated, name), [getattr(one, name) for one in said])
    told = [told_of(one, stated, log) for one in tables]
    ranks = [one.ranks for one in told if one.ranks]
    if stated.nodes and ranks and all(one % stated.nodes for one in ranks):
        raise InputError(f"--nodes {stated.nodes}: {_unequal(ranks[0], stated.nodes)}")
    searched = [option for option, name in _SEARCHED.items() if getattr(stated, name) is not None]
    if log and log.searches and searched:
        raise InputError(
            f"{searched[0]}: GRAPH lines of the log say what NCCL's search found; leave {searched[0]} away"
        )
    for option, name in _OF_SEVERAL_NODES.items():
        if getattr(stated, name) is not None and all(one.nodes == 1 for one in told):
            how = "" if all(one.nodes for one in said) else " (--nodes says how many there are)"
            raise InputError(f"{option}: on one node nothing goes over a network, and all ranks are on one{how}")


def said_of(table: Table, log: NcclLog | None, ranks: int | None = None) -> Stated:
    """What the file says itself; ``ranks``: where it does not say how many there are.

    Raises InputError where it says something else of them, though not one number.
    """
    refuse_other_ranks(ranks, table)
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


def _nodes(table: Table, ranks: int | None, known: int | None) -> tuple[int | None, tuple[Premise, ...], str]:
    """Nodes, what was taken for granted of them, and why they are not known; ``known``: what the file or the user says."""
    each = table.facts.get("devices_per_node")
    if isinstance(each, int) and ranks and ranks % each:
        return None, (), f"{counted(ranks, 'rank')}, {each} on each node: expected nodes that hold equally many"
    if known and ranks and ranks % known:
        return None, (), _unequal(ranks, known)
    if known or not ranks or ranks > ONE_NODE:
        return known, (), f"on how many nodes the {ranks} ranks are is not in the file (--nodes)"
    return 1, (Premise(f"all {ranks} ranks are on one node (--nodes says how many)", "unknown", matters=True),), ""


def _unequal(ranks: int, nodes: int) -> str:
    return f"{counted(ranks, 'rank')} on {counted(nodes, 'node')}: expected nodes that hold equally many"


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
