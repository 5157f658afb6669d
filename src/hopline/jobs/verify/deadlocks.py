"""What the vector cases about deadlock ask for: which buffers lie on cycles of dependencies.

What belongs here: naming, as in ``kinds``. Resources of a case are links of any name with a class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopline.errors import InputError
from hopline.jobs.verify.inputs import Inputs
from hopline.study.deadlock_waits import waits

Outputs = dict[str, Any]
Resource = tuple[str, int]
MOST_CLASSES = 1 << 16


def buffer_dependency(inputs: Inputs) -> Outputs:
    """The outputs of a case of kind buffer_dependency. Raises InputError."""
    routes = _routes(inputs)
    names = sorted({link for route in routes for link, _ in route})
    number = {name: place for place, name in enumerate(names)}
    hops = [hop for route in routes for hop in route]
    start = np.cumsum([0, *(len(route) for route in routes)], dtype=np.int64)
    edge = np.array([number[link] for link, _ in hops], np.int32)
    found = waits(start, edge, np.array([buffer_class for _, buffer_class in hops], np.int32))
    on_cycles = sorted(buffer for tangle in found.tangles() for buffer in tangle)
    return {
        "has_cycle": bool(on_cycles),
        "resources_on_cycles": [[names[found.edge[b]], int(found.classes[b])] for b in on_cycles],
        "resources": len(found.edge),
        "dependencies": len(found.origin),
    }


def _routes(inputs: Inputs) -> list[list[Resource]]:
    routes = inputs.get("routes")
    if not isinstance(routes, list):
        raise InputError("the inputs lack 'routes': expected a list of routes, each a list of [link, class]")
    return [[_resource(hop) for hop in _hops(route)] for route in routes]


def _hops(route: object) -> list[object]:
    if not isinstance(route, list):
        raise InputError(f"the route {str(route)[:40]!r}: expected a list of [link, class]")
    return route


def _resource(hop: object) -> Resource:
    match hop:
        case [str(link), int(buffer_class)] if not isinstance(buffer_class, bool) and 0 <= buffer_class < MOST_CLASSES:
            return link, buffer_class
    raise InputError(f"the hop {str(hop)[:40]!r}: expected [link, class] with a class from 0 to {MOST_CLASSES - 1}")
