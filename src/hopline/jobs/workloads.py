"""What a job sends, from a model and how it is spread to messages with their prices, and which lever moves them.

What belongs here: composing ``model.phases`` with the prices of collectives on the groups of a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError
from hopline.jobs import workload_words as words
from hopline.jobs.collective_prices import Pricing
from hopline.jobs.subgroups import Ranks
from hopline.machine.fabric import Level
from hopline.model import holding, phases
from hopline.model.job import TYPES, Types
from hopline.model.phases import Rows
from hopline.quantity import DTYPES
from hopline.records.estimate import Estimate, Term
from hopline.records.traffic import Cache, Changed, Memory, Priced, Sent, Workload
from hopline.workload import files
from hopline.workload.parallel import Parallel, Phase
from hopline.workload.shapes import Model


@dataclass(frozen=True, slots=True)
class Asked:
    """A job: its model, how it is spread, what is looked at; ``network`` None: bytes alone."""

    model: Model
    parallel: Parallel
    phase: Phase
    types: Types = TYPES
    network: Ranks | None = None


def listed() -> list[tuple[str, Model, float]]:
    """The models that come with hopline, small ones first: name, shape, and bytes that a token leaves in its caches (bf16)."""
    models = [(name, files.find(name)) for name in files.model_names()]
    found = [(name, model, float(phases.cache_of_token(model, 2))) for name, model in models]
    return sorted(found, key=lambda one: one[1].parameters)


def workload(asked: Asked) -> Workload:
    """All that a rank takes part in. Raises WorkloadError where the model cannot be spread so, and what pricing raises."""
    model, parallel = asked.model, asked.parallel
    found = _course(asked, Prices(asked.network, parallel.ranks) if asked.network else None)
    return Workload(
        asked.phase, found.stage, parallel.pp, found.sent, found.way, found.priced,
        tuple(_levers(asked, found.priced)) if found.priced else (), _cache(asked), _memory(asked),
        tuple(words.notes(model, parallel, asked.phase)),
        (*words.premises(model, parallel, asked.phase, asked.types.element), *_about(asked, found.way)),
    )  # fmt: skip


def _about(asked: Asked, rows: Rows) -> list[str]:
    """What is taken for granted about the network."""
    if asked.network is None:
        return []
    grown = [f"{p.text}: {p.effect}" for p in asked.network.grown(asked.parallel.ranks)]
    cut = [
        asked.network.uneven(*group, asked.parallel.ranks)
        for one in rows
        if (group := (one.ranks, one.step)) and one.axis != "kv"
    ]
    return [*grown, *dict.fromkeys(text for text in cut if text)]


def _cache(asked: Asked) -> Cache:
    """Bytes of KV cache, whole."""
    model, parallel = asked.model, asked.parallel
    token = phases.cache_of_token(model, float(DTYPES[asked.types.cache]))
    return Cache(model.attention.kind, float(token), parallel.sequence, float(token * parallel.sequence))


def _memory(asked: Asked) -> Memory:
    types, element = asked.types, float(DTYPES[asked.types.element])
    if asked.phase == "training":
        return holding.memory(asked.model, asked.parallel, element, float(DTYPES[types.gradient]))
    return holding.serving(asked.model, asked.parallel, element, float(DTYPES[types.cache]))


class Prices:
    """Prices of messages of a job of ``job`` ranks, each worked out once."""

    def __init__(self, network: Ranks, job: int) -> None:
        self.network, self.job = network, job
        self._known: dict[tuple[str, str, int, int, float], Priced] = {}

    def of(self, sent: Sent) -> Priced:
        """The price of one, and the bytes that a rank sends for it by that algorithm."""
        key = sent.axis, sent.operation, sent.ranks, sent.step, sent.size
        if key not in self._known:
            self._known[key] = self._price(sent)
        known = self._known[key]
        return Priced(replace(sent, each=known.sent.each), known.algorithm, known.estimate)

    def _price(self, sent: Sent) -> Priced:
        if sent.axis == "kv":
            return Priced(sent, "one message", _message(self.network.levels[-1].curve, sent.size))
        seen = self.network.network(sent.ranks, sent.step, self.job)
        if sent.operation == "sendrecv":
            return Priced(sent, "one message", _message(seen.levels.curves[-1], sent.size))
        pricing = Pricing(seen, sent.operation)
        best = pricing.best(sent.size)
        return Priced(replace(sent, each=pricing.sent(sent.size)), best.algorithm, best.estimate)


def _message(curve: Curve, size: float) -> Estimate:
    time = float(curve.time(size))
    start = min(time, curve.pieces[0].latency)
    return Estimate.of("sendrecv", (Term("start-ups", start), Term("bytes", time - start)), "sum")


@dataclass(frozen=True, slots=True)
class _Course:
    """The stage that counts, what a rank of it sends, and what one goes through, with prices where there is a network."""

    stage: int
    sent: Rows
    way: Rows
    priced: tuple[Priced, ...]


def _course(asked: Asked, prices: Prices | None) -> _Course:
    """Of a step the stage whose messages take longest, or are most bytes; a prompt or token goes through all stages."""
    stages = phases.stages(asked.model, asked.parallel, asked.phase, asked.types)
    if prices is None:
        stage = _most([phases.total(rows) for rows in stages])
        way = stages[stage] if asked.phase == "training" else phases.way(stages)
        return _Course(stage, stages[stage], way, ())
    known = {rows: tuple(map(prices.of, rows)) for rows in dict.fromkeys(stages)}
    if asked.phase == "training":
        stage = _most([sum(one.time for one in known[rows]) for rows in stages])
        priced = known[stages[stage]]
        sent = tuple(one.sent for one in priced)
        return _Course(stage, sent, sent, priced)
    stage = _most([sum(one.sent.total for one in known[rows]) for rows in stages])
    priced = tuple(map(prices.of, phases.way(stages)))
    return _Course(stage, tuple(one.sent for one in known[stages[stage]]), tuple(one.sent for one in priced), priced)


def _most(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _levers(asked: Asked, priced: tuple[Priced, ...]) -> list[Changed]:
    """Each change worked out anew, with the fastest algorithm under it; the one that helps most first."""
    now = sum(one.time for one in priced)
    found = []
    for name, change in _changes(asked).items():
        try:
            then = _time(change)
        except HoplineError:
            continue
        if abs(then - now) > 1e-9 * now or " the " in name:
            found.append(Changed(name, then, (now - then) / now if now else 0.0))
    return sorted(found, key=lambda one: one.time)


def _changes(asked: Asked) -> dict[str, Asked]:
    """What can be changed: the network, how activations are shared, data types."""
    network, parallel, types = asked.network, asked.parallel, asked.types
    assert network is not None
    changes: dict[str, Asked] = {}
    for place, name in enumerate(_names(network)):
        changes[f"half the start-up{name}"] = replace(asked, network=_scaled(network, place, latency=0.5))
        changes[f"twice the bandwidth{name}"] = replace(asked, network=_scaled(network, place, bandwidth=2.0))
    if parallel.tp > 1 and asked.phase != "decode":
        other = replace(parallel, sequence_parallel=not parallel.sequence_parallel)
        changes[f"sequence parallelism {'off' if parallel.sequence_parallel else 'on'}"] = replace(
            asked, parallel=other
        )
    for name, attribute in (("gradients in bf16", "gradient"), ("tokens to experts in fp8", "dispatch")):
        dtype = name.split()[-1]
        if DTYPES[getattr(types, attribute)] > DTYPES[dtype]:
            changes[name] = replace(asked, types=replace(types, **{attribute: dtype}))
    return changes


def _names(network: Ranks) -> list[str]:
    if len(network.levels) == 1:
        return [""]
    if len(network.levels) == 2:
        return [" inside nodes", " between nodes"]
    return [f" of level {number}" for number in range(1, len(network.levels) + 1)]


def _time(asked: Asked) -> float:
    assert asked.network is not None
    return sum(one.time for one in _course(asked, Prices(asked.network, asked.parallel.ranks)).priced)


def _scaled(network: Ranks, place: int, latency: float = 1.0, bandwidth: float = 1.0) -> Ranks:
    old = network.levels[place]
    curve = Curve(tuple(Piece(p.low, p.latency * latency, p.bandwidth * bandwidth) for p in old.curve.pieces))
    levels = (*network.levels[:place], Level(old.ranks, curve, old.nics), *network.levels[place + 1 :])
    return replace(network, levels=levels)
