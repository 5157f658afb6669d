"""What of a step can be changed: its inputs by name, and the step with one of them at another value.

What belongs here: the table of inputs, for sensitivity and for solving backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from hopline.jobs.step_parts import Parts, Sending, times
from hopline.model.sensitivity import Input
from hopline.model.step import Slow
from hopline.quantity import Dimension, exact


def inputs(parts: Parts) -> dict[str, Input]:
    """What can be changed, by name, with the value that it has."""
    sending, slow = parts.sending, parts.slow
    told: dict[str, Input | None] = {
        "compute": Input(parts.compute, "time"),
        "update": _some(parts.update, "time"),
        "communication": None if sending.seconds is None else Input(times(sending.seconds, sending.factor), "time"),
        "bytes sent": None if sending.size is None else Input(sending.size, "size"),
        "bandwidth": None if sending.bandwidth is None else Input(sending.bandwidth, "bandwidth", more=True),
        "latency": _some(sending.latency, "time"),
        "bandwidth of the network": Input(sending.wires, "count", more=True) if sending.price else None,
        "start-ups of the network": Input(sending.starts, "count") if sending.price else None,
        "requests in flight": _some(sending.window.count if sending.window else None, "count", more=True),
        "gradients ready": None if parts.cut else _some(parts.ready, "time"),
        "gradients begin": _some(parts.begin(parts.whole, parts.amounts()), "time") if parts.cut else None,
        "slowdown of compute": Input(slow.compute, "count", floor=1.0) if slow.compute > 1 else None,
        "slowdown of communication": Input(slow.comm, "count", floor=1.0) if slow.comm > 1 else None,
        "time of a hop": _some(parts.pipe.hop if parts.pipe else None, "time"),
    }
    return {name: one for name, one in told.items() if one is not None}


def _some(value: float | None, dimension: Dimension, more: bool = False) -> Input | None:
    return Input(value, dimension, more) if value else None


OWN = frozenset((
    "communication", "bytes sent", "bandwidth", "latency", "bandwidth of the network", "start-ups of the network",
    "requests in flight", "gradients ready", "gradients begin", "slowdown of compute", "slowdown of communication", "buckets",
    "buckets beside compute",
))  # fmt: skip
"""What can change only what communication costs a step."""


def changed(parts: Parts, name: str, value: float) -> Parts:
    """The step with one input at another value. When compute changes, gradients are ready as early in it as before."""
    return _CHANGES[name](parts, value)


def _compute(parts: Parts, value: float) -> Parts:
    changed = replace(parts, compute=value)
    factor = exact(changed.whole) / exact(parts.whole)
    ready, backward = (
        None if time is None else min(float(exact(time) * factor), changed.whole)
        for time in (parts.ready, parts.backward)
    )
    return replace(changed, ready=ready, backward=backward)


def _sending(change: Callable[[Sending, float], Sending]) -> Callable[[Parts, float], Parts]:
    return lambda parts, value: replace(parts, sending=change(parts.sending, value))


def _window(parts: Parts, value: float) -> Parts:
    assert parts.sending.window is not None
    window = replace(parts.sending.window, count=value)
    return replace(parts, sending=replace(parts.sending, window=window))


def _size(parts: Parts, value: float) -> Parts:
    """In as many buckets."""
    told = replace(parts, sending=replace(parts.sending, size=value))
    return replace(told, buckets=len(parts.amounts()), bucket=None) if parts.cut else told


def _hop(parts: Parts, value: float) -> Parts:
    """Gradients are ready as early in all of it as before."""
    assert parts.pipe is not None
    changed = replace(parts, pipe=replace(parts.pipe, hop=value))
    if parts.ready is None:
        return changed
    ready = float(exact(parts.ready) * exact(changed.whole) / exact(parts.whole))
    return replace(changed, ready=min(ready, changed.whole))


def _from(parts: Parts, value: float) -> Parts:
    """At most as compute ends."""
    whole = parts.whole
    return replace(parts, ready=None, backward=float(exact(whole) - exact(min(value, whole))))


_CHANGES: Mapping[str, Callable[[Parts, float], Parts]] = {
    "compute": _compute,
    "update": lambda parts, value: replace(parts, update=value),
    "communication": _sending(lambda sending, value: replace(sending, seconds=value, factor=1.0)),
    "bytes sent": _size,
    "bandwidth": _sending(lambda sending, value: replace(sending, bandwidth=value)),
    "latency": _sending(lambda sending, value: replace(sending, latency=value)),
    "bandwidth of the network": _sending(lambda sending, value: replace(sending, wires=value)),
    "start-ups of the network": _sending(lambda sending, value: replace(sending, starts=value)),
    "requests in flight": _window,
    "gradients ready": lambda parts, value: replace(parts, ready=min(value, parts.whole)),
    "gradients begin": _from,
    "slowdown of compute": lambda parts, value: replace(parts, slow=Slow(value, parts.slow.comm)),
    "slowdown of communication": lambda parts, value: replace(parts, slow=Slow(parts.slow.compute, value)),
    "time of a hop": _hop,
}
