"""The text of ``nvidia-smi topo -m``: from words to a matrix of cells.

What belongs here: header, rows, wrapped lines, affinity columns and the NIC legend. What cells say about wires is
``topo_matrix``. Words are read one after the other, wherever lines break: a row begins with a line's first word that is no
cell, before a cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise, takewhile

from hopline.errors import FormatError
from hopline.formats.lines import blocks, excerpt, split
from hopline.formats.source import shown

_CELL = re.compile(r"X|NV\d{1,3}|NVB|PIX|PXB|PHB|NODE|SYS|SOC|QPI")
_GPU = re.compile(r"GPU\d+")
_DEVICE = re.compile(r"(?:GPU|NIC)\d+|mlx\d+_\w+")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}")
_AFFINITY = re.compile(r"\d[\d,-]*|N/A")
_LEGEND = re.compile(r"(NIC\d+)\s*:\s*(\S+)")
_TITLES = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")
_TITLE_WORDS = frozenset(" ".join(_TITLES).split())
_MOST = 1 << 8
"""Devices of a host."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """``cells[a][b]`` is how row a's device reaches column b's; ``cpus`` and ``numa`` as they stand there, "" for none.

    ``legend`` has what a NIC is called by the system, ``header`` whether names stood above the columns.
    """

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    cpus: tuple[str, ...]
    numa: tuple[str, ...]
    legend: dict[str, str]
    header: bool
    notes: tuple[str, ...]

    @property
    def gpus(self) -> list[int]:
        """Rows of GPUs."""
        return [row for row, name in enumerate(self.names) if _GPU.fullmatch(name)]

    @property
    def others(self) -> list[int]:
        """Rows of NICs and of whatever else is no GPU."""
        return [row for row, name in enumerate(self.names) if not _GPU.fullmatch(name)]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: int
    first: bool
    """Whether a line begins with it."""


def matrix(path: str) -> Matrix:
    """The matrix in the file at ``path``. Raises FormatError."""
    notes: list[str] = []
    words: list[_Word] = []
    legend: dict[str, str] = {}
    in_legend = False
    for block in blocks(path, notes):
        for number, raw in split(block):
            line = raw.decode("utf-8", "replace").replace("|", " ")
            in_legend = in_legend or line.strip().startswith(("Legend:", "NIC Legend:"))
            if found := _LEGEND.fullmatch(line.strip()):
                legend[found[1]] = found[2]
            elif not in_legend:
                words += [_Word(word, number, place == 0) for place, word in enumerate(line.split())]
            if len(words) > 2 * _MOST * _MOST:
                raise FormatError(f"{shown(path)} goes on after a matrix of {_MOST} devices: expected one host's")
    return _Reader(shown(path), words).matrix(legend, tuple(notes))


def _begins(word: _Word, after: str) -> bool:
    """Whether a row begins with ``word``, before the text ``after``, be it a cell or what no header has there."""
    if not word.first or not _NAME.fullmatch(word.text) or _CELL.fullmatch(word.text):
        return False
    odd = bool(_DEVICE.fullmatch(word.text)) and not _DEVICE.fullmatch(after) and after not in _TITLE_WORDS
    return odd or bool(_CELL.fullmatch(after))


class _Reader:
    def __init__(self, name: str, words: list[_Word]) -> None:
        self.name, self.words = name, words
        self.starts = [at for at, (word, after) in enumerate(pairwise(words)) if _begins(word, after.text)]

    def _wrong(self, line: int, what: str) -> FormatError:
        return FormatError(f"{self.name} line {line}: {what}")

    def matrix(self, legend: dict[str, str], notes: tuple[str, ...]) -> Matrix:
        if not self.starts:
            raise FormatError(f"{self.name} has no row like 'GPU0  X  NV12': expected the output of nvidia-smi topo -m")
        if len(self.starts) > _MOST:
            raise FormatError(f"{self.name} has {len(self.starts)} rows: expected one host's, at most {_MOST}")
        names = [self.words[at].text for at in self.starts]
        above = self._above(names)
        columns = above or names
        for at, name in zip(self.starts, names, strict=True):
            if names.count(name) > 1:
                raise self._wrong(self.words[at].line, f"{name} has more than one row: expected the matrix of one host")
        if sorted(columns) != sorted(names):
            raise FormatError(
                f"{self.name} has {len(columns)} columns and {len(names)} rows ({_unlike(columns, names)}): is it cut?"
            )
        ends = [*self.starts[1:], len(self.words)]
        rows = [self._row(at, end, names, columns) for at, end in zip(self.starts, ends, strict=True)]
        cells, cpus, numa = zip(*rows, strict=True)
        return Matrix(tuple(names), cells, cpus, numa, legend, bool(above), notes)

    def _above(self, names: list[str]) -> list[str]:
        """Names above the columns, where there are any."""
        above = [word.text for word in self.words[: self.starts[0]]]
        first = next((at for at, text in enumerate(above) if text in names), None)
        return [] if first is None else list(takewhile(lambda text: text not in _TITLE_WORDS, above[first:]))

    def _row(self, at: int, end: int, names: list[str], columns: list[str]) -> tuple[tuple[str, ...], str, str]:
        """Cells in the order of ``names``, CPU affinity and NUMA affinity."""
        here, texts = self.words[at], [word.text for word in self.words[at + 1 : end]]
        cells, rest = texts[: len(columns)], texts[len(columns) :]
        for text, column in zip(cells, columns, strict=False):
            if not _CELL.fullmatch(text) or (text == "X") != (here.text == column):
                wanted = "X" if here.text == column else "NV#, PIX, PXB, PHB, NODE or SYS"
                raise self._wrong(
                    here.line, f"{here.text} has {excerpt(text.encode(), 20)!r} for {column}: expected {wanted}"
                )
        if len(cells) < len(columns) or any(_CELL.fullmatch(text) for text in rest):
            count = sum(bool(_CELL.fullmatch(text)) for text in texts)
            raise self._wrong(here.line, f"{here.text} has {count} cells: expected {len(columns)}, one a column")
        by_column = dict(zip(columns, cells, strict=True))
        return tuple(by_column[name] for name in names), *_affinities(rest)


def _affinities(rest: list[str]) -> tuple[str, str]:
    """What follows the cells: ranges of CPUs, and NUMA nodes."""
    found = [*takewhile(_AFFINITY.fullmatch, rest), "", ""]
    return found[0], found[1]


def _unlike(columns: list[str], names: list[str]) -> str:
    """Which of the two has what the other has not, or has it twice."""
    for one, other, what in ((columns, names, "no row for"), (names, columns, "no column for")):
        missing = [name for name in one if name not in other]
        if missing:
            return f"{what} {excerpt(', '.join(missing[:4]).encode(), 60)}"
    return "a name comes twice"
