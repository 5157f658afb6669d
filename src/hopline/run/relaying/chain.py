"""A chain of stations on this machine: a sender, relays and a receiver, each a process of its own.

What belongs here: starting them, giving orders, and what their answers mean. What a station does is ``station``.

    with Chain([Post(), Post("127.0.0.1"), Post("127.0.0.1")], largest=2**20) as chain:
        chain.send(2**20, chunks=8, way="pipelined").time

All times are of one clock, since all stations are on one machine. On the way out, whatever the reason, no station is left.
"""

from __future__ import annotations

import contextlib
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from hopline.errors import DataMismatchError, InputError, RunError
from hopline.records.passage import Passage
from hopline.run.launch import ending_on_sigterm
from hopline.run.relaying.process import Post, Process
from hopline.run.relaying.ways import ends_of, marks_of

LONGEST_PASSAGE = 60.0
"""Seconds without an answer after which stations count as stuck."""
STOP_TIME = 1.0
"""Seconds that stations get to end by themselves."""
GRACE = 0.2
"""Seconds in which a station that was killed is seen to have ended, after one beside it noticed."""


class Chain:
    """Stations that are connected in a row. Use as a context.

    Parameters
    ----------
    posts
        Of the sender, the relays and the receiver, in this order.
    largest
        Bytes of the largest message.
    seed
        Of the bytes that are sent.
    congestion
        TCP's algorithm of congestion control (``reno``, ``cubic`` ...); "" for the system's own.
    """

    def __init__(self, posts: Sequence[Post], largest: int, seed: int = 1, congestion: str = "") -> None:
        if len(posts) < 2:
            raise InputError(f"a chain of {len(posts)} stations: expected at least a sender and a receiver")
        self._posts, self._largest, self._seed, self._congestion = posts, largest, seed, congestion
        self._stations: list[Process] = []
        self._ends = contextlib.ExitStack()
        self._number, self._amid = 0, False

    def __enter__(self) -> Chain:
        with contextlib.ExitStack() as ends:
            ends.enter_context(ending_on_sigterm())
            ends.callback(self._stop)
            for name, post in zip(_names(len(self._posts)), self._posts, strict=True):
                self._stations.append(Process.start(name, post))
            self._connect()
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.__exit__(kind, error, trace)

    @property
    def processes(self) -> tuple[int, ...]:
        """Process ids of the stations, in order."""
        return tuple(station.process.pid for station in self._stations)

    def send(self, size: int, chunks: int = 1, way: str = "pipelined") -> Passage:
        """Send one message and wait until it is through and was compared.

        Raises InputError or UnknownNameError for what cannot be asked, RunError where a station ends or is stuck, and
        DataMismatchError where other bytes arrive than were sent.
        """
        marks_of(way, ends_of(size, chunks))
        if size > self._largest:
            raise InputError(f"{size} bytes: this chain was made for at most {self._largest}")
        if self._amid:
            raise RunError("this chain was left amid a passage: make another")
        self._number, self._amid = self._number + 1, True
        order = {"order": "move", "size": size, "chunks": chunks, "way": way, "number": self._number}
        sender, *behind = self._stations
        self._told(behind, [order] * len(behind))
        sender.order(order)
        begun, *answers = self._answers(self._stations)
        self._amid = False
        if (found := answers[-1]["difference"]) is not None:
            offset, expected, got = found
            raise DataMismatchError(
                f"byte {offset} of {size} arrived as {got:#04x}: {expected:#04x} was sent ({chunks} chunks, {way})"
            )
        return Passage(size, chunks, way, begun["start"], tuple(tuple(answer["times"]) for answer in answers))

    def _connect(self) -> None:
        behind = self._stations[1:]
        for station in self._stations:
            station.order({"largest": self._largest, "seed": self._seed})
        addresses = [post.address for post in self._posts[1:]]
        told = self._told(behind, [{"order": "listen", "address": address} for address in addresses])
        to = [
            {"order": "connect", "address": address, "port": answer["port"], "congestion": self._congestion}
            for address, answer in zip(addresses, told, strict=True)
        ]
        self._told(self._stations[:-1], to)
        self._told(behind, [{"order": "accept"}] * len(behind))

    def _told(self, stations: Sequence[Process], orders: Sequence[Mapping[str, object]]) -> list[Mapping[str, Any]]:
        for station, order in zip(stations, orders, strict=True):
            station.order(order)
        return self._answers(stations)

    def _answers(self, stations: Sequence[Process]) -> list[Mapping[str, Any]]:
        """The next answer of each; the end of any station, asked or not, is an error."""
        answers: dict[str, Mapping[str, Any]] = {}
        until = time.monotonic() + LONGEST_PASSAGE
        with selectors.DefaultSelector() as watched:
            for station in self._stations:
                watched.register(station.out, selectors.EVENT_READ, station)
            while len(answers) < len(stations):
                ready = watched.select(max(0.0, until - time.monotonic()))
                if not ready:
                    silent = ", ".join(station.name for station in stations if station.name not in answers)
                    raise RunError(f"nothing was heard of {silent} for {LONGEST_PASSAGE:g} s")
                for key, _ in ready:
                    try:
                        answer = key.data.answer()
                    except EOFError:
                        raise RunError(self._obituary(key.data)) from None
                    if answer is not None:
                        answers[key.data.name] = answer
        return [answers[station.name] for station in stations]

    def _obituary(self, heard: Process) -> str:
        """Who ended and how. One that was killed takes its neighbours along, and these may be heard of first."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            heard.process.wait(GRACE)
        until = time.monotonic() + GRACE
        while not (killed := [one for one in self._stations if one.was_killed]) and time.monotonic() < until:
            time.sleep(GRACE / 20)
        first = (killed or [heard])[0]
        return f"{first.name} {first.epitaph()}"

    def _stop(self) -> None:
        """End all stations: their input ends, and what is left is killed."""
        for station in self._stations:
            station.dismiss()
        until = time.monotonic() + STOP_TIME
        for station in self._stations:
            station.bury(until)
        self._stations.clear()


def _names(count: int) -> list[str]:
    """What the stations of a chain are called."""
    relays = [f"relay {number} of {count - 2}" for number in range(1, count - 1)]
    return ["the sender", *relays, "the receiver"]
