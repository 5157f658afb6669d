"""Which tool wrote a file: decided from its content, never from its name.

What belongs here: for each kind of file how it is recognised and, by name, which reader takes it. ``jobs`` resolves the
name, so recognising a file loads no reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import FormatError
from hopline.formats.lines import blocks, excerpt, opening, shown, tells_failure
from hopline.formats.source import forget

WINDOW = 1 << 18
"""Bytes of text looked at first; where launcher noise fills them, further blocks are looked at."""
_FURTHER = 4
"""Number of those blocks."""

_HOST = re.compile(rb"[A-Za-z][A-Za-z0-9.-]*\d[A-Za-z0-9.-]*")

_FAILURE = re.compile(rb"\b(?:[Ee]rror|ERROR|[Ff]ailed|[Ff]ailure|Couldn't|Unable to|[Cc]annot)\b")

Recogniser = Callable[[bytes], bool]
"""Takes clean text, each line led by its newline byte."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file. ``reader`` is ``module:function`` with the signature ``read(path: str) -> Log``."""

    name: str
    title: str
    recognises: Recogniser
    reader: str


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
        "nccom-test", "nccom-test (AWS Neuron)",
        _matching(
            rb"\n[ \t]*size\(B\)[ \t]+count\(elems\)",
            rb"\n[ \t]*\d+[ \t]+\d+[ \t]+(?:fp|bf|u?int)\d+(?:[ \t]+[\d.]+){3}[ \t]*(?:\n|$)",
        ),
        "hopline.formats.nccom:read",
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
        "hopline.formats.nccl_json:read",
    ),
    Format(
        "ucx-perftest", "UCX perftest",
        _matching(
            rb"\|[ \t]*(?:Stage|Test)[ \t]*\|[ \t]*# iterations", rb"\n[ \t]*\|[ \t]*# iterations[ \t]*\|[ \t]*typical",
            rb"\n[ \t]*\[thread \d+\]", rb"iterations,[\w.]+_lat,avg_lat,overall_lat",
        ),
        "hopline.formats.ucx_perftest:read",
    ),
    Format(
        "ucc-perftest", "ucc_perftest",
        _matching(rb"\n[ \t]*Count[ \t]+Size[ \t]+Time", rb"\n[ \t]*Collective:[^\n]*\n[^\n]*Memory type:"),
        "hopline.formats.ucc:read",
    ),
    Format(
        "netpipe", "NetPIPE",
        _matching(
            rb"\n(?:[ \t]|&nbsp;)*\d+:[ \t]+[\d.]+ +(?:bytes|[KMGT]?B)[ \t]+\d+ times --(?:>|&gt;)[ \t]",
            rb"\nNow starting the main loop",
        ),
        "hopline.formats.netpipe:read",
    ),
    Format(
        "perftest", "perftest (ib_write_bw and the like)",
        _matching(
            rb"\n[ \t]*#bytes[ \t]+#?iterations",
            rb"\n[ \t]*(?:RDMA_)?(?:Send|Write|Read|Atomic)\w* (?:[A-Za-z_]+ ){0,3}(?:BW|Latency) [A-Za-z ]{0,40}Test",
        ),
        "hopline.formats.perftest:read",
    ),
    Format(
        "perftest-json", "perftest JSON (--out_json)", _matching(rb'\{\s*"test_info"\s*:\s*\{'),
        "hopline.formats.perftest_json:read",
    ),
    Format(
        "nccom-test-json", "nccom-test JSON", _matching(rb'"size\(B\)"\s*:'), "hopline.formats.nccom:read_json",
    ),
    Format(
        "aiconfigurator", "aiconfigurator's tables of collectives (CSV)",
        _matching(
            rb"op_name[ \t\"]*,[^\n]{0,400}\bmessage_size\b", rb"message_size[ \t\"]*,[^\n]{0,400}\bop_name\b",
            rb"nccl_dtype[ \t\"]*,[^\n]{0,400}\bmessage_size\b", rb"message_size[ \t\"]*,[^\n]{0,400}\bnccl_dtype\b",
        ),
        "hopline.formats.aiconfigurator:read",
    ),
    Format(
        "vidur", "vidur's profiles of collectives (CSV)",
        _matching(
            rb"time_stats\.\w+\.\w+[ \t\"]*,[^\n]{0,999}\bnum_workers\b",
            rb"num_workers[ \t\"]*,[^\n]{0,999}\btime_stats\.\w+\.\w",
        ),
        "hopline.formats.vidur:read",
    ),
]  # fmt: skip
FORMATS: dict[str, Format] = {row.name: row for row in _ROWS}
"""Name -> kind, in the order in which they are tried."""

