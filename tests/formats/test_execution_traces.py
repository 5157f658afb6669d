"""Execution traces of three forms; those in the field have exactly the figures of their list."""

import gzip
import io
import json
import re
import tarfile
from collections import Counter

import numpy as np
import pytest
from field import FIELD, manifest, needed

from hopline.errors import FormatError
from hopline.formats.execution_traces import read

# --- Protocol Buffers, written for tests ----------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    kind = {bool: lambda v: number(27, int(v)), int: lambda v: number(9, v), str: lambda v: text(29, v)}
    return text(10, text(1, name) + kind[type(value)](value))


def node(number_, name, kind=4, duration=0, data=(), control=(), **attributes):
    parts = [
        number(1, number_),
        text(2, name),
        number(3, kind),
        *(number(4, one) for one in control),
        *(number(5, one) for one in data),
    ]
    return b"".join([*parts, number(7, duration), *(attribute(*item) for item in attributes.items())])


def chakra(*nodes):
    return b"".join(varint(len(one)) + one for one in (text(1, "0.0.4"), *nodes))


def save(tmp_path, data, name="x.3.et"):
    path = tmp_path / name
    path.write_bytes(data)
    return str(path)


CALL = (
    node(1, "aten::mul", duration=10),
    node(2, "c10d::allreduce_(0)", 7, 5, data=[1], is_cpu_op=True, rf_id=7),
    node(3, "c10d::allreduce_(1)", 7, 6, data=[2], is_cpu_op=True, rf_id=7),
    node(
        4,
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)",
        7,
        100,
        data=[2],
        is_cpu_op=False,
        comm_type=0,
        comm_size=4096,
    ),
)


def test_a_call_is_counted_once(tmp_path):
    (found,) = read(save(tmp_path, chakra(*CALL)))
    (call,) = found.calls
    assert (call.op, call.size, call.rows, call.duration) == ("all_reduce", 4096, (3, 1, 2), pytest.approx(100e-6))
    assert (found.rank, found.schema, found.by_type()) == (3, "0.0.4", {"COMM_COLL": 3, "COMP": 1})
    assert found.duration == pytest.approx([10e-6, 5e-6, 6e-6, 100e-6])


def test_two_calls_with_one_kernel_are_two(tmp_path):
    other = node(5, "c10d::allreduce_(0)", 7, 5, data=[4], is_cpu_op=True, rf_id=8)
    (found,) = read(save(tmp_path, chakra(*CALL, other)))
    assert [(call.size, call.rows) for call in found.calls] == [(4096, (3, 1, 2)), (None, (4,))]


def test_missing_is_not_zero(tmp_path):
    nodes = (
        node(1, "a", duration=0),
        node(2, "c10d::broadcast_(0)", 7),
        node(3, "x", 7, comm_type=8, comm_size=0),
        node(4, "s", 5),
    )
    (found,) = read(save(tmp_path, chakra(*nodes)))
    assert np.isnan(found.duration).all()
    assert [(call.op, call.size) for call in found.calls] == [
        ("broadcast", None),
        ("reduce_scatter", 0),
        ("send", None),
    ]


def test_dependencies_that_lead_out_are_told(tmp_path):
    (found,) = read(save(tmp_path, chakra(node(1, "a", data=[9], control=[1, 8]), node(2, "b", data=[1]))))
    assert found.data.tolist() == [[1, 0]]
    assert (found.data_count, found.control_count, found.control.tolist()) == (2, 2, [])
    assert sum("cannot be followed" in remark for remark in found.told) == 2


def graph(**changes):
    nodes = [
        {"Id": 1, "Name": "a", "NodeType": 4, "data_deps": [], "runtime": 0},
        {"Id": 2, "Name": "c10d::allreduce_(0)", "NodeType": 7, "ctrlDeps": [1], "data_deps": [1]} | changes,
    ]
    return json.dumps({"workload_graph": nodes, "ngpus": 8}).encode()


