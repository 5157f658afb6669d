"""The keys of the JSON file that nccl-tests writes with ``-J``: those that are used, the others are skipped.

What belongs here: the document as it stands in the file. A file may hold several, one after the other.
"""

from __future__ import annotations

import json

import msgspec

from hopline.errors import FormatError
from hopline.formats.lines import excerpt, shown

Number = int | float | str | None
"""A number, null, or "nan" as text."""


class Half(msgspec.Struct):
    """Out-of-place or in-place."""

    time: Number = None
    cpu_time: Number = None
    alg_bw: Number = None
    bus_bw: Number = None
    nwrong: Number = None


class Iterations(msgspec.Struct):
    """Statistics of single iterations."""

    skipped_iterations: int = 0
    min_us: Number = None
    max_us: Number = None
    avg_us: Number = None
    p50_us: Number = None
    p95_us: Number = None
    p99_us: Number = None
    cv_pct: Number = None


class Result(msgspec.Struct):
    """A row."""

    size: int = 0
    count: int = 0
    redop: str = ""
    out_of_place: Half | None = None
    in_place: Half | None = None
    out_of_place_per_iter: Iterations | None = None
    in_place_per_iter: Iterations | None = None


class Device(msgspec.Struct):
    """The first device of a process."""

    rank: int = 0
    hostname: str = ""


class Config(msgspec.Struct):
    """How the run was started."""

    nthreads: int = 1
    ngpus: int = 1
    iterations: int | None = None
    devices: list[Device] = []


class Sum(msgspec.Struct):
    """What the run says at its end."""

    count: int | None = None
    bandwidth: Number = None


class Run(msgspec.Struct):
    """A document."""

    version: int = 0
    args: list[str] = []
    nccl_version: int = 0
    config: Config = msgspec.field(default_factory=Config)
    results: list[Result] = []
    out_of_bounds: Sum | None = None
    average_bus_bandwidth: Sum | None = None
    errors: list[str | None] | None = None


def load(path: str, data: bytes) -> list[Run]:
    """All documents of a file. Raises FormatError where one is not whole."""
    try:
        try:
            return [msgspec.json.decode(data, type=Run)]
        except msgspec.DecodeError as error:
            if "trailing characters" not in str(error):
                raise
        return [msgspec.json.decode(part, type=Run) for part in _parts(data.decode("utf-8"))]
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        told = excerpt(str(error).encode())
        raise FormatError(f"{shown(path)}: not a whole JSON file of nccl-tests ({told}); copy it again") from None


def _parts(text: str) -> list[str]:
    """The documents of a file that several were written to."""
    found: list[str] = []
    at, decoder = 0, json.JSONDecoder()
    while at < len(text):
        _, end = decoder.raw_decode(text, at)
        found.append(text[at:end])
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found
