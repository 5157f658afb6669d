"""The numbers of NCCL's tuner, by version: the one home of all that stands in its src/graph/tuning.cc.

What belongs here: constants, and which rule holds in which version. What is made of them is ``tables`` and ``choice``. Read at
the tags named in VERSIONS (github.com/NVIDIA/nccl); v2.30.7-1 has the file of commit 5067397. Latencies in µs and bandwidths
in GB/s as there, since their rounding is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from hopline.errors import InputError
from hopline.records.nccl_names import ALGORITHMS, PROTOCOLS

Three = tuple[float, float, float]
"""One number a protocol (LL, LL128, Simple), or one each for 1, 2 and more nodes."""
ARCHITECTURES = ("volta", "ampere", "hopper", "blackwell")
CAPABILITY = MappingProxyType({"volta": 70, "ampere": 80, "hopper": 90, "blackwell": 100})
"""Least compute capability x 10."""
Wires = Literal["nvlink", "pci", "net"]
_NONE: Three = (0.0, 0.0, 0.0)


def _rows(*rows: Three) -> Mapping[str, Three]:
    return MappingProxyType(dict(zip(ALGORITHMS, rows, strict=True)))


def _simple(time: float) -> Three:
    return (0.0, 0.0, time)


BASE = _rows((6.8, 14.0, 8.4), (6.6, 14.0, 8.4), _NONE, _NONE, _NONE, _NONE, (8.0, 8.0, 8.0))
"""Algorithm -> µs that a call costs before the first hop."""
_NET = _rows(
    (5.0, 8.5, 14.0), (2.7, 4.0, 14.0), _simple(31.0), _simple(30.0), _simple(18.0), _simple(20.9), _simple(14.0)
)
_INSIDE: Mapping[Wires, Mapping[str, Three]] = {
    "nvlink": _rows(
        (0.6, 1.25, 4.0), (0.6, 1.9, 3.4), _simple(3.7), _simple(2.8), _simple(25.0), _simple(25.0), _simple(4.0)
    ),
    "pci": _rows((1.0, 1.9, 4.0), (1.0, 2.5, 5.7), _simple(3.7), _simple(2.8), _NONE, _NONE, _simple(4.0)),
}
CORRECTION: Mapping[str, tuple[float, ...]] = MappingProxyType({
    "LL": (1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1),
    "LL128": (1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1),
    "Simple": (.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9),
})  # fmt: skip
"""Protocol -> part of a tree's bandwidth that is reached from 64 B x 2^i on."""
TREE_CORRECTED = 23
"""Entries of CORRECTION that a tree uses; NVLSTree uses all."""
SMALLEST_CORRECTED = 64
PLATEAU = MappingProxyType({"volta": 1.9, "ampere": 1.4, "hopper": 1.4, "blackwell": 1.4})
"""Simple rings over several nodes pay their latency this many times, from PLATEAU_BYTES on."""
PLATEAU_BYTES = 64
"""For each channel and rank."""
RING_LL, RING_LL128 = 0.5, 0.92
TREE, TREE_LL, TREE_PLAIN, PAT = 0.92, 3.8, 0.85, 0.75
"""Parts of a graph's bandwidth (TREE_LL divides): TREE_PLAIN where the whole tree of a node ends at one GPU."""
TREE_LL128 = (7.0 / 9.0, 120.0 / 128.0)
"""On one node, on several."""
NVLS_EFFICIENCY = MappingProxyType({"volta": 0.0, "ampere": 0.0, "hopper": 0.85, "blackwell": 0.74})
COLLNET_HOPPER = 0.85
ARITY = 0.4
"""µs that each further GPU of a node costs CollNetDirect."""
PAT_LOG, PAT_LINEAR = 3.5, 2.8
NET_OVERHEAD = MappingProxyType({"intel": 1.0, "amd": 2.0, "mixed": 1.0, "other": 1.0})
"""CPU vendor -> µs of posting to the network; three times for Simple."""

STEPS, BUFFER = 8, 4 << 20
"""Slots of a channel's buffer, and its bytes by default (NCCL_BUFFSIZE), for Simple."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What differs between versions.

    Attributes
    ----------
    tag
        First release that has them.
    hop
        Wires -> algorithm -> µs of a hop.
    ll_most
        GB/s of a ring or tree by LL, by row (architecture on one node; CPU on several).
    ring_ll128, tree_ll128, tree_most, nvls_tree_most
        GB/s of a channel at most, by architecture.
    nvls
        Which rule gives NVLS and NVLSTree their bandwidth: ``plain`` (2.24), ``parts`` (2.27), ``efficiency`` (2.28).
    nvls_tree_corrected
        Whether NVLSTree is corrected as trees are (Blackwell with x86).
    most_channels
        Of a communicator (MAXCHANNELS of src/include/device.h).
    """

    tag: str
    hop: Mapping[Wires, Mapping[str, Three]]
    ll_most: Mapping[str, Three]
    ring_ll128: Mapping[str, Three]
    tree_ll128: Mapping[str, Three]
    tree_most: Mapping[str, Three]
    nvls_tree_most: Mapping[str, Three]
    nvls: Literal["plain", "parts", "efficiency"]
    nvls_tree_corrected: bool
    most_channels: int


