"""A simulator says 5.5 s, the cluster takes 12.2 s: python examples/case_41.py

100 sends of 64 MiB between two hosts at 10 Gb/s took 12.201 s; SMPI takes 0.97 of the line
(github.com/simgrid/simgrid/issues/341).
"""

from hopline.model.feedback import bound
from hopline.model.limits import concurrency
from hopline.model.queue import fill, steps
from hopline.quantity import bandwidth, binary, show, size

LINE, FACTOR = bandwidth("10Gb/s"), 0.97
MOVED, TOOK = 100 * size("64MiB"), 12.201

rate = MOVED / TOOK
seen, line = show(rate, "bandwidth"), show(FACTOR * LINE, "bandwidth")
share = rate / LINE
said = MOVED / (FACTOR * LINE)

print(
    "Question: 6.71 GB over 10 Gb/s take 12.2 s, a simulator says 5.5 s. Which bandwidth is that, and is it a queue?\n"
)
print(f"measured                            {seen} = {8 * rate / 1e9:.2f} Gb/s, {100 * share:.0f} % of the line")
print(f"the simulator's line                {line}, so {said:.2f} s: {TOOK / said:.2f} times too fast")
print(f"its bandwidth factor should be      {share:.2f} instead of {FACTOR}")

print("\nIs it a queue? One sender cannot fill a link of its own rate:")
queue = fill(steps([(0.0, LINE)]), steps([(0.0, LINE)]), TOOK, float(size("256KiB")))
print(
    f"  a queue of 256 KiB at the line's rate holds {binary(float(queue.most))} and drops {float(queue.dropped):.0f} B"
)
print(f"  feedback may take any time: the bound is {bound(float(size('256KiB')), LINE, LINE, 1.0).longest}")
print(
    "Is it losses on a full link? A window that is halved there and grows again averages 3/4 of it, with no buffer at all:"
)
print(f"  {show(0.75 * LINE, 'bandwidth')} is the least of it, {seen} was seen: no, unless for another reason")

print("\nIs it a window? Bytes in flight / round trip:")
print("  round trip      in flight at the measured rate     a window of 64 KiB carries")
for turn in (20e-6, 50e-6, 120e-6, 200e-6):
    carried = concurrency(1, size("64KiB"), turn, LINE).throughput
    print(f"  {show(turn, 'time'):>10}  {binary(round(rate * turn)):>33}  {show(carried, 'bandwidth', 3):>29}")

print(
    f"""
Conclusion: the model is not wrong about the network, it is told the wrong rate. {100 * share:.0f} % of the line, with nobody
else on it, is an end that does not send faster: one sender makes no queue, and a full link that loses packets would leave
75 %. A window of 64 KiB at a round trip of 120 µs gives just this rate, and so would a copy at {seen} or packets that
are lost at random: these models do not tell which. The round trip, a larger socket buffer and two streams at once do.
Until then calibrate the factor to {share:.2f}."""
)
