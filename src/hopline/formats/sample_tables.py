"""Samples as tables and as pairs.

What belongs here: one Table for each series of samples, with the right measure, and the times of all ordered pairs. The file
that samples are kept in is ``samples``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

import numpy as np

from hopline.errors import InputError
from hopline.records.sample import Sample
from hopline.records.table import Fact, Table

COLUMNS = ("size", "time", "time_low", "time_high", "repeats")
EXTRA = ("pair", "pairs", "window", "world", "hosts")
"""Fields of a sample that are told only where they are not the usual ones."""
USUAL = {field.name: field.default for field in fields(Sample) if field.name in EXTRA}


def table_of(samples: Sequence[Sample], line: int = 0) -> Table:
    """Samples of one series as a table, a row for each size. Raises InputError where they are of several."""
    first = samples[0]
    if len({sample.series for sample in samples}) != 1:
        raise InputError(
            "samples of several benchmarks, places, pairs or windows are no one table: expected one series"
        )
    rows = [(s.size, s.median, *s.quartiles, len(s.times)) for s in samples]
    return Table(
        tool="hopline",
        benchmark=first.benchmark,
        measure=first.measure,
        columns=dict(zip(COLUMNS, np.array(rows, dtype=np.float64).T.copy(), strict=True)),
        rows=len(rows),
        ranks=first.ranks,
        line=line,
        title=_title(first),
        notes=tuple(note for benchmark, note in _NOTES if benchmark == first.benchmark),
        facts={**_facts(samples), **_extra_facts(first)},
    )


_NOTES = (
    ("bibw", "a gap is for each direction: both together move 2 x size in it"),
    ("mbw_mr", "a gap is for each pair: all pairs together move pairs x size in it"),
)


def _title(sample: Sample) -> str:
    if sample.pair is None:
        among = "on 1 rank" if sample.ranks == 1 else f"between {sample.ranks} ranks"
        return f"{sample.benchmark} over {sample.transport} {among} on {sample.host}"
    sender, receiver = sample.pair
    return f"{sample.benchmark} over {sample.transport} from rank {sender} to {receiver} of {sample.started_ranks}"


def _facts(samples: Sequence[Sample]) -> dict[str, Fact]:
    return {
        "transport": samples[0].transport,
        "host": samples[0].host,
        "clock": max(sample.clock for sample in samples),
        "started": min(sample.started for sample in samples),
    }


def _extra_facts(sample: Sample) -> dict[str, Fact]:
    """What only samples of version 2 say."""
    extra = {name: getattr(sample, name) for name in EXTRA if getattr(sample, name) != USUAL[name]}
    return {name: ", ".join(value) if name == "hosts" else value for name, value in extra.items()}


def pairs_of(samples: Iterable[Sample]) -> dict[tuple[int, int], tuple[float, ...]]:
    """(sender, receiver) -> seconds of every repeat. Samples without a pair are left out.

    Raises InputError where the pairs are not of one benchmark, size, window, transport and number of ranks started.
    """
    ordered = [sample for sample in samples if sample.pair is not None]
    alike = {(s.benchmark, s.size, s.window, s.transport, s.started_ranks) for s in ordered}
    if len(alike) > 1:
        raise InputError(
            f"pairs of {len(alike)} benchmarks, sizes, windows or runs are not compared: expected one of each"
        )
    found: dict[tuple[int, int], tuple[float, ...]] = {}
    for sample in ordered:
        if sample.pair is not None:
            found[sample.pair] = found.get(sample.pair, ()) + sample.times
    return found
