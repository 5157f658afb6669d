"""A step from question to answer: what of its communication is exposed, what a change brings, what would reach a target.

What belongs here: composing ``model.step``, Amdahl, sensitivity and solving over the parts of a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from hopline.errors import InputError
from hopline.jobs.step_inputs import changed, inputs
from hopline.jobs.step_parts import BACKWARD, Parts
from hopline.model import amdahl, step
from hopline.model.sensitivity import Input, ranked
from hopline.model.solving import edge
from hopline.quantity import counted, exact, show
from hopline.records.step import Answer, Effect, Reached, Stepped

BESIDE = 8
"""Buckets, where it is asked what overlap would bring to a step that has none."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is aimed at: seconds of the step, or with ``budget`` of communication alone."""

    seconds: float
    budget: bool = False

    def of(self, parts: Parts) -> float:
        """The seconds that count."""
        if not self.budget:
            return parts.seconds()
        return math.fsum(price.time for price in parts.sending.parts(parts.amounts()))


def answer(
    parts: Parts, after: Parts | None = None, aim: Aim | None = None, words: Iterable[str] = (), search: bool = False
) -> Answer:
    """Everything about a step, and about the same with other communication.

    ``search``: look for the best number of buckets. Raises InputError.
    """
    now = parts.stepped()
    then = None if after is None else after.stepped()
    last = parts if after is None else after
    best = best_buckets(last) if search and last.cut and last.sending.size else None
    return Answer(
        now,
        then,
        amdahl.after(float(now.ceiling), float(now.cost), float(then.cost) if then else 0.0),
        parts.pipe.bubble(parts.compute) if parts.pipe else None,
        ranked(inputs(last), lambda name, value: changed(last, name, value).seconds()),
        tuple(_choices(last)),
        aim.seconds if aim else None,
        aim.budget if aim else False,
        tuple(_reached(last, aim)) if aim else (),
        best,
        float(_in_buckets(last, best).stepped().step) if best else None,
        (*words, *_premises(last, last.stepped())),
    )


# --- backwards


def _reached(parts: Parts, aim: Aim) -> Iterable[Reached]:
    """Every input alone. One that has no say in what is aimed at is left out."""
    for name, told in inputs(parts).items():
        seconds = partial(_seconds, parts, aim, name)
        good, bad = _extremes(parts, name, told)
        if seconds(good) == seconds(bad):
            continue
        value = edge(lambda value, seconds=seconds: seconds(value) <= aim.seconds, good, bad)  # type: ignore[misc]
        if value is not None and name == "requests in flight":
            value = float(math.ceil(value))
        yield Reached(name, told.dimension, told.value, value, seconds(good))
    if parts.cut and not aim.budget:
        yield from _buckets_reached(parts, aim)


_FAR = 1e6
"""How many times better or worse an input is looked at."""


def _extremes(parts: Parts, name: str, told: Input) -> tuple[float, float]:
    """An input as good and as bad as it is looked at."""
    most, least = told.value * _FAR, told.value / _FAR
    if told.more:
        return most, least
    if name == "bytes sent":
        return float(len(parts.amounts()) if parts.cut else 0), most
    if name.startswith("gradients"):
        return 0.0, parts.whole
    return (least if name == "compute" else told.floor), most


def _seconds(parts: Parts, aim: Aim, name: str, value: float) -> float:
    """What is aimed at, with one input changed; without end where there can be no such step."""
    return _allowed(lambda value: aim.of(changed(parts, name, value)), value)


def _buckets_reached(parts: Parts, aim: Aim) -> Iterable[Reached]:
    """The fewest buckets that reach it, and their size."""
    taken = _step_in(parts)
    counts = _counts(parts)
    fewest = next((count for count in counts if taken(count) <= aim.seconds * (1 + 1e-12)), None)
    best = min(map(taken, counts))
    yield Reached("buckets", "count", len(parts.amounts()), fewest, best)
    if parts.sending.size:
        size = float(math.ceil(parts.sending.size / fewest)) if fewest else None
        yield Reached("bucket size", "size", max(parts.amounts()), size, best)


def _allowed(seconds: Callable[[float], float], value: float) -> float:
    """Seconds; without end where there can be no such step."""
    try:
        return seconds(value)
    except InputError:
        return math.inf


# --- what is counted


