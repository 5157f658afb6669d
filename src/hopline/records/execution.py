"""Execution traces: what a rank does, as a graph, with or without times.

What belongs here: nodes, what they depend on, the communication calls among them, and what was concluded. How a file is read
is ``formats``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Form = Literal["chakra", "chakra-json", "pytorch"]
FORMS: dict[Form, str] = {
    "chakra": "Chakra (Protocol Buffers)",
    "chakra-json": "Chakra (JSON)",
    "pytorch": "PyTorch execution trace",
}


@dataclass(frozen=True, slots=True)
class CommCall:
    """One communication call, however many nodes stand for it (c10d, record_param_comms, nccl, the kernel, and their parts).

    Attributes
    ----------
    rows
        Its nodes.
    op
        As in ``records.trace.Collective``; the node's own name where that is not known.
    size
        Bytes as benchmarks count them; None: the file does not say, which is not 0.
    dtype, group
        Element type and name of the process group, or "".
    ranks
        Members of the group; None: not told.
    duration
        Seconds of its kernel, else of its longest node; None: not told.
    """

    rows: tuple[int, ...]
    op: str
    size: int | None = None
    dtype: str = ""
    group: str = ""
    ranks: int | None = None
    duration: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """One rank's graph.

    Attributes
    ----------
    source, form, schema
        The file (and its member of an archive), a key of FORMS, and the version that it names.
    rank
        By the file's name; None: it does not say.
    id
        Of each node, as written, shape (nodes,).
    names, name
        Names, and which each node has, shape (nodes,).
    types, type
        Types of nodes, and which each has, shape (nodes,).
    duration
        Seconds, shape (nodes,); NaN: not told.
    data, control
        Pairs (node, node that it depends on), by row, shapes (k, 2), without those below.
    data_count, control_count
        How many dependencies are written, whether they can be followed or not.
    parents
        Whether ``control`` says which node encloses which (PyTorch), rather than an order.
    calls
        In the order of the file.
    about
        What else the file says of itself.
    told
        What is odd about it.
    """

    source: str
    form: Form
    schema: str
    rank: int | None
    id: NDArray[np.int64]
    names: tuple[str, ...]
    name: Rows
    types: tuple[str, ...]
    type: NDArray[np.uint8]
    duration: NDArray[np.float64]
    data: Rows
    control: Rows
    data_count: int
    control_count: int
    parents: bool
    calls: tuple[CommCall, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.id)

    def by_type(self) -> dict[str, int]:
        """Number of nodes of each type, the most frequent first."""
        counts = np.bincount(self.type, minlength=len(self.types)).tolist()
        return {
            self.types[at]: counts[at] for at in sorted(range(len(counts)), key=lambda at: -counts[at]) if counts[at]
        }

    def label(self, row: int) -> str:
        """Name of a node."""
        return self.names[int(self.name[row])]


@dataclass(frozen=True, slots=True)
class Sent:
    """Communication of one op: calls, how many of them say their bytes, and those bytes together."""

    op: str
    calls: int
    sized: int
    size: int
    time: float
    """Seconds of those that say them."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The longest way through the graph by durations.

    Attributes
    ----------
    rows
        Nodes in order.
    time
        Seconds of all of them.
    communication
        Seconds of those that communicate.
    untimed
        How many of them have no duration: they count as 0, so the way is a lower bound.
    """

    rows: tuple[int, ...]
    time: float
    communication: float
    untimed: int


@dataclass(frozen=True, slots=True)
class ExecutionReport:
    """What a graph says: what is sent, and the longest chain (None: no durations, or ``why`` not)."""

    execution: Execution
    sent: tuple[Sent, ...]
    work: float
    """Seconds of all nodes together; 0 where none has any."""
    timed: int
    """Nodes with a duration."""
    chain: Chain | None
    why: str = ""
