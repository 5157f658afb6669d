"""A step as text: why less communication is less of a step than one hopes, and what is worth changing next.

What belongs here: the page of ``hopline step``. The picture is ``step_picture``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import counted, show
from hopline.records.step import Answer, Bubble, Effect, Reached, Stepped
from hopline.show.document import Block, Grid, Heading, Line

_NOTHING = 5e-4
"""Gain below which a change is none: half of 0.1 %."""
_MOST_BUCKETS = 12


def page(found: Answer, naive: float | None = None) -> list[Block]:
    """The whole answer; ``naive``: what overlooks the last bucket would say."""
    now = found.now
    blocks: list[Block] = [Heading(f"A step of {_time(now.step)}"), Line(_first(now))]
    blocks += [] if found.after is None else _change(found)
    blocks += [Line(_ceiling(found))]
    blocks += _courses(found)
    blocks += _pipeline(found.bubble) if found.bubble else []
    blocks += _buckets(found.last, naive) if len(found.last.buckets) > 1 else []
    blocks += _ranking(found)
    blocks += _backwards(found)
    blocks += [Heading("Next"), Line(_next(found), "strong")]
    return [*blocks, *_words(found.words)]


def _first(now: Stepped) -> str:
    """What of communication the step waits for."""
    if not now.comm:
        return "There is no communication in it."
    told = f"Communication takes {_time(now.busy)}"
    if now.exposed == now.busy:
        told += f", all of it exposed: {_share(now.exposed, now.step)} of the step"
    elif not now.exposed:
        told += f", all of it hidden behind compute, with {_time(now.slack)} to spare"
    else:
        told += f": {_time(now.hidden)} hidden behind compute, {_time(now.exposed)} exposed"
        told += f" ({_share(now.exposed, now.step)} of the step)"
    if now.slowed:
        told += f"; it slows compute by {_time(now.slowed)}"
    return f"{told}."


def _change(found: Answer) -> list[Block]:
    """Before and after in words."""
    now, then, gain = found.now, found.after, found.speedup
    assert then is not None
    less = _less(now.comm, then.comm)
    rate = f", {_ratio(now.comm / then.comm)} times as fast" if 0 < then.comm < now.comm else ""
    head = (
        f"With communication at {_time(then.comm)} instead of {_time(now.comm)} ({less}{rate}) the step takes "
        f"{_time(then.step)}: {_less(now.step, then.step)}"
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
        f"Why {_percent(part)} less communication is {_percent(whole)} less step: the step waits for {_time(now.cost)} of it "
        f"before ({_share(now.cost, now.step)} of the step) and {_time(then.cost)} after; the other {_time(now.ceiling)} stay."
    ]
    counts, saved = now.cost - then.cost, now.comm - then.comm
    if counts == saved:
        told.append(f"{_percent(part)} of {_share(now.cost, now.step)} is {_percent(whole)}.")
    elif 0 <= counts < saved:
        told.append(
            f"Of {_time(saved)} saved {_time(counts)} count; the other {_time(saved - counts)} were hidden and cost nothing."
        )
    return [" ".join(told)]


def _ceiling(found: Answer) -> str:
    """The most that communication can bring."""
    last = found.last
    if not last.cost:
        return f"Ceiling: reached. Even free communication leaves {_time(last.ceiling)}."
    told = f"Ceiling: if communication cost nothing the step would take {_time(last.ceiling)}"
    if not last.ceiling or found.speedup.limit is None:
        return f"{told}."
    told += f", {found.speedup.limit:.4g} times as fast as now"
    return f"{told}; {found.speedup.speedup:.4g} of it is had." if found.after and found.speedup.speedup else f"{told}."


def _courses(found: Answer) -> list[Block]:
    """Where the time goes."""
    columns = [found.now] + ([found.after] if found.after else [])
    rows = [
        ("compute", *(_time(c.compute) for c in columns)),
        ("slowed by communication", *(_time(c.slowed) for c in columns)),
        ("exposed communication", *(_time(c.exposed) for c in columns)),
        ("update", *(_time(c.update) for c in columns)),
        ("step", *(_time(c.step) for c in columns)),
        ("hidden communication", *(_time(c.hidden) for c in columns)),
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
        f"Stages wait {_time(bubble.bubble)} of {_time(bubble.makespan)}: {_percent(bubble.over_ideal)} of the work of "
        f"{_time(bubble.ideal)}, {_percent(bubble.over_total)} of the whole time."
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
        rows.append((str(place + 1), *(_time(value) for value in (bucket.ready, bucket.start, bucket.end, exposed))))
    header = ("bucket", "ready after", "starts", "ends", "exposed")
    blocks: list[Block] = [Heading(f"{counted(len(places), 'bucket')} over one network"), Grid(header, rows, left=0)]
    if last.exposed:
        blocks.append(Line("The last bucket is made last: it is ready as compute ends and cannot be hidden."))
    if naive is not None and abs(naive - float(last.step)) > 1e-9 * naive:
        what = "that, and what both cost each other" if last.slowed else "that"
        blocks.append(
            Line(
                f"max(compute, first ready + all communication) + update would say {_time(naive)}: it overlooks {what}."
            )
        )
    return blocks


def _ranking(found: Answer) -> list[Block]:
    rows = [
        (
            effect.name,
            show(effect.now, effect.dimension),
            show(effect.better, effect.dimension),
            _time(effect.better_time),
            _gain(effect.gain),
            _gain(-effect.loss),
        )
        for effect in (*found.effects, *found.choices)
    ]
    header = ("a tenth of", "is", "better", "step", "changes it by", "worse")
    blocks: list[Block] = [Heading("What a change of each brings alone"), Grid(header, rows)]
    idle = [effect.name for effect in found.effects if abs(effect.gain) < _NOTHING]
    if idle and not found.last.cost and found.last.comm:
        spare = _time(found.last.slack)
        blocks.append(Line(f"Moves nothing, because communication is hidden ({spare} to spare): {', '.join(idle)}."))
    elif idle:
        blocks.append(Line(f"Moves next to nothing: {', '.join(idle)}."))
    if found.best_buckets is not None and found.best_step is not None:
        blocks.append(
            Line(f"The best number of equal buckets is {found.best_buckets}: a step of {_time(found.best_step)}.")
        )
    return blocks


def _backwards(found: Answer) -> list[Block]:
    if found.target is None:
        return []
    what = "communication" if found.budget else "a step"
    last = found.last.comm if found.budget else found.last.step
    state = "reached already, with this much to spare" if float(last) <= found.target else "any one of these alone"
    head = f"To reach {what} of {_time(found.target)}: {state}"
    rows = [(row.name, show(row.now, row.dimension), _needed(row)) for row in found.reached]
    return [Heading(head), Grid(("", "is", "may be" if float(last) <= found.target else "has to be"), rows)]


def _needed(row: Reached) -> str:
    if row.value is None:
        return f"reaches it nowhere: {_time(row.best)} remain"
    return show(row.value, row.dimension)


def _next(found: Answer) -> str:
    """The one thing."""
    last = found.last
    options = [effect for effect in (*found.effects, *found.choices) if effect.gain >= _NOTHING]
    if not options:
        return "Nothing here moves the step by itself."
    best: Effect = max(options, key=lambda effect: effect.gain)
    change = f"{show(best.now, best.dimension)} -> {show(best.better, best.dimension)}"
    what = f"{change}: {_time(best.better_time)}, {_gain(best.gain)}"
    if not last.comm:
        rest = "There is no communication to change."
    elif not last.cost:
        rest = "Communication is hidden: changing it gains nothing."
    else:
        most = _share(last.cost, last.step)
        rest = f"Communication costs the step {_time(last.cost)}: all that changing it can gain is {most}."
        own = [effect for effect in options if effect.name not in ("compute", "update", best.name)]
        rest += f" Of what it depends on, {own[0].name} moves most ({_gain(own[0].gain)})." if own else ""
    return f"{best.name[0].upper()}{best.name[1:]} ({what}). {rest}"


def _words(words: Sequence[str]) -> list[Block]:
    return [Heading("Taken for granted"), *(Line(f"  {word}", "faint") for word in words)] if words else []


def _time(value: object) -> str:
    return show(float(value), "time")  # type: ignore[arg-type]


def _ratio(value: object) -> str:
    return f"{float(value):.3g}"  # type: ignore[arg-type]


def _percent(value: object) -> str:
    return f"{100 * float(value):.3g} %"  # type: ignore[arg-type]


def _share(part: object, whole: object) -> str:
    return _percent(float(part) / float(whole)) if float(whole) else "0 %"  # type: ignore[arg-type]


def _less(before: object, after: object) -> str:
    one, other = float(before), float(after)  # type: ignore[arg-type]
    if not one:
        return "more" if other else "the same"
    share = 1 - other / one
    return "the same" if abs(share) < 1e-12 else f"{_percent(abs(share))} {'less' if share > 0 else 'more'}"


def _gain(value: float) -> str:
    return "0" if abs(value) < _NOTHING / 10 else f"{-100 * value:+.2f} %"
