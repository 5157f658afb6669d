"""Our figures of NCCL's tuner beside a log's and beside measured times.

What belongs here: the comparisons. What is reckoned is ``nccl``, pages are ``show``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hopline.errors import InputError
from hopline.formats.source import kept, shown
from hopline.jobs import fitting
from hopline.jobs.benchmarks import benchmark_of, parts
from hopline.jobs.comparing.told import log_of, said_of, told_of
from hopline.jobs.nccl import Answer, Question, answer
from hopline.jobs.nccl_told import Asked, completed
from hopline.model.nccl import choice
from hopline.model.nccl.devices import meets_in_switches
from hopline.model.nccl.job import Job
from hopline.model.nccl.numbers import LATEST
from hopline.model.nccl.tables import Table as Cells
from hopline.quantity import counted, show
from hopline.records.nccl_log import Call, Cell, NcclLog, TuningTable, Way
from hopline.records.nccl_names import BENCHMARKS
from hopline.records.table import Table

PART = 0.15
"""Figures that are farther apart than this are told."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Two figures for one thing, ours and another; ``what`` says of what."""

    what: str
    ours: float
    other: float

    @property
    def error(self) -> float:
        """Ours over the other, less 1; infinite where only one of the two has it, above 0 where that is ours."""
        if bool(self.ours) == bool(self.other):
            return self.ours / self.other - 1 if self.other else 0.0
        return float("inf") if self.ours else float("-inf")

    @property
    def parts(self) -> bool:
        """Whether they are farther apart than PART."""
        return abs(self.error) > PART


@dataclass(frozen=True, slots=True)
class Chosen:
    """A call's choice in a log, beside ours; ``ours`` is None where nothing can be said."""

    call: Call
    times: int
    ours: Way | None

    @property
    def same(self) -> bool:
        """Whether both take the same way."""
        return self.ours == (self.call.algorithm, self.call.protocol)


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """A measured table beside ours: our answer, a pair a size, and what was assumed."""

    table: Table
    answer: Answer
    pairs: tuple[Apart, ...]
    premises: tuple[str, ...]


def beside_table(cells: Cells, other: TuningTable) -> list[Apart]:
    """Our table beside a log's, for every figure above 0 in either: latencies, and bandwidths."""
    found = []
    for key in sorted(set(cells) & set(other.cells)):
        ours, theirs = cells[key], other.cells[key]
        name = " ".join(key)
        if ours.usable or theirs.usable:
            found.append(Apart(f"{name} latency", ours.latency, theirs.latency))
            found.append(Apart(f"{name} bandwidth", ours.bandwidth, theirs.bandwidth))
    return found


def beside_calls(calls: Sequence[Call], cells: Mapping[tuple[str, str, str], Cell], job: Job) -> list[Chosen]:
    """Each choice in a log, once for all calls alike, beside the choice that ``cells`` lead to."""
    alike: dict[tuple[str, int, str, str], list[Call]] = {}
    for call in calls:
        alike.setdefault((call.function, call.size, call.algorithm, call.protocol), []).append(call)
    found = []
    for (function, size, _, _), same in sorted(alike.items()):
        known = bool(function) and bool(choice.ways(cells, function))
        ours = choice.choose(cells, function, size, job)[0][0] if known else None
        found.append(Chosen(next((c for c in same if c.measured is not None), same[0]), len(same), ours))
    return found


def beside_file(asked: Asked, path: str) -> tuple[list[Beside], int]:
    """Ours beside each table of ``path`` that times what is asked for, and how many time something else.

    Raises InputError where none does, and where the user states something else than the file says; FormatError for files
    that cannot be read.
    """
    wanted = asked.rest.function
    with kept(path):
        tables = fitting.read(path).tables
        log = log_of(path, tables[0])
    held = [benchmark_of(table.benchmark) for table in tables]
    chosen = [table for table, name in zip(tables, held, strict=True) if not name or BENCHMARKS.get(name) == wanted]
    if not chosen:
        names, asks = ", ".join(dict.fromkeys(held)), benchmark_of(asked.rest.benchmark)
        raise InputError(f"{shown(path)} holds {names}: expected measured times of {asks}, which is asked for")
    found = []
    for table in chosen:
        said = said_of(table, log, asked.stated.ranks)
        question, premises = completed(asked, [said], log.searches if log else (), shown(path))
        ours, pairs = beside_measured(question, table)
        taken = (*premises, *_other(table, asked, log), *_bridged(table, question), *ours.premises)
        found.append(Beside(table, ours, tuple(pairs), taken))
    return found, len(held) - len(chosen)


def _other(table: Table, asked: Asked, log: NcclLog | None) -> tuple[str, ...]:
    """Where the file says that none of NCCL's runs was measured, or its tool does not tell."""
    other = told_of(table, asked.stated, log).other
    return (f"NCCL was measured, and as far as is known {other}",) if other else ()


def _bridged(table: Table, question: Question) -> tuple[str, ...]:
    """Where GPUs that no switch joins are held against those that meet in switches."""
    name = str(table.facts.get("device") or table.facts.get("machine") or "")
    if question.pci or question.whole or question.searches or meets_in_switches(name) is not False:
        return ()
    return (f"the GPUs of {name} are bridged in pairs at most (--pci, or --channels and --within)",)


def beside_measured(question: Question, measured: Table) -> tuple[Answer, list[Apart]]:
    """Our time beside a measured one, for each of its sizes, with the way that NCCL is reckoned to take.

    Raises InputError for a table of another collective, of another number of ranks or hosts, and for streams.
    """
    if measured.measure != "time":
        raise InputError(f"{measured.benchmark} is a stream of messages: expected times of a collective")
    if measured.ranks is not None and measured.ranks != question.ranks:
        raise InputError(
            f"the table is of {counted(measured.ranks, 'rank')}, and -n says {question.ranks}: expected the same"
        )
    hosts = measured.facts.get("hosts")
    if isinstance(hosts, int) and hosts != question.nodes:
        raise InputError(
            f"the table is of {counted(hosts, 'host')}, and --nodes says {question.nodes}: expected the same"
        )
    benchmark = benchmark_of(measured.benchmark) or question.benchmark
    if benchmark != benchmark_of(question.benchmark):
        raise InputError(f"the table is of {benchmark}, and {question.benchmark} is asked for: expected the same")
    whole = parts(measured.tool, benchmark, question.ranks)
    found = answer(replace(question, sizes=tuple((measured.size * whole).tolist())))
    rows = zip(found.sizes.tolist(), found.time.tolist(), measured.time.tolist(), found.chosen, strict=True)
    return found, [Apart(f"{show(m, 'size')} {' '.join(way)}", ours, theirs) for m, ours, theirs, way in rows]


def own_table(log: NcclLog) -> Job:
    """A job for a log's own table: of it only the plateau of rings, trees' corrections and their premises are needed."""
    ranks, nodes = max(2, log.ranks or 2), log.nodes or 1
    return Job(ranks, nodes if ranks % nodes == 0 else 1, "hopper", {}, LATEST)
