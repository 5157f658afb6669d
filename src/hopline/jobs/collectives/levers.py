"""What would help a collective: each change worked out anew by closed form, at several sizes.

What belongs here: the changes, what they are worth, and why some are worth nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hopline.jobs.collectives.ground import Ground, level_names
from hopline.jobs.collectives.pricing import Contender, contenders, fastest
from hopline.records.contest import NO_GAIN, RING, Changed, Lever, Parts, Timed


def levers(
    ground: Ground, taking: Sequence[Contender], fixed: Contender | None, sizes: Sequence[int]
) -> tuple[Lever, ...]:
    """Those of the algorithm that is ``fixed``, else of whichever is fastest; the one that helps most at the last size first.

    A change of the network is worked out for all algorithms (or for the one fixed), each with its own best chunks or rings.
    Gains below 1 stand for what would not help: the next algorithm, other numbers of chunks or rings.
    """
    if ground.ranks == 1:
        return ()
    shown = [fixed] if fixed else list(taking)
    before = [best(shown, size) for size in sizes]
    found = [
        _lever(name, [Contender(one.entry, changed) for one in shown], before) for name, changed in _changes(ground)
    ]
    found.append(_nics(ground, shown, before, bool(fixed), found[0]))
    others = [[c for c in taking if c.entry.algorithm != old.algorithm] for old in before]
    if all(others):
        news = [best(other, old.size) for other, old in zip(others, before, strict=True)]
        found.append(Lever("another algorithm", tuple(map(_changed, before, news))))
    for parts in dict.fromkeys(old.parts for old in before if old.beside):
        found += _numbers(parts, before)
    return tuple(sorted(found, key=lambda lever: -lever.gain))


def best(shown: Sequence[Contender], size: int) -> Timed:
    """The first of the fastest."""
    return fastest(shown, size)[0].at(size)


def _changes(ground: Ground) -> Iterator[tuple[str, Ground]]:
    """The bandwidth of the outermost level first."""
    for level, name in reversed(list(enumerate(level_names(ground.levels)))):
        yield f"twice the bandwidth {name}".strip(), ground.changed(level, bandwidth=2.0)
        yield f"half the start-up {name}".strip(), ground.changed(level, latency=0.5)
    if ground.levels.reduce:
        yield "adding up twice as fast", ground.changed(ground.outermost, reduce=0.5)


def _nics(ground: Ground, shown: Sequence[Contender], before: Sequence[Timed], alone: bool, bandwidth: Lever) -> Lever:
    """Twice the NICs of the outermost level; unless one algorithm stands ``alone``, those that only then make sense join in.

    ``bandwidth`` is what its doubling is worth: where that is more, the lever says why.
    """
    changed = ground.changed(ground.outermost, nics=2)
    joining = [] if alone else contenders(shown[0].entry.benchmark, changed, [old.size for old in before])[0]
    anew = joining or [Contender(one.entry, changed) for one in shown]
    lever = _lever(f"twice the NICs {level_names(ground.levels)[-1]}".strip(), anew, before)
    if all(here.gain >= there.gain / NO_GAIN for here, there in zip(lever.changed, bandwidth.changed, strict=True)):
        return lever
    old = {one.entry.algorithm: one for one in shown}
    gain = [one.entry.algorithm for one in anew if _gains(old.get(one.entry.algorithm), one, before)]
    whose = f"to {shown[0].entry.algorithm}" if alone else "to any algorithm here"
    said = f"more help only {', '.join(gain)} here" if gain else f"more are of no use {whose}"
    splits = f"a library that splits messages over NICs gets what {bandwidth.name} does"
    return replace(lever, why=f"a message goes by one of them, and {said}; {splits}")


def _gains(old: Contender | None, new: Contender, before: Sequence[Timed]) -> bool:
    """At any size; an algorithm that makes no sense with fewer NICs does."""
    return old is None or any(old.seconds(at.size) > NO_GAIN * new.seconds(at.size) for at in before)


def _lever(name: str, anew: Sequence[Contender], before: Sequence[Timed]) -> Lever:
    return Lever(name, tuple(_changed(old, best(anew, old.size)) for old in before))


def _changed(old: Timed, new: Timed) -> Changed:
    gain = old.estimate.value / new.estimate.value if new.estimate.value > 0 else 1.0
    return Changed(old.size, new.algorithm, new.estimate.value, gain)


def _numbers(parts: Parts, before: Sequence[Timed]) -> Iterator[Lever]:
    """Half and twice as many chunks, or rings."""
    for which, name in enumerate((f"half as many {parts}s", f"twice as many {parts}s")):
        changed = tuple(_number(old, parts, which) for old in before)
        slower = which == 1 and parts == RING and any(one.gain < 1 / NO_GAIN for one in changed)
        yield Lever(name, changed, "each ring pays start-ups of its own, for a smaller share" if slower else "")


def _number(old: Timed, parts: Parts, which: int) -> Changed:
    """With another number of ``parts``; an algorithm "" stands for one that has none of them."""
    if old.beside is None or old.parts != parts:
        return Changed(old.size, "", old.estimate.value, 1.0)
    seconds = old.beside[which]
    return Changed(old.size, old.algorithm, seconds, old.estimate.value / seconds if seconds > 0 else 1.0)
