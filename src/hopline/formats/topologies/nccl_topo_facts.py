"""What an NCCL topology counts up to, as it stands in the file.

What belongs here: numbers for the facts of its Wiring; nothing is left out because it makes no sense.
"""

from __future__ import annotations

from collections import Counter

from hopline.formats.topologies.nccl_topo_parts import MOST_COUNT, class_role, cores, host, pcis, role
from hopline.formats.topologies.xml import Element
from hopline.machine.wiring import Fact


def facts(system: Element) -> dict[str, Fact]:
    """By the names of NCCL's elements and attributes; speeds of nets in Mb/s, as they stand there, and together in GB/s."""
    cpus = system.all("cpu")
    every = Counter(element.tag for element in system.walk())
    pci = [element for cpu in cpus for element in pcis(cpu)]
    roles = Counter(map(class_role, (element.text("class", "") for element in pci)))
    busids = Counter((host(cpu), element.text("busid").lower()) for cpu in cpus for element in pcis(cpu))
    found: dict[str, Fact] = {
        "system_version": system.text("version", ""),
        "cpus": len(cpus),
        "numaids": tuple(cpu.integer("numaid", -1) for cpu in cpus),
        "cores_per_cpu": tuple(map(cores, cpus)),
        "pci": len(pci),
        "pci_classes": Counter(element.text("class", "") for element in pci),
        "gpu_elements": every["gpu"],
        "gpus_by_class": roles["gpu"],
        "nic_elements": every["nic"],
        "nics_by_class": roles["nic"],
        "nets": every["net"],
        "link_speeds": Counter(element.text("link_speed", "") for element in pci),
        "link_widths": Counter(element.text("link_width", "") for element in pci),
        "duplicate_busids": sum(count - 1 for count in busids.values()),
        "gpus_per_cpu": tuple(sum(role(element) == "gpu" for element in pcis(cpu)) for cpu in cpus),
    }
    return found | _nets(system) | _links(system, {busid for _, busid in busids})


def _nets(system: Element) -> dict[str, Fact]:
    nets = [element for element in system.walk() if element.tag == "net"]
    if not nets:
        return {}
    speeds = [net.integer("speed", -1, default=0) for net in nets]
    return {
        "net_speeds_Mbps": Counter(map(str, speeds)),
        "net_names": tuple(net.text("name", "") for net in nets),
        "net_total_GBps": sum(speed for speed in speeds if speed > 0) / 8000,
    }


def _links(system: Element, busids: set[str]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    away = 0
    for tag in ("nvlink", "xgmi"):
        links = [
            (pci.text("busid").lower(), link)
            for pci in system.walk() for gpu in (pci.all("gpu") if pci.tag == "pci" else ())
            for link in gpu.all(tag)
        ]  # fmt: skip
        if not links:
            continue
        found[f"{tag}_elements"] = len(links)
        found[f"{tag}_count_total"] = sum(link.integer("count", 0, MOST_COUNT) for _, link in links)
        found[f"{tag}_self_targets"] = sum(link.text("target").lower() == own for own, link in links)
        to_gpus = [link for _, link in links if class_role(link.text("tclass", "0x03")) == "gpu"]
        away += sum(link.text("target").lower() not in busids for link in to_gpus)
        found["link_targets_not_in_file"] = away
    return found
