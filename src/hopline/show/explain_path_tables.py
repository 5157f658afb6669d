"""Tables of what an explained step hangs on: the critical path, what is on it, and what changes would bring.

What belongs here: what of path, changes and contention stands beside what, as text.
"""

from __future__ import annotations

from hopline.quantity import counted
from hopline.records.blame import BETWEEN
from hopline.show.explain_cells import Cell, Table, count_cell, size_cell, time_cell
from hopline.show.explain_rows import (
    PART_WORDS,
    Numbers,
    WhatIfRow,
    path_changes,
    premises,
    replayed,
    spoken,
    what_if_title,
)


def parts(found: Numbers) -> Table:
    """What kinds of time the path is made of."""
    rows = [
        (Cell(f"{part} ({PART_WORDS[part]})"), time_cell(time, f"parts.{part}", found.path))
        for part, time in found.parts.items()
    ]
    told = [path_changes(found)] if len(found.ranks) > 1 else []
    if found.path_inferred:
        are, them = ("is", "it") if found.path_inferred == 1 else ("are", "them")
        waits = counted(found.path_inferred, "wait")
        told.append(f"{waits} on it {are} inferred from the order on streams; no event in the files tells {them}.")
    if found.path_skew:
        told.append(f"{counted(found.path_skew, 'time')} work began before its call, as clocks had it: taken as 0.")
    return Table("parts", "The critical path", " ".join(told), ("", "time"), rows)


def causes(found: Numbers) -> Table:
    """Kernels, collectives and operators on the path."""
    rows = [
        (
            Cell(row.name, f"causes.{i}.name"), Cell(row.part, f"causes.{i}.part"), count_cell(row.times, f"causes.{i}.times"),
            time_cell(row.time, f"causes.{i}.time", found.path),
        )
        for i, row in enumerate(found.causes)
    ]  # fmt: skip
    header = ("", "as", "times", "time")
    between = any(row.name == BETWEEN for row in found.causes)
    note = f"{spoken(BETWEEN).rstrip('.')}: the program itself, Python and what is not profiled." if between else ""
    return Table("causes", "What is on it", note, header, rows, left=2, kept=10, left_out=found.causes_left_out)


def what_ifs(found: Numbers) -> Table:
    """The time after each change."""
    rows = [
        (
            Cell(row.change, f"what_ifs.{i}.change"), time_cell(row.time, f"what_ifs.{i}.time"),
            _saved(row, f"what_ifs.{i}.saved", found.replayed), Cell(f"{row.speedup:.3g} x", f"what_ifs.{i}.speedup"),
            Cell("—") if row.ceiling is None else time_cell(row.ceiling, f"what_ifs.{i}.ceiling"),
        )
        for i, row in enumerate(found.what_ifs)
    ]  # fmt: skip
    bounded = any(row.at_most for row in found.what_ifs)
    notes = (
        f"All of {found.played}: the whole is too long to be played again." if found.played else "",
        "Ceiling: if what the change speeds up cost nothing.",
        replayed(found),
        "≤: some of it may be waiting, which that change does not shorten." if bounded else "",
    )
    header = ("", "time then", "saves", "speed-up", "ceiling")
    return Table(
        "what_ifs", what_if_title(found), " ".join(filter(None, notes)), header, rows, premises=premises(found)
    )


def _saved(row: WhatIfRow, key: str, whole: float | None) -> Cell:
    if row.within:
        return Cell("within the error")
    return time_cell(row.saved, key, whole, "≤ " if row.at_most and row.saved > 0 else "")


def swaps(found: Numbers) -> Table:
    """What collectives take on the network that they were put on."""
    rows = [
        (
            Cell(row.op, f"swaps.{i}.op"), count_cell(row.times, f"swaps.{i}.times"), size_cell(row.size, f"swaps.{i}.size"),
            count_cell(row.ranks, f"swaps.{i}.ranks"),
            time_cell(row.measured, f"swaps.{i}.measured", bound="≤ " if row.waits else ""),
            time_cell(row.there, f"swaps.{i}.there"), Cell(row.algorithm, f"swaps.{i}.algorithm"),
        )
        for i, row in enumerate(found.swaps)
    ]  # fmt: skip
    note = "Of one: the mean of what was measured after its last rank had come, and what it takes there."
    if any(row.waits for row in found.swaps):
        note += " ≤: waiting is in it that cannot be told from transfer."
    return Table("swaps", "Collectives there", note, ("", "times", "size", "ranks", "measured", "there", "by"), rows)


def contention(found: Numbers) -> Table:
    """How kernels and transfers slow one another down."""
    rows = [
        (
            Cell(f"{row.what} beside the other", f"contention.{i}.what"), Cell(row.label, f"contention.{i}.label"),
            Cell(f"{row.factor:.2f} x", f"contention.{i}.factor"), Cell(f"{row.low:.2f} .. {row.high:.2f}"),
            count_cell(row.pairs, f"contention.{i}.pairs"),
        )
        for i, row in enumerate(found.contention)
    ]  # fmt: skip
    note = "How much longer it takes while the other is on, from pairs of the same work with and without; quartiles beside it."
    return Table("contention", "Contention", note, ("", "on", "longer", "half of pairs", "pairs"), rows, left=2, kept=4)
