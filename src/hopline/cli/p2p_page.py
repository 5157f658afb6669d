"""What ``hopline p2p`` prints: one question in full, many as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hopline.cli.options import print_json
from hopline.jobs import transfer
from hopline.jobs.transfer import Cost, Transfer
from hopline.model.limits import Concurrency, effective
from hopline.model.p2p import WAYS, Route, RouteHop
from hopline.quantity import Dimension, show
from hopline.records.estimate import Estimate
from hopline.show import transfer as pages
from hopline.show.document import Block, Grid, Heading, Line, print_document


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what it is called in a sweep."""

    question: Transfer
    varied: dict[str, tuple[float, Dimension]]
    path: str


def print_one(asked: Asked, answer: Cost, as_json: bool) -> None:
    """One question in full."""
    if as_json:
        print_json(as_data(answer))
        return
    question = asked.question
    single = len(question.route.hops) == 1
    shown = {n: e for n, e in answer.ways.items() if not single or n in (answer.chosen, "store-and-forward")}
    blocks: list[Block] = [Heading(f"{show(answer.size, 'size')} over {asked.path}")]
    if answer.exchange is not None:
        shown["exchange"] = answer.exchange
    chosen = answer.chosen if answer.exchange is None else "exchange"
    blocks.append(pages.ways(shown, chosen, answer.size))
    if single and question.route.forward.flit is None:
        blocks.append(Line("One hop: store-and-forward, cut-through, wormhole and one chunk are the same.", "faint"))
    blocks += pages.reasons(answer.estimate)
    blocks += _figures(answer, question.route)
    blocks += pages.levers([(lever.change, lever.time, lever.saves) for lever in answer.levers])
    blocks += pages.premises(answer.estimate.shown_premises())
    print_document(blocks)


def _figures(answer: Cost, route: Route) -> list[Block]:
    single = len(route.hops) == 1
    one_way = "" if answer.exchange is None else ", one way"
    rows = [(f"long messages tend to{one_way}", show(answer.peak, "bandwidth"))]
    if answer.half_size is not None:
        rows.insert(0, (f"half of the peak from{one_way}", show(math.ceil(answer.half_size), "size", 3)))
    if not single and answer.concurrency is None:
        closed = answer.closed_form
        kept = "" if closed.holds else ", but the bottleneck changes with k, so it does not hold"
        kept = kept if closed.k > 1 else ", the least there can be"
        rows.append(("best number of chunks", f"k = {answer.best.k}, {show(answer.best.time, 'time')} (exact)"))
        rows.append(("closed form beside it", f"k* = √(Σ m/β of the other hops / α) = {closed.k:.4g}{kept}"))
        if answer.chosen in ("store-and-forward", "pipelined"):
            rows.append(("", "(for h equal hops √((h-1)m/αβ); the form with h in place of h-1 is off by one hop)"))
    if answer.concurrency is not None:
        rows += _requests(answer.concurrency)
    rows += [(hop.startup, _parts(hop)) for hop in route.hops if len(hop.parts) > 1][:_MOST_PARTS]
    return [Heading("Figures"), Grid(("", ""), rows, left=2)]


_MOST_PARTS = 4


def _parts(hop: RouteHop) -> str:
    return " + ".join(f"{show(value, 'time')} {name}" for name, value in hop.parts)


def _requests(found: Concurrency) -> list[tuple[str, str]]:
    rows = []
    if found.throughput > 0:
        share = f"{pages.share(found.fraction, 1)} of the line"
        rows.append(("requests in flight give", f"{show(found.throughput, 'bandwidth')}, {share}"))
    if found.needed is not None and found.needed_rate is not None:
        rows.append(("line rate needs", f"{found.needed} in flight, {found.needed_rate / 1e6:.4g} million requests/s"))
    return rows


def as_data(answer: Cost) -> dict[str, Any]:
    """The answer as JSON-ready data, SI units."""
    data = asdict(answer)
    data["time_s"] = answer.estimate.value
    data["way"] = answer.chosen
    data["effective"] = effective(answer.size, answer.estimate.value)
    data["binds"] = answer.estimate.binds
    return data


def print_many(asked: Sequence[Asked], as_json: bool) -> None:
    """A row for each question."""
    rows = [_Row(item, transfer.times(item.question), transfer.answer(item.question)) for item in asked]
    if as_json:
        print_json([_row_data(row) for row in rows])
        return
    single = all(len(item.question.route.hops) == 1 for item in asked)
    exchanged = any(item.question.receive is not None for item in asked)
    shown = _shown(asked[0].question, single)
    names = [name.replace("_", "-") for name in asked[0].varied]
    header = (*names, *shown.values(), "effective", *([] if single else ["best k"]))
    header += ("both directions",) if exchanged else ()
    table = []
    for row in rows:
        cells = [show(value, dimension) for value, dimension in row.asked.varied.values()]
        cells += [show(row.times[n], "time") for n in shown]
        cells.append(show(row.effective, "bandwidth"))
        cells += [] if single else [str(transfer.best_chunks(row.asked.question))]
        cells += [show(row.answer.value, "time")] if exchanged else []
        table.append(tuple(cells))
    title = "Cost over hops" if "hops" in asked[0].varied else f"Cost over {asked[0].path}"
    blocks: list[Block] = [Heading(title), pages.sweep(header, table)]
    if not single:
        of = "both directions" if exchanged else f"the {asked[0].question.way} way"
        text = f"effective: of {of}; pipelined: with its best k unless given"
        blocks.append(Line(text, "faint"))
    found = dict.fromkeys(premise for row in rows for premise in row.answer.shown_premises())
    print_document([*blocks, *pages.premises(list(found)[:_MOST_PREMISES])])


@dataclass(frozen=True, slots=True)
class _Row:
    """One question of a sweep, with the times of all ways and the answer to what was asked for."""

    asked: Asked
    times: dict[str, float]
    answer: Estimate

    @property
    def effective(self) -> float | None:
        """Byte/s of what was asked for."""
        return effective(self.asked.question.size, self.answer.value)


_MOST_PREMISES = 6


def _shown(question: Transfer, single: bool) -> dict[str, str]:
    """Way -> its column's title; over one hop they are one, but for a message that is cut."""
    if not single:
        return {name: name for name in WAYS}
    whole = {} if question.way == "store-and-forward" else {"store-and-forward": "in one piece"}
    return {question.way: "time"} | whole


def _row_data(row: _Row) -> dict[str, Any]:
    question = row.asked.question
    data: dict[str, Any] = {"size": question.size, **{name: value for name, (value, _) in row.asked.varied.items()}}
    data |= {"way": question.way, "time_s": row.answer.value, "binds": row.answer.binds, "ways_s": row.times}
    data["effective"] = row.effective
    if len(question.route.hops) > 1:
        data["best_k"] = transfer.best_chunks(question)
    return data
