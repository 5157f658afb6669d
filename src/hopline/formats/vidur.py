"""Profiles of collectives and sends as vidur publishes them (``data/profiling/network``).

What belongs here: its columns, and its names of machines. ``size`` is in bytes, times are in ms, a row is one rank's view of
one size: the time of a size is the median over ranks of their medians. The file does not say on which machine; vidur keeps
that in the path, from where it is taken as far as it stands there, and said to be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hopline.formats import separated
from hopline.formats.separated import Key, Layout, Row, RowError
from hopline.quantity import convert
from hopline.records.table import Fact, Log, Table

TOOL = "vidur"
COLUMNS = ("rank", "num_workers", "size", "collective", "devices_per_node")
BENCHMARKS = {"send_recv": "send", "all_to_all": "alltoall"}
"""Collective, where hopline has another word for it."""
_MS = convert(1, "ms")
_MEDIAN = "time_stats.{}.median"
_A_MEDIAN = re.compile(r"time_stats\.\w+\.median", re.ASCII)
_RANK = re.compile(r"\d{1,9}", re.ASCII)
_MACHINE = re.compile(r"(?<![a-z0-9])[a-z]{1,2}\d{2,3}_(?:dgx|pairwise_nvlink)(?![a-z0-9])")


def read(path: str) -> Log:
    """One Table for each collective, number of ranks and of devices a node. Raises FormatError."""
    found = separated.read(path, _LAYOUT)
    machines = _MACHINE.findall(path)
    if not machines:
        return found
    return replace(found, tables=tuple(_on(table, machines[-1]) for table in found.tables))


def _on(table: Table, machine: str) -> Table:
    """A table with the machine that its path names."""
    title = f"{machine}, {table.title}"
    notes = (f"{title}; the machine's name is the path's, the file does not say it", *table.notes[1:])
    return replace(table, title=title, facts={**table.facts, "machine": machine}, notes=notes)


def _missing(names: Sequence[str]) -> list[str]:
    missing = [name for name in COLUMNS if name not in names]
    return missing + ([] if any(map(_A_MEDIAN.fullmatch, names)) else [_MEDIAN.format("COLLECTIVE")])


def _row(cells: Mapping[str, str]) -> Row:
    collective, ranks = separated.named(cells["collective"]), separated.count(cells["num_workers"], "ranks")
    each = separated.count(cells["devices_per_node"], "devices a node")
    median = cells.get(_MEDIAN.format(collective))
    if not _RANK.fullmatch(cells["rank"]):
        raise RowError("the rank is no number")
    if median is None:
        raise RowError(f"no column holds the times of {collective}")
    facts: tuple[tuple[str, Fact], ...] = (("devices_per_node", each),)
    most = cells.get("max_devices_per_node", "")
    if most:
        facts += (("most_devices_per_node", separated.count(most, "devices a node has")),)
    key = Key(BENCHMARKS.get(collective, collective), ranks, f"{each} of {ranks} on a node", facts)
    return Row(key, separated.decimal(cells["size"]), separated.decimal(median) * _MS)


_LAYOUT = Layout(TOOL, _missing, "num_workers", _row, medians=True)
