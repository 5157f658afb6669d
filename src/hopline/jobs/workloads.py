"""What a job sends, from a model and how it is spread to messages with their prices, and which lever moves them.

What belongs here: composing ``model.phases`` with the prices of collectives on the groups of a network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError
from hopline.jobs.collective_prices import Pricing
from hopline.jobs.subgroups import Ranks
from hopline.machine.fabric import Level
from hopline.model import phases
from hopline.model.phases import Types
from hopline.quantity import DTYPES
from hopline.records.estimate import Estimate, Term
from hopline.records.traffic import Cache, Changed, Priced, Sent, Workload
from hopline.workload import files
from hopline.workload.parallel import Parallel, Phase
from hopline.workload.shapes import Model


@dataclass(frozen=True, slots=True)
class Asked:
    """A job: its model, how it is spread, what is looked at; ``network`` None: bytes alone."""

    model: Model
    parallel: Parallel
    phase: Phase
    types: Types = phases.TYPES
    network: Ranks | None = None


def listed() -> list[tuple[str, Model, float]]:
    """The models that come with hopline, small ones first: name, shape, and bytes that a token leaves in its caches (bf16)."""
    models = [(name, files.find(name)) for name in files.model_names()]
    found = [(name, model, float(phases.cache_of_token(model, 2))) for name, model in models]
    return sorted(found, key=lambda one: one[1].parameters)


def workload(asked: Asked) -> Workload:
    """All that a rank takes part in. Raises WorkloadError where the model cannot be spread so, and what pricing raises."""
    sent = phases.sent(asked.model, asked.parallel, asked.phase, asked.types)
    cache = _cache(asked)
    if asked.network is None:
        return Workload(asked.phase, sent, (), (), cache, ())
    priced = _priced(sent, asked.network)
    return Workload(
        asked.phase, sent, priced, tuple(_levers(asked, priced)), cache,
        tuple(f"{p.text}: {p.effect}" for p in asked.network.grown(asked.parallel.ranks)),
    )  # fmt: skip


def _cache(asked: Asked) -> Cache:
    """Bytes of KV cache, whole."""
    model, parallel = asked.model, asked.parallel
    token = phases.cache_of_token(model, float(DTYPES[asked.types.cache]))
    return Cache(model.attention.kind, float(token), parallel.sequence, float(token * parallel.sequence))


def _priced(sent: tuple[Sent, ...], network: Ranks) -> tuple[Priced, ...]:
    return tuple(_price(one, network) for one in sent)


def _price(sent: Sent, network: Ranks) -> Priced:
    if sent.operation == "sendrecv":
        curve = (
            network.levels[-1].curve if sent.axis == "kv" else network.network(sent.ranks, sent.step).levels.curves[-1]
        )
        time = float(curve.time(sent.size))
        start = min(time, curve.pieces[0].latency)
        terms = (Term("start-ups", start), Term("bytes", time - start))
        return Priced(sent, "one message", Estimate.of("sendrecv", terms, "sum"))
    best = Pricing(network.network(sent.ranks, sent.step), sent.operation).best(sent.size)
    return Priced(sent, best.algorithm, best.estimate)


def _levers(asked: Asked, priced: tuple[Priced, ...]) -> list[Changed]:
    """Each change worked out anew, with the fastest algorithm under it; the one that helps most first."""
    network = asked.network
    assert network is not None
    now = sum(one.time for one in priced)
    changes: dict[str, Callable[[], float]] = {}
    for place, name in enumerate(_names(network)):
        changes[f"half the start-up{name}"] = lambda place=place: _time(asked, _scaled(network, place, latency=0.5))  # type: ignore[misc]
        changes[f"twice the bandwidth{name}"] = lambda place=place: _time(asked, _scaled(network, place, bandwidth=2.0))  # type: ignore[misc]
    parallel = asked.parallel
    if parallel.tp > 1 and asked.phase != "decode":
        other = replace(parallel, sequence_parallel=not parallel.sequence_parallel)
        changes[f"sequence parallelism {'off' if parallel.sequence_parallel else 'on'}"] = lambda: _time(
            replace(asked, parallel=other)
        )
    for name, attribute in (("gradients in bf16", "gradient"), ("tokens to experts in fp8", "dispatch")):
        dtype = name.split()[-1]
        if DTYPES[getattr(asked.types, attribute)] > DTYPES[dtype]:
            types = replace(asked.types, **{attribute: dtype})
            changes[name] = lambda types=types: _time(replace(asked, types=types))  # type: ignore[misc]
    found = []
    for name, time in changes.items():
        try:
            then = time()
        except HoplineError:
            continue
        if abs(then - now) > 1e-9 * now or " the " in name:
            found.append(Changed(name, then, (now - then) / now if now else 0.0))
    return sorted(found, key=lambda one: one.time)


def _names(network: Ranks) -> list[str]:
    if len(network.levels) == 1:
        return [""]
    if len(network.levels) == 2:
        return [" inside nodes", " between nodes"]
    return [f" of level {number}" for number in range(1, len(network.levels) + 1)]


def _time(asked: Asked, network: Ranks | None = None) -> float:
    sent = phases.sent(asked.model, asked.parallel, asked.phase, asked.types)
    where = network or asked.network
    assert where is not None
    return sum(one.time for one in _priced(sent, where))


def _scaled(network: Ranks, place: int, latency: float = 1.0, bandwidth: float = 1.0) -> Ranks:
    old = network.levels[place]
    curve = Curve(tuple(Piece(p.low, p.latency * latency, p.bandwidth * bandwidth) for p in old.curve.pieces))
    levels = (*network.levels[:place], Level(old.ranks, curve, old.nics), *network.levels[place + 1 :])
    return replace(network, levels=levels)
