"""Route files: one flow a line, through which nodes it goes, in which buffer classes, and how fast it may be.

What belongs here: hopline's own layout, as text, JSON and TOML. A line of text is

    name: A leaf0 spine1 leaf2 B
    name: A>leaf0:3 leaf0>spine1:3 spine1>leaf2 leaf2>B [10Gb/s]

the nodes in order, or the hops with a buffer class behind each (0 where none is given); in brackets the rate that the flow
offers. What follows a # at the begin of a word is a comment. JSON and TOML hold a list ``flows`` of objects with ``name``,
``nodes``, and where wanted ``classes`` (one a hop) and ``rate``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hopline.errors import FormatError, HoplineError
from hopline.formats.lines import excerpt
from hopline.formats.schedules.bounded import lines, usable, whole
from hopline.formats.source import kept, shown
from hopline.quantity import bandwidth

MOST_CLASS = (1 << 16) - 1
MOST_FLOWS = 5_000_000
_RATE = re.compile(r"\[([^\[\]]*)\]\s*$")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_HOP = re.compile(r"([^\s>:]+)>([^\s>:]+)(?::(\d{1,6}))?")
_TABLE = re.compile(rb"(?:^|\n)[ \t]*\[\[[ \t]*flows[ \t]*\]\]")


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow of a file.

    Attributes
    ----------
    nodes
        In order, at least two.
    classes
        Buffer class of each hop; empty: the file gives none.
    rate
        Byte/s that it offers; None: as fast as it goes.
    """

    name: str
    nodes: tuple[str, ...]
    classes: tuple[int, ...] = ()
    rate: float | None = None


def read(path: str) -> tuple[Flow, ...]:
    """All flows of a file, in order; "-" is standard input. Raises FormatError in one line."""
    usable(path)
    with kept(path):
        found = tuple(_checked(path, _layout(path)(path)))
    if not found:
        raise FormatError(f"{shown(path)} holds no flow: expected lines like 'f1: A leaf0 spine1 leaf2 B'")
    return found


def _layout(path: str) -> Callable[[str], Iterator[Flow]]:
    """By what the file begins with."""
    first = b"".join(line + b"\n" for (_, line), _ in zip(lines(path), range(200), strict=False))
    if first.lstrip()[:1] == b"{":
        return _json
    return _toml if _TABLE.search(first) else _text


def _checked(path: str, flows: Iterator[Flow]) -> Iterator[Flow]:
    """Names are told apart, and there are not too many."""
    names: set[str] = set()
    for flow in flows:
        if flow.name in names:
            raise FormatError(f"{shown(path)}: two flows are called {flow.name!r}: expected a name for each")
        names.add(flow.name)
        if len(names) > MOST_FLOWS:
            raise FormatError(f"{shown(path)} holds more than {MOST_FLOWS} flows: expected fewer; leave out equal ones")
        yield flow


# --- text ---------------------------------------------------------------------------------------------------------


def _text(path: str) -> Iterator[Flow]:
    for number, raw in lines(path):
        try:
            line = _COMMENT.sub("", raw.decode("utf-8")).strip()
            if line:
                yield _line(line)
        except (UnicodeDecodeError, HoplineError) as error:
            why = "is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
            raise FormatError(f"{shown(path)} line {number}: {why}") from None


def _line(line: str) -> Flow:
    name, colon, rest = line.partition(": ")
    if not colon or not name.strip():
        raise FormatError(
            f"{excerpt(line.encode(), 40)!r}: expected 'name: A leaf0 spine1 B', a blank behind the colon"
        )
    rate = _RATE.search(rest)
    words = (rest[: rate.start()] if rate else rest).split()
    torn = next((word for word in words if set(word) & set("[]")), None)
    if torn is not None:
        raise FormatError(f"{torn[:40]!r} is no node: expected the rate last and in brackets, like [10Gb/s]")
    hops = any(">" in word for word in words)
    nodes, classes = _hops(words) if hops else (tuple(words), ())
    return _flow(name.strip(), nodes, classes, rate[1] if rate else None)


def _hops(words: list[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Nodes and classes of ``A>B:3 B>C``."""
    found = [_HOP.fullmatch(word) for word in words]
    nodes: list[str] = []
    classes = []
    for word, hop in zip(words, found, strict=True):
        if hop is None:
            raise FormatError(
                f"{word[:40]!r} is no hop: expected ones like A>leaf0 or A>leaf0:3 all along, a class of 0 or more, "
                "no ':' in names"
            )
        if nodes and nodes[-1] != hop[1]:
            raise FormatError(f"the hop {word[:40]!r} does not begin where the one before ends, at {nodes[-1]!r}")
        nodes += [hop[2]] if nodes else [hop[1], hop[2]]
        classes.append(int(hop[3] or 0))
    return tuple(nodes), tuple(classes)


def _flow(name: str, nodes: tuple[str, ...], classes: tuple[int, ...], rate: str | None) -> Flow:
    if len(nodes) < 2:
        raise FormatError(f"flow {name!r} has {len(nodes)} node(s): expected at least two")
    standing = next((a for a, b in pairwise(nodes) if a == b), None)
    if standing is not None:
        raise FormatError(f"flow {name!r} goes from {standing!r} to itself: expected another node next")
    if classes and len(classes) != len(nodes) - 1:
        raise FormatError(f"flow {name!r} has {len(classes)} classes: expected one a hop, {len(nodes) - 1}")
    if any(not 0 <= one <= MOST_CLASS for one in classes):
        raise FormatError(f"flow {name!r} has class {max(classes)}: expected classes from 0 to {MOST_CLASS}")
    return Flow(name, nodes, classes, None if rate is None else bandwidth(rate))


# --- JSON and TOML ------------------------------------------------------------------------------------------------


def _json(path: str) -> Iterator[Flow]:
    try:
        document = json.loads(whole(path))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is no JSON: {error}") from None
    return _listed(path, document)


def _toml(path: str) -> Iterator[Flow]:
    try:
        document = tomllib.loads(whole(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is no TOML: {error}") from None
    return _listed(path, document)


def _listed(path: str, document: dict[str, Any]) -> Iterator[Flow]:
    flows = document.get("flows")
    if not isinstance(flows, list):
        raise FormatError(f"{shown(path)} has no list 'flows': expected objects with 'name' and 'nodes' in it")
    for place, entry in enumerate(flows, 1):
        try:
            yield _entry(entry)
        except HoplineError as error:
            raise FormatError(f"{shown(path)} flow {place}: {error}") from None


def _entry(entry: object) -> Flow:
    match entry:
        case {"name": str(name), "nodes": list(nodes), **rest} if all(isinstance(n, str) and n for n in nodes):
            unknown = set(rest) - {"classes", "rate"}
            if unknown:
                raise FormatError(f"key {min(map(str, unknown))!r}: expected name, nodes, classes, rate")
            classes, rate = rest.get("classes", []), rest.get("rate")
            if not isinstance(classes, list) or any(type(one) is not int for one in classes):
                raise FormatError(f"flow {name!r}: 'classes' is {str(classes)[:40]}: expected whole numbers, one a hop")
            if rate is not None and not isinstance(rate, str):
                raise FormatError(f"flow {name!r}: 'rate' is {rate!r}: expected text with its unit, like '10Gb/s'")
            return _flow(name, tuple(nodes), tuple(classes), rate)
    raise FormatError(f"{str(entry)[:60]!r}: expected an object with 'name' (text) and 'nodes' (a list of text)")
