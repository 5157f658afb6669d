"""What communication kernels were called for, and how much they moved."""

import json

import pytest
from trace_texts import call, kernel, span, text

from hopline.formats.kineto import names
from hopline.formats.kineto.reader import read_trace

NCCL = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
SPELLINGS = {
    "all_reduce": ["allreduce", "all_reduce", "nccl:all_reduce", "c10d::allreduce_", "allreduce_coalesced", "_c10d_functional::all_reduce"],
    "all_gather": ["_allgather_base", "allgather_into_tensor", "all_gather", "c10d::_allgather_base_", "allgather_into_tensor_coalesced",
                   "nccl:_all_gather_base", "all_gather_into_tensor"],
    "reduce_scatter": ["_reduce_scatter_base", "reduce_scatter_tensor_coalesced", "nccl:_reduce_scatter_base"],
    "alltoall": ["all_to_allv", "all_to_all", "alltoall_base", "c10d::alltoall_base_", "nccl:all_to_all", "alltoall"],
    "broadcast": ["broadcast", "_broadcast_oop", "c10d::broadcast_"], "reduce": ["reduce", "_reduce_oop", "nccl:reduce"],
    "gather": ["gather", "nccl:gather"], "scatter": ["scatter"], "barrier": ["barrier", "nccl:barrier", "monitored_barrier"],
    "send": ["send", "nccl:send 0->1", "c10d::send"], "recv": ["recv", "nccl:recv 0<-1", "recvAnysource"],
    "": ["wait", "coalesced", "init", "", "record_param_comms", "nccl:coalesced", "pg_init"],
}  # fmt: skip
KERNELS = {
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)": ("sendrecv", "RING", "SIMPLE"),
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": ("all_reduce", "RING", "LL"),
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)": ("all_gather", "RING", "LL"),
    "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL128(ncclDevKernelArgsStorage<4096ul>)": ("all_reduce", "TREE", "LL128"),
    "ncclDevKernel_ReduceScatter_Sum_f32_NVLS(ncclDevKernelArgsStorage<4096ul>)": ("reduce_scatter", "NVLS", ""),
    "ncclDevKernel_Broadcast_RING_LL(x)": ("broadcast", "RING", "LL"),
    "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)": ("", "", ""),
    "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16": ("all_reduce", "", ""),
    "void rcclKernel_AllGather_x(int)": ("all_gather", "", ""),
    "mscclKernel_Sum_half_Simple_false(ncclDevComm*)": ("", "", ""),
    "void vllm::cross_device_reduce_1stage<c10::Half, 8>(x)": ("all_reduce", "", ""),
    "void two_shot_all_reduce_kernel<x>": ("all_reduce", "", ""),
}  # fmt: skip
OTHERS = ["gemm", "void softmax_reduce", "scatter_gather_kernel", "occlusion", "one_shot_learner", "all_reduce_fake"]


@pytest.mark.parametrize("op", SPELLINGS)
def test_spellings_of_operations(op):
    assert [names.operation(name) for name in SPELLINGS[op]] == [op] * len(SPELLINGS[op])


@pytest.mark.parametrize("name", KERNELS)
def test_names_of_kernels(name):
    assert names.communication(name) == KERNELS[name]


@pytest.mark.parametrize("name", OTHERS)
def test_kernels_that_communicate_nothing(name):
    assert names.communication(name) is None


def test_widths_of_types():
    told = {"Float": 4, "BFloat16": 2, "c10::BFloat16": 2, "long int": 8, "Byte": 1, "Float8_e4m3fn": 1, "unsigned char": 1,
            "int": 4, "Long": 8, "c10::complex<float>": 8, "Scalar": None, "TensorList": None, "": None}  # fmt: skip
    assert {name: names.bytes_of(name) for name in told} == told


def read(tmp_path, events, **around):
    path = tmp_path / "rank0.json"
    path.write_text(text(events, **around))
    return read_trace(str(path)).collectives


def told(op, sent, received, dtype="BFloat16", **more):
    return {
        "Collective name": op,
        "In msg nelems": sent,
        "Out msg nelems": received,
        "dtype": dtype,
        "Group size": 8,
        **more,
    }


SIZES = [
    ("allreduce", 1000, 1000, "all_reduce", 2000), ("_allgather_base", 1000, 8000, "all_gather", 16000),
    ("_reduce_scatter_base", 8000, 1000, "reduce_scatter", 16000), ("all_to_allv", 800, 700, "alltoall", 1600),
    ("send", 5, 5, "send", 10), ("recv", 5, 6, "recv", 12), ("broadcast", 7, 7, "broadcast", 14), ("barrier", 0, 0, "barrier", None),
    ("gather", 10, 80, "gather", 160), ("scatter", 80, 10, "scatter", 160),
]  # fmt: skip


