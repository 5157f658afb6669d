"""MSCCL algorithms: what steps become, what is refused, and that what is written is read back."""

from dataclasses import replace

import numpy as np
import pytest
from schedule_samples import algo, block, fabric, gpu, order, ring_of_combined_steps, step

from hopline.errors import FormatError, InputError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked
from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COMPUTE, COPY, FREE, NONE, RECV, REDUCE, SEND, Buffer, Columns, Schedule
from hopline.schedule.pieces import split
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

ALL = (SEND, RECV, REDUCE, COPY)
DATA = (Buffer("data", 64),)


def saved(tmp_path, text):
    path = tmp_path / "made.xml"
    path.write_text(text)
    return str(path)


def read(tmp_path, text, size):
    return table.read(saved(tmp_path, text), Asked(size=size))


def rows_of(schedule, rank):
    """Kind, buffer name, start and size of each row of a rank, in its order on lanes."""
    columns = schedule.columns
    return [
        (int(columns.kind[row]), schedule.buffers[columns.buffer[row]].name, int(columns.start[row]), int(columns.size[row]))
        for row in np.flatnonzero(columns.rank == rank)
    ]  # fmt: skip


def pair(collective, chunks, sender, receiver, rooms=(4, 4, 4), **more):
    """Rank 0 sends to rank 1."""
    return algo(
        collective, chunks, gpu(0, rooms, block(0, 1, -1, *sender)), gpu(1, rooms, block(0, -1, 0, *receiver)), **more
    )


@pytest.mark.parametrize("size", [3000, 300, 100, 3001, 2])
def test_combined_steps_make_an_all_reduce(tmp_path, size):
    reading = read(tmp_path, ring_of_combined_steps(), size)
    assert check(reading.schedule).faults == ()
    assert check(reading.schedule).unchecked == ()
    assert reading.contents.facts["steps_by_type"] == {"r": 3, "rcs": 3, "rrcs": 3, "rrs": 3, "s": 3}
    assert any("buffers of NCCL's connections" in remark for remark in reading.remarks)


def test_a_wrong_chunk_is_found(tmp_path):
    text = ring_of_combined_steps()
    wrong = text.replace('type="rrs" srcbuf="i" srcoff="2"', 'type="rrs" srcbuf="i" srcoff="1"', 1)
    assert wrong != text
    assert "positions" in {fault.kind for fault in check(read(tmp_path, wrong, 300).schedule).faults}


def test_what_each_step_becomes(tmp_path):
    """An rrc with one range is added from staging; with two it arrives in its target, and the source is added."""
    sender = [step(i, "s", ("i", i)) for i in range(4)]
    receiver = [
        step(0, "r", target=("s", 0)), step(1, "rrc", ("i", 1), ("i", 1)), step(2, "rrc", ("i", 2), ("s", 2)),
        step(3, "r", target=("s", 3)), step(4, "re", ("s", 0), ("i", 0)), step(5, "cpy", ("s", 3), ("i", 3)),
        step(6, "cpy", ("i", 3), ("o", 3)),
    ]  # fmt: skip
    schedule = read(tmp_path, pair("custom", 4, sender, receiver), 40).schedule
    assert rows_of(schedule, 1) == [
        (RECV, "scratch", 0, 10), (RECV, "staging", 0, 10), (REDUCE, "data", 10, 10), (RECV, "scratch", 20, 10),
        (REDUCE, "scratch", 20, 10), (RECV, "scratch", 30, 10), (REDUCE, "data", 0, 10), (COPY, "data", 30, 10),
        (COPY, "data", 30, 0),
    ]  # fmt: skip
    assert schedule.promise is None
    reduced = np.flatnonzero(schedule.columns.kind == REDUCE)
    assert [(schedule.buffers[schedule.columns.source[row]].name, int(schedule.columns.other[row])) for row in reduced] == [
        ("staging", 0), ("data", 20), ("scratch", 0),
    ]  # fmt: skip


def test_rrs_leaves_its_source_alone(tmp_path):
    middle = gpu(1, (1, 1, 0), block(0, 2, 0, step(0, "rrs", ("i", 0))))
    ends = (
        gpu(0, (1, 1, 0), block(0, 1, -1, step(0, "s", ("i", 0)))),
        gpu(2, (1, 1, 0), block(0, -1, 1, step(0, "r", target=("i", 0)))),
    )
    schedule = read(tmp_path, algo("custom", 1, ends[0], middle, ends[1]), 8).schedule
    assert rows_of(schedule, 1) == [(RECV, "staging", 0, 8), (REDUCE, "staging", 0, 8), (SEND, "staging", 0, 8)]


