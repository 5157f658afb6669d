"""The bubble of a pipeline: what stages wait for one another while micro-batches fill and drain it.

What belongs here: the closed forms. 1F1B and GPipe (arXiv 1811.06965, 1806.03377): (p-1)(F+B); interleaved with v chunks a
stage (Megatron, arXiv 2104.04473): (p-1)(F+B)/v, where the micro-batches come in whole groups of p. They hold where sending
between stages takes no time; ``sim.stages`` goes through the schedule itself and says the rest.
"""

from __future__ import annotations

from fractions import Fraction

from hopline.errors import InputError
from hopline.quantity import NON_NEGATIVE, exact
from hopline.records.step import Bubble

MOST_CELLS = 1 << 20
"""Of stages x micro-batches x chunks."""


def check(stages: int, microbatches: int, virtual: int = 1) -> None:
    """Raise InputError where there can be no such pipeline."""
    for name, count in (("stages", stages), ("micro-batches", microbatches), ("chunks of a stage", virtual)):
        if count < 1:
            raise InputError(f"{count} {name}: expected at least 1")
    if stages * microbatches * virtual > MOST_CELLS:
        raise InputError(
            f"{stages} stages x {microbatches} micro-batches x {virtual} chunks: expected at most {MOST_CELLS:,} in all"
        )


def closed(stages: int, microbatches: int, virtual: int = 1) -> bool:
    """Whether the closed form holds: whole groups of micro-batches where chunks are interleaved."""
    return virtual == 1 or stages == 1 or microbatches % stages == 0


def bubble(stages: int, microbatches: int, forward: float, backward: float, virtual: int = 1) -> Bubble:
    """By closed form.

    ``forward``, ``backward``: seconds of a stage with all its chunks, for one micro-batch. Raises InputError where the form
    does not hold.
    """
    check(stages, microbatches, virtual)
    if not closed(stages, microbatches, virtual):
        raise InputError(
            f"{microbatches} micro-batches are no whole groups of {stages} stages, which the closed form of {virtual} chunks "
            "asks for: go through the schedule instead"
        )
    both = exact(NON_NEGATIVE.check("forward", forward)) + exact(NON_NEGATIVE.check("backward", backward))
    waits = Fraction(stages - 1, virtual)
    return Bubble(stages, microbatches, virtual, float(both * (microbatches + waits)), float(both * microbatches))
