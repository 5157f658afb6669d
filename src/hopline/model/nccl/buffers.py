"""How large a chunk may be: NCCL's channels have a buffer of STEPS slots, and a chunk must fit in one.

What belongs here: the limit, and its check. Slots as they are used in time are ``model.slots``.
"""

from __future__ import annotations

from hopline.errors import InputError
from hopline.model.nccl.numbers import BUFFER, STEPS
from hopline.quantity import POSITIVE


def most_chunk(buffer: float = BUFFER) -> int:
    """The largest safe NCCL_P2P_NET_CHUNKSIZE or NCCL_CHUNK_SIZE in bytes, of NCCL_BUFFSIZE bytes."""
    return int(POSITIVE.check("NCCL_BUFFSIZE", buffer)) // STEPS


def checked_chunk(chunk: float, buffer: float = BUFFER) -> float:
    """``chunk`` where it fits in a slot. Raises InputError where it would overwrite the next one."""
    POSITIVE.check("chunk", chunk)
    if chunk > most_chunk(buffer):
        slot = most_chunk(buffer)
        raise InputError(
            f"a chunk of {chunk:.0f} bytes does not fit in a slot of {slot} (NCCL_BUFFSIZE {buffer:.0f} / {STEPS}) and would "
            f"overwrite the next: expected at most {slot}, or NCCL_BUFFSIZE of {chunk * STEPS:.0f} with it"
        )
    return chunk