def test_nops_hand_their_waits_to_the_next_step(tmp_path):
    blocks = [
        block(0, -1, -1, step(0, "nop", count=0, wait=(1, 0)), step(1, "nop", count=0, wait=(2, 0)), step(2, "cpy", ("i", 0), ("s", 0))),
        block(1, -1, -1, step(0, "cpy", ("i", 1), ("s", 1), marked=1)), block(2, -1, -1, step(0, "cpy", ("i", 2), ("s", 2), marked=1)),
    ]  # fmt: skip
    schedule = read(tmp_path, algo("custom", 4, gpu(0, (4, 4, 4), *blocks)), 4).schedule
    rows, pairs = order(schedule, (COPY,), bytes_too=True)
    waiting = {(first[5], second[5]) for first, second in pairs}
    assert waiting == {(0, 1), (0, 2)}
    assert len(rows) == 3


def test_a_wait_is_for_the_next_marked_step(tmp_path):
    """Flags are only set by steps with hasdep: a wait for one without is for the next one with."""

    def made(marks):
        other = [step(i, "cpy", ("i", i), ("s", i), marked=mark) for i, mark in enumerate(marks)]
        return algo(
            "custom",
            4,
            gpu(
                0,
                (4, 4, 4),
                block(0, -1, -1, step(0, "cpy", ("i", 3), ("s", 3), wait=(1, 0))),
                block(1, -1, -1, *other),
            ),
        )

    schedule = read(tmp_path, made((0, 1, 0)), 4).schedule
    _, pairs = order(schedule, (COPY,), bytes_too=True)
    assert {second[5] for first, second in pairs if first[5] == 3} == {0, 1}
    with pytest.raises(
        FormatError,
        match=r"line 2: step cpy of thread block 0 waits for step 0 of thread block 1, and none .* hasdep=1",
    ):
        read(tmp_path, made((0, 0, 0)), 4)


def test_in_place_gathers_and_scatters_know_their_part(tmp_path):
    """Input of an all-gather is a view into its output at the rank's place; of a reduce-scatter it is the other way round."""
    gathered = pair("allgather", 2, [step(0, "s", ("i", 0))], [step(0, "r", target=("o", 0))], (1, 2, 0))
    sent = read(tmp_path, gathered, 10).schedule
    assert rows_of(sent, 0) == [(SEND, "data", 0, 5)]
    scattered = algo(
        "reduce_scatter", 2, gpu(0, (2, 1, 1), block(0, 1, -1, step(0, "s", ("i", 1)))),
        gpu(1, (2, 1, 1), block(0, -1, 0, step(0, "rrc", ("o", 0), ("o", 0)))),
    )  # fmt: skip
    reduced = read(tmp_path, scattered, 10).schedule
    assert rows_of(reduced, 1)[-1] == (REDUCE, "data", 5, 5)
    assert [fault.kind for fault in check(reduced).faults] == ["missing"]


ROOTED = [("broadcast", "s", "r"), ("reduce", "s", "rrc")]


@pytest.mark.parametrize(("name", "out", "into"), ROOTED)
def test_roots_are_told_from_who_is_still(tmp_path, name, out, into):
    schedule = read(
        tmp_path, pair(name, 1, [step(0, out, ("i", 0))], [step(0, into, ("i", 0), ("i", 0))], (1, 1, 0)), 8
    ).schedule
    assert check(schedule).faults == ()
    assert schedule.promise.wanted.rank.tolist() == ([0, 1] if name == "broadcast" else [1])


def out_of_place_alltoall(ranks, parts):
    gpus = []
    for rank in range(ranks):
        own = [
            block(0, -1, -1, *(step(k, "cpy", ("i", rank * parts + k), ("o", rank * parts + k)) for k in range(parts)))
        ]
        for other in (other for other in range(ranks) if other != rank):
            number = 1 + 2 * (other - (other > rank))
            own.append(block(number, other, -1, *(step(k, "s", ("i", other * parts + k)) for k in range(parts))))
            own.append(
                block(number + 1, -1, other, *(step(k, "r", target=("o", other * parts + k)) for k in range(parts)))
            )
        gpus.append(gpu(rank, (ranks * parts, ranks * parts, 0), *own))
    return algo("alltoall", ranks * parts, *gpus, inplace=0)


