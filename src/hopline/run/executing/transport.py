"""What carries messages between ranks: a small protocol.

What belongs here: Message and Transport. Who implements it stands in ``transports``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from hopline.run.pattern import Bytes

CONTROL_TAGS = 8
"""Tags below this are for what ranks tell each other, those above for messages of schedules."""
Handle = Any
"""What a transport knows a message in flight by."""


class Message(NamedTuple):
    """One end of a message: its bytes, the rank at the other end, and the tag that both ends know it by."""

    sends: bool
    data: Any
    peer: int
    tag: int


class Memory(Protocol):
    """Where a rank's buffers are, and what works on them."""

    def load(self, content: Sequence[Bytes]) -> None:
        """Make the buffers hold this."""

    def content(self) -> list[Bytes]:
        """What the buffers hold, in the memory of the host."""

    def view(self, buffer: int, start: int, size: int) -> Any:
        """Bytes of a buffer as messages take them."""

    def add(self, target: Any, addend: Any) -> None:
        """Add bytes to bytes, in place, modulo 256; done when it returns."""

    def copy(self, target: Any, source: Any) -> None:
        """Copy bytes; done when it returns."""


class Transport(Protocol):
    """One rank's access to all others.

    Attributes
    ----------
    rank, size
        Of the ranks.
    label
        As samples name it.
    most_tag
        The largest tag.
    batches
        Whether messages must begin in groups, one group after another.
    sleeps
        Whether threads of its own carry messages, which need a core while the loop waits.
    line
        What carries control messages in the host's memory: itself, or another.
    crowded
        Whether ranks share cores, so that who waits must give way.
    """

    rank: int
    size: int
    label: str
    most_tag: int
    batches: bool
    sleeps: bool
    crowded: bool

    @property
    def line(self) -> Transport:
        """See above."""

    def memory(self, sizes: Sequence[int]) -> Memory:
        """Buffers of these sizes."""

    def post(self, messages: Sequence[Message]) -> list[Handle]:
        """Begin messages; a handle for each."""

    def finished(self, handles: list[Handle], wait: float) -> Sequence[int]:
        """Places of handles whose messages are done, each told once; may wait so many seconds for one to be."""

    def silent(self) -> Transport:
        """One that costs what this one costs and sends nothing."""

    def abort(self, code: int) -> None:
        """End all ranks."""

    def close(self) -> None:
        """Leave in peace; all ranks do."""
