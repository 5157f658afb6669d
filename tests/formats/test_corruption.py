"""Whatever happens to a log, reading it gives a Log or a FormatError, and no number that was not in it."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.errors import FormatError
from hopline.formats import kinds
from hopline.formats.nccl_layout import from_header
from hopline.formats.nccl_rows import Rows, Run
from hopline.jobs.loading import resolve
from hopline.records.table import Log

LOGS = sorted((Path(__file__).parents[1] / "data" / "logs").iterdir())
READERS = [resolve(row.reader) for row in kinds.FORMATS.values() if row.name != "samples"]
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
    b" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
    b" #bytes     #iterations    BW peak[GB/sec]    BW average[GB/sec]   MsgRate[Mpps]",
    b" #bytes #iterations    t_avg[usec]    t_avg[usec]",
    b" 65536 5000 1 0 0",
    b" 65536 5000 1 1e400 nan",
    b" 0 5000 1 1 1",
    b" Send BW Test",
    b" local address: LID 0x1 x",
    b"|    Stage     | # iterations | 50.0%ile | average |",
    b"| Message size: 99999999999999999999999 |",
    b"|   latency (usec) |",
    b"[thread 0] 1 2 3",
    b"[thread 0] 1 0 0 0 0 0 0 0",
    b"[thread 0] 1 1e9 1,000 1.1.1 1 1 1 1",
    b"Final: 99999999999999999999 1 1 1 1e30 1 1 1",
    b"+tag_lat/8-----+",
    b"iterations,typical_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr",
    b"[1700000000.1] [x] | mpi ep_cfg[1] | tagged message by f() from host memory |",
    b"[1700000000.1] [x] | 99999999999999999999999999..inf | rendezvous | rc |",
    b"# MPI_Init() took 1.2.3 msec",
    b"0: 99999999999999999999 bytes 1 times --> 1 Mbps in 1 usec",
    b"0: 8 bytes 1 times --> 1.1.1 Mbps in 1 usec",
    b"0: 8 bytes 1 times --> 1 Mbps in 0.00 usec",
    b"Now starting the main loop",
    b"size(B) count(elems) type time:avg(us) algbw(GB/s) busbw(GB/s)",
    b"size(B) size(B)",
    b"1 1 fp32 0 0 0",
    b"8 2 fp32 1e400 nan 1",
    b"$ nccom-test -r 99999999 allr",
    b"Avg bus bandwidth: 1.2.3GB/s",
    b"       Count        Size                Time, us",
    b"N/A N/A 1 1 1",
    b"Collective: ",
    b"{",
    b"}",
    b'{"results":[{"size(B)":1}]}',
    b'{"version":1,"start_time":"","results":[{"size":99999999999999999999999999,"count":1,"out_of_place":{"time":1}}]}',
    b'{"version":1,"start_time":"","results":[{"size":8,"count":1,"out_of_place":{"time":1,"alg_bw":"nan","bus_bw":1}}]}',
    b'{"test_info": {"test": "Send_BW_Test"}, "results": {"MsgSize": 8, "BW_average": 1e999, "MsgRate": NaN}}',
    b'{"test_info": [], "results": 3}',
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
@given(st.sampled_from(LOGS), changes, st.sampled_from([None, None, None, kinds.recognise, *READERS]))
def test_a_damaged_log_is_a_log_or_a_clear_error(log, changes, reader):
    reader = reader or resolve(kinds.recognise(str(log)).reader)
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
@given(st.binary(max_size=2000), st.sampled_from([*READERS, kinds.recognise]))
def test_any_bytes_at_all(data, reader):
    outcome(reader, data)


NCCL = [log for log in LOGS if log.name.startswith("nccl-") and log.suffix == ".log"]


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
@pytest.mark.parametrize("reader", [*READERS, kinds.recognise])
def test_junk_alone(junk, reader):
    outcome(reader, junk)
    outcome(reader, junk + b"\n" + junk + b"\n")
