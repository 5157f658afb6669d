"""Lists of messages as schedules: tables, flow files of ns-3, connection matrices of htsim."""

import random
from pathlib import Path

import numpy as np
import pytest

from hopline.curve import Curve
from hopline.errors import FormatError, HoplineError, InputError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked
from hopline.machine.fabric import Levels
from hopline.schedule.check.proof import check
from hopline.schedule.matching import match
from hopline.schedule.operations import COMPUTE, FREE, NONE, RECV, SEND
from hopline.sim.engine import simulate

BENCH = Path(__file__).parents[4] / "shared" / "bench"
CSV = "src,dst,bytes\n0,1,800\n2,1,200\n0,1,100\n\n1,3,0\n"
NS3 = "3\n2 1 3 100 200000000 2\n3 1 3 100 1000 2.0000015\n2 1 4 101 7 3\nsrc1 dst1 3 dst_port1 size1 start_time1\n9 9 3 1 5 1\n"
CM = """# two waves
Nodes 5
Connections 4
Triggers 2
Failures 1
0->2 id 1 start 5000000 size 2000 recv_done_trigger 1
1->2 id 2 start 0 size 3000 recv_done_trigger 1
2->3 id 3 trigger 1 size 500 send_done_trigger 2
2->4 id 4 trigger 2 size 60 prio 3
trigger id 1 barrier count 2
trigger id 2 oneshot
failure switch_type TOR switch_id 1 link_id 0
"""
ALL = {"traffic": CSV, "ns3-flow": NS3, "htsim-cm": CM}


def plan(folder, text, name="file.dat"):
    path = folder / name
    path.write_text(text)
    return table.plan(str(path))


def read(folder, text):
    return plan(folder, text).reading(Asked())


def rows(schedule):
    """(kind, rank, peer, size, after) of each row."""
    columns = schedule.columns
    parts = (columns.kind, columns.rank, columns.peer, columns.size, columns.after)
    return list(zip(*(part.tolist() for part in parts), strict=True))


@pytest.mark.parametrize(("name", "text"), ALL.items())
def test_told_by_content(tmp_path, name, text):
    for data in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        assert plan(tmp_path, data).contents.format == name


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_every_message_meets_and_nothing_is_in_an_order(tmp_path, text):
    schedule = read(tmp_path, text).schedule
    columns = schedule.columns
    assert (columns.lane == FREE).all()
    mate = match(schedule)
    assert ((mate == NONE) == (columns.kind == COMPUTE)).all()
    assert not check(schedule).faults


def test_table(tmp_path):
    reading = read(tmp_path, CSV)
    assert rows(reading.schedule) == [
        (SEND, 0, 1, 800, NONE), (RECV, 1, 0, 800, NONE), (SEND, 2, 1, 200, NONE), (RECV, 1, 2, 200, NONE),
        (SEND, 0, 1, 100, NONE), (RECV, 1, 0, 100, NONE), (SEND, 1, 3, 0, NONE), (RECV, 3, 1, 0, NONE),
    ]  # fmt: skip
    assert reading.contents.facts == {"messages": 4, "bytes": 1100, "ranks": 4}
    assert reading.place(7) == "line 6"


