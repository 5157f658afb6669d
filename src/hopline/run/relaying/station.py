"""The program of one station: ``python -m hopline.run.relaying.station``, started by ``chain`` only.

What belongs here: orders as JSON lines on standard input, answers on standard output, and an end when the input ends, which
is so when whoever started us is gone. A station without a source is the sender, one without a target the receiver.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from hopline.errors import RunError, UnknownNameError
from hopline.run import failures
from hopline.run.pattern import Bytes, Pattern, first_difference
from hopline.run.relaying.moving import Relay, receive, send
from hopline.run.relaying.ways import ends_of, marks_of

Order = Mapping[str, Any]
Answer = dict[str, Any]
SENDER = 0
"""The rank that the pattern takes the sender for."""
FAILED = 1
AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"


def say(answer: Answer) -> None:
    """Write one answer as one line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


@dataclass(slots=True)
class Station:
    """Its sockets, the bytes that both ends know, and room for the largest message, which is touched once."""

    pattern: Pattern
    waiting: socket.socket | None = None
    source: socket.socket | None = None
    target: socket.socket | None = None
    inbox: Bytes = field(init=False)

    def __post_init__(self) -> None:
        self.inbox = np.full(self.pattern.largest, 0xA5, dtype=np.uint8)

    def listen(self, order: Order) -> Answer:
        """Wait for the station before at an address."""
        address = order["address"]
        try:
            self.waiting = socket.create_server((address, 0), backlog=1)
        except OSError as error:
            raise RunError(f"it cannot listen on {address!r}: {error.strerror}") from error
        return {"port": self.waiting.getsockname()[1]}

    def connect(self, order: Order) -> Answer:
        """Connect to the next station, with an algorithm of congestion control where one is named."""
        self.target = socket.socket()
        self.target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if name := order["congestion"]:
            _choose(self.target, name)
        address = order["address"], order["port"]
        try:
            self.target.connect(address)
        except OSError as error:
            raise RunError(f"it cannot reach {address[0]} port {address[1]}: {error.strerror}") from error
        return {}

    def accept(self, _order: Order) -> Answer:
        """Take the connection of the station before."""
        if self.waiting is None:
            raise RunError("told to accept before it was told to listen")
        self.source, _ = self.waiting.accept()
        self.waiting.close()
        return {}

    def move(self, order: Order) -> Answer:
        """Take part in one passage."""
        size, ends = order["size"], ends_of(order["size"], order["chunks"])
        message = self.pattern.window(SENDER, size, order["number"])
        if self.source is None and self.target is not None:
            return {"start": send(self.target, message.data)}
        if self.source is None:
            raise RunError("told to move bytes before it was connected")
        inbox = self.inbox.data
        if self.target is None:
            say({"ready": True})
            times = receive(self.source, inbox, ends)
            found = first_difference(SENDER, message, self.inbox[:size])
            return {"times": times, "difference": found and [found.offset, found.expected, found.got]}
        relay = Relay(self.source, inbox, ends, marks_of(order["way"], ends))
        say({"ready": True})
        return {"times": relay.forward(self.target)}


def _choose(target: socket.socket, congestion: str) -> None:
    try:
        target.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    except OSError:
        known = Path(AVAILABLE).read_text().split()
        raise UnknownNameError("congestion control", congestion, known) from None


ORDERS: dict[str, Callable[[Station, Order], Answer]] = {
    "listen": Station.listen,
    "connect": Station.connect,
    "accept": Station.accept,
    "move": Station.move,
}


def orders() -> Iterator[Order]:
    """What comes in on standard input, read on a thread that ends this process with the input, whatever it is doing."""
    heard: SimpleQueue[Order] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            heard.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield heard.get()


def main() -> None:
    """Obey until the input ends; what fails is said in a line and ends the station."""
    heard = orders()
    try:
        first = next(heard)
        station = Station(Pattern(first["largest"], first["seed"]))
        for order in heard:
            say(ORDERS[order["order"]](station, order))
    except Exception as error:  # noqa: BLE001 - whatever it is, who started us must hear of it
        say({"failure": failures.said(error)})
        os._exit(FAILED)


if __name__ == "__main__":
    main()
