"""Our samples file: it grows, it joins, it survives a crash."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.errors import FormatError, InputError, OutputError
from hopline.formats import samples
from hopline.formats.samples import (
    CHANGED,
    FOREIGN,
    REPEATED,
    TORN,
    append,
    begun,
    content_id,
    encode,
    load,
    pairs_of,
    read,
    scan,
    table_of,
)  # fmt: skip
from hopline.records.sample import Sample

OF_VERSION_1 = (
    b'{"hopline":"samples","version":1,"benchmark":"latency","transport":"mpi","host":"n1","ranks":2,"size":8,'
    b'"times":[1e-6,2e-6],"clock":1e-9,"started":"2026-01-02","id":"428a06a8fe066d51"}\n'
)
SMALL = Sample("latency", "mpi", "n1", 2, 8, (1e-6, 2e-6, 3e-6), 1e-9, "2026-01-02T03:04:05+00:00")
MORE = Sample("latency", "mpi", "n1", 2, 8, (4e-6,), 2e-9, "2026-01-02T03:04:06+00:00")
LARGE = Sample("latency", "mpi", "n1", 2, 4096, (5e-6,), 1e-9, "2026-01-02T03:04:07+00:00")
OTHER = Sample("latency", "mpi", "n2", 2, 8, (9e-6,), 1e-9, "2026-01-01T00:00:00+00:00")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "samples.jsonl")


def put(path, data: bytes):
    with open(path, "wb") as file:
        file.write(data)


def reasons(path):
    return {(entry.reason, entry.count, entry.first_line) for entry in scan(path).dropped}


def test_what_is_appended_is_loaded_and_adds_up(path):
    for sample in (SMALL, LARGE, MORE):
        append(path, sample)
    assert load(path) == [SMALL + MORE, LARGE]


def test_every_line_says_what_it_is():
    line = json.loads(encode(SMALL))
    assert (line["hopline"], line["version"], line["id"]) == ("samples", 1, content_id(SMALL))
    assert line["times"] == [1e-6, 2e-6, 3e-6]


@given(
    st.integers(0, 2**40),
    st.lists(st.floats(0, 1e9), min_size=1, max_size=5),
    st.floats(0, 1),
    st.text(max_size=8),
)
def test_lines_survive_the_way(size, times, clock, host):
    sample = Sample("latency", "mpi", host, 2, size, tuple(times), clock, "")
    got, reason = samples._decode("-", 1, encode(sample))
    assert (got, reason) == (sample, "")
    assert content_id(got) == content_id(sample)


def test_numpy_numbers_and_ints_are_written_as_plain_ones(path):
    append(path, Sample("latency", "mpi", "n1", 2, np.int64(8), (np.float64(1.5), 1)))
    assert load(path) == [Sample("latency", "mpi", "n1", 2, 8, (1.5, 1.0))]


def test_joined_files_are_a_file(path):
    put(path, encode(SMALL) + encode(OTHER) + encode(LARGE))
    assert load(path) == [SMALL, LARGE, OTHER]


def test_the_same_line_twice_counts_once(path):
    put(path, encode(SMALL) + encode(LARGE) + encode(SMALL))
    assert load(path) == [SMALL, LARGE]
    assert reasons(path) == {(REPEATED, 1, 3)}


@pytest.mark.parametrize("cut", [1, 5, 30, len(encode(SMALL)) - 1])
def test_a_torn_last_line_is_left_and_a_new_one_begun(path, cut):
    put(path, encode(LARGE) + encode(SMALL)[:cut])
    append(path, MORE)
    whole = cut == len(encode(SMALL)) - 1
    assert load(path) == [SMALL + MORE if whole else MORE, LARGE]
    assert reasons(path) == (set() if whole else {(TORN, 1, 2)})


@pytest.mark.parametrize("cut", [1, 5, 19])
def test_a_file_whose_first_line_is_torn_is_still_ours(path, cut):
    put(path, encode(SMALL)[:cut])
    append(path, MORE)
    assert load(path) == [MORE]


def test_a_torn_line_does_not_take_the_next_file_with_it(path):
    put(path, encode(SMALL)[:40] + encode(LARGE))
    assert load(path) == [LARGE]
    assert reasons(path) == {(TORN, 1, 1)}


@pytest.mark.parametrize("content", [b"size,time\n8,1\n", b"{}\n", b"\n", b'{"hopline":"machine"}\n', b"\x00\xff"])
def test_other_files_are_not_touched(path, content):
    put(path, content)
    with pytest.raises(OutputError, match="is not a samples file"):
        append(path, SMALL)
    with open(path, "rb") as file:
        assert file.read() == content


def test_where_no_file_can_be_is_an_output_error(tmp_path):
    for place in (tmp_path, tmp_path / "none" / "samples.jsonl"):
        with pytest.raises(OutputError) as caught:
            append(str(place), SMALL)
        assert str(place) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_an_empty_file_may_be_appended_to(path):
    put(path, b"")
    append(path, SMALL)
    assert load(path) == [SMALL]
    assert not stat.S_IMODE(os.stat(path).st_mode) & stat.S_IXUSR


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"hello\n", FOREIGN),
        (b"[1]\n", FOREIGN),
        (b'{"tool": "other"}\n', FOREIGN),
        (b"\xff\xfe\n", FOREIGN),
        (encode(SMALL).replace(b'"size":8', b'"size":9'), CHANGED),
        (encode(SMALL)[:60] + b"\n", TORN),
        (encode(SMALL).replace(b'"size":8', b'"size":"x"'), "line holds no sample (Expected `int`, got `str`"),
        (encode(SMALL).replace(b'"size":8', b'"size":-8'), "line holds no sample (sample of -8 bytes"),
    ],
)
def test_lines_that_cannot_be_used_are_reported(path, text, reason):
    put(path, encode(LARGE) + text)
    (found,) = scan(path).dropped
    assert found.reason.startswith(reason)
    assert (found.count, found.first_line) == (1, 2)
    assert load(path) == [LARGE]


def test_another_version_is_refused_with_the_way_out(path):
    put(path, encode(LARGE) + encode(SMALL).replace(b'"version":1', b'"version":3'))
    for reader in (load, read):
        with pytest.raises(FormatError, match=r"line 2 is of samples version 3, .* update") as caught:
            reader(path)
        assert str(caught.value).startswith(path)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "is empty"), (b"\n\n", "the file is empty"), (b"x\ny\n", "2 rows dropped")]
)
def test_nothing_usable_is_an_error(path, content, said):
    put(path, content)
    with pytest.raises(FormatError, match=said):
        load(path)


def test_missing_file(path):
    with pytest.raises(FormatError, match="cannot be read"):
        load(path)


def test_read_gives_a_table_for_each_place(path):
    put(path, encode(LARGE) + encode(OTHER) + encode(SMALL) + encode(MORE) + b"junk\n")
    log = read(path)
    first, second = log.tables
    assert (log.source, log.kind) == (path, "samples")
    assert [str(entry) for entry in log.dropped] == [f"1 row dropped: {FOREIGN} (first at line 5)"]
    assert (first.tool, first.benchmark, first.measure, first.ranks, first.line) == ("hopline", "latency", "time", 2, 1)
    assert first.size.tolist() == [8, 4096]
    assert first.time.tolist() == pytest.approx([2.5e-6, 5e-6])
    assert first.columns["repeats"].tolist() == [4, 1]
    low, high = (SMALL + MORE).quartiles
    assert (first.columns["time_low"][0], first.columns["time_high"][0]) == (low, high)
    assert first.rows == len(first) == 2
    assert dict(first.facts) == {"transport": "mpi", "host": "n1", "clock": 2e-9, "started": SMALL.started}
    assert (second.facts["host"], second.line) == ("n2", 2)


# --- version 2: pairs, windows, ranks that did not take part ------------------------------------------------------

STREAM = Sample("bw", "mpi", "n1", 2, 8, (1e-7,), 1e-9, "2026-01-02", window=64)
PAIR = Sample(
    "bw", "mpi", "n1", 2, 8, (2e-7, 3e-7), 1e-9, "2026-01-02", pair=(0, 2), window=64, world=4, hosts=("n1", "n2")
)
BACK = Sample("bw", "mpi", "n2", 2, 8, (4e-7,), 1e-9, "2026-01-02", pair=(2, 0), window=64, world=4, hosts=("n2", "n1"))


def test_lines_of_version_1_are_read_as_they_were_written(path):
    put(path, OF_VERSION_1)
    assert load(path) == [Sample("latency", "mpi", "n1", 2, 8, (1e-6, 2e-6), 1e-9, "2026-01-02")]
    assert scan(path).dropped == ()
    assert encode(load(path)[0]) == OF_VERSION_1


def test_only_what_version_1_cannot_say_is_of_version_2():
    assert json.loads(encode(SMALL))["version"] == 1
    line = json.loads(encode(PAIR))
    assert (line["version"], line["pair"], line["window"], line["world"], line["hosts"]) == (
        2,
        [0, 2],
        64,
        4,
        ["n1", "n2"],
    )
    assert "pairs" not in line
    assert json.loads(encode(STREAM))["version"] == 2


def test_all_that_is_said_comes_back(path):
    halves = Sample("mbw_mr", "mpi", "n1", 4, 8, (1e-7,), pairs=2, window=16)
    for sample in (STREAM, PAIR, BACK, halves):
        append(path, sample)
    assert set(load(path)) == {STREAM, PAIR, BACK, halves}


OTHERS = (
    {"window": 32}, {"pairs": 2}, {"world": 4}, {"pair": (0, 1)}, {"hosts": ("n1", "n2")}, {"benchmark": "bibw"},
    {"ranks": 4}, {"transport": "mpi: Some MPI 1.0"},
)  # fmt: skip


@pytest.mark.parametrize("other", OTHERS)
def test_what_differs_is_never_one_table(path, other):
    different = replace(STREAM, **other)
    put(path, encode(STREAM) + encode(different))
    assert [table.rows for table in read(path).tables] == [1, 1]
    with pytest.raises(InputError, match="no one table"):
        table_of([STREAM, different])
    with pytest.raises(InputError, match="different cells"):
        _ = STREAM + different


def test_as_many_ranks_as_were_started_need_not_be_said():
    assert replace(STREAM, world=2).cell == STREAM.cell


def test_streams_are_gaps_and_say_whose(path):
    halves = Sample("mbw_mr", "mpi", "n1", 4, 8, (1e-7,), pairs=2, window=16)
    both = Sample("bibw", "mpi", "n1", 2, 8, (1e-7,), window=16)
    barrier = Sample("barrier", "mpi", "n1", 2, 0, (1e-6,), world=4)
    for sample in (STREAM, both, halves, barrier, SMALL):
        append(path, sample)
    tables = {table.benchmark: table for table in read(path).tables}
    assert {name: table.measure for name, table in tables.items()} == {
        "bw": "gap", "bibw": "gap", "mbw_mr": "gap", "barrier": "time", "latency": "time",
    }  # fmt: skip
    assert tables["mbw_mr"].facts["pairs"] == 2
    assert "for each pair" in tables["mbw_mr"].notes[0]
    assert "for each direction" in tables["bibw"].notes[0]
    assert tables["bw"].notes == ()
    assert tables["bw"].facts["window"] == 64
    assert tables["barrier"].facts["world"] == 4


def test_tables_of_pairs_say_which(path):
    put(path, encode(PAIR) + encode(BACK))
    there, back = read(path).tables
    assert (there.facts["pair"], there.facts["hosts"], there.title) == (
        (0, 2),
        "n1, n2",
        "bw over mpi from rank 0 to 2 of 4",
    )
    assert back.facts["pair"] == (2, 0)


def test_pairs_with_all_their_repeats():
    more = replace(PAIR, times=(5e-7,))
    assert pairs_of([STREAM, PAIR, BACK, more]) == {(0, 2): (2e-7, 3e-7, 5e-7), (2, 0): (4e-7,)}
    assert pairs_of([STREAM]) == {}


@pytest.mark.parametrize(
    "other", [{"size": 16}, {"window": 32}, {"world": 8}, {"benchmark": "latency"}, {"transport": "x"}]
)
def test_pairs_of_several_runs_are_not_compared(other):
    with pytest.raises(InputError, match="expected one of each"):
        pairs_of([PAIR, replace(BACK, **other)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"pairs": 0},
        {"window": 0},
        {"world": 1},
        {"pair": (1, 1)},
        {"pair": (0, 2)},
        {"pair": (-1, 0)},
        {"hosts": ("a",)},
    ],
)
def test_impossible_ends(wrong):
    with pytest.raises(InputError) as caught:
        replace(STREAM, **wrong)
    assert "expected" in str(caught.value)


def test_what_a_file_holds_before_it_is_added_to(path, tmp_path):
    assert begun(path).lines == ()
    put(path, encode(SMALL)[:30])
    assert begun(path).lines == ()
    put(path, encode(SMALL) + encode(MORE))
    assert [line.sample for line in begun(path).lines] == [SMALL, MORE]
    put(path, b"dear diary\n")
    with pytest.raises(OutputError, match="not a samples file"):
        begun(path)
    with pytest.raises(OutputError, match="could not be written"):
        begun(str(tmp_path))


def test_many_appends_are_quick_to_load(path):
    for index in range(200):
        append(path, Sample("latency", "mpi", "n1", 2, 8, (float(index + 1),), 0.0, str(index)))
    (only,) = load(path)
    assert len(only.times) == 200
