"""Chakra traces: the wire format, which files belong together, and what their nodes become."""

import gzip
import json
import struct

import numpy as np
import pytest
from schedule_samples import collective, fabric, field, node, order, trace, varint, write_traces

from hopline.errors import FormatError, InputError
from hopline.formats.schedules import chakra_rows, table
from hopline.formats.schedules.contents import Asked
from hopline.formats.schedules.ties import FILE_ORDER
from hopline.schedule.check.proof import check
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.operations import COMPUTE, RECV, SEND
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate


def test_counts(tmp_path):
    nodes = [
        node(4, "COMP", time=3),
        collective(5, "all_reduce", 100, (4,)),
        collective(6, "all_reduce", 50, (4, 5), control=(4,)),
    ]
    facts = table.contents(write_traces(tmp_path, [nodes])).facts
    assert facts == {
        "version": "0.0.4", "nodes": 3, "nodes_by_type": {"COMM_COLL": 2, "COMP": 1}, "comm_type": {"ALL_REDUCE": 2},
        "comm_size_total": 150, "comm_size_distinct": (50, 100), "first_id": 4, "first_name": "node 4", "data_deps": 3,
        "ctrl_deps": 1, "files": 1,
    }  # fmt: skip


def test_a_single_collective_is_its_own_schedule_with_its_promise(tmp_path):
    path = write_traces(tmp_path, [[collective(rank, "all_reduce", 1000)] for rank in range(4)])
    reading = table.read(path, Asked())
    expected = COLLECTIVES["all_reduce-ring"].build(Shape(4, 1000))
    assert reading.schedule.columns.size.tolist() == expected.columns.size.tolist()
    assert reading.schedule.promise.collective == "all_reduce"
    assert "collectives are only named in the traces: they become all_reduce-ring" in reading.remarks


def test_an_all_gather_is_of_what_each_rank_puts_in(tmp_path):
    path = write_traces(tmp_path, [[collective(rank, "all_gather", 100)] for rank in range(4)])
    reading = table.read(path, Asked())
    assert reading.schedule.buffers[0].size == 400
    assert any(
        "all_gather of 4 ranks by 100 bytes is one of 400 as benchmarks count" in remark for remark in reading.remarks
    )


def test_another_algorithm(tmp_path):
    path = write_traces(tmp_path, [[collective(0, "all_reduce", 64)] for _ in range(2)])
    asked = []

    def build(*question):
        asked.append(question)
        return COLLECTIVES["all_gather-ring"].build(Shape(question[1], question[2]))

    assert table.read_schedule(path, collective=build).name == "all_gather-ring"
    assert asked == [("all_reduce", 2, 64)]


def test_a_collective_without_an_algorithm_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(chakra_rows.ALGORITHMS, "all_reduce", "by pigeon")
    path = write_traces(tmp_path, [[collective(0, "all_reduce", 64)] for _ in range(2)])
    with pytest.raises(FormatError, match="no algorithm is set for all_reduce: choose one of"):
        table.read_schedule(path)


def test_the_algorithms_that_are_set_exist():
    names = {f"{benchmark}-{algorithm}" for benchmark, algorithm in chakra_rows.ALGORITHMS.items()}
    assert names <= set(COLLECTIVES)


def test_dependencies_order_nodes_across_ranks(tmp_path):
    """1 us, then 8 bytes from 0 to 1 (1.008 us), then 2 us at 1."""
    zero = [node(1, "COMP", time=1), node(2, "SEND", (1,), comm_dst=1, comm_size=8, comm_tag=5)]
    one = [node(7, "RECV", comm_src=0, comm_size=8, comm_tag=5), node(8, "COMP", (7,), time=2)]
    schedule = table.read_schedule(write_traces(tmp_path, [zero, one]))
    assert schedule.buffers == ()
    assert check(schedule).faults == ()
    assert simulate(schedule, fabric(2)).finish.tolist() == [2_008_000, 4_008_000]


def test_ctrl_deps_are_no_order(tmp_path):
    nodes = [node(1, "COMP", time=5), node(2, "COMP", (), (1,), time=7)]
    reading = table.read(write_traces(tmp_path, [nodes]), Asked())
    assert simulate(reading.schedule, fabric(1)).ticks == 7_000_000
    assert any("ctrl_deps" in remark for remark in reading.remarks)


def mixed(rank):
    more = [node(5, "SEND", (4,), comm_dst=1, comm_size=64, comm_tag=3)] if rank == 0 else []
    more += [node(5, "RECV", comm_src=0, comm_size=64, comm_tag=3)] if rank == 1 else []
    return [
        node(0, "META"), node(1, "COMP", (0,), time=5), collective(2, "all_reduce", 1000, (1,)), collective(3, "all_gather", 100),
        node(4, "COMP", (2, 3), time=7), *more, collective(9, "reduce_scatter", 400, (4,), pg_name=f"half {rank // 2}"),
    ]  # fmt: skip


