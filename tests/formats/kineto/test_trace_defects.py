"""Traces that are no JSON, or odd in what they say: mended and told, or refused."""

import gzip
import os

import pytest
from trace_texts import BASE, EVENTS, call, kernel, span, text

from hopline.errors import FormatError
from hopline.formats.kineto import blocks
from hopline.formats.kineto.mending import mended
from hopline.formats.kineto.reader import read_trace


def read(tmp_path, content):
    path = tmp_path / "rank0.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_trace(str(path))


def told(trace, *words):
    return [line for line in trace.told if all(word in line for word in words)]


GOOD = text(EVENTS, distributedInfo={"rank": 0}).encode()
MENDED = {
    "pointers": ((b'"bytes": 64', b'"bytes": 64, "src": 0x7f1c00'), "pointers without quotes (1)"),
    "NaN": ((b'"bytes": 64', b'"bytes": NaN, "b": -nan, "c": -Infinity, "d": inf'), "numbers that are NaN (2), infinite numbers (2)"),
    "NaN behind the events": ((b'"distributedInfo"', b'"x": NaN, "distributedInfo"'), "numbers that are NaN (1)"),
    "huge": ((b'"name": "gemm"', b'"name": 1e999, "name": -2.5E+4000, "name": 1e300, "name": "gemm"'), "numbers beyond all doubles (2)"),
    "very long": ((b'"name": "gemm"', b'"name": ' + b"9" * 6000 + b', "name": ' + b"9" * 200 + b', "name": "gemm"'),
                  "numbers beyond all doubles (1)"),
    "no value": ((b'"bytes": 64', b'"bytes": '), "keys without a value (1)"),
    "comma": ((b'"bytes": 64', b'"bytes": 64, '), "commas before a bracket (1)"),
    "last comma": ((b'], "distributedInfo"', b' ,\n], "distributedInfo"'), "commas before a bracket (1)"),
    "no UTF-8": ((b'"gemm"', b'"ge\xff\xfemm"'), "bytes that are no UTF-8 (2)"),
    "control": ((b'"gemm"', b'"ge\x01m\tm"'), "control characters in strings (2)"),
    "backslash": ((b'"gemm"', b'"ge\\mm\\x \\u12 \\\\ \\" 0x5 NaN,]"'), "stray backslashes (3)"),
}  # fmt: skip


@pytest.mark.parametrize("size", [1 << 8, 1 << 20])
@pytest.mark.parametrize("defect", MENDED)
def test_what_can_be_mended_is_told(tmp_path, monkeypatch, defect, size):
    monkeypatch.setattr(blocks, "BLOCK", size)
    (old, new), words = MENDED[defect]
    assert GOOD.count(old) == 1
    trace = read(tmp_path, GOOD.replace(old, new))
    assert len(trace.events) == 5
    assert trace.rank == 0
    assert told(trace, "no JSON and was mended", words)
    assert trace.events.end.tolist() == read(tmp_path, GOOD).events.end.tolist()


def test_good_text_is_not_touched():
    counts = {}
    assert mended(GOOD, counts) == GOOD
    assert counts == {}


def test_names_keep_what_looks_like_a_defect(tmp_path):
    name = 'f<0x1F>(NaN, Infinity,], :}) \\ " 1e999'
    assert read(tmp_path, text([span(name, 0, 1)])).names == (name,)
    broken = text([span(name, 0, 1, n=1)]).replace('"n": 1', '"n": NaN')
    assert read(tmp_path, broken).names == (name,)


def test_cut_gzip(tmp_path):
    with pytest.raises(FormatError, match="is cut: its compressed data stops"):
        read(tmp_path, gzip.compress(GOOD * 50)[:-40])


def test_a_sparse_file_is_refused_at_once(tmp_path):
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(FormatError, match="holds only NUL bytes"):
        read_trace(str(path))
    with path.open("r+b") as file:
        file.write(GOOD[:-40])
    with pytest.raises(FormatError, match="NUL bytes"):
        read_trace(str(path))
    assert os.stat(path).st_size == 8 << 30


ODD = {
    "no time": ({"ts": None}, 2, "without a time that is a number: left out"),
    "a time that is text": ({"ts": "soon"}, 2, "without a time that is a number: left out"),
    "an absurd time": ({"ts": 1e300}, 2, "without a time that is a number: left out"),
    "a time of another age": ({"ts": 5}, 2, "more than 30 days from most others"),
    "a huge whole time": ({"ts": 10**40}, 2, "without a time that is a number: left out"),
    "a negative length": ({"dur": -4}, 3, "of negative length: taken as of no length"),
    "a length that is text": ({"dur": "long"}, 3, "with a length that is no number: taken as of no length"),
    "an absurd length": ({"dur": 1e15}, 2, "more than 30 days"),
    "no length": ({"dur": None}, 3, "without a length: taken as of no length"),
    "a name that is a list": ({"name": ["a"]}, 3, ""),
    "no name": ({"name": None}, 3, ""),
    "a category that is an object": ({"cat": {"a": 1}}, 2, ""),
    "a thread that is a list": ({"tid": [1, 2]}, 3, ""),
    "arguments that are a list": ({"args": [1]}, 3, ""),
    "arguments that are text": ({"args": "x"}, 3, ""),
    "a correlation that is text": ({"args": {"correlation": "77"}}, 3, ""),
}  # fmt: skip


