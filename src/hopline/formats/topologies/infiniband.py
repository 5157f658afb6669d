"""What a lane of each InfiniBand generation carries.

What belongs here: the table, and widths times lanes.
"""

from __future__ import annotations

import re
from fractions import Fraction

LANES: dict[str, Fraction] = {
    "SDR": Fraction(5, 2) * Fraction(8, 10), "DDR": 5 * Fraction(8, 10), "QDR": 10 * Fraction(8, 10),
    "FDR10": Fraction(103125, 10000) * Fraction(64, 66), "FDR": Fraction(140625, 10000) * Fraction(64, 66),
    "EDR": Fraction(2578125, 100000) * Fraction(64, 66), "HDR": Fraction(50), "NDR": Fraction(100), "XDR": Fraction(200),
}  # fmt: skip
"""Gb/s of one lane, one way, after its line code: 8b/10b up to QDR, 64b/66b from FDR10 on (InfiniBand Architecture
Specification, volume 2). From HDR on, where forward error correction is always there, the rate that the generation is named
by (InfiniBand Trade Association, roadmap: 4x HDR 200, NDR 400, XDR 800 Gb/s)."""
_LABEL = re.compile(r"(\d{1,3})x(\w+)", re.ASCII)


def rate(label: str) -> float | None:
    """Byte/s one way of a link like ``4xHDR``; None: it is none."""
    found = _LABEL.fullmatch(label)
    if found is None or found[2] not in LANES or not int(found[1]):
        return None
    return float(int(found[1]) * LANES[found[2]] * 10**9 / 8)
