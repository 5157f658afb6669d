"""``walk``, compiled: paths may have as many rows as the schedule.

What belongs here: the two names.
"""

from hopline.sim.kernels import walk as plain
from hopline.sim.kernels.compiled import kernel

above = kernel(plain.above)
walk = kernel(plain.walk)
