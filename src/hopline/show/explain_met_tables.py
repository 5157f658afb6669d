"""Tables of the collectives of an explained step: kinds, single ones, and who came last.

What belongs here: what of ``explain_meetings`` stands beside what, as text.
"""

from __future__ import annotations

from hopline.quantity import counted, show
from hopline.show.explain_cells import Cell, Table, count_cell, rate_cell, size_cell, time_cell
from hopline.show.explain_rows import Numbers


def groups(found: Numbers) -> Table:
    """Collectives of one kind together."""
    many = any(row.group for row in found.groups)
    rows = []
    for i, row in enumerate(found.groups):
        at = f"groups.{i}."
        last = f"{row.last} ({100 * row.last_times / row.told:.0f} %)" if row.last is not None else "?"
        bound = "≥ " if row.known < row.count else ""
        rows.append((
            Cell(row.op, at + "op"), *((Cell(row.group, at + "group"),) if many else ()),
            count_cell(row.count, at + "count"), size_cell(row.size, at + "size"), count_cell(row.ranks, at + "ranks"),
            time_cell(row.transfer, at + "transfer", bound=bound), time_cell(row.waiting, at + "waiting", bound=bound),
            Cell(last, at + "last"), rate_cell(row.algbw, at + "algbw", row.basis),
            rate_cell(row.busbw, at + "busbw", row.basis),
        ))  # fmt: skip
    header = (
        "",
        *(("group",) if many else ()),
        "times",
        "size",
        "ranks",
        "transfer",
        "waiting",
        "mostly last",
        "algbw",
        "busbw",
    )
    note = (
        "Sums. Transfer: after the last rank had come, rates are of it alone; waiting: of the rank that waited longest."
    )
    if any(row.told < row.count for row in found.groups):
        note += " Mostly last: of those collectives in which it is sure; ?: in none."
    if any(0 < row.known < row.count for row in found.groups):
        note += " ≥: transfer is known of some of them only."
    return Table("groups", "Collectives", note, header, rows, left=2 if many else 1, wide=("ranks",))


def meetings(found: Numbers) -> Table:
    """Each for itself."""
    rows = []
    for i, row in enumerate(found.meetings):
        at = f"meetings.{i}."
        last = "unknown" if row.last is None else row.last if row.sure else f"{row.last}?"
        rows.append((
            Cell(f"{row.op} {row.number}", at + "number"), time_cell(row.start, at + "start"),
            size_cell(row.size, at + "size"),
            time_cell(row.transfer, at + "transfer"), time_cell(row.waiting, at + "waiting"), Cell(last, at + "last"),
            time_cell(row.margin, at + "margin"), rate_cell(row.busbw, at + "busbw", row.basis),
        ))  # fmt: skip
    header = ("", "begins at", "size", "transfer", "waiting", "last", "behind by", "busbw")
    note = "The longest waits first." if any(row.waiting for row in found.meetings) else "In order of time."
    if any(row.last and not row.sure for row in found.meetings):
        note += " rank?: it came last by less than the clocks can tell."
    return Table("meetings", "Single collectives", note, header, rows, kept=10, left_out=found.meetings_left_out)


def last(found: Numbers) -> Table:
    """Ranks that the others waited for."""
    rows = [
        (
            Cell(row.label, f"last.{i}.label"), Cell(f"{row.times:,} of {row.of:,}", f"last.{i}.times"),
            time_cell(row.longest, f"last.{i}.longest"), time_cell(row.waited, f"last.{i}.waited"),
        )
        for i, row in enumerate(found.last)
    ]  # fmt: skip
    note = "Waiting for it: of whoever waited longest each time, and of all ranks together."
    if found.undecided:
        note += f" Of {counted(found.undecided, 'collective')} the clocks leave open who was last{_clocks(found)}."
    return Table("last", "Who comes last", note, ("", "last", "longest waits", "all waits"), rows, kept=6)


def _clocks(found: Numbers) -> str:
    return "" if found.clock_error is None else f": they are known to ± {show(found.clock_error, 'time', 2)} at worst"
