"""Twice the bandwidth and the same tokens per second: python examples/case_27.py

Llama-3-70B over two GH200, pipeline parallel 2, with 400 and then 800 Gb/s between them
(github.com/vllm-project/vllm/issues/6610). Their all-reduce reaches 70.83 GB/s.
"""

from hopline.model.phases import sent
from hopline.quantity import bandwidth, show
from hopline.workload.files import find
from hopline.workload.parallel import Parallel

SLOW, FAST = bandwidth("400Gb/s"), bandwidth("800Gb/s")
MEMORY = 4e12
"""HBM3 of a GH200 (NVIDIA data sheet), byte/s."""

model = find("llama-3-70b")
(boundary,) = sent(model, Parallel(pp=2), "decode")
reads = 2 * model.parameters / MEMORY
slow, fast = boundary.size / SLOW, boundary.size / FAST

print("Question: the network between two pipeline stages became twice as fast. Why are tokens not?\n")
print(f"a stage hands over             {boundary.formula} = {show(boundary.size, 'size')} a sequence")
print(f"both stages read their weights {show(reads, 'time')} a token at least, one after the other (bf16, 4 TB/s)")
print(f"on the wire at 400 Gb/s        {show(slow, 'time')}, {100 * slow / reads:.4f} % of that")
print(f"on the wire at 800 Gb/s        {show(fast, 'time')}")
print(f"twice the bandwidth saves      {100 * (slow - fast) / reads:.4f} %")
print(f"and with 64 sequences at once  {100 * 64 * (slow - fast) / reads:.3f} %")
print(
    """
Conclusion: it is not the bandwidth. A token sends 16 KiB, a third of a microsecond, beside tens of milliseconds of reading
weights: less than 0.1 % of a step. The expected gain of twice the bandwidth is nothing. What such a pipeline waits for
is the other stage, and the latency of one message; more sequences at once, or tensor parallelism, use the second GPU."""
)
