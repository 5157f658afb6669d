"""Compare two files of measurements: which tables belong together, and what of their difference is real.

What belongs here: reading both files, telling repeats of one table from other tables, pairing them, and refusing pairs that
are not alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.errors import InputError
from hopline.formats import samples
from hopline.formats.source import STDIN
from hopline.jobs import fitting
from hopline.records.change import Change
from hopline.records.sample import Series
from hopline.records.table import Log, Table
from hopline.study.changes import FALSE_ALARMS, THRESHOLD, Run, Side, compare

_ALIKE = 0.5
"""Two tables of one kind are repeats where they share at least this part of all their sizes."""
_FACTS = ("memory_send", "memory_receive", "type", "devices_per_node")


@dataclass(frozen=True, slots=True)
class Kind:
    """What two tables must have in common to be compared; ``more`` are pairs of a name and a value."""

    benchmark: str
    ranks: int | None
    measure: str
    more: tuple[tuple[str, object], ...] = ()

    def fields(self) -> dict[str, object]:
        """Name -> value, in words."""
        named = {"benchmark": self.benchmark or "unnamed", "ranks": self.ranks or "not stated", "measure": self.measure}
        return {**named, **dict(self.more)}

    def __str__(self) -> str:
        ranks = f" on {self.ranks} ranks" if self.ranks else ""
        more = "".join(f", {name} {value}" for name, value in self.more if value)
        return f"{self.benchmark or 'unnamed benchmark'}{ranks}{' (gap)' if self.measure == 'gap' else ''}{more}"


@dataclass(frozen=True, slots=True)
class Group:
    """Tables of one kind (numbers from 1 in the file) that are repeats of one, as one side."""

    kind: Kind
    numbers: tuple[int, ...]
    side: Side


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides and the change between them."""

    before: Group
    after: Group
    change: Change


