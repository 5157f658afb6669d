"""SQLite exports of Nsight Systems as columns.

What belongs here: opening the file so that nothing of it is written, locked or run, and reading columns of its tables. What
they mean is ``nsys_rows``. Schema: NVIDIA, "SQLite Export Schema Reference" of the Nsight Systems documentation; tables are
made when there is something to put in them, and columns differ between versions.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hopline.errors import FormatError
from hopline.formats.lines import excerpt
from hopline.formats.source import STDIN, opened, shown
from hopline.records.trace import NONE, Nanoseconds

MAGIC = b"SQLite format 3\0"
"""How a database begins."""
OURS = ("CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS", "TARGET_INFO_", "StringIds")
"""What names of tables of Nsight Systems begin with."""
_EXACT = 2.0**53
"""Floats below which all whole numbers are."""
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""What sqlite3 raises where a database is damaged; of a message that is no UTF-8, the latter."""
_PIECE = 1 << 16
"""Rows read at a time."""
MOST_TEXT = 1 << 12
"""Letters of a name that are kept."""


@dataclass(slots=True)
class Export:
    """An open export.

    Attributes
    ----------
    path
        Of the file.
    tables
        Name -> its columns. Views and virtual tables are left out: reading those would run what the file says.
    told
        What is odd about it.
    """

    path: str
    _connection: sqlite3.Connection
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def numbers(self, table: str, columns: Sequence[str]) -> dict[str, Nanoseconds]:
        """Columns of whole numbers, NONE where a row has none, and all NONE where the table has no such column.

        Raises FormatError where something else stands there, and where the file is damaged.
        """
        known = [column for column in columns if column in self.tables.get(table, ())]
        parts = [np.empty((0, len(known)), np.int64)]
        if known:
            chosen = ", ".join(f'ifnull("{column}", {NONE})' for column in known)
            parts += [self._whole(rows, table) for rows in self._rows(f'SELECT {chosen} FROM "{table}"', table)]
        values = np.concatenate(parts)
        found = {column: np.ascontiguousarray(values[:, at]) for at, column in enumerate(known)}
        return {column: found.get(column, np.full(len(values), NONE, np.int64)) for column in columns}

    def _whole(self, rows: list[tuple[object, ...]], table: str) -> Nanoseconds:
        try:
            values = np.array(rows)
        except ValueError:  # bytes beside numbers
            values = np.empty(0)
        if values.dtype.kind == "i":
            return values.astype(np.int64, copy=False)
        return np.array([[self._one(value, table) for value in row] for row in rows], np.int64)

    def _one(self, value: object, table: str) -> int:
        """SQLite has whole numbers of 64 bits only; a column that is declared as of floats may hold some of them."""
        if isinstance(value, int):
            return value
        if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
            return int(value)
        raise FormatError(
            f"{shown(self.path)}: {table} holds {excerpt(repr(value).encode(), 40)} where a whole number belongs: "
            "export it again"
        )

    def texts(self, table: str, key: str, value: str) -> dict[int, str]:
        """A number of each row -> its text. Rows with other things are left out."""
        if not {key, value} <= set(self.tables.get(table, ())):
            return {}
        found: dict[int, str] = {}
        for rows in self._rows(f'SELECT "{key}", substr("{value}", 1, {MOST_TEXT}) FROM "{table}"', table):
            found.update((a, b) for a, b in rows if isinstance(a, int) and isinstance(b, str))
        return found

    def column(self, table: str, column: str) -> list[str]:
        """A column of text, "" where a row has none."""
        if column not in self.tables.get(table, ()):
            return []
        chosen = f'SELECT substr("{column}", 1, {MOST_TEXT}) FROM "{table}"'
        return [row[0] if isinstance(row[0], str) else "" for rows in self._rows(chosen, table) for row in rows]

    def _rows(self, query: str, table: str) -> Iterator[list[tuple[object, ...]]]:
        try:
            cursor = self._connection.execute(query)
            while rows := cursor.fetchmany(_PIECE):
                yield rows
        except _DAMAGE as error:
            raise FormatError(f"{shown(self.path)}: {table} cannot be read ({_said(error)}): export it again") from None


@contextmanager
def export(path: str) -> Iterator[Export]:
    """The export at ``path``, read only. Raises FormatError where it is none, is damaged, or is packed."""
    _expect_database(path)
    told = _beside(path)
    try:
        connection = sqlite3.connect(Path(path).absolute().as_uri() + "?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise FormatError(f"{shown(path)} cannot be opened: {error}") from None
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        found = Export(path, connection, _tables(connection, path), told)
        _expect_ours(found)
        yield found
    finally:
        connection.close()


def _expect_database(path: str) -> None:
    if path == STDIN:
        raise FormatError("standard input cannot be read as a database: give the name of the SQLite file")
    with opened(path) as file:
        head = file.peek()
    if head.startswith(MAGIC):
        with open(path, "rb") as plain:
            first = plain.read(100)
        if first.startswith(MAGIC):
            return _expect_whole(path, first)
        raise FormatError(f"{shown(path)} is a packed SQLite file: unpack it first")
    raise FormatError(f"{shown(path)} is no SQLite file: make one with 'nsys export --type sqlite report.nsys-rep'")


def _expect_whole(path: str, head: bytes) -> None:
    """SQLite would read a file that is cut until it meets the cut.

    Header (sqlite.org/fileformat2.html): page size at 16 (1: 65536), pages at 28, which hold where the counters at 24 and
    92 are equal.
    """
    if len(head) < 100:
        raise FormatError(f"{shown(path)} is cut after {len(head)} bytes: copy it again")
    page, counter, pages, counted = (
        int.from_bytes(head[at : at + size], "big") for at, size in ((16, 2), (24, 4), (28, 4), (92, 4))
    )
    whole = (page if page != 1 else 1 << 16) * pages
    if counter == counted and os.path.getsize(path) < whole:
        raise FormatError(f"{shown(path)} is cut: it has {os.path.getsize(path)} of {whole} bytes; copy it again")


def _beside(path: str) -> list[str]:
    """What a program that still writes, or was stopped, left beside the file."""
    told = []
    for ending in ("-wal", "-journal"):
        try:
            size = os.path.getsize(path + ending)
        except OSError:
            continue
        if size:
            told.append(
                f"{shown(path + ending)} holds {size} bytes that are not yet in the export: they are not read; "
                "let the program that writes it end"
            )
    return told


def _tables(connection: sqlite3.Connection, path: str) -> dict[str, tuple[str, ...]]:
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0").fetchall()
        return {
            name: tuple(row[1] for row in connection.execute(f'PRAGMA table_info("{name}")'))
            for (name,) in names
            if isinstance(name, str) and name.replace("_", "").isalnum()
        }
    except _DAMAGE as error:
        raise FormatError(f"{shown(path)} is damaged ({_said(error)}): export it again") from None


def _said(error: Exception) -> str:
    return excerpt(str(error).encode(errors="replace"))


def _expect_ours(found: Export) -> None:
    if any(name.startswith(OURS) for name in found.tables):
        return
    names = ", ".join(sorted(found.tables)[:6]) or "no tables"
    raise FormatError(
        f"{shown(found.path)} is a SQLite file of something else ({excerpt(names.encode())}): expected an export of Nsight "
        "Systems, with tables like CUPTI_ACTIVITY_KIND_KERNEL"
    )
