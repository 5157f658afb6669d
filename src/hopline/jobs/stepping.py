"""A step from question to answer: what of its communication is exposed, what a change brings, what would reach a target.

What belongs here: composing ``model.step``, Amdahl, sensitivity and solving over the parts of a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from hopline.jobs import bucket_counts
from hopline.jobs.step_inputs import changed, inputs
from hopline.jobs.step_parts import BACKWARD, Parts
from hopline.jobs.step_solving import Aim, allowed, reached
from hopline.model import amdahl
from hopline.model.sensitivity import ranked
from hopline.quantity import counted, show
from hopline.records.step import Answer, Effect, Stepped

BESIDE = 8
"""Buckets, where it is asked what overlap would bring to a step that has none."""


def answer(
    parts: Parts, after: Parts | None = None, aim: Aim | None = None, words: Iterable[str] = (), search: bool = False
) -> Answer:
    """Everything about a step, and about the same with other communication.

    ``search``: look for the best number of buckets. Raises InputError.
    """
    now = parts.stepped()
    then = None if after is None else after.stepped()
    last = parts if after is None else after
    best = bucket_counts.best(last) if search and last.cut and last.sending.size else None
    return Answer(
        now,
        then,
        amdahl.after(float(now.ceiling), float(now.cost), float(then.cost) if then else 0.0),
        parts.pipe.bubble(parts.compute) if parts.pipe else None,
        ranked(inputs(last), lambda name, value: changed(last, name, value).seconds()),
        tuple(_choices(last)),
        aim.seconds if aim else None,
        aim.budget if aim else False,
        tuple(reached(last, aim)) if aim else (),
        best,
        bucket_counts.exactly(last, best) if best else None,
        (*words, *_premises(last, last.stepped())),
        bucket_counts.most(last) if best else None,
        _least(last),
    )


def _least(parts: Parts) -> float | None:
    """The step with lower bounds of collectives, where they have such."""
    sending = parts.sending
    if sending.price is None or all(sending.price(amount).least is None for amount in set(parts.amounts())):
        return None
    return replace(parts, sending=replace(sending, lower=True)).seconds()


# --- what is counted


def _choices(parts: Parts) -> Iterable[Effect]:
    """Half and twice the buckets, micro-batches and chunks, the better of both, where it is better, first."""
    counts: dict[str, tuple[int, Callable[[int], Parts]]] = {}
    if parts.cut:
        counts["buckets"] = (len(parts.amounts()), lambda n: bucket_counts.in_buckets(parts, n))
    now = parts.seconds()
    if not parts.cut and parts.ready is None and now > float(parts.stepped().ceiling):
        then = _time(lambda n: replace(parts, buckets=n), BESIDE)
        if then < math.inf:
            yield Effect("buckets beside compute", "count", 1, BESIDE, then, 1, now, (now - then) / now, 0.0)
    pipe = parts.pipe
    if pipe is not None:
        counts["micro-batches"] = (pipe.microbatches, lambda n: replace(parts, pipe=replace(pipe, microbatches=n)))
        if pipe.stages > 1:
            counts["chunks of a stage"] = (pipe.virtual, lambda n: replace(parts, pipe=replace(pipe, virtual=n)))
    for name, (count, at) in counts.items():
        others = {max(1, count // 2), 2 * count} - {count}
        tried = [(now, count), *((time, n) for n in others if (time := _time(at, n)) < math.inf)]
        (better, n), (worse, m) = min(tried), max(tried)
        if len(tried) > 1:
            yield Effect(name, "count", count, n, better, m, worse, (now - better) / now, (worse - now) / now)


def _time(at: Callable[[int], Parts], count: int) -> float:
    return allowed(lambda: at(count).seconds())


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
