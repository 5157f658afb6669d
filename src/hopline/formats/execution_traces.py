"""Execution traces of Chakra (Protocol Buffers, JSON) and of PyTorch, also several in one tar archive.

What belongs here: which form a file has, and making an Execution of it. Nodes of Chakra are read by
``schedules.chakra_nodes`` (one decoder serves both uses), those of PyTorch by ``execution_pytorch``; which nodes are one call
is ``execution_calls``.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec
import numpy as np

from hopline.errors import FormatError
from hopline.formats import execution_calls, execution_pytorch
from hopline.formats.archives import archive
from hopline.formats.execution_limits import within
from hopline.formats.lines import excerpt
from hopline.formats.schedules import chakra_nodes
from hopline.formats.schedules.bounded import usable, whole
from hopline.formats.source import STDIN, shown
from hopline.records.execution import Execution, Form, Rows

MOST = 1 << 28
"""Bytes of a trace, and of all members of an archive together."""
MOST_MEMBERS = 4096
_RANK = re.compile(r"(?:^|[._-])(?:rank[_-]?)?(\d{1,7})\.(?:et|json)(?:\.gz)?$")
_DURATIONS = frozenset({"runtime", "durationmicros"})
_MICRO = 1e-6


def read(path: str) -> list[Execution]:
    """The traces of a file: one, or those of an archive in its order. Raises FormatError."""
    usable(path, "execution trace")
    data = whole(path, MOST)
    if not is_tar(data):
        return [of_bytes(data, path)]
    found = [of_bytes(part, f"{path}:{name}") for name, part in members(data, path)]
    if not found:
        raise FormatError(f"{shown(path)} is an archive without files: expected execution traces in it")
    return found


def is_tar(data: bytes) -> bool:
    """Whether unpacked bytes are a tar archive (POSIX or GNU)."""
    return data[257:262] == b"ustar"


def members(data: bytes, path: str) -> Iterator[tuple[str, bytes]]:
    """Regular files of an archive, in memory: nothing is written, links and devices are passed over."""
    size = 0
    try:
        with archive(io.BytesIO(data), "r:") as found:
            for number, member in enumerate(found):
                size += member.size
                if number >= MOST_MEMBERS or size > MOST:
                    raise FormatError(
                        f"{shown(path)} holds more than {MOST_MEMBERS} files or {MOST} bytes: unpack it yourself"
                    )
                file = found.extractfile(member) if member.isreg() else None
                if file is not None:
                    yield member.name, file.read()
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise FormatError(f"{shown(path)} is no whole tar archive ({error}): copy it again") from None


def of_bytes(data: bytes, source: str) -> Execution:
    """The trace in the bytes of one file. Raises FormatError."""
    return within(_of_bytes(data, source))


def _of_bytes(data: bytes, source: str) -> Execution:
    if data.lstrip()[:1] == b"{":
        return _of_json(data, source)
    try:
        trace = chakra_nodes.of_messages([data], source)
    except FormatError as error:
        raise _named(source, error) from None
    return _of_chakra(trace, "chakra", {key: str(value)[:200] for key, value in trace.about.items()})


def _named(source: str, error: FormatError) -> FormatError:
    text = str(error)
    return error if text.startswith(shown(source)) else FormatError(f"{shown(source)}: {text}")


def _of_json(data: bytes, source: str) -> Execution:
    try:
        document = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{shown(source)} is no whole JSON object: {excerpt(str(error).encode())}") from None
    try:
        if "workload_graph" in document:
            about = {key: str(document[key])[:200] for key in document if key != "workload_graph"}
            return _of_chakra(chakra_nodes.of_graph(document, source), "chakra-json", about)
        if isinstance(document.get("nodes"), list):
            return execution_pytorch.of_document(document, source, rank_of(source))
    except FormatError as error:
        raise _named(source, error) from None
    keys = excerpt(", ".join(document).encode())
    raise FormatError(f"{shown(source)} has no nodes and no workload_graph ({keys}): expected an execution trace")


def rank_of(source: str) -> int | None:
    """The number before the ending of a trace's name (``all_reduce.3.et``)."""
    found = _RANK.search(PurePath(source).name) if source != STDIN else None
    return int(found[1]) if found else None


# --- Chakra -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Edges:
    """Dependencies by row, and how many lead out of the file."""

    pairs: Rows
    count: int
    loose: int


def _of_chakra(trace: chakra_nodes.Trace, form: Form, about: Mapping[str, str]) -> Execution:
    nodes = trace.nodes
    row = {node.id: at for at, node in enumerate(nodes)}
    told = [] if len(row) == len(nodes) else [f"{shown(trace.path)} has {len(nodes) - len(row)} ids twice"]
    data, control = _edges((node.data for node in nodes), row), _edges((node.control for node in nodes), row)
    told += _loose(trace.path, data, "data") + _loose(trace.path, control, "control")
    names = {name: at for at, name in enumerate(dict.fromkeys(node.name for node in nodes))}
    return Execution(
        trace.path, form, trace.version, rank_of(trace.path), _ids(nodes, trace.path), tuple(names),
        np.array([names[node.name] for node in nodes], np.int32), chakra_nodes.TYPES,
        np.array([chakra_nodes.TYPES.index(node.type) for node in nodes], np.uint8), _durations(nodes, form),
        data.pairs, control.pairs, data.count, control.count, False, execution_calls.of_chakra(nodes, row), about, tuple(told),
    )  # fmt: skip


def _ids(nodes: Sequence[chakra_nodes.Node], path: str) -> np.ndarray:
    try:
        return np.array([node.id for node in nodes], np.int64)
    except OverflowError:
        raise FormatError(f"{shown(path)} has a node id above {(1 << 63) - 1}: expected smaller ones") from None


def _edges(lists: Iterable[Sequence[int]], row: Mapping[int, int]) -> _Edges:
    source: list[int] = []
    target: list[int] = []
    count = 0
    for at, ids in enumerate(lists):
        count += len(ids)
        known = [row[one] for one in ids if one in row]
        target += known
        source += [at] * len(known)
    pairs = np.stack((np.array(source, np.int32), np.array(target, np.int32)), axis=1)
    return _Edges(pairs[pairs[:, 0] != pairs[:, 1]], count, count - len(target))


def _loose(path: str, edges: _Edges, word: str) -> list[str]:
    if not edges.loose:
        return []
    return [
        f"{shown(path)}: {edges.loose} {word} dependencies are on nodes that the file has not: they cannot be followed"
    ]


def _durations(nodes: Sequence[chakra_nodes.Node], form: Form) -> np.ndarray:
    """Seconds; NaN where JSON has no key, and where Protocol Buffers have 0, which stands for nothing there."""
    known = [
        node.duration > 0
        if form == "chakra"
        else any(key.lower().replace("_", "") in _DURATIONS for key in node.attributes)
        for node in nodes
    ]
    return np.where(known, np.array([node.duration for node in nodes], np.float64) * _MICRO, np.nan)
