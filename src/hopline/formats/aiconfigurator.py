"""Tables of collectives as aiconfigurator publishes them (``nccl_perf``).

What belongs here: its columns. ``message_size`` counts elements of ``nccl_dtype`` of the whole buffer, ``latency`` is in ms,
``num_gpus`` are the ranks. How many nodes held them is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopline.formats import separated
from hopline.formats.drafts import plain
from hopline.formats.separated import Key, Layout, Row, RowError
from hopline.quantity import convert
from hopline.records.nccl_names import DATATYPES
from hopline.records.table import Log

TOOL = "aiconfigurator"
COLUMNS = ("version", "device", "op_name", "kernel_source", "nccl_dtype", "num_gpus", "message_size", "latency")
BYTES: Mapping[str, int] = {
    **dict(DATATYPES), "half": 2, "float": 4, "double": 8, "f8e4m3": 1, "f8e5m2": 1,
}  # fmt: skip
"""Data type, as NCCL or nccl-tests call it -> bytes of an element."""
_MS = convert(1, "ms")


def read(path: str) -> Log:
    """One Table for each operation, data type, number of ranks, device and version. Raises FormatError."""
    return separated.read(path, _LAYOUT)


def _missing(names: Sequence[str]) -> list[str]:
    return [name for name in COLUMNS if name not in names]


def _row(cells: Mapping[str, str]) -> Row:
    kind = cells["nccl_dtype"]
    if kind not in BYTES:
        raise RowError(f"the bytes of data type {plain(kind.encode())!r} are not known")
    benchmark, ranks = separated.named(cells["op_name"]), separated.count(cells["num_gpus"], "ranks")
    device, version, library = (plain(cells[name].encode()) for name in ("device", "version", "kernel_source"))
    told = ("device", device), ("library", library), ("nccl_version" if library == "NCCL" else "version", version)
    title = ", ".join(part for part in (kind, device, f"{library} {version}".strip()) if part)
    key = Key(benchmark, ranks, title, (("type", kind), *((name, text) for name, text in told if text)))
    return Row(key, separated.decimal(cells["message_size"]) * BYTES[kind], separated.decimal(cells["latency"]) * _MS)


_LAYOUT = Layout(TOOL, _missing, "message_size", _row)
