"""What would help a collective: each change worked out anew by closed form, at several sizes.

What belongs here: the changes, and what they are worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hopline.jobs.collectives.ground import Ground, level_names
from hopline.jobs.collectives.pricing import Contender
from hopline.records.contest import Changed, Lever, Timed


def levers(
    ground: Ground, taking: Sequence[Contender], fixed: Contender | None, sizes: Sequence[int]
) -> tuple[Lever, ...]:
    """Those of the algorithm that is ``fixed``, else of whichever is fastest; the one that helps most at the last size first.

    A change of the network is worked out for all algorithms (or for the one fixed), each with its own best chunks. Gains below
    1 stand for what would not help: the next algorithm, other numbers of chunks.
    """
    if ground.ranks == 1:
        return ()
    shown = [fixed] if fixed else list(taking)
    before = [best(shown, size) for size in sizes]
    found = [_lever(name, changed, shown, before) for name, changed in _changes(ground)]
    others = [[c for c in taking if c.entry.algorithm != old.algorithm] for old in before]
    if all(others):
        news = [best(other, old.size) for other, old in zip(others, before, strict=True)]
        found.append(Lever("another algorithm", tuple(map(_changed, before, news))))
    if any(old.beside for old in before):
        found += [Lever(name, tuple(_cut(old, i) for old in before)) for i, name in enumerate(_CUTS)]
    return tuple(sorted(found, key=lambda lever: -lever.gain))


_CUTS = ("half as many chunks", "twice as many chunks")


def best(shown: Sequence[Contender], size: int) -> Timed:
    """The first of the fastest."""
    return min(shown, key=lambda contender: contender.seconds(size)).at(size)


def _changes(ground: Ground) -> Iterator[tuple[str, Ground]]:
    names = level_names(ground.levels)
    yield f"twice the NICs {names[-1]}".strip(), ground.changed(ground.outermost, nics=2)
    for level, name in enumerate(names):
        yield f"twice the bandwidth {name}".strip(), ground.changed(level, bandwidth=2.0)
        yield f"half the start-up {name}".strip(), ground.changed(level, latency=0.5)
    if ground.levels.reduce:
        yield "adding up twice as fast", ground.changed(ground.outermost, reduce=0.5)


def _lever(name: str, changed: Ground, shown: Sequence[Contender], before: Sequence[Timed]) -> Lever:
    anew = [Contender(contender.entry, changed) for contender in shown]
    return Lever(name, tuple(_changed(old, best(anew, old.size)) for old in before))


def _changed(old: Timed, new: Timed) -> Changed:
    gain = old.estimate.value / new.estimate.value if new.estimate.value > 0 else 1.0
    return Changed(old.size, new.algorithm, new.estimate.value, gain)


def _cut(old: Timed, which: int) -> Changed:
    """With another number of chunks; an algorithm "" stands for one that cuts nothing."""
    if old.beside is None:
        return Changed(old.size, "", old.estimate.value, 1.0)
    seconds = old.beside[which]
    return Changed(old.size, old.algorithm, seconds, old.estimate.value / seconds if seconds > 0 else 1.0)
