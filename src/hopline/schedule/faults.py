"""What can be wrong with a schedule: FAULTS, one line of help for each kind, and one Fault of them.

What belongs here: the words for faults. Who finds them is ``check``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import UnknownNameError

FAULTS: dict[str, str] = {
    "malformed": "a rank, peer, lane, row, buffer or size is out of its range, or an operation overlaps itself",
    "order": "operations of one rank wait for one another in a ring",
    "unreceived": "a send that no receive meets",
    "unsent": "a receive that no send meets",
    "sizes": "the two ends of a message name different sizes",
    "rounds": "an operation waits for, or a message ends in, a later round",
    "deadlock": "operations wait for one another in a ring, whether sends block or not",
    "blocks": "operations wait for one another in a ring when a send blocks until its receive has begun",
    "overwritten": "bytes may be overwritten before their reader is done with them",
    "early": "bytes may be read before they are written",
    "clash": "two operations may write the same bytes at once",
    "unset": "bytes are read that hold nothing yet",
    "twice": "a rank's contribution is added a second time",
    "positions": "bytes of different positions are added: a piece is cut or placed wrong",
    "unwritten": "promised bytes are never written",
    "missing": "a rank's contribution is not in the sum",
    "origin": "bytes hold the data of the wrong rank, or a sum where one rank's data was promised",
    "misplaced": "bytes of the right rank, but other ones than promised",
    "barrier": "a rank may leave the barrier before another has entered it",
}
"""Kinds of fault, in the order in which they are told: a cause before its consequences."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    Attributes
    ----------
    kind
        A key of FAULTS.
    text
        One line: rank, row, bytes and operation, and how many more of the kind there are.
    rows
        The operations it names.
    """

    kind: str
    text: str
    rows: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise UnknownNameError("kind of fault", self.kind, FAULTS)

    @property
    def help(self) -> str:
        """What its kind means."""
        return FAULTS[self.kind]
