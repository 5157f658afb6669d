"""What the second founding document says of hand-over, congestion and the critical path, beside what the model gives.

What belongs here: the rows of that document. Where a row waits for a model that hopline has not got, it says which; the
part that can be worked out is.
"""

from __future__ import annotations

from dataclasses import replace

from hopline.jobs.verify import founding_overlap as overlap
from hopline.jobs.verify.figures import Figure, Statement, plain, rate, seconds, volume
from hopline.machine.slots import Slots
from hopline.model import forwarding, limits
from hopline.quantity import bandwidth, size, time
from hopline.sim.slots import simulate_slots
from hopline.sim.slots_steady import steady

NIC = bandwidth("400Gb/s")
KiB8, SHARD = size("8KiB"), size("24MiB")
WINDOW = limits.concurrency(128, 256, time("2us"), NIC, SHARD)
"""128 requests of 256 bytes in flight, 2 µs each, on a 400 Gb/s link, for a shard of 24 MiB."""

QUEUE = Slots(KiB8, time("5us"), 16, time("1us"), time("20us"), 4)
"""16 slots, a request of 8 KiB every 1 µs at most, 5 µs in flight, 4 completions every 20 µs."""


def _ends() -> tuple[Figure, ...]:
    figures: list[Figure] = []
    for count in (16, 8):
        found = simulate_slots(replace(QUEUE, count=count), 16)
        figures.append(seconds(f"transfer end, {count} slots", found.transfer_end))
        figures.append(seconds(f"release end, {count} slots", found.release_end))
    return tuple(figures)


def _releases() -> tuple[Figure, ...]:
    counts = (32, 16, 8, 4, 3, 2, 1)
    return tuple(
        seconds(f"release end, {n} slots", simulate_slots(replace(QUEUE, count=n), 16).release_end) for n in counts
    )


def _quantised() -> tuple[Figure, ...]:
    wide = replace(QUEUE, batch=32)
    return (
        plain("a second, batch of 4", steady(QUEUE).rate),
        plain("a second, batch of 32", steady(wide).rate),
        plain("a second, batch of 32, issue at once", steady(replace(wide, issue=0.0)).rate),
    )


def _at_once() -> tuple[Figure, ...]:
    found = simulate_slots(replace(QUEUE, poll=0.0, batch=None, count=8), 16)
    return seconds("release end, 8 slots", found.release_end), seconds("polled", _ends()[3].value)


def _completions() -> tuple[Figure, ...]:
    return (rate("200 000/s of 8 KiB", limits.concurrency(1, KiB8, time("5us"), NIC).throughput),)


def _target() -> tuple[Figure, ...]:
    needs = limits.target_rate_needs(NIC, KiB8, time("5us"))
    return (
        plain("operations a second", needs.rate),
        seconds("between two", needs.interval or 0.0),
        rate("cap of an issue every 1 µs", limits.concurrency(1, KiB8, time("1us"), NIC).throughput),
        plain("in flight at 5 µs", needs.concurrency),
        plain("slots", needs.in_flight),
    )


def _fill() -> tuple[Figure, ...]:
    return (seconds("256 KiB at 50 KB/µs", forwarding.direct(size("256KiB"), 0, bandwidth("50KB/us"))),)


def _unit() -> tuple[Figure, ...]:
    right, printed = bandwidth("50KB/us"), bandwidth("50000KB/us")
    return (
        rate("50 KB/µs", right),
        rate("50000 KB/µs as printed", printed),
        seconds("256 KiB at that", forwarding.direct(size("256KiB"), 0, printed)),
    )


def _window() -> tuple[Figure, ...]:
    return rate("128 x 256 B / 2 µs", WINDOW.throughput), plain("of 50 GB/s, %", 100 * WINDOW.fraction)


def _shard() -> tuple[Figure, ...]:
    return (seconds("24 MiB through that window", WINDOW.time or 0.0),)


def _transactions() -> tuple[Figure, ...]:
    needs = limits.target_rate_needs(NIC, 256, time("2us"))
    return (
        plain("in flight, exact", WINDOW.needed_exact),
        plain("in flight", WINDOW.needed),
        plain("starts a second", needs.rate),
        seconds("between two", needs.interval or 0.0),
        plain("in flight with 4 KiB", limits.target_rate_needs(NIC, 4096, time("2us")).in_flight),
    )


def _decode() -> tuple[Figure, ...]:
    return (
        volume("5120 x bf16, one all-reduce", size("5120 x bf16")),
        volume("two a layer", size("2x5120 x bf16")),
    )


def _prefill() -> tuple[Figure, ...]:
    return (
        plain("elements of 4096x5120", size("4096x5120 x int8")),
        volume("bytes in bf16", size("4096x5120 x bf16")),
    )


