"""gloo as a transport: torch.distributed between CPUs.

What belongs here: isend and irecv of gloo, and who waits for them.

Work of gloo can be waited for but not asked: ``is_completed`` stays False until somebody waits (torch 2.13). So threads that
sleep in ``wait`` tell the loop; none of them is busy.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Sequence
from typing import Any

from hopline.run.executing.memory import HostMemory
from hopline.run.executing.transport import Handle, Message, Transport

MOST_TAG = 2**31 - 1
_GONE = ("Connection closed", "Connection reset", "Broken pipe")


class _Waiters:
    """Threads that sleep until work is done; as many as there was ever work at once."""

    def __init__(self) -> None:
        self.asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.threads = 0

    def add(self, work: Any, open_works: int) -> None:
        """Have ``work`` waited for, which is one of so many."""
        while self.threads < open_works:
            threading.Thread(target=self._wait, daemon=True).start()
            self.threads += 1
        self.asked.put(work)

    def _wait(self) -> None:
        while True:
            work = self.asked.get()
            try:
                work.wait()
            except Exception as error:  # noqa: BLE001 - it is raised again where the work is asked for
                self.done.put((work, error))
            else:
                self.done.put((work, None))


class GlooTransport:
    """Ranks of a process group of gloo."""

    batches = False
    sleeps = True
    most_tag = MOST_TAG
    label = "gloo"

    def __init__(self, rank: int, size: int, group: Any) -> None:
        import torch
        import torch.distributed as dist

        self.rank, self.size, self.group, self.crowded = rank, size, group, False
        self._tensor, self._isend, self._irecv = torch.from_numpy, dist.isend, dist.irecv
        self._leave = dist.destroy_process_group
        self._waiters, self._over, self._open = _Waiters(), set[Any](), 0

    @property
    def line(self) -> GlooTransport:
        """Itself."""
        return self

    def memory(self, sizes: Sequence[int]) -> HostMemory:
        """In the host's memory."""
        return HostMemory(sizes)

    def post(self, messages: Sequence[Message]) -> list[Handle]:
        """Begin each by itself."""
        works = []
        for sends, data, peer, tag in messages:
            begin = self._isend if sends else self._irecv
            try:
                works.append(begin(self._tensor(data), peer, group=self.group, tag=tag))
            except RuntimeError as error:
                raise _named(error) from error
            self._open += 1
            self._waiters.add(works[-1], self._open)
        return works

    def finished(self, handles: list[Handle], wait: float) -> Sequence[int]:
        """What the waiting threads have told."""
        found = self._known(handles)
        while not found:
            try:
                self._take(self._waiters.done.get(timeout=wait) if wait else self._waiters.done.get_nowait())
            except queue.Empty:
                return ()
            with contextlib.suppress(queue.Empty):
                while True:
                    self._take(self._waiters.done.get_nowait())
            found = self._known(handles)
        return found

    def _take(self, told: tuple[Any, Exception | None]) -> None:
        work, error = told
        if error is not None:
            raise _named(error)
        self._open -= 1
        self._over.add(work)

    def _known(self, handles: list[Handle]) -> list[int]:
        found = [place for place, handle in enumerate(handles) if handle in self._over]
        self._over.difference_update([handles[place] for place in found])
        return found

    def silent(self) -> Transport:
        """Messages that are done at once: what torch's calls cost is not in it."""
        return Nowhere(self)

    def abort(self, code: int) -> None:
        """End this process; who started the ranks ends the others."""
        os._exit(code)

    def close(self) -> None:
        """Leave the group."""
        self._leave()


def _named(error: Exception) -> Exception:
    """What gloo says where another rank is gone, by its name; anything else as it is."""
    said = " ".join(str(error).split())
    found = next((said[said.index(words) :] for words in _GONE if words in said), None)
    return error if found is None else ConnectionError(f"another rank is gone: {found.partition('. ')[0]}")


class Nowhere(GlooTransport):
    """Everything is done as soon as it is begun."""

    def __init__(self, real: Any) -> None:
        self.rank, self.size, self.label, self.crowded = real.rank, real.size, real.label, False
        self.batches = real.batches

    def post(self, messages: Sequence[Message]) -> list[Handle]:
        """Nothing goes out."""
        return list(messages)

    def finished(self, handles: list[Handle], wait: float) -> Sequence[int]:
        """All are done."""
        del wait
        return range(len(handles))
