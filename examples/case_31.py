"""37 of 50 GB/s over two bonded ports, and larger slices make it 23: python examples/case_31.py

Slices of 64 KiB, 256 requests in flight, 2 queue pairs: 37 GB/s; slices of 1 MiB: 23 GB/s
(github.com/kvcache-ai/Mooncake/issues/1668).
"""

from hopline.machine.slots import Slots
from hopline.model.queue import fill, steps
from hopline.model.slots import limits
from hopline.quantity import bandwidth, binary, show, size

PORT, PORTS = bandwidth("25GB/s"), 2
SMALL, LARGE = size("64KiB"), size("1MiB")
REACHED, REACHED_LARGE = bandwidth("37GB/s"), bandwidth("23GB/s")
IN_FLIGHT, BATCH = 256, size("64MiB")

post = SMALL / REACHED
each = show(post, "time", 3)
enough = PORTS * PORT * post

print("Question: why do larger slices make it slower, and which slice fills two ports of 25 GB/s?\n")
print(f"64 KiB at 37 GB/s               {REACHED / SMALL / 1e3:.0f} thousand requests a second, one every {each}")
print(
    f"were posting all that binds     1 MiB slices could reach {show(LARGE / post, 'bandwidth', 3)}, and they reach 23"
)
print(f"posting keeps up with 50 GB/s   from slices of {binary(round(enough))} on")

print("\nWhat binds, if a request is posted every 1.77 µs and a batch goes to one queue pair or to both:")
print("  slice      ports   posting     wire        so it is")
for slice_, ports in ((SMALL, 2), (SMALL, 1), (LARGE, 1), (LARGE, 2), (size("128KiB"), 2)):
    asked = Slots(size=slice_, issue=post, count=IN_FLIGHT, bandwidth=ports * PORT)
    found = {limit.name: limit.rate * slice_ for limit in limits(asked)}
    least = min(found, key=lambda name: found[name])
    posting, wire = show(found["issue"], "bandwidth", 3), show(ports * PORT, "bandwidth", 3)
    print(
        f"  {show(slice_, 'size'):8} {ports:5}    {posting:11} {wire:11} {show(found[least], 'bandwidth', 3)}, by {least}"
    )

print("\nThe same as queues, for a batch of 64 MiB posted at once:")
for what, parts in (("one queue pair, 1 MiB slices", (1.0, 0.0)), ("both in turn", (0.5, 0.5))):
    ports = [fill(steps([(0.0, 0.0)]), steps([(0.0, PORT)]), 1.0, None, part * BATCH) for part in parts]
    empty = [show(float(port.emptied or 0), "time", 3) for port in ports]
    print(f"  {what:30} ports empty after {empty[0]:>8} and {empty[1]:>8}")

print("\nWhich port a queue pair takes is a hash; the chance that all of them take the same one:")
print("  " + ", ".join(f"{pairs} pairs {100 * PORTS * PORTS**-pairs:.3g} %" for pairs in (2, 4, 8)))

print(
    f"""
Conclusion: two limits. Small slices are bound by posting, {each} each. Large ones are handed to one queue pair in
one call, so one port carries all: 25 GB/s at most, 23 measured. Slices of {binary(round(enough))} or more (128 KiB) over both
queue pairs in turn would be bound by the wire. What these models do not say: the 8 % between 23 and 25 (headers, and
what the port loses), how the bond hashes, and whether posting slows down with two queue pairs. To know, measure one
queue pair with slices of 128 KiB, and look at the counters of both ports."""
)
