"""PyTorch's execution traces: nodes of JSON, schema 1.0.1 and 1.1.0-chakra.0.0.4.

What belongs here: keys of both, and which nodes are one communication call. Layout: PyTorch,
``torch/csrc/profiler/standalone/execution_trace_observer.cpp``; a tensor is written as [id, storage, offset, elements, bytes
of an element, device].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hopline.errors import FormatError
from hopline.formats.kineto.names import bytes_of, is_host_call, operation
from hopline.formats.source import shown
from hopline.records.execution import CommCall, Execution

PARAMETERS = "record_param_comms"
NO_CALLS = frozenset({"wait", "init", "finalize", "coalesced", "start_coalesce", "end_coalesce"})
"""Of record_param_comms: what is no communication by itself."""
_ABOUT = ("pid", "time", "start_ts", "finish_ts")
TENSOR = 6
"""Numbers of a tensor."""
_SIDES = {"all_gather": ("out",), "recv": ("out",)}
"""Whose message is what benchmarks count; of all others ("in",)."""
_ONE_TENSOR = frozenset({"all_reduce", "broadcast", "reduce"})
"""Ops whose tensors are the message, so that a node without counts tells its size."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A node with its keys in one spelling."""

    id: int
    name: str
    parent: int
    attributes: Mapping[str, Any]
    values: Any


def of_document(document: Mapping[str, Any], source: str, rank: int | None) -> Execution:
    """The trace of a document. Raises FormatError."""
    where = shown(source)
    entries = document["nodes"]
    key = next(
        (one for one in ("ctrl_deps", "parent") if entries and isinstance(entries[0], dict) and one in entries[0]),
        "parent",
    )
    nodes = [_node(entry, number, key, where) for number, entry in enumerate(entries)]
    row = {node.id: at for at, node in enumerate(nodes)}
    told = [] if len(row) == len(nodes) else [f"{where} has {len(nodes) - len(row)} ids twice"]
    parent = np.array([row.get(node.parent, -1) for node in nodes], np.int32)
    if missing := int((parent < 0).sum()):
        told.append(f"{where}: {missing} nodes lie in a node that the file has not")
    at = np.arange(len(nodes), dtype=np.int32)
    good = (parent >= 0) & (parent != at)
    names = {name: number for number, name in enumerate(dict.fromkeys(node.name for node in nodes))}
    calls = _calls(nodes, parent)
    about = {one: str(document[one])[:200] for one in _ABOUT if one in document} | {"parent_key": key}
    return Execution(
        source, "pytorch", str(document.get("schema", "")), rank, np.array([node.id for node in nodes], np.int64),
        tuple(names), np.array([names[node.name] for node in nodes], np.int32), ("OP", "COMM"), _types(len(nodes), calls),
        np.full(len(nodes), np.nan), np.empty((0, 2), np.int32), np.stack((at[good], parent[good]), axis=1), 0, len(nodes),
        True, calls, about, tuple(told),
    )  # fmt: skip


def _types(count: int, calls: Sequence[CommCall]) -> np.ndarray:
    types = np.zeros(count, np.uint8)
    types[[at for call in calls for at in call.rows]] = 1
    return types


def _node(entry: Any, number: int, key: str, where: str) -> _Node:
    if not isinstance(entry, dict):
        raise FormatError(f"{where}: node {number} is a {type(entry).__name__}: expected an object")
    ids = {one: entry.get(one) for one in ("id", key)}
    for one, value in ids.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
            raise FormatError(f"{where}: node {number} has {one}={value!r:.40}: expected a whole number from 0 on")
    named = {
        one["name"]: one.get("value")
        for one in _list(entry.get("attrs")) if isinstance(one, dict) and isinstance(one.get("name"), str)
    }  # fmt: skip
    inputs = entry.get("inputs")
    values = inputs.get("values") if isinstance(inputs, dict) else inputs
    return _Node(entry["id"], str(entry.get("name", "")), entry[key], named, values)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- calls --------------------------------------------------------------------------------------------------------


def _calls(nodes: Sequence[_Node], parent: np.ndarray) -> tuple[CommCall, ...]:
    """Calls: communication nodes that lie in one another are one, by the outermost."""
    marked = [at for at, node in enumerate(nodes) if is_host_call(node.name)]
    is_marked = set(marked)
    groups: dict[int, list[int]] = {}
    for at in marked:
        groups.setdefault(_outermost(at, parent, is_marked), []).append(at)
    found = (_call(nodes, rows) for rows in groups.values())
    return tuple(call for call in found if call is not None)


def _outermost(at: int, parent: np.ndarray, marked: set[int]) -> int:
    """The last communication node on the way up; a way that comes back to itself ends."""
    top, seen = at, {at}
    up = int(parent[at])
    while up >= 0 and up not in seen:
        seen.add(up)
        top = up if up in marked else top
        up = int(parent[up])
    return top


def _call(nodes: Sequence[_Node], rows: Sequence[int]) -> CommCall | None:
    """The call that nodes make together; None for waits and the like."""
    mine = [nodes[at] for at in rows]
    told = next((node for node in mine if node.name == PARAMETERS), None)
    words = [_word(told)] if told is not None else []
    words += [node.name for node in mine if node.name != PARAMETERS]
    if all(word in NO_CALLS or not word for word in words):
        return None
    op = next((one for one in map(operation, words) if one), words[0])
    attributes = told.attributes if told is not None else {}
    dtype = attributes.get("dtype")
    dtype = dtype if isinstance(dtype, str) else ""
    ranks = attributes.get("pg_size")
    size = _told(attributes, op, dtype)
    if size is None and op in _ONE_TENSOR:
        size = next((one for one in (_tensors(node.values) for node in reversed(mine)) if one is not None), None)
    group = attributes.get("pg_name")
    return CommCall(
        tuple(sorted(rows)),
        op,
        size,
        dtype,
        str(group) if group is not None else "",
        ranks if isinstance(ranks, int) else None,
    )


def _word(node: _Node) -> str:
    """Name of the collective of a record_param_comms: an attribute, or the text among its inputs (older traces)."""
    word = node.attributes.get("collective_name")
    if isinstance(word, str):
        return word
    values = node.values if isinstance(node.values, list) else []
    return next((one for one in values if isinstance(one, str) and (operation(one) or one in NO_CALLS)), "")


def _told(attributes: Mapping[str, Any], op: str, dtype: str) -> int | None:
    """Bytes by the counts that the node has."""
    each = bytes_of(dtype)
    keys = [f"{side}_msg_nelems" for side in _SIDES.get(op, ("in",))]
    counts = [attributes.get(key) for key in keys]
    if each is None or not all(isinstance(one, int) and one >= 0 for one in counts):
        return None
    return sum(counts) * each  # type: ignore[arg-type]


def _tensors(values: Any, depth: int = 3) -> int | None:
    """Bytes of all tensors among values; None: there is none."""
    if not isinstance(values, list) or not depth:
        return None
    if (
        len(values) == TENSOR
        and isinstance(values[5], str)
        and all(isinstance(one, int) and one >= 0 for one in values[3:5])
    ):
        return int(values[3] * values[4])
    found = [one for one in (_tensors(value, depth - 1) for value in values) if one is not None]
    return sum(found) if found else None
