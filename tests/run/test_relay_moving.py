"""A relay's two hands: what it sends on when, on sockets without a network."""

from __future__ import annotations

import itertools
import socket
import threading

import numpy as np
import pytest

from hopline.errors import InputError, RunError, UnknownNameError
from hopline.run.relaying.moving import Relay, receive, send
from hopline.run.relaying.ways import ends_of, marks_of

MESSAGE = np.arange(100, dtype=np.uint8)


@pytest.fixture
def wires():
    """Sender and relay, relay and receiver."""
    pairs = [socket.socketpair() for _ in range(2)]
    for end in (end for pair in pairs for end in pair):
        end.settimeout(5)
    yield [end for pair in pairs for end in pair]
    for end in (end for pair in pairs for end in pair):
        end.close()


def relaying(wires, way):
    """A relay of 100 bytes in 4 chunks, at work; what it says in the end."""
    ends, said = ends_of(100, 4), []
    relay = Relay(wires[1], memoryview(bytearray(100)), ends, marks_of(way, ends))
    thread = threading.Thread(target=lambda: said.append(relay.forward(wires[2])))
    thread.start()
    return thread, said


@pytest.mark.parametrize(
    ("way", "after_60"), [("store-and-forward", 0), ("pipelined", 50), ("cut-through", 60)], ids=lambda v: str(v)
)
def test_a_relay_sends_on_what_its_way_lets_it(wires, way, after_60):
    thread, said = relaying(wires, way)
    send(wires[0], MESSAGE[:60].data)
    got = b""
    while len(got) < after_60:
        got += wires[3].recv(100)
    wires[3].settimeout(0.05)
    with pytest.raises(TimeoutError):
        wires[3].recv(100)
    wires[3].settimeout(5)
    send(wires[0], MESSAGE[60:].data)
    while len(got) < 100:
        got += wires[3].recv(100)
    thread.join(5)
    assert got == MESSAGE.tobytes()
    ((first, second, third, fourth),) = said
    assert first <= second < third <= fourth


def test_chunks_have_their_times(wires):
    clock, inbox = itertools.count().__next__, bytearray(10)
    assert send(wires[0], MESSAGE[:10].data, clock) == 0
    assert receive(wires[1], memoryview(inbox), [4, 8, 10], clock=clock) == [1, 2, 3]
    assert bytes(inbox) == MESSAGE[:10].tobytes()


def test_a_connection_that_ends_early_is_told(wires):
    send(wires[0], MESSAGE[:7].data)
    wires[0].close()
    with pytest.raises(RunError, match="ended after 7 of 10 bytes"):
        receive(wires[1], memoryview(bytearray(10)), [10])


def test_what_receiving_raises_comes_out_of_forward(wires):
    ends = [10]
    relay = Relay(wires[1], memoryview(bytearray(10)), ends, marks_of("pipelined", ends))
    wires[0].close()
    with pytest.raises(RunError, match="ended after 0 of 10 bytes"):
        relay.forward(wires[2])


def test_larger_chunks_go_first():
    assert ends_of(10, 4) == [3, 6, 8, 10]


@pytest.mark.parametrize(("size", "chunks"), [(0, 1), (3, 4), (3, 0), (-1, 1)])
def test_a_chunk_without_a_byte_is_refused(size, chunks):
    with pytest.raises(InputError, match=f"{size} bytes in {chunks} chunks"):
        ends_of(size, chunks)


def test_an_unknown_way_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'pipelined'"):
        marks_of("pipeline", [1])
