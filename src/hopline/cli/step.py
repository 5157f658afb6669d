"""``hopline step``: where the time of a training step goes, and what a change of its communication brings.

What belongs here: its options. From them to the parts of a step is ``step_options``, its answer as JSON ``step_page``.
"""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import click

from hopline.cli.network_options import network_options
from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.step_options import Number, asked
from hopline.cli.step_page import data
from hopline.jobs import stepping
from hopline.jobs.loading import resolve
from hopline.jobs.step_inputs import OWN
from hopline.jobs.step_solving import Aim
from hopline.show import step as pages
from hopline.show.document import print_document

EXAMPLES = """\b
Examples:
  hopline step --compute 20ms --comm 7.6ms --comm-after 1.3ms --update 2ms     # why 83 % less is 21 % less
  hopline step --compute 20ms --comm 1.3ms --update 2ms --ready 17ms           # one collective beside compute
  hopline step --compute 20ms --comm 7.6ms --update 2ms --ready 9.5ms --buckets 8 --plot step.svg
  hopline step --compute 20ms --update 2ms --size 192MiB --bucket-size 8MiB --latency 30us --bandwidth 50GB/s
  hopline step --compute 20ms --update 2ms --size 192MiB --op all_reduce --machine dgx-h100 -n 128 --buckets 8
  hopline step --compute 20ms --comm 16ms --buckets 4 --slow-compute 1.5 --slow-comm 2
  hopline step --compute 20ms --comm 7.6ms --ready 17ms --update 2ms --target 22ms     # what reaches it
  hopline step --compute 20ms --size 24MiB --bandwidth 50GB/s --request 256B --turnaround 2us --in-flight 128 --budget 1ms
  hopline step --compute 96ms --comm 4ms --stages 8 --microbatches 32 --virtual 2
"""


@click.command(epilog=EXAMPLES)
@quantity("--compute", "time", "What a rank computes in a step: forward and backward of all micro-batches.")
@quantity("--update", "time", "The optimizer's update, after compute and communication.")
@quantity("--comm", "time", "What communication takes alone (or give --size, and what it goes over).")
@quantity("--comm-after", "time", "The same after a change: both are compared.")
@click.option("--faster", type=Number(0, above=True), metavar="K", help="Or: communication K times as fast.")
@quantity("--ready", "time", "When its gradients are there, in seconds of compute; with buckets, those of the first.")
@quantity("--backward", "time", "With buckets: gradients come in that last part of compute (default: two thirds).")
@click.option("--buckets", type=click.IntRange(1), metavar="B", help="Gradients travel in so many equal buckets.")
@quantity("--bucket-size", "size", "Or in buckets of that size; the last one has the rest.", least=1)
@quantity("--size", "size", "Bytes of all gradients.")
@click.option(
    "--op", metavar="COLLECTIVE", help="With --size: the collective, priced on the network by its fastest algorithm."
)
@click.option("--algorithm", metavar="NAME", help="With --op: this algorithm.")
@network_options
@quantity("--request", "size", "With --bandwidth: bytes of a request,", least=1)
@quantity("--turnaround", "time", "and how long it is on its way;")
@click.option("--in-flight", type=Number(1), metavar="N", help="so many of them at once at most.")
@click.option("--slow-compute", type=Number(1), metavar="X", help="Compute takes X times as long beside communication.")
@click.option("--slow-comm", type=Number(1), metavar="X", help="Communication takes X times as long beside compute.")
@click.option("--stages", type=click.IntRange(1), metavar="P", help="Stages of a pipeline (1F1B).")
@click.option(
    "--microbatches", type=click.IntRange(1), metavar="M", help="Micro-batches; without --stages they are accumulated."
)
@click.option("--virtual", type=click.IntRange(1), metavar="V", help="Chunks of a stage, interleaved.")
@quantity("--hop", "time", "From one stage to the next.")
@quantity("--target", "time", "A step to reach: what each input would have to be.")
@quantity("--budget", "time", "Or what communication may take: what each input would have to be.")
@plot_option("the step's timeline")
@json_option
def step(
    target: float | None, budget: float | None, plot: File | None, as_json: bool, **told: Any
) -> None:  # fmt: skip
    """Where a step's time goes: compute, hidden and exposed communication, bubble, update; and what would change it.

    Communication is told as a time (--comm), as bytes on a line (--size, --bandwidth, --latency), or as a collective
    on a network (--size, --op and --machine, --level, or -n with --latency and --bandwidth). Without
    --ready and buckets nothing overlaps.
    """
    if target is not None and budget is not None:
        raise click.UsageError("--target is of the step, --budget of communication: give one of them")
    question = asked({**told, "budget": budget})
    aim = Aim(target, False) if target is not None else Aim(budget, True) if budget is not None else None
    found = stepping.answer(question.parts, question.after, aim, question.words, search=question.parts.cut)
    last = question.after or question.parts
    naive = stepping.naive(found.last) if last.cut else None
    if plot is not None:
        resolve("hopline.show.images:save")(resolve("hopline.show.step_picture:picture")(found), plot)
    if as_json:
        print_json(data(found, naive))
        return
    print_document(pages.page(found, naive, OWN))
    if plot is not None:
        click.echo(f"\nPicture: {plot}")
