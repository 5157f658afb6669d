"""The JSON file that nccl-tests writes with ``-J``, with and without per-iteration timing.

What belongs here: its keys (src/util.cu of nccl-tests; file versions 1 to 3). Times are in us and bandwidths in GB/s of 1e9,
with six decimals; ``nwrong`` is null where nothing was checked; ``devices`` has one entry a process. Statistics of iterations
leave the first ones out. Lists of single iterations are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from hopline.formats import nccl_ranks
from hopline.formats.drafts import BAD_VALUE, GBS, US, Alarm, Draft, log, sane_size, sane_time
from hopline.formats.lines import document
from hopline.formats.nccl_json_file import Half, Number, Result, Run, load
from hopline.formats.nccl_layout import IN_PLACE
from hopline.formats.nccl_rows import BAD_TIME, WRONG, ZERO_SIZE
from hopline.formats.nccl_version import version_of
from hopline.records.table import Fact, Floats, Log, Table

TOOL = "nccl-tests"
MOST = 1 << 28
"""Bytes of a file."""
_HALF = 0.5e-6 * GBS
"""Half a unit of the last printed digit of a bandwidth."""
_ENOUGH = 5 * GBS
NO_HALF = "no out-of-place result (in place only)"

_COLUMNS: dict[str, tuple[str, str, float]] = {
    "algbw": ("", "alg_bw", GBS), "busbw": ("", "bus_bw", GBS), "time_min": ("_per_iter", "min_us", US),
    "time_max": ("_per_iter", "max_us", US), "time_avg": ("_per_iter", "avg_us", US),
    "time_p50": ("_per_iter", "p50_us", US), "time_p95": ("_per_iter", "p95_us", US),
    "time_p99": ("_per_iter", "p99_us", US), "time_cv": ("_per_iter", "cv_pct", 0.01),
}  # fmt: skip
"""Column -> which object of a half holds it, its key, and one of the unit in SI."""


def read(path: str) -> Log:
    """All runs of a file, one table each, never merged.

    Raises FormatError when the file cannot be read, is cut, or no run in it has a usable row.
    """
    runs = load(path, document(path, MOST))
    tables: list[Table] = []
    left: list[tuple[str, int]] = []
    alarm = Alarm()
    for run in runs:
        draft, good = _usable(run)
        if good:
            tables.append(_table(run, draft, good))
        else:
            left += draft.events
        for error in filter(None, run.errors or []):
            alarm.first = alarm.first or (1, error.encode())
    return log(path, TOOL, tables, alarm, "a JSON file of nccl-tests without a result", left, ())


def _usable(run: Run) -> tuple[Draft, list[Result]]:
    """The rows to use, and a draft with the reasons of the others; a row's number stands for its line."""
    draft = Draft()
    good: list[Result] = []
    for number, row in enumerate(run.results, 1):
        reason = _reason(row)
        if reason:
            draft.drop(reason, number)
        else:
            good.append(row)
            draft.lines.append(number)
    return draft, good


def _reason(row: Result) -> str:
    """Why a row must not be used; "" where it may."""
    if row.out_of_place is None:
        return NO_HALF
    if not (sane_size(row.size) and sane_size(row.count)):
        return BAD_VALUE
    if not row.size or not row.count:
        return ZERO_SIZE
    halves = [half for half in (row.out_of_place, row.in_place) if half]
    if any(_float(half.nwrong) > 0 for half in halves):
        return WRONG
    if not sane_time(_time(row.out_of_place) * US):
        return BAD_TIME
    bandwidths = (_float(row.out_of_place.alg_bw), _float(row.out_of_place.bus_bw))
    return "" if all(0 <= value < 1e12 for value in bandwidths) else BAD_VALUE


def _time(half: Half | None) -> float:
    if half is None:
        return np.nan
    return _float(half.cpu_time if half.time is None else half.time)


def _float(value: Number) -> float:
    """A number; NaN for null, and for what the tool writes as text (``"nan"``)."""
    return float(value) if isinstance(value, int | float) else np.nan


