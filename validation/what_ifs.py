"""What-ifs on traces against steps simulated anew with the change: python validation/what_ifs.py

Steps are made up (hopline.jobs.made) and simulated message by message; of each, traces are taken as profilers would, and only
these are given to the what-if. ``plain``: data parallel, 2 to 16 ranks, 1 to 12 buckets, communication from hidden to
exposed, with and without a straggler, half of these slow in one kind of kernel. ``hard``: drawn at random, with pipeline
stages, tensor parallelism, hosts that are in the way, noise of 5 %, clocks 3 ms apart, ends of collectives stamped up to 7 us
late, and whole microseconds in half of the traces. ``contended``: kernels and transfers slow one another down. Leaves with
code 1 where any answer is off by more than 5 % or refused.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from contended import contended

from hopline.curve import Curve
from hopline.jobs.elsewhere import priced_on
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import Made, make, network
from hopline.jobs.made.tracing import Profiling
from hopline.jobs.what_ifs import question, what_ifs
from hopline.records.what_if import WRONG, WhatIfs

TWICE = Curve.line(4e-6, 40e9), Curve.line(1.5e-6, 400e9)
NOTHING = Curve.line(0.0, 1e18), Curve.line(0.0, 1e18)
Errors = dict[str, list[float]]


def plain() -> Iterator[tuple[Job, Profiling]]:
    """72 jobs."""
    number = 0
    for ranks in (2, 4, 8, 16):
        for buckets in (1, 3, 12):
            for size in (8_000_000, 200_000_000, 800_000_000):
                for slow in ({}, {1: 1.3}):
                    number += 1
                    kernels = "gemm_backward" if number % 4 == 0 else ""
                    slowness = {"slow": slow, "slow_in": kernels}
                    job = Job(ranks=ranks, buckets=buckets, gradients=size, noise=0.02, seed=number, **slowness)
                    yield job, Profiling(skew=1e-3, seed=number)


def hard(count: int = 40, seed: int = 11) -> Iterator[tuple[Job, Profiling]]:
    """Drawn at random."""
    draw = Random(seed)
    for number in range(count):
        ranks, stages, tensor = draw.choice((4, 8, 16)), draw.choice((1, 1, 2)), draw.choice((1, 1, 2))
        job = Job(
            ranks=ranks, stages=stages, tensor=tensor, layers=12 * stages, batches=draw.choice((2, 4)) if stages > 1 else 1,
            buckets=draw.choice((1, 2, 4, 6, 12)), gradients=int(10 ** draw.uniform(7, 9)), noise=0.05,
            host=draw.choice((8e-6, 40e-6, 120e-6)), boundary=1 << draw.randrange(18, 25), seed=number,
            activations=1 << draw.randrange(18, 25),
            slow={draw.randrange(ranks): draw.uniform(1.05, 1.5)} if draw.random() < 0.5 else {},
        )  # fmt: skip
        yield job, Profiling(skew=3e-3, seed=number, jitter=7e-6, grain=draw.choice((1, 1000)))


def changes(job: Job) -> dict[str, Made]:
    """Question -> the step made anew with the change."""
    half = replace(job, forward=job.forward / 2, backward=job.backward / 2, update=job.update / 2)
    found = {
        "communication=2": make(job, network(job, *TWICE)), "free": make(job, network(job, *NOTHING)),
        "compute=2": make(half), "host=2": make(replace(job, host=job.host / 2)),
    }  # fmt: skip
    if job.slow:
        found[f"straggler={next(iter(job.slow))}"] = make(replace(job, slow={}))
    if job.tensor == job.stages == 1:
        found["network"] = make(replace(job, algorithm="recursive_doubling"))
    return found


def asked(job: Job, profiling: Profiling, errors: Errors) -> None:
    """All changes of one job."""
    wanted = changes(job)
    price = priced_on(network(job), {"all_reduce": "recursive_doubling"})
    questions = [question(text, price if text == "network" else None) for text in wanted]
    made = make(job, profiling=profiling)
    answers = what_ifs(made.traces, questions)
    note(answers, errors)
    for answer, truth in zip(answers.answers, wanted.values(), strict=True):
        errors[answer.name].append(answer.after / truth.truth.makespan - 1)
        errors["(what the change really brings)"].append(1 - truth.truth.makespan / made.truth.makespan)


def beside(job: Job, factors: tuple[float, float], errors: Errors) -> None:
    """Changes of a step in which kernels and transfers slow one another down by ``factors``."""
    slow = np.repeat(np.array(factors)[:, None], job.ranks, 1)
    seen, _ = contended(make(job).traces, slow)
    answers = what_ifs(seen, [question("free"), question("communication=2")])
    note(answers, errors)
    errors["kernels' slowdown"].append(answers.contention[0].factor / factors[0] - 1)
    nothing = make(job, network(job, *NOTHING)).truth.makespan
    twice = contended(make(job, network(job, *TWICE)).traces, slow)[1]
    for answer, truth in zip(answers.answers, (nothing, twice), strict=True):
        errors[answer.name].append(answer.after / truth - 1)


def note(answers: WhatIfs, errors: Errors) -> None:
    """The error of the replay itself."""
    errors["replay, nothing unexplained kept"].append(answers.error)
    errors["refused"] += [1.0] if answers.refused else []


def told(name: str, errors: Errors) -> bool:
    """Print a table; whether all is well."""
    print(f"{name}\n{'':34}{'cases':>6}{'median':>9}{'90 %':>9}{'most':>9}")
    for key, values in errors.items():
        size = np.abs(values)
        if len(size):
            print(f"  {key:32}{len(size):6}{np.median(size):9.3%}{np.quantile(size, 0.9):9.3%}{size.max():9.3%}")
    print()
    return all(max(map(abs, values), default=0) <= WRONG for key, values in errors.items() if not key.startswith("("))


def main() -> int:
    """0 where every answer is within WRONG."""
    well = True
    for name, jobs in (("plain", plain()), ("hard", hard())):
        errors: Errors = defaultdict(list)
        for job, profiling in jobs:
            asked(job, profiling, errors)
        well &= told(name, errors)
    errors = defaultdict(list)
    for number, factors in enumerate([(1.0, 1.0), (1.1, 1.0), (1.25, 1.0), (1.25, 1.15), (1.5, 1.0)]):
        for noise in (0.0, 0.02, 0.05):
            job = Job(ranks=4, layers=24, buckets=6, noise=noise, seed=number, gradients=100_000_000, slow={1: 1.05})
            beside(job, factors, errors)
    return 0 if told("contended", errors) and well else 1


if __name__ == "__main__":
    sys.exit(main())