@pytest.mark.parametrize("size", [36, 37, 41, 5, 3, 0])
@pytest.mark.parametrize("parts", [1, 2])
def test_alltoall_of_sizes_that_do_not_divide(tmp_path, size, parts):
    schedule = read(tmp_path, out_of_place_alltoall(3, parts), size).schedule
    assert check(schedule).faults == ()
    rank_zero = schedule.columns.rank == 0
    sent = schedule.columns.size[rank_zero & (schedule.columns.kind == SEND)].sum()
    assert sent == size - np.diff(split(size, 3))[0]


def test_chunks_that_differ_where_they_must_not(tmp_path):
    text = pair("custom", 3, [step(0, "s", ("i", 0))], [step(0, "r", target=("i", 2))], (3, 3, 0))
    assert len(read(tmp_path, text, 6).schedule) == 2
    with pytest.raises(InputError, match=r"7 bytes cut into 3 chunks differ by a byte.*expected a multiple of 3 bytes"):
        read(tmp_path, text, 7)


def test_a_size_is_asked_for(tmp_path):
    path = saved(tmp_path, ring_of_combined_steps())
    with pytest.raises(InputError, match="counts in chunks: give the size"):
        table.read(path, Asked())
    with pytest.raises(InputError, match="is for 3 ranks: 5 were asked for"):
        table.read_schedule(path, size=30, ranks=5)


@pytest.mark.parametrize(("size", "words"), [(1024, "1 KiB"), (1000003, "1000003 bytes")])
def test_the_size_that_is_taken_from_the_file_is_told_exactly(tmp_path, size, words):
    text = ring_of_combined_steps().replace('inplace="1"', f'inplace="1" minBytes="{size}" maxBytes="{size}"')
    assert read(tmp_path, text, None).remarks[0] == f"for {words}, the size that the file is made for"


@pytest.mark.parametrize("size", [300, 3001])
def test_rows_are_found_again_in_the_file(tmp_path, size):
    """Each row names a step of its own GPU whose type it is part of; lines are those of the document."""
    text = ring_of_combined_steps().replace("<step", "\n<step")
    reading, lines = read(tmp_path, text, size), text.split("\n")
    seen = set()
    for row, (kind, rank) in enumerate(zip(reading.schedule.columns.kind, reading.schedule.columns.rank, strict=True)):
        word, gpu_, tb, block_, step_, number, line = reading.place(row).replace("(line ", "").rstrip(")").split()
        assert (word, tb, step_, gpu_, block_) == ("gpu", "tb", "step", str(rank), "0")
        type_ = lines[int(line) - 1].split('type="')[1].split('"')[0]
        assert f's="{number}"' in lines[int(line) - 1]
        assert type_ in {
            SEND: ("s", "rcs", "rrs", "rrcs"),
            RECV: ("r", "rcs", "rrs", "rrcs"),
            REDUCE: ("rrs", "rrcs"),
        }.get(int(kind), ("r", "rcs"))
        seen.add((rank, number))
    assert len(seen) == 15


def test_a_gpu_without_steps_is_told(tmp_path):
    text = algo("custom", 1, gpu(0, (1, 1, 0), block(0, -1, -1, step(0, "cpy", ("i", 0), ("s", 0)))), gpu(1, (1, 1, 0)))
    text = text.replace('s_chunks="0"', 's_chunks="1"')
    assert "1 rank has no operation: 1" in read(tmp_path, text, 8).remarks


def test_sizes_beyond_those_of_the_file_are_told(tmp_path):
    text = ring_of_combined_steps().replace('inplace="1"', 'inplace="1" minBytes="0" maxBytes="64"')
    assert not any("is made for" in remark for remark in read(tmp_path, text, 60).remarks)
    assert "66 B is asked for: made is made for 0 B to 64 B" in read(tmp_path, text, 66).remarks
    one = text.replace('minBytes="0"', 'minBytes="64"')
    assert "1.5 MiB is asked for: made is made for 64 B" in read(tmp_path, one, 3 << 19).remarks


