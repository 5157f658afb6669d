"""What the pictures of an explained step have in common: the figure, colours by meaning, axes of time and of names.

What belongs here: what at least two of them use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopline.show.figures import TIME_LABEL, Spec

WIDTH = 860
"""Pixels of a picture; a page gives it its own."""
MOST_NAME = 80
MOST_LABEL = 330
"""Pixels of a label beside a bar; on a page less where it is narrow."""
WHERE = {
    "compute": "#2f6db5", "compute and communication": "#8db4dd", "waiting for the last rank": "#e3a0a0",
    "transfer nothing covers": "#d9822b", "exposed, waiting or transfer": "#c9a227", "idle": "#c3c8ce",
    "not in its trace": "rgba(140, 150, 160, 0.18)",
}  # fmt: skip
"""What a rank's time goes to, in the order of a bar."""
PART_COLOURS = {
    "compute": "#2f6db5", "copy": "#3a9aa0", "transfer": "#d9822b", "communication": "#c9a227", "launch": "#b5473c",
    "gap": "#d6b9a5", "host": "#8c7b6b", "sync": "#a86f9e", "idle": "#c3c8ce",
}  # fmt: skip
"""Parts of a critical path."""
PATH, LATE = "#8a5fb0", "#b5473c"
TIME: Spec = {
    "type": "quantitative", "title": None, "axis": {"labelExpr": TIME_LABEL, "tickCount": 8},
    "scale": {"nice": False, "zero": True},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: its name, what it shows, how to read it and what it leaves out, its specification without a title, and what
    can be done with it on a page.
    """

    name: str
    title: str
    note: str
    spec: Spec
    use: str = ""


def names(field: str, order: Sequence[str]) -> Spec:
    """An axis of names in this order, from above."""
    axis = {"ticks": False, "domain": False}
    return {
        "field": field,
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": axis,
        "scale": {"domain": list(order)},
    }


def colours(field: str, of: Mapping[str, str], legend: bool = True) -> Spec:
    """Colours by name."""
    above: Spec = {"orient": "top", "symbolType": "square"}
    scale = {"domain": list(of), "range": list(of.values())}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "legend": above if legend else None}


def tips(**titles: str) -> list[Spec]:
    """What is told of a mark under the pointer: field=title."""
    return [{"field": field, "type": "nominal", "title": title} for field, title in titles.items()]


def ticks(count: int, most: int) -> list[int]:
    """At most ``most`` of the numbers below ``count``, from 0, by 1, 2, 5, 10 and so on.

    >>> ticks(7, 4), ticks(200, 12)[:3], ticks(0, 4)
    ([0, 2, 4, 6], [0, 20, 40], [])
    """
    steps = (digit * 10**power for power in range(19) for digit in (1, 2, 5))
    return list(range(0, count, next(step for step in steps if count <= step * most)))


def abridged(name: str, most: int) -> str:
    """A name that fits, without its middle: names of one kind begin alike.

    >>> abridged("void elementwise_kernel<FillFunctor>", 20)
    'void eleme…lFunctor>'
    """
    end = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def shortened(name: str, most: int = MOST_NAME) -> str:
    """A name that fits."""
    return name if len(name) <= most else name[: most - 1] + "…"
