"""GOAL text: what is read, what is refused, and that what is written is read back."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from schedule_samples import GOAL, fabric, order, well_met
from spent import at_most

from hopline.errors import FormatError, InputError, OutputError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COMPUTE, COPY, FREE, NONE, RECV, REDUCE, SEND, Buffer, Columns, Schedule
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

MESSAGES = (SEND, RECV)
DATA = (Buffer("data", 64),)


def saved(tmp_path, text, name="a.goal"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def body(statements, ranks=2):
    return f"num_ranks {ranks}\nrank 0 {{\n{statements}\n}}\n"


def test_counts_and_rows(tmp_path):
    reading = table.read(saved(tmp_path, GOAL), Asked())
    facts, columns = reading.contents.facts, reading.schedule.columns
    assert reading.contents.format == "goal"
    assert {name: facts[name] for name in ("num_ranks", "rank_blocks", "sends", "recvs", "calcs", "requires", "irequires")} == {
        "num_ranks": 3, "rank_blocks": 3, "sends": 2, "recvs": 2, "calcs": 2, "requires": 2, "irequires": 1,
    }  # fmt: skip
    assert (facts["send_bytes"], facts["recv_bytes"], facts["unmatched_sends"], facts["unmatched_recvs"]) == (
        24,
        24,
        0,
        0,
    )
    assert columns.kind.tolist() == [SEND, RECV, COMPUTE, RECV, SEND, COMPUTE]
    assert columns.size.tolist() == [8, 16, 100_000, 8, 16, 5_000]
    assert set(columns.lane.tolist()) == {FREE}
    assert columns.after.tolist() == [NONE, 0, NONE, NONE, 3, NONE]
    assert reading.schedule.begun.tolist() == [[2, 1]]
    assert any("CPU or NIC" in remark for remark in reading.remarks)


def test_rows_are_found_again_in_the_file(tmp_path):
    reading = table.read(saved(tmp_path, GOAL.replace("l2: send", "send").replace("l2 requires l1", "")), Asked())
    assert [reading.place(row) for row in (0, 1, 4, 5)] == [
        "line 5, label first", "line 6, label wait", "line 14", "line 18, label l1",
    ]  # fmt: skip


def test_ranks_without_an_operation_are_told(tmp_path):
    text = "num_ranks 6\nrank 0 {\nsend 1b to 2 tag 0\n}\nrank 1 {\n}\nrank 2 {\nrecv 1b from 0 tag 0\n}\n"
    assert table.read(saved(tmp_path, text), Asked()).remarks == ("4 ranks have no operation: 1, 3-5",)
    assert table.contents(saved(tmp_path, text.replace("6", "3"))).remarks == ("1 rank has no operation: 1",)


def test_times_are_nanoseconds(tmp_path):
    schedule = table.read_schedule(saved(tmp_path, body("a: calc 1500\nb: calc 500\nb requires a")))
    assert simulate(schedule, fabric(2)).ticks == 2_000_000


def test_further_requires_go_to_more(tmp_path):
    statements = "\n".join(
        [*(f"x{i}: calc {i}" for i in range(4)), *(f"x3 requires x{i}" for i in range(3)), "x3 requires x1"]
    )
    schedule = table.read_schedule(saved(tmp_path, body(statements)))
    waits = {int(schedule.columns.after[3]), *(int(on) for row, on in schedule.more if row == 3)}
    assert waits == {0, 1, 2}
    assert len(schedule.more) == 2


def test_unmatched_ends_are_counted_and_left_to_the_check(tmp_path):
    reading = table.read(
        saved(tmp_path, body("send 1b to 1 tag 3\nsend 1b to 1 tag 3\n}\nrank 1 {\nrecv 1b from 0 tag 3")), Asked()
    )
    assert (reading.contents.facts["unmatched_sends"], reading.contents.facts["unmatched_recvs"]) == (1, 0)
    assert reading.schedule.messages == 2


def test_compressed_and_windows_lines(tmp_path):
    plain = table.read_schedule(saved(tmp_path, GOAL))
    packed = table.read_schedule(saved(tmp_path, gzip.compress(GOAL.replace("\n", "\r\n").encode()), "b.goal.gz"))
    assert packed.columns.size.tolist() == plain.columns.size.tolist()
    assert packed.columns.after.tolist() == plain.columns.after.tolist()
    assert packed.name == "b"


def test_any_source_is_counted_and_refused(tmp_path):
    path = saved(tmp_path, body("recv 1b from -1 tag 0\nrecv 1b from 1 tag -1"))
    assert table.contents(path).facts["recvs"] == 2
    with pytest.raises(FormatError, match="2 operations take any rank or any tag"):
        table.read_schedule(path)


def test_large_sizes_are_added_up_exactly(tmp_path):
    path = saved(tmp_path, body("\n".join(f"send {10**18 - 1}b to 1 tag {i}" for i in range(30))))
    assert table.contents(path).facts["send_bytes"] == 30 * (10**18 - 1)


def test_a_size_of_its_own(tmp_path):
    with pytest.raises(InputError, match="has its own sizes: 64 B is asked for; leave the size out"):
        table.read_schedule(saved(tmp_path, GOAL), size=64)


def test_another_number_of_ranks_is_refused(tmp_path):
    with pytest.raises(InputError, match="is for 3 ranks: 4 were asked for"):
        table.read_schedule(saved(tmp_path, GOAL), ranks=4)


WRONG = {
    "no block": ("num_ranks 2\nsend 1b to 1\n", "line 2: stands outside"),
    "no ranks": ("rank 0 {\n}\n", "line 1: rank 0 begins before num_ranks"),
    "ranks twice": ("num_ranks 2\nnum_ranks 2\n", "line 2: num_ranks stands here a second time"),
    "too many ranks": ("num_ranks 1000000000000\n", "line 1: num_ranks is 1000000000000: expected 1 to"),
    "no rank at all": ("num_ranks 0\n", "num_ranks is 0"),
    "rank out of range": ("num_ranks 2\nrank 2 {\n}\n", "line 2: rank 2 of 2"),
    "rank twice": ("num_ranks 2\nrank 1 {\n}\nrank 1 {\n}\n", "line 4: rank 1 has a block already"),
    "rank in rank": ("num_ranks 2\nrank 1 {\nrank 0 {\n}\n}\n", "line 3: rank 0 begins inside of the block of rank 1"),
    "no end": ("num_ranks 2\nrank 1 {\ncalc 1\n", "line 2: the block of rank 1 has no end"),
    "unknown peer": (body("send 1b to 2 tag 0"), "line 3: there is no rank 2: expected 0 to 1"),
    "negative size": (body("send -1b to 1 tag 0"), "line 3: expected 'send 8b to 1"),
    "negative peer of a send": (body("send 1b to -1 tag 0"), "line 3: expected"),
    "send from": (body("send 1b from 1 tag 0"), "line 3: expected"),
    "recv to": (body("recv 1b to 1 tag 0"), "line 3: expected"),
    "no unit": (body("send 1 to 1 tag 0"), "line 3: expected"),
    "digits without end": (body("calc " + "9" * 5000), "line 3: expected"),
    "label twice": (body("a: calc 1\na: calc 2"), "line 4: label 'a' is taken"),
    "label undefined": (body("a: calc 1\na requires b"), "line 4: rank 0 has no label 'b'"),
    "label of another rank": (body("a: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a"), "line 7: rank 1 has no label 'a'"),
    "waits for itself": (body("a: calc 1\na requires a"), "line 4: a waits for itself"),
    "prose": ("num_ranks 2\nrank 0 {\nplease send everything\n}\n", "line 3: expected"),
    "binary": (b"num_ranks 2\n\x00\x01\x02\xff\n", "line 2: expected"),
    "no UTF-8": (b"num_ranks 2\nrank 0 {\n\xff\xfe: calc 1\n}\n", "line 3: expected"),
    "a line without end": (b"num_ranks 2\n" + b"x" * (1 << 21), "line 2 is longer than 1048576 bytes"),
    "a comment without end": (b"num_ranks 2\n/*" + b"\n" * 10, "line 2: a comment begins here and has no end"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_refused_in_one_line(tmp_path, text, said):
    path = saved(tmp_path, text)
    with pytest.raises(FormatError) as error:
        table.read(path, Asked(), "goal")
    assert said in str(error.value)
    assert path in str(error.value)
    assert "\n" not in str(error.value)


def test_circles_are_left_to_the_simulation_and_the_check(tmp_path):
    schedule = table.read_schedule(saved(tmp_path, body("a: calc 1\nb: calc 1\na requires b\nb requires a")))
    assert schedule.columns.after.tolist() == [1, 0]


def test_a_sparse_file_of_a_gigabyte_is_refused_at_once(tmp_path):
    path = tmp_path / "large.goal"
    with path.open("wb") as file:
        file.write(b"num_ranks 2\n")
        file.truncate(1 << 30)
    with at_most(5), pytest.raises(FormatError, match="line 2"):
        table.read_schedule(str(path))


# --- writing --------------------------------------------------------------------------------------------------------


def shape(entry, size):
    more = {"levels": (4, 2)} if "levels" in entry.uses else {}
    return Shape(8, size, chunks=3, channels=2, **more)


@pytest.mark.parametrize("name", ["all_reduce-ring", "all_gather-ring", "reduce_scatter-ring"])
@pytest.mark.parametrize("size", [8000, 1003])
def test_rings_come_back_as_they_were(tmp_path, name, size):
    compare(tmp_path, COLLECTIVES[name].build(Shape(8, size)))


def test_all_collectives_come_back(tmp_path):
    for number, entry in enumerate(COLLECTIVES.values()):
        try:
            schedule = entry.build(shape(entry, 1200))
        except InputError:
            continue
        compare(tmp_path / str(number), schedule)
    assert number > 2


def compare(folder, schedule):
    """The same messages in the same order, which take the same time."""
    folder.mkdir(exist_ok=True)
    path = str(folder / "out.goal")
    table.write_schedule(schedule, path, "goal")
    again = table.read_schedule(path, ranks=schedule.ranks)
    assert order(again, MESSAGES) == order(schedule, MESSAGES)
    network = fabric(schedule.ranks)
    assert simulate(again, network).finish.tolist() == simulate(schedule, network).finish.tolist()


def test_reductions_and_copies_take_their_time_where_it_is_given(tmp_path):
    schedule = COLLECTIVES["all_reduce-ring"].build(Shape(4, 4000))
    path = str(tmp_path / "out.goal")
    assert table.write_schedule(schedule, path, "goal", reduce=1e-9) == ()
    again = table.read_schedule(path)
    assert np.count_nonzero(again.columns.kind == COMPUTE) == np.count_nonzero(schedule.columns.kind == REDUCE)
    assert simulate(again, fabric(4)).ticks == simulate(schedule, fabric(4, reduce=1e-9)).ticks


def test_what_takes_no_time_is_told(tmp_path):
    schedule = COLLECTIVES["all_reduce-ring"].build(Shape(4, 4000))
    (remark,) = table.write_schedule(schedule, str(tmp_path / "out.goal"), "goal")
    assert remark.startswith("12 reductions take no time and are left out")


def rows(*operations, ranks=2, buffers=DATA, more=(), begun=()):
    """A schedule of (kind, rank, peer, size, lane, after) rows."""
    kind, rank, peer, size, lane, after = np.array(operations, np.int64).reshape(-1, 6).T
    zeros = np.zeros(len(kind), np.int64)
    columns = Columns(
        kind.astype(np.uint8), lane.astype(np.uint8), zeros.astype(np.uint8), zeros.astype(np.uint8), rank.astype(np.int32),
        peer.astype(np.int32), after.astype(np.int32), zeros.copy(), size, zeros.copy(),
    )  # fmt: skip
    pairs = [np.array(part, np.int32).reshape(-1, 2) for part in (more, begun)]
    return Schedule("made", ranks, columns, buffers, more=pairs[0], begun=pairs[1])


def test_waits_go_through_what_is_left_out(tmp_path):
    """What waits for a copy waits for what the copy waits for, done or begun."""
    schedule = rows(
        (COMPUTE, 0, NONE, 1000, FREE, NONE), (COMPUTE, 0, NONE, 2000, FREE, NONE), (COPY, 0, NONE, 8, FREE, 0),
        (COMPUTE, 0, NONE, 3000, FREE, 2), begun=[(2, 1)],
    )  # fmt: skip
    path = tmp_path / "out.goal"
    table.write_schedule(schedule, str(path), "goal")
    assert [line for line in path.read_text().splitlines() if "requires" in line] == [
        "l3 requires l1",
        "l3 irequires l2",
    ]
    again = table.read_schedule(str(path))
    assert simulate(again, fabric(2)).ticks == 4000


def test_a_copy_that_waits_for_many_stays(tmp_path):
    many = 20
    schedule = rows(
        *[(COMPUTE, 0, NONE, 1000 * (i + 1), FREE, NONE) for i in range(many)], (COPY, 0, NONE, 8, FREE, 0),
        *[(COMPUTE, 0, NONE, 1000, FREE, many) for _ in range(many)], more=[(many, i) for i in range(1, many)],
    )  # fmt: skip
    path = tmp_path / "out.goal"
    table.write_schedule(schedule, str(path), "goal")
    assert path.read_text().count("requires") == 2 * many
    assert simulate(table.read_schedule(str(path)), fabric(2)).ticks == 1000 * (many + 1)


UNSAYABLE = {
    "part of a nanosecond": (rows((COMPUTE, 0, NONE, 1500, FREE, NONE)), "row 0 computes for 1500 ps"),
    "a circle of copies": (
        rows((COPY, 0, NONE, 8, FREE, 1), (COPY, 0, NONE, 8, FREE, 0)), r"row \d waits for itself in a circle"),
}  # fmt: skip


@pytest.mark.parametrize(("schedule", "said"), UNSAYABLE.values(), ids=UNSAYABLE)
def test_what_goal_cannot_say_is_refused_and_leaves_no_file(tmp_path, schedule, said):
    with pytest.raises(FormatError, match=said):
        table.write_schedule(schedule, str(tmp_path / "out.goal"), "goal")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path):
    path = saved(tmp_path, "mine")
    schedule = COLLECTIVES["all_gather-ring"].build(Shape(2, 8))
    with pytest.raises(OutputError, match="exists: give another name"):
        table.write_schedule(schedule, path, "goal")
    assert Path(path).read_text() == "mine"


def test_written_compressed(tmp_path):
    schedule = COLLECTIVES["all_gather-ring"].build(Shape(4, 400))
    path = tmp_path / "out.goal.gz"
    table.write_schedule(schedule, str(path), "goal")
    assert gzip.decompress(path.read_bytes()).startswith(b"// all_gather-ring, written by hopline\nnum_ranks 4\n")
    assert well_met(table.read_schedule(str(path)))