@pytest.mark.parametrize(("column", "unit"), [("start_us", 10**6), ("Start_ns", 10**3), ("start_s", 10**12)])
def test_columns_in_any_order_and_starts(tmp_path, column, unit):
    schedule = read(tmp_path, f"# a comment\nDst, {column}, Bytes, Src\n1, 1.5, 8, 0\n0, 0, 9, 1\n2,2,0,2\n").schedule
    assert rows(schedule) == [
        (COMPUTE, 0, NONE, unit * 3 // 2, NONE), (SEND, 0, 1, 8, 0), (RECV, 1, 0, 8, NONE),
        (SEND, 1, 0, 9, NONE), (RECV, 0, 1, 9, NONE),
    ]  # fmt: skip


def test_a_rank_that_sends_nothing_to_itself(tmp_path):
    found = plan(tmp_path, "src,dst,bytes\n0,1,8\n3,3,0\n").contents
    assert (found.ranks, found.remarks) == (2, ("1 message of 0 bytes from a rank to itself: left out",))


def test_flows_of_ns3(tmp_path):
    reading = read(tmp_path, NS3)
    assert rows(reading.schedule)[3:6] == [
        (COMPUTE, 3, NONE, 2_000_001_500_000, NONE), (SEND, 3, 1, 1000, 3), (RECV, 1, 3, 1000, NONE)
    ]  # fmt: skip
    assert reading.contents.facts == {
        "count_header": 3, "flows_read": 3, "flow_shaped_rows_in_file": 4, "total_bytes_of_flows": 200001007,
        "total_bytes_of_all_shaped_rows": 200001012, "first": "2->1 pg3 dport100 size200000000 start2s",
    }  # fmt: skip
    told = " ".join(reading.remarks)
    for words in (
        "2 lines after the 3 flows",
        "2 priority groups",
        "begins 2 s after 0",
        "1 rank has no operation: 0",
    ):
        assert words in told


def test_connections_of_htsim(tmp_path):
    reading = read(tmp_path, CM)
    assert rows(reading.schedule) == [
        (COMPUTE, 0, NONE, 5_000_000, NONE), (SEND, 0, 2, 2000, 0), (RECV, 2, 0, 2000, NONE),
        (SEND, 1, 2, 3000, NONE), (RECV, 2, 1, 3000, NONE), (SEND, 2, 3, 500, 2), (RECV, 3, 2, 500, NONE),
        (SEND, 2, 4, 60, 5), (RECV, 4, 2, 60, NONE),
    ]  # fmt: skip
    assert reading.schedule.more.tolist() == [[5, 4]]
    told = " ".join(reading.remarks)
    for words in ("starts are picoseconds", "1 failure", "priorities"):
        assert words in told


def test_times_by_hand(tmp_path):
    """1 µs + bytes / 1 GB/s: 0 begins after 5 µs and takes 3; 1 takes 4; both are there at 9 (one port); then 1.5 and 1.06."""
    schedule = read(tmp_path, CM).schedule
    found = simulate(schedule, Levels.uniform(5, Curve.line(1e-6, 1e9)), way="reference", keep=True)
    assert found.ticks == 8_000_000 + 1_500_000 + 1_060_000
    assert found.end[schedule.columns.kind == SEND].tolist() == [8_000_000, 4_000_000, 9_500_000, 10_560_000]


def test_triggers_may_come_before_what_sets_them_off(tmp_path):
    text = "Nodes 4\nConnections 2\nTriggers 1\n2->3 id 1 trigger 1 size 10\n0->2 id 2 start 0 size 20 recv_done_trigger 1\n"
    schedule = read(tmp_path, text + "trigger id 1 multishot\n").schedule
    found = simulate(schedule, Levels.uniform(4, Curve.line(1e-6, 1e9)))
    assert found.ticks == 2_030_000


REFUSED = {
    "elsewhere": ("2->3 id 1 trigger 1 size 10\n0->2 id 2 start 0 size 20 send_done_trigger 1\n", "done at another node"),
    "nothing": ("2->3 id 1 trigger 1 size 10\n0->2 id 2 start 0 size 20\n", "which nothing sets off"),
    "the first": (
        "2->3 id 1 trigger 1 size 10\n0->2 id 2 start 0 size 20 recv_done_trigger 1\n1->2 id 3 start 0 size 5 recv_done_trigger 1\n",
        "fires after 1 of the 2 connections",
    ),
    "endless": ("0->2 id 2 start 0 size 0\n", "1 connection of size 0, which htsim sends for ever"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "words"), REFUSED.values(), ids=REFUSED)
def test_what_a_schedule_cannot_say(tmp_path, lines, words):
    text = f"Nodes 4\nConnections {lines.count('->')}\nTriggers 1\n{lines}trigger id 1 oneshot\n"
    found = plan(tmp_path, text)
    assert words in found.contents.refusal
    with pytest.raises(FormatError, match=words):
        found.reading(Asked())


def test_what_is_asked(tmp_path):
    found = plan(tmp_path, CSV)
    with pytest.raises(InputError, match="is for 4 ranks: 8 were asked for"):
        found.reading(Asked(ranks=8))
    with pytest.raises(InputError, match="has its own sizes"):
        found.reading(Asked(size=8))


WRONG = {
    "to itself": (CSV + "1,1,5\n", "line 7: rank 1 sends 5 bytes to itself"),
    "negative": (CSV + "1,2,-5\n", "bytes is '-5': expected a whole number, 0 or more"),
    "a fraction": (CSV + "1,2,5.5\n", "bytes is '5.5'"),
    "cut": (CSV + "1,2\n", "line 7: 2 columns: expected 3"),
    "a large rank": (CSV + "1,99999999,5\n", "dst is '99999999': expected a whole number, 0 to"),
    "no message": ("src,dst,bytes\n", "holds no message"),
    "unknown column": ("src,dst,bytes,colour\n", "unknown column 'colour'"),
    "start without unit": ("src,dst,bytes,start\n", "unknown column 'start'"),
    "a column twice": ("src,dst,bytes,source\n", "says src a second time"),
    "late": ("src,dst,bytes,start_s\n0,1,2,1e30\n", "expected at most"),
    "ns3, fewer": (NS3.replace("3\n2 1", "9\n2 1", 1), "line 5: src is 'src1': expected a whole number"),
    "ns3, five words": (NS3.replace("7 3", "7"), "is no flow: expected src dst pg dport size start"),
    "ns3, cut": ("\n".join(NS3.split("\n")[:3]), "says 3 flows, and ends after 2"),
    "ns3, zero": (NS3.replace("200000000", "0"), "size is '0': expected a whole number, 1 or more"),
    "ns3, class": (NS3.replace("2 1 3 100", "2 1 9 100"), "pg is '9'"),
    "cm, other count": (CM.replace("Connections 4", "Connections 5"), "says 5 Connections, and has 4"),
    "cm, unknown node": (CM.replace("2->4", "2->5"), "there is no node 5: expected 0 to 4"),
    "cm, microseconds": (CM.replace("start 5000000", "start 5.5"), "no whole number of picoseconds: files of older htsim"),
    "cm, no size": (CM.replace("size 60", ""), "the connection has no size"),
    "cm, no start": (CM.replace("trigger 2 size 60", "size 60"), "expected either 'start TIME' or 'trigger ID'"),
    "cm, a word": (CM.replace("prio", "colour"), "unknown word 'colour'"),
    "cm, no kind": (CM.replace("oneshot", ""), "expected 'trigger id 1 oneshot'"),
    "cm, a number twice": (CM.replace("trigger id 2", "trigger id 1"), "trigger 1 stands here a second time"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_wrong_files(tmp_path, text, words):
    with pytest.raises(FormatError, match=words) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_mutated_files(tmp_path, text):
    source = random.Random(3)
    for _ in range(60):
        at = source.randrange(len(text))
        changed = (
            text[:at] + source.choice(["", "-", "9", "\n", " ", "\u2603", "->"]) + text[at + source.randrange(3) :]
        )
        try:
            schedule = read(tmp_path, changed).schedule
        except HoplineError as error:
            assert "\n" not in str(error)
        else:
            assert (match(schedule) == NONE).sum() == (schedule.columns.kind == COMPUTE).sum()


@pytest.mark.skipif(not BENCH.is_dir(), reason="the inputs of side-by-side runs are not beside this checkout")
def test_all_to_all_of_unequal_sizes():
    schedule = table.read_schedule(str(BENCH / "alltoall-64-unequal.csv"))
    table_ = np.loadtxt(BENCH / "alltoall-64-unequal.csv", np.int64, delimiter=",", skiprows=1)
    assert (schedule.ranks, schedule.messages) == (64, 64 * 63)
    assert schedule.sent.tolist() == np.bincount(table_[:, 0], table_[:, 2]).tolist()
    assert len(set(map(tuple, table_[:, :2].tolist()))) == len(table_)
