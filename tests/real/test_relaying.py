"""A sender, relays and a receiver over this machine's loopback: data checked, ends told in a line, nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from left import left_of

from hopline.errors import DataMismatchError, InputError, RunError, UnknownNameError
from hopline.run.relaying import chain as chains
from hopline.run.relaying.chain import Chain
from hopline.run.relaying.process import Post
from hopline.run.relaying.ways import WAYS

HERE = Post("127.0.0.1")
THREE = [Post(), HERE, HERE]
LARGEST = 2**20

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one clock for all processes: Linux"),
]


@pytest.fixture
def chain():
    with Chain([*THREE, HERE], LARGEST) as made:
        yield made


def test_every_way_carries_every_size_and_says_when(chain):
    for way in WAYS:
        for size, chunks in ((1, 1), (5, 5), (1000, 3), (LARGEST, 1), (LARGEST, 64)):
            passage = chain.send(size, chunks, way)
            assert (passage.size, passage.chunks, passage.way) == (size, chunks, way)
            assert [len(times) for times in passage.arrivals] == [chunks] * 3
            assert all(list(times) == sorted(times) for times in passage.arrivals)
            assert passage.start < passage.arrivals[0][0]
            assert list(passage.hops) == sorted(passage.hops)
            assert passage.time == passage.hops[-1] > 0


def test_a_relay_that_waits_for_the_whole_message_has_it_before_the_next_has_a_chunk(chain):
    whole = chain.send(LARGEST, 16, "store-and-forward")
    assert whole.arrivals[0][-1] < whole.arrivals[1][0]
    assert whole.arrivals[1][-1] < whole.arrivals[2][0]
    cut = chain.send(LARGEST, 16, "pipelined")
    assert all(before < after for before, after in zip(cut.arrivals[0], cut.arrivals[1], strict=True))


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ((0,), InputError),
        ((10, 11), InputError),
        ((LARGEST + 1,), InputError),
        ((10, 1, "teleported"), UnknownNameError),
    ],
)
def test_what_cannot_be_asked_leaves_the_chain_as_it_was(chain, asked, error):
    with pytest.raises(error):
        chain.send(*asked)
    assert chain.send(10).time > 0


def test_one_station_is_no_chain():
    with pytest.raises(InputError, match="a chain of 1 stations"):
        Chain([Post()], 1)


CORRUPTING = """
import sys
from hopline.run.relaying import moving, station
receive = moving.receive
def spoiling(source, inbox, ends, told=moving.nobody, in_pieces=False):
    def heard(here):
        if here == 750:
            inbox[700:701] = bytes([inbox[700] ^ 1])
        told(here)
    return receive(source, inbox, ends, heard, in_pieces)
moving.receive = spoiling
station.main()
"""


def test_one_wrong_byte_is_named():
    spoilt = Post("127.0.0.1", (sys.executable, "-c", CORRUPTING))
    with Chain([Post(), spoilt, HERE], 1000) as chain, pytest.raises(DataMismatchError) as caught:
        chain.send(1000, 4)
    assert str(caught.value).startswith("byte 700 of 1000 arrived as 0x")
    assert str(caught.value).endswith("(4 chunks, pipelined)")


LAZY = """
import time
from hopline.run.relaying import station
station.receive = lambda *_: time.sleep(60)
station.main()
"""
MORE_THAN_BUFFERS_HOLD = 2**24


@pytest.mark.parametrize(
    ("station", "name"), [(0, "the sender"), (1, "relay 1 of 2"), (2, "relay 2 of 2"), (3, "the receiver")]
)
def test_a_station_that_is_killed_in_a_passage_is_named_in_a_line(station, name):
    lazy = Post("127.0.0.1", (sys.executable, "-c", LAZY))
    with Chain([*THREE, lazy], MORE_THAN_BUFFERS_HOLD) as chain:
        pids = chain.processes
        timer = threading.Timer(0.2, os.kill, (pids[station], signal.SIGKILL))
        timer.start()
        with pytest.raises(RunError) as caught:
            chain.send(MORE_THAN_BUFFERS_HOLD, 4)
        timer.join()
    assert str(caught.value) == f"{name} was killed by SIGKILL"
    assert left_of(pids, 0.0) == []


def test_a_station_that_is_stuck_is_told_and_ended(monkeypatch):
    with Chain(THREE, LARGEST) as chain:
        pids = chain.processes
        os.kill(pids[1], signal.SIGSTOP)
        monkeypatch.setattr(chains, "LONGEST_PASSAGE", 0.3)
        with pytest.raises(RunError, match=r"nothing was heard of relay 1 of 1 for 0.3 s"):
            chain.send(10)
        with pytest.raises(RunError, match="left amid a passage"):
            chain.send(10)
    assert left_of(pids, 0.0) == []


@pytest.mark.parametrize(
    ("posts", "said"),
    [
        ([Post(), Post("127.0.0.1", ("no-such-program",))], "the receiver could not be started with no-such-program"),
        ([Post(), Post("127.0.0.1", ("false",))], "the receiver ended with exit code 1"),
        ([Post(), Post("127.0.0.1", ("echo", "hello"))], "the receiver said b'hello "),
        ([Post(), Post("203.0.113.7"), HERE], "relay 1 of 1 failed: it cannot listen on '203.0.113.7': "),
    ],
)
def test_a_chain_that_cannot_be_made_says_why_and_leaves_nothing(posts, said):
    made = Chain(posts, 10)
    with pytest.raises(RunError) as caught, made:
        pass
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
    assert made.processes == ()


def test_an_unknown_rule_of_congestion_is_told():
    with (
        pytest.raises(RunError, match=r"unknown congestion control 'hopeful': .*reno"),
        Chain(THREE, 10, congestion="hopeful"),
    ):
        pass


WAITING = f"""
import sys
from hopline.run.relaying.chain import Chain
from hopline.run.relaying.process import Post
with Chain([Post(), Post("127.0.0.1"), Post("127.0.0.1", (sys.executable, "-c", {LAZY!r}))], 2**24) as chain:
    print(*chain.processes, flush=True)
    chain.send(2**24)
"""


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_started_a_chain_takes_it_along(name):
    command = [sys.executable, "-c", WAITING]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        pids = process.stdout.readline().split()
        assert len(pids) == 3
        time.sleep(0.2)
        process.send_signal(name)
        assert process.wait(10) != 0
    finally:
        process.kill()
        process.communicate()
    assert left_of(pids) == []
