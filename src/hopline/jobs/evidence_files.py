"""Which files are evidence of a step, among those that were named and those in folders that were named.

What belongs here: folders, and sorting by kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from hopline.errors import FormatError
from hopline.formats.evidence import EVIDENCE, kind_of

STDIN = "-"
MOST_FILES = 10_000
"""Files of a folder that are looked into."""


def sorted_out(paths: Sequence[str]) -> dict[str, list[str]]:
    """Kind -> its files, in the order of EVIDENCE; of folders those files that are of any kind.

    Raises FormatError for a named file of no kind, and for a folder without any of one.
    """
    kinds = [pair for path in paths for pair in _of(path)]
    return {name: files for name in EVIDENCE if (files := [path for kind, path in kinds if kind == name])}


def _of(path: str) -> list[tuple[str, str]]:
    if path == STDIN or not Path(path).is_dir():
        return [(kind_of(path), path)]
    found = list(_inside(path))
    if not found:
        raise FormatError(
            f"{path} is a folder without a trace, dump or log: expected one with some (its own folders do not count)"
        )
    return found


def _inside(folder: str) -> Iterator[tuple[str, str]]:
    files = list(islice(Path(folder).iterdir(), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise FormatError(f"{folder} holds more than {MOST_FILES} files: expected a folder of traces; name the files")
    for file in sorted(files, key=_order):
        if file.is_file() and not file.name.startswith("."):
            try:
                kind = kind_of(str(file))
            except FormatError:
                continue
            yield kind, str(file)


def _order(file: Path) -> tuple[int, str]:
    """Files by name, rank2 before rank10."""
    return len(file.name), file.name