STATEMENTS: tuple[Statement, ...] = (
    Statement("2.1", "serial step: the sum of its parts", "sum", "RIGHT", "nothing overlaps", overlap.serial),
    Statement(
        "2.2", "step with overlap", "max(T_c, T_ready+T_n)+T_u", "COND",
        "one collective, ready at T_ready, no contention; buckets must be simulated", overlap.overlapped,
    ),
    Statement(
        "2.3", "speed-up when communication is s times faster", "(T_c+T_n)/(T_c+T_n/s)", "COND",
        "T_c is everything else: compute and update", overlap.speedup,
    ),
    Statement(
        "2.4", "the example's gains", "-83 %, -21 %, 1.27x", "RIGHT", "83 % less time, not 83 % faster", overlap.gains
    ),
    Statement(
        "2.5", "16 and 8 slots, 16 operations", "20/80 µs, 48/80 µs", "RIGHT",
        "polls every 20 µs; slots come back at polls", _ends,
    ),
    Statement(
        "2.6", "doubling the slots never changes the release", "80 µs", "COND",
        "from as many slots as a batch on", _releases,
    ),
    Statement("2.7", "200 000 completions/s of 8 KiB", "1.64 GB/s", "RIGHT", "payload times rate", _completions),
    Statement(
        "2.8", "what 50 GB/s asks for", "6.1 M/s, 0.164 µs", "RIGHT",
        "also an issue interval as short, and the slots to hold it", _target,
    ),
    Statement(
        "2.9", "completion rate or payload sets the throughput", "", "APPROX",
        "incomplete: min of issue, batch per poll and slots per cycle", _quantised,
    ),
    Statement("2.10", "event-driven release is faster", "", "RIGHT", "slots come back at once", _at_once),
    Statement("2.11", "queue grows by λ - B", "dQ/dt = λ - B", "RIGHT", "neither empty nor full", needs="Flows"),
    Statement(
        "2.12", "filling a 512 KiB buffer", "5.2 µs, 1 MB, 738 KB", "RIGHT", "fluid, constant rates", _fill, "Flows"
    ),
    Statement("2.13", "256 KiB / 50000 KB/µs", "5.2 µs", "WRONG", "50 KB/µs (50000 B/µs)", _unit),
    Statement(
        "2.14", "feedback must act within Q_free/(λ-B)", "Q_free/(λ-B)", "COND",
        "λ > B, counted until the lower rate arrives, and that rate is at most B", needs="Flows",
    ),
    Statement(
        "2.15", "backlog at 50 µs feedback", "2.5 MB", "WRONG",
        "excess arrived, not held: the buffer is full and drops", needs="Flows",
    ),
    Statement("2.16", "time to drain", "52 µs, 72 µs", "RIGHT", "for 20 µs feedback", needs="Flows"),
    Statement("2.17", "λ = B does not drain", "", "RIGHT", "λ < B is needed", needs="Flows"),
    Statement(
        "2.18", "pause, end-to-end control, cyclic waits", "", "QUALITATIVE",
        "leaves out headroom, head-of-line blocking, deadlock made by pauses", needs="Flows",
    ),
    Statement(
        "2.19", "ring of 192 MiB over 16", "7.6 ms", "APPROX",
        "holds with some α on each of the 30 rounds, not without", needs="Schedules",
    ),
    Statement(
        "2.20", "hierarchical all-reduce", "1.3 ms", "COND",
        "depends on the inner bandwidth; phases in sequence, one NIC a card", needs="Schedules",
    ),
    Statement(
        "2.21", "hierarchy against ring", "7.6 against 1.3 ms", "WRONG",
        "misleading: one NIC against eight; eight rings are faster than the hierarchy", needs="Schedules",
    ),
    Statement("2.22", "the three steps", "29.6, 23.3, 24.3 ms", "RIGHT", "arithmetic", overlap.three),
    Statement(
        "2.23", "128 x 256 B in flight, 2 µs", "16.4 GB/s, 33 %", "RIGHT", "the 2 µs do not grow with load", _window
    ),
    Statement(
        "2.24", "24 MiB per card", "1.5 ms, 2.3 ms", "RIGHT", "the total adds the inner phases", _shard, "Schedules"
    ),
    Statement("2.25", "transactions in flight for 50 GB/s", "391", "RIGHT", "Little's law, rounded up", _transactions),
    Statement(
        "2.26", "step with overlap", "22 ms", "COND",
        "every gradient of the collective is there at 17 ms", overlap.hidden,
    ),
    Statement(
        "2.27", "overlap iff T_ready + T_comm <= T_compute", "", "WRONG",
        "that hides all of it; part is hidden whenever T_ready < T_compute", overlap.partly,
    ),
    Statement("2.28", "budget for the collective", "3 ms", "RIGHT", "20 - 17 ms", overlap.budget),
    Statement(
        "2.29", "decode: an all-reduce twice a layer", "10 KiB", "COND",
        "batch 1; start-up dominates", _decode, "Schedules",
    ),
    Statement("2.30", "prefill: m x h at MB level", "m x h", "WRONG", "elements: bytes need the data type", _prefill),
    Statement("2.31", "1024 cards; the summary", "", "QUALITATIVE", "agrees with the rows above"),
    Statement("2.32", "figures called measured", "", "WRONG", "they are arithmetic, nothing was measured"),
)  # fmt: skip
"""One row for each statement, in the document's order."""
