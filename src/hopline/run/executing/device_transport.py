"""nccl as a transport: torch.distributed between GPUs.

What belongs here: groups of messages between GPUs, and buffers there.

What nccl is given is asked for by events of the GPU. It knows no tags and does what it is given in order, so messages begin in
``groups``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hopline.run.executing.gloo_transport import MOST_TAG, GlooTransport, Nowhere
from hopline.run.executing.transport import Handle, Message, Transport
from hopline.run.pattern import Bytes


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
