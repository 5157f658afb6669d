"""What the second founding document says of a step, its overlap and its pipeline: the calls that work the figures out.

What belongs here: the document's own example (20 ms of compute, 2 ms of update) through ``model.step``, beside the mistakes.
"""

from __future__ import annotations

from hopline.jobs.verify.figures import Figure, plain, seconds
from hopline.model import amdahl, step
from hopline.model.bubble import bubble
from hopline.model.solving import edge
from hopline.quantity import size, time
from hopline.sim.stages import simulate_stages

COMPUTE, UPDATE, READY = time("20ms"), time("2ms"), time("17ms")
RING, HIERARCHY, WINDOWED = time("7.6ms"), time("1.3ms"), time("2.3ms")
EXACT_RING = 2 * 15 / 16 * size("192MiB") / 50e9
EXACT_HIERARCHY = 2 * 7 / 8 * size("192MiB") / 450e9 + size("24MiB") / 50e9
EXACT_WINDOWED = 2 * 7 / 8 * size("192MiB") / 450e9 + time("1.536ms")
BUCKETS = 8
_FROM = time("8ms")
"""When the backward pass begins, of which eight buckets are ready from 9.5 to 20 ms."""


def serial() -> tuple[Figure, ...]:
    """A step without overlap, and its parts."""
    found = step.serial(COMPUTE, RING, UPDATE)
    return seconds("20 + 7.6 + 2 ms", float(found.step)), plain(
        "communication in it, %", 100 * float(found.comm / found.step)
    )


def overlapped() -> tuple[Figure, ...]:
    """One collective at 17 ms, and the same in buckets."""
    return (
        seconds("one at 17 ms, 7.6 ms", float(step.overlapped(COMPUTE, READY, RING, UPDATE).step)),
        seconds("in 8 buckets ready 9.5 to 20 ms", _bucketed()),
        seconds("the last of them ready at", float(step.evenly(COMPUTE, _FROM, BUCKETS)[-1])),
    )


def _bucketed() -> float:
    ready = step.evenly(COMPUTE, _FROM, BUCKETS)
    return float(step.bucketed(COMPUTE, ready, [RING / BUCKETS] * BUCKETS, UPDATE).step)


def speedup() -> tuple[Figure, ...]:
    """With everything else, and with compute alone."""
    right, wrong = (amdahl.after(other, RING, HIERARCHY) for other in (COMPUTE + UPDATE, COMPUTE))
    return (
        plain("T_c = compute and update", right.speedup),
        plain("T_c = compute alone", wrong.speedup),
        plain("s", RING / HIERARCHY),
        plain("ceiling", right.limit),
    )


def gains() -> tuple[Figure, ...]:
    """Rounded and exact communication."""
    told = amdahl.after(COMPUTE + UPDATE, RING, HIERARCHY)
    exact = amdahl.after(COMPUTE + UPDATE, EXACT_RING, EXACT_HIERARCHY)
    return (
        plain("communication less, %", 100 * (told.part_reduction or 0.0)),
        plain("step less, %", 100 * (told.reduction or 0.0)),
        plain("times as fast", told.speedup),
        plain("exact: communication less, %", 100 * (exact.part_reduction or 0.0)),
        plain("exact: step less, %", 100 * (exact.reduction or 0.0)),
        plain("exact: times as fast", exact.speedup),
    )


def three() -> tuple[Figure, ...]:
    """Ring, hierarchy, and a window of requests."""
    told = zip(("ring", "hierarchy", "window"), (RING, HIERARCHY, WINDOWED), strict=True)
    exact = zip(("ring", "hierarchy", "window"), (EXACT_RING, EXACT_HIERARCHY, EXACT_WINDOWED), strict=True)
    return (
        *(seconds(name, float(step.serial(COMPUTE, comm, UPDATE).step)) for name, comm in told),
        *(seconds(f"exact {name}", float(step.serial(COMPUTE, comm, UPDATE).step)) for name, comm in exact),
    )


def hidden() -> tuple[Figure, ...]:
    """The overlapped step, and what it is where a premise breaks."""
    return (
        seconds("1.3 ms at 17 ms", float(step.overlapped(COMPUTE, READY, HIERARCHY, UPDATE).step)),
        seconds("ready only at 20 ms", float(step.serial(COMPUTE, HIERARCHY, UPDATE).step)),
        seconds("ring at 17 ms", float(step.overlapped(COMPUTE, READY, RING, UPDATE).step)),
        seconds("ring in 8 buckets", _bucketed()),
    )


def partly() -> tuple[Figure, ...]:
    """5 ms at 17 ms: not all of it is hidden, and yet it gains."""
    found = step.overlapped(COMPUTE, READY, time("5ms"), UPDATE)
    return (
        seconds("5 ms at 17 ms", float(found.step)),
        seconds("without overlap", float(step.serial(COMPUTE, time("5ms"), UPDATE).step)),
        seconds("hidden of it", float(found.hidden)),
    )


def budget() -> tuple[Figure, ...]:
    """The longest collective that is hidden whole, solved backwards."""

    def hides(comm: float) -> bool:
        return not step.overlapped(COMPUTE, READY, comm, UPDATE).exposed

    return (seconds("longest at 17 ms without a longer step", edge(hides, 0.0, COMPUTE) or 0.0),)


def last_bucket() -> tuple[Figure, ...]:
    """The mistake and the course."""
    ready = step.evenly(COMPUTE, _FROM, BUCKETS)
    return (
        seconds("wrong: max(20, 9.5 + 7.6) + 2 ms", max(COMPUTE, ready[0] + RING) + UPDATE),
        seconds("right: 8 buckets", _bucketed()),
    )


def bubbles() -> tuple[Figure, ...]:
    """8 stages, 32 micro-batches, by closed form and by the schedule itself."""
    found, cut = (bubble(8, 32, 1e-3, 2e-3, v) for v in (1, 2))
    gone_through = simulate_stages(8, 32, 1e-3, 2e-3, 2)
    return (
        plain("(p-1)/m: over the work, %", 100 * found.over_ideal),
        plain("(p-1)/(m+p-1): over the time, %", 100 * found.over_total),
        plain("2 chunks: over the work, %", 100 * cut.over_ideal),
        plain("2 chunks, schedule gone through, %", 100 * gone_through.over_ideal),
    )
