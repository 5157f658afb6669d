"""A row of network namespaces on this machine, joined by links of a known rate: a network that is as slow as we like.

Each namespace has no name and lives as long as a process in it, a ``cat`` that ends when its input does. So the system
itself removes namespaces, links and rules when whoever made them is gone, even after SIGKILL. Needs root, iproute2 (``ip``,
``tc``) and util-linux (``unshare``, ``nsenter``), and the kernel's veth and tbf.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from hopline.model.framing import tcp
from hopline.model.shaping import Bucket
from hopline.run.relaying.process import Post

PROGRAMS = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
"""Program -> the package that has it."""
FRAMING = tcp()
"""tbf counts whole Ethernet frames as the system hands them over: no preamble, check sum or gap."""
QUEUE = 50e-3
"""Seconds that a frame may wait for its tokens: more than TCP lets wait in one connection, so that no frame is dropped."""
SEGMENT = 16384
"""Bytes that TCP hands to a link at once. Where that is more than a bucket holds, tbf cuts it into frames, which costs a core."""
PATIENCE = 20.0


class CannotError(Exception):
    """Namespaces or shaped links cannot be made here; the message says why."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A link as tc is told: frames in bits per second, and the bucket in bytes."""

    rate: int
    burst: int

    @property
    def bucket(self) -> Bucket:
        """The same as the model has it: what payload it carries."""
        return Bucket(FRAMING.carried(self.rate / 8), FRAMING.carried(self.burst))

    @property
    def rest(self) -> float:
        """Seconds in which an empty bucket fills."""
        return 8 * self.burst / self.rate


class Namespaces:
    """``count`` namespaces in a row; link i joins namespace i to i + 1 and is shaped in that direction. Use as a context."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._holders: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Namespaces:
        try:
            for _ in range(self._count):
                self._holders.append(_holder())
            for number in range(self._count):
                _do("ip", "link", "set", "lo", "up", at=self._within(number))
            for number in range(self._count - 1):
                self._join(number)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def holders(self) -> list[int]:
        """Process ids of those that keep the namespaces."""
        return [holder.pid for holder in self._holders]

    def posts(self, hops: int) -> list[Post]:
        """Where the stations of a chain over the first ``hops`` links are."""
        return [
            Post(f"10.0.{number}.2" if number else "", (*self._within(number), *at_once()))
            for number in range(hops + 1)
        ]

    def shape(self, shapes: Sequence[Shape]) -> None:
        """Give the first links these rates."""
        for number, shape in enumerate(shapes):
            rule = ("rate", f"{shape.rate}bit", "burst", f"{shape.burst}b", "latency", f"{QUEUE * 1e3:g}ms")
            _do("tc", "qdisc", "replace", "dev", "out", "root", "tbf", *rule, at=self._within(number))

    def dropped(self) -> int:
        """Frames that found a full queue, on all links."""
        asked = ("tc", "-s", "-j", "qdisc", "show", "dev", "out")
        queues = [json.loads(_do(*asked, at=self._within(number))) for number in range(self._count - 1)]
        return sum(queue["drops"] for link in queues for queue in link)

    def _join(self, number: int) -> None:
        here, there = (str(self._holders[n].pid) for n in (number, number + 1))
        _do("ip", "link", "add", "out", "netns", here, "type", "veth", "peer", "name", "in", "netns", there)
        ends = (("out", number, f"10.0.{number + 1}.1/24"), ("in", number + 1, f"10.0.{number + 1}.2/24"))
        _do("ip", "link", "set", "out", "gso_max_size", str(SEGMENT), at=self._within(number))
        for name, place, address in ends:
            _do("ip", "address", "add", address, "dev", name, at=self._within(place))
            _do("ip", "link", "set", name, "up", at=self._within(place))

    def _within(self, number: int) -> tuple[str, ...]:
        return ("nsenter", f"--net=/proc/{self._holders[number].pid}/ns/net")

    def _end(self) -> None:
        for holder in self._holders:
            holder.kill()
            holder.communicate()
        self._holders.clear()


def _holder() -> subprocess.Popen[bytes]:
    """A process in a namespace of its own, which it is in when this returns."""
    command = ["unshare", "--net", "sh", "-c", "echo; exec cat"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if process.stdout is None or not process.stdout.readline():
        raise CannotError(f"no namespace: {_line(process.communicate()[1])}")
    return process


def _do(*command: str, at: tuple[str, ...] = ()) -> str:
    done = subprocess.run([*at, *command], capture_output=True, timeout=PATIENCE, check=False)
    if done.returncode:
        raise CannotError(f"{' '.join(command)}: {_line(done.stderr)}")
    return done.stdout.decode()


def _line(said: bytes) -> str:
    return " ".join(said.decode("utf-8", "replace").split()) or "no reason given"


@functools.cache
def at_once() -> tuple[str, ...]:
    """A command that runs another whenever it can go on, whoever else wants the core; none where that is not allowed.

    Stations sleep most of the time. One that wakes a few ms late leaves its link without work for longer than the bucket
    makes up for, and that is the machine's other work, not the network's.
    """
    urgent = ("chrt", "--fifo", "1")
    allowed = (
        shutil.which(urgent[0]) and not subprocess.run([*urgent, "true"], capture_output=True, check=False).returncode
    )
    return urgent if allowed else ()


@functools.cache
def missing() -> str:
    """Why there can be no shaped links here; "" where there can."""
    if not sys.platform.startswith("linux"):
        return "network namespaces need Linux"
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"{program} is not installed (package {package})"
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        with Namespaces(2) as two:
            two.shape([Shape(10**9, 65536)])
    except (CannotError, OSError, subprocess.SubprocessError) as error:
        return f"shaped links cannot be made here: {error}"
    return ""
