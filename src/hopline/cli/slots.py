"""``hopline slots``: request slots, completions, connection state, and who stalls when slots do not come back.

What belongs here: the options of its one look, and its answer as JSON. Its sub-commands are in ``slots_below``.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import json_option, plot_option, print_json, quantity
from hopline.cli.slots_below import buffers, faults, state
from hopline.cli.slots_options import sender, sender_options
from hopline.errors import InputError, QuantityError
from hopline.jobs import slots as jobs
from hopline.jobs.loading import resolve
from hopline.machine.slots import Slots
from hopline.model.slots import QUEUES
from hopline.quantity import count as parse_count
from hopline.quantity import show
from hopline.quantity import time as parse_time
from hopline.show import slots as pages
from hopline.show.document import Block, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline slots --requests 16 --size 8KiB --slots 16 --issue 1us --turnaround 5us --poll 20us --batch 4 --plot slots.png
  hopline slots --size 8KiB --slots 16 --issue 1us --turnaround 5us --poll 20us --batch 4 --target 50GB/s
  hopline slots --requests 98304 --size 256B --slots 391 --turnaround 2us --bandwidth 50GB/s
  hopline slots --size 4KiB --slots 64 --loaded 1:2us,16:3us,64:9us
  hopline slots buffers --period 4us --busy 30us --poll 20us
  hopline slots state --nodes 128 --processes 8
  hopline slots faults --slots 64 --turnaround 10us --endpoints 8 --dead 1
"""


@click.group(epilog=EXAMPLES, invoke_without_command=True)
@quantity("--requests", "count", "Requests to send (none told: only the long run).")
@quantity("--size", "size", "Bytes of a request.")
@sender_options
@quantity("--every", "count", "Completions are told by an event for so many instead of polls (moderation).", least=1)
@quantity("--after", "time", "... or so long after the oldest that waits; with --every.")
@click.option("--loaded", metavar="COUNT:TIME,...", help="Turnaround by requests in flight, like 1:2us,16:3us,64:9us.")
@quantity("--service", "time", "Time that the far end takes for each request, one after another, beside --turnaround.")
@click.option("--queue", type=click.Choice(list(QUEUES)), help="How --service scatters (deterministic).")
@quantity("--target", "bandwidth", "What each part would have to be to reach this.")
@plot_option("each slot over time, and end times against the number of slots")
@json_option
def slots(plot: File | None, as_json: bool, **given: Any) -> None:
    """Requests through slots: transfer end and release end, the steady rate, what binds, what to change.

    A request holds a slot from its submit until its completion is released. At one instant completions come first, then
    polls, then submits; the first submit is at 0. More slots move the transfer earlier, not the release.
    """
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None:
        _refuse_beside(ctx, given, plot, as_json)
        return
    if given["size"] is None:
        raise click.UsageError("--size is missing: how many bytes has a request? Like --size 8KiB", ctx)
    asked, note = _loaded(given)
    requests = None if given["requests"] is None else int(given["requests"])
    answer = jobs.slots(asked, requests, given["target"])
    if plot is not None:
        _draw(answer, plot)
    if as_json:
        print_json(_data(answer))
        return
    print_document(_page(answer, note))
    if plot is not None:
        click.echo(f"\nPicture: {plot}")


def _refuse_beside(ctx: click.Context, given: dict[str, Any], plot: File | None, as_json: bool) -> None:
    """Options of the look mean nothing before a sub-command, and would be forgotten."""
    told = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    told += ["--plot"] * (plot is not None) + ["--json"] * as_json
    if told:
        raise click.UsageError(f"{told[0]} goes behind {ctx.invoked_subcommand}, if it takes it", ctx)