@pytest.mark.parametrize("way", ODD)
@pytest.mark.parametrize(
    "make", [lambda: span("odd", 3, 1), lambda: call("odd", 3, 1, 5), lambda: kernel("odd", 3, 1, 5)]
)
def test_odd_events(tmp_path, way, make):
    change, rows, words = ODD[way]
    odd = make() | change
    trace = read(tmp_path, text([span("a", 0, 2), odd, span("b", 2, 9)]))
    assert len(trace.events) == rows
    assert trace.counts["events"] == 3
    assert trace.base == BASE * 1000
    assert (trace.events.end >= trace.events.start).all()
    assert len(told(trace, "1 event ", words)) == 1 if words else len(trace.told) == 1


def test_a_correlation_as_text_is_the_number(tmp_path):
    trace = read(tmp_path, text([call("c", 0, 1, "77"), kernel("k", 2, 1, "0x4d")]))
    assert trace.events.correlation.tolist() == [77, 77]


@pytest.mark.parametrize("number", [10**30, 1.5, True, "x", [1], {}])
def test_correlations_that_are_none_are_told(tmp_path, number):
    trace = read(tmp_path, text([call("c", 0, 1, number), kernel("k", 2, 1, number), kernel("l", 4, 1, 7.0)]))
    assert trace.events.correlation.tolist() == [-1, -1, 7]
    assert told(trace, "2 events with a correlation that is no whole number: taken as without one")


@pytest.mark.parametrize("number", [None, -1, 2**32 - 1, 2**64 - 1, "-1", ""])
def test_correlations_that_stand_for_none_are_no_defect(tmp_path, number):
    trace = read(tmp_path, text([call("c", 0, 1, number), kernel("k", 2, 1, number)]))
    assert trace.events.correlation.tolist() == [-1, -1]
    assert len(trace.told) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"ts": "soon"}, "has no event at a time that can be: 5 events without a time that is a number: left out"),
        ({"dur": 1e14}, "has no event at a time that can be: 5 events more than 30 days from most others, or longer"),
    ],
)
def test_a_file_none_of_whose_events_can_be(tmp_path, change, why):
    with pytest.raises(FormatError) as error:
        read(tmp_path, text([event | change for event in EVENTS]))
    assert why in str(error.value)


def test_things_in_the_list_that_are_no_events(tmp_path):
    trace = read(tmp_path, text([None, *EVENTS, 5, "x", [], {}]))
    assert len(trace.events) == 5
    assert trace.counts["events"] == len(EVENTS) + 5


def test_duplicate_keys_take_the_last(tmp_path):
    trace = read(tmp_path, text([span("a", 0, 1)]).replace('"dur": 1', '"dur": 1, "dur": 2'))
    assert trace.events.end.tolist() == [2000]


def test_events_in_any_order(tmp_path):
    trace = read(tmp_path, text(EVENTS[::-1]))
    assert trace.events.start.tolist() == read(tmp_path, text()).events.start.tolist()


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([], "has no events"),
        ([{"ph": "\x1b[31m\n"}] * 2, r"has no event with a length (2 of ph '\x1b[31m\n')"),
        ([{"ph": "M"}, {"ph": "i", "ts": 5}], "has no event with a length (1 of ph M, 1 of ph i)"),
        (
            [{"ph": "b", "cat": "COLL", "id": 1, "ts": 5}],
            "(1 of ph b): begins and ends, as NCCL's profiler plugin writes them",
        ),
    ],
)
def test_nothing_with_a_length(tmp_path, events, why):
    with pytest.raises(FormatError) as error:
        read(tmp_path, text(events))
    assert why in str(error.value)


def test_begins_and_ends_are_left_out_and_told(tmp_path):
    apart = [{"ph": ph, "cat": "COLL", "name": "AllReduce", "id": 1, "pid": 1, "tid": 1, "ts": BASE} for ph in "be"]
    trace = read(tmp_path, text([*apart, *EVENTS]))
    assert len(trace.events) == 5
    assert told(trace, "2 events whose begin and end stand apart")


def test_only_events_that_are_not_kept(tmp_path):
    trace = read(tmp_path, text([span("f", 0, 1, "python_function")]))
    assert len(trace.events) == 0
    assert trace.collectives == trace.steps == ()
    assert trace.counts["X:python_function"] == 1
    assert told(trace, "no event is of a kind that is used")


@pytest.mark.parametrize("what", ["folder", "absent", "empty", "null"])
def test_paths_that_cannot_be_read(tmp_path, what):
    path = tmp_path / what
    if what == "folder":
        path.mkdir()
    if what == "empty":
        path.touch()
    with pytest.raises(FormatError) as error:
        read_trace(str(path) + ("\0" if what == "null" else ""))
    assert "\n" not in str(error.value)
    assert "benchmark" not in str(error.value)