def _columns(rows: list[Result]) -> dict[str, Floats]:
    columns = {"size": np.array([row.size for row in rows], float), "time": _times(rows, "out_of_place")}
    if any(row.in_place for row in rows):
        columns["time" + IN_PLACE] = _times(rows, "in_place")
    columns["count"] = np.array([row.count for row in rows], float)
    for suffix, half in (("", "out_of_place"), (IN_PLACE, "in_place")):
        for name, (part, key, scale) in _COLUMNS.items():
            column = np.array([_float(getattr(getattr(row, half + part), key, None)) for row in rows]) * scale
            if not np.all(np.isnan(column)):
                columns[name + suffix] = column
    return columns


def _times(rows: list[Result], half: str) -> Floats:
    time = np.array([_time(getattr(row, half)) for row in rows]) * US
    return np.where(time > 0, time, np.nan)


def _table(run: Run, draft: Draft, rows: list[Result]) -> Table:
    columns = _columns(rows)
    draft.rows = [()] * len(rows)
    program = re.sub(r"(?:_perf)?(?:_mpi)?$", "", (run.args or [""])[0].rpartition("/")[2])
    draft.benchmark = program if program in nccl_ranks.RANKS else ""
    draft.facts = _facts(run, rows, columns)
    if any(row.out_of_place and row.out_of_place.time is None for row in rows):
        draft.notes.append("times are CPU times (-C)")
    _ranks(run, draft, rows[0].redop, columns)
    return draft.table(TOOL, "time", columns)


def _facts(run: Run, rows: list[Result], columns: Mapping[str, Floats]) -> dict[str, Fact]:
    hosts = {device.hostname for device in run.config.devices}
    facts: dict[str, Fact] = {
        "json_version": run.version, "nccl_version": version_of(run.nccl_version), "hosts": len(hosts),
        "iterations": run.config.iterations, "peak_busbw": float(columns["busbw"].max()), "wrong": _wrong(run),
    }  # fmt: skip
    if "busbw" + IN_PLACE in columns:
        facts["peak_busbw_in_place"] = float(np.nanmax(columns["busbw" + IN_PLACE]))
    if run.out_of_bounds and run.out_of_bounds.count is not None:
        facts["out_of_bounds"] = run.out_of_bounds.count
    average = _float(run.average_bus_bandwidth.bandwidth) if run.average_bus_bandwidth else np.nan
    if average == average:
        facts["average_busbw"] = average * GBS
    skipped = [row.out_of_place_per_iter.skipped_iterations for row in rows if row.out_of_place_per_iter]
    if skipped:
        facts["skipped_iterations"] = skipped[0]
    return facts


def _wrong(run: Run) -> Fact:
    """Rows with wrong elements; N/A where nothing was checked."""
    counts = [[_float(half.nwrong) for half in (row.out_of_place, row.in_place) if half] for row in run.results]
    if all(np.isnan(count) for row in counts for count in row):
        return "N/A"
    return sum(any(count > 0 for count in row) for row in counts)


def _ranks(run: Run, draft: Draft, redop: str, columns: Mapping[str, Floats]) -> None:
    """The number of ranks: processes x threads x GPUs, against the bus factor."""
    algbw, busbw = columns["algbw"], columns["busbw"]
    halves = np.full(len(algbw), _HALF)
    low, high = nccl_ranks.ratio_interval(algbw, busbw, halves, halves)
    seen = nccl_ranks.ratio(algbw, busbw, low, high, _ENOUGH)
    config = run.config
    each = max(config.nthreads, 1) * max(config.ngpus, 1)
    listed = len(config.devices) * each
    highest = max((device.rank for device in config.devices), default=-1) + each
    draft.facts |= {"ranks_listed": listed, "factor": seen.typical if seen else None}
    allowed = nccl_ranks.interval(draft.benchmark, redop.encode(), seen)
    if allowed and np.isfinite(allowed[1]) and allowed[0] <= allowed[1]:
        draft.facts["ranks_from_factor"] = (int(allowed[0]), int(allowed[1]))
    if seen and seen.single and listed <= 1:
        draft.state_ranks(1, ("busbw is 0 in every row: one rank, no network was used",))
    elif seen and not seen.consistent:
        told = f"no factor fits busbw/algbw of all rows (typically {seen.typical:.4g}): number of ranks left open"
        draft.state_ranks(None, (told,))
    else:
        draft.state_ranks(*nccl_ranks.agreed(listed, highest if config.devices else None, allowed))
