"""Latency of a ring against its number of steps: python examples/alpha_per_step.py

Times of nccl-tests all_reduce, ring, 8 to 128 bytes, on 2 to 8 GPUs of one DGX A100 (github.com/NVIDIA/nccl-tests/issues/123).
"""

import numpy as np

from hopline.quantity import show
from hopline.study.calibrate import calibrate

RANKS = np.arange(2, 9)
MEASURED = np.array([10, 13.76, 16.88, 20.8, 25.2, 29.5, 33.7]) * 1e-6
BELIEVED = 3e-6

steps = 2 * (RANKS - 1)
(fixed, step), *_ = np.linalg.lstsq(np.stack([np.ones(len(steps)), steps], axis=1), MEASURED, rcond=None)

print("Question: a ring step was believed to take 3 us. Why is n = 2 slower and n = 8 faster than 2(n-1) x 3 us?\n")
print("   n  steps  measured  believed  fixed + steps")
for n, s, time in zip(RANKS, steps, MEASURED, strict=True):
    print(f"{n:4}{s:7}{time * 1e6:7.2f} us{s * BELIEVED * 1e6:7.0f} us{(fixed + s * step) * 1e6:12.2f} us")

print(f"\nLeast squares of T = a0 + a1 x 2(n-1): a0 = {show(fixed, 'time', 3)}, a1 = {show(step, 'time', 3)} a step.")
share = fixed / (fixed + steps * step)
print(f"a0 is {100 * share[0]:.0f} % of the time at n = 2 and {100 * share[-1]:.0f} % at n = 8.")

relative = calibrate(steps, MEASURED, most_pieces=1)
piece = relative.curve.pieces[0]
print(
    f"hopline's own fit, which weighs relative errors and so the short rings more: a0 = {show(piece.latency, 'time', 3)}, "
    f"a1 = {show(1 / piece.bandwidth, 'time', 3)};\nrings left out of it are predicted within "
    f"{100 * relative.held_out.worst:.0f} %, so the straight line holds."
)

crossing = fixed / (BELIEVED - step)
once, each = show(fixed, "time", 2), show(step, "time", 2)
print(
    f"""
Conclusion: a step takes about {each}, not 3 us, and every ring pays about {once} once to be launched.
At n = 2 that fixed part is most of the time, so two ranks look slow; from {crossing:.1f} steps on the cheaper step has
made up for it, so eight ranks look fast. No network takes part: all of this is one machine."""
)
