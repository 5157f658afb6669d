"""One station as a process: where it runs, how it is started, told and heard, and how it ended.

What belongs here: the process and its pipes. What is said through them is ``station``'s, and what it means ``chain``'s.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from hopline.errors import RunError

PROGRAM = (sys.executable, "-P", "-m", "hopline.run.relaying.station")
PIECE = 65536


@dataclass(frozen=True, slots=True)
class Post:
    """Where a station is: the address that the one before connects to ("" for the sender), and a command that runs it there.

    ``within`` stands before the station's own command line, as ``nsenter --net=...`` does. It must not fork.
    """

    address: str = ""
    within: tuple[str, ...] = ()


@dataclass(slots=True)
class Process:
    """A station as seen from here."""

    name: str
    process: subprocess.Popen[bytes]
    failure: str = ""
    _begun: bytearray = field(default_factory=bytearray)

    @classmethod
    def start(cls, name: str, post: Post) -> Process:
        """A station that waits for orders; it does not hear Ctrl-C. Raises RunError where it cannot be started."""
        command = [*post.within, *PROGRAM]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise RunError(f"{name} could not be started with {command[0]}: {error.strerror}") from error
        return cls(name, process)

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended it."""
        return (self.process.poll() or 0) < 0

    @property
    def out(self) -> IO[bytes]:
        """What it says."""
        return _open(self.process.stdout)

    def order(self, order: Mapping[str, object]) -> None:
        """Tell it something; one that is gone is found when its answer does not come."""
        with contextlib.suppress(OSError):
            stream = _open(self.process.stdin)
            stream.write(json.dumps(order).encode() + b"\n")
            stream.flush()

    def answer(self) -> Mapping[str, Any] | None:
        """The next answer, if a whole one has come; call it when something can be read. Raises EOFError at the end."""
        piece = os.read(self.out.fileno(), PIECE)
        self._begun += piece
        line, end, rest = self._begun.partition(b"\n")
        if not end:
            if not piece:
                raise EOFError
            return None
        self._begun[:] = rest
        answer = self._parsed(bytes(line))
        if "failure" in answer:
            self.failure = answer["failure"]
            raise EOFError
        return answer

    def _parsed(self, line: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise RunError(f"{self.name} said {line[:60]!r}, which is no answer: does something else print there?")
        return answer

    def epitaph(self) -> str:
        """How it ended: by which signal, with what it said itself, or with the last line it complained in."""
        code = self.process.poll()
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        if self.failure:
            return f"failed: {self.failure}"
        if code is None:
            return "closed its output"
        said = _open(self.process.stderr).read().decode("utf-8", "replace").split("\n")
        words = [line.strip() for line in said if line.strip()]
        return f"ended with exit code {code}" + (f": {words[-1]}" if words else "")

    def dismiss(self) -> None:
        """Let it end: its input does."""
        with contextlib.suppress(OSError):
            _open(self.process.stdin).close()

    def bury(self, until: float) -> None:
        """Wait for its end, and kill it at that time."""
        try:
            self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            _open(stream).close()


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RunError("a station's streams are not open")
    return stream
