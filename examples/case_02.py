"""A larger NCCL chunk: seven times as fast, and wrong: python examples/case_02.py

2 x 8 H100 with a NIC of 400 Gb/s each (github.com/NVIDIA/nccl/issues/2408): 13.09 GB/s by default; with
NCCL_P2P_NET_CHUNKSIZE of 1 MiB or more seven times that, with wrong results and Xid 31; up to 512 KiB right, and no faster.
The question: is the chunk a safe knob?
"""

from hopline.errors import InputError
from hopline.model.nccl.buffers import checked_chunk, most_chunk
from hopline.model.nccl.numbers import BUFFER, STEPS
from hopline.quantity import show

NIC, BEFORE, TIMES = 50e9, 13.09e9, 7
TRIED = {"256KiB": 1 << 18, "512KiB": 1 << 19, "1MiB": 1 << 20, "4MiB": 1 << 22}
REPORTED = {
    "256KiB": "right, no faster",
    "512KiB": "right, no faster",
    "1MiB": "wrong results",
    "4MiB": "wrong results",
}


def judged(chunk: int, buffer: int = BUFFER) -> str:
    """Whether a chunk fits."""
    try:
        checked_chunk(chunk, buffer)
    except InputError:
        return "too large"
    return "fits"


print("Question: is a chunk of 1 MiB or more a safe way to be seven times as fast?\n")
print(
    f"A channel's buffer has {STEPS} slots: {show(BUFFER, 'size')} / {STEPS} = {show(most_chunk(), 'size')} a slot.\n"
)
print(f"{'chunk':>8}   {'by the slots':14}{'reported':18}{'with NCCL_BUFFSIZE 8 x as large':s}")
for name, chunk in TRIED.items():
    print(f"{name:>8}   {judged(chunk):14}{REPORTED[name]:18}{judged(chunk, 8 * BUFFER)}")
after = TIMES * BEFORE
print(f"\n{TIMES} x {show(BEFORE, 'bandwidth')} = {show(after, 'bandwidth', 3)}; a NIC has {show(NIC, 'bandwidth', 3)}: "
      f"{'more than the line, so not all was sent' if after > NIC else 'possible'}.")  # fmt: skip
try:
    checked_chunk(1 << 20)
except InputError as error:
    print(f"hopline refuses it: {error}")
print(
    """
Conclusion: no. A chunk must fit in a slot, NCCL_BUFFSIZE / 8, which is 512 KiB by default; the boundary that was reported
(512 KiB right, 1 MiB wrong) is this one. The speed is no gain either: a rate of one GPU beyond its NIC's line says that bytes
were not sent. Who wants larger chunks makes the buffer larger with them. That the maintainers see it so is not told in the
issue."""
)
