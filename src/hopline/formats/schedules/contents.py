"""What a schedule file holds by its own count, and what is asked of it.

What belongs here: the words that all readers of this folder share. Not here: any format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hopline.errors import InputError, QuantityError
from hopline.quantity import parse, show
from hopline.schedule.operations import Schedule

Fact = int | str | bool | dict[str, int] | tuple[int, ...]
Expand = Callable[[str, int, int], Schedule]
"""From benchmark, ranks and bytes (as ``Shape`` counts them) to the schedule of a collective."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file says of itself, and what was counted in it.

    Attributes
    ----------
    format, name
        Key of SCHEDULE_FORMATS, and what the file calls its schedule.
    ranks
        Number of ranks.
    facts
        By the names that the format itself uses.
    sizes
        Least and most bytes that the file is made for; None: it does not say.
    remarks
        What a reader should know before he uses it.
    refusal
        Why no schedule can be made of it; empty: one can.
    """

    format: str
    name: str
    ranks: int
    facts: dict[str, Fact] = field(default_factory=dict)
    sizes: tuple[int, int] | None = None
    remarks: tuple[str, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a file.

    Attributes
    ----------
    size
        Bytes of a rank's buffer, as ``Shape`` counts them; for formats that count in chunks.
    ranks
        How many ranks are expected; None: as many as the file has.
    collective
        What becomes of collectives that a file only names (Chakra); None: the reader's own choice.
    """

    size: int | None = None
    ranks: int | None = None
    collective: Expand | None = None

    def __post_init__(self) -> None:
        for name, least in (("size", 0), ("ranks", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is {value}: expected at least {least}")


Place = Callable[[int], str]
"""From a row of a schedule to where it stands in its file: ``line 7, label l2``. Words are made when they are asked for."""


def nowhere(row: int) -> str:  # noqa: ARG001 (a Place)
    """The Place of rows that stand in no file."""
    return ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A schedule from a file, what the file holds, what should be known of both, and where each row stands in the file."""

    schedule: Schedule
    contents: Contents
    remarks: tuple[str, ...] = ()
    place: Place = nowhere


class Plan(Protocol):
    """A file that was read, before it is known for which size."""

    @property
    def contents(self) -> Contents:
        """What it holds."""
        ...

    def reading(self, asked: Asked) -> Reading:
        """What it says for the size that is asked. Raises FormatError where ``contents.refusal`` says why."""
        ...


def beyond(contents: Contents, size: int) -> tuple[str, ...]:
    """A remark where a file is not made for ``size``."""
    if contents.sizes is None or contents.sizes[0] <= size <= contents.sizes[1]:
        return ()
    made = " to ".join(dict.fromkeys(exact(one) for one in contents.sizes))
    return (f"{exact(size)} is asked for: {contents.name} is made for {made}",)


def exact(size: int) -> str:
    """A size as people write it, or in bytes where that would round it."""
    text = show(size, "size")
    try:
        same = parse(text, "size") == size
    except QuantityError:
        same = False
    return text if same else f"{size} bytes"


def idle(ranks: int, rank: NDArray[np.int32]) -> tuple[str, ...]:
    """A remark where some of ``ranks`` have no operation; ``rank``: of each operation."""
    none = np.flatnonzero(np.bincount(rank, minlength=ranks) == 0)
    if not len(none):
        return ()
    words = "rank has no operation" if len(none) == 1 else "ranks have no operation"
    return (f"{len(none)} {words}: {listed(none.tolist())}",)


def expect_ranks(shown: str, found: int, asked: Asked) -> None:
    """Raise InputError where another number of ranks was asked for."""
    if asked.ranks is not None and asked.ranks != found:
        raise InputError(f"{shown} is for {found} ranks: {asked.ranks} were asked for")


def expect_no_size(shown: str, asked: Asked) -> None:
    """Raise InputError where a size was asked for, and the file has its own."""
    if asked.size is not None:
        raise InputError(f"{shown} has its own sizes: {exact(asked.size)} is asked for; leave the size out")


def total(values: NDArray[np.int64]) -> int:
    """The sum, however large."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name comes, the most frequent first, then by name."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def listed(numbers: Iterable[int], most: int = 8) -> str:
    """Numbers for a message: ``1-5, 9``, cut after ``most`` runs."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:most]]
    return ", ".join([*parts, "..."] if len(runs) > most else parts)
