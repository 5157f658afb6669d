"""Where the strings of JSON are.

What belongs here: telling bytes inside of strings from those outside, for whole blocks at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def inside_strings(text: bytes) -> NDArray[np.bool_]:
    """Whether each byte of ``text``, which begins outside of strings, is in one; an opening quote is, a closing one is not."""
    plain = text.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in text else text
    quotes = np.frombuffer(plain, np.uint8) == ord('"')
    inside: NDArray[np.bool_] = np.logical_xor.accumulate(quotes)
    return inside
