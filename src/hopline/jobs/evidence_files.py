"""Which files are evidence of a step, among those that were named and those in folders that were named.

What belongs here: folders, and sorting by kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hopline.errors import FormatError
from hopline.formats.evidence import EVIDENCE, kind_of

STDIN = "-"
TRUTH = "truth.json"
"""What stands beside traces that hopline made up."""
MOST_FILES = 10_000
"""Files of a folder that are looked into."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files by kind, in the order of EVIDENCE; and of folders those that were left out, each with the reason in a line."""

    kinds: Mapping[str, Sequence[str]]
    left_out: tuple[str, ...] = ()


def sorted_out(paths: Sequence[str]) -> Files:
    """All files that ``paths`` name; the files of a folder, not those of its own folders.

    Raises FormatError for a named file of no kind, and for a folder without any of one.
    """
    kinds: list[tuple[str, str]] = []
    left_out: list[str] = []
    for path in paths:
        if path == STDIN or not Path(path).is_dir():
            kinds.append((kind_of(path), path))
            continue
        before = len(kinds)
        for file in _inside(path):
            try:
                kinds.append((kind_of(file), file))
            except FormatError as error:
                left_out.append(str(error).partition("; hopline explains")[0])
        if len(kinds) == before:
            raise FormatError(_nothing(path, left_out))
    found = {name: files for name in EVIDENCE if (files := [path for kind, path in kinds if kind == name])}
    return Files(found, tuple(left_out))


def _nothing(folder: str, left_out: Sequence[str]) -> str:
    why = f" ({left_out[0]})" if left_out else ""
    return (
        f"{folder} is a folder without a trace, dump or log{why}: expected one with some; its own folders do not count"
    )


def _inside(folder: str) -> Iterator[str]:
    """Files by name, rank2 before rank10; hidden ones and TRUTH are none."""
    files = list(islice(Path(folder).iterdir(), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise FormatError(f"{folder} holds more than {MOST_FILES} files: expected a folder of traces; name the files")
    for file in sorted(files, key=lambda file: (len(file.name), file.name)):
        if file.is_file() and not file.name.startswith(".") and file.name != TRUTH:
            yield str(file)
