"""What a trace says of itself that cannot be: named, and taken as not said."""

import json

import numpy as np
import pytest
from trace_texts import BASE, EVENTS, text

from hopline.formats.kineto.reader import read_trace

RANKS = {"-3": "-3", str(2**70): "1180591620717411303424", '"x"': "'x'", "true": "true", "1.5": "1.5", "[0]": "a list",
         "{}": "an object", "null": "null", str(2**24): str(2**24), "-0.5": "-0.5", '"-1"': "'-1'", '"٣"': "'٣'"}  # fmt: skip
BASES = {'"abc"': "'abc'", str(2**70): "1180591620717411303424", "-5": "-5", "[]": "a list", "true": "true", "0.5": "0.5",
         "NaN": "null", "null": "null", str(2**63): str(2**63), "-1e300": "-1e+300", "8500000000000000000": "8500000000000000000"}  # fmt: skip


def read(tmp_path, name="trace.json", **around):
    """A trace with ``around`` as it is, so that it need be no JSON."""
    path = tmp_path / name
    keys = "".join(f'"{key}": {value}, ' for key, value in around.items())
    path.write_text("{" + keys + text()[1:])
    return read_trace(str(path))


@pytest.mark.parametrize("value", RANKS)
@pytest.mark.parametrize("key", ["rank", "world_size"])
def test_impossible_ranks_and_worlds_are_named(tmp_path, key, value):
    trace = read(tmp_path, "rank7.json", distributedInfo=f'{{"{key}": {value}}}')
    assert (trace.rank, trace.world) == (7, None)
    (told,) = [line for line in trace.told if line.startswith(f"distributedInfo.{key} is ")]
    assert told.startswith(f"distributedInfo.{key} is {RANKS[value]}: expected a whole number from ")
    assert "counts as not said" in told


def test_a_job_of_no_ranks(tmp_path):
    trace = read(tmp_path, distributedInfo='{"rank": 0, "world_size": 0}')
    assert (trace.rank, trace.world) == (0, None)
    assert any("distributedInfo.world_size is 0: expected a whole number from 1" in line for line in trace.told)


@pytest.mark.parametrize("value", ["[]", '"x"', "3", "null"])
def test_a_job_that_is_no_object(tmp_path, value):
    trace = read(tmp_path, distributedInfo=value)
    assert trace.rank is None
    assert any(line.startswith("distributedInfo is ") for line in trace.told)


@pytest.mark.parametrize("value", ["3", '"3"', "3.0"])
def test_ranks_as_text_and_whole_floats(tmp_path, value):
    trace = read(
        tmp_path, distributedInfo=f'{{"rank": {value}, "world_size": {value[:-1] + "4" if value == "3" else "8"}}}'
    )
    assert trace.rank == 3
    assert trace.told == ()


@pytest.mark.parametrize("value", BASES)
def test_impossible_bases_are_named(tmp_path, value):
    trace = read(tmp_path, "rank0.json", baseTimeNanoseconds=value)
    assert (trace.base, trace.absolute) == (BASE * 1000, True)
    (told,) = [line for line in trace.told if line.startswith("baseTimeNanoseconds is ")]
    assert told.startswith(f"baseTimeNanoseconds is {BASES[value]}: expected whole nanoseconds since 1970")


@pytest.mark.parametrize("value", ["1700000000000000000", '"1700000000000000000"', "1.7e18"])
def test_bases_that_are_whole(tmp_path, value):
    path = tmp_path / "rank0.json"
    events = [event | {"ts": event["ts"] - BASE} if "ts" in event else event for event in EVENTS]
    path.write_text(f'{{"baseTimeNanoseconds": {value}, ' + text(events)[1:])
    trace = read_trace(str(path))
    assert (trace.base, trace.absolute) == (1_700_000_000_000_000_000, True)
    assert not any("baseTime" in line for line in trace.told)


def test_no_defect_of_the_head_is_told_where_it_says_nothing(tmp_path):
    assert read(tmp_path, "rank0.json").told == ("rank 0 is from the name of the file: it says none itself",)


def test_what_the_file_is_about_is_text(tmp_path):
    about = {"deviceProperties": [{"name": {"a": 1}}], "traceName": "a\x1bb\n" + "c" * 9000}
    trace = read(tmp_path, **{key: json.dumps(value) for key, value in about.items()})
    assert trace.about["name"].startswith("a?b c")
    assert len(trace.about["name"]) == 500
    assert "device" not in trace.about
    assert np.all(trace.events.start >= 0)