@dataclass(frozen=True, slots=True)
class Diff:
    """Both logs, what was compared, what one of them has alone, and how kinds differ that the user chose to compare."""

    before: Log
    after: Log
    compared: tuple[Compared, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """How the tables are chosen: one of each file by number, the in-place half, tables of one kind in their order."""

    table: int | None = None
    against: int | None = None
    in_place: bool = False
    in_order: bool = False


def diff(
    before: str,
    after: str,
    choice: Choice | None = None,
    threshold: float = THRESHOLD,
    false_alarms: float = FALSE_ALARMS,
) -> Diff:
    """Compare two logs or samples files.

    Raises FormatError for files that cannot be read, InputError where nothing in them can be compared.
    """
    choice = choice or Choice()
    if before == after == STDIN:
        raise InputError("both logs are standard input, which can be read once: give at least one as a file")
    logs = [fitting.read(file) for file in (before, after)]
    both = [
        _chosen(log, _groups(log, choice, number), number)
        for log, number in zip(logs, (choice.table, choice.against), strict=True)
    ]
    pairs, notes = _paired(logs, both, choice)
    compared = tuple(Compared(b, a, compare(b.side, a.side, threshold, false_alarms)) for b, a in pairs)
    alone = [tuple(str(m.kind) for m in found if not any(m in pair for pair in pairs)) for found in both]
    if choice.table is not None or choice.against is not None:
        alone = [(), ()]
    return Diff(logs[0], logs[1], compared, alone[0], alone[1], notes)


def _chosen(log: Log, found: list[Group], number: int | None) -> list[Group]:
    if number is None:
        return found
    if not 1 <= number <= len(log.tables):
        raise InputError(f"{log.source} has no table {number}: it holds {len(log.tables)}")
    return [m for m in found if number in m.numbers]


def _groups(log: Log, choice: Choice, number: int | None) -> list[Group]:
    """What the file holds, in file order; a table that was chosen by number stands alone."""
    turns = _turns(log) if log.kind == samples.KIND else None
    groups: dict[object, list[int]] = {}
    for i, table in enumerate(log.tables):
        kind = _kind(table)
        alone = choice.in_order or turns is not None or number is not None
        group = next((g for g in groups.values() if not alone and _repeats(log.tables[g[0]], table)), None)
        if group is None:
            groups[(kind, i)] = [i]
        else:
            group.append(i)
    return [_of(log, group, turns, choice.in_place) for group in groups.values()]


def _of(log: Log, group: Sequence[int], turns: Sequence[list[Run]] | None, in_place: bool) -> Group:
    tables = [log.tables[i] for i in group]
    columns = ("time_in_place", "time") if in_place else ("time", "time_in_place")
    if in_place and any("time_in_place" not in table.columns for table in tables):
        raise InputError(f"{log.source}: table {group[0] + 1} has no in-place half")
    runs = turns[group[0]] if turns is not None else [_run(table, columns[0]) for table in tables]
    twins = [_run(table, columns[1]) for table in tables if columns[1] in table.columns]
    return Group(_kind(tables[0]), tuple(i + 1 for i in group), Side(runs, twins if len(twins) == len(tables) else ()))


def _kind(table: Table) -> Kind:
    facts = table.facts
    more = tuple((name.replace("_", " "), facts[name]) for name in _FACTS if facts.get(name))
    if table.tool == "hopline":
        names = ("transport", "pair", "pairs", "window", "world")
        more += tuple((name, facts[name]) for name in names if facts.get(name) is not None)
    return Kind(table.benchmark, table.ranks, table.measure, more)


def _repeats(first: Table, other: Table) -> bool:
    a, b = set(first.size.tolist()), set(other.size.tolist())
    return _kind(first) == _kind(other) and len(a & b) >= _ALIKE * len(a | b)


def _run(table: Table, column: str) -> Run:
    """Size -> times: several rows of one size are its repeats."""
    found: dict[float, list[float]] = defaultdict(list)
    for size, time in zip(table.size.tolist(), table.columns[column].tolist(), strict=True):
        found[size].append(time)
    return found


def _turns(log: Log) -> list[list[Run]]:
    """The runs of each table of a samples file: the k-th line of each size is of the k-th run."""
    tables: dict[Series, list[dict[float, list[float]]]] = {}
    seen: dict[tuple[Series, int], int] = defaultdict(int)
    for line in samples.scan(log.source).lines:
        sample = line.sample
        runs = tables.setdefault(sample.series, [])
        turn = seen[sample.cell]
        seen[sample.cell] += 1
        while len(runs) <= turn:
            runs.append({})
        runs[turn][float(sample.size)] = list(sample.times)
    return [_full(runs) for runs in tables.values()]


def _full(runs: list[dict[float, list[float]]]) -> list[Run]:
    """Runs of all sizes; a size's repeats of turns that other sizes have not got join its last one."""
    fewest = min(sum(size in run for run in runs) for size in {m for run in runs for m in run})
    kept: list[dict[float, list[float]]] = [dict(run) for run in runs[:fewest]]
    for run in runs[fewest:]:
        for size, times in run.items():
            kept[-1][size] = kept[-1][size] + times
    return list(kept)


Pairs = list[tuple[Group, Group]]


def _paired(logs: Sequence[Log], both: Sequence[list[Group]], choice: Choice) -> tuple[Pairs, tuple[str, ...]]:
    """What belongs together: by kind, and within a kind by order; or just what was chosen, with how it differs."""
    if choice.table is not None and choice.against is not None:
        before, after = both[0][0], both[1][0]
        unlike = _unlike(before.kind, after.kind)
        if before.kind.measure != after.kind.measure:
            raise InputError(
                f"these tables cannot be compared: {unlike} (time to completion, and gap between messages)"
            )
        return [(before, after)], (f"the tables differ: {unlike}",) if unlike else ()
    pairs: Pairs = []
    left = list(both[1])
    for before in both[0]:
        match = next((m for m in left if m.kind == before.kind), None)
        if match is not None:
            left.remove(match)
            pairs.append((before, match))
    if not pairs:
        raise InputError(_nothing(logs, both))
    return pairs, ()


def _unlike(before: Kind, after: Kind) -> str:
    a, b = before.fields(), after.fields()
    differ = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    return ", ".join(f"{name} {a.get(name, 'not stated')} against {b.get(name, 'not stated')}" for name in differ)


def _nothing(logs: Sequence[Log], both: Sequence[list[Group]]) -> str:
    kinds = [list(dict.fromkeys(m.kind for m in found)) for found in both]
    if all(len(k) == 1 for k in kinds):
        how = _unlike(kinds[0][0], kinds[1][0])
    else:
        how = " against ".join("; ".join(map(str, k[:4])) + ("; ..." if len(k) > 4 else "") or "nothing" for k in kinds)
    return (
        f"{logs[0].source} and {logs[1].source} have no table of one kind: {how}; "
        "choose one of each with --table and --against to compare them all the same"
    )
