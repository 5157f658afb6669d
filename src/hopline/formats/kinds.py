"""Which tool wrote a file: decided from its content, never from its name.

What belongs here: for each kind of file how it is recognised and, by name, which reader takes it. ``jobs`` resolves the
name, so recognising a file loads no reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.lines import blocks, shown

WINDOW = 1 << 18
"""Bytes of text looked at first; where launcher noise fills them, further blocks are looked at."""
_FURTHER = 4
"""Number of those blocks."""

Recogniser = Callable[[bytes], bool]
"""Takes clean text, each line led by its newline byte."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file. ``reader`` is ``module:function`` with the signature ``read(path: str) -> Log``."""

    name: str
    title: str
    recognises: Recogniser
    reader: str | None = None


def _matching(*patterns: bytes) -> Recogniser:
    """Whether one of the patterns is found. A line begins with its newline, so none needs ``^``."""
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda text: any(pattern.search(text) for pattern in compiled)


_ROWS = [
    Format(
        "samples", "hopline samples (JSON Lines)", _matching(rb'\n[ \t]*\{[^\n]{0,400}"hopline"[ \t]*:[ \t]*"samples"'),
        "hopline.formats.samples:read",
    ),
    Format(
        "nccl-tests", "nccl-tests or rccl-tests",
        _matching(
            rb"\n[ \t#]*size[ \t]+count[ \t][^\n]*busbw",
            rb"\n[ \t#]*(?:nThreads?:? \d+ nGpus|nccl-tests version|Collective test (?:start|conclu))",
            rb"\n[ \t#]*Avg bus bandwidth[ \t]+:", rb"Test (?:CUDA|NCCL) failure",
            rb"\n[ \t]*\d+[ \t]+\d+[ \t]+[a-z]\w*(?:[ \t]+[a-z]\w*)?(?:[ \t]+-?\d+)?"
            rb"(?:[ \t]+(?:[\d.e+-]+|N/A)){8}",
        ),
        "hopline.formats.nccl_tests:read",
    ),
    Format("osu", "OSU micro-benchmarks", _matching(rb"\n[ \t]*#[ \t]*OSU \w"), "hopline.formats.osu:read"),
    Format(
        "nccl-tests-json", "nccl-tests JSON (-J)",
        _matching(rb'\A\s*\{\s*"version"\s*:\s*\d+\s*,\s*"start_time"', rb'\n\s*\{[^\n]{0,9999}"nccl_version"'),
    ),
    Format(
        "ucx-perftest", "UCX perftest",
        _matching(rb"\|[ \t]*Stage[ \t]*\|[ \t]*# iterations", rb"\n[ \t]*\[thread \d+\]"),
    ),
    Format(
        "ucc-perftest", "ucc_perftest",
        _matching(rb"\n[ \t]*Count[ \t]+Size[ \t]+Time", rb"\n[ \t]*Collective:[^\n]*\n[^\n]*Memory type:"),
    ),
    Format(
        "netpipe", "NetPIPE", _matching(rb"\n[ \t]*\d+:[ \t]+\d+ bytes[ \t]+\d+ times -->[ \t]+[\d.]+ Mbps"),
    ),
    Format(
        "perftest", "perftest (ib_write_bw and the like)",
        _matching(
            rb"\n[ \t]*#bytes[ \t]+#?iterations",
            rb"\n[ \t]*(?:RDMA_)?(?:Send|Write|Read|Atomic)\w* (?:BW|Latency) Test",
        ),
    ),
    Format(
        "nccom-test", "nccom-test (AWS Neuron)",
        _matching(
            rb"\n[ \t]*size\(B\)[ \t]+count\(elems\)",
            rb"\n[ \t]*\d+[ \t]+\d+[ \t]+(?:fp|bf|u?int)\d+(?:[ \t]+[\d.]+){3}[ \t]*(?:\n|$)",
        ),
    ),
]  # fmt: skip
FORMATS: dict[str, Format] = {row.name: row for row in _ROWS}
"""Name -> kind, in the order in which they are tried."""


def recognise(path: str) -> Format:
    """The kind of the file at ``path``.

    Raises FormatError when the file cannot be read, when its content is of no known kind, and when hopline does not
    read that kind yet.
    """
    row = _kind(path)
    if row is None:
        known = f"hopline reads {_titles(True)}, and recognises {_titles(False)}"
        raise FormatError(f"{shown(path)} is none of the logs that hopline knows; {known}")
    if row.reader is None:
        raise FormatError(
            f"{shown(path)}: this is a {row.title} log, a kind hopline does not read yet; it reads {_titles(True)}"
        )
    return row


def _kind(path: str) -> Format | None:
    for number, block in enumerate(blocks(path, [])):
        windows = (block.text[:WINDOW], block.text) if number == 0 else (block.text,)
        for text in windows:
            found = next((row for row in FORMATS.values() if row.recognises(text)), None)
            if found is not None:
                return found
        if number == _FURTHER:
            break
    return None


def _titles(read: bool) -> str:
    return ", ".join(row.title for row in FORMATS.values() if (row.reader is not None) is read)
