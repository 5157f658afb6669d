"""What NCCL would do: time per size by algorithm and protocol, its choice, and our figures beside a log's and a measurement.

What belongs here: from a question to a job of ``model.nccl``, and the comparisons. Pages are ``show``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hopline.curve import Floats
from hopline.errors import InputError, UnknownNameError
from hopline.jobs.benchmarks import benchmark_of, parts
from hopline.model.nccl import choice, searched
from hopline.model.nccl.choice import Crossover
from hopline.model.nccl.forcing import Forced, forced
from hopline.model.nccl.job import Graph, Job
from hopline.model.nccl.numbers import LATEST, is_newer
from hopline.model.nccl.tables import Table as Cells
from hopline.model.nccl.tables import table
from hopline.quantity import show
from hopline.records.nccl_log import Call, Cell, NcclLog, Search, TuningTable, Way
from hopline.records.nccl_names import BENCHMARKS
from hopline.records.table import Table

PART = 0.15
"""Figures that are farther apart than this are told."""
DEFAULT_SIZES = tuple(float(64 << 2 * power) for power in range(13))
"""64 B to 1 GiB."""
_GBPS = 1e9
_PATTERNS: Mapping[int, tuple[str, ...]] = {
    1: ("Tree", "PAT"), 2: ("Tree", "PAT"), 3: ("Tree", "PAT"), 4: ("Ring",), 5: ("NVLS", "NVLSTree"), 6: ("CollNetDirect",),
}  # fmt: skip
"""Pattern of a GRAPH line -> algorithms that use what was found for it."""
_PLAIN_TREE = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked; rates in byte/s of each GPU (``nic``) and of each channel (``within``, ``between``), None: assumed."""

    benchmark: str
    ranks: int
    nodes: int = 1
    architecture: str = "hopper"
    version: str = LATEST
    cpu: str = "intel"
    x86: bool = True
    channels: int | None = None
    within: float | None = None
    between: float | None = None
    nic: float | None = None
    wires: str = "NVL"
    nvls: bool = True
    collnet: bool = False
    forced: Forced = field(default_factory=Forced)
    sizes: tuple[float, ...] = ()
    searches: tuple[Search, ...] = ()

    @property
    def function(self) -> str:
        """NCCL's name. Raises UnknownNameError for what its tuner does not choose for."""
        name = benchmark_of(self.benchmark)
        if name not in BENCHMARKS:
            raise UnknownNameError("collective that NCCL's tuner chooses for", self.benchmark, BENCHMARKS)
        return BENCHMARKS[name]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What NCCL would do.

    Attributes
    ----------
    job, cells
        As its tuner sees it, and its table after what the environment forces.
    sizes, times
        Bytes, and seconds of every way that may be taken, each of shape (sizes,).
    chosen, time
        The way taken for each size, and its seconds.
    free
        Where the environment forces something: seconds of NCCL's own choice.
    crossovers
        Where the choice changes.
    premises
        What was assumed.
    """

    function: str
    job: Job
    cells: Cells
    sizes: Floats
    times: Mapping[Way, Floats]
    chosen: Sequence[Way]
    time: Floats
    free: Floats | None
    crossovers: tuple[Crossover, ...]
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """Two figures for one thing, ours and another; ``what`` says of what."""

    what: str
    ours: float
    other: float

    @property
    def error(self) -> float:
        """Ours over the other, less 1."""
        return self.ours / self.other - 1 if self.other else float("inf") if self.ours else 0.0

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


def job_of(question: Question) -> tuple[Job, tuple[str, ...]]:
    """A question as NCCL's tuner sees it, with what had to be assumed."""
    if question.nodes < 1 or question.ranks % question.nodes:
        raise InputError(f"{question.ranks} ranks on {question.nodes} nodes: expected nodes that hold equally many")
    _check_stated(question)
    graphs, said = _graphs(question)
    graphs = {name: _stated(question, graph) for name, graph in graphs.items()}
    stated = question.channels is not None and question.within is not None
    premises = [said] if not stated or question.searches else []
    if is_newer(question.version):
        premises.append(
            f"NCCL {question.version} is later than {LATEST}, the last whose numbers are known: those are taken"
        )
    if question.nodes > 1:
        premises.append(f"CPU: {question.cpu} (it caps LL, and sets what posting to the network costs)")
    made = Job(
        question.ranks, question.nodes, question.architecture, graphs, question.version, question.cpu, question.x86,
        question.nvls and question.architecture in ("hopper", "blackwell"), question.collnet,
    )  # fmt: skip
    return made, tuple(premises)


