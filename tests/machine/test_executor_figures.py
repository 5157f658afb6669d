"""The executor's figures among a machine's operations."""

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.errors import MachineError
from hopline.machine.executor import COPY, EXCHANGE, OPERATION, SEND, STEPS, TWICE, benchmark, executor_of
from hopline.machine.parts import Fitted, Operation


def operation(what, points, transport="mpi"):
    evidence = Fitted("made", points[0][0], points[-1][0], 0.0, 0.0)
    return Operation(benchmark(transport, what), 2, "time", Curve.line(1e-6, 1e9), evidence, tuple(points))


def operations(first=5e-6, step=10e-6):
    """All steps cost ``step`` + 1 ns a byte, and the first message ``first`` more."""
    found = [operation(OPERATION, [(0.0, 2e-6)])]
    for name in STEPS:
        once = [(size, step + (0 if name == COPY else first) + size * 1e-9) for size in (8.0, 4096.0, 8192.0)]
        found.append(operation(name, once))
        found.append(operation(name + TWICE, [(size, time + step + size * 1e-9) for size, time in once[:2]]))
    return {one.name: one for one in found}


def test_what_only_the_first_message_costs_is_told_from_two_of_them():
    executor = executor_of(operations(), "mpi")
    assert executor.first == pytest.approx(5e-6)
    assert executor.operation == 2e-6
    assert executor.time(SEND, np.array([8.0, 4096.0])) == pytest.approx([10.008e-6, 14.096e-6])
    assert executor.time(COPY, np.array([8.0])) == pytest.approx([10.008e-6])


def test_between_sizes_on_the_chord_and_beyond_them_on_the_last_one():
    executor = executor_of(operations(), "mpi")
    assert executor.time(EXCHANGE, np.array([0.0, 6144.0, 16384.0])) == pytest.approx([10.008e-6, 16.144e-6, 26.384e-6])
    assert executor.largest == 8192


def test_adding_costs_an_operation_at_least():
    executor = executor_of(operations(), "mpi")
    assert executor.adding(True, np.array([8.0])) == pytest.approx([2e-6])


def test_another_transport_has_none():
    assert executor_of(operations(), "gloo") is None


def test_a_part_of_them_is_refused():
    known = operations()
    del known["executor-mpi-exchange.2"]
    with pytest.raises(MachineError, match=r"executor-mpi-exchange .*measure --what executor"):
        executor_of(known, "mpi")
