"""NCCL's and RCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): system > cpu > pci > gpu > nvlink, nic > net.

What belongs here: how its parts join. A cpu element is a NUMA node; cpus, PCI bridges and NIC cards pass bytes on and are
switches. GPUs are devices, and so is each net (a port), which the way of a message over the network starts from: a way
GPU > bridge > card > port then has the rate of its slowest cable. A NIC without a net is a device itself.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hopline.formats.topologies.nccl_topo_facts import facts
from hopline.formats.topologies.nccl_topo_links import draw_links
from hopline.formats.topologies.nccl_topo_parts import Busid, Gpu, host, pcis, role
from hopline.formats.topologies.rates import WIDEST, pcie
from hopline.formats.topologies.sketch import Sketch, machine_name
from hopline.formats.topologies.xml import Element, parse
from hopline.machine.wiring import Wiring
from hopline.quantity import convert, counted

MOST_CPUS = 64
"""NUMA nodes of a host: all are joined to all."""


def read(path: str) -> Wiring:
    """What the file at ``path`` says. Raises FormatError."""
    system = parse(path, "system")
    if not system.all("cpu"):
        raise system.wrong("system has no element 'cpu': expected an NCCL topology")
    counts = facts(system)
    reader = _Reader(system)
    reader.draw()
    _tell(system, reader.sketch)
    return reader.sketch.wiring("nccl-topo", machine_name(path), counts)


class _Reader:
    def __init__(self, system: Element) -> None:
        self.cpus = system.all("cpu")
        self.sketch = Sketch()
        self.gpus: list[Gpu] = []
        self._seen: set[Busid] = set()
        self._tree: list[tuple[tuple[str, str], str, float | None, float | None]] = []
        self._hosts = {name: f"h{number}." for number, name in enumerate(dict.fromkeys(map(host, self.cpus)))}
        self._host = self._cpu = ""
        self._nics = 0
        numbers = [e.integer("dev", 0) for e in system.walk() if e.tag == "gpu"]
        gpus = sum(max(1, len(e.all("gpu"))) for cpu in self.cpus for e in pcis(cpu) if role(e) == "gpu")
        self._numbered = len(set(numbers)) == gpus

    def draw(self) -> None:
        """All parts; cables to NVSwitches before PCIe, so that of two equally short ways theirs is taken."""
        names = [self._draw_cpu(cpu) for cpu in self.cpus]
        draw_links(self.sketch, self.gpus)
        for ends, label, bandwidth, latency in self._tree:
            self.sketch.cable(ends, label, 1, bandwidth, latency)
        for (cpu, one), (neighbour, other) in combinations(zip(self.cpus, names, strict=True), 2):
            if host(cpu) == host(neighbour):
                self.sketch.cable((one, other), "SYS")

    def _draw_cpu(self, cpu: Element) -> str:
        name = self._named(f"cpu{cpu.integer('numaid', -1)}", host(cpu))
        place = host(cpu), f"numaid {cpu.integer('numaid', -1)}"
        if place in self._seen:
            raise cpu.wrong(f"numaid {cpu.text('numaid')} stands here a second time: expected each once")
        self._seen.add(place)
        if sum(host(cpu) == host(other) for other in self.cpus) > MOST_CPUS:
            raise cpu.wrong(f"more than {MOST_CPUS} cpu elements: expected one a NUMA node")
        self._host, self._cpu = host(cpu), self.sketch.node(name, "switch")
        for element in cpu.all("pci"):
            self._draw_pci(element, self._cpu)
        for element in cpu.all("nic"):
            self._draw_ports(element, self._cpu)
        return self._cpu

    def _named(self, name: str, of_host: str) -> str:
        return self._hosts[of_host] + name if len(self._hosts) > 1 else name

    def _draw_pci(self, pci: Element, parent: str) -> None:
        kind = role(pci)
        again = not self._new(pci)
        if again and kind != "bridge":
            raise pci.wrong(f"busid {pci.text('busid')} stands here a second time: expected each once")
        if again:
            self.sketch.remark(f"busid {pci.text('busid')} stands here more than once: taken as different bridges")
        if kind != "bridge" and pci.all("pci"):
            raise pci.wrong(f"a pci element stands within the {kind} {pci.text('busid')}: expected it within a bridge")
        if kind == "bridge":
            node = self.sketch.node(self._named(pci.text("busid"), self._host), "switch")
            self._join(pci, parent, node)
            for child in pci.all("pci"):
                self._draw_pci(child, node)
        elif kind == "gpu":
            elements: list[Element | None] = [*pci.all("gpu")] or [None]
            for element in elements:
                self._draw_gpu(pci, element, parent)
        elif kind == "nic":
            self._draw_nic(pci, parent)

    def _new(self, pci: Element) -> bool:
        place = self._host, pci.text("busid").strip().lower()
        if place in self._seen:
            return False
        self._seen.add(place)
        return True

    def _draw_gpu(self, pci: Element, gpu: Element | None, parent: str) -> None:
        number = gpu.integer("dev", 0) if gpu is not None and self._numbered else len(self.gpus)
        node = self.sketch.node(f"gpu{number}", "gpu", number)
        place = self._host, pci.text("busid").strip().lower()
        self.gpus.append(Gpu(node, place, self._cpu, gpu))
        self._join(pci, parent, node)

    def _draw_nic(self, pci: Element, parent: str) -> None:
        ports = [net for nic in pci.all("nic") for net in nic.all("net")]
        name = pci.text("busid") if ports else f"nic{self._nics}"
        self._nics += not ports
        card = self.sketch.node(self._named(name, self._host), "switch" if ports else "end")
        self._join(pci, parent, card)
        for nic in pci.all("nic"):
            self._draw_ports(nic, card)

    def _draw_ports(self, nic: Element, card: str) -> None:
        for net in nic.all("net"):
            speed = net.integer("speed", -1, default=0)
            delay = convert(net.decimal("latency", default=0.0), "us")
            label, bandwidth = (f"{speed / 1000:g} Gb/s", convert(speed, "Mb/s")) if speed > 0 else ("net", None)
            port = self.sketch.node(self._named(net.text("name", "net"), self._host), "end")
            self._tree.append(((card, port), label, bandwidth, delay or None))

    def _join(self, pci: Element, parent: str, node: str) -> None:
        label, bandwidth, _ = _link(pci)
        self._tree.append(((parent, node), label, bandwidth, None))


def _link(pci: Element) -> tuple[str, float | None, str]:
    """Label, byte/s and encoding of the PCIe link above an element."""
    width = pci.integer("link_width", 0, WIDEST) if pci.text("link_width", "").strip() else 0
    return pcie(pci.text("link_speed", ""), width)


# --- what a reader should know ------------------------------------------------------------------------------------

_KNOWN = {"system", "cpu", "pci", "gpu", "nvlink", "xgmi", "c2c", "nic", "net"}


def _tell(system: Element, sketch: Sketch) -> None:
    counts = Counter(element.tag for element in system.walk())
    pci = [element for cpu in system.all("cpu") for element in pcis(cpu)]
    gpus = [element for element in pci if role(element) == "gpu"]
    if gpus and not counts["gpu"]:
        sketch.remark("it has no gpu elements: NVLinks are not described here, so GPUs are joined by PCIe only")
    if any(role(element) == "nic" for element in pci) and not counts["net"]:
        sketch.remark("it has no net elements: how fast the NICs are on the network is not said, only their PCIe links")
    links = [_link(element) for element in pci]
    encodings = sorted({encoding for _, _, encoding in links if encoding})
    if encodings:
        sketch.remark(
            f"PCIe rates are lanes x GT/s less the encoding ({', '.join(encodings)}); packet headers not taken off"
        )
    silent = sum(bandwidth is None for _, bandwidth, _ in links)
    if silent:
        sketch.remark(
            f"{silent} of {counted(len(pci), 'PCIe link')} with no link_speed or no link_width: not known "
            "(NCCL itself takes 8 GT/s and 16 lanes then)"
        )
    others = Counter(e.text("class", "") for e in pci if role(e) in ("other", "nvswitch", "cpu"))
    if others:
        told = ", ".join(f"{count} of class {code or 'unknown'}" for code, count in others.items())
        sketch.remark(f"PCI devices that are no GPU, NIC or bridge are left out: {told}")
    unread = sorted(set(counts) - _KNOWN)
    if unread:
        sketch.remark(f"elements that are not read: {', '.join(unread[:6])}")
