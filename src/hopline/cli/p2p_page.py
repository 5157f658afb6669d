"""What ``hopline p2p`` prints and draws: one question in full, many as a table, a picture of either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path as File
from typing import Any

from hopline.cli.options import print_json
from hopline.jobs import transfer
from hopline.jobs.transfer import Cost, Transfer
from hopline.model.p2p import WAYS, Cut
from hopline.quantity import show
from hopline.show import figures, images
from hopline.show import transfer as pages
from hopline.show.document import Block, Grid, Heading, Line, print_document


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what it is called in a sweep."""

    question: Transfer
    varied: dict[str, str]
    path: str


# --- printing -----------------------------------------------------------------------------------------------------


def print_one(asked: Asked, answer: Cost, as_json: bool) -> None:
    if as_json:
        print_json(as_data(answer))
        return
    single = len(asked.question.route.hops) == 1
    shown = {n: e for n, e in answer.ways.items() if not single or n == answer.chosen}
    blocks: list[Block] = [Heading(f"{show(answer.size, 'size')} over {asked.path}")]
    blocks.append(pages.ways(shown, answer.chosen, answer.size))
    if single:
        blocks.append(Line("One hop: store-and-forward, cut-through, wormhole and one chunk are the same.", "faint"))
    blocks += pages.reasons(answer.estimate)
    blocks += _figures(answer, single)
    blocks += pages.levers([(lever.change, lever.time, lever.saves) for lever in answer.levers])
    blocks += pages.premises(answer.estimate.shown_premises())
    print_document(blocks)


def _figures(answer: Cost, single: bool) -> list[Block]:
    rows = [("half of the peak from", show(answer.half_size, "size", 3)), ("long messages tend to", _peak(answer))]
    if not single:
        closed = answer.closed_form
        kept = "" if closed.holds else ", but the bottleneck changes with k, so it does not hold"
        rows.append(("best number of chunks", f"k = {answer.best.k}, {show(answer.best.time, 'time')} (exact)"))
        rows.append(("closed form beside it", f"k* = √(Σ m/β of the other hops / α) = {closed.k:.4g}{kept}"))
        rows.append(("", "(for h equal hops √((h-1)m/αβ); the form with h in place of h-1 is off by one hop)"))
    if answer.exchange is not None:
        rows.append(("both directions at once", f"{show(answer.exchange, 'time')}, bound by {answer.exchange_binds}"))
    if answer.concurrency is not None:
        c = answer.concurrency
        rows.append(
            (
                "requests in flight give",
                f"{show(c.throughput, 'bandwidth')}, {pages.share(c.fraction, 1)} of the line, {show(c.time, 'time')}",
            )
        )
        rows.append(("line rate needs", f"{c.needed} in flight, {show(c.needed_rate, 'count')} requests/s"))
    return [Heading("Figures"), Grid(("", ""), rows, left=2)]


def _peak(answer: Cost) -> str:
    kinds = {"store-and-forward": answer.peak.store_and_forward}
    return show(kinds.get(answer.chosen, answer.peak.cut_through), "bandwidth")


def as_data(answer: Cost) -> dict[str, Any]:
    """The answer as JSON-ready data, SI units."""
    data = asdict(answer)
    data["time_s"] = answer.estimate.value
    data["binds"] = answer.estimate.binds
    return data


def print_many(asked: Sequence[Asked], as_json: bool) -> None:
    rows = [(item, transfer.times(item.question), item.question) for item in asked]
    if as_json:
        print_json([{"size": q.size, **item.varied, "time_s": times, "way": q.way} for item, times, q in rows])
        return
    names = list(asked[0].varied)
    single = all(len(q.route.hops) == 1 for _, _, q in rows)
    shown = ["store-and-forward"] if single else list(WAYS)
    header = (*names, *("time" if single else n for n in shown), "effective", "best k")
    table = [
        (
            *item.varied.values(),
            *(show(times[n], "time") for n in shown),
            show(q.size / times[q.way] if times[q.way] else None, "bandwidth"),
            str(transfer.best_chunks(q)),
        )
        for item, times, q in rows
    ]
    blocks: list[Block] = [Heading(f"Cost over {asked[0].path}"), pages.sweep(header, table)]
    if not single:
        blocks.append(
            Line(f"effective: of the {asked[0].question.way} way; pipelined: with its best k unless given", "faint")
        )
    found = dict.fromkeys(p for item in asked for e in [p2p_premises(item.question)] for p in e)
    print_document([*blocks, *pages.premises(list(found)[:6])])


def p2p_premises(question: Transfer) -> tuple[Any, ...]:
    """Premises of a question that are worth showing."""
    return WAYS[question.way](question.size, question.route, question.cut).shown_premises()


# --- drawing ------------------------------------------------------------------------------------------------------


def draw(asked: Sequence[Asked], file: File) -> None:
    question = asked[0].question
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
    best = transfer.cost(replace(question, cut=Cut())).best
    by_k = figures.times(
        {"pipelined": (cut.values, cut.times["pipelined"])}, "chunks", f"Time against k, {show(question.size, 'size')}"
    )
    images.save(figures.stacked([by_size, figures.marked(by_k, float(best.k), best.time, f"best k = {best.k}")]), file)
