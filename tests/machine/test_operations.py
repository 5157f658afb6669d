"""Operations of a machine: what they must hold, how they are read and written, and links that take their curve."""

import math
import tomllib
from dataclasses import replace

import pytest

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, InputError, MachineError, UnknownNameError
from hopline.machine.files import loads
from hopline.machine.parts import Fitted, Link, Operation
from hopline.machine.topology import Machine
from hopline.machine.writing import dumps

FITTED = Fitted("osu latency, 2 ranks, a.out line 3", 0.0, 65536.0, 0.02, 0.1)
CURVE = Curve((Piece(0, 1.5e-6, math.inf), Piece(8192, 2e-6, 1e10)))
DRAWN = Curve((Piece(0, 1.6e-6, 4e10), Piece(9000, 1.9e-6, math.inf)))
POINTS = ((0.0, 1.5e-6), (8.0, 1.51e-6), (65536.0, 8.6e-6))
LATENCY = Operation("latency", 2, "time", CURVE, FITTED, POINTS, (DRAWN, CURVE))


def machine(**operations):
    """A machine of nothing but links and operations."""
    made = {operation.name: operation for operation in operations.values()}
    return Machine("m", "", {}, {}, (), {}, made)


# --- what an operation is -----------------------------------------------------------------------------------------


def test_its_name_is_that_of_benchmark_and_ranks():
    assert LATENCY.name == "latency.2"
    assert replace(LATENCY, ranks=None).name == "latency"


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"measure": "rate"}, UnknownNameError, "unknown measure 'rate'.* gap, time"),
        ({"benchmark": ""}, MachineError, "benchmark's name"),
        ({"ranks": 0}, MachineError, "0 ranks: expected at least 1"),
        ({"points": ()}, MachineError, "points in order of size"),
        ({"points": POINTS[::-1]}, MachineError, "points in order of size"),
        ({"points": (POINTS[0], POINTS[0])}, MachineError, "points in order of size"),
        ({"points": ((0.0, 0.0),)}, InputError, "a time of operation latency.2 is 0.0"),
        ({"points": ((0.0, math.nan),)}, InputError, "finite number above 0"),
        ({"draws": (CURVE, Curve.line(1e-6, 1e9))}, MachineError, "1 pieces: expected as many as the curve, 2"),
    ],
)
def test_wrong_operations_cannot_be_made(changes, error, said):
    with pytest.raises(error, match=said):
        replace(LATENCY, **changes)


# --- in a file ----------------------------------------------------------------------------------------------------


def test_it_is_read_again():
    gap = replace(LATENCY, benchmark="bw", measure="gap", draws=())
    unnamed = replace(LATENCY, benchmark="all_reduce", ranks=None)
    whole = machine(a=LATENCY, b=gap, c=unnamed)
    again = loads(dumps(whole), "again")
    assert again == whole
    assert list(again.operations) == ["latency.2", "bw.2", "all_reduce"]


def test_points_and_draws_are_lines_that_people_can_read():
    entry = tomllib.loads(dumps(machine(a=LATENCY)))["operations"]["latency.2"]
    assert entry["points"] == ["0 B: 1.5 us", "8 B: 1.51 us", "65536 B: 8.6 us"]
    assert entry["draws"] == ["0 B: 1.6 us, 40 GB/s; 9000 B: 1.9 us, ", "0 B: 1.5 us, ; 8192 B: 2 us, 10 GB/s"]
    assert entry["ranks"] == 2


def test_a_link_takes_the_curve_of_its_operation_and_the_file_holds_it_once():
    link = Link("send", 1e10, curve=CURVE, fitted=FITTED, operation="latency.2")
    whole = Machine("m", "", {"send": link}, {}, (), {}, {"latency.2": LATENCY})
    text = dumps(whole)
    assert text.count("a.out line 3") == 1
    again = loads(text, "again")
    assert again == whole
    assert again.links["send"].curve == CURVE
    assert again.links["send"].fitted == FITTED
    assert again.links["send"].cost() == CURVE


# --- wrong files --------------------------------------------------------------------------------------------------

HEAD = 'hopline = "machine"\nversion = 1\nname = "x"\n[nodes]\n'
RIGHT = {
    "benchmark": '"all_reduce"',
    "ranks": "4",
    "measure": '"time"',
    "pieces": '[{ from_size = "0 B", latency = "1 us", bandwidth = "1 GB/s" }]',
    "fitted": '{ origin = "o", smallest = "8 B", largest = "1 KiB", mean_error = 0.1, worst_error = 0.2 }',
    "points": '["8 B: 1 us", "1 KiB: 2 us"]',
    "draws": '["0 B: 1 us, 1 GB/s", "0 B: 1.1 us, 2 GB/s"]',
}
KEY = "operations.all_reduce.4"
LINK = '[links.l]\nbandwidth = "1 GB/s"\n'


def text_of(links="", key="all_reduce.4", **changes):
    """A file with one operation, right but for what is changed; None leaves a key out."""
    entries = {k: v for k, v in (RIGHT | changes).items() if v is not None}
    return f'{HEAD}{links}[operations."{key}"]\n' + "".join(f"{k} = {v}\n" for k, v in entries.items())


