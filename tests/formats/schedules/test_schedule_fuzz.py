"""Whatever happens to a schedule file, reading it gives a schedule or one of hopline's errors, soon."""

import json
import random

import pytest
from schedule_samples import GOAL, collective, node, ring_of_combined_steps, trace
from spent import at_most
from test_mscclpp import exchange, old, old_exchange, threads, two

from hopline.errors import HoplineError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked
from hopline.schedule.operations import Schedule

SAMPLES = {
    "goal": GOAL.encode(),
    "msccl": ring_of_combined_steps().encode(),
    "mscclpp": json.dumps(two([threads(0, *exchange(0))], [threads(0, *exchange(1))])).encode(),
    "mscclpp, old": json.dumps(old(old_exchange(0), old_exchange(1))).encode(),
    "chakra": trace([node(1, "COMP", time=3), collective(2, "all_gather", 64, (1,)), node(3, "COMP", (2,), (1,), time=4)]),
    "chakra-json": json.dumps({"workload_graph": [
        {"Id": 1, "Name": "a", "NodeType": 4, "data_deps": [], "runtime": 3},
        {"Id": 2, "Name": "b", "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 8},
    ]}).encode(),
}  # fmt: skip
JUNK = [
    b"",
    b"\0",
    b"\xff",
    b"-1",
    b"99999999999999999999",
    b"{",
    b"}",
    b"[",
    b'"',
    b"<",
    b"/>",
    b"&a;",
    b"\n",
    b"1e9",
    b"null",
    b"\x80" * 12,
]
ROUNDS = 250


def mutated(data, chance):
    """A few cuts, repeats, exchanges and bits of junk."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        end = min(end, at + chance.choice((1, 4, 40)))
        change = chance.randrange(5)
        if change == 0:
            del data[at:end]
        elif change == 1:
            data[at:at] = data[at:end] * chance.choice((1, 2, 30))
        elif change == 2:
            data[at:end] = chance.choice(JUNK)
        elif change == 3 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        else:
            data = data[:end] if chance.random() < 0.2 else data
    return bytes(data)


@pytest.mark.parametrize("name", SAMPLES)
def test_only_our_errors_escape(tmp_path, name):
    chance = random.Random(name)
    path = tmp_path / "a.0.et"
    kind = name.partition(",")[0]
    outcomes = {"read": 0, "refused": 0}
    with at_most(60):
        for number in range(ROUNDS):
            path.write_bytes(mutated(SAMPLES[name], chance) or b"x")
            try:
                size = 96 if kind.startswith("msccl") else None
                found = table.read(str(path), Asked(size=size), kind if number % 2 else None)
                assert isinstance(found.schedule, Schedule)
                outcomes["read"] += 1
            except HoplineError as error:
                assert "\n" not in str(error)
                assert len(str(error)) < 1000
                outcomes["refused"] += 1
    assert outcomes["refused"] > ROUNDS // 10


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_themselves_are_read(tmp_path, name):
    path = tmp_path / "a.0.et"
    path.write_bytes(SAMPLES[name])
    assert table.contents(str(path)).ranks in (1, 2, 3)
