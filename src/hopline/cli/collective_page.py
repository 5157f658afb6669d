"""The answer of ``hopline collective`` as JSON.

What belongs here: contests as plain data in SI units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hopline.records.busbw import FACTORS
from hopline.records.contest import CHUNK, RING, Changed, Contest, Lever, Parts, Row, Timed


def data(found: Sequence[tuple[str, Contest]], failed: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """One entry for each network; those that could not be, with the reason."""
    return {
        "benchmark": found[0][1].benchmark,
        "networks": [{"name": name, **_contest(contest)} for name, contest in found],
        "failed": [{"name": name, "reason": reason} for name, reason in failed],
    }


def _contest(found: Contest) -> dict[str, Any]:
    factor = FACTORS[found.benchmark](found.ranks) if found.benchmark in FACTORS and found.ranks > 1 else None
    return {
        "ranks": found.ranks,
        "network": found.network,
        "prices": found.prices,
        "algorithms": list(found.algorithms),
        "rows": [_row(row, factor if found.sized else None, found.sized) for row in found.rows],
        "winners": [asdict(span) for span in found.winners],
        "limits": [asdict(span) for span in found.limits],
        "levers_for": found.lever_algorithm or None,
        "levers": [_lever(lever) for lever in found.levers],
        "premises": [asdict(premise) for premise in found.premises],
        "left_out": [asdict(out) for out in found.left_out],
    }


def _row(row: Row, factor: float | None, sized: bool) -> dict[str, Any]:
    best = row.best
    algbw = row.size / best.time if sized and best.time > 0 else None
    return {
        "size": row.size,
        "fastest": [timed.algorithm for timed in row.fastest],
        "perhaps": [timed.algorithm for timed in row.perhaps],
        "time_s": best.time,
        "algbw": algbw,
        "busbw": None if algbw is None or factor is None else algbw * factor,
        "times": [_timed(timed) for timed in row.times],
    }


def _timed(timed: Timed) -> dict[str, Any]:
    estimate = timed.estimate
    return {
        "algorithm": timed.algorithm,
        "formula_s": estimate.value,
        "low_s": estimate.value if estimate.low is None else estimate.low,
        "terms_s": {term.name: term.value for term in estimate.terms},
        "binds": estimate.binds,
        "next": estimate.next_limit or None,
        "distance": estimate.distance,
        **_parts(timed, CHUNK),
        **_parts(timed, RING),
        "simulated_s": timed.simulated,
        "difference": timed.difference,
        "reasons": list(timed.reasons),
        "not_simulated": timed.skipped or None,
    }


def _parts(timed: Timed, part: Parts) -> dict[str, Any]:
    """How many chunks or rings, and the times with half and with twice as many; null where there are none."""
    number = timed.number if timed.parts == part else None
    half, twice = timed.beside if number is not None and timed.beside else (None, None)
    return {f"{part}s": number, f"half_the_{part}s_s": half, f"twice_the_{part}s_s": twice}


def _lever(lever: Lever) -> dict[str, Any]:
    return {"name": lever.name, "why": lever.why or None, "at": [_changed(changed) for changed in lever.changed]}


def _changed(changed: Changed) -> dict[str, Any]:
    return {"size": changed.size, "algorithm": changed.algorithm, "time_s": changed.time, "gain": changed.gain}
