"""Every entry of COLLECTIVES is right, and every mutant of it that does harm is caught: as brute force has it, and no other way."""

import numpy as np
import pytest
from asked import built
from performed import verdict
from spoilt import MUTANTS

from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES

GROUPS = {
    "unreceived": "alone", "unsent": "alone", "sizes": "sizes", "deadlock": "deadlock", "order": "deadlock", "blocks": "blocks",
    "overwritten": "race", "early": "race", "clash": "race", "barrier": "barrier",
}  # fmt: skip
"""Kinds of fault in the words of ``verdict``; the rest are about data."""
SHAPES = ((2, 5), (3, 7), (4, 16), (6, 13))


def groups(checked):
    """What check finds, in the words of ``verdict``; data is not compared where brute force cannot tell it either."""
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
        assert verdict(schedule) == set()
        assert check(schedule).faults == ()
        assert check(schedule).unchecked == ()


@pytest.mark.parametrize(("entry", "ranks", "size"), entries())
def test_mutants_are_caught_where_they_do_harm(entry, ranks, size):
    rng = np.random.default_rng([ranks, size, len(entry.name)])
    for schedule in built(entry, ranks, size)[:2]:
        for name, mutant in MUTANTS.items():
            spoilt = mutant(schedule, rng)
            if spoilt is None:
                continue
            checked = check(spoilt)
            malformed = [fault for fault in checked.faults if fault.kind == "malformed"]
            if not malformed:
                assert groups(checked) == verdict(spoilt), (name, checked)
