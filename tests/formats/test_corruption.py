"""Whatever happens to a log, reading it gives a Log or a FormatError, and no number that was not in it."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.errors import FormatError
from hopline.formats import kinds, nccl_tests, osu
from hopline.formats.nccl_layout import from_header
from hopline.formats.nccl_rows import Rows, Run
from hopline.records.table import Log

LOGS = sorted((Path(__file__).parents[1] / "data" / "logs").iterdir())
JUNK = [
    b"",
    b"...",
    b"\0\0",
    b"\xff\xfe\xfd",
    b"1 2",
    b"1 2 3",
    b"13.41 0.00 0.00 0 9.95 0.00 0.00 0",
    b"65536 16384 float sum -1 nan nan nan N/A inf inf inf N/A",
    b"65536 16384 float sum -1 1e400 1e400 1e400 0 1 1 1 0",
    b"65536 16384 float sum -1 10 1e400 1e400 0 1 1 1 0",
    b"65536 16384 float sum -1 10 1e-300 1e300 0 1 1 1 0",
    b"65536 16384 float sum -1 10 1.00 2.50 0 10 1.00 2.50 0",
    b"99999999999999999999999 1 float sum -1 1 1 1 0 1 1 1 0",
    b"#",
    b"# ",
    b"#nThread",
    b"# Rank",
    b"# Rank 99999999999999999999 Pid",
    b"# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
    b"# size count time time",
    b"# Avg bus bandwidth : --",
    b"# Out of bounds values : x",
    b"# Collective test starting:",
    b"# nccl-tests version",
    b"# OSU MPI Test",
    b"# OSU  Test v",
    b"# Size",
    b"# Size  Latency (us)  Latency (us)",
    b"# [ pairs: 0 ] [ window size: 0 ]",
    b"node: Test CUDA failure x",
    b"[0][0][0]",
    b"0: 0: 0:",
    b"1 1e308",
    b"1 1e-320",
]


def damaged(data: bytes, changes) -> bytes:
    lines = data.split(b"\n")
    for what, where, how in changes:
        at = where % len(lines)
        if what == "cut":
            lines[at] = lines[at][: how % (len(lines[at]) + 1)]
        elif what == "behead":
            lines[at] = lines[at][how % (len(lines[at]) + 1) :]
        elif what == "swap":
            other = how % len(lines)
            lines[at], lines[other] = lines[other], lines[at]
        elif what == "junk":
            lines.insert(at, JUNK[how % len(JUNK)])
        elif what == "join":
            lines[at : at + 2] = [b"".join(lines[at : at + 2])]
        elif what == "byte" and lines[at]:
            place = how % len(lines[at])
            lines[at] = lines[at][:place] + bytes([how % 256]) + lines[at][place + 1 :]
        else:
            lines = lines[: at + 1]
    return b"\n".join(lines)


changes = st.lists(
    st.tuples(
        st.sampled_from(["cut", "behead", "swap", "junk", "join", "byte", "end"]),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
    ),
    max_size=12,
)


def outcome(reader, data: bytes) -> Log | FormatError:
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(data)
        file.flush()
        try:
            return reader(file.name)
        except FormatError as error:
            return error


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(LOGS), changes, st.sampled_from([nccl_tests.read, osu.read, kinds.recognise]))
def test_a_damaged_log_is_a_log_or_a_clear_error(log, changes, reader):
    result = outcome(reader, damaged(log.read_bytes(), changes))
    if isinstance(result, FormatError):
        assert "\n" not in str(result)
        assert str(result).isprintable()
    elif isinstance(result, Log):
        assert result.tables
        for table in result.tables:
            assert len(table) > 0
            assert np.all(np.isfinite(table.time) & (table.time > 0))
            assert np.all(table.size >= 0)
            assert table.rows >= len(table)
            assert all("\n" not in str(text) for text in (*table.dropped, *table.notes, *result.notes))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=2000), st.sampled_from([nccl_tests.read, osu.read, kinds.recognise]))
def test_any_bytes_at_all(data, reader):
    outcome(reader, data)


NCCL = [log for log in LOGS if log.name.startswith("nccl")]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NCCL), changes)
def test_rows_read_together_are_what_they_are_alone(log, changes):
    data = damaged(log.read_bytes().replace(b"[1,0]<stdout>:", b"").replace(b"[0]", b" "), changes).replace(b"\0", b" ")
    header = next((layout for line in data.split(b"\n") if (layout := from_header(line.strip()))), None)
    rows = [line for line in data.split(b"\n") if line.strip()[:1].isdigit() and b"\x1c" not in line]
    if header is None or not rows:
        return
    together, alone = Rows(header), Rows(header)
    together.add(Run(0, 1, len(rows), b"".join(b"\n" + row for row in rows)))
    for number, row in enumerate(rows, 1):
        alone.add(Run(0, number, 1, b"\n" + row))
        alone.flush()
    columns, expected = together.columns(), alone.columns()
    assert together.torn == alone.torn
    assert together.kinds == alone.kinds
    assert columns.keys() == expected.keys()
    for name, column in columns.items():
        np.testing.assert_array_equal(column, expected[name])


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("reader", [nccl_tests.read, osu.read, kinds.recognise])
def test_junk_alone(junk, reader):
    outcome(reader, junk)
    outcome(reader, junk + b"\n" + junk + b"\n")
