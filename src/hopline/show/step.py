"""A step as text: why less communication is less of a step than one hopes, and what is worth changing next.

What belongs here: the page of ``hopline step``. The picture is ``step_picture``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hopline.quantity import counted, exact
from hopline.records.step import Answer, Bubble, Stepped
from hopline.show import step_backwards, step_ranking
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.step_numbers import less, percent, ratio, seconds, share

_MOST_BUCKETS = 12


def page(found: Answer, naive: float | None = None, own: Collection[str] = ()) -> list[Block]:
    """The whole answer; ``naive``: what overlooks the last bucket would say; ``own``: inputs that are communication's."""
    now = found.now
    blocks: list[Block] = [Heading(f"A step of {seconds(now.step)}"), Line(_first(now))]
    blocks += [] if found.after is None else _change(found)
    blocks += [Line(_ceiling(found))]
    blocks += [Line(_range(found.least, found.last))] if found.least is not None else []
    blocks += _courses(found)
    blocks += _pipeline(found.bubble) if found.bubble else []
    blocks += _buckets(found.last, naive) if len(found.last.buckets) > 1 else []
    blocks += step_ranking.ranking(found)
    blocks += step_backwards.blocks(found)
    blocks += [Heading("Next"), *(Line(text, "strong") for text in step_ranking.following(found, own))]
    return [*blocks, *_words(found.words)]


def _range(least: float, last: Stepped) -> str:
    """A price that is one of bounds."""
    return f"The collective's closed form is one of bounds: the step takes {seconds(least)} to {seconds(last.step)}."


def _first(now: Stepped) -> str:
    """What of communication the step waits for."""
    if not now.comm:
        return "There is no communication in it."
    told = f"Communication takes {seconds(now.busy)}"
    if now.exposed == now.busy:
        told += f", all of it exposed: {share(now.exposed, now.step)} of the step"
    elif not now.exposed:
        told += f", all of it hidden behind compute, with {seconds(now.slack)} to spare"
    else:
        told += f": {seconds(now.hidden)} hidden behind compute, {seconds(now.exposed)} exposed"
        told += f" ({share(now.exposed, now.step)} of the step)"
    if now.slowed:
        told += f"; it slows compute by {seconds(now.slowed)}"
    return f"{told}."


def _change(found: Answer) -> list[Block]:
    """Before and after in words."""
    now, then, gain = found.now, found.after, found.speedup
    assert then is not None
    shorter = less(now.comm, then.comm)
    rate = f", {ratio(now.comm / then.comm)} times as fast" if 0 < then.comm < now.comm else ""
    head = (
        f"With communication at {seconds(then.comm)} instead of {seconds(now.comm)} ({shorter}{rate}) the step takes "
        f"{seconds(then.step)}: {less(now.step, then.step)}"
    )
    head += f", {gain.speedup:.4g} times as fast." if gain.speedup else "."
    return [Line(head, "good" if then.step < now.step else "bad"), *map(Line, _why(now, then))]


def _why(now: Stepped, then: Stepped) -> list[str]:
    """Why it is not as much less of the step as of communication."""
    if not now.comm or then.comm >= now.comm:
        return []
    part, whole = 1 - then.comm / now.comm, 1 - then.step / now.step
    if not now.cost:
        return ["Why nothing changes: communication was hidden already. The step does not wait for it."]
    told = [
        f"Why {percent(part)} less communication is {percent(whole)} less step: the step waits for {seconds(now.cost)} of it "
        f"before ({share(now.cost, now.step)} of the step) and {seconds(then.cost)} after; "
        f"the other {seconds(now.ceiling)} stay."
    ]
    counts, saved = now.cost - then.cost, now.comm - then.comm
    if counts == saved:
        told.append(f"{percent(part)} of {share(now.cost, now.step)} is {percent(whole)}.")
    elif 0 <= counts < saved:
        told.append(
            f"Of {seconds(saved)} saved {seconds(counts)} count; "
            f"the other {seconds(saved - counts)} were hidden and cost nothing."
        )
    return [" ".join(told)]


def _ceiling(found: Answer) -> str:
    """The most that communication can bring."""
    last = found.last
    if not last.cost:
        return f"Ceiling: reached. Even free communication leaves {seconds(last.ceiling)}."
    told = f"Ceiling: if communication cost nothing the step would take {seconds(last.ceiling)}"
    if not last.ceiling or found.speedup.limit is None:
        return f"{told}."
    told += f", {found.speedup.limit:.4g} times as fast as now"
    return f"{told}; {found.speedup.speedup:.4g} of it is had." if found.after and found.speedup.speedup else f"{told}."


def _courses(found: Answer) -> list[Block]:
    """Where the time goes."""
    columns = [found.now] + ([found.after] if found.after else [])
    bubble = exact(found.bubble.bubble) if found.bubble else 0
    rows = [
        ("compute", *(seconds(c.compute - bubble) for c in columns)),
        ("bubble of the pipeline", *(seconds(bubble) for _ in columns)),
        ("slowed by communication", *(seconds(c.slowed) for c in columns)),
        ("exposed communication", *(seconds(c.exposed) for c in columns)),
        ("update", *(seconds(c.update) for c in columns)),
        ("step", *(seconds(c.step) for c in columns)),
        ("hidden communication", *(seconds(c.hidden) for c in columns)),
    ]
    rows = [row for row in rows if row[0] in ("compute", "step") or any(cell != "0 s" for cell in row[1:])]
    header = ("", "now", "after") if found.after else ("", "")
    return [Heading("Where it goes"), Grid(header, rows)]


def _pipeline(bubble: Bubble) -> list[Block]:
    """The bubble over both times, since people mean either."""
    if bubble.stages == 1:
        return []
    chunks = f", {bubble.virtual} chunks a stage" if bubble.virtual > 1 else ""
    batches = f"{bubble.microbatches} micro-batch{'es' if bubble.microbatches > 1 else ''}"
    head = f"The pipeline: {counted(bubble.stages, 'stage')}, {batches}{chunks}"
    told = (
        f"Stages wait {seconds(bubble.bubble)} of {seconds(bubble.makespan)}: {percent(bubble.over_ideal)} of the work of "
        f"{seconds(bubble.ideal)}, {percent(bubble.over_total)} of the whole time."
    )
    return [Heading(head), Line(told)]


def _buckets(last: Stepped, naive: float | None) -> list[Block]:
    """The first of them and the last."""
    places = list(range(len(last.buckets)))
    shown = places if len(places) <= _MOST_BUCKETS else [*places[: _MOST_BUCKETS - 3], *places[-3:]]
    rows = []
    for place in shown:
        bucket = last.buckets[place]
        late = max(bucket.start, last.compute_end)
        exposed = bucket.end - late if bucket.end > late else 0
        rows.append((str(place + 1), *(seconds(value) for value in (bucket.ready, bucket.start, bucket.end, exposed))))
    header = ("bucket", "ready after", "starts", "ends", "exposed")
    blocks: list[Block] = [Heading(f"{counted(len(places), 'bucket')} over one network"), Grid(header, rows, left=0)]
    if last.exposed:
        blocks.append(Line("The last bucket is made last: it is ready as compute ends and cannot be hidden."))
    if naive is not None and abs(naive - float(last.step)) > 1e-9 * naive:
        what = "that, and what both cost each other" if last.slowed else "that"
        blocks.append(
            Line(
                f"max(compute, first ready + all communication) + update would say {seconds(naive)}: it overlooks {what}."
            )
        )
    return blocks


def _words(words: Sequence[str]) -> list[Block]:
    return [Heading("Taken for granted"), *(Line(f"  {word}", "faint") for word in words)] if words else []
