"""--overlap-grad-reduce overlaps nothing: python examples/case_21.py

An 8B model, data-parallel over 64 ranks, with CUDA_DEVICE_MAX_CONNECTIONS=1 (github.com/NVIDIA/Megatron-LM/issues/1468).
With one hardware queue kernels begin in the order of their launches, whatever their streams. It is set to 1 for overlap of
tensor or sequence parallelism, so the two conflict. Here is the backward pass of a rank as a profiler sees it, with one queue
and with several; the host is far ahead in both.
"""

from hopline.jobs.explaining import explain
from hopline.jobs.made.sketch import Mark, sketch
from hopline.records.trace import Trace

LAYERS, GEMM, REDUCE, LAUNCH = 32, 900.0, 700.0, 6.0
"""Microseconds of a layer's kernel, of the reduce-scatter of its gradients, and between two launches."""
NCCL = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_SIMPLE(ncclDevKernelArgsStorage<4096ul>)"


def backward(queues: int) -> Trace:
    """Each layer's reduce-scatter waits for its kernel. In one queue the next kernel waits behind it."""
    marks, compute, network = [], 500.0, 0.0
    for layer in range(LAYERS):
        for part, name in enumerate(("cudaLaunchKernel", "cudaLaunchKernelExC")):
            call = 2 * layer + part
            marks.append(Mark("call", name, call * LAUNCH, 4.0, lane=1, correlation=call + 1))
        marks.append(Mark("kernel", "gemm_backward", compute, GEMM, 7, 2 * layer + 1))
        begun = max(compute + GEMM, network)
        network = begun + REDUCE
        marks.append(Mark("kernel", NCCL, begun, REDUCE, 20, 2 * layer + 2, op="reduce_scatter"))
        compute = network if queues == 1 else compute + GEMM
    return sketch(marks)


for queues in (1, 8):
    explained = explain([backward(queues)], questions=())
    part = explained.breakdowns[0]
    assert part is not None
    hidden = part.hidden / part.communication
    print(
        f"{queues} queue{'s' if queues > 1 else ''}: {part.span / 1e6:.2f} ms, {hidden:.0%} of communication is hidden"
    )
    found = [line for line in explained.findings if "hardware queue" in line]
    print("  " + (found[0] if found else "nothing says that kernels run in the order of their launches"))
