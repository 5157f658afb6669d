"""torch.distributed as a transport: gloo between CPUs, nccl between GPUs.

What belongs here: isend and irecv of torch, who waits for them, and buffers on a GPU. torch is imported when ranks join.

Work of gloo can be waited for but not asked: ``is_completed`` stays False until somebody waits (torch 2.13). So threads that
sleep in ``wait`` tell the loop; none of them is busy. What nccl is given is asked for by events of the GPU. It knows no tags,
and does what it is given in order, so messages begin in ``groups``.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from hopline.run.executing.memory import HostMemory
from hopline.run.executing.transport import Handle, Message, Transport
from hopline.run.pattern import Bytes

MOST_TAG = 2**31 - 1
JOIN_TIME = timedelta(seconds=60)
QUIET_TIME = timedelta(days=1)
"""Ranks that wait for a plan may wait long."""


def joined(backend: str, rank: int, size: int, store: str) -> Transport:
    """The ranks that meet at ``store`` (a URL of torch's init_method). Raises RuntimeError where they do not meet."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size, timeout=JOIN_TIME)
    dist.barrier()
    host = GlooTransport(rank, size, dist.new_group(backend="gloo", timeout=QUIET_TIME))
    return host if backend == "gloo" else DeviceTransport(host, dist.new_group(backend=backend, timeout=QUIET_TIME))


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
            works.append(begin(self._tensor(data), peer, group=self.group, tag=tag))
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
            raise error
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


class DeviceMemory:
    """Buffers on a device of torch."""

    def __init__(self, sizes: Sequence[int], device: str) -> None:
        import torch

        self.tensors = [torch.zeros(size, dtype=torch.uint8, device=device) for size in sizes]
        self._from, self._settle = torch.from_numpy, torch.cuda.synchronize if device.startswith("cuda") else _nothing

    def load(self, content: Sequence[Bytes]) -> None:
        """Copy ``content`` in."""
        for tensor, wanted in zip(self.tensors, content, strict=True):
            tensor.copy_(self._from(wanted))
        self._settle()

    def content(self) -> list[Bytes]:
        """Copies in the memory of the host."""
        self._settle()
        return [np.asarray(tensor.cpu().numpy()) for tensor in self.tensors]

    def view(self, buffer: int, start: int, size: int) -> Any:
        """A slice."""
        return self.tensors[buffer][start : start + size]

    def add(self, target: Any, addend: Any) -> None:
        """In place, modulo 256."""
        target.add_(addend)
        self._settle()

    def copy(self, target: Any, source: Any) -> None:
        """Like memmove."""
        target.copy_(source)
        self._settle()


def _nothing() -> None:
    """Nothing to wait for."""


class DeviceTransport:
    """Ranks of a process group whose messages are between GPUs, one GPU a rank; what they tell each other goes by gloo.

    All ranks must take part in what a group is first asked for, and a schedule's first messages may be between two of them: so
    an all_reduce comes first.
    """

    batches = True
    sleeps = True
    most_tag = MOST_TAG

    def __init__(self, line: GlooTransport, group: Any, device: str = "") -> None:
        import torch
        import torch.distributed as dist

        self.rank, self.size, self.line, self.group, self.crowded = line.rank, line.size, line, group, False
        self.label = str(dist.get_backend(group))
        self.device = device or f"cuda:{_local_rank(line.rank) % max(1, torch.cuda.device_count())}"
        if self.device.startswith("cuda"):
            torch.cuda.set_device(self.device)
        self._op, self._isend, self._irecv, self._begin = dist.P2POp, dist.isend, dist.irecv, dist.batch_isend_irecv
        self._asks = self.label == "nccl"
        met = torch.zeros(1, device=self.device)
        dist.all_reduce(met, group=group)
        met.item()

    def memory(self, sizes: Sequence[int]) -> DeviceMemory:
        """On this rank's GPU."""
        return DeviceMemory(sizes, self.device)

    def post(self, messages: Sequence[Message]) -> list[Handle]:
        """One group, in the order that both ends have: by rank at the other end and number."""
        order = sorted(range(len(messages)), key=lambda place: messages[place][2:])
        begun = self._begin([self._made(messages[place]) for place in order])
        handles: list[Handle] = [None] * len(messages)
        for number, place in enumerate(order):
            handles[place] = begun[min(number, len(begun) - 1)]
        return handles

    def _made(self, message: Message) -> Any:
        begin = self._isend if message.sends else self._irecv
        return self._op(begin, message.data, message.peer, self.group, message.tag)

    def finished(self, handles: list[Handle], wait: float) -> Sequence[int]:
        """By events of the GPU; where a backend has none, by waiting."""
        del wait
        if self._asks:
            return [place for place, handle in enumerate(handles) if handle.is_completed()]
        for handle in handles:
            handle.wait()
        return range(len(handles))

    def silent(self) -> Transport:
        """Messages that are done at once: what torch's calls cost is not in it."""
        return Nowhere(self)

    def abort(self, code: int) -> None:
        """As of its line."""
        self.line.abort(code)

    def close(self) -> None:
        """As of its line."""
        self.line.close()


def _local_rank(rank: int) -> int:
    """Which of the ranks of its host this one is, as launchers tell; without one, all are on one host."""
    for name in ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"):
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    return rank
