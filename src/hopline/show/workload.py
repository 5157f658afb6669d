"""What a job sends, as text: a table of messages, what they cost, what binds them and what would help.

What belongs here: pages of ``hopline workload``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopline.quantity import binary, counted, show
from hopline.records.traffic import Priced, Sent, Workload
from hopline.show.document import Block, Grid, Heading, Line
from hopline.workload.shapes import KINDS, Model

_PER = {"training": "in a step", "prefill": "for a prompt", "decode": "for a token of each sequence"}
_GOES = {"prefill": "a prompt", "decode": "a token of each sequence"}
_BINDS = 0.65
"""Part of the time from which one of two binds it."""


def page(title: str, found: Workload, facts: Sequence[str]) -> list[Block]:
    """Messages, their prices where there is a network, what a rank keeps, and the KV cache."""
    per = _PER[found.phase]
    blocks: list[Block] = [Heading(title), *map(Line, facts), Line(_memory(found))]
    blocks += [Line(f"Mind: {note}.", "bad") for note in found.notes]
    if not found.sent and not found.way:
        return [*blocks, Line(_nothing(found, per)), *_cache(found)]
    most = "whose messages take longest" if found.priced and found.phase == "training" else "which sends most"
    where = f" of stage {found.stage + 1} of {found.stages}, {most}," if found.stages > 1 else ""
    total = sum(one.total for one in found.sent)
    blocks += [Heading(f"What a rank{where} sends {per}: {_size(total)}"), _messages(found.sent)]
    blocks += _legend(found)
    if found.phase != "training" and found.stages > 1:
        whole = sum(one.total for one in found.way)
        blocks += [Heading(f"What {_GOES[found.phase]} goes through in {found.stages} stages: {_size(whole)}")]
        blocks.append(_messages(found.way))
    if found.priced:
        blocks += _prices(found, per)
    else:
        blocks.append(
            Line("Give --machine, --level, or --latency and --bandwidth for what it costs, what binds and what helps.")
        )
    return [*blocks, *_cache(found), *_premises(found)]


def _nothing(found: Workload, per: str) -> str:
    if found.phase == "training":
        return f"Nothing is sent {per}: there is one rank."
    return (
        f"Nothing is sent {per}: the ranks of one replica send to one another, and replicas do not; what makes a replica of "
        "several ranks is --tp, --pp, --cp and --ep."
    )


def _memory(found: Workload) -> str:
    """What the fullest rank keeps."""
    kept = found.memory
    parts = [f"weights {_size(kept.weights)}"]
    if found.phase == "training":
        parts += [f"gradients {_size(kept.gradients)}", f"optimizer {_size(kept.optimizer)}"]
        why = f"Adam: {kept.optimizer_element:g} B a parameter; "
    else:
        parts, why = [*parts, f"KV cache {_size(kept.cache)}"], ""
    return f"The fullest rank keeps {_size(kept.total)}: {', '.join(parts)} ({why}without activations)."


def _messages(sent: Sequence[Sent]) -> Grid:
    rows = [
        (one.name, one.operation, _ranks(one), _size(one.size), f"{one.count:,}", _size(one.each), _size(one.total))
        for one in sent
    ]
    header = ("", "operation", "ranks", "size", "times", "a rank sends", "in all")
    return Grid(header, rows, left=2)


def _ranks(sent: Sent) -> str:
    if sent.axis == "kv":
        return "to another"
    if sent.axis == "pp":
        return f"to rank + {sent.step}"
    return f"{sent.ranks}" if sent.step == 1 else f"{sent.ranks}, {sent.step} apart"


def _legend(found: Workload) -> list[Block]:
    """How sizes come about, and what the columns mean."""
    blocks: list[Block] = [Line("Where that comes from:", "faint")]
    formulas = dict.fromkeys(f"  {one.name}: {one.formula} = {_size(one.size)}" for one in found.sent)
    blocks += [Line(text, "faint") for text in formulas]
    apart = next((one for one in found.sent if one.step > 1 and one.axis not in ("kv", "pp")), None)
    if apart is not None:
        some = ", ".join(str(apart.step * i) for i in range(min(3, apart.ranks)))
        more = ", ..." if apart.ranks > 3 else ""
        blocks.append(Line(f"  {apart.ranks}, {apart.step} apart: ranks {some}{more} make a group", "faint"))
    by = "by the algorithm below" if found.priced else "the least of any algorithm"
    blocks.append(Line(f"  a rank sends: {by}; size: as nccl-tests counts it", "faint"))
    return blocks


def _prices(found: Workload, per: str) -> list[Block]:
    rows = [
        (
            one.sent.name,
            one.sent.operation,
            one.algorithm,
            _range(one.estimate.low, one.estimate.value),
            _time(one.time),
            _percent(one.time, found.time),
            _percent(one.start, one.time),
            _percent(one.bytes, one.time),
            _binds(one),
        )
        for one in found.priced
    ]
    header = ("", "operation", "by", "one", "all", "share", "start-up", "bytes", "bound by")
    title = f"What it costs {per}: {_range(found.least, found.time)}, one after the other"
    told = f"{_percent(found.start, found.time)} of it are start-ups, {_percent(found.bytes, found.time)} bytes"
    rest = found.time - found.start - found.bytes
    told += f", {_percent(rest, found.time)} adding up." if rest > 1e-6 * found.time else "."
    blocks: list[Block] = [Heading(title), Grid(header, rows, left=3), Line(told)]
    blocks += [Line("Where a closed form is one of bounds, the upper one counts.")] if found.least < found.time else []
    changes = [(lever.name, _time(lever.time), _change(lever.gain)) for lever in found.levers]
    blocks += [Heading("What a change brings"), Grid(("", "all", ""), changes)]
    best = found.levers[0] if found.levers else None
    if best and best.gain > 0:
        blocks.append(Line(f"The lever: {best.name}, {_change(best.gain)}. {_idle(found)}".rstrip(), "strong"))
    return blocks


def _range(low: float | None, value: float) -> str:
    return _time(value) if low is None or _time(low) == _time(value) else f"{_time(low)} to {_time(value)}"


def _change(gain: float) -> str:
    return "0" if abs(gain) < 5e-4 else f"{-100 * gain:+.1f} %"


def _idle(found: Workload) -> str:
    idle = [lever.name for lever in found.levers if 0 <= lever.gain < 0.01]
    return f"Moves next to nothing: {', '.join(idle)}." if idle else ""


def _binds(one: Priced) -> str:
    if not one.time:
        return ""
    if one.start >= _BINDS * one.time:
        return "start-ups"
    return "bandwidth" if one.bytes >= _BINDS * one.time else "both"


def _cache(found: Workload) -> list[Block]:
    cache = found.cache
    told = (
        f"{cache.token:,.0f} B a token over all layers ({cache.kind.upper()}: {KINDS[cache.kind]}); "
        f"{_size(cache.sequence)} for {counted(cache.tokens, 'token')}."
    )
    return [] if found.phase == "training" else [Heading("KV cache"), Line(told)]


def _premises(found: Workload) -> list[Block]:
    return [Heading("Taken for granted"), *(Line(f"  {text}", "faint") for text in found.premises)]


def listing(models: Sequence[tuple[str, Model, float]]) -> list[Block]:
    """The models that there are, with the bytes that a token leaves in their caches."""
    rows = [
        (
            name,
            f"{model.parameters / 1e9:,.1f}e9",
            str(model.layers),
            f"{model.hidden:,}",
            f"{model.attention.kind.upper()}, {model.attention.keys or model.attention.latent}",
            f"{model.experts.per_token} of {model.experts.count}" if model.experts else "",
            f"{token:,.0f}",
        )
        for name, model, token in models
    ]
    header = ("model", "parameters", "layers", "hidden", "KV kept as", "experts", "KV B/token")
    more = "--show prints a model's file with its sources; one of your own is named the same way: hopline workload my.toml."
    return [Heading("Models"), Grid(header, rows), Line(more, "faint")]


def _time(value: float) -> str:
    return show(value, "time")


def _size(value: float) -> str:
    return binary(value)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.3g} %" if whole else "—"
