"""What NCCL would do: time per size by algorithm and protocol, and its choice.

What belongs here: from a question to a job of ``model.nccl``. What stands beside it is ``nccl_beside``; pages are ``show``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hopline.curve import Floats
from hopline.errors import InputError, UnknownNameError
from hopline.jobs.benchmarks import benchmark_of
from hopline.model.nccl import choice, over_pci, searched
from hopline.model.nccl.choice import Crossover
from hopline.model.nccl.forcing import Forced, forced
from hopline.model.nccl.job import Graph, Job
from hopline.model.nccl.numbers import LATEST, is_newer, numbers
from hopline.model.nccl.rates import MULTICAST
from hopline.model.nccl.tables import Table as Cells
from hopline.model.nccl.tables import table
from hopline.quantity import counted, show
from hopline.records.nccl_log import Search, Way
from hopline.records.nccl_names import ALGORITHMS, BENCHMARKS

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
    def pci(self) -> bool:
        """Whether the GPUs are said to have no NVLink."""
        return self.wires != "NVL"

    @property
    def whole(self) -> bool:
        """Whether all is stated that NCCL's search finds."""
        return self.channels is not None and self.within is not None

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


def job_of(question: Question) -> tuple[Job, tuple[str, ...]]:
    """A question as NCCL's tuner sees it, with what had to be assumed."""
    if question.nodes < 1 or question.ranks % question.nodes:
        spread = f"{counted(question.ranks, 'rank')} on {counted(question.nodes, 'node')}"
        raise InputError(f"{spread}: expected nodes that hold equally many")
    _check_network(question)
    _check_stated(question)
    graphs, said = _graphs(question)
    graphs = {name: _stated(question, graph) for name, graph in graphs.items()}
    premises = list(said) if not question.whole or question.searches else []
    if is_newer(question.version):
        premises.append(
            f"NCCL {question.version} is later than {LATEST}, the last whose numbers are known: those are taken"
        )
    if question.nodes > 1:
        premises.append(f"CPU: {question.cpu} (it caps LL, and sets what posting to the network costs)")
    made = Job(
        question.ranks, question.nodes, question.architecture, graphs, question.version, question.cpu, question.x86,
        question.nvls and question.architecture in ("hopper", "blackwell"), question.collnet,
        nvswitch=all(graph.hop == "nvlink" for graph in graphs.values()),
    )  # fmt: skip
    return made, tuple(premises)


def _check_network(question: Question) -> None:
    """Raise InputError for what means nothing on one node."""
    if question.nodes > 1:
        return
    if question.nic is not None:
        raise InputError("--nic: nothing goes over a NIC on one node; expected it with --nodes above 1")
    if question.collnet:
        raise InputError("--collnet: nothing is summed in the network on one node; expected it with --nodes above 1")


def _check_stated(question: Question) -> None:
    """Raise InputError where only a part of what NCCL's search finds is stated, since the rest would be that of another."""
    stated = {"--channels": question.channels, "--within": question.within, "--between": question.between}
    told = [option for option, value in stated.items() if value is not None]
    lacking = [option for option in ("--channels", "--within") if option not in told]
    most = numbers(question.version).most_channels
    if question.channels is not None and question.channels > most:
        raise InputError(f"--channels {question.channels}: NCCL {question.version} has at most {most}")
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


def _graphs(question: Question) -> tuple[dict[str, Graph], tuple[str, ...]]:
    """Algorithm -> Graph, and what was assumed for it."""
    if question.searches:
        return _of_log(question.searches), ("channels and their bandwidths are those of the log's GRAPH lines",)
    nic = None if question.nic is None else question.nic / _GBPS
    per_node, intel = question.ranks // question.nodes, question.x86 and question.cpu == "intel"
    if question.whole:
        return _like(question), ()
    node = searched.assumed(question.architecture, per_node, nic, pci=question.pci, intel=intel)
    found = searched.graphs(node, question.nodes)
    over = f", one NIC of {show(node.nic * _GBPS, 'bandwidth', 3)} a GPU" if question.nodes > 1 else ""
    ring = found["Ring"]
    said = (
        f"assumed of the machine: {_wires(question, node)}{over}; its search then finds about "
        f"{counted(ring.channels, 'channel')} of {ring.within:g} GB/s (--channels, --within, --between state them)"
    )
    return found, (said, *_large(node))


def _like(question: Question) -> dict[str, Graph]:
    """The ways that the machine has, for channels that are stated: NVLS needs NVLink and more than one GPU."""
    kept = Graph(question.channels or 0, 0.0, 0.0, question.wires, "PHB" if question.pci else "PIX")
    alone = question.pci or question.ranks == question.nodes or question.architecture not in ("hopper", "blackwell")
    return dict.fromkeys([name for name in ALGORITHMS if not (alone and name in MULTICAST)], kept)


def _wires(question: Question, node: searched.Node) -> str:
    """How the GPUs of a node are assumed to reach one another."""
    if not question.pci:
        return f"all GPUs of a node over NVSwitch, {show(node.nvlink * _GBPS, 'bandwidth', 3)} each"
    generation = over_pci.GENERATION[node.architecture]
    return (
        f"no NVLink, all GPUs of a node in PCIe {generation}.0 x16 slots of one CPU ({question.cpu}), "
        f"{show(node.slot * _GBPS, 'bandwidth', 3)} each from GPU to GPU (between two CPUs it may be less)"
    )


def _large(node: searched.Node) -> tuple[str, ...]:
    """What is worth saying of a node that holds more than the usual ones."""
    if node.gpus <= searched.USUAL:
        return ()
    where = "in the slots of one node" if not node.nvlink else "in one NVLink domain"
    return (f"{node.gpus} GPUs are {where}, and usual nodes hold {searched.USUAL} (--nodes says how many there are)",)


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
