"""What ``hopline p2p`` prints and draws: one question in full, many as a table, a picture of either."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hopline.cli.options import print_json
from hopline.jobs import transfer
from hopline.jobs.transfer import Cost, Transfer
from hopline.model.limits import Concurrency
from hopline.model.p2p import WAYS, Route, RouteHop
from hopline.quantity import Dimension, show
from hopline.show import transfer as pages
from hopline.show.document import Block, Grid, Heading, Line, print_document


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what it is called in a sweep."""

    question: Transfer
    varied: dict[str, tuple[float, Dimension]]
    path: str


# --- printing -----------------------------------------------------------------------------------------------------


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
    rows = [("long messages tend to", show(answer.peak, "bandwidth"))]
    if answer.half_size is not None:
        rows.insert(0, ("half of the peak from", show(math.ceil(answer.half_size), "size", 3)))
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
    data["effective"] = answer.size / answer.estimate.value if answer.estimate.value else None
    data["binds"] = answer.estimate.binds
    return data


def print_many(asked: Sequence[Asked], as_json: bool) -> None:
    """A row for each question."""
    rows = [(item, transfer.times(item.question), item.question) for item in asked]
    if as_json:
        print_json([_row_data(*row) for row in rows])
        return
    single = all(len(q.route.hops) == 1 for _, _, q in rows)
    exchanged = any(q.receive is not None for _, _, q in rows)
    shown = _shown(asked[0].question, single)
    names = [name.replace("_", "-") for name in asked[0].varied]
    header = (*names, *shown.values(), "effective", *(["best k"] if not single else []))
    header += ("both directions",) if exchanged else ()
    table = []
    for item, times, q in rows:
        cells = [show(value, dimension) for value, dimension in item.varied.values()]
        cells += [show(times[n], "time") for n in shown]
        asked_for = transfer.answer(q).value
        cells.append(show(q.size / asked_for if asked_for else None, "bandwidth"))
        cells += [] if single else [str(transfer.best_chunks(q))]
        cells += [show(transfer.exchange_time(q), "time")] if exchanged else []
        table.append(tuple(cells))
    blocks: list[Block] = [
        Heading("Cost over hops" if "hops" in asked[0].varied else f"Cost over {asked[0].path}"),
        pages.sweep(header, table),
    ]
    if not single:
        text = f"effective: of the {asked[0].question.way} way; pipelined: with its best k unless given"
        blocks.append(Line(text, "faint"))
    found = dict.fromkeys(premise for item in asked for premise in p2p_premises(item.question))
    print_document([*blocks, *pages.premises(list(found)[:_MOST_PREMISES])])


_MOST_PREMISES = 6


def _shown(question: Transfer, single: bool) -> dict[str, str]:
    """Way -> its column's title; over one hop they are one, but for a message that is cut."""
    if not single:
        return {name: name for name in WAYS}
    whole = {} if question.way == "store-and-forward" else {"store-and-forward": "in one piece"}
    return {question.way: "time"} | whole


def _row_data(item: Asked, times: dict[str, float], question: Transfer) -> dict[str, Any]:
    found = transfer.answer(question)
    data: dict[str, Any] = {"size": question.size, **{name: value for name, (value, _) in item.varied.items()}}
    data |= {"way": question.way, "time_s": found.value, "binds": found.binds, "ways_s": times}
    data["effective"] = question.size / found.value if found.value else None
    if len(question.route.hops) > 1:
        data["best_k"] = transfer.best_chunks(question)
    return data


def p2p_premises(question: Transfer) -> tuple[Any, ...]:
    """Premises of a question that are worth showing."""
    return WAYS[question.way](question.size, question.route, question.cut).shown_premises()