def test_the_right_one_is_right():
    (operation,) = loads(text_of(), "m").operations.values()
    assert operation.points == ((8, 1e-6), (1024, 2e-6))
    assert operation.draws == (Curve.line(1e-6, 1e9), Curve.line(1.1e-6, 2e9))
    assert loads(text_of(ranks=None, draws=None, key="all_reduce"), "m").operations["all_reduce"].draws == ()


WRONG = {
    "a point without a time": ({"points": '["8 B: 1 us", "9 B 1 us"]'}, [f"{KEY}.points[1]: ", "'9 B 1 us' has no ':'"]),
    "a point of another dimension": ({"points": '["8 B: 1 GB"]'}, [f"{KEY}.points[0]: ", "'1 GB' is a size"]),
    "a point turned round": ({"points": '["1 us: 8 B"]'}, [f"{KEY}.points[0]: ", "'1 us' is a time"]),
    "a point that is a number": ({"points": "[8]"}, [f"{KEY}.points[0]: ", "got `int`"]),
    "no points": ({"points": "[]"}, ["operation all_reduce.4", "points in order of size"]),
    "points upside down": ({"points": '["9 B: 1 us", "8 B: 1 us"]'}, ["operation all_reduce.4", "in order of size"]),
    "a time of nothing": ({"points": '["8 B: 0 us"]'}, ["operation all_reduce.4", "above 0"]),
    "a size without end": ({"points": '["inf B: 1 us"]'}, [f"{KEY}.points[0]: ", "not a finite size"]),
    "a draw without a bandwidth's place": ({"draws": '["0 B: 1 us"]'}, [f"{KEY}.draws[0]: ", "'1 us' has no ','"]),
    "a draw of nothing": ({"draws": '["0 B: 1 us, 1 GB/s", ""]'}, [f"{KEY}.draws[1]: ", "has no ':'"]),
    "a draw from nowhere": ({"draws": '["1 B: 1 us, 1 GB/s"]'}, [f"{KEY}.draws[0]: ", "0 first, then growing"]),
    "a draw back and forth": ({"draws": '["0 B: 1 us, ; 0 B: 1 us, "]'}, [f"{KEY}.draws[0]: ", "0 first, then growing"]),
    "a draw with a negative time": ({"draws": '["0 B: -1 us, 1 GB/s"]'}, [f"{KEY}.draws[0]: ", "negative"]),
    "a draw without bandwidth": ({"draws": '["0 B: 1 us, 0 GB/s"]'}, [f"{KEY}.draws[0]: ", "above 0"]),
    "a draw in bits or bytes": ({"draws": '["0 B: 1 us, 1 G"]'}, [f"{KEY}.draws[0]: ", "ambiguous"]),
    "a draw of more pieces": ({"draws": '["0 B: 1 us, ; 9 B: 1 us, "]'}, ["operation all_reduce.4", "2 pieces", "as the curve, 1"]),
    "a measure nobody knows": ({"measure": '"rate"'}, [f"{KEY}.measure: ", "'rate'", "known are time, gap"]),
    "another benchmark": ({"benchmark": '"broadcast"'}, [f"{KEY}: ", "as its name, broadcast.4"]),
    "ranks left out": ({"ranks": None}, [f"{KEY}: ", "as its name, all_reduce"]),
    "no benchmark": ({"benchmark": None}, [f"{KEY}: ", "required field `benchmark`"]),
    "no ranks at all": ({"ranks": "0", "key": "all_reduce.0"}, ["operation all_reduce.0 has 0 ranks"]),
    "no pieces": ({"pieces": "[]"}, [f"{KEY} has no pieces"]),
    "pieces from nowhere": ({"pieces": '[{ from_size = "1 B", latency = "1 us" }]'}, [f"{KEY}.pieces: ", "0 first"]),
    "an unknown key": ({"colour": '"red"'}, [f"{KEY}: ", "unknown field `colour`"]),
    "a range upside down": ({"fitted": RIGHT["fitted"].replace("8 B", "8 MiB")}, [f"{KEY}.fitted: ", "the smaller first"]),
    "an error below 0": ({"fitted": RIGHT["fitted"].replace("0.1", "-0.1")}, [f"{KEY}.fitted: ", "mean_error"]),
    "an operation nobody knows": (
        {"links": f'{LINK}operation = "send.2"\n'}, ["links.l.operation is 'send.2'", "expected one of [operations] (all_reduce.4)"],
    ),
    "a curve twice": (
        {"links": f'{LINK}operation = "all_reduce.4"\npieces = {RIGHT["pieces"]}\n'}, ["links.l.operation", "and no pieces"],
    ),
    "the evidence twice": (
        {"links": f'{LINK}operation = "all_reduce.4"\nfitted = {RIGHT["fitted"]}\n'}, ["links.l.operation", "and no pieces"],
    ),
    "a gap for a link": (
        {"links": f'{LINK}operation = "all_reduce.4"\n', "measure": '"gap"'}, ["links.l.operation is 'all_reduce.4'", "no latency"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_operations_are_refused_with_their_key(case):
    changes, said = WRONG[case]
    with pytest.raises(MachineError) as caught:
        loads(text_of(**changes), "my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml: ")
    assert "\n" not in message
    assert all(part in message for part in said), message


def test_operations_that_are_none():
    for text in (f"operations = 3\n{HEAD}", f"{HEAD}[operations]\nx = 3\n"):
        with pytest.raises(HoplineError, match=r"operations(\.x)?: Expected `object`, got `int`"):
            loads(text, "m")
