"""Processes of a real run: start ranks, read what they say, and leave none behind.

What belongs here: processes, pipes and signals. Not mpirun's flags (``mpirun``), nor what the lines mean (``mpi``).

Three things keep ranks from outliving who started them: ``Ranks.stop`` ends mpirun's process group, mpirun ends its
ranks, and each rank ends by itself when its parent or standard input is gone (``mpi_rank``), even after SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import IO

from hopline.errors import RunError

STOP_TIME = 3.0
"""Seconds that who started ranks gets to end them before it is killed."""
SILENCE = 60.0
"""Seconds without a word from the ranks after which they count as stuck."""
PIECE = 65536
LONGEST_MESSAGE = 400


@contextlib.contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """SIGTERM within is a KeyboardInterrupt, as Ctrl-C is; nothing changes where this is not the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Ranks:
    """Ranks under a program that starts them. Use as a context: on the way out, whatever the reason, all are ended.

    ``starter``: what that program is called.
    """

    def __init__(self, command: list[str], environment: Mapping[str, str], starter: str = "mpirun") -> None:
        self.starter = starter
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True, env=environment,
            )  # fmt: skip
        except OSError as error:
            raise RunError(f"{command[0]} could not be started: {error.strerror}") from error
        self.complaints: deque[str] = deque(maxlen=60)

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def lines(self) -> Iterator[str]:
        """Lines of standard output until both streams close. Raises RunError after SILENCE s without one."""
        with selectors.DefaultSelector() as watched:
            for stream, mine in ((self.process.stdout, True), (self.process.stderr, False)):
                watched.register(_open(stream), selectors.EVENT_READ, (mine, bytearray()))
            while watched.get_map():
                ready = watched.select(SILENCE)
                if not ready:
                    raise RunError(f"the ranks said nothing for {SILENCE:g} s and were stopped{self.last_words()}")
                for key, _ in ready:
                    mine, started = key.data
                    piece = os.read(key.fd, PIECE)
                    if not piece:
                        watched.unregister(key.fileobj)
                    found = _whole_lines(started, piece)
                    if mine:
                        yield from found
                    else:
                        self.complaints.extend(found)

    def finish(self) -> None:
        """Wait for the starter to end by itself. Raises RunError with its last words where that is not a good end."""
        try:
            code = self.process.wait(STOP_TIME)
        except subprocess.TimeoutExpired:
            raise RunError(f"{self.starter} did not end after its ranks had") from None
        if code:
            raise RunError(f"the ranks failed ({self.starter} exit code {code}){self.last_words()}")

    def last_words(self) -> str:
        """The last paragraph of standard error in one line, ready to follow a message; "" where there is none."""
        paragraph: list[str] = []
        for line in reversed(self.complaints):
            if line.strip(" -="):
                paragraph.insert(0, line.strip())
            elif paragraph:
                break
        return f": {' '.join(paragraph)[:LONGEST_MESSAGE]}" if paragraph else ""

    def stop(self) -> None:
        """End starter and ranks: asked, then killed. Returns when the starter is gone; may be called again."""
        _close(self.process.stdin)
        for name in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, name)
                self._wait(STOP_TIME)
        _close(self.process.stdout)
        _close(self.process.stderr)

    def _wait(self, seconds: float) -> None:
        """Wait for the end while emptying the pipes, since the starter may hang on a full one."""
        until = time.monotonic() + seconds
        streams = [_open(self.process.stdout).fileno(), _open(self.process.stderr).fileno()]
        for stream in streams:
            os.set_blocking(stream, False)
        while self.process.poll() is None and time.monotonic() < until:
            for stream in streams:
                with contextlib.suppress(BlockingIOError):
                    os.read(stream, PIECE)
            time.sleep(0.01)


def _whole_lines(started: bytearray, piece: bytes) -> list[str]:
    """Add a piece to the line that was started; take out what is whole (or all, at the end)."""
    started += piece
    lines = started.split(b"\n")
    started[:] = lines.pop() if piece else b""
    return [bytes(line).decode("utf-8", "replace") for line in lines if line]


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RunError("the ranks' streams are not open")
    return stream


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.close()