def test_computations_messages_and_collectives_of_groups_together(tmp_path):
    reading = table.read(write_traces(tmp_path, [mixed(rank) for rank in range(4)]), Asked())
    schedule = reading.schedule
    assert check(schedule).faults == ()
    assert [(b.name, b.size) for b in schedule.buffers] == [
        ("sent", 64),
        ("received", 64),
        ("data", 1000),
        ("scratch", 1000),
    ]
    assert np.count_nonzero(schedule.columns.kind == SEND) == 6 * 4 + 3 * 4 + 1 + 1 * 4
    assert any("'half 0': ranks 0-1" in remark for remark in reading.remarks)
    ring = fabric(4)
    parts = [("all_reduce-ring", 4, 1000), ("all_gather-ring", 4, 400), ("reduce_scatter-ring", 2, 400)]
    times = [simulate(COLLECTIVES[name].build(Shape(ranks, size)), fabric(ranks)).ticks for name, ranks, size in parts]
    assert simulate(schedule, ring).ticks >= 5_000_000 + times[0] + times[1] + 7_000_000 + times[2]


def test_collectives_of_a_rank_go_one_after_the_other(tmp_path):
    nodes = [collective(1, "all_gather", 100), collective(2, "all_gather", 300)]
    schedule = table.read_schedule(write_traces(tmp_path, [nodes] * 3))
    ring = fabric(3)
    alone = [simulate(COLLECTIVES["all_gather-ring"].build(Shape(3, 3 * size)), ring).ticks for size in (100, 300)]
    assert check(schedule).faults == ()
    assert simulate(schedule, ring).ticks == sum(alone)


def test_the_call_that_launches_a_collective_takes_its_time(tmp_path):
    call = node(1, "COLL", time=4, is_cpu_op=1)
    schedule = table.read_schedule(write_traces(tmp_path, [[call, collective(2, "all_gather", 8, (1,))]] * 2))
    assert np.count_nonzero(schedule.columns.kind == COMPUTE) == 2
    assert np.count_nonzero(schedule.columns.kind == RECV) == 2


def test_unpacked_and_compressed(tmp_path):
    nodes = [node(1, "COMP", time=1), node(2, "COMP", time=1), node(3, "COMP", (1, 2), packed=False, time=1)]
    plain = table.read_schedule(write_traces(tmp_path, [nodes]))
    assert len(order(plain, (COMPUTE,))[1]) == 2
    (tmp_path / "packed.0.et.gz").write_bytes(gzip.compress(trace(nodes)))
    packed = table.read(str(tmp_path / "packed.0.et.gz"), Asked())
    assert packed.contents.name == "packed"
    assert packed.schedule.columns.size.tolist() == plain.columns.size.tolist()


def test_metadata_without_a_version(tmp_path):
    schema = field(2, field(1, b"schema") + field(29, b"1.0.1"))
    messages = [schema, node(1, "COMP", time=2)]
    path = tmp_path / "a.0.et"
    path.write_bytes(b"".join(varint(len(message)) + message for message in messages))
    assert table.contents(str(path)).facts["version"] == "1.0.1"


def test_all_kinds_of_attributes_are_passed_over_or_read(tmp_path):
    values = [
        (3, 1, struct.pack("<d", 1.5)), (5, 5, struct.pack("<f", 1.5)), (7, 0, 3), (15, 0, 5), (21, 1, struct.pack("<Q", 9)),
        (4, 2, struct.pack("<d", 1.5)), (28, 2, b"\x0a\x02\x01\x00"), (31, 2, b"\xff\xfe"),
    ]  # fmt: skip
    message = node(1, "COMP", time=2)
    for number, wire, value in values:
        key = varint(number << 3 | wire)
        content = varint(value) if wire == 0 else value if wire in (1, 5) else varint(len(value)) + value
        message += field(10, field(1, f"a{number}".encode()) + key + content)
    (tmp_path / "a.0.et").write_bytes(trace([message]))
    assert simulate(table.read_schedule(str(tmp_path / "a.0.et")), fabric(1)).ticks == 2_000_000


# --- which files belong together ------------------------------------------------------------------------------------


def test_missing_ranks_are_named_and_never_guessed(tmp_path):
    nodes = [[collective(0, "all_reduce", 64)] for _ in range(4)]
    path = write_traces(tmp_path, nodes)
    (tmp_path / "trace.2.et").unlink()
    with pytest.raises(InputError, match="there is no file of rank 2 of 4 beside it"):
        table.read_schedule(path)
    with pytest.raises(InputError, match="there is no file of rank 2, 4-15 of 16"):
        table.read_schedule(path, ranks=16)
    (tmp_path / "trace.2.et").write_bytes(trace(nodes[2]))
    with pytest.raises(InputError, match="there are files of rank 3 beside it"):
        table.read_schedule(path, ranks=3)


