"""Networks in which routers are joined to each other: tori and dragonflies.

What belongs here: how their nodes join.
"""

from __future__ import annotations

import math
from itertools import combinations, product

from hopline.errors import InputError
from hopline.machine.families.parameters import Parameter, Parts, Values
from hopline.machine.topology import Machine
from hopline.quantity import counted

TORUS = (
    Parameter("dims", "dims", "devices along each dimension"),
    Parameter("wrap", "flag", "whether the last of a line is joined to the first (yes or no)", "yes"),
    Parameter("rate", "bandwidth", "of a link between neighbours, one way"),
)


def torus(values: Values) -> Machine:
    """Devices that forward; of two along a dimension one cable joins them, not two."""
    dims, wrap = values.dims("dims"), values.flag("wrap")
    parts = Parts(values)
    parts.expect(math.prod(dims), math.prod(dims) * len(dims))
    parts.link("cable", values.rate("rate"))
    names = parts.devices(["n" + ".".join(map(str, place)) for place in product(*map(range, dims))])
    for i, name in enumerate(names):
        stride = 1
        for length in reversed(dims):
            at = i // stride % length
            if at + 1 < length:
                parts.join(name, names[i + stride], "cable")
            elif wrap and length > 2:
                parts.join(name, names[i - at * stride], "cable")
            stride *= length
    return parts.made(f"{'Torus' if wrap else 'Mesh'} of {' x '.join(map(str, dims))}")


DRAGONFLY = (
    Parameter("groups", "count", "groups, each joined to each other one by one cable"),
    Parameter("routers", "count", "routers of a group, all joined to each other"),
    Parameter("hosts", "count", "hosts at each router"),
    Parameter("links", "count", "cables of a router to other groups; default: as few as do", ""),
    Parameter("rate", "bandwidth", "of a host's link, one way"),
    Parameter("inside", "bandwidth", "of a link inside of a group; default: rate", ""),
    Parameter("between", "bandwidth", "of a link between groups; default: rate", ""),
)


def dragonfly(values: Values) -> Machine:
    """Port p of a group leads to the p-th other group, and is at router p // links (J. Kim et al., 2008)."""
    groups, routers, hosts = map(values.count, ("groups", "routers", "hosts"))
    if groups == 1:
        values.refuse(("between", "links"), "with one group")
    links = values.count("links") or max(1, -(-(groups - 1) // routers))
    if routers * links < groups - 1:
        raise InputError(
            f"{values.topology}: {routers} routers with {links} links reach {routers * links} other groups: expected at least "
            f"{groups - 1}, so that no group is left alone: give links={-(-(groups - 1) // routers)} or more"
        )
    rate = values.rate("rate")
    parts = Parts(values)
    every = groups * routers
    parts.expect(every * (1 + hosts), every * hosts + every * (routers - 1) // 2 + groups * (groups - 1) // 2)
    parts.link("host", rate)
    parts.link("inside group", values.rate("inside", rate))
    parts.link("between groups", values.rate("between", rate))
    names = parts.devices([f"host{i}" for i in range(every * hosts)])
    router = parts.switches([f"g{g}.router{r}" for g in range(groups) for r in range(routers)])
    for i, name in enumerate(names):
        parts.join(name, router[i // hosts], "host")
    for g in range(groups):
        for a, b in combinations(router[g * routers : (g + 1) * routers], 2):
            parts.join(a, b, "inside group")
    for low, high in combinations(range(groups), 2):
        ends = router[low * routers + (high - 1) // links], router[high * routers + low // links]
        parts.join(*ends, "between groups")
    return parts.made(f"Dragonfly: {counted(groups, 'group')} of {routers} routers with {hosts} hosts each")
