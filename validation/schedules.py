"""Every algorithm at every number of ranks and size: proved, and simulated beside its closed form.

36 algorithms, 1 to 17, 32 and 64 ranks, sizes that do not divide among them. One shape for each: two levels where an
algorithm has levels, 5 chunks, 3 rings, a third of the ranks as targets; each level with ports of its own, a NIC for each
ring. Round by round the simulated time must be that of an exact form, and freely never more; bounds must hold it.
Run: python validation/schedules.py
"""

from __future__ import annotations

import sys
from collections import Counter

from hopline.curve import Curve
from hopline.machine.fabric import Level, Levels
from hopline.model.collective.rounds import Form, bounds
from hopline.model.collective.table import FORMS
from hopline.records.timeline import TICK
from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES, Collective
from hopline.schedule.operations import Schedule
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

RANKS = (*range(1, 18), 32, 64)
LINE = Curve.line(1.2e-6, 64e9)
ADDING = 1e-12
"""Seconds to add up a byte."""


def sizes(ranks: int) -> list[int]:
    """0, 1, 7, N - 1, N, N + 1 and 1 MiB + 3, each once."""
    return list(dict.fromkeys((0, 1, 7, ranks - 1, ranks, ranks + 1, (1 << 20) + 3)))


def shape(entry: Collective, ranks: int, size: int) -> Shape:
    """The one that is tried."""
    inner = next((factor for factor in range(2, ranks) if ranks % factor == 0), 1)
    chosen = {
        "levels": (inner, ranks // inner) if inner > 1 else (),
        "chunks": 5,
        "channels": 3,
        "targets": max(1, ranks // 3),
    }
    return Shape(ranks, size, **{name: chosen[name] for name in entry.uses})


def told(entry: Collective, made: Schedule, form: Form, fabric: Levels) -> list[str]:
    """What is wrong with it, in words."""
    proof = check(made)
    wrong = [f"{fault.kind}: {fault.text}" for fault in proof.faults] + [
        f"not checked: {text}" for text in proof.unchecked
    ]
    least, most = bounds(form, fabric)
    slack = 1.5 * (form.messages + 1) * TICK + 1e-12 * most
    by_rounds, freely = (simulate(made, fabric, by_rounds=way).time for way in (True, False))
    if entry.exact and least == most and abs(by_rounds - most) > slack:
        wrong.append(f"round by round {by_rounds:.9g} s, by its form {most:.9g} s")
    low = 0.0 if entry.exact else least
    wrong += [
        f"{time:.9g} s, by its form {low:.9g} to {most:.9g} s"
        for time in (by_rounds, freely)
        if not low - slack <= time <= most + slack
    ]
    return wrong


def main() -> int:
    """Print a row per collective, and what is wrong."""
    tried: Counter[str] = Counter()
    bad = 0
    for entry in COLLECTIVES.values():
        for ranks in RANKS:
            for size in sizes(ranks):
                asked = shape(entry, ranks, size)
                fabric = Levels([Level(members, LINE, nics=asked.channels) for members in asked.groups], ADDING, ADDING)
                wrong = told(entry, entry.build(asked), FORMS[entry.name](asked), fabric)
                tried[entry.benchmark] += 1
                bad += bool(wrong)
                for text in wrong:
                    print(f"{asked} {entry.name}: {text}")
    for benchmark, count in tried.items():
        print(f"{benchmark:<16}{count:>6} schedules proved and simulated")
    print(f"{tried.total()} schedules of {len(COLLECTIVES)} algorithms, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
