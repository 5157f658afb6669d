"""hopline's own samples file: what real runs measured, one JSON object a line.

What belongs here: writing Samples and reading them back. The file only grows. Every line says by itself what it is, so
``cat a b > c`` is a valid file, and a crash costs one line at most. Lines of one cell add up; a line that is there
twice counts once, known by the hash of its content.

    {"hopline":"samples","version":1,"benchmark":"latency", ..., "times":[4.1e-07, ...], ..., "id":"90ab..."}

A line is of version 2 where it says one of EXTRA (pair, window, ...), and of version 1 where it has none of them, so that
what version 1 can say is read by every hopline, and what it cannot say is refused by those that know no better.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from hopline.errors import FormatError, HoplineError, OutputError
from hopline.formats.sample_tables import COLUMNS as COLUMNS
from hopline.formats.sample_tables import EXTRA, USUAL
from hopline.formats.sample_tables import pairs_of as pairs_of
from hopline.formats.sample_tables import table_of as table_of
from hopline.formats.source import opened, shown
from hopline.records.sample import Sample, Series
from hopline.records.table import Dropped, Log, count_dropped

KIND = "samples"
VERSION = 2
_STARTS = re.compile(rb'\s*\{\s*"hopline"\s*:\s*"samples"')
_OPENING = b'{"hopline":"samples"'
_LOOK = 4096
BLOCK = 1 << 20
_ID_DIGITS = 16

TORN = "line is not whole (a crash, or a copy that was cut)"
FOREIGN = "line is not of a samples file"
CHANGED = "line was changed after it was written (its id does not fit)"
REPEATED = "line is there more than once"
_UNWRITABLE = "{}: samples could not be written: {}; choose another file"


class _Head(msgspec.Struct):
    hopline: str = ""
    version: int = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A usable line: its number from 1, and its sample."""

    number: int
    sample: Sample


@dataclass(frozen=True, slots=True)
class Found:
    """A whole file: usable lines in file order, each content once, and what was left out."""

    lines: tuple[Line, ...]
    dropped: tuple[Dropped, ...]

    def merged(self) -> list[Sample]:
        """One Sample a cell, ordered by cell."""
        cells: dict[tuple[Series, int], Sample] = {}
        for line in self.lines:
            before = cells.get(line.sample.cell)
            cells[line.sample.cell] = before + line.sample if before else line.sample
        return [cells[cell] for cell in sorted(cells)]


def make_folder(file: Path) -> None:
    """Make the folder of a samples file that is to be. Raises OutputError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{file.parent} cannot be made: {error.strerror}") from None


def append(path: str, sample: Sample) -> None:
    """Add a sample to a file, which is made where there is none.

    Raises OutputError where the file is somebody else's or cannot be written. A line left unfinished by a crash stays
    as it is, and ours begins on a new one.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            _write_all(file, _line_break(path, file) + encode(sample))
        finally:
            os.close(file)
    except OSError as error:
        raise OutputError(_UNWRITABLE.format(path, error.strerror)) from error


def encode(sample: Sample) -> bytes:
    """The sample as a line, line end included."""
    content = _content(sample)
    version = VERSION if any(name in content for name in EXTRA) else 1
    return msgspec.json.encode({"hopline": KIND, "version": version, **content, "id": content_id(sample)}) + b"\n"


def content_id(sample: Sample) -> str:
    """Hash of what the sample says."""
    return hashlib.sha256(msgspec.json.encode(_content(sample))).hexdigest()[:_ID_DIGITS]


def _content(sample: Sample) -> dict[str, object]:
    """The sample's fields as plain numbers, so that what is read back has the same hash as what was written."""
    numbers = {"ranks": int(sample.ranks), "size": int(sample.size), "clock": float(sample.clock)}
    everything = {**asdict(sample), **numbers, "times": [float(time) for time in sample.times]}
    return {name: value for name, value in everything.items() if name not in EXTRA or value != USUAL[name]}


def _line_break(path: str, file: int) -> bytes:
    """What must come before a new line; raises OutputError for a file that is not ours."""
    length = os.fstat(file).st_size
    if not length:
        return b""
    start = os.pread(file, _LOOK, 0)
    if not (_STARTS.match(start) or _OPENING.startswith(start)):
        raise OutputError(f"{path}: exists and is not a samples file of hopline; choose another file")
    return b"" if os.pread(file, 1, length - 1) == b"\n" else b"\n"


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def load(path: str) -> list[Sample]:
    """The file's samples, one a cell, ordered by cell.

    Lines that cannot be used are left out; ``scan`` says which. Raises FormatError where no line can be used, or where
    a line is of a version that this hopline does not know.
    """
    return scan(path).merged()


