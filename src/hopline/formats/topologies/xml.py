"""XML of topologies as a tree of plain elements: bounded, with line numbers, and nothing expanded.

What belongs here: from bytes to elements and from attributes to numbers. A DTD may be named (hwloc does); one that declares
anything inside the file is refused, so that no entity is ever expanded. Not here: what an element means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.source import opened, shown

MOST = 1 << 27
"""Bytes of a document."""
MOST_ELEMENTS = 1 << 19
DEEPEST = 200
"""Elements within one another."""
_PIECE = 1 << 18
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_PROLOG = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*(?:\[[^\]]*\]\s*)?>)*", re.DOTALL)
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)(?=[\s/>]|$)")


def root(start: bytes) -> str:
    """Name of the first element of a document that begins with ``start``; empty where it is no XML."""
    begin = _PROLOG.match(start)
    found = _ROOT.match(start, begin.end() if begin else 0)
    return found[1].decode("ascii", "replace") if found else ""


@dataclass(slots=True, eq=False)
class Element:
    """An element, its attributes and what stands in it, without text."""

    tag: str
    attributes: dict[str, str]
    line: int
    document: str
    """Name of the file, for messages."""
    children: list[Element] = field(default_factory=list)

    def wrong(self, what: str) -> FormatError:
        """An error that says where: raise it."""
        return FormatError(f"{self.document} line {self.line}: {what}")

    def all(self, tag: str) -> list[Element]:
        """The elements of that name right within, in their order."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[Element]:
        """Itself and all within, in the order of the file."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            yield here
            waiting.extend(reversed(here.children))

    def text(self, name: str, default: str | None = None) -> str:
        """An attribute. Raises FormatError where there is none, and no default."""
        value = self.attributes.get(name, default)
        if value is None:
            raise self.wrong(f"element {self.tag!r} has no {name}")
        return value

    def integer(self, name: str, least: int, most: int = (1 << 62) - 1, default: int | None = None) -> int:
        """A whole number from ``least`` to ``most``. Raises FormatError."""
        text = self.text(name, None if default is None else str(default))
        if not _INTEGER.fullmatch(text.strip()) or not least <= int(text) <= most:
            wanted = f"{least} or more" if most == (1 << 62) - 1 else f"{least} to {most}"
            raise self.wrong(f"{self.tag} has {name}={_quoted(text)}: expected a whole number, {wanted}")
        return int(text)

    def decimal(self, name: str, least: float = 0.0, default: float | None = None) -> float:
        """A finite number of at least ``least``. Raises FormatError."""
        text = self.text(name, None if default is None else repr(default)).strip()
        if not _DECIMAL.fullmatch(text) or not least <= float(text) < float("inf"):
            raise self.wrong(f"{self.tag} has {name}={_quoted(text)}: expected a number, {least:g} or more")
        return float(text)


def _quoted(text: str) -> str:
    return repr(excerpt(text.encode("utf-8", "replace"), 40))


def parse(path: str, expected: str) -> Element:
    """The root element of the document at ``path``, which ought to have the name ``expected``.

    Raises FormatError for what is no whole XML document, has another root, declares entities, or is too large or deep.
    """
    reader = _Reader(shown(path), expected)
    try:
        for data in _pieces(path):
            reader.parser.Parse(data, False)
        reader.parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise FormatError(f"{shown(path)} is no whole XML document: {excerpt(str(error).encode())}") from None
    finally:
        reader.release()
    return reader.top[0]


def _pieces(path: str) -> Iterator[bytes]:
    size = 0
    with opened(path) as file:
        while data := file.read(_PIECE):
            size += len(data)
            if size > MOST:
                raise FormatError(f"{shown(path)} holds more than {MOST} bytes: expected a topology")
            yield data


class _Reader:
    def __init__(self, name: str, expected: str) -> None:
        self.name, self.expected = name, expected
        self.top: list[Element] = []
        self._open: list[Element] = []
        self._elements = 0
        self.parser = expat.ParserCreate()
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda _: self._open.pop()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._declared

    def release(self) -> None:
        """Undo the circle of parser and handlers, so that both go at once."""
        for handler in ("StartElement", "EndElement", "StartDoctypeDecl", "EntityDecl"):
            setattr(self.parser, f"{handler}Handler", None)

    def _wrong(self, what: str) -> FormatError:
        return FormatError(f"{self.name} line {self.parser.CurrentLineNumber}: {what}")

    def _doctype(self, _name: str, _system: object, _public: object, internal: object) -> None:
        if internal:
            self._declared()

    def _declared(self, *_: object) -> None:
        raise self._wrong("entities are declared here: expected plain elements")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if not self._open and tag != self.expected:
            raise self._wrong(f"the root element is {_quoted(tag)}: expected {self.expected!r}")
        if self._elements > MOST_ELEMENTS:
            raise self._wrong(f"more than {MOST_ELEMENTS} elements: expected a topology")
        if len(self._open) == DEEPEST:
            raise self._wrong(f"more than {DEEPEST} elements stand within one another: expected a topology")
        here = Element(tag, attributes, self.parser.CurrentLineNumber, self.name)
        (self._open[-1].children if self._open else self.top).append(here)
        self._open.append(here)
