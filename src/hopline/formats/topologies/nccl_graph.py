"""NCCL's graph XML (NCCL_GRAPH_FILE, NCCL_GRAPH_DUMP_FILE): graphs > graph > channel > net, gpu.

What belongs here: the orders in which channels go through GPUs. A graph is what NCCL chose to do on a machine, and says
nothing of wires that it left unused or that two channels share. So no machine is made of it; the rings are drawn.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hopline.formats.topologies.sketch import Sketch, cleaned, machine_name
from hopline.formats.topologies.xml import Element, parse
from hopline.machine.wiring import Fact, Wiring
from hopline.quantity import convert

PATTERNS = {
    1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "NVLS", 6: "CollNet direct",
}  # fmt: skip
"""NCCL_TOPO_PATTERN_* of NCCL's src/include/graph.h."""
_RING = 4
_MOST = 1 << 16
_REFUSAL = (
    "an NCCL graph is what NCCL chose to do (orders of GPUs, GB/s a channel), not how the machine is wired: channels share "
    "wires, and wires without a channel are not in it; give the topology (NCCL_TOPO_DUMP_FILE) for a machine"
)


def read(path: str) -> Wiring:
    """What the file at ``path`` says; its Wiring refuses to be a machine. Raises FormatError."""
    top = parse(path, "graphs")
    graphs = top.all("graph")
    if not graphs:
        raise top.wrong("graphs has no element 'graph': expected an NCCL graph")
    sketch = Sketch()
    found: dict[str, Fact] = {"graphs": len(graphs)}
    for number, graph in enumerate(graphs):
        found |= _facts(number, graph, sketch)
    gpus = sorted({gpu for graph in graphs for channel in graph.all("channel") for gpu in _order(channel)})
    for gpu in gpus:
        sketch.node(f"gpu{gpu}", "gpu", gpu)
    ring = next((graph for graph in graphs if graph.integer("pattern", 0, _MOST, 0) == _RING), None)
    if ring is not None:
        _draw_rings(ring, sketch)
    return sketch.wiring("nccl-graph", machine_name(path), found, _REFUSAL)


def _facts(number: int, graph: Element, sketch: Sketch) -> dict[str, Fact]:
    """Attributes of a graph as they stand there, and the order of GPUs in each of its channels."""
    pattern = graph.integer("pattern", 0, _MOST)
    channels, said = graph.all("channel"), graph.integer("nchannels", 0, _MOST)
    speed, between = graph.decimal("speedintra"), graph.decimal("speedinter")
    intra, inter = graph.text("typeintra", ""), graph.text("typeinter", "")
    if len(channels) != said:
        sketch.remark(f"graph {number} says nchannels {said} and has {len(channels)}: is the file cut?")
    name = PATTERNS.get(pattern, f"pattern {pattern}")
    nets = any(channel.all("net") for channel in channels)
    outside = f", {between:g} GB/s between nodes ({inter})" if nets else ""
    sketch.remark(
        f"graph {number}: {name}, {len(channels)} channels of {speed:g} GB/s each within a node (by {intra or '?'}){outside}"
    )
    found: dict[str, Fact] = {
        f"g{number}": f"pattern:{pattern},nchannels:{said},speedintra:{speed:g},speedinter:{between:g},"
        f"typeintra:{cleaned(intra)},typeinter:{cleaned(inter)}",
        f"g{number}_channels": len(channels),
        f"g{number}_orders": tuple("-".join(map(str, _order(channel))) for channel in channels),
    }
    if nets:
        found[f"g{number}_nets"] = tuple("-".join(cleaned(net.text("dev")) for net in c.all("net")) for c in channels)
    return found


def _order(channel: Element) -> list[int]:
    """Ranks of the GPUs of a channel, each once."""
    order = [gpu.integer("dev", 0, _MOST) for gpu in channel.all("gpu")]
    twice = next((gpu for gpu, count in Counter(order).items() if count > 1), None)
    if twice is not None:
        raise channel.wrong(f"gpu {twice} comes twice in a channel: expected each once")
    return order


def _draw_rings(ring: Element, sketch: Sketch) -> None:
    """A cable for each two GPUs that follow one another, with as many channels as go that way on its busier side.

    A channel without nets closes within the node; one with nets leaves it at its last GPU.
    """
    crossings = Counter[tuple[int, int]]()
    for channel in ring.all("channel"):
        order = _order(channel)
        closed = order if channel.all("net") or len(order) < 2 else [*order, order[0]]
        crossings.update(pairwise(closed))
    speed = ring.decimal("speedintra")
    for (one, other), count in crossings.items():
        most = max(count, crossings[other, one])
        sketch.cable((f"gpu{one}", f"gpu{other}"), "ring channel", most, convert(speed, "GB/s") if speed else None)