HEADS = {
    "nccom-test": _matching(rb"\n[ \t]*size\(B\)[ \t]+count\(elems\)"),
    "nccl-tests": _matching(rb"\n[ \t#]*size[ \t]+count[ \t][^\n]*busbw"),
    "osu": _matching(rb"\n[ \t]*#[ \t]*OSU \w[^\n]* Test"),
    "ucx-perftest": _matching(rb"\n[ \t]*\|[ \t]*(?:Stage[ \t]*\||Test[ \t]*\|)?[ \t]*# iterations[ \t]*\|"),
    "ucc-perftest": _matching(rb"\n[ \t]*Count[ \t]+Size[ \t]+Time, us"),
    "netpipe": _matching(rb"\n[ \t]*\d+:[ \t]+[\d.]+ +(?:bytes|[KMGT]?B)[ \t]+\d+ times -->[ \t]"),
    "perftest": _matching(rb"\n[ \t]*#bytes[ \t]+#?iterations"),
}
"""Kind -> the head of its table, which no other tool prints: several of them make a log of several tools."""
MIXED = Format("mixed", "a log of several tools", lambda _: False, "hopline.formats.mixed:read")


def recognise(path: str) -> Format:
    """The kind of the file at ``path``; "-" is standard input.

    Raises FormatError when the file cannot be read, and when its content is of no known kind.
    """
    try:
        row = _kind(path)
        if row is None:
            known = ", ".join(row.title for row in FORMATS.values())
            raise FormatError(
                f"{shown(path)} is none of the logs that hopline knows{_instead(path)}; hopline reads {known}"
            )
    except FormatError:
        forget(path)
        raise
    return row


def _instead(path: str) -> str:
    """What a file without a table holds, where that can be told in a few words."""
    lines = [line.strip() for line in opening(path, WINDOW).split(b"\n") if line.strip()]
    hosts = sum(bool(_HOST.fullmatch(line)) for line in lines)
    if hosts and all(_HOST.fullmatch(line) or line[:1] == b"{" or not re.search(rb"\d", line) for line in lines):
        return f": no result, only host names ({hosts}), as the command hostname prints them"
    failed = next((line for line in lines if tells_failure(line) or _FAILURE.search(line)), None)
    return f": it says {excerpt(failed)!r}" if failed else ""


def _kind(path: str) -> Format | None:
    start = opening(path, WINDOW)
    if start.lstrip()[:1] == b"{":
        found = next((row for row in FORMATS.values() if row.recognises(start)), None)
        if found is not None:
            return found
    for number, block in enumerate(blocks(path, [], keep=True)):
        if number == 0 and len(_heads(block.text)) > 1:
            return MIXED
        windows = (block.text[:WINDOW], block.text) if number == 0 else (block.text,)
        for text in windows:
            found = next((row for row in FORMATS.values() if row.recognises(text)), None)
            if found is not None:
                return found
        if number == _FURTHER:
            break
    return None


def heads(path: str) -> list[str]:
    """The kinds whose tables' heads the first block of a file holds."""
    return next((_heads(block.text) for block in blocks(path, [], keep=True)), [])


def _heads(text: bytes) -> list[str]:
    return [name for name, is_head in HEADS.items() if is_head(text)]