def test_one_file_with_a_collective_is_refused(tmp_path):
    path = write_traces(tmp_path, [[collective(0, "all_reduce", 64)]])
    with pytest.raises(InputError, match="no other rank's file stands beside it"):
        table.read_schedule(path)
    assert len(table.read_schedule(path, ranks=1)) == 0


def test_files_of_other_names_are_others(tmp_path):
    write_traces(tmp_path, [[collective(0, "all_reduce", 64)]] * 3, prefix="other")
    path = write_traces(tmp_path, [[collective(0, "all_reduce", 64)]] * 2)
    (tmp_path / "trace.5.txt").write_text("no trace")
    assert table.read_schedule(path).ranks == 2


# --- JSON -----------------------------------------------------------------------------------------------------------


def test_json_with_its_mixed_names(tmp_path):
    graphs = [
        [
            {"Id": 1, "Name": "work", "NodeType": 4, "ctrlDeps": [9], "data_deps": [], "runtime": 3, "is_cpu_op": True},
            {
                "Id": 2,
                "Name": "talk",
                "NodeType": 5 + rank,
                "data_deps": [1],
                "comm_src": 0,
                "comm_dst": 1,
                "comm_size": 8,
            },
        ]
        for rank in range(2)
    ]
    for rank, graph in enumerate(graphs):
        (tmp_path / f"a.{rank}.json").write_text(json.dumps({"workload_graph": graph}))
    reading = table.read(str(tmp_path / "a.0.json"), Asked())
    assert reading.contents.facts["nodes_by_type"] == {"COMM_SEND": 1, "COMP": 1}
    assert simulate(reading.schedule, fabric(2)).ticks == 4_008_000


# --- wrong files ----------------------------------------------------------------------------------------------------