def test_lanes_belong_to_channels(tmp_path):
    blocks = [block(i, i + 1, -1, step(0, "s", ("i", 0)), channel=i % 2) for i in range(4)]
    others = [gpu(i + 1, (1, 1, 0), block(0, -1, 0, step(0, "r", target=("i", 0)), channel=i % 2)) for i in range(4)]
    schedule = read(tmp_path, algo("custom", 1, gpu(0, (1, 1, 0), *blocks), *others), 8).schedule
    sends = schedule.columns.kind == SEND
    assert sorted(schedule.columns.lane[sends].tolist()) == [0, 1, 2, 3]
    assert (schedule.columns.lane[sends] // 2 % 2).tolist() == schedule.columns.other[sends].tolist()


LONE = gpu(0, (2, 2, 2), block(0, -1, -1, step(0, "cpy", ("i", 0), ("s", 0))))
WRONG = {
    "a document type": ('<!DOCTYPE algo [<!ENTITY a "aaa">]>' + algo("custom", 2, LONE), "a document type or entity"),
    "an entity bomb": (
        '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "' + "lol" * 99 + '">' + "".join(
            f'<!ENTITY {b} "{f"&{a};" * 9}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        ) + "]><algo>&i;</algo>", "a document type or entity"),
    "not whole": (algo("custom", 2, LONE)[:-9], "is no whole XML document"),
    "an endless element": ("<algo " + "x" * (1 << 21), "an element is longer than 1048576 bytes"),
    "no algo": ("<gpu/><!-- <algo -->", "element 'gpu' in the document"),
    "steps in a gpu": (algo("custom", 2, gpu(0, (1, 1, 1), step(0, "nop"))), "line 2: element 'step' in gpu"),
    "deep": ("<algo>" * 100, "algo has no coll"),
    "another element": (algo("custom", 2, LONE.replace("step", "op")), "line 2: element 'op' in tb"),
    "a missing gpu": (algo("custom", 2, LONE).replace('ngpus="1"', 'ngpus="2"'), "expected one with id 1"),
    "a gpu twice": (algo("custom", 2, LONE, LONE), "line 3: gpu 0 stands here a second time"),
    "a gpu too many": (algo("custom", 2, LONE, gpu(7, (1, 1, 1))), "id='7' in gpu: expected 0 to 1"),
    "huge counts": (algo("custom", 10**12, LONE), "nchunksperloop='1000000000000' in algo: expected 1 to"),
    "huge ranks": (algo("custom", 2, LONE).replace('ngpus="1"', 'ngpus="1000000000000"'), "ngpus='1000000000000'"),
    "digits": (algo("custom", 2, LONE).replace('ngpus="1"', f'ngpus="{"9" * 9999}"'), "expected 1 to"),
    "no number": (algo("custom", 2, LONE).replace('cnt="1"', 'cnt="one"'), "line 2: cnt='one' in step"),
    "a negative count": (algo("custom", 2, LONE).replace('cnt="1"', 'cnt="-1"'), "cnt='-1' in step"),
    "no chunk": (algo("custom", 2, LONE).replace('cnt="1"', 'cnt="0"'), "line 2: step cpy has cnt 0"),
    "no attribute": (algo("custom", 2, LONE).replace('cnt="1"', ""), "line 2: step has no cnt"),
    "another type": (algo("custom", 2, LONE).replace("cpy", "copy"), "unknown type 'copy': did you mean 'cpy'?"),
    "another buffer": (algo("custom", 2, LONE).replace('dstbuf="s"', 'dstbuf="x"'), "unknown dstbuf 'x'"),
    "steps out of order": (algo("custom", 2, LONE.replace('s="0"', 's="1"')), "step 1 of thread block 0: expected step 0"),
    "beyond the buffer": (algo("custom", 2, LONE.replace('srcoff="0"', 'srcoff="2"')), "uses chunks 2 to 2 of buffer i, which has 2"),
    "beyond the scratch": (algo("custom", 2, LONE.replace('dstoff="0"', 'dstoff="2"')), "of buffer s, which has 2"),
    "overlap": (
        algo("custom", 4, gpu(0, (4, 4, 0), block(0, -1, -1, step(0, "cpy", ("i", 0), ("i", 1), 2)))), "source and target of step cpy overlap"),
    "overlap of views": (
        algo("allreduce", 4, gpu(0, (4, 4, 0), block(0, -1, -1, step(0, "re", ("i", 1), ("o", 1))))), "source and target of step re overlap"),
    "sends to itself": (algo("custom", 1, gpu(0, (1, 1, 1), block(0, 0, -1))), "sends to or receives from its own gpu"),
    "unknown peer": (algo("custom", 1, gpu(0, (1, 1, 1), block(0, 5, -1))), "send='5' in tb: expected -1 to 0"),
    "nobody to send to": (algo("custom", 1, gpu(0, (1, 1, 1), block(0, -1, -1, step(0, "s", ("i", 0))))), "whose send is -1"),
    "a thread block twice": (algo("custom", 1, gpu(0, (1, 1, 1), block(0, -1, -1), block(0, -1, -1))), "has thread block 0 a second time"),
    "two for one way": (
        algo("custom", 1, gpu(0, (1, 1, 1), block(0, 1, -1), block(1, 1, -1)), gpu(1, (1, 1, 1))), "both send to 1 on channel 0"),
    "waits for nothing": (algo("custom", 2, LONE.replace('depid="-1" deps="-1"', 'depid="3" deps="0"')), "waits for step 0 of thread block 3, which"),
    "too many thread blocks": (algo("custom", 1, gpu(0, (1, 1, 1), *(block(i, -1, -1) for i in range(256)))), "256 thread blocks: expected at most 255"),
    "uneven pieces": (algo("allgather", 3, *(gpu(i, (1, 3, 0)) for i in range(2))), "3 chunks are no multiple of 2 ranks"),
    "another encoding": ('<?xml version="1.0" encoding="klingon"?>' + algo("custom", 2, LONE), "is no whole XML document"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_refused_in_one_line(tmp_path, text, said):
    path = saved(tmp_path, text)
    with pytest.raises(FormatError) as error:
        table.read(path, Asked(size=64), "msccl")
    assert said in str(error.value)
    assert path in str(error.value)
    assert "\n" not in str(error.value)


def test_large_counts_cost_nothing(tmp_path):
    many = 1 << 24
    text = algo("custom", many, gpu(0, (many, many, many), block(0, -1, -1, step(0, "cpy", ("i", 0), ("s", 0), many))))
    assert read(tmp_path, text, many * 1000).schedule.columns.size.tolist() == [many * 1000]
    with pytest.raises(InputError, match="so large an algorithm takes a multiple of"):
        read(tmp_path, text, many * 1000 + 1)


def test_sizes_beyond_all_measure(tmp_path):
    text = algo("custom", 1, gpu(0, (1, 1, 1 << 24), block(0, -1, -1, step(0, "cpy", ("i", 0), ("s", (1 << 24) - 1)))))
    for size in (1 << 62, 1 << 47):
        with pytest.raises(InputError, match=r"expected at most|are too many"):
            read(tmp_path, text, size)


def test_unmatched_ends_are_left_to_the_check(tmp_path):
    text = pair(
        "custom", 1, [step(0, "s", ("i", 0)), step(1, "s", ("i", 0))], [step(0, "r", target=("i", 0))], (1, 1, 0)
    )
    assert [fault.kind for fault in check(read(tmp_path, text, 8).schedule).faults] == ["unreceived"]


# --- writing --------------------------------------------------------------------------------------------------------


def comes_back(folder, schedule):
    folder.mkdir(exist_ok=True)
    path = str(folder / "out.xml")
    remarks = table.write_schedule(schedule, path, "msccl")
    reading = table.read(path, Asked())
    again = reading.schedule
    assert order(again, ALL, bytes_too=True) == order(schedule, ALL, bytes_too=True)
    assert [(b.name, b.size) for b in again.buffers] == [(b.name, b.size) for b in schedule.buffers]
    assert check(again).faults == ()
    network = fabric(schedule.ranks, reduce=1e-10, copy=1e-10)
    assert simulate(again, network).ticks == simulate(schedule, network).ticks
    return remarks, again


@pytest.mark.parametrize("size", [8192, 1003])
def test_rings_come_back(tmp_path, size):
    for name in ("all_reduce-ring", "all_gather-ring", "reduce_scatter-ring"):
        schedule = COLLECTIVES[name].build(Shape(8, size))
        remarks, again = comes_back(tmp_path / name, schedule)
        assert remarks == ()
        assert again.promise.collective == schedule.promise.collective


def test_collectives_come_back_or_are_refused_with_the_reason(tmp_path):
    back = 0
    for name, entry in COLLECTIVES.items():
        more = {"levels": (4, 2)} if "levels" in entry.uses else {}
        try:
            schedule = entry.build(Shape(8, 64 * 8, chunks=2, channels=2, **more))
        except InputError:
            continue
        path = tmp_path / name
        path.mkdir()
        try:
            table.write_schedule(schedule, str(path / "out.xml"), "msccl")
        except FormatError as error:
            assert "MSCCL" in str(error)
            continue
        again = table.read_schedule(str(path / "out.xml"))
        assert order(again, ALL) == order(schedule, ALL), name
        back += 1
    assert back >= 3


def test_a_size_of_its_own(tmp_path):
    """What was written for one size serves another, its chunks as large as need be."""
    path = str(tmp_path / "out.xml")
    table.write_schedule(COLLECTIVES["all_reduce-ring"].build(Shape(4, 400)), path, "msccl")
    reading = table.read(path, Asked())
    assert reading.schedule.buffers[0].size == 400
    assert reading.remarks == ("for 400 B, the size that the file is made for",)
    assert table.read(path, Asked(400)).remarks == ()
    larger = table.read_schedule(path, size=4001)
    assert check(larger).faults == ()
    assert larger.sent.tolist() == COLLECTIVES["all_reduce-ring"].build(Shape(4, 4001)).sent.tolist()


def made(*rows, buffers=DATA, **more):
    """A schedule of (kind, rank, peer, size, lane, start) rows on two ranks."""
    kind, rank, peer, size, lane, start = np.array(rows, np.int64).reshape(-1, 6).T
    zeros = np.zeros(len(kind), np.int64)
    columns = Columns(
        kind.astype(np.uint8), lane.astype(np.uint8), zeros.astype(np.uint8), zeros.astype(np.uint8), rank.astype(np.int32),
        peer.astype(np.int32), np.full(len(kind), NONE, np.int32), start.copy(), size.copy(), more.pop("tag", zeros).copy(),
    )  # fmt: skip
    return Schedule("made", 2, columns, buffers, **more)


UNSAYABLE = {
    "computing": (made((COMPUTE, 0, NONE, 8, 0, 0)), "row 0 .rank 0, compute. computes"),
    "no lane": (made((SEND, 0, 1, 8, FREE, 0), (RECV, 1, 0, 8, 0, 0)), "stands on no lane"),
    "no bytes": (made((SEND, 0, 1, 0, 0, 0), (RECV, 1, 0, 0, 0, 0)), "has no bytes"),
    "no buffers": (made((SEND, 0, 1, 8, 0, 0), buffers=()), "has no buffers"),
    "negative tags": (made((SEND, 0, 1, 8, 0, 0), tag=np.array([-3])), "has a negative tag"),
    "two lanes for a way": (
        made((SEND, 0, 1, 8, 0, 0), (SEND, 0, 1, 8, 2, 8), (RECV, 1, 0, 8, 0, 0), (RECV, 1, 0, 8, 0, 8)), "two lanes that send with rank 1 and tag 0"),
    "begins": (
        made((SEND, 0, 1, 8, 0, 0), (SEND, 0, 1, 8, 0, 8), begun=np.array([[1, 0]], np.int32)), "waits for the beginning"),
    "odd ranges": (made((SEND, 0, 1, 6300, 0, 0), (RECV, 1, 0, 6300, 0, 0), buffers=(Buffer("data", 100003),)), "are not made of 1 to 71 chunks"),
}  # fmt: skip


@pytest.mark.parametrize(("schedule", "said"), UNSAYABLE.values(), ids=UNSAYABLE)
def test_what_msccl_cannot_say_is_refused(tmp_path, schedule, said):
    with pytest.raises(FormatError, match=said):
        table.write_schedule(schedule, str(tmp_path / "out.xml"), "msccl")
    assert list(tmp_path.iterdir()) == []


def test_names_are_escaped(tmp_path):
    schedule = replace(made((SEND, 0, 1, 16, 0, 16), (RECV, 1, 0, 16, 0, 48)), name='a<b> & "c"\n')
    table.write_schedule(schedule, str(tmp_path / "out.xml"), "msccl")
    assert table.read_schedule(str(tmp_path / "out.xml")).name == 'a<b> & "c"?'


def test_what_promises_nothing_is_called_custom(tmp_path):
    schedule = made((SEND, 0, 1, 16, 0, 16), (RECV, 1, 0, 16, 0, 48))
    (remark,) = table.write_schedule(schedule, str(tmp_path / "out.xml"), "msccl")
    assert "custom" in remark
    again = table.read_schedule(str(tmp_path / "out.xml"))
    assert again.columns.start.tolist() == [16, 48]
    assert again.promise is None