@pytest.mark.parametrize(("said", "sent", "received", "op", "size"), SIZES)
@pytest.mark.parametrize("where", ["kernel", "host"])
def test_sizes_by_arguments(tmp_path, said, sent, received, op, size, where):
    args = told(said, sent, received, **{"Seq": 17, "Process Group Name": "3", "Process Group Ranks": "[0, 8, 16]"})
    on_kernel, on_host = (args, {}) if where == "kernel" else ({}, args)
    events = [
        span("record_param_comms", 0, 20, **on_host),
        call("cudaLaunchKernelExC", 5, 2, 9),
        kernel(NCCL, 30, 9, 9, **on_kernel),
    ]
    (found,) = read(tmp_path, events)
    assert (found.op, found.size, found.row) == (op, size, 2)
    assert (found.dtype, found.group, found.ranks, found.count, found.sequence) == ("BFloat16", "3", (0, 8, 16), 8, 17)


def test_unknown_types_have_no_size(tmp_path):
    (found,) = read(tmp_path, [kernel(NCCL, 0, 1, 1, **told("allreduce", 5, 5, "Mystery"))])
    assert (found.op, found.size, found.dtype) == ("all_reduce", None, "Mystery")


def test_the_host_says_what_a_kernel_that_sends_and_receives_does(tmp_path):
    """Spans of one call (c10d, record_param_comms, nccl) are one collective, and its tensors are those of the innermost."""
    tensors = {"Input Dims": [[8, 100], []], "Input type": ["float", "Scalar"]}
    events = [
        span("c10d::alltoall_base_", 0, 50, **{"Input Dims": [[800], [800]], "Input type": ["float", "float"]}),
        span("record_param_comms", 1, 48), span("nccl:all_to_all", 2, 40, "user_annotation", **tensors),
        call("cudaLaunchKernel", 10, 3, 5), kernel(NCCL, 20, 30, 5),
        span("nccl:all_to_all", 60, 10, "user_annotation", tid=99, **tensors),
        call("cudaLaunchKernel", 61, 3, 6), kernel(NCCL, 70, 30, 6),
    ]  # fmt: skip
    first, second = read(tmp_path, events)
    assert (first.op, first.size, first.dtype) == ("alltoall", 3200, "float")
    assert (second.op, second.size) == ("sendrecv", None), "the span is on another thread"


def test_the_innermost_span_that_is_around_counts(tmp_path):
    events = [
        span("nccl:all_reduce", 0, 100, "user_annotation"), span("nccl:broadcast", 10, 10, "user_annotation"),
        call("l", 12, 1, 1), call("l", 30, 1, 2), call("l", 200, 1, 3), kernel(NCCL, 40, 1, 1), kernel(NCCL, 50, 1, 2),
        kernel(NCCL, 210, 1, 3), kernel(NCCL, 220, 1, 4),
    ]  # fmt: skip
    assert [found.op for found in read(tmp_path, events)] == ["broadcast", "all_reduce", "sendrecv", "sendrecv"]


def test_tensors_of_an_all_gather_are_what_each_puts_in(tmp_path):
    tensors = {"Input Dims": [[100]], "Input type": ["c10::Half"]}
    events = [
        span("nccl:_all_gather_base", 0, 9, "user_annotation", **tensors),
        call("l", 1, 1, 1),
        kernel(NCCL, 9, 9, 1),
    ]
    (found,) = read(tmp_path, events)
    assert (found.op, found.size) == ("all_gather", None), "the number of ranks is not said"
    events[0]["args"]["Group size"] = 4
    events[0]["args"]["Collective name"] = "_allgather_base"
    (found,) = read(tmp_path, events)
    assert (found.op, found.size) == ("all_gather", 800)


def test_several_kernels_of_one_call_do_not_each_have_its_size(tmp_path):
    tensors = {"Input Dims": [[100]], "Input type": ["float"]}
    events = [span("nccl:all_to_all", 0, 9, "user_annotation", **tensors), call("l", 1, 1, 1), call("l", 3, 1, 2),
              kernel(NCCL, 9, 9, 1), kernel(NCCL, 19, 9, 2)]  # fmt: skip
    assert [(found.op, found.size) for found in read(tmp_path, events)] == [("alltoall", None)] * 2


def test_a_kernel_that_tells_nothing_is_unknown(tmp_path):
    (found,) = read(tmp_path, [kernel("ncclDevKernel_Generic_4(x)", 0, 1, 1)])
    assert (found.op, found.size, found.count) == ("unknown", None, None)


def test_the_name_of_a_kernel_is_not_its_type(tmp_path):
    (found,) = read(tmp_path, [kernel("ncclKernel_AllReduce_RING_LL_Sum_int8_t(x)", 0, 1, 1)])
    assert (found.op, found.dtype, found.algorithm, found.protocol) == ("all_reduce", "", "RING", "LL")


