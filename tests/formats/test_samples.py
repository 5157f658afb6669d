"""Our samples file: it grows, it joins, it survives a crash."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.errors import FormatError, OutputError
from hopline.formats import samples
from hopline.formats.samples import CHANGED, FOREIGN, REPEATED, TORN, append, content_id, encode, load, read, scan
from hopline.records.sample import Sample

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
    put(path, encode(LARGE) + encode(SMALL).replace(b'"version":1', b'"version":2'))
    for reader in (load, read):
        with pytest.raises(FormatError, match=r"line 2 is of samples version 2, .* update") as caught:
            reader(path)
        assert str(caught.value).startswith(path)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "the file is empty"), (b"\n\n", "the file is empty"), (b"x\ny\n", "2 rows dropped")]
)
def test_nothing_usable_is_an_error(path, content, said):
    put(path, content)
    with pytest.raises(FormatError, match=said):
        load(path)


def test_missing_file(path):
    with pytest.raises(FormatError, match="could not be read"):
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


def test_many_appends_are_quick_to_load(path):
    for index in range(200):
        append(path, Sample("latency", "mpi", "n1", 2, 8, (float(index + 1),), 0.0, str(index)))
    (only,) = load(path)
    assert len(only.times) == 200
