"""What changes of a step bring, as text, and the next thing worth changing.

What belongs here: the ranking of ``hopline step``, and its last word.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hopline.records.step import Answer, Effect
from hopline.show.document import Block, Grid, Heading, Line
from hopline.show.step_backwards import amount
from hopline.show.step_numbers import NOTHING, gain, seconds, share


def ranking(found: Answer) -> list[Block]:
    """What a tenth of each input brings, then what is counted."""
    rows = [_effect(effect, gain(-effect.loss)) for effect in found.effects]
    header = ("a tenth better", "is", "then", "step", "changes it by", "a tenth worse")
    blocks: list[Block] = [Heading("What a change of each brings alone"), Grid(header, rows)]
    idle = [effect.name for effect in found.effects if abs(effect.gain) < NOTHING]
    if idle and not found.last.cost and found.last.comm:
        spare = seconds(found.last.slack)
        blocks.append(Line(f"Moves nothing, because communication is hidden ({spare} to spare): {', '.join(idle)}."))
    elif idle:
        blocks.append(Line(f"Moves next to nothing: {', '.join(idle)}."))
    if found.choices:
        counts = [_effect(effect) for effect in found.choices]
        blocks.append(Grid(("as many", "is", "then", "step", "changes it by"), counts))
    return [*blocks, *_best(found)]


def _effect(effect: Effect, *more: str) -> tuple[str, ...]:
    if effect.better == effect.now:
        told = ("neither half nor twice", seconds(effect.better_time), gain(0.0))
    else:
        told = (amount(effect.better, effect), seconds(effect.better_time), gain(effect.gain))
    return (effect.name, amount(effect.now, effect), *told, *more)


def _best(found: Answer) -> list[Block]:
    """The best number of buckets, or why it cannot be told."""
    last = found.last
    if found.best_buckets is None or found.best_step is None:
        alone = len(last.buckets) > 1 and found.bytes_unknown
        text = "The best number of buckets cannot be told from times alone: give --size, --latency and --bandwidth, or --op."
        return [Line(text)] if alone else []
    if found.best_buckets == found.most_buckets:
        return [Line(f"More buckets are ever better, up to the {found.most_buckets:,} that were looked at.")]
    tried = f" of up to {found.most_buckets:,}" if found.most_buckets else ""
    return [
        Line(f"The best number of equal buckets{tried} is {found.best_buckets}: a step of {seconds(found.best_step)}.")
    ]


def following(found: Answer, own: Collection[str]) -> list[str]:
    """The next thing worth changing: of communication, then of the rest."""
    last = found.last
    options = sorted((*found.effects, *found.choices), key=lambda effect: -effect.gain)
    options = [effect for effect in options if effect.gain >= NOTHING]
    mine = [effect for effect in options if effect.name in own]
    if found.bytes_unknown or found.best_buckets == found.most_buckets:
        mine = [effect for effect in mine if effect.name != "buckets"]
    others = [effect for effect in options if effect.name not in own]
    if not last.comm:
        told = ["There is no communication to change."]
    elif not last.cost:
        told = ["Communication is hidden: changing it gains nothing."]
    else:
        told = [_of_communication(found, mine)]
    if others:
        told.append(f"Of the rest this moves most: {_change_of(others[0])}.")
    return told


def _of_communication(found: Answer, mine: Sequence[Effect]) -> str:
    """What it costs, and what of it moves most."""
    last, best = found.last, found.best_step
    most = share(last.cost, last.step)
    told = f"Communication costs the step {seconds(last.cost)}: all that changing it can gain is {most}."
    better = 0.0 if best is None else 1 - best / float(last.step)
    if found.best_buckets != found.most_buckets and better >= NOTHING and (not mine or better > mine[0].gain):
        counts = f"{found.best_buckets} buckets instead of {len(last.buckets)}"
        return f"{told} Of what it depends on this moves most: {counts} ({seconds(best)}, {gain(better)})."
    if not mine:
        return f"{told} No small change of what it depends on moves the step."
    return f"{told} Of what it depends on this moves most: {_change_of(mine[0])}."


def _change_of(effect: Effect) -> str:
    change = f"{amount(effect.now, effect)} -> {amount(effect.better, effect)}"
    return f"{effect.name} {change} ({seconds(effect.better_time)}, {gain(effect.gain)})"
