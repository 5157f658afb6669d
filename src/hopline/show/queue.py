"""Queues as text: what a burst does to them, and what late feedback costs.

What belongs here: pages of ``hopline queue``. Loops and reordering are ``loop``, pictures ``queue_picture``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from hopline.quantity import binary, show
from hopline.records.queue import Bound, Course, Episode, Remedies, Steps
from hopline.show.document import Block, Grid, Heading, Line, Style

_MOST_ROWS = 20
_GOOD: Style = "good"
_BAD: Style = "bad"


def _time(value: float | Fraction | None) -> str:
    return show(None if value is None else float(value), "time")


def _size(value: float | Fraction | None) -> str:
    return "—" if value is None else binary(float(value))


def _rate(value: float | Fraction | None) -> str:
    return show(None if value is None else float(value), "bandwidth")


# --- what a burst does


def filled(
    title: str, arrivals: Sequence[Steps], services: Sequence[Steps], courses: Sequence[Course],
    capacities: Sequence[float | None], needs: Sequence[float], faster: Sequence[float | None],
) -> list[Block]:  # fmt: skip
    """One queue or several in series: the loss, why, and what would avoid it. Sequences are by queue."""
    blocks: list[Block] = [Heading(title)]
    for number, course in enumerate(courses):
        who = f"Queue {number + 1}: " if len(courses) > 1 else ""
        blocks.append(_verdict(who, course, capacities[number]))
    if len(courses) > 1:
        blocks += _stages(courses, capacities)
    shown = next((number for number, course in enumerate(courses) if course.dropped), 0)
    of = f" (queue {shown + 1})" if len(courses) > 1 else ""
    blocks += [Heading(f"What it goes through{of}"), *_phases(arrivals[shown], services[shown], courses[shown])]
    return [*blocks, *_cures(courses, capacities, needs, faster, services)]


def _verdict(who: str, course: Course, capacity: float | None) -> Line:
    end = "empty at the end" if course.final == 0 else f"{_size(course.final)} in it at the end"
    most = f"at most {_size(course.most)} in it" + ("" if capacity is None else f" of {_size(capacity)}")
    if not course.dropped:
        return Line(f"{who}Nothing is dropped; {most}, {end}.", _GOOD)
    times = "" if len(course.lost) == 1 else f", {len(course.lost)} times"
    full = sum((part.end - part.start for part in course.lost), Fraction(0))
    lost = f"{float(course.dropped):,.0f} B ({_size(course.dropped)})"
    return Line(
        f"{who}{lost} are dropped, first at {_time(course.first_drop)}{times}, full for {_time(full)}; {end}.", _BAD
    )


def _stages(courses: Sequence[Course], capacities: Sequence[float | None]) -> list[Block]:
    rows = [
        (
            str(number + 1),
            _size(capacities[number]) if capacities[number] is not None else "unlimited",
            _size(course.most),
            _size(course.dropped),
            _time(course.first_drop),
            _time(course.emptied),
            _rate(max(rate for _, rate in course.departs)),
        )
        for number, course in enumerate(courses)
    ]
    header = ("queue", "holds", "fullest", "dropped", "first drop", "last became empty", "leaves at most")
    return [Grid(header, rows)]


def _phases(arrival: Steps, service: Steps, course: Course) -> list[Block]:
    """The first of the stretches between breakpoints."""
    points = list(zip(course.times, course.levels, strict=True))
    parts = [(before, after) for before, after in pairwise(points) if after[0] > before[0]]
    rows = []
    for (start, low), (stop, high) in parts[:_MOST_ROWS]:
        comes, leaves = _rate_at(arrival, start), _rate_at(service, start)
        does = _does(low, high, comes, leaves, start, course)
        rows.append((_time(start), _time(stop), _rate(comes), _rate(leaves), _size(low), _size(high), does))
    header = ("from", "to", "comes", "can leave", "in it, first", "and last", "so it")
    more = [Line(f"  and {len(parts) - _MOST_ROWS:,} more", "faint")] if len(parts) > _MOST_ROWS else []
    return [Grid(header, rows, left=0), *more]


def _rate_at(steps: Steps, time: Fraction) -> Fraction:
    return next(rate for start, rate in reversed(steps) if start <= time)


def _does(low: Fraction, high: Fraction, comes: Fraction, leaves: Fraction, start: Fraction, course: Course) -> str:
    if high != low:
        return "fills" if high > low else "drains"
    if any(part.start <= start < part.end for part in course.lost):
        return "drops " + _rate(comes - leaves)
    if comes == leaves and low > 0:
        return "stays: λ = B"
    return "is empty" if low == 0 else "is full"


def _cures(
    courses: Sequence[Course], capacities: Sequence[float | None], needs: Sequence[float],
    faster: Sequence[float | None], services: Sequence[Steps],
) -> list[Block]:  # fmt: skip
    rows = []
    for number, course in enumerate(courses):
        if not course.dropped:
            continue
        who = f" of queue {number + 1}" if len(courses) > 1 else ""
        rows.append((f"a buffer{who} of", _size(needs[number]), f"{_times(needs[number], capacities[number])}"))
        if faster[number] is not None:
            service = max(rate for _, rate in services[number])
            rows.append(
                (f"a service{who} of", _rate(service * Fraction(faster[number] or 1)), f"{faster[number]:.3g} x")
            )
    if not rows:
        return []
    return [Heading("What alone would lose nothing"), Grid(("", "", ""), rows)]


def _times(need: float, capacity: float | None) -> str:
    return f"{show(need / capacity, 'count', 3)} x" if capacity else ""


# --- late feedback


def late(
    title: str, before: float, after: float, service: float, delay: float, wanted: float | None, bound: Bound,
    found: Episode, cures: Remedies,
) -> list[Block]:  # fmt: skip
    """The bound, the episode, and what would help."""
    blocks: list[Block] = [Heading(title)]
    if bound.longest is None:
        blocks.append(
            Line(f"No more comes than leaves ({_rate(before)} <= {_rate(service)}): feedback may take any time.", _GOOD)
        )
    else:
        verdict = f"Feedback may take {_time(bound.longest)}; it takes {_time(delay)}: "
        lost = f"{bound.dropped:,.0f} B ({_size(bound.dropped)}) are dropped, from {_time(found.first_drop)} on."
        blocks.append(
            Line(
                verdict + (lost if bound.overflow else "nothing is dropped by then."), _BAD if bound.overflow else _GOOD
            )
        )
    blocks += [Heading("Why"), Grid(("", ""), _why(before, service, delay, bound, found))]
    return [*blocks, _afterwards(after, service, found), *_late_cures(bound, cures, wanted)]


def _why(before: float, service: float, delay: float, bound: Bound, found: Episode) -> list[tuple[str, str]]:
    over = before - service
    free = [] if bound.longest is None else [
        ("free / (λ - B)", f"{_size(round(bound.longest * over))} / {_rate(over)} = {_time(bound.longest)}")
    ]  # fmt: skip
    return [
        *free,
        (
            "more than leaves until feedback",
            f"{_rate(max(0.0, over))} x {_time(delay)} = {_size(bound.excess)}",
        ),
        ("of that does not fit", _size(bound.dropped)),
        ("in the queue when feedback takes effect", _size(found.occupancy)),
    ]


def _afterwards(after: float, service: float, found: Episode) -> Line:
    if found.drain is not None:
        return Line(
            f"Then {_rate(after)} come: it drains in {_time(found.drain)} and is empty at {_time(found.empty)}."
        )
    if after == service:
        return Line(f"Then {_rate(after)} come, λ = B: it grows no further and never drains. Only λ < B drains.", _BAD)
    lost = f" and drops {_rate(after - service)} for good" if found.dropped is None else ""
    return Line(f"Then {_rate(after)} come, still more than leaves: it fills up{lost}. Only λ < B drains.", _BAD)


def _late_cures(bound: Bound, cures: Remedies, wanted: float | None) -> list[Block]:
    rows = []
    if bound.overflow:
        sent = "too late even from an empty one" if cures.threshold is None else f"at {_size(cures.threshold)} or less"
        rows = [
            ("feedback in", _time(cures.delay)),
            ("a buffer of", _size(cures.capacity)),
            ("feedback sent when there are in the queue", sent),
            ("no more coming until then than", _rate(cures.arrival)),
        ]
    blocks: list[Block] = [Heading("What alone would lose nothing"), Grid(("", ""), rows)] if rows else []
    if wanted is not None:
        rate = "no rate does it: even with nothing coming it drains too slowly"
        told = rate if cures.after is None else f"at most {_rate(cures.after)} may come afterwards"
        blocks.append(Line(f"To be empty {_time(wanted)} after the feedback: {told}."))
    return blocks
