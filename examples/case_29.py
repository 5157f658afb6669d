"""Four GPUs on two nodes are 3.5 times slower than two on one: python examples/case_29.py

Qwen2-1.5B with ZeRO-3 on A10s: an iteration takes 8.68 s on two nodes (forward 1.60, backward 2.51 s) and 2.46 s on one
(0.357 and 0.673 s); the NIC looks idle on average (github.com/deepspeedai/DeepSpeed/issues/5770).
"""

from hopline.model.traffic import gradients
from hopline.quantity import show

PARAMETERS, BF16 = 1_500_000_000, 2
NODES = {"two nodes": (8.68, 1.60, 2.51), "one node": (2.46, 0.357, 0.673)}

parts = gradients(PARAMETERS, BF16, BF16, zero=3)
moved = float(sum(part.times * part.size for part in parts))

print("Question: is it the network, although my NIC's average rate looks low?\n")
for part in parts:
    print(f"{part.name:12}{part.operation:16}{part.times} x {float(part.size) / 1e9:.0f} GB for each micro-batch")
print(f"together      {moved / 1e9:.0f} GB: three times the parameters, once for each forward and backward pass\n")

(iteration, *passes), (less, *others) = NODES.values()
more, longer = sum(passes) - sum(others), iteration - less
print(
    f"forward and backward take longer by   {more:.2f} s: {show(moved / more, 'bandwidth')} if all of it crosses the link"
)
print(f"the iteration takes longer by         {longer:.2f} s: {show(moved / longer, 'bandwidth')}")
for gigabits in (10, 25):
    line = gigabits * 1e9 / 8
    print(f"{gigabits} Gb/s carry {show(line, 'bandwidth')}: {moved / line:.1f} s for {moved / 1e9:.0f} GB")
print(
    f"""
Conclusion: yes. Every micro-batch moves {moved / 1e9:.0f} GB, and what it loses fits a link of 10 to 25 Gb/s that is full
while it communicates; an average over the step hides that. More micro-batches do not help with ZeRO-3, since each one gathers
the parameters again; ZeRO-1 or 2 gathers them once a step, and inside of a node they do not cross the link."""
)
