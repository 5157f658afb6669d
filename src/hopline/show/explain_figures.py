"""An explained step as pictures, in the order in which they are read.

What belongs here: which there are, and all of them as one. Each is made in ``explain_ranks``, ``explain_timeline`` or
``explain_bars``; how they become a page is ``report``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.records.explained import Explained
from hopline.show.explain_bars import causes, parts, what_ifs
from hopline.show.explain_drawing import MOST_LABEL, Figure
from hopline.show.explain_ranks import last, steps, where
from hopline.show.explain_rows import Numbers
from hopline.show.explain_thinning import thinned
from hopline.show.explain_timeline import timeline
from hopline.show.figures import CONFIG, SCHEMA, Spec


def figures(explained: Explained, found: Numbers) -> list[Figure]:
    """Those for which there is something to show; changes first where somebody asked for them."""
    changes = what_ifs(found)
    rest = where(found), _timeline(explained), last(found), parts(found), causes(found)
    drawn = (changes, *rest, steps(found)) if found.asked else (*rest, changes, steps(found))
    return [figure for figure in drawn if figure is not None]


def _timeline(explained: Explained) -> Figure | None:
    thin = thinned(explained)
    if not thin.marks and not thin.path:
        return None
    note = (
        "Above: compute and copies. Below: communication, waiting and transfer apart where that is known. The line under them "
        f"is the critical path in the colours of what it is made of; purple: it goes over to another rank. {thin.said}"
    )
    use = "Drag to move, Ctrl + wheel to zoom, double-click to go back."
    return Figure("timeline", "Who did what when", note.strip(), timeline(explained, thin), use)


def picture(drawn: Sequence[Figure]) -> Spec:
    """All of them one above the other, with their titles: for --plot."""
    panes = [{**figure.spec, "title": _title(figure)} for figure in drawn]
    own: Spec = dict.fromkeys(("color", "x", "y", "size", "opacity"), "independent")
    resolve = {"scale": own, "legend": {"color": "independent"}}
    limits = {"axisY": {"labelLimit": MOST_LABEL}, "legend": {"labelLimit": MOST_LABEL}}
    config = {**CONFIG, "view": {"stroke": None}, **limits}
    return {"$schema": SCHEMA, "vconcat": panes, "resolve": resolve, "config": config, "spacing": 44}


def _title(figure: Figure) -> Spec:
    return {
        "text": figure.title, "subtitle": folded(figure.note), "anchor": "start", "frame": "group", "fontSize": 14,
    }  # fmt: skip


def folded(text: str, width: int = 130) -> list[str]:
    """Lines of whole words.

    >>> folded("one two three", 8)
    ['one two', 'three']
    """
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines
