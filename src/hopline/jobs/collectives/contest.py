"""The contest: every algorithm at every size, and from which size to which each wins and what binds.

What belongs here: composing times, winners, limits, levers and simulation into one answer, for one network or for several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hopline.errors import HoplineError, InputError, UnknownNameError
from hopline.jobs.collectives.ground import Ground, prices
from hopline.jobs.collectives.levers import levers
from hopline.jobs.collectives.names import Asked
from hopline.jobs.collectives.premises import premises
from hopline.jobs.collectives.pricing import Contender, contenders, fastest
from hopline.jobs.collectives.simulated import Simulate, Watch, simulated
from hopline.jobs.networks import Network
from hopline.records.contest import Contest, LeftOut, Row, Span
from hopline.study.searching import Run, runs

MOST_SIZE = 1 << 53
"""Bytes: beyond them a float is no whole number of bytes."""
DEFAULT_SIZES = tuple(1 << power for power in range(10, 31, 2))
"""1 KiB to 1 GiB."""
AROUND = 16
"""With one size, winners are told from this part of it to this multiple."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one network.

    ``sizes``: bytes; None: those of DEFAULT_SIZES. ``channels``: rings at once, None: as many as are fastest at each size.
    ``simulate``: the engine, where simulated times are wanted.
    """

    asked: Asked
    sizes: tuple[int, ...] | None = None
    channels: int | None = None
    simulate: Simulate | None = None


def whole_sizes(sizes: Sequence[float]) -> tuple[int, ...]:
    """Sizes in whole bytes, in order, each once. Raises InputError."""
    for size in sizes:
        if not 0 <= size <= MOST_SIZE or size != int(size):
            raise InputError(f"a size of {size:.17g} bytes: expected whole bytes, at most {MOST_SIZE}")
    return tuple(sorted({int(size) for size in sizes}))


def contest(network: Network, question: Question, watch: Watch = lambda fraction, text: None) -> Contest:
    """All algorithms side by side on ``network``.

    Raises InputError where no algorithm can be asked, UnknownNameError for an algorithm that there is not.
    """
    benchmark = question.asked.benchmark
    watch(0.0, "closed forms")
    ground = Ground.of(network, question.channels)
    sizes, sized = _sizes(question, ground)
    taking, left = contenders(benchmark, ground, sizes)
    fixed = _fixed(question.asked, taking, left)
    told = sized and network.ranks > 1
    winners = _winners(taking, sizes) if told else ()
    rows = tuple(
        Row(size, tuple(contender.at(size) for contender in _ordered(taking, winners, sizes))) for size in sizes
    )
    if question.simulate is not None:
        rows = simulated(rows, taking, network, question.simulate, watch)
    largest = fixed or next(c for c in taking if c.entry.algorithm == rows[-1].best.algorithm)
    return Contest(
        benchmark, _note(network), prices(ground), network.ranks, tuple(t.algorithm for t in rows[0].times), rows, tuple(left),
        winners, _limits(taking, fixed, sizes) if told else (), levers(ground, taking, fixed, _told(sizes)),
        question.asked.algorithm, premises(network, largest, largest.at(sizes[-1])), question.simulate is not None, sized,
    )  # fmt: skip


def contests(
    networks: Sequence[tuple[str, Callable[[], Network]]],
    question: Question,
    watch: Watch = lambda fraction, text: None,
) -> tuple[list[tuple[str, Contest]], list[tuple[str, str]]]:
    """One for each network by its label, and those that cannot be, with the reason.

    Raises UnknownNameError, since a name that there is not is no network, and what the last one raised where none can be.
    """
    found: list[tuple[str, Contest]] = []
    failed: list[tuple[str, str]] = []
    for i, (label, made) in enumerate(networks):
        try:
            part = _part(watch, i / len(networks), 1 / len(networks), label)
            found.append((label, contest(made(), question, part)))
        except UnknownNameError:
            raise
        except HoplineError as error:
            if not found and i + 1 == len(networks):
                raise
            failed.append((label, str(error)))
    return found, failed


def curve(network: Network, question: Question, per_octave: int = 4) -> tuple[Row, ...]:
    """Rows at evenly spread sizes from the smallest to the largest one asked, by closed form: for pictures."""
    ground = Ground.of(network, question.channels)
    sizes, _ = _sizes(question, ground)
    low, high = max(1, sizes[0]), max(1, sizes[-1])
    spread, size = {low, high, *(s for s in sizes if s)}, float(low)
    while size < high:
        spread.add(round(size))
        size *= 2 ** (1 / per_octave)
    taking, _ = contenders(question.asked.benchmark, ground, sizes)
    return tuple(Row(m, tuple(contender.at(m) for contender in taking)) for m in sorted(spread))


def _note(network: Network) -> str:
    """Machine and layout."""
    return network.note if network.fabric is network.levels else f"{network.fabric.name}: {network.note}"


def _part(watch: Watch, begun: float, share: float, label: str) -> Watch:
    return lambda fraction, text: watch(begun + share * fraction, f"{label}, {text}")


def _sizes(question: Question, ground: Ground) -> tuple[tuple[int, ...], bool]:
    """The sizes, and whether they mean anything: nothing is sent whatever the size, the size is 0."""
    benchmark = question.asked.benchmark
    largest = (question.sizes or DEFAULT_SIZES)[-1]
    probe, _ = contenders(benchmark, ground, (largest,))
    sized = ground.ranks == 1 or largest == 0 or any(contender.form(largest).sent for contender in probe)
    if not sized and question.sizes is not None:
        raise InputError(f"{benchmark} moves no bytes: leave the sizes away")
    return (question.sizes or DEFAULT_SIZES) if sized else (0,), sized


def _fixed(asked: Asked, taking: Sequence[Contender], left: Sequence[LeftOut]) -> Contender | None:
    if not asked.algorithm:
        return None
    for contender in taking:
        if contender.entry.algorithm == asked.algorithm:
            return contender
    for out in left:
        if out.algorithm == asked.algorithm:
            raise InputError(f"{asked.benchmark}-{out.algorithm}: {out.reason}")
    raise UnknownNameError(f"algorithm of {asked.benchmark}", asked.algorithm, [c.entry.algorithm for c in taking])


def _reach(sizes: Sequence[int]) -> tuple[int, int]:
    """Sizes between which winners are told."""
    low, high = max(1, sizes[0]), max(1, sizes[-1])
    return (max(1, low // AROUND), min(MOST_SIZE, high * AROUND)) if low == high else (low, high)


def _winners(taking: Sequence[Contender], sizes: Sequence[int]) -> tuple[Span, ...]:
    return _spans(runs(lambda m: [contender.entry.algorithm for contender in fastest(taking, m)], *_reach(sizes)))


def _limits(taking: Sequence[Contender], fixed: Contender | None, sizes: Sequence[int]) -> tuple[Span, ...]:
    """What takes most of the time of the fastest, or of the algorithm that was named."""
    shown = [fixed] if fixed else taking
    return _spans(runs(lambda m: [fastest(shown, m)[0].at(m).estimate.binds], *_reach(sizes)))


def _spans(found: Sequence[Run[str]]) -> tuple[Span, ...]:
    return tuple(Span(run.low, run.high, run.answer) for run in found)


def _ordered(taking: Sequence[Contender], winners: Sequence[Span], sizes: Sequence[int]) -> list[Contender]:
    """Those that win first, in the order of size; the others by their time at the largest size."""
    places = {name: i for i, name in enumerate(dict.fromkeys(span.name for span in winners))}

    def place(contender: Contender) -> tuple[int, float]:
        return places.get(contender.entry.algorithm, len(places)), contender.at(sizes[-1]).time

    return sorted(taking, key=place)


def _told(sizes: Sequence[int]) -> tuple[int, ...]:
    """The smallest size that is not 0, a middle one and the largest: where levers are worked out."""
    some = [size for size in sizes if size] or list(sizes)
    return tuple(dict.fromkeys((some[0], some[len(some) // 2], some[-1])))