def test_shortened_ranks_come_from_the_list_of_groups(tmp_path):
    short = {"Process Group Name": "2", "Process Group Ranks": "[0, 1, 2, ..., 31]", "Group size": 32}
    events = [kernel(NCCL, 0, 1, 1, **told("allreduce", 5, 5) | short)]
    (found,) = read(tmp_path, events)
    assert (found.ranks, found.count) == ((), 32)
    config = [{"pg_name": "1", "ranks": [0, 1]}, {"pg_name": "2", "pg_size": 32, "ranks": list(range(32))}, "odd"]
    (found,) = read(tmp_path, events, distributedInfo={"rank": 0, "pg_config": config})
    assert (found.ranks, found.count) == (tuple(range(32)), 32)
    text_of_ranks = json.dumps(list(range(32)))
    (found,) = read(
        tmp_path, events, distributedInfo={"rank": 0, "pg_config": [{"pg_name": "2", "ranks": text_of_ranks}]}
    )
    assert found.ranks == tuple(range(32))


def test_peers(tmp_path):
    events = [
        kernel(NCCL, 0, 1, 1, **told("send", 5, 5, **{"Src Rank": 3, "Dst Rank": 4})),
        kernel(NCCL, 5, 1, 2, **told("recv", 5, 5, **{"Src Rank": 6, "Dst Rank": 3})),
        span("nccl:recv 0<-7", 8, 9, "user_annotation"), call("l", 9, 1, 3), kernel(NCCL, 20, 1, 3),
        kernel(NCCL, 30, 1, 4, **told("allreduce", 5, 5, **{"Src Rank": 6})),
    ]  # fmt: skip
    assert [(found.op, found.peer) for found in read(tmp_path, events)] == [
        ("send", 4), ("recv", 6), ("recv", 7), ("all_reduce", -1),
    ]  # fmt: skip


IMPOSSIBLE = {
    "Group size": [2**63 - 1, 0, -7, 1.5, True, "x", 10**30], "Seq": [2**63 - 1, -7, 1e308, [1]],
    "In msg nelems": [2**62, -7, 10**30, 0.5, {}],
    "Process Group Ranks": [[0, 2**63], [-1, 0], [0, 0], "[0, 99999999999]", "[3, 3]", [0, "1"], [True], 5, {}],
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in IMPOSSIBLE.items() for value in values])
def test_what_collectives_cannot_say_is_told_and_not_said(tmp_path, key, value):
    args = told("allreduce", 8, 8) | {"Process Group Name": "3", "Process Group Ranks": "[0, 8]", "Seq": 4}
    path = tmp_path / "rank0.json"
    path.write_text(text([kernel("ncclDevKernel_AllReduce", i, 1, i, **args | {key: value}) for i in range(3)]))
    trace = read_trace(str(path))
    good = {"Group size": (8, 2), "Seq": (4, None), "In msg nelems": (16, None), "Process Group Ranks": ((0, 8), ())}
    fields = dict(zip(good, ("count", "sequence", "size", "ranks"), strict=True))
    for collective in trace.collectives:
        assert {name: getattr(collective, field) for name, field in fields.items()} == {
            name: values[name == key] for name, values in good.items()
        }
    (line,) = [line for line in trace.told if "collectives" in line]
    assert line.startswith(f"3 collectives with an impossible {key} (")
    assert line.endswith("; it counts as not said")


@pytest.mark.parametrize("value", [None, -1, 2**32 - 1, 2**64 - 1])
@pytest.mark.parametrize("key", ["Group size", "Seq", "In msg nelems"])
def test_numbers_that_stand_for_none_are_no_defect(tmp_path, key, value):
    path = tmp_path / "rank0.json"
    path.write_text(text([kernel("ncclDevKernel_AllReduce", 0, 1, 1, **told("allreduce", 8, 8) | {key: value})]))
    assert len(read_trace(str(path)).told) == 1


def test_impossible_members_of_groups_and_tensors(tmp_path):
    """A group's list in the head; and dimensions whose product no memory holds."""
    path = tmp_path / "rank0.json"
    config = {"rank": 0, "pg_config": [{"pg_name": "3", "ranks": [0, 2**70]}]}
    events = [
        span("c10d::allreduce_", 0, 9, tid=1),
        span("nccl:all_reduce", 1, 7, tid=1, **{"Input Dims": [[2**40, 2**40]], "Input type": ["float"]}),
        call("cudaLaunchKernel", 2, 3, 9, tid=1), kernel("ncclDevKernel_AllReduce", 12, 3, 9),
    ]  # fmt: skip
    path.write_text(text(events, distributedInfo=config))
    trace = read_trace(str(path))
    assert [(found.size, found.ranks) for found in trace.collectives] == [(None, ())]
    assert any("impossible Process Group Ranks (a list): expected different ranks" in line for line in trace.told)
    assert any("impossible Input Dims (1208925819614629174706176)" in line for line in trace.told)
