"""The answer of ``hopline step`` as JSON.

What belongs here: steps as plain data in SI units.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hopline.records.step import Answer, Effect, Stepped


def data(found: Answer, naive: float | None) -> dict[str, Any]:
    """Seconds and fractions; ``after`` is null where nothing was changed."""
    bubble = found.bubble
    return {
        "now": _course(found.now),
        "after": None if found.after is None else _course(found.after),
        "speedup": found.speedup.speedup if found.after else None,
        "reduction": found.speedup.reduction if found.after else None,
        "comm_reduction": _reduction(found),
        "ceiling_speedup": found.speedup.limit,
        "bubble": None
        if bubble is None
        else {
            "makespan_s": bubble.makespan,
            "ideal_s": bubble.ideal,
            "bubble_s": bubble.bubble,
            "over_ideal": bubble.over_ideal,
            "over_total": bubble.over_total,
        },
        "sensitivity": [_effect(effect) for effect in found.effects],
        "choices": [_effect(effect) for effect in found.choices],
        "best_buckets": found.best_buckets,
        "best_step_s": found.best_step,
        "most_buckets": found.most_buckets,
        "least_s": found.least,
        "naive_step_s": naive,
        "target_s": found.target,
        "target_is": None if found.target is None else "communication" if found.budget else "step",
        "reached": [asdict(row) for row in found.reached],
        "premises": list(found.words),
    }


def _reduction(found: Answer) -> float | None:
    if found.after is None or not found.now.comm:
        return None
    return float(1 - found.after.comm / found.now.comm)


def _course(found: Stepped) -> dict[str, Any]:
    return {
        "step_s": float(found.step),
        "compute_s": float(found.compute),
        "compute_end_s": float(found.compute_end),
        "update_s": float(found.update),
        "comm_s": float(found.comm),
        "comm_end_s": float(found.comm_end),
        "exposed_s": float(found.exposed),
        "hidden_s": float(found.hidden),
        "slowed_s": float(found.slowed),
        "slack_s": float(found.slack),
        "ceiling_s": float(found.ceiling),
        "buckets": [{name: float(value) for name, value in asdict(bucket).items()} for bucket in found.buckets],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return asdict(effect)
