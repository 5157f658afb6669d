"""How far NCCL's own tuner, closed forms and fits are from measured collectives: python validation/nccl_tuner.py [--sizes]

For every table of ../shared/measured that NCCL's tuner chooses for, the relative error of time by the models of
`hopline compare` (``jobs/comparing``):

- closed form: 2(n-1) (α + m/n β) (half of it for all_gather and reduce_scatter): that of a ring by the α-β line of the
  sends measured on the same kind of GPU (vidur's H100); none for GB200, of which no sends were measured. Beside it, as
  "fastest", that of the algorithm that is fastest at each size;
- line: α + m/β fitted to the table itself, each size predicted with every second size left out;
- fitted: hopline's reading of the table, each inner size predicted from its neighbours with every second size left out;
- tuner: the model of NCCL's tuner for its version (2.29.2; vidur does not say which), on channels that its search is assumed
  to find.

Sizes are bytes: aiconfigurator's count elements. Leaves with code 1 where the fitted model is not the nearest in the mean over
all tables, or where the tuner is farther than LIMIT from small all-reduces of 8 H100 (reference: 15.0 µs against 15.59).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from measured import FOLDER, SKIPPED, tables

from hopline.curve import Floats
from hopline.jobs.comparing.closed_form import CLOSED_FORM, FASTEST, sends_of
from hopline.jobs.comparing.tables import FITTED, LINE, compare_table
from hopline.jobs.comparing.told import Stated
from hopline.jobs.comparing.tuner import TUNER
from hopline.quantity import show
from hopline.records.comparison import APART, Comparison
from hopline.records.nccl_names import BENCHMARKS

STATED, LIMIT = Stated(version="2.29.2"), 0.15
SENDS = "vidur-h100_dgx-send_recv.csv"
MODELS = (CLOSED_FORM, FASTEST, LINE, FITTED, TUNER)
FIRST = "h100_sxm all_reduce 8 ranks, half"
"""Whose smallest size is held against LIMIT."""
Row = tuple[str, Comparison, dict[str, Floats]]
"""A table's title, its comparison, and the relative errors of each model that says something."""


def rows() -> Iterator[Row]:
    """All tables that the tuner chooses for."""
    sends = sends_of(str(FOLDER / SENDS)) if (FOLDER / SENDS).exists() else []
    for one in tables():
        if one.benchmark not in BENCHMARKS:
            continue
        found = compare_table(one.table, one.source, sends, STATED)
        errors = {column.model: found.errors(column) for column in found.columns}
        if CLOSED_FORM in errors:
            fastest = compare_table(one.table, one.source, sends, STATED, FASTEST)
            errors[FASTEST] = fastest.errors(fastest.column(CLOSED_FORM))
        yield one.title, found, errors


def counts(found: Comparison) -> bool:
    """Whether the assumed channels are those of such a machine."""
    return not any(premise.status == "broken" and "channels" in premise.text for premise in found.premises)


def cell(errors: Floats | None) -> str:
    """Mean, worst, and at how many of a hundred sizes the model is farther off than APART."""
    if errors is None:
        return f"{'—':>19}"
    known = errors[~np.isnan(errors)]
    worst, apart = known[np.abs(known).argmax()], np.mean(np.abs(known) > APART)
    return f"{100 * np.abs(known).mean():6.1f} {100 * worst:+5.0f} {100 * apart:4.0f} %"


def by_size(found: Comparison, errors: dict[str, Floats]) -> None:
    """Errors at some sizes of a table."""
    n = len(found.size)
    ways = found.column(TUNER).ways
    for i in np.unique(np.geomspace(1, n, 12).astype(int)) - 1 if n > 40 else range(n):
        told = " ".join(f"{name} {100 * errors[name][i]:+6.1f} %" for name in MODELS if name in errors)
        print(f"    {show(found.size[i], 'size'):>10} {show(found.time[i], 'time'):>10}  {told}  {ways[i]}")


def main() -> int:
    """Print the tables; the exit code."""
    found = list(rows())
    if not found:
        print(SKIPPED)
        return 0
    print(f"{'relative error of time: mean, worst, part of sizes':52}" + " ".join(f"{name:>19}" for name in MODELS))
    print(f"at which it is above {APART:.0%}")
    for title, one, errors in found:
        print(f"{title + ('' if counts(one) else ' *'):52}" + " ".join(cell(errors.get(name)) for name in MODELS))
        if "--sizes" in sys.argv[1:]:
            by_size(one, errors)
    print("* bridges instead of switches: the channels assumed for the tuner are of another machine; not counted below")
    return verdict([row for row in found if counts(row[1])])


def verdict(found: list[Row]) -> int:
    """1 and why, where the promise of this module's opening is broken."""
    known = {name: [np.nanmean(np.abs(e[name])) for _, _, e in found if name in e] for name in MODELS}
    mean = {name: float(np.mean(errors)) for name, errors in known.items() if errors}
    print("mean over tables: " + ", ".join(f"{name} {100 * value:.1f} %" for name, value in mean.items()))
    small, errors = next((one, e[TUNER]) for title, one, e in found if title == FIRST)
    first = float(errors[0])
    print(f"8 H100, {show(small.size[0], 'size')}: tuner {100 * first:+.1f} %")
    wrong = ["the fitted model is not the nearest"] if min(mean, key=lambda m: mean[m]) != FITTED else []
    wrong += [f"the tuner misses a small all-reduce by {first:.0%}"] if abs(first) > LIMIT else []
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
