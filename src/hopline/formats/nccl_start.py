"""What a run of nccl-tests says of itself before its table.

What belongs here: where it ran and on what, as far as its lines say so of all ranks. Which lines these are is
``nccl_tests``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hopline.formats.lines import excerpt
from hopline.records.table import Fact


@dataclass(slots=True)
class Start:
    """What a run of the benchmark says of itself before its table."""

    seen: set[bytes] = field(default_factory=set)
    version: str = ""
    benchmark: str = ""
    listed: int = 0
    highest: int | None = None
    largest: int | None = None
    placed: list[tuple[bytes, bytes]] = field(default_factory=list)
    library: str = ""

    def told(self) -> dict[str, Fact]:
        """Where it ran and on what, as far as its lines say so of all ranks; hosts only where no rank's line is lost."""
        found: dict[str, Fact] = {"nccl_version": self.library} if self.library else {}
        if self.placed and len(self.placed) == self.listed:
            found |= {"hosts": len({host for host, _ in self.placed})} if self.listed == self.highest else {}
            devices = {excerpt(device) for _, device in self.placed} - {""}
            found |= {"device": devices.pop()} if len(devices) == 1 else {}
        return found
