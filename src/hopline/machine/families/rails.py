"""Rail-optimised clusters and supernodes: devices with fast links inside of a node, and NICs between nodes.

What belongs here: how their nodes join. Links inside of a node are called ``inside``, which tells them from the network.
"""

from __future__ import annotations

import math
from itertools import combinations

from hopline.errors import InputError
from hopline.machine.families.parameters import Parameter, Parts, Values
from hopline.machine.topology import Machine

RAILS = (
    Parameter("nodes", "count", "nodes"),
    Parameter("gpus", "count", "devices of each node, each with a NIC", "8"),
    Parameter("rails", "count", "rail switches; NIC g of every node is at switch g mod rails; default: gpus", ""),
    Parameter("rate", "bandwidth", "of a NIC, one way"),
    Parameter("inside", "bandwidth", "of a device's link to the switch inside of its node, one way"),
    Parameter("inside-latency", "time", "of each hop inside of a node; default: latency", ""),
    Parameter("spines", "count", "switches that join the rails", "0", least=0),
    Parameter("uplink", "bandwidth", "of a link from a rail to a spine; default: as much up as comes from below", ""),
    Parameter("oversubscription", "ratio", "what NICs can send over what their rail can pass on", ""),
)


def rails(values: Values) -> Machine:
    """Without spines, what changes rails goes over the switch inside of a node."""
    nodes, gpus, spines, rate = (*map(values.count, ("nodes", "gpus", "spines")), values.rate("rate"))
    count = values.count("rails") or gpus
    if gpus % count:
        raise InputError(f"{values.topology}: {gpus} NICs of a node on {count} rails: expected equally many on each")
    parts = Parts(values)
    parts.expect(nodes * (gpus + 1) + count + spines, 2 * nodes * gpus + count * spines)
    parts.link("rail", rate)
    parts.link("inside", values.rate("inside"), "inside-latency")
    devices = parts.devices([f"h{n}.gpu{g}" for n in range(nodes) for g in range(gpus)])
    inner = parts.switches([f"h{n}.switch" for n in range(nodes)])
    rail = parts.switches([f"rail{r}" for r in range(count)])
    spine = parts.switches([f"spine{s}" for s in range(spines)])
    if spines:
        parts.link("uplink", values.uplink(nodes * gpus / count * rate, spines))
    else:
        values.refuse(("uplink", "oversubscription"), "without spines")
    for low in rail:
        for high in spine:
            parts.join(low, high, "uplink")
    for i, device in enumerate(devices):
        parts.join(device, inner[i // gpus], "inside")
        parts.join(device, rail[i % gpus % count], "rail")
    between = f"{count} rails" + (f", {spines} spines" if spines else "")
    return parts.made(f"Rail-optimised: {nodes} nodes of {gpus} devices, {between}")


SUPERNODES = (
    Parameter("nodes", "count", "supernodes", "1"),
    Parameter("devices", "count", "devices of each supernode", ""),
    Parameter("planes", "count", "switches inside of a supernode, each joined to all of its devices", ""),
    Parameter("mesh", "dims", "instead of switches: devices in so many rows and columns, all of one line joined", ""),
    Parameter("inside", "bandwidth", "of a device's link to each plane or neighbour, one way"),
    Parameter("inside-latency", "time", "of each hop inside of a supernode; default: latency", ""),
    Parameter("rate", "bandwidth", "of a device's NIC, one way, where there are several supernodes", ""),
    Parameter("spines", "count", "switches between supernodes", "1"),
    Parameter(
        "uplink", "bandwidth", "of a supernode's link to each spine; default: as much up as comes from below", ""
    ),
    Parameter("oversubscription", "ratio", "what NICs can send over what their supernode can pass on", ""),
)


def supernodes(values: Values) -> Machine:
    """Planes of switches as in NVL72, or a mesh with all devices of one line joined (UB-Mesh: H. Liao et al., 2025)."""
    mesh = values.dims("mesh")
    nodes, planes, size = values.count("nodes"), values.count("planes"), _size(values, mesh)
    spines = values.count("spines") if nodes > 1 else 0
    if nodes == 1:
        values.refuse(("rate", "uplink", "oversubscription"), "with one supernode")
    planes = planes or (0 if mesh else 1)
    parts = Parts(values)
    inside = planes if planes else sum(length - 1 for length in mesh) / 2
    parts.expect(nodes * (size + planes + 1) + spines, int(nodes * (size * (inside + 1) + spines)))
    parts.link("inside", values.rate("inside"), "inside-latency")
    devices = parts.devices([f"s{n}.d{i}" for n in range(nodes) for i in range(size)])
    switches = parts.switches([f"s{n}.plane{p}" for n in range(nodes) for p in range(planes)])
    leaves = parts.switches([f"s{n}.leaf" for n in range(nodes)] if spines else [])
    spine = parts.switches([f"spine{s}" for s in range(spines)])
    for n in range(nodes):
        own = devices[n * size : (n + 1) * size]
        for plane in switches[n * planes : (n + 1) * planes]:
            for device in own:
                parts.join(device, plane, "inside")
        for a, b in _lines(mesh):
            parts.join(own[a], own[b], "inside")
    if spines:
        rate = values.rate("rate")
        parts.link("nic", rate)
        parts.link("uplink", values.uplink(size * rate, spines))
        for i, device in enumerate(devices):
            parts.join(device, leaves[i // size], "nic")
        for leaf in leaves:
            for high in spine:
                parts.join(leaf, high, "uplink")
    made = f"mesh of {'x'.join(map(str, mesh))}" if mesh else f"{planes} switch plane{'s' if planes > 1 else ''}"
    return parts.made(f"Supernode: {nodes} of {size} devices, {made} inside")


def _size(values: Values, mesh: tuple[int, ...]) -> int:
    """Devices of a supernode. Raises InputError where they are told not at all, or in two ways that differ."""
    size = values.count("devices")
    if mesh and values.has("planes"):
        raise InputError(f"{values.topology}: planes and mesh exclude each other: give one of them")
    if not (size or mesh):
        raise InputError(f"{values.topology} needs devices or mesh: give one, like devices=72 or mesh=8x8")
    if size and mesh and math.prod(mesh) != size:
        raise InputError(
            f"{values.topology}: mesh has {math.prod(mesh)} devices: expected {size}, or leave devices out"
        )
    return size or math.prod(mesh)


def _lines(mesh: tuple[int, ...]) -> list[tuple[int, int]]:
    """Pairs of devices that differ in one coordinate."""
    found, stride = [], 1
    for length in reversed(mesh):
        firsts = [i for i in range(math.prod(mesh)) if i // stride % length == 0]
        found += [(i + a * stride, i + b * stride) for i in firsts for a, b in combinations(range(length), 2)]
        stride *= length
    return sorted(found)
