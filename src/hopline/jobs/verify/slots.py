"""Vector cases of request slots: event by event, in the long run, and with a serial link.

What belongs here: naming, as in ``kinds``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hopline.jobs.verify.inputs import Inputs, number, optional, whole
from hopline.machine.slots import Slots
from hopline.model.slots import limits
from hopline.sim.slots import simulate_slots
from hopline.sim.slots_steady import steady

Outputs = dict[str, Any]


def _asked(inputs: Inputs) -> Slots:
    return Slots(
        size=number(inputs, "op_bytes"),
        turnaround=number(inputs, "latency_s", 0.0),
        count=_counted(inputs, "slots"),
        issue=number(inputs, "issue_interval_s", 0.0),
        poll=number(inputs, "poll_interval_s", 0.0),
        batch=_counted(inputs, "batch_per_poll"),
        first_poll=optional(inputs, "first_poll_s"),
    )


def _counted(inputs: Inputs, key: str) -> int | None:
    """A whole number; absent or null is no limit."""
    return None if inputs.get(key) is None else whole(inputs, key)


def _sim(inputs: Inputs) -> Outputs:
    found = simulate_slots(_asked(inputs), whole(inputs, "n_ops"))
    return {
        "submit_s": found.submit.tolist(),
        "complete_s": found.complete.tolist(),
        "release_s": found.release.tolist(),
        "transfer_end_s": found.transfer_end,
        "release_end_s": found.release_end,
        "average_throughput_bytes_per_s": found.average,
    }


def _steady(inputs: Inputs) -> Outputs:
    asked = _asked(inputs)
    rate, bounds = steady(asked).rate, {limit.name: limit.rate for limit in limits(asked)}
    return {
        "ops_per_s": rate,
        "bytes_per_s": None if rate is None else rate * asked.size,
        "limit_issue_ops_per_s": bounds.get("issue"),
        "limit_completion_ops_per_s": bounds.get("completions"),
    }


def _concurrency(inputs: Inputs) -> Outputs:
    asked = Slots(
        size=number(inputs, "payload_bytes"),
        turnaround=number(inputs, "turnaround_s", 0.0),
        count=_counted(inputs, "in_flight"),
        bandwidth=optional(inputs, "link_bytes_per_s"),
    )
    found = simulate_slots(asked, whole(inputs, "transactions"))
    return {"end_s": found.release_end, "last_injected_s": found.injected, "average_bytes_per_s": found.average}


SLOT_KINDS: dict[str, Callable[[Inputs], Outputs]] = {
    "slots_sim": _sim,
    "slots_steady": _steady,
    "concurrency_event": _concurrency,
}
"""Kind of case -> its inputs -> its outputs."""