def scan(path: str) -> Found:
    """The file's usable lines, and what was left out and why. Raises FormatError as ``load`` does."""
    found = _found(path, _unpacked(path))
    if not found.lines:
        reasons = "; ".join(str(entry) for entry in found.dropped) or "the file is empty"
        raise FormatError(f"{shown(path)}: no line can be used as a sample: {reasons}; expected a hopline samples file")
    return found


def begun(path: str) -> Found:
    """What a file that is to be added to holds already: nothing where it is missing, empty or torn.

    Raises OutputError where it is somebody else's or cannot be written, FormatError for an unknown version.
    """
    if not os.path.exists(path):
        return Found((), ())
    try:
        file = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        try:
            _line_break(path, file)
            empty = not os.fstat(file).st_size
        finally:
            os.close(file)
    except OSError as error:
        raise OutputError(_UNWRITABLE.format(path, error.strerror)) from error
    if empty:  # a device has no size either, and may be read without end
        return Found((), ())
    return _found(path, _plain(path))


def _found(path: str, lines_of_file: Iterable[bytes]) -> Found:
    lines: list[Line] = []
    dropped: list[tuple[str, int]] = []
    seen: set[str] = set()
    texts = ((number, text) for number, line in enumerate(lines_of_file, 1) for text in _split(line))
    for number, text in texts:
        sample, reason = _decode(path, number, text)
        if sample is None:
            dropped.append((reason, number))
        elif content_id(sample) in seen:
            dropped.append((REPEATED, number))
        else:
            seen.add(content_id(sample))
            lines.append(Line(number, sample))
    return Found(tuple(lines), count_dropped(dropped))


def _unpacked(path: str) -> Iterator[bytes]:
    """Lines of a file, packed or not, or of standard input, in bounded memory."""
    rest = b""
    with opened(path) as source:
        while block := source.read(BLOCK):
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
    if rest:
        yield rest


def _plain(path: str) -> Iterator[bytes]:
    """Lines of a file that is added to, which may be empty."""
    try:
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise FormatError(f"{path}: could not be read: {error.strerror}") from error


def _split(line: bytes) -> list[bytes]:
    """The objects of a line: several where files were joined of which one ended in a torn line."""
    before, *ours = line.split(_OPENING)
    return [text for text in (before, *(_OPENING + rest for rest in ours)) if text.strip()]


def _decode(path: str, number: int, text: bytes) -> tuple[Sample | None, str]:
    """A line's sample, or None and why not."""
    try:
        head = msgspec.json.decode(text, type=_Head)
    except msgspec.ValidationError:
        return None, FOREIGN
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None, TORN if _STARTS.match(text) or _OPENING.startswith(text.strip()) else FOREIGN
    if head.hopline != KIND:
        return None, FOREIGN
    if not 1 <= head.version <= VERSION:
        raise FormatError(
            f"{shown(path)}: line {number} is of samples version {head.version}, this hopline reads up to {VERSION}: "
            "read it with the hopline that wrote it, or update this one"
        )
    try:
        sample = msgspec.json.decode(text, type=Sample)
    except (msgspec.ValidationError, HoplineError) as error:
        return None, f"line holds no sample ({error})"
    return (sample, "") if head.id == content_id(sample) else (None, CHANGED)


def read(path: str) -> Log:
    """The file as tables: one for each series (benchmark, transport, hosts, ranks, pair, window, ...), a row a size.

    Columns: size, time (median), time_low and time_high (quartiles), repeats. Lines that cannot be used are counted in
    the log, since an unusable line belongs to no table.
    """
    found = scan(path)
    first: dict[Series, int] = {}
    for line in found.lines:
        first.setdefault(line.sample.series, line.number)
    tables: dict[Series, list[Sample]] = defaultdict(list)
    for sample in found.merged():
        tables[sample.series].append(sample)
    in_order = sorted(tables, key=lambda key: first[key])
    return Log(path, KIND, tuple(table_of(tables[key], first[key]) for key in in_order), found.dropped)