def _choices(parts: Parts) -> Iterable[Effect]:
    """Half and twice the buckets, micro-batches and chunks, the better of both first."""
    counts: dict[str, tuple[int, Callable[[int], Parts]]] = {}
    if parts.cut:
        counts["buckets"] = (len(parts.amounts()), lambda n: _in_buckets(parts, n))
    now = parts.seconds()
    if not parts.cut and parts.ready is None and now > float(parts.stepped().ceiling):
        then = float(replace(parts, buckets=BESIDE).stepped().step)
        yield Effect("buckets beside compute", "count", 1, BESIDE, then, 1, now, (now - then) / now, 0.0)
    pipe = parts.pipe
    if pipe is not None:
        counts["micro-batches"] = (pipe.microbatches, lambda n: replace(parts, pipe=replace(pipe, microbatches=n)))
        if pipe.stages > 1:
            counts["chunks of a stage"] = (pipe.virtual, lambda n: replace(parts, pipe=replace(pipe, virtual=n)))
    for name, (count, at) in counts.items():
        tried = [(time, n) for n in (max(1, count // 2), 2 * count) if (time := _time(at, n)) < math.inf]
        if tried:
            (better, n), (worse, m) = min(tried), max(tried)
            yield Effect(name, "count", count, n, better, m, worse, (now - better) / now, (worse - now) / now)


def _in_buckets(parts: Parts, count: int) -> Parts:
    """In as many, with gradients coming from the same time on."""
    backward = float(exact(parts.whole) - exact(parts.begin(parts.whole, parts.amounts())))
    return replace(parts, buckets=count, bucket=None, ready=None, backward=backward)


def _time(at: Callable[[int], Parts], count: int) -> float:
    return _allowed(lambda n: at(int(n)).seconds(), count)


def best_buckets(parts: Parts) -> int:
    """The number of equal buckets with the shortest step; the first where several are alike. Contention counts."""
    taken, counts = _step_in(parts), _counts(parts)
    best = min(counts, key=lambda count: (taken(count), count))
    place = counts.index(best)
    if parts.sending.price is not None:
        return best
    beside = range(counts[max(0, place - 1)], counts[min(len(counts) - 1, place + 1)] + 1)
    return min(beside, key=lambda count: (taken(count), count))


def _counts(parts: Parts) -> list[int]:
    """Numbers of buckets to try: powers of 2 where a collective is priced for each, else all up to 64, then ever more."""
    if parts.sending.price is not None:
        return [1 << power for power in range(11)]
    return [*range(1, 65), *(round(64 * 1.1**i) for i in range(1, 30))]


def _step_in(parts: Parts) -> Callable[[int], float]:
    """Number of equal buckets -> seconds of the step, to the picosecond: less is the noise of floats."""
    whole, amounts = parts.whole, parts.amounts()
    begin, size = parts.begin(whole, amounts), parts.sending.size or 1.0

    def taken(count: int) -> float:
        one = parts.sending.parts([size / count])[0].time
        ready = [begin + (whole - begin) * i / count for i in range(1, count)]
        return round(step.quick(whole, [*ready, whole], [one] * count, parts.update, parts.slow), 12)

    return taken


# --- what is taken for granted


def _premises(parts: Parts, now: Stepped) -> Iterable[str]:
    count = len(now.buckets)
    if not parts.cut and parts.ready is None and now.cost:
        yield f"what {BESIDE} buckets would bring beside compute leaves out their start-ups and what both cost each other"
    if parts.pipe is not None:
        yield "a backward pass takes twice as long as a forward pass, and work that is cut finer is not slower for it"
    if parts.ready is not None:
        yield "where compute changes, gradients are ready as early in it as before"
    if count == 1 and parts.ready is not None and parts.ready < parts.whole:
        late = float(replace(parts, ready=parts.whole).stepped().step)
        yield (
            f"every gradient of the collective is there at {show(parts.ready, 'time')} of {show(parts.whole, 'time')}; "
            f"where the last one comes as compute ends, nothing is hidden and the step takes {show(late, 'time')}"
        )
    if count > 1 and parts.ready is None and parts.backward is None:
        of = f" of the last of {parts.pipe.microbatches} micro-batches" if parts.pipe else ""
        share = f"{100 * float(BACKWARD):.0f} % of compute{of}"
        yield f"gradients come in the last {share}, evenly: tell --backward where you know better"
    if count > 1 and parts.slow.compute == parts.slow.comm == 1:
        yield "compute and communication do not slow each other: tell --slow-compute and --slow-comm where you know"
    if parts.sending.seconds is not None and count > 1:
        yield (
            f"cut in {counted(count, 'bucket')} communication takes as long as in one: give --size, --latency and "
            "--bandwidth for start-ups and the best number"
        )


def naive(now: Stepped) -> float:
    """max(compute, first ready + all of communication) + update: what overlooks that the last bucket waits for compute."""
    first = min(bucket.ready for bucket in now.buckets)
    return float(max(now.compute, first + now.comm) + now.update)