def _check_stated(question: Question) -> None:
    """Raise InputError where only a part of what NCCL's search finds is stated, since the rest would be that of another."""
    stated = {"--channels": question.channels, "--within": question.within, "--between": question.between}
    told = [option for option, value in stated.items() if value is not None]
    lacking = [option for option in ("--channels", "--within") if option not in told]
    if question.searches or not told:
        return
    if lacking:
        raise InputError(
            f"{' and '.join(told)}: expected {' and '.join(lacking)}, too, all as a log's GRAPH lines tell them"
        )
    if question.nic is not None:
        raise InputError(
            "--nic: channels are worked out from it, and --channels and --within state them: leave either away"
        )


def _stated(question: Question, graph: Graph) -> Graph:
    """A graph with what the user says of all."""
    between = question.between if question.between is not None else question.within
    return replace(
        graph,
        wires=question.wires if question.wires != "NVL" or not question.searches else graph.wires,
        channels=graph.channels if question.channels is None else question.channels,
        within=graph.within if question.within is None else question.within / _GBPS,
        between=graph.between if between is None else between / _GBPS,
    )


def _graphs(question: Question) -> tuple[dict[str, Graph], str]:
    if question.searches:
        return _of_log(question.searches), "channels and their bandwidths are those of the log's GRAPH lines"
    nic = None if question.nic is None else question.nic / _GBPS
    node = searched.assumed(question.architecture, question.ranks // question.nodes, nic)
    found = searched.graphs(node, question.nodes)
    ring = found["Ring"]
    over = f", one NIC of {show(node.nic * _GBPS, 'bandwidth', 3)} a GPU" if question.nodes > 1 else ""
    return found, (
        f"assumed of the machine: all GPUs of a node over NVSwitch, {show(node.nvlink * _GBPS, 'bandwidth', 3)} each{over}; "
        f"its search then finds about {ring.channels} channels of {ring.within:g} GB/s "
        "(--channels, --within, --between state them)"
    )


def _of_log(searches: Sequence[Search]) -> dict[str, Graph]:
    """Trees are told of first, then the chains of CollNet, which are trees, too."""
    found: dict[str, Graph] = {}
    for one in searches:
        graph = Graph(
            one.channels, one.within / _GBPS, one.between / _GBPS, one.wires or "NVL", one.net or "PIX", 0.0, one.same,
            one.pattern == _PLAIN_TREE,
        )  # fmt: skip
        names = _PATTERNS.get(one.pattern, ())
        found |= dict.fromkeys(("CollNetChain",) if "Tree" in names and "Tree" in found else names, graph)
    return found


def answer(question: Question) -> Answer:
    """Answer ``question``. Raises InputError and UnknownNameError."""
    function = question.function
    job, premises = job_of(question)
    free = table(job)
    cells = forced(free, job, question.forced)
    sizes = np.array(question.sizes or DEFAULT_SIZES)
    chosen, time = choice.choose(cells, function, sizes, job)
    every = {way: choice.times(cells, function, way, sizes, job) for way in choice.ways(cells, function)}
    own = choice.choose(free, function, sizes, job)[1] if question.forced else None
    return Answer(
        function, job, cells, sizes, every, chosen, time, own, choice.crossovers(cells, function, job), premises
    )


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


def beside_measured(question: Question, measured: Table) -> tuple[Answer, list[Apart]]:
    """Our time beside a measured one, for each of its sizes, with the way that NCCL is reckoned to take.

    Raises InputError for a table of another number of ranks or hosts, and for streams.
    """
    if measured.measure != "time":
        raise InputError(f"{measured.benchmark} is a stream of messages: expected times of a collective")
    if measured.ranks is not None and measured.ranks != question.ranks:
        raise InputError(f"the table is of {measured.ranks} ranks, and -n says {question.ranks}: expected the same")
    hosts = measured.facts.get("hosts")
    if isinstance(hosts, int) and hosts != question.nodes:
        raise InputError(f"the table is of {hosts} hosts, and --nodes says {question.nodes}: expected the same")
    benchmark = benchmark_of(measured.benchmark) or question.benchmark
    whole = parts(measured.tool, benchmark, question.ranks)
    asked = replace(question, benchmark=benchmark, sizes=tuple((measured.size * whole).tolist()))
    found = answer(asked)
    rows = zip(found.sizes.tolist(), found.time.tolist(), measured.time.tolist(), found.chosen, strict=True)
    return found, [Apart(f"{show(m, 'size')} {' '.join(way)}", ours, theirs) for m, ours, theirs, way in rows]


def own_table(log: NcclLog, question: Question | None) -> Job:
    """A job for a log's own table: of it only the plateau of rings, trees' corrections and their premises are needed."""
    ranks, nodes = log.ranks or 2, log.nodes or 1
    if question is not None:
        ranks, nodes = question.ranks, question.nodes
    architecture = question.architecture if question is not None else "hopper"
    return Job(max(2, ranks), nodes if max(2, ranks) % nodes == 0 else 1, architecture, {}, LATEST)
