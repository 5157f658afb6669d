"""What steps of a schedule cost on a machine when hopline's executor takes them.

What belongs here: the figures, how they stand among a machine's operations, and reading them between sizes. What they make
of a schedule is ``sim``; how they are measured is ``jobs.probing``.

A step is a message, both ways or one, with or without adding up what came, or a copy. Its cost is measured in the state in
which collectives meet it: buffers lately filled, code not lately run. So it is more than that of a loop which sends the
same bytes a thousand times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hopline.curve import Floats
from hopline.errors import MachineError
from hopline.machine.parts import Operation
from hopline.quantity import NON_NEGATIVE

STEPS = ("send", "exchange", "send-add", "exchange-add", "copy")
SEND, EXCHANGE, SEND_ADD, EXCHANGE_ADD, COPY = STEPS
TWICE = "-twice"
"""After the name of a step: two of them, one after the other."""
OPERATION = "operation"
"""An operation of the executor without a byte or a peer."""
_OURS = "executor-"
_AGAIN = "measure them again (hopline measure --what executor)"
SMALL = 4096
"""Bytes up to which two steps are measured beside one, to tell what only the first costs."""


def benchmark(transport: str, what: str) -> str:
    """What samples and a machine's operations call a figure."""
    return f"{_OURS}{transport}-{what}"


def is_executors(name: str, transport: str = "") -> bool:
    """Whether a benchmark's name is that of such a figure, over this transport where one is said."""
    return name.startswith(benchmark(transport, "") if transport else _OURS)


@dataclass(frozen=True, slots=True)
class Executor:
    """Figures of one transport.

    Attributes
    ----------
    transport
        What carries the messages.
    operation
        Seconds of an operation without a byte or a peer: the executor's own.
    first
        Seconds that setting out and the first message cost beyond what the same message costs later.
    steps
        Step -> sizes in bytes and seconds of one step with all that comes before and after it, shape (sizes,) each.
    """

    transport: str
    operation: float
    first: float
    steps: Mapping[str, tuple[Floats, Floats]]

    def __post_init__(self) -> None:
        for name in ("operation", "first"):
            NON_NEGATIVE.check(f"executor's {name}", getattr(self, name))

    @property
    def largest(self) -> float:
        """Bytes of the largest step that was measured of all kinds."""
        return min(float(sizes[-1]) for sizes, _ in self.steps.values())

    def time(self, step: str, size: Floats) -> Floats:
        """Seconds that one more step of so many bytes takes: on the chord between two sizes that were measured.

        Above the largest the last chord goes on; below the smallest its time stands.
        """
        sizes, times = self.steps[step]
        inside = np.interp(size, sizes, times)
        rate = (times[-1] - times[-2]) / (sizes[-1] - sizes[-2])
        beyond = times[-1] + np.maximum(size - sizes[-1], 0.0) * max(rate, 0.0)
        whole = np.where(size > sizes[-1], beyond, inside)
        found: Floats = np.maximum(whole - (0.0 if step == COPY else self.first), 0.0)
        return found

    def adding(self, both: bool, size: Floats) -> Floats:
        """Seconds that adding up so many bytes takes, after an exchange or after a message one way."""
        added, plain = (EXCHANGE_ADD, EXCHANGE) if both else (SEND_ADD, SEND)
        found: Floats = np.maximum(self.time(added, size) - self.time(plain, size), self.operation)
        return found


def executor_of(operations: Mapping[str, Operation], transport: str) -> Executor | None:
    """The executor's figures among a machine's operations; None: it has none for this transport.

    Raises MachineError where some of them are missing.
    """
    known = {operation.benchmark: operation for operation in operations.values()}
    ours = [name for name in known if is_executors(name, transport)]
    if not ours:
        return None
    wanted = [benchmark(transport, step) for step in STEPS]
    if other := [name for name in ours if known[name].measure != "time"]:
        raise MachineError(f"operation {other[0]} is of measure {known[other[0]].measure!r}: expected 'time'")
    if benchmark(transport, OPERATION) not in known:
        raise MachineError(f"the machine has {ours[0]} and no {benchmark(transport, OPERATION)}: {_AGAIN}")
    if missing := [name for name in wanted if name not in known or len(known[name].points) < 2]:
        raise MachineError(
            f"the machine has no {missing[0]} of two sizes or more, and has others of the executor: {_AGAIN}"
        )
    steps = {step: _columns(known[name]) for step, name in zip(STEPS, wanted, strict=True)}
    first = [_first(known, transport, step) for step in (SEND, EXCHANGE)]
    own = known[benchmark(transport, OPERATION)].points[0][1]
    return Executor(transport, own, float(np.median(np.concatenate(first))), steps)


def _columns(operation: Operation) -> tuple[Floats, Floats]:
    points: Floats = np.array(operation.points)
    return points[:, 0], points[:, 1]


def _first(known: Mapping[str, Operation], transport: str, step: str) -> Floats:
    """By size: one step, less what a second one adds to it."""
    once = dict(known[benchmark(transport, step)].points)
    twice = known.get(benchmark(transport, step + TWICE))
    found = [2 * once[size] - time for size, time in (twice.points if twice else ()) if size in once]
    least: Floats = np.maximum(np.array(found or [0.0]), 0.0)
    return least
