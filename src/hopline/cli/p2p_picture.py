"""The picture of ``hopline p2p --plot``: time against size, and against k; imported only where one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as File

from hopline.cli.p2p_page import Asked
from hopline.jobs import transfer
from hopline.quantity import show
from hopline.show import figures, images

"""Refuses an ending that no writer knows."""


def draw(asked: Sequence[Asked], file: File) -> None:
    """Draw the largest of the questions into ``file``."""
    question = max((item.question for item in asked), key=lambda q: q.size)
    sizes = sorted({item.question.size for item in asked if item.question.size > 0})
    if len(sizes) < 2:
        middle = max(question.size, 1.0)
        sizes = sorted({float(round(middle * 2.0**e)) for e in range(-14, 5) if middle * 2.0**e >= 1})
    swept = transfer.over_size(question, sizes)
    single = len(question.route.hops) == 1
    series = {n: (swept.values, t) for n, t in swept.times.items() if not single or n == "store-and-forward"}
    if single:
        series = {"α + m/β": next(iter(series.values()))}
    by_size = figures.times(series, "size", f"Time against size, {asked[0].path}")
    if single:
        images.save(by_size, file)
        return
    cut = transfer.over_chunks(question)
    k = float(transfer.best_chunks(question))
    time = cut.times["pipelined"][cut.values.index(k)]
    by_k = figures.times(
        {"pipelined": (cut.values, cut.times["pipelined"])}, "chunks", f"Time against k, {show(question.size, 'size')}"
    )
    images.save(figures.stacked([by_size, figures.marked(by_k, k, time, f"best k = {k:.0f}")]), file)
