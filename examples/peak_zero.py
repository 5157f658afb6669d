"""perftest with a duration reports no peak: python examples/peak_zero.py

ib_write_bw -D 10 printed 664644 iterations of 65536 bytes, and BW peak 0.00 (github.com/linux-rdma/perftest/issues/234).
"""

import tempfile
from pathlib import Path

from hopline import read_log
from hopline.quantity import show

SIZE, ITERATIONS, SECONDS = 65536, 664644, 10.0
LOG = """\
                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      664644         0.00               34.85                0.066464
"""

moved = SIZE * ITERATIONS
average = moved / SECONDS
in_all = show(moved, "size")

print("Question: ib_write_bw -D 10 says that the peak bandwidth is 0. Is the link broken?\n")
print(f"moved                      {ITERATIONS} x {SIZE} B = {in_all}")
print(f"average over 10 s          {show(average, 'bandwidth')} = {average * 8 / 1e9:.2f} Gb/s")
print(f"messages per second        {ITERATIONS / SECONDS:.0f}")
print(f"one message every          {show(SECONDS / ITERATIONS, 'time')}")

with tempfile.TemporaryDirectory() as folder:
    log = Path(folder) / "write_bw.log"
    log.write_text(LOG)
    (table,) = read_log(str(log)).tables
print("\nWhat hopline reads from such a log (these lines are made up):")
print(f"  one message every {show(table.time[0], 'time')}, {show(table.size[0] / table.time[0], 'bandwidth')}")
for note in table.notes:
    print(f"  note: {note}")

print(
    f"""
Conclusion: the link works; it moved {in_all} in 10 s. With -D the tool
counts completions over a time and never measures a peak: its 0.00 stands for 'not measured'. A rate cannot be 0 where
bytes arrive, and no average is above its peak, so leave the column out. If the tool counts only the middle of the 10 s,
the true rate is higher than this average, never lower."""
)