def _each(*rows: Three) -> Mapping[str, Three]:
    return MappingProxyType(dict(zip(ARCHITECTURES, rows, strict=True)))


def _with(rows: Mapping[str, Three], blackwell: Three) -> Mapping[str, Three]:
    return MappingProxyType({**rows, "blackwell": blackwell})


def _network(nvls_tree: float) -> Mapping[Wires, Mapping[str, Three]]:
    return MappingProxyType({**_INSIDE, "net": MappingProxyType({**_NET, "NVLSTree": _simple(nvls_tree)})})


_HOPPER_LL, _HOPPER_128 = (141.0, 45.0, 35.0), (36.7, 36.7, 36.7)
_HOPPER_TREE_128, _HOPPER_TREE = (36.7, 36.7, 29.0), (38.7, 41.4, 36.0)
_2_24 = Numbers(
    "2.24.3", _network(14.0),
    ll_most=_each((39.0, 39.0, 20.4), (87.7, 22.5, 19.0), _HOPPER_LL, _HOPPER_LL),
    ring_ll128=_each((20.0, 20.0, 20.0), (20.0, 20.0, 20.0), _HOPPER_128, _HOPPER_128),
    tree_ll128=_each((20.0, 20.0, 20.0), (20.0, 20.0, 20.0), _HOPPER_TREE_128, _HOPPER_TREE_128),
    tree_most=_each((26.5, 18.5, 10.0), (24.0, 23.6, 17.8), _HOPPER_TREE, _HOPPER_TREE),
    nvls_tree_most=_each((26.5, 18.5, 10.0), (24.0, 23.6, 17.8), (0.0, 57.7, 45.5), (0.0, 96.0, 43.1)),
    nvls="plain", nvls_tree_corrected=False, most_channels=32,
)  # fmt: skip
_2_25 = replace(
    _2_24, tag="2.25.1", ll_most=_with(_2_24.ll_most, (282.0, 90.0, 70.0)),
    ring_ll128=_with(_2_24.ring_ll128, (73.4, 73.4, 73.4)), tree_ll128=_with(_2_24.tree_ll128, (73.4, 73.4, 58.0)),
    tree_most=_with(_2_24.tree_most, (77.4, 82.8, 72.0)), most_channels=64,
)  # fmt: skip
_2_27 = replace(_2_25, tag="2.27.3", nvls="parts")
_2_28 = replace(
    _2_27, tag="2.28.3", nvls="efficiency", tree_ll128=_with(_2_27.tree_ll128, (55.6, 31.67, 20.0)),
    tree_most=_with(_2_27.tree_most, (70.0, 42.8, 24.0)),
)  # fmt: skip
_2_28_7 = replace(_2_28, tag="2.28.7", ring_ll128=_with(_2_28.ring_ll128, (73.4, 34.6, 73.4)))
_2_28_9 = replace(
    _2_28_7, tag="2.28.9", hop=_network(20.9), nvls_tree_most=_with(_2_28.nvls_tree_most, (0.0, 96.0, 43.8))
)
_2_29 = replace(_2_28_9, tag="2.29.2", nvls_tree_corrected=True, ring_ll128=_with(_2_28.ring_ll128, (34.5, 34.6, 34.5)))
_2_29_7 = replace(_2_29, tag="2.29.7", ring_ll128=_with(_2_29.ring_ll128, (40.0, 40.0, 40.0)))
_2_30 = replace(_2_29_7, tag="2.30.3", nvls_tree_most=_with(_2_29.nvls_tree_most, (0.0, 96.0, 80.0)))
VERSIONS = (_2_24, _2_25, _2_27, _2_28, _2_28_7, _2_28_9, _2_29, _2_29_7, _2_30)
"""In order; read up to 2.30.7."""
LATEST = "2.30.7"
_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:[-+].*)?")


def parts(version: str) -> tuple[int, int, int]:
    """``2.29.7+cuda12.9`` -> (2, 29, 7); without its last part the last release of that name. Raises InputError."""
    found = _VERSION.fullmatch(version.strip())
    if found is None:
        raise InputError(f"{version!r} is no version of NCCL: expected one like {LATEST}")
    return int(found[1]), int(found[2]), 999 if found[3] is None else int(found[3])


def numbers(version: str) -> Numbers:
    """The numbers that ``version`` has; those of the latest known for a later one.

    Raises InputError for versions before the first that is known.
    """
    wanted = parts(version)
    found = [one for one in VERSIONS if parts(one.tag) <= wanted]
    if not found:
        raise InputError(
            f"the tuner of NCCL {version} is not known here: expected {VERSIONS[0].tag} to {LATEST} (--nccl VERSION)"
        )
    return found[-1]


def is_newer(version: str) -> bool:
    """Whether a version came after all whose numbers were read."""
    return parts(version)[:2] > parts(LATEST)[:2]


def place(protocol: str) -> int:
    """Of a protocol in Three."""
    return PROTOCOLS.index(protocol)
