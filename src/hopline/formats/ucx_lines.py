"""What UCX itself writes into a log: its log lines, and the tables of protocols that UCX_PROTO_INFO prints.

What belongs here: UCX's own words, whichever program runs on it (Open MPI, ucx_perftest). A protocol table says from which
size on messages go by rendezvous; its lanes tell whether the peer sits in the same node.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopline.records.table import Fact

LOG_LINE = re.compile(rb"\[\d{9,}\.\d+\] +\[[^\]\n]*\]")
"""``[1721319196.742086] [host1:143851:0]``"""
_TITLE = re.compile(
    rb"\| *[\w. -]*?(?:ep_)?cfg[#\[](\d+)\]? *\| *([^|]*?) (?:from|to|into) (host|\w+/\w+|cuda|rocm)\b[^|]*\|"
)
_RANGE = re.compile(rb"\| *(\d+)\.\.(?:\d+|inf) *\|([^|]*)\|([^|]*)\|")
_INIT = re.compile(rb"MPI_Init\(\) took ([\d.]+) msec")
_SAME_NODE = re.compile(rb"\b(?:self|knem|cma|xpmem|sysv|posix|cuda_ipc|rocm_ipc)\b")


@dataclass(slots=True)
class Protocols:
    """What the UCX lines of a log say."""

    lines: int = 0
    operation: str = ""
    rendezvous: dict[str, int] = field(default_factory=dict)
    init: float | None = None
    _config: str = ""
    _memory: str = ""

    def line(self, text: bytes) -> bool:
        """Take a line; whether it was one of UCX's."""
        match = LOG_LINE.match(text)
        if match is None:
            took = _INIT.search(text) if b"MPI_Init" in text else None
            if took:
                self.init = float(took[1]) if took[1].count(b".") < 2 else None
            return False
        self.lines += 1
        rest = text[match.end() :].strip()
        if title := _TITLE.match(rest):
            self._config = title[1].decode()
            self._memory = title[3].decode().partition("/")[0]
            self.operation = self.operation or title[2].decode("ascii", "replace")
        elif self._config and (part := _RANGE.match(rest)) and b"rendezvous" in part[2]:
            name = f"ep_cfg{self._config}" if _SAME_NODE.search(part[3]) else self._memory
            self.rendezvous.setdefault(f"{name}_rendezvous_from", int(part[1][:18]))
        return True

    def facts(self) -> dict[str, Fact]:
        """What was found, as facts of a table."""
        found: dict[str, Fact] = dict(self.rendezvous)
        if self.init is not None:
            found["mpi_init_ms"] = self.init
        if self.lines:
            found["ucx_log_lines"] = self.lines
        return found

    @property
    def said(self) -> str:
        """The end of a message about a log without a table."""
        ends = [f"{name.removesuffix('_rendezvous_from')} {size} B" for name, size in self.rendezvous.items()]
        took = f"; MPI_Init took {self.init} ms" if self.init is not None else ""
        return (f"; UCX sends by rendezvous from: {', '.join(ends)}" if ends else "") + took
