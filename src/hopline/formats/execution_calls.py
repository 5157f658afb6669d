"""Which nodes of a Chakra trace are one communication call.

What belongs here: a call of PyTorch stands in a trace several times: as the operator (``c10d::allreduce_``, which Chakra's
converter cuts into parts (0), (1), ... where other threads depend on its middle) and as the kernel that it launched
(``ncclKernel_AllReduce...``, with comm_type and comm_size). Counted twice, bytes and calls would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hopline.formats.kineto.names import communication, operation
from hopline.formats.schedules.chakra_nodes import COMM_TYPES, Node
from hopline.records.execution import CommCall

OPS = dict(
    zip(
        COMM_TYPES,
        (
            "all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "alltoall", "reduce_scatter",
            "reduce_scatter", "barrier",
        ),
        strict=True,
    )
)  # fmt: skip
"""Collectives of Chakra -> words of ``records.trace.Collective``."""
_NODES = {"COMM_COLL": "", "COMM_SEND": "send", "COMM_RECV": "recv"}
"""Types of nodes that communicate -> op, where the type tells it."""
_PART = re.compile(r"(?P<base>.*)\((?P<part>\d{1,6})\)$")
_MICRO = 1e-6


def of_chakra(nodes: Sequence[Node], row: Mapping[int, int]) -> tuple[CommCall, ...]:
    """The calls, in the order of their first nodes; ``row``: of each id."""
    found = [at for at, node in enumerate(nodes) if node.type in _NODES]
    kernels = [at for at in found if _is_kernel(nodes[at])]
    hosts = _hosts(nodes, row, [at for at in found if not _is_kernel(nodes[at])])
    free = {at: call for call in hosts for at in call}
    calls: list[tuple[int, ...]] = []
    for at in kernels:
        host = _launching(nodes, row, at, free)
        for part in host:
            free.pop(part, None)
        calls.append((at, *host))
    left = {id(call): tuple(call) for call in hosts if call[0] in free}
    return tuple(_call(nodes, rows) for rows in sorted([*calls, *left.values()], key=min))


def _is_kernel(node: Node) -> bool:
    """Whether it runs on the GPU (or, in traces made by hand, is all there is of a call)."""
    on_host = node.attributes.get("is_cpu_op")
    return communication(node.name) is not None or ("comm_size" in node.attributes and not on_host)


def _hosts(nodes: Sequence[Node], row: Mapping[int, int], found: Sequence[int]) -> list[list[int]]:
    """Operators on the host, the parts of one together: part k depends on part k - 1 of the same name."""
    calls: list[list[int]] = []
    member: dict[int, list[int]] = {}
    for at in sorted(found, key=lambda one: (_part(nodes[one])[1], one)):
        base, part = _part(nodes[at])
        before = [
            row[on] for on in nodes[at].data
            if part and on in row and row[on] in member and _part(nodes[row[on]]) == (base, part - 1)
        ]  # fmt: skip
        if before:
            member[at] = member[before[-1]]
            member[at].append(at)
        else:
            member[at] = [at]
            calls.append(member[at])
    return calls


def _part(node: Node) -> tuple[str, int]:
    found = _PART.fullmatch(node.name)
    return (found["base"], int(found["part"])) if found else (node.name, 0)


def _launching(
    nodes: Sequence[Node], row: Mapping[int, int], at: int, free: Mapping[int, list[int]]
) -> tuple[int, ...]:
    """Parts of the operator that launched a kernel: of those it depends on, the last of the same op without a kernel yet."""
    node = nodes[at]
    near = [row[on] for on in (*node.data, *node.control) if on in row and row[on] in free]
    same = [one for one in near if _op(nodes[one]) == _op(node)]
    return tuple(free[max(same)]) if same else ()


def _op(node: Node) -> str:
    """Op of a node: its comm_type, else what its name says, else the name."""
    kind = node.attributes.get("comm_type")
    if isinstance(kind, int) and 0 <= kind < len(COMM_TYPES) and node.type == "COMM_COLL":
        return OPS[COMM_TYPES[kind]]
    if isinstance(kind, str) and kind in OPS:
        return OPS[kind]
    kernel = communication(node.name)
    return _NODES[node.type] or (kernel[0] if kernel else operation(node.name)) or node.name[:80]


def _call(nodes: Sequence[Node], rows: tuple[int, ...]) -> CommCall:
    mine = [nodes[at] for at in rows]
    size = next((value for value in (_whole(node, "comm_size") for node in mine) if value is not None), None)
    group = next(
        (str(node.attributes[key]) for node in mine for key in ("pg_name", "comm_group") if key in node.attributes), ""
    )
    times = [node.duration * _MICRO for node in mine if node.duration]
    time = (mine[0].duration * _MICRO or None) if _is_kernel(mine[0]) else max(times, default=None)
    return CommCall(rows, _op(mine[0]), size, "", group, None, time)


def _whole(node: Node, key: str) -> int | None:
    value = node.attributes.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
