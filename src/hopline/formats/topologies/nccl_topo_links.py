"""NVLink, xGMI and C2C of an NCCL topology: from what each GPU's element names to cables.

What belongs here: both ends name a link, so each is met twice and becomes one cable. Links to NVSwitches lead to one switch
for all, as NCCL itself has it: a GPU's links to all of them are used side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hopline.formats.topologies.nccl_topo_parts import MOST_COUNT, Busid, Gpu
from hopline.formats.topologies.rates import nvlink, xgmi
from hopline.formats.topologies.sketch import Sketch
from hopline.quantity import convert, counted


def draw_links(sketch: Sketch, gpus: Sequence[Gpu]) -> None:
    """Cables for all links that the elements of ``gpus`` name, and remarks on those that are none."""
    nodes: dict[Busid, str] = {gpu.place: gpu.name for gpu in reversed(gpus)}
    named = Counter[tuple[str, str]]()
    away, selves = Counter[str](), 0
    for gpu in gpus:
        for link in gpu.links:
            other = nodes.get((gpu.place[0], link.target))
            if link.to != "gpu":
                continue
            if other is None:
                away[link.target] += link.count
            elif gpu.place[1] == link.target:
                selves += link.count
            else:
                named[gpu.name, other] += link.count
    _draw_pairs(sketch, gpus, named)
    _draw_hubs(sketch, gpus)
    if selves:
        sketch.remark(f"{counted(selves, 'link')} of GPUs to themselves: these join no two GPUs and are left out")
    if away:
        sketch.remark(
            f"{counted(away.total(), 'link')} to GPUs that are not in the file ({', '.join(list(away)[:4])}): left out"
        )


def _draw_pairs(sketch: Sketch, gpus: Sequence[Gpu], named: Counter[tuple[str, str]]) -> None:
    """One cable a pair of GPUs; where its ends count differently, the fewer that both name."""
    by_name = {gpu.name: gpu for gpu in gpus}
    drawn: set[frozenset[str]] = set()
    for (one, other), count in named.items():
        if frozenset((one, other)) in drawn:
            continue
        drawn.add(frozenset((one, other)))
        back = named[other, one]
        taken = min(count, back) or count
        if count != back:
            sketch.remark(f"{one} names {counted(count, 'link')} to {other}, which names {back} back: {taken} taken")
        label, bandwidth = _kind(by_name[one], next(link.tag for link in by_name[one].links if link.to == "gpu"))
        sketch.cable((one, other), label, taken, bandwidth)


def _draw_hubs(sketch: Sketch, gpus: Sequence[Gpu]) -> None:
    """Cables to NVSwitches (one node for all of them) and to the GPU's own cpu."""
    hub = ""
    for gpu in gpus:
        to_switches, to_cpus = (_total(gpu, role) for role in ("nvswitch", "cpu"))
        if to_switches and not hub:
            hub = sketch.node("nvswitch", "switch")
            sketch.remark("all NVSwitches are one switch here, with each GPU's links to them side by side")
        for end, count in ((hub, to_switches), (gpu.cpu, to_cpus)):
            if count:
                label, bandwidth = _kind(gpu, "nvlink")
                sketch.cable((gpu.name, end), label, count, bandwidth)
        _draw_c2c(sketch, gpu)


def _total(gpu: Gpu, role: str) -> int:
    return sum(link.count for link in gpu.links if link.to == role)


def _draw_c2c(sketch: Sketch, gpu: Gpu) -> None:
    """NVLink-C2C to the GPU's own cpu; ``bw`` is in MB/s of one."""
    for link in [] if gpu.element is None else gpu.element.all("c2c"):
        count, speed = link.integer("count", 0, MOST_COUNT, 1), link.integer("bw", 0, default=0)
        if count:
            sketch.cable((gpu.name, gpu.cpu), "C2C", count, convert(speed, "MB/s") if speed else None)


def _kind(gpu: Gpu, tag: str) -> tuple[str, float | None]:
    """Label and rate of one link of a GPU."""
    if tag == "xgmi":
        return xgmi(gpu.attribute("gcn"))
    capability = gpu.attribute("sm").strip()
    return nvlink(int(capability) if capability.isascii() and capability.isdecimal() and len(capability) < 6 else 0)