def _loaded(given: dict[str, Any]) -> tuple[Slots, str]:
    """The setup with its turnaround by load, and what that goes by."""
    asked = sender(given, given["size"])
    if given["queue"] and given["service"] is None:
        raise click.UsageError("--queue means nothing without --service", click.get_current_context())
    if given["loaded"] and (given["service"] is not None or given["turnaround"] is not None):
        raise click.UsageError(
            "--loaded says the turnaround: leave --turnaround and --service away", click.get_current_context()
        )
    table: tuple[float, ...] = ()
    note = ""
    if given["loaded"]:
        table, note = jobs.interpolated(_points(given["loaded"])), "a table, linear between its points"
    elif given["service"] is not None:
        if asked.count is None:
            raise click.UsageError("--service needs --slots: how many can queue?", click.get_current_context())
        kind = given["queue"] or "deterministic"
        table, note = jobs.queued(kind, asked.count, asked.turnaround, given["service"]), f"a queue, {kind} service"
    return replace(asked, loaded=table), note


def _points(text: str) -> list[tuple[int, float]]:
    found = []
    for part in text.split(","):
        load, _, turn = part.partition(":")
        try:
            found.append((int(parse_count(load.strip())), parse_time(turn.strip())))
        except QuantityError as error:
            raise InputError(f"--loaded: {part!r}: expected COUNT:TIME like 16:3us ({error})") from None
    return found


def _page(answer: jobs.Answer, note: str) -> list[Block]:
    asked, times = answer.asked, answer.times
    blocks: list[Block] = [Heading(f"Requests of {show(asked.size, 'size')}"), Line(pages.setup(asked), "faint")]
    if times is not None and answer.requests is not None:
        blocks += pages.ends(answer.requests, times.transfer_end, times.release_end, times.average)
    bounds = [(limit.name, limit.rate) for limit in answer.limits]
    blocks += pages.rates(asked, answer.steady.rate, answer.steady.exact, bounds, answer.binds)
    blocks += pages.levers([(lever.change, lever.rate, lever.gain) for lever in answer.levers])
    blocks += pages.swept([(s.slots, s.transfer_end, s.release_end, s.rate) for s in answer.swept], asked.count)
    if note:
        blocks += pages.loads(asked, jobs.by_load(asked), note)
    if answer.target is not None:
        needs = answer.target.needs
        slots_needed = (needs.slots_at_once, needs.slots)
        rows = pages.needed(asked, needs.issue, needs.batch, needs.poll, slots_needed, needs.bandwidth)
        blocks += pages.target(asked, rows, needs.target, needs.rate, answer.target.changed)
    return blocks


def _draw(answer: jobs.Answer, file: File) -> None:
    picture, asked, times = "hopline.show.slots_picture", answer.asked, answer.times
    if times is None:
        raise InputError("--plot shows each slot over time: give --requests, like --requests 16")
    title = f"{answer.requests} requests of {show(asked.size, 'size')}"
    rows = list(
        zip(*(values.tolist() for values in (times.submit, times.begin, times.complete, times.release)), strict=True)
    )
    parts = [resolve(f"{picture}:lanes")(rows, asked.count, title)]
    ends = [(s.slots, s.transfer_end, s.release_end) for s in answer.swept if s.transfer_end is not None]
    if len(ends) > 1:
        parts.append(resolve(f"{picture}:ends")(ends, "More slots: the transfer ends earlier, the release need not"))
    resolve("hopline.show.images:save")(resolve("hopline.show.figures:stacked")(parts), file)


def _data(answer: jobs.Answer) -> dict[str, Any]:
    times = answer.times
    return {
        "setup": asdict(answer.asked),
        "requests": answer.requests,
        "times": times
        and {
            "submit_s": times.submit.tolist(),
            "begin_s": times.begin.tolist(),
            "complete_s": times.complete.tolist(),
            "release_s": times.release.tolist(),
            "transfer_end_s": times.transfer_end,
            "release_end_s": times.release_end,
            "last_injected_s": times.injected,
            "average_bytes_per_s": times.average,
        },
        "long_run": {**asdict(answer.steady), "bytes_per_s": answer.rate},
        "limits": [asdict(limit) for limit in answer.limits],
        "binds": answer.binds,
        "levers": [asdict(lever) for lever in answer.levers],
        "slots": [asdict(swept) for swept in answer.swept],
        "target": None if answer.target is None else asdict(answer.target),
    }


for _command in (buffers, state, faults):
    slots.add_command(_command)
