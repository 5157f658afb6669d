"""What a log of NCCL_DEBUG shows, put together: its own choices, ours beside them, and what is worth a look.

What belongs here: from a log (and a question, where one is asked) to what is told of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopline.formats.nccl_debug import reader
from hopline.formats.source import kept, shown
from hopline.jobs import nccl, nccl_beside
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.comparing.told import Stated
from hopline.jobs.nccl import Answer, Question
from hopline.jobs.nccl_beside import Apart, Chosen
from hopline.jobs.nccl_told import Asked, completed, said_of_log, tables_of
from hopline.model.nccl import choice
from hopline.model.nccl.choice import Crossover
from hopline.model.nccl.numbers import parts
from hopline.quantity import counted
from hopline.records.nccl_log import NcclLog
from hopline.records.nccl_names import BENCHMARKS, FUNCTIONS
from hopline.records.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """What a log shows.

    Attributes
    ----------
    log
        As read.
    crossovers
        Function -> where the log's own table changes its choice.
    chosen
        Choices that the log tells, beside those of its own table, or of ours where it has none.
    basis
        Whose choices those are: "the log's own table", "our figures", "" for nobody's.
    apart
        Our table beside the log's, where a question was asked.
    waits
        What NCCL expected of a call beside what a benchmark's row says it took.
    answer
        Ours, where a question was asked.
    measured
        Our times beside the tables of a benchmark in the same log.
    findings
        What is worth a look.
    premises
        What our figures assume, where a question was asked.
    """

    log: NcclLog
    crossovers: dict[str, tuple[Crossover, ...]]
    chosen: tuple[Chosen, ...]
    basis: str
    apart: tuple[Apart, ...]
    waits: tuple[Apart, ...]
    answer: Answer | None
    measured: tuple[tuple[Table, tuple[Apart, ...]], ...]
    findings: tuple[str, ...]
    premises: tuple[str, ...] = ()


def explain(path: str, asked: Asked | None = None) -> Explained:
    """Explain the log at ``path``; where something is asked our figures stand beside it.

    Raises FormatError for what is no log of NCCL, InputError where the user states something else than the log says, and
    where neither says what our figures need.
    """
    with kept(path):
        log = reader.read(path)
        tables = tables_of(path) if asked is not None else ()
    question, taken = (
        (None, ()) if asked is None else completed(asked, _said(asked, log, tables), log.searches, shown(path))
    )
    found = None if question is None else nccl.answer(question)
    job = found.job if found is not None else nccl_beside.own_table(log)
    own = log.tables[-1] if log.tables else None
    crossings = {f: choice.crossovers(own.cells, f, job) for f in FUNCTIONS if choice.ways(own.cells, f)} if own else {}
    cells = own.cells if own else found.cells if found else {}
    basis = "the log's own table" if own else "our figures" if found else ""
    return Explained(
        log, crossings, tuple(nccl_beside.beside_calls(log.calls, cells, job)), basis,
        tuple(nccl_beside.beside_table(found.cells, own)) if found and own else (), _waits(log), found,
        _measured(tables, question) if question else (), (*findings(log), *_left_out(log, found), *_other_version(log, found)),
        (*taken, *found.premises) if found else (),
    )  # fmt: skip


def _said(asked: Asked, log: NcclLog, tables: Sequence[Table]) -> list[Stated]:
    """What the log says of the job; where it is of several communicators, any of them may be asked for."""
    said = said_of_log(log, tables)
    other = asked.stated.ranks is not None and asked.stated.ranks != log.ranks
    if other and asked.stated.ranks in log.communicators:
        return [replace(one, ranks=None, nodes=None) for one in said]
    return said


def _left_out(log: NcclLog, found: Answer | None) -> list[str]:
    """What the log's own table cannot tell without knowing the job."""
    if not log.tables or found is not None or (log.ranks and log.nodes):
        return []
    return [
        "ranks and nodes are not told: AllReduce's choices are worked out as on one node (state -n, --nodes and --arch)"
    ]


def _other_version(log: NcclLog, found: Answer | None) -> list[str]:
    """Where our figures are of another version than the log."""
    if found is None or not log.version or (log.flavour == "NCCL" and parts(log.version) == parts(found.job.version)):
        return []
    ours = found.job.version
    return [f"the log is of {log.flavour} {log.version}, whose tuner is not known here: our figures are of NCCL {ours}"]


def _waits(log: NcclLog) -> tuple[Apart, ...]:
    told = [call for call in log.calls if call.predicted is not None and call.measured is not None]
    return tuple(
        Apart(
            f"line {c.line}: {c.function or 'call'} {c.size} B {c.algorithm} {c.protocol}",
            c.predicted or 0.0,
            c.measured or 0.0,
        )
        for c in told
    )


def _measured(tables: Sequence[Table], question: Question) -> tuple[tuple[Table, tuple[Apart, ...]], ...]:
    """Tables of a benchmark in the same log."""
    found = []
    for table in tables:
        name = benchmark_of(table.benchmark)
        if name in BENCHMARKS and table.measure == "time":
            found.append((table, tuple(nccl_beside.beside_measured(replace(question, benchmark=name), table)[1])))
    return tuple(found)


def findings(log: NcclLog) -> list[str]:
    """What a log says that is worth a look; never of what it does not say."""
    found = []
    for name, count in log.missing.items():
        found.append(f"network {name} was not found ({counted(count, 'line')}), at other places {_used(log, name)}")
    sockets = sum(n for way, n in log.connections.items() if way == "NET/Socket")
    if sockets or "Socket" in log.networks:
        many = f" ({counted(sockets, 'connection')})" if sockets else ""
        found.append(f"the network is plain sockets{many}: no RDMA")
    net = sum(n for way, n in log.connections.items() if way.startswith("NET/") and way != "NET/Socket")
    if net and not log.direct:
        found.append(f"none of {counted(net, 'connection')} over the network has GPUDirect RDMA (GDRDMA)")
    if net and log.direct:
        have = "has" if log.direct == 1 else "have"
        found.append(f"{log.direct} of {counted(net, 'connection')} over the network {have} GPUDirect RDMA")
    if log.tuner[0]:
        found.append(
            f"an outside tuner was loaded ({' '.join(log.tuner).strip()}): NCCL's own choices may be overridden"
        )
    found += _set(log)
    if log.ranks == 1:
        found.append("one rank: there is no communication in this run")
    if log.levels["WARN"]:
        found.append(f"{counted(log.levels['WARN'], 'warning')}{_ended(log)}")
    return found


def _used(log: NcclLog, name: str) -> str:
    return (
        f"it is used ({counted(log.networks[name], 'line')}): they may be of different processes"
        if log.networks[name]
        else "not used"
    )


def _set(log: NcclLog) -> list[str]:
    few = [n for n in ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS") if n in log.environment]
    said = [f"{name}={log.environment[name]} caps the channels" for name in few]
    ways = [n for n in ("NCCL_ALGO", "NCCL_PROTO") if n in log.environment]
    return said + [f"{name}={log.environment[name]} forces the choice" for name in ways]


def _ended(log: NcclLog) -> str:
    done = log.facts.get("init_complete", 0)
    everyone = "its one rank" if done == 1 else f"all {done} ranks"
    whole = f", though {everyone} finished initialisation" if done and done == log.ranks else ""
    return f" (the most frequent: {log.warnings.most_common(1)[0][0]}){whole}" if log.warnings else whole
