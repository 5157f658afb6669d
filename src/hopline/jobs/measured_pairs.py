"""What all pairs of ranks, as measured, say: a slow rank or link, or none.

What belongs here: from samples of pairs to their study, and what it needs beside times: hosts, and when each was taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hopline.errors import InputError
from hopline.formats.samples import pairs_of
from hopline.records.pairs import Pair, PairReport
from hopline.records.sample import Sample
from hopline.records.table import Measure
from hopline.run.kinds import KINDS
from hopline.study.centres import FEWEST_RANKS
from hopline.study.pairs import analyse


@dataclass(frozen=True, slots=True)
class PairStudy:
    """All pairs at one benchmark and size: seconds of each, the hosts of ranks, and what is sick or why that is unknown."""

    benchmark: str
    size: int
    measure: Measure
    times: dict[Pair, tuple[float, ...]]
    hosts: dict[int, str]
    report: PairReport | None
    reason: str = ""


def studies(turns: Sequence[Sample]) -> list[PairStudy]:
    """All pairs among samples as they came, studied for each benchmark and size."""
    names = [kind.benchmark for kind in KINDS]
    groups: dict[tuple[int, int], list[Sample]] = defaultdict(list)
    for turn in turns:
        if turn.pair is not None:
            groups[names.index(turn.benchmark), turn.size].append(turn)
    return [_studied(names[number], size, group) for (number, size), group in sorted(groups.items())]


def _studied(benchmark: str, size: int, turns: Sequence[Sample]) -> PairStudy:
    times, measure = pairs_of(turns), turns[0].measure
    hosts = {rank: host for turn in turns if turn.pair for rank, host in zip(turn.pair, turn.hosts, strict=True)}
    if len(hosts) < FEWEST_RANKS:
        return PairStudy(
            benchmark, size, measure, times, hosts, None, f"{len(hosts)} ranks are too few to tell a sick one"
        )
    try:
        report = analyse(times, hosts=hosts, when=_moments(turns))
    except InputError as error:
        return PairStudy(benchmark, size, measure, times, hosts, None, str(error))
    return PairStudy(benchmark, size, measure, times, hosts, report)


def _moments(turns: Sequence[Sample]) -> dict[Pair, list[float]] | None:
    """When each repeat was taken: seconds since 1970, the start of its turn and the repeats before it."""
    if not all(turn.started for turn in turns):
        return None
    found: dict[Pair, list[float]] = defaultdict(list)
    for turn in turns:
        if turn.pair is not None:
            at = datetime.fromisoformat(turn.started).timestamp()
            for time in turn.times:
                found[turn.pair].append(at)
                at += time
    return dict(found)
