"""The model of NCCL's tuner beside a measured table.

What belongs here: from what is known of the table's job to a question for ``jobs.nccl``, and what had to be assumed for it.
"""

from __future__ import annotations

from hopline.curve import Floats
from hopline.errors import InputError
from hopline.jobs import nccl
from hopline.jobs.comparing.told import Stated, Told
from hopline.model.nccl.numbers import LATEST
from hopline.quantity import counted
from hopline.records.comparison import Column
from hopline.records.estimate import Premise
from hopline.records.nccl_names import BENCHMARKS

TUNER = "tuner"


def tuner(told: Told, size: Floats, stated: Stated) -> tuple[Column, tuple[Premise, ...]]:
    """Seconds by NCCL's tuner for each size, with algorithm and protocol as its ways.

    Raises HoplineError with the reason where nothing can be said.
    """
    asked = _question(told, size, stated)
    found = nccl.answer(asked)
    nodes = counted(asked.nodes, "node")
    basis = f"the tuner of NCCL {asked.version} on {counted(asked.ranks, 'GPU')} ({asked.architecture}), {nodes}"
    premises = [Premise(text, "unknown", matters=True) for text in found.premises]
    if not told.version:
        premises.insert(
            0, Premise(f"NCCL is of version {LATEST}: the file does not say it (--nccl)", "unknown", matters=True)
        )
    if not told.searches and (stated.channels is None or stated.within is None):
        premises.insert(0, _switches(told))
    return Column(TUNER, basis, found.time, tuple(" ".join(way) for way in found.chosen)), tuple(premises)


def _question(told: Told, size: Floats, stated: Stated) -> nccl.Question:
    """What the tuner is asked: of the latest version where the user asks for it by an architecture and none is known.

    Raises InputError where something is not known that it needs.
    """
    if told.other:
        raise InputError(told.other)
    if told.benchmark not in BENCHMARKS:
        raise InputError(f"NCCL's tuner has no choice for {told.benchmark}")
    if told.ranks is None:
        raise InputError(told.no_ranks)
    if not told.architecture:
        of = f"of {told.machine!r} is not known here" if told.machine else "of the GPUs is not in the file"
        raise InputError(f"the architecture {of} (--arch)")
    if not told.version and stated.architecture is None:
        raise InputError("the version of NCCL is not in the file (--nccl)")
    if told.nodes is None:
        raise InputError(told.no_nodes)
    nic = stated.nic if told.nodes > 1 else None
    return nccl.Question(
        told.benchmark, told.ranks, told.nodes, told.architecture, told.version or LATEST, told.cpu, told.cpu != "other",
        stated.channels, stated.within, stated.between, nic, sizes=tuple(size.tolist()), searches=told.searches,
    )  # fmt: skip


def _switches(told: Told) -> Premise:
    """Whether the GPUs meet as those do for which channels are assumed."""
    text = "the channels assumed are those of GPUs that meet in switches"
    if told.switched is False:
        effect = (
            f"the GPUs of {told.machine} are bridged in pairs at most: the tuner's times are those of another machine"
        )
        return Premise(text, "broken", effect, matters=True)
    return Premise(text, "holds" if told.switched else "unknown", matters=not told.switched)
