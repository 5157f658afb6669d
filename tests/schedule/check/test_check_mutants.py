"""Every entry of COLLECTIVES is right, and every mutant of it that does harm is caught: as brute force has it, and no other way."""

import numpy as np
import pytest
from asked import built
from performed import kept_in_rows, verdict
from spoilt import MUTANTS

from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES

GROUPS = {
    "unreceived": "alone", "unsent": "alone", "sizes": "sizes", "deadlock": "deadlock", "order": "deadlock", "blocks": "blocks",
    "overwritten": "race", "early": "race", "clash": "race", "barrier": "barrier",
}  # fmt: skip
"""Kinds of fault in the words of ``verdict``; the rest are about data."""
SHAPES = ((2, 5), (3, 7), (4, 16), (6, 13))
ALWAYS_MALFORMED = ("rank out of range", "negative size", "waits for another rank")
FEW = (
    "all_reduce-ring",
    "reduce_scatter-ring",
    "all_gather-ring",
    "all_reduce-recursive_doubling",
    "all_reduce-direct",
)


def groups(checked):
    """What check finds, in the words of ``verdict``; behind a race, data is looked at apart."""
    found = {GROUPS.get(fault.kind, "data") for fault in checked.faults if fault.kind != "rounds"}
    return found - {"data"} if "race" in found else found


def entries():
    return [
        pytest.param(entry, ranks, size, id=f"{name}-{ranks}-{size}")
        for name, entry in COLLECTIVES.items()
        for ranks, size in SHAPES
    ]


@pytest.mark.parametrize(("entry", "ranks", "size"), entries())
def test_what_is_right_is_not_accused_and_ends_right(entry, ranks, size):
    for schedule in built(entry, ranks, size):
        checked = check(schedule)
        assert (checked.faults, checked.unchecked) == ((), ())
        assert (checked.blocking, checked.buffered) == (True, True)
        assert verdict(schedule) == set()


def agrees(spoilt, name):
    """Whether it did harm, as brute force has it; fails where check says anything else."""
    checked = check(spoilt)
    if any(fault.kind == "malformed" for fault in checked.faults):
        return True
    assert name not in ALWAYS_MALFORMED
    found = verdict(spoilt)
    assert groups(checked) == found, (name, checked)
    told = {GROUPS.get(fault.kind, "data") for fault in checked.faults if fault.kind != "rounds"}
    if "race" in found and "barrier" not in told and not checked.unchecked:
        assert kept_in_rows(spoilt) == ("data" not in told), (name, checked)
    return bool(found)


@pytest.mark.parametrize(("entry", "ranks", "size"), entries())
def test_mutants_are_caught_where_they_do_harm(entry, ranks, size):
    rng = np.random.default_rng([ranks, size, len(entry.name)])
    for schedule in built(entry, ranks, size)[:2]:
        for name, mutant in MUTANTS.items():
            spoilt = mutant(schedule, rng)
            if spoilt is not None:
                agrees(spoilt, name)


@pytest.mark.parametrize("name", sorted(set(MUTANTS) - {"all on one lane"}))
def test_every_mutant_does_harm_somewhere(name):
    rng = np.random.default_rng(11)
    schedules = [schedule for key in FEW if key in COLLECTIVES for schedule in built(COLLECTIVES[key], 4, 16)]
    schedules += [schedule for key in COLLECTIVES if "copied" in name for schedule in built(COLLECTIVES[key], 4, 16)]
    spoilt = [MUTANTS[name](schedule, rng) for _ in range(3) for schedule in schedules]
    harm = [agrees(one, name) for one in spoilt if one is not None]
    assert any(harm)
