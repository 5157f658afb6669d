"""A log of NCCL_DEBUG as an NcclLog.

What belongs here: the loop over messages, and what is said of a log as a whole. A log is often cut, or holds single lines
quoted in prose: what is missing is told and never taken for a failure.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from hopline.errors import FormatError
from hopline.formats.lines import Block, blocks, excerpt, shown
from hopline.formats.nccl_debug import calls
from hopline.formats.nccl_debug.lines import Message, messages
from hopline.formats.nccl_debug.messages import VERSION_LINE, Found, take
from hopline.formats.nccl_debug.tuning import Tables
from hopline.formats.schedules.bounded import usable
from hopline.quantity import counted
from hopline.records.nccl_log import Call, Collective, NcclLog

MOST_CALLS = 2_000_000
_RANK = re.compile(rb"\n[ \t#]*#?\s+Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+ on\s+(\S+) device")
_KIND = re.compile(r"\d+(?:\.\d+)*|0x[0-9a-f]+|<[^>]*>|\S*/\S*")
_KINDS = 20


@dataclass(slots=True)
class _Reading:
    """What was found up to a line."""

    found: Found = field(default_factory=Found)
    tables: Tables = field(default_factory=Tables)
    calls: list[Call] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    levels: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, None] = field(default_factory=dict)
    listed: dict[int, str] = field(default_factory=dict)
    """Rank -> host, of a benchmark's list."""

    def block(self, block: Block) -> None:
        """Read whole lines."""
        for match in VERSION_LINE.finditer(block.text):
            self.found.flavour = self.found.flavour or match[1].decode()
            self.found.version = self.found.version or match[2].decode()
        for match in _RANK.finditer(block.text):
            self.listed[int(match[1])] = match[2].decode()
        for message in messages(block):
            self.message(message)

    def message(self, message: Message) -> None:
        """Read one message."""
        self.levels[message.level] += 1
        if message.host:
            self.hosts[message.host] = None
        if message.level == "WARN" and len(self.warnings) < _KINDS:
            self.warnings[excerpt(_KIND.sub("…", message.text).encode(), 90)] += 1
        if self.tables.take(message.process, message.text, message.line):
            return
        made, chosen = calls.collective(message), calls.call(message)
        if len(self.calls) + len(self.collectives) > MOST_CALLS:
            raise FormatError(f"more than {MOST_CALLS} calls: expected the log of fewer; cut it")
        self.calls += [chosen] if chosen else []
        self.collectives += [made] if made else []
        if made is None and chosen is None:
            take(self.found, message.text)


def read(path: str) -> NcclLog:
    """What the log at ``path`` says. Raises FormatError where NCCL says nothing in it."""
    usable(path, "log of NCCL_DEBUG=INFO")
    notes: list[str] = []
    reading = _Reading()
    for block in blocks(path, notes):
        reading.block(block)
    if not reading.levels:
        raise FormatError(
            f"{shown(path)} has no line of NCCL ('NCCL INFO ...'): expected a log of a run with NCCL_DEBUG=INFO"
        )
    return _log(path, reading, notes)


def _log(path: str, reading: _Reading, notes: list[str]) -> NcclLog:
    found = reading.found
    ranks, more = _one(found.ranks, "numbers of ranks (several communicators)")
    nodes, _ = _one(found.nodes, "")
    listed = len(reading.listed) or None
    notes += more + _said(reading)
    hosts = dict.fromkeys(reading.listed.values()) or reading.hosts
    return NcclLog(
        path, found.flavour, found.version, found.git, listed or ranks, nodes, tuple(hosts), found.networks, found.missing,
        tuple(found.plugins), found.tuner, found.connections, found.devices, found.direct, found.channels, found.listed,
        found.environment, dict(found.facts), tuple(draft.table() for draft in reading.tables.done if draft.cells),
        tuple(reading.calls), tuple(reading.collectives), tuple(found.searches), reading.levels, reading.warnings,
        tuple(notes), tuple(sorted(found.ranks)),
    )  # fmt: skip


def _one(values: set[int], what: str) -> tuple[int | None, list[str]]:
    """The largest of several values, which is said."""
    if len(values) < 2:
        return next(iter(values), None), []
    return max(values), [f"the log has several {what}: {', '.join(map(str, sorted(values)))}; the largest is shown"]


def _said(reading: _Reading) -> list[str]:
    """What of the log could not be used, or ends early."""
    found, said = reading.found, []
    if reading.tables.headless:
        stand = "stands without its head" if reading.tables.headless == 1 else "stand without their head"
        said.append(f"{counted(reading.tables.headless, 'row')} of a tuning table {stand}: left out (a cut log?)")
    torn = sum(draft.torn for draft in reading.tables.done)
    if torn:
        said.append(
            f"{counted(torn, 'row')} of a tuning table with other columns than its head: what has a column is taken"
        )
    if not found.version:
        said.append("the version of NCCL is not in the log")
    if found.listed and not found.facts["init_complete"]:
        said.append("no line says that initialisation ended ('Init COMPLETE'): an older NCCL, or a log that was cut")
    return said