ONE = [node(1, "COMP", time=1)]
WRONG = {
    "cut": ([trace(ONE)[:-3]], "ends inside of the message at byte 8"),
    "cut in a length": ([trace(ONE) + b"\xff\xff"], "ends inside of the message at byte"),
    "a message without end": ([trace(ONE) + varint(1 << 40)], "has a message of 1099511627776 bytes"),
    "a length without end": ([trace(ONE) + b"\xff" * 11], "a number has more than 10 bytes"),
    "a field cut": ([trace([ONE[0][:-1]])], "a message ends inside of a field"),
    "groups": ([trace([b"\x0b\x0c"])], "a field 1 of wire type 3"),
    "text for a number": ([trace([field(1, b"x")])], "text stands where a number belongs"),
    "a number for text": ([trace([field(2, 5)])], "a number stands where text belongs"),
    "unknown type": ([trace([field(1, 1) + field(3, 99)])], "a node has type 99"),
    "twice": ([trace(ONE * 2)], "has node 1 twice"),
    "missing": ([trace([node(1, "COMP", (2,), time=1)])], "node 1 depends on node 2, which is not there"),
    "circle": ([trace([node(1, "COMP", (2,), time=1), node(2, "COMP", (1,), time=1)])], "depend on one another in a circle"),
    "no size": ([trace([node(1, "COLL", comm_type=0)])] * 2, "has comm_size=None: expected a whole number"),
    "negative size": ([trace([collective(1, "all_reduce", (1 << 64) - 5)])] * 2, "has comm_size -5"),
    "no such collective": ([trace([node(1, "COLL", comm_type=77, comm_size=8)])] * 2, "has comm_type 77"),
    "another collective": (
        [trace([collective(1, "all_reduce", 8)]), trace([collective(1, "all_gather", 8)])], "node 1 is ALL_GATHER of 8 bytes: expected ALL_REDUCE"),
    "another size": (
        [trace([collective(1, "all_reduce", 8)]), trace([collective(1, "all_reduce", 9)])], "ALL_REDUCE of 9 bytes: expected ALL_REDUCE of 8"),
    "fewer": ([trace([collective(1, "all_reduce", 8)]), trace(ONE)], "rank 1 has 0 collectives of the group of all ranks"),
    "fewer of a group": (
        [trace([collective(i, "all_reduce", 8, pg_name="g") for i in range(2 - rank)]) for rank in range(2)], "rank 1 has 1 collectives of process group 'g'"),
    "unknown peer": ([trace([node(1, "SEND", comm_dst=4, comm_size=8)])] * 2, "has comm_dst 4: expected another rank from 0 to 1"),
    "itself": ([trace([node(1, "RECV", comm_src=0, comm_size=8)])], "has comm_src 0: expected another rank"),
    "another rank's": ([trace([node(1, "SEND", comm_dst=1, comm_src=1, comm_size=8)])] * 2, "has comm_src 1: expected its own rank, 0"),
    "no peer": ([trace([node(1, "SEND", comm_size=8)])] * 2, "has comm_dst=None"),
    "a huge message": ([trace([node(1, "SEND", comm_dst=1, comm_size=1 << 60)])] * 2, "has comm_size 1152921504606846976: expected 0 to"),
    "a huge tag": ([trace([node(1, "SEND", comm_dst=1, comm_size=1, comm_tag=1 << 62)])] * 2, "has comm_tag 4611686018427387904"),
    "a huge collective": ([trace([collective(1, "all_gather", 1 << 62)])] * 2, "has comm_size 4611686018427387904"),
    "a roofline": ([trace([node(1, "COMP", num_ops=10**9)])], "gives num_ops and no duration_micros"),
    "memory": ([trace([node(1, "LOAD", tensor_size=10**9)])], "gives tensor_size and no duration_micros"),
    "a long time": ([trace([node(1, "COMP", time=1 << 60)])], "expected at most"),
    "invalid": ([trace([field(1, 1)])], "node 1 is of type INVALID"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "said"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_refused_in_one_line(tmp_path, files, said):
    for rank, data in enumerate(files):
        (tmp_path / f"a.{rank}.et").write_bytes(data)
    with pytest.raises((FormatError, InputError)) as error:
        table.read(str(tmp_path / "a.0.et"), Asked(), "chakra")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


WRONG_JSON = {
    "a list": ('{"workload_graph": 5}', "workload_graph holds something else"),
    "no objects": ('{"workload_graph": [5]}', "workload_graph holds something else"),
    "cut": ('{"workload_graph": [', "is no JSON object"),
    "no id": ('{"workload_graph": [{"NodeType": 4}]}', "a node has id None"),
    "no type": ('{"workload_graph": [{"Id": 1}]}', "node 1 has NodeType None"),
    "text for time": ('{"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": "long"}]}', "a node has runtime 'long'"),
    "no list": ('{"workload_graph": [{"Id": 1, "NodeType": 4, "data_deps": 3}]}', "a node has datadeps 3"),
    "deep": ('{"workload_graph": ' + "[" * 100_000, "is no JSON object"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG_JSON.values(), ids=WRONG_JSON)
def test_wrong_json_is_refused_in_one_line(tmp_path, text, said):
    path = tmp_path / "a.0.json"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        table.read(str(path), Asked())
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def message(number, kind, peer, size, data=()):
    return node(number, kind, data, comm_size=size, comm_tag=0, **{"comm_dst" if kind == "SEND" else "comm_src": peer})


def test_messages_meet_as_they_may_be_posted(tmp_path):
    """Node 1 stands above node 2 and depends on it."""
    zero = [message(1, "SEND", 1, 8, (2,)), message(2, "SEND", 1, 9)]
    one = [message(1, "RECV", 0, 9), message(2, "RECV", 0, 8, (1,))]
    reading = table.read(write_traces(tmp_path, [zero, one]), Asked())
    assert check(reading.schedule).faults == ()
    assert FILE_ORDER not in reading.remarks


def test_messages_in_no_order_meet_in_that_of_the_file(tmp_path):
    """However far down the dependencies either stands."""
    zero = [
        node(1, "COMP", time=1),
        node(2, "COMP", (1,), time=1),
        message(3, "SEND", 1, 8, (2,)),
        message(4, "SEND", 1, 9),
    ]
    one = [message(1, "RECV", 0, 8), message(2, "RECV", 0, 9, (1,))]
    reading = table.read(write_traces(tmp_path, [zero, one]), Asked())
    assert check(reading.schedule).faults == ()
    assert FILE_ORDER in reading.remarks


def test_rows_are_found_again_in_the_traces(tmp_path):
    reading = table.read(write_traces(tmp_path, [mixed(rank) for rank in range(4)]), Asked())
    columns = reading.schedule.columns
    found = [reading.place(row) for row in range(len(columns))]
    assert all(place.startswith(f"rank {rank} node ") for place, rank in zip(found, columns.rank, strict=True))
    by_node = {place: {int(kind) for p, kind in zip(found, columns.kind, strict=True) if p == place} for place in found}
    assert by_node["rank 0 node 5 'node 5'"] == {SEND}
    assert {tuple(kinds) for place, kinds in by_node.items() if kinds == {COMPUTE}}


def test_rows_of_a_single_collective_are_those_of_its_nodes(tmp_path):
    traces = [[collective(10 + rank, "all_reduce", 64)] for rank in range(3)]
    reading = table.read(write_traces(tmp_path, traces), Asked())
    for row, rank in enumerate(reading.schedule.columns.rank):
        assert reading.place(row) == f"rank {rank} node {10 + rank} 'node {10 + rank}'"
