"""The nodes of a Chakra trace, from Protocol Buffers (``.et``) or JSON.

What belongs here: one rank's file. Schema: mlcommons/chakra, ``schema/protobuf/et_def.proto``; JSON: the keys that its feeder
reads. What nodes of several ranks make together is ``chakra``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import pieces, usable, whole
from hopline.formats.schedules.chakra_wire import Value, fields, fixed, messages, numbers, signed, zigzag
from hopline.formats.source import shown

TYPES = (
    "INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL",
)  # fmt: skip
"""Without ``_NODE``."""
COMM_TYPES = (
    "ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL", "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK", "BARRIER",
)  # fmt: skip
Attribute = int | float | str

_VALUES: dict[int, Callable[[Value], Attribute]] = {
    3: lambda value: fixed(value, "<d"), 5: lambda value: fixed(value, "<f"),
    7: lambda value: signed(_int(value)), 9: lambda value: signed(_int(value)), 11: lambda value: _int(value),
    13: lambda value: _int(value), 15: lambda value: zigzag(_int(value)), 17: lambda value: zigzag(_int(value)),
    19: lambda value: fixed(value, "<I"), 21: lambda value: fixed(value, "<Q"), 23: lambda value: fixed(value, "<i"),
    25: lambda value: fixed(value, "<q"), 27: lambda value: _int(value), 29: lambda value: _text(value),
}  # fmt: skip
"""Fields of AttributeProto that hold one value; lists are left out."""


@dataclass(slots=True)
class Node:
    """One node; ``duration`` in microseconds, None where JSON gives none that is whole."""

    id: int = 0
    name: str = ""
    type: str = TYPES[0]
    control: list[int] = field(default_factory=list)
    data: list[int] = field(default_factory=list)
    duration: int = 0
    attributes: dict[str, Attribute] = field(default_factory=dict)

    def number(self, name: str, default: int | None = None) -> int:
        """A whole attribute. Raises FormatError where it is missing or no whole number."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise FormatError(
                f"node {self.id} ({excerpt(self.name.encode(), 40)}) has {name}={value!r}: expected a whole number"
            )
        return value

    @property
    def collective(self) -> str:
        """Name of its collective."""
        kind = self.number("comm_type", 0)
        if not 0 <= kind < len(COMM_TYPES):
            raise FormatError(f"node {self.id} has comm_type {kind}: expected 0 to {len(COMM_TYPES) - 1}")
        return COMM_TYPES[kind]


@dataclass(frozen=True, slots=True)
class Trace:
    """One rank's file."""

    path: str
    version: str
    nodes: list[Node]
    about: dict[str, Attribute] = field(default_factory=dict)
    """What the file says of itself."""


def read(path: str, is_json: bool) -> Trace:
    """The trace in the file at ``path``. Raises FormatError."""
    usable(path)
    try:
        trace = _json(path) if is_json else _binary(path)
    except FormatError as error:
        text = str(error)
        raise FormatError(text if text.startswith(shown(path)) else f"{shown(path)}: {text}") from None
    seen: set[int] = set()
    for node in trace.nodes:
        if node.id in seen:
            raise FormatError(f"{shown(path)} has node {node.id} twice: expected each once")
        seen.add(node.id)
    for node in trace.nodes:
        for on in node.data:
            if on not in seen:
                raise FormatError(f"{shown(path)}: node {node.id} depends on node {on}, which is not there")
    return trace


# --- Protocol Buffers ---------------------------------------------------------------------------------------------


def is_metadata(message: bytes) -> bool:
    """Whether a message may be the GlobalMetadata that leads a trace."""
    try:
        found = list(fields(message))
        named = all(_attribute(value)[0] for number, _, value in found if number == 2 and isinstance(value, bytes))
    except FormatError:
        return False
    versions = [value for number, _, value in found if number == 1]
    known = all(number in (1, 2) and isinstance(value, bytes) for number, _, value in found)
    return bool(found) and known and named and all(map(_printable, versions))


def _printable(value: Value) -> bool:
    return isinstance(value, bytes) and value.isascii() and value.decode().isprintable()


def _binary(path: str) -> Trace:
    return of_messages(pieces(path), path)


