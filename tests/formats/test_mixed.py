"""Logs to which several tools wrote."""

import os
import threading
from pathlib import Path

import pytest

from hopline.errors import FormatError
from hopline.formats import kinds, mixed
from hopline.jobs import fitting

LOGS = Path(__file__).parents[1] / "data" / "logs"
PARTS = [
    "perftest-write-bw.log", "osu-pairs.out", "ucx-put-bw-intervals.log", "nccom-gib.log", "netpipe-tcp.log",
    "ucc-allreduce.log", "nccl-c-reduce-scatter-twice.log", "perftest-read-lat.log", "perftest-send-bw-ud.log",
    "ucx-old-typical.log",
]  # fmt: skip


def described(tables):
    return [(table.tool, table.benchmark, len(table), table.rows, table.ranks, dict(table.facts)) for table in tables]


def joined(names) -> bytes:
    return b"".join((LOGS / name).read_bytes() for name in names)


@pytest.mark.parametrize("names", [PARTS, PARTS[::-1], PARTS[3:] + PARTS[:3]], ids=["one way", "other way", "turned"])
def test_each_tool_finds_its_tables_and_no_other(tmp_path, names):
    (tmp_path / "log").write_bytes(joined(names))
    alone = [table for name in names for table in fitting.read(str(LOGS / name)).tables]
    log = fitting.read(str(tmp_path / "log"))
    ours, expected = described(log.tables), described(alone)
    for found, one in zip(ours, expected, strict=True):
        assert found[:5] == one[:5]
    assert [table.line for table in log.tables] == sorted(table.line for table in log.tables)
    assert "nccl-tests" in log.kind
    assert "perftest" in log.kind


@pytest.mark.parametrize("one", PARTS)
@pytest.mark.parametrize("other", PARTS)
def test_two_by_two(tmp_path, one, other):
    (tmp_path / "log").write_bytes(joined([one, other]))
    found = [row[:4] for row in described(fitting.read(str(tmp_path / "log")).tables)]
    alone = [described(fitting.read(str(LOGS / name)).tables) for name in (one, other)]
    expected = [row[:4] for rows in alone for row in rows]
    if kinds.recognise(str(LOGS / one)).name == kinds.recognise(str(LOGS / other)).name == "perftest":
        assert len(found) >= len(alone[0])
    else:
        assert found == expected


def test_a_pipe_is_kept_for_all_tools(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[joined(PARTS)])
    thread.start()
    tables = fitting.read(str(tmp_path / "pipe")).tables
    thread.join()
    assert {table.tool for table in tables} == {
        "perftest", "osu", "ucx_perftest", "nccom-test", "netpipe", "ucc_perftest", "nccl-tests",
    }  # fmt: skip


def test_a_tool_that_failed_is_told_beside_the_others(tmp_path):
    (tmp_path / "log").write_bytes(joined(["osu-pairs.out", "nccom-failure.log"]))
    log = fitting.read(str(tmp_path / "log"))
    assert {table.tool for table in log.tables} == {"osu"}
    assert "Failure running neuron-bench" in " ".join(log.notes)


def test_nothing_of_any_tool(tmp_path):
    (tmp_path / "log").write_bytes(joined(["osu-crash.out", "perftest-no-answer.log"]))
    with pytest.raises(FormatError, match=r"OSU micro-benchmarks: no row: .* perftest .*: no row: ") as error:
        fitting.read(str(tmp_path / "log"))
    assert "\n" not in str(error.value)


def test_every_head_has_a_reader():
    assert set(mixed.READERS) == set(kinds.HEADS) <= set(kinds.FORMATS)
