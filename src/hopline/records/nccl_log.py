"""What a log of NCCL_DEBUG says: who took part over what, its tuning table, and what it chose for each call.

What belongs here: the answer of reading one, in SI. How lines are read is ``formats``; what they mean is ``jobs``. What a log
does not say is None or absent, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

Way = tuple[str, str]
"""Algorithm and protocol."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a tuning table says of a function by a way: seconds, and byte/s of algbw. 0 byte/s: not to be used."""

    latency: float
    bandwidth: float

    @property
    def usable(self) -> bool:
        """Whether NCCL may choose it."""
        return self.bandwidth > 0


@dataclass(frozen=True, slots=True, eq=False)
class TuningTable:
    """One tuning table, of the communicator whose lines stand around it.

    Attributes
    ----------
    cells
        (function, algorithm, protocol) -> Cell.
    threads
        (algorithm, protocol) -> most threads.
    line
        Number of its first line, from 1.
    """

    cells: Mapping[tuple[str, str, str], Cell]
    threads: Mapping[Way, int]
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """What NCCL chose for one call.

    Attributes
    ----------
    function
        "" where the line does not name it (before 2.23).
    size
        Bytes, as nccl-tests counts them.
    predicted
        Seconds that NCCL expected; None: not told (from 2.24 on).
    channels
        First and last channel; None: not told.
    measured
        Seconds that the row of a benchmark says in which the line stands; None: no such row.
    line
        Number of its line, from 1.
    """

    function: str
    size: int
    algorithm: str
    protocol: str
    predicted: float | None
    channels: tuple[int, int] | None
    measured: float | None
    line: int


@dataclass(frozen=True, slots=True)
class Collective:
    """A call as it was made (NCCL_DEBUG_SUBSYS=COLL): its number in the communicator, and what it asked for.

    ``element`` is the bytes of an element, None for a data type that is not known.
    """

    function: str
    number: int
    count: int
    datatype: str
    element: int | None
    operation: int
    root: int
    ranks: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Search:
    """What NCCL's search found for one pattern (a GRAPH line): channels, and byte/s of each within and between nodes."""

    pattern: int
    channels: int
    within: float
    between: float
    wires: str
    net: str
    same: bool


@dataclass(frozen=True, slots=True, eq=False)
class NcclLog:
    """One log.

    Attributes
    ----------
    source
        The file.
    flavour, version, git
        "NCCL" or "RCCL" with its version as printed ("2.29.7+cuda12.9"); "" where the log does not say.
    ranks, nodes
        None where the log does not say.
    communicators
        Numbers of ranks that lines tell of, each once.
    hosts
        Names that lines begin with.
    networks
        Network -> lines that say it is used.
    missing
        Network -> lines that say it was not found.
    plugins
        Libraries that were looked for and not found.
    tuner
        Name and version of the API of a tuner from outside, "" where none was loaded.
    connections
        Transport ("P2P/IPC", "NET/Socket") -> connections told of.
    devices
        Network device -> connections.
    direct
        Connections over the network with GPUDirect.
    channels, listed
        Channels that ring lines count, and ring lines (None, 0: none in the log).
    environment
        Variables that the log says were set, with their values.
    facts
        Counts of lines by what they say (``trees_lines``, ``init_complete``, ...) and numbers that stand in one.
    tables, calls, collectives, searches
        See the classes.
    levels
        "INFO", "WARN" -> lines.
    warnings
        Kinds of warnings with their number, an example of each.
    notes
        What of the log could not be used, and what is missing of it without being a failure.
    """

    source: str
    flavour: str = ""
    version: str = ""
    git: str = ""
    ranks: int | None = None
    nodes: int | None = None
    hosts: tuple[str, ...] = ()
    networks: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    plugins: tuple[str, ...] = ()
    tuner: tuple[str, str] = ("", "")
    connections: Counter[str] = field(default_factory=Counter)
    devices: Counter[int] = field(default_factory=Counter)
    direct: int = 0
    channels: int | None = None
    listed: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)
    tables: tuple[TuningTable, ...] = ()
    calls: tuple[Call, ...] = ()
    collectives: tuple[Collective, ...] = ()
    searches: tuple[Search, ...] = ()
    levels: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    communicators: tuple[int, ...] = ()
