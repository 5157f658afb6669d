"""What the name of a GPU or of its machine says to NCCL's tuner.

What belongs here: from a name as drivers and tables print it ("NVIDIA H100 80GB HBM3", "h100_dgx") to an architecture, to
whether the host is an Arm CPU on the same module, and to whether its GPUs meet in switches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FAMILIES: Mapping[str, str] = {
    r"v100": "volta", r"a(?:100|800|30|40)": "ampere", r"g?h(?:100|200|800|20)": "hopper", r"g?b(?:100|200|300)": "blackwell",
}  # fmt: skip
"""Name of a GPU -> architecture, for GPUs whose tables NCCL has."""
_ARM = r"g[hb]\d{3}"
_IN_PAIRS = r"pairwise(?:_?nvlink)?|nvl|pcie|pci"
"""Cards that at most a bridge joins, two by two."""
_IN_SWITCHES = r"dgx|hgx|sxm\d?|hbm3e?|gb[23]00|nvl(?:36|72)"
_EDGE = r"(?<![a-z0-9]){}(?![a-z0-9])"


def architecture_of(name: str) -> str:
    """One of ARCHITECTURES; "" where the name is of no GPU known here, or of several."""
    found = {made for pattern, made in _FAMILIES.items() if _says(pattern, name)}
    return found.pop() if len(found) == 1 else ""


def has_arm(name: str) -> bool:
    """Whether the GPU sits on a module with an Arm CPU."""
    return _says(_ARM, name)


def meets_in_switches(name: str) -> bool | None:
    """Whether all GPUs of a node meet in NVSwitches; None where the name does not tell."""
    if _says(_IN_PAIRS, name):
        return False
    return True if _says(_IN_SWITCHES, name) else None


def _says(pattern: str, name: str) -> bool:
    return re.search(_EDGE.format(f"(?:{pattern})"), name.lower().replace("_", " ")) is not None