def of_messages(data: Iterable[bytes], path: str) -> Trace:
    """The trace in the bytes of a file of Protocol Buffers; ``path`` stands for it in messages. Raises FormatError."""
    found = messages(data, shown(path))
    first = next(found, b"")
    if not is_metadata(first):
        raise FormatError(f"{shown(path)} does not begin with Chakra's GlobalMetadata: expected a Chakra trace")
    parts = [(number, value) for number, _, value in fields(first)]
    attributes = dict(_attribute(value) for number, value in parts if number == 2 and isinstance(value, bytes))
    version = next((_text(value) for number, value in parts if number == 1), str(attributes.get("schema", "")))
    return Trace(path, version, [_node(message) for message in found], _known(attributes))


def _known(attributes: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {key: value for key, value in attributes.items() if value is not None}


def _node(message: bytes) -> Node:
    node = Node()
    for number, kind, value in fields(message):
        if number == 1:
            node.id = _int(value)
        elif number == 2:
            node.name = _text(value)
        elif number == 3:
            node.type = _type(_int(value))
        elif number in (4, 5):
            (node.control if number == 4 else node.data).extend(numbers(kind, value))
        elif number == 7:
            node.duration = _int(value)
        elif number == 10 and isinstance(value, bytes):
            name, attribute = _attribute(value)
            if attribute is not None:
                node.attributes[name] = attribute
    return node


def _attribute(message: bytes) -> tuple[str, Attribute | None]:
    name, found = "", None
    for number, _, value in fields(message):
        if number == 1:
            name = _text(value)
        elif number in _VALUES:
            found = _VALUES[number](value)
    return name, found


def _int(value: Value) -> int:
    if not isinstance(value, int):
        raise FormatError("text stands where a number belongs: expected a Chakra trace")
    return value


def _text(value: Value) -> str:
    if isinstance(value, int):
        raise FormatError("a number stands where text belongs: expected a Chakra trace")
    return value.decode("utf-8", "replace")


def _type(number: int) -> str:
    if number >= len(TYPES):
        raise FormatError(f"a node has type {number}: expected 0 to {len(TYPES) - 1}")
    return TYPES[number]


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(path: str) -> Trace:
    import msgspec

    try:
        document = msgspec.json.decode(whole(path), type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is no JSON object: {excerpt(str(error).encode())}") from None
    return of_graph(document, path)


def of_graph(document: Mapping[str, object], path: str) -> Trace:
    """The trace in a JSON document. Raises FormatError."""
    graph = document.get("workload_graph")
    if not isinstance(graph, list) or not all(isinstance(entry, dict) for entry in graph):
        raise FormatError("workload_graph holds something else: expected a list of nodes")
    version = document.get("version", document.get("schema", ""))
    return Trace(path, version if isinstance(version, str) else "", [_entry(entry) for entry in graph])


def _entry(entry: dict[str, object]) -> Node:
    """Keys of JSON come in several spellings: ``Id`` and ``id``, ``ctrlDeps`` and ``ctrl_deps``."""
    known = {key.lower().replace("_", ""): value for key, value in entry.items()}
    number = _whole(known, "id")
    attributes = {
        key: value for key, value in entry.items() if isinstance(value, int | float | str) and key.lower() != "id"
    }
    kind = known.get("nodetype", known.get("type"))
    if isinstance(kind, str):
        kind = TYPES.index(kind.removesuffix("_NODE")) if kind.removesuffix("_NODE") in TYPES else -1
    if not isinstance(kind, int) or not 0 <= kind < len(TYPES):
        raise FormatError(f"node {number} has NodeType {kind!r}: expected 0 to {len(TYPES) - 1}")
    return Node(
        number, str(known.get("name", "")), TYPES[kind], _whole_list(known, "ctrldeps"), _whole_list(known, "datadeps"),
        _whole(known, "runtime" if "runtime" in known else "durationmicros", 0), attributes,
    )  # fmt: skip


def _whole(known: dict[str, object], key: str, default: int | None = None) -> int:
    value = known.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise FormatError(f"a node has {key} {excerpt(repr(value).encode(), 40)}: expected a whole number from 0 on")
    return value


def _whole_list(known: dict[str, object], key: str) -> list[int]:
    value = known.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        raise FormatError(f"a node has {key} {excerpt(repr(value).encode(), 40)}: expected a list of node ids")
    return value
