"""``nvidia-smi topo -m``: which wires the matrix of a host tells of.

What belongs here: NV# cells become NVLink cables; the other cells say where in the host two devices meet, and become a tree of
switches (PIX: one PCIe bridge; PXB: several; PHB: the host bridge; NODE: a NUMA node; SYS: between NUMA nodes). A cable of the
tree is called after the switch that it leads up to. No rate is in the matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hopline.formats.topologies.rates import MOST_NVLINKS
from hopline.formats.topologies.sketch import Sketch, machine_name
from hopline.formats.topologies.topo_cells import Matrix, matrix
from hopline.machine.wiring import Fact, Wiring

LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Where two devices meet, the nearest first."""
_OLD = {"SOC": "SYS", "QPI": "SYS"}
"""What older drivers called them."""
_NODE = LEVELS.index("NODE")


def read(path: str) -> Wiring:
    """What the file at ``path`` says. Raises FormatError."""
    found = matrix(path)
    sketch = Sketch()
    for note in found.notes:
        sketch.remark(note)
    for row in (*found.gpus, *found.others):
        sketch.node(_name(found, row), "gpu" if row in found.gpus else "end", row)
    refusal = _lopsided(found)
    if not refusal:
        _draw_nvlinks(found, sketch)
        _draw_tree(found, sketch)
    return sketch.wiring("topo-m", machine_name(path), _facts(found), refusal)


def _name(found: Matrix, row: int) -> str:
    return found.names[row].lower()


def _facts(found: Matrix) -> dict[str, Fact]:
    """Cells of ordered pairs; affinities of GPUs, as they stand there."""
    gpus, others, cells = found.gpus, found.others, found.cells
    return {
        "gpus": len(gpus),
        "nics": len(others),
        "gpu_gpu_cells": Counter(cells[a][b] for a in gpus for b in gpus if a != b),
        "gpu_nic_cells": Counter(cells[a][b] for a in gpus for b in others),
        "symmetric": not _lopsided(found),
        "cpu_affinity_groups": Counter(found.cpus[row] for row in gpus),
        "numa": Counter(found.numa[row] for row in gpus),
        "nic_legend": tuple(f"{nic}={name}" for nic, name in found.legend.items()),
        "header_line_present": found.header,
    }


def _pairs(rows: Sequence[int]) -> Iterable[tuple[int, int]]:
    return ((a, b) for at, a in enumerate(rows) for b in rows[at + 1 :])


def _lopsided(found: Matrix) -> str:
    """Which two devices are joined otherwise one way than the other; empty: none."""
    for a, b in _pairs(range(len(found.names))):
        one, other = found.cells[a][b], found.cells[b][a]
        if one != other:
            names = found.names
            return f"{names[a]} to {names[b]} is {one}, and back {other}: a wire has two equal ends"
    return ""


# --- NVLink -------------------------------------------------------------------------------------------------------


def _links(cell: str) -> int:
    """Number of NVLinks that a cell tells of."""
    return int(cell[2:]) if cell.startswith("NV") and cell[2:].isdecimal() else 0


def _draw_nvlinks(found: Matrix, sketch: Sketch) -> None:
    """Cables ``NV``; where cells count more links than a GPU can have, they lead to a switch and count the same ones."""
    waiting = [row for row in found.gpus if any(map(_links, found.cells[row]))]
    while waiting:
        group = _joined(found, waiting[0])
        waiting = [row for row in waiting if row not in group]
        counts = {_links(found.cells[a][b]) for a, b in _pairs(group)}
        most = max(sum(_links(found.cells[a][b]) for b in group) for a in group)
        if most > MOST_NVLINKS and len(counts) == 1:
            switch = sketch.node("nvswitch", "switch")
            for row in group:
                sketch.cable((_name(found, row), switch), "NV", counts.copy().pop())
            sketch.remark(
                f"all {len(group)} GPUs have {min(counts)} NVLinks to each other, more than any GPU's {MOST_NVLINKS} if each "
                f"pair had its own: an NVSwitch with {min(counts)} links a GPU"
            )
            continue
        if most > MOST_NVLINKS:
            sketch.remark(
                f"a GPU has {most} NVLinks, more than any GPU's {MOST_NVLINKS}: some are surely counted twice"
            )
        for a, b in _pairs(group):
            if count := _links(found.cells[a][b]):
                sketch.cable((_name(found, a), _name(found, b)), "NV", count)


def _joined(found: Matrix, row: int) -> list[int]:
    """The rows that NVLinks join with ``row``, over however many GPUs."""
    group, waiting = {row}, [row]
    while waiting:
        here = waiting.pop()
        near = {there for there, cell in enumerate(found.cells[here]) if _links(cell)} - group
        group |= near
        waiting += near
    return sorted(group)


# --- the tree -----------------------------------------------------------------------------------------------------


def _level(cell: str) -> int:
    """Number of the level at which two devices meet; -1 where the cell does not say."""
    word = _OLD.get(cell, cell)
    return LEVELS.index(word) if word in LEVELS else -1


def _draw_tree(found: Matrix, sketch: Sketch) -> None:
    """Switches where devices meet, from the nearest up; devices of which no cell says where stay out of it."""
    rows = [row for row in (*found.gpus, *found.others) if any(_level(cell) >= 0 for cell in found.cells[row])]
    left = len(found.names) - len(rows)
    if left:
        sketch.remark(
            f"the matrix does not say how {left} of {len(found.names)} devices are joined by PCIe: only NVLinks"
        )
    groups = {row: frozenset([row]) for row in rows}
    tops = {groups[row]: _name(found, row) for row in rows}
    for level, label in enumerate(LEVELS):
        merged = _merge(found, groups, level)
        number = 0
        for group in dict.fromkeys(merged.values()):
            parts = list(dict.fromkeys(groups[row] for row in sorted(group)))
            if len(parts) == 1:
                continue
            switch = sketch.node(f"{label.lower()}{number}", "switch")
            number += 1
            for part in parts:
                sketch.cable((tops[part], switch), label)
            tops[group] = switch
        groups = merged
    _tell_bent(found, rows, sketch)


def _merge(found: Matrix, groups: dict[int, frozenset[int]], level: int) -> dict[int, frozenset[int]]:
    """Groups at ``level``: those with a pair that meets there or nearer, and from NODE on of one NUMA node, are one."""
    merged = dict(groups)
    for a, b in _pairs(list(groups)):
        near = 0 <= _level(found.cells[a][b]) <= level or (level >= _NODE and _same_numa(found, a, b))
        if near and merged[a] != merged[b]:
            both = merged[a] | merged[b]
            merged |= dict.fromkeys(both, both)
    return merged


def _same_numa(found: Matrix, a: int, b: int) -> bool:
    """Whether both have the same NUMA node, where it is known."""
    return found.numa[a] == found.numa[b] and found.numa[a].isdecimal()


def _tell_bent(found: Matrix, rows: Sequence[int], sketch: Sketch) -> None:
    """A remark where the cells are no tree: a pair that others bring nearer together than its own cell says."""
    groups = {row: frozenset([row]) for row in rows}
    for level in range(len(LEVELS)):
        groups = _merge(found, groups, level)
        for a, b in _pairs(rows):
            if groups[a] == groups[b] and _level(found.cells[a][b]) > level:
                sketch.remark(
                    f"{found.names[a]} and {found.names[b]} are {found.cells[a][b]}, but others join them at {LEVELS[level]}: "
                    "no tree says both, the nearer is taken"
                )
                return