def test_json_of_chakra(tmp_path):
    (found,) = read(save(tmp_path, graph(), "x.1.json"))
    assert found.duration[0] == 0
    assert np.isnan(found.duration[1])
    assert (found.rank, found.about["ngpus"], found.control.tolist()) == (1, "8", [[1, 0]])
    (found,) = read(save(tmp_path, graph(comm_type="ALL_GATHER", comm_size=17), "x.1.json"))
    assert (found.calls[0].op, found.calls[0].size) == ("all_gather", 17)


def pytorch(nodes, key="ctrl_deps"):
    made = [{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", key: 1}]
    for number, (name, parent, more) in enumerate(nodes, 2):
        made.append(
            {"id": number, "name": name, key: parent, "inputs": {"values": [], "shapes": [], "types": []}} | more
        )
    return json.dumps({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": made}).encode()


def attributes(**named):
    return {"attrs": [{"name": name, "type": "x", "value": value} for name, value in named.items()]}


@pytest.mark.parametrize(
    ("word", "op", "counts", "size"),
    [
        ("allreduce", "all_reduce", (100, 100), 200), ("_allgather_base", "all_gather", (100, 800), 1600),
        ("_reduce_scatter_base", "reduce_scatter", (800, 100), 1600), ("all_to_allv", "alltoall", (64, 64), 128),
    ],
)  # fmt: skip
def test_counts_of_pytorch(tmp_path, word, op, counts, size):
    told = attributes(
        collective_name=word,
        dtype="BFloat16",
        in_msg_nelems=counts[0],
        out_msg_nelems=counts[1],
        pg_size=8,
        pg_name="4",
    )
    data = pytorch([("c10d::x", 1, {}), ("record_param_comms", 2, told), ("nccl:x", 3, {}), ("aten::add", 1, {})])
    (found,) = read(save(tmp_path, data, "et.json"))
    (call,) = found.calls
    assert (call.op, call.size, call.ranks, call.group, call.rows) == (op, size, 8, "4", (1, 2, 3))


def test_older_pytorch_tells_tensors_and_waits_are_no_calls(tmp_path):
    tensor = {"inputs": {"values": [[[5, 6, 0, 53120, 4, "cuda:0"]], 47, ["0", "x"], 0, "broadcast"]}}
    wait = {"inputs": {"values": [47, ["", ""], 0, "wait", [], []]}}
    data = pytorch(
        [("record_param_comms", 1, tensor), ("record_param_comms", 1, wait), ("nccl:all_gather", 1, tensor)], "parent"
    )
    (found,) = read(save(tmp_path, data, "et.json"))
    assert [(call.op, call.size) for call in found.calls] == [("broadcast", 212480), ("all_gather", None)]


def test_nodes_in_a_circle(tmp_path):
    (found,) = read(save(tmp_path, pytorch([("c10d::allreduce_", 3, {}), ("nccl:all_reduce", 2, {})]), "et.json"))
    assert sum(len(call.rows) for call in found.calls) == 2


# --- archives and bad input -----------------------------------------------------------------------------------------


def archive(files, links=()):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    return out.getvalue()


def test_members_of_an_archive_are_read_in_memory(tmp_path):
    data = archive({"../../a.0.et": chakra(*CALL), "d/b.1.json": graph()}, [("evil", "/etc/passwd")])
    found = read(save(tmp_path, data, "both.tar.gz"))
    assert [(one.form, one.rank) for one in found] == [("chakra", 0), ("chakra-json", 1)]
    assert [path.name for path in tmp_path.rglob("*")] == ["both.tar.gz"]
    with pytest.raises(FormatError, match="archive without files"):
        read(save(tmp_path, archive({}, [("evil", "/etc/passwd")]), "none.tar.gz"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (chakra(*CALL)[:-7], "ends inside of the message"),
        (chakra(*CALL)[5:], "expected a Chakra trace"),
        (b"\x7fELF" + bytes(2000), ""),
        (b'{"nodes": 3}', "has no nodes and no workload_graph (nodes)"),
        (b'{"nodes": [3]}', "node 0 is a int"),
        (b'{"nodes": [{"id": -1, "parent": 0}]}', "node 0 has id=-1"),
        (b'{"nodes": [{"id": 1', "no whole JSON"),
        (b'{"workload_graph": [{"Id": 1, "NodeType": 99}]}', "NodeType 99"),
        (b'{"workload_graph": 1}', "expected a list of nodes"),
        (b'{"a":' * 5000, "no whole JSON"),
        (gzip.compress(graph())[:-10], "is cut"),
        (archive({"a.0.et": chakra(*CALL)})[:-15], "is cut"),
        (gzip.compress(gzip.decompress(archive({"a.0.et": chakra(*CALL)}))[:700]), "no whole tar archive"),
    ],
)
def test_bad_files_are_one_line(tmp_path, data, words):
    path = save(tmp_path, data)
    with pytest.raises(FormatError) as error:
        read(path)
    assert words in str(error.value)
    assert path in str(error.value)
    assert "\n" not in str(error.value)


def test_hurt_bytes(tmp_path):
    import random

    rng = random.Random(2)
    for whole in (chakra(*CALL), graph(), pytorch([("c10d::allreduce_", 1, {})])):
        for _ in range(200):
            hurt = bytearray(whole)
            hurt[rng.randrange(len(hurt))] = rng.randrange(256)
            try:
                read(save(tmp_path, bytes(hurt)))
            except FormatError as error:
                assert "\n" not in str(error)


def test_a_sparse_file(tmp_path):
    path = tmp_path / "sparse.et"
    with path.open("wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(FormatError):
        read(str(path))


# --- the field ------------------------------------------------------------------------------------------------------


def figures(computed):
    return dict(re.findall(r"(\S+?)=(\[[^\]]*\]|\S+)", computed))


def counted(counts):
    return ",".join(f"{name}:{count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def rows(*names):
    return [
        param
        for param in manifest("sim/chakra", "traces/")
        if any(re.search(name, str(param.values[0])) for name in names)
    ]


@needed
@pytest.mark.parametrize(("path", "computed"), rows(r"\.et$", r"feeder_tests"))
def test_chakra_in_the_field(path, computed):
    told = figures(computed)
    (found,) = read(str(path))
    assert told.get("version", told.get("schema")) == found.schema
    assert int(told["nodes"]) == len(found)
    assert told["nodes_by_type"] == counted(found.by_type())
    sizes = [call.size for call in found.calls if call.size is not None]
    assert int(told["comm_size_total"]) == sum(sizes)
    words = {"all_reduce": "ALL_REDUCE", "all_gather": "ALL_GATHER", "broadcast": "BROADCAST"}
    assert told["comm_type"] == counted(Counter(words[call.op] for call in found.calls if call.size is not None))
    assert (int(told["first_id"]), told["first_name"]) == (found.id[0], found.label(0))
    assert (int(told["data_deps"]), int(told["ctrl_deps"])) == (found.data_count, found.control_count)
    if "duration_sum_us" in told:
        assert int(told["duration_sum_us"]) == round(np.nansum(found.duration) * 1e6)
        assert (int(told["max_id"]), int(told["comm_size_max"])) == (found.id.max(), max(sizes))
        assert int(told["comm_nodes_with_comm_type"]) == len(sizes)
        assert told["pid"] == found.about["pid"]
        assert sum(len(call.rows) for call in found.calls) == found.by_type()["COMM_COLL"]


@needed
def test_json_of_chakra_in_the_field():
    (computed,) = [param.values[1] for param in rows("chakra-json")]
    told = figures(computed)
    large, small = read(str(FIELD / "traces/chakra-json_trace.tar.gz"))
    assert int(told["chakra.0.json_nodes"]) == len(large)
    assert int(told["chakra.0.json_runtime_sum"]) == round(np.nansum(large.duration) * 1e6)
    assert int(told["chakra.0.json_data_deps"]) == large.data_count
    assert int(told["chakra.0.json_nodes_without_runtime"]) == np.isnan(large.duration).sum()
    assert told["chakra.0.json_by_type"] == counted(
        {{"COMP": 4, "COMM_COLL": 7}[k]: v for k, v in large.by_type().items()}
    )
    assert int(told["small_chakra.0.json_nodes"]) == len(small)
    assert int(told["small_runtime_sum"]) == round(np.nansum(small.duration) * 1e6)
    assert (int(told["small_data_deps"]), int(told["small_ctrlDeps"])) == (small.data_count, small.control_count)
    assert told["small_ngpus"] == small.about["ngpus"]
    (twin,) = read(str(FIELD / "traces/chakra-feeder_tests_trace.tar.gz"))
    assert [call.rows for call in twin.calls] == [call.rows for call in large.calls]
    assert all(call.size is None for call in large.calls)


@needed
@pytest.mark.parametrize(("path", "computed"), rows(r"_et\.json\.gz$", "hta-execution-trace-et"))
def test_pytorch_in_the_field(path, computed):
    told = figures(computed)
    (found,) = read(str(path))
    assert told["schema"] == found.schema
    assert (int(told["nodes"]), int(told["distinct_ids"])) == (len(found), len(set(found.id.tolist())))
    assert told["parent_key"] == found.about["parent_key"]
    assert told["pid"] == found.about["pid"]
    assert int(told["distinct_names"]) == len(found.names)
    labels = [found.label(row) for row in range(len(found))]
    assert told["root"] == f"1:{labels[found.id.tolist().index(1)]}"
    assert int(told["record_param_comms"]) == labels.count("record_param_comms")
    by_name = Counter(name for name in labels if name.startswith(("nccl:", "c10d::")))
    assert int(told["nccl_or_c10d_nodes"]) == sum(by_name.values())
    assert told["comm_nodes_by_name"] in (counted(by_name), "none")
    assert int(told["process_group_init_nodes"]) == labels.count("## process_group:init ##")
    calls = Counter(call.op for call in found.calls)
    assert calls == ({"all_reduce": 15, "broadcast": 6} if by_name else {})
    assert all(call.size for call in found.calls)


# --- numbers that cannot be ---------------------------------------------------------------------------------------


def test_numbers_of_chakra_that_cannot_be_are_told(tmp_path):
    nodes = [
        {"Id": 1, "Name": "c10d::allreduce_(0)", "NodeType": 7, "comm_size": 2**62, "runtime": 2**62},
        {"Id": 2, "Name": "aten::mm", "NodeType": 4, "runtime": 9, "data_deps": [1]},
    ]
    (read_,) = read(save(tmp_path, json.dumps({"workload_graph": nodes}).encode()))
    assert np.isnan(read_.duration).tolist() == [True, False]
    assert [(call.op, call.size, call.duration) for call in read_.calls] == [("all_reduce", None, None)]
    assert any("1 node with a duration that cannot be (" in told for told in read_.told)
    assert any(
        "1 call with a size that cannot be (" in told and told.endswith("taken as not told") for told in read_.told
    )


@pytest.mark.parametrize("count", [0, -4, 2**40])
def test_numbers_of_ranks_that_cannot_be_are_told(tmp_path, count):
    names = {"collective_name": "allreduce", "dtype": "Float", "in_msg_nelems": 2**50, "pg_size": count}
    attributes = [{"name": name, "type": "x", "value": value} for name, value in names.items()]
    nodes = [{"id": 1, "name": "record_param_comms", "ctrl_deps": 1, "attrs": attributes}]
    (read_,) = read(save(tmp_path, json.dumps({"schema": "1.1.1", "nodes": nodes}).encode()))
    assert [(call.op, call.size, call.ranks) for call in read_.calls] == [("all_reduce", None, None)]
    assert any(f"1 call with a number of ranks that cannot be ({count}; " in told for told in read_.told)
