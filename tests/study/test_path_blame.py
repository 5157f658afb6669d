"""Blame: sums of a path under the names that people know."""

import numpy as np
import pytest
from dag_traces import COMPUTE, TRANSFER, Rank, brought_together, drawn, longest, meet, trace_of

from hopline.records.blame import Item
from hopline.records.meeting import Clocks
from hopline.study.blame import BETWEEN, blame
from hopline.study.critical_path import critical_path
from hopline.study.kernel_names import short_name

ALONE = Clocks(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int32), ("given",))
ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >"
    "(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)"
)


@pytest.mark.parametrize("seed", range(12))
def test_every_way_of_blaming_has_the_whole(seed):
    rng = np.random.default_rng(seed)
    ranks = drawn(rng, 3, 40)
    traces, clocks, meetings = brought_together(ranks, [5, -800_000, 90_000])
    path = critical_path(traces, clocks, meetings)
    found = blame(path, traces, clocks, meetings)
    sums = {}
    for part, _, start, end in longest(ranks):
        sums[part] = sums.get(part, 0) + end - max(start, path.start)
    assert {item.name: item.time for item in found.parts} == {part: time for part, time in sums.items() if time > 0}
    assert sum(item.time for item in found.parts) == sum(item.time for item in found.ranks) == found.time == path.time
    assert sum(item.time for item in found.kernels) == found.part("compute")
    assert sum(item.time for item in found.operators) == found.part("host")
    assert sum(met.time for met in found.collectives) == found.communication == found.part("transfer")
    assert found.least == path.time - found.communication
    assert found.ceiling == path.time / found.least


def test_the_host_is_blamed_by_outermost_operator_and_clocks_do_not_matter():
    rank = Rank(0)
    for name, time, silent in (("aten::add", 50_000, 2_000), ("aten::mm", 30_000, 3_000), ("aten::add", 10_000, 0)):
        rank.operator(name, time)
        rank.think(silent)
    rank.launch(COMPUTE, 5_000, ELEMENTWISE)
    rank.hold()
    for shift in (0, 12_345):
        clocks = Clocks(np.array([shift]), ALONE.error, ALONE.part, ALONE.basis)
        trace = trace_of(rank, shift)
        found = blame(critical_path([trace], clocks, ()), [trace], clocks, ())
        assert found.operators == (Item("aten::add", 60_000, 2), Item("aten::mm", 30_000, 1), Item(BETWEEN, 5_000, 1))
        assert found.kernels == (Item("vectorized_elementwise_kernel<FillFunctor>", 5_000, 1),)
        assert found.ranks[0].name == "rank 0"


def test_collectives_are_blamed_by_name_and_number_and_bound_what_can_be_gained():
    ranks = [Rank(0), Rank(1)]
    for rank in ranks:
        for _ in range(3):
            rank.launch(COMPUTE, None, "ncclDevKernel_AllReduce")
        rank.hold()
    meet(ranks)
    traces, clocks, meetings = brought_together(ranks)
    found = blame(critical_path(traces, clocks, meetings), traces, clocks, meetings)
    assert [(met.op, met.number, met.part, met.time) for met in found.collectives] == [
        ("all_reduce", number, "transfer", TRANSFER) for number in range(3)
    ]
    assert found.communication == 3 * TRANSFER
    alone = blame(critical_path(traces[:1], ALONE, ()), traces[:1], ALONE, ())
    assert {(met.op, met.number, met.part) for met in alone.collectives} == {("all_reduce", None, "communication")}


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (ELEMENTWISE, "vectorized_elementwise_kernel<FillFunctor>"),
        (
            "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_tn_align4>(P)",
            "cutlass_80_tensorop_s1688gemm_tn_align4",
        ),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllGather_RING_LL"),
        ("Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH (Device -> Pageable)"),
        ("triton_poi_fused_add_addmm_silu_21", "triton_poi_fused_add_addmm_silu_21"),
        (
            "Cijk_Alik_Bljk_BBS_BH_UserArgs_MT128x192x64_MI16x16x1_SN_LDSB1_AFC1",
            "Cijk_Alik_Bljk_BBS_BH_UserArgs_MT128x192x64",
        ),
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8EEEvPT0_", "add_rmsnorm_quant_kernel"),
        ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassEEEEvT0_", "Rmsnorm2dFwd"),
        ("void (anonymous namespace)::softmax_warp_forward<float, 8, false>(float*, int)", "softmax_warp_forward"),
        (
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::mse_backward_cuda_kernel"
            "(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const>>(int)",
            "elementwise_kernel<mse_backward>",
        ),
        (
            "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(cublasGemvParams)",
            "gemvx::kernel",
        ),
        ("", ""),
        ("<<<", "<<<"),
        (">)(", ">)"),
    ],
)
def test_names_are_those_that_people_know(name, short):
    assert short_name(name) == short
