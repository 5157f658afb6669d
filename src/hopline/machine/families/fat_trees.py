"""Fat trees: leaves and spines, and three tiers of switches with k ports each.

What belongs here: how their nodes join.
"""

from __future__ import annotations

from hopline.errors import InputError
from hopline.machine.families.parameters import Parameter, Parts, Values
from hopline.machine.topology import Machine
from hopline.quantity import counted

TWO_TIERS = (
    Parameter("leaves", "count", "leaf switches"),
    Parameter("hosts", "count", "hosts at each leaf"),
    Parameter("spines", "count", "spine switches, each joined to every leaf"),
    Parameter("rate", "bandwidth", "of a host's link, one way"),
    Parameter("uplink", "bandwidth", "of a link from a leaf to a spine (or oversubscription); default: rate", ""),
    Parameter("oversubscription", "ratio", "what hosts can send over what their leaf can pass on", ""),
)


def two_tiers(values: Values) -> Machine:
    """Host h is at leaf h // hosts; uplinks are as fast as hosts' links where nothing else is told."""
    leaves, hosts, spines, rate = (*map(values.count, ("leaves", "hosts", "spines")), values.rate("rate"))
    parts = Parts(values)
    parts.expect(leaves * (hosts + 1) + spines, leaves * (hosts + spines))
    told = values.has("uplink") or values.has("oversubscription")
    parts.link("host", rate)
    parts.link("uplink", values.uplink(hosts * rate, spines) if told else rate)
    names = parts.devices([f"host{i}" for i in range(leaves * hosts)])
    leaf = parts.switches([f"leaf{i}" for i in range(leaves)])
    spine = parts.switches([f"spine{i}" for i in range(spines)])
    for i, name in enumerate(names):
        parts.join(name, leaf[i // hosts], "host")
    for low in leaf:
        for high in spine:
            parts.join(low, high, "uplink")
    return parts.made(f"Fat tree: {counted(leaves * hosts, 'host')}, {hosts} at each leaf, {counted(spines, 'spine')}")


THREE_TIERS = (
    Parameter("k", "count", "ports of each switch, an even number: k pods, k^3 / 4 hosts", least=2),
    Parameter("rate", "bandwidth", "of every link, one way"),
)


def three_tiers(values: Values) -> Machine:
    """K pods of k/2 edge and k/2 upper switches; core i joins upper switch i // (k/2) of each (M. Al-Fares et al., 2008)."""
    k = values.count("k")
    if k % 2:
        raise InputError(f"{values.topology}: k is {k}: expected an even number of ports, half of them up")
    half = k // 2
    parts = Parts(values)
    parts.expect(k * half * half + 2 * k * half + half * half, 3 * k * half * half)
    parts.link("cable", values.rate("rate"))
    hosts = parts.devices([f"host{i}" for i in range(k * half * half)])
    edges = parts.switches([f"pod{i // half}.edge{i % half}" for i in range(k * half)])
    upper = parts.switches([f"pod{i // half}.upper{i % half}" for i in range(k * half)])
    cores = parts.switches([f"core{i}" for i in range(half * half)])
    for i, host in enumerate(hosts):
        parts.join(host, edges[i // half], "cable")
    for i, edge in enumerate(edges):
        for j in range(half):
            parts.join(edge, upper[i // half * half + j], "cable")
    for i, switch in enumerate(upper):
        for j in range(half):
            parts.join(switch, cores[i % half * half + j], "cable")
    return parts.made(f"Fat tree of three tiers: switches of {k} ports, {len(hosts)} hosts")
