"""What a lane or link of a named generation carries: byte/s one way, before packet headers.

What belongs here: figures that topology files only hint at, each with its source.
"""

from __future__ import annotations

import re

_PCIE: dict[float, tuple[str, float]] = {
    2.5: ("8b/10b", 8 / 10), 5.0: ("8b/10b", 8 / 10), 8.0: ("128b/130b", 128 / 130), 16.0: ("128b/130b", 128 / 130),
    32.0: ("128b/130b", 128 / 130), 64.0: ("242B/256B flits", 242 / 256),
}  # fmt: skip
"""GT/s of a lane -> its encoding, and the share of bits that are payload (PCI Express Base Specification 1.0 to 6.0)."""
_SPEED = re.compile(r"\s*(\d{1,3}(?:\.\d{1,3})?)\s*GT/s(?:\s+PCIe)?\s*")
WIDEST = 64
"""Lanes: more is no link."""

NVLINKS: dict[int, tuple[str, float]] = {
    60: ("NVLink1", 20e9), 70: ("NVLink2", 25e9), 80: ("NVLink3", 25e9), 86: ("NVLink3", 14.0625e9),
    90: ("NVLink4", 25e9), 100: ("NVLink5", 50e9), 103: ("NVLink5", 50e9),
}  # fmt: skip
"""Compute capability x 10 -> generation, and byte/s of one link one way. NVIDIA's architecture whitepapers give both ways of
a GPU: P100 160 GB/s over 4 links, V100 300 over 6, A100 600 over 12, GA102 112.5 over 4, H100 900 over 18, B200 1800."""
MOST_NVLINKS = 18
"""Of one GPU (H100, B200)."""

XGMI: dict[str, float] = {"906": 46e9, "908": 46e9, "910": 50e9, "90a": 50e9, "942": 64e9, "950": 76.8e9}
"""RCCL's ``gcn`` (910 is gfx90a) -> byte/s of one xGMI link one way. AMD gives both ways of a link: MI50 and MI100 92 GB/s,
MI200 100, MI300X 128, MI350X 153.6 (CDNA whitepapers, data sheets)."""


def pcie(speed: str, width: int) -> tuple[str, float | None, str]:
    """Label, byte/s one way (None: not said) and encoding of a link like ``16.0 GT/s PCIe`` with so many lanes."""
    found = _SPEED.fullmatch(speed)
    if found is None or not width:
        return "PCIe", None, ""
    rate = float(found[1])
    label = f"PCIe {rate:g} GT/s x{width}"
    if rate not in _PCIE:
        return label, None, ""
    encoding, share = _PCIE[rate]
    return label, rate * 1e9 * width / 8 * share, encoding


def nvlink(capability: int) -> tuple[str, float | None]:
    """Label, and byte/s of one link one way (None: not known) by compute capability x 10."""
    return NVLINKS.get(capability, ("NVLink", None))


def xgmi(gcn: str) -> tuple[str, float | None]:
    """Label, and byte/s of one link one way (None: not known) by ``gcn`` (``910``, ``gfx942:sramecc+``)."""
    return "xGMI", XGMI.get(gcn.partition(":")[0].strip().lower().removeprefix("gfx"))
