"""Where must a protocol switch over?: python examples/protocol_threshold.py

osu_latency -d rocm H D: small messages to a GPU's memory take up to 103 us, 2 KiB take 5 us
(github.com/openucx/ucx/issues/7442).
"""

import numpy as np

from hopline.quantity import show, size
from hopline.study.calibrate import calibrate

MEASURED = {
    "8B": 3.53, "64B": 6.71, "128B": 10.34, "256B": 28.88, "1KiB": 102.97,
    "2KiB": 5.07, "128KiB": 19.98, "1MiB": 105.77, "2MiB": 202.88,
}  # fmt: skip

sizes = np.array([size(text) for text in MEASURED])
times = np.array([*MEASURED.values()]) * 1e-6
line, fit = calibrate(sizes, times, most_pieces=1), calibrate(sizes, times)


def price(per_byte: float) -> str:
    """What a byte costs."""
    return f"{per_byte * 1e9:.3g} ns a byte"


print("Question: 1 KiB takes 103 us and 2 KiB takes 5 us. Where must the protocol threshold be?\n")
print(f"one line through all points is off by {100 * line.inside.mean:.0f} % on average")
print(f"hopline's fit has {len(fit.curve.pieces)} pieces, off by {100 * fit.inside.mean:.0f} %:")
for piece in fit.curve.pieces:
    low = show(round(piece.low), "size", 3)
    print(f"  from {low:>8}   start-up {show(piece.latency, 'time', 3)}, {price(1 / piece.bandwidth)}")
short, long = fit.curve.pieces[0], fit.curve.pieces[-1]

found = long.latency + sizes / long.bandwidth
below = sizes < fit.curve.breaks[0]
waste = np.where(below, times - found, 0.0)
print("\n     size   measured   the long messages' way   wasted")
for s, time, other, lost in zip(sizes, times, found, waste, strict=True):
    shown = show(lost, "time", 3) if lost > 0 else ""
    print(f"{show(s, 'size', 3):>9}{show(time, 'time', 3):>11}{show(other, 'time', 3):>25}{shown:>9}".rstrip())

last_good, first_bad = sizes[below & (times < found)].max(), sizes[below & (times > found)].min()
before, after = (show(s, "size", 3) for s in (sizes[below].max(), sizes[~below].min()))
crossing = (long.latency - short.latency) / (1 / short.bandwidth - 1 / long.bandwidth)
steep = (times[below][-1] - times[0]) / (sizes[below][-1] - sizes[0])
by_hand = (long.latency - times[0]) / (steep - 1 / long.bandwidth)
print(f"\nthe table: the short way is faster at {last_good:.0f} B and slower at {first_bad:.0f} B")
print(
    f"start-up {show(times[0], 'time', 3)} (that of {sizes[0]:.0f} B) and {price(steep)} cross the long way at {by_hand:.0f} B"
)
print(f"the two pieces of the fit cross at {crossing:.0f} B")
worst = int(np.argmax(waste))
lost, at = show(waste[worst], "time", 2), show(sizes[worst], "size", 3)
once, rate = show(long.latency, "time", 2), show(long.bandwidth, "bandwidth", 3)
print(
    f"""
Conclusion: there are two ways of sending. The short one costs about {price(steep)} into the GPU's memory;
the long one pays {once} once and then moves {rate}. They break even at about {by_hand:.0f} to {crossing:.0f} B, but the
switch comes between {before} and {after}, which wastes up to {lost} (at {at}). Set the threshold of the
zero-copy or rendezvous way to a GPU below {first_bad:.0f} B. Which size is best from {last_good:.0f} to {first_bad:.0f} B
these points do not tell: measure the sizes between."""
)
