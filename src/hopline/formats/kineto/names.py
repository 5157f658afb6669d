"""Names in traces: kinds of events, what collectives are called, types of elements.

What belongs here: the tables, and looking a spelling up in them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hopline.records.trace import CALL, KERNEL, MEMCPY, MEMSET, NONE, NOTE, OP, SYNC

_CATEGORIES = {
    "kernel": KERNEL,
    "gpu_memcpy": MEMCPY, "memcpy": MEMCPY,
    "gpu_memset": MEMSET, "memset": MEMSET,
    "cuda_sync": SYNC, "hip_sync": SYNC,
    "cuda_runtime": CALL, "cuda_driver": CALL, "hip_runtime": CALL, "hip_driver": CALL, "runtime": CALL, "xpu_runtime": CALL,
    "mtia_runtime": CALL, "privateuse1_runtime": CALL, "privateuse1_driver": CALL,
    "cpu_op": OP, "operator": OP,
    "user_annotation": NOTE,
}  # fmt: skip
"""Category in small letters -> kind (Kineto's ActivityType.cpp, and the spellings of 2020); others are counted only."""
_OPERATIONS = (
    ("allreduce", "all_reduce"), ("allgather", "all_gather"), ("reducescatter", "reduce_scatter"), ("alltoall", "alltoall"),
    ("broadcast", "broadcast"), ("bcast", "broadcast"), ("barrier", "barrier"), ("monitoredbarrier", "barrier"),
    ("reduce", "reduce"), ("gather", "gather"), ("scatter", "scatter"), ("sendrecv", "sendrecv"), ("send", "send"),
    ("isend", "send"), ("recv", "recv"), ("irecv", "recv"),
)  # fmt: skip
"""How a name begins, without prefix, underscores and capitals -> operation; the first that fits."""
_HOST = re.compile(
    r"(?:nccl|rccl|xccl|hccl|gloo|mpi|ucc):|(?:c10d|_c10d_functional|c10d_functional)::|record_param_comms$"
)
_BETWEEN = re.compile(r"\d{1,9}\s*(?:->|<-)\s*(\d{1,9})\s*$")
"""The other rank in ``nccl:send 0->1`` and ``nccl:recv 0<-1``."""
_WIDTHS = {
    16: "complexdouble complex128 c10::complex<double>",
    8: "double float64 long longint int64 uint64 unsignedlong complexfloat complex64 c10::complex<float>",
    4: "float float32 int int32 uint32 unsignedint qint32 complexhalf",
    2: "half float16 bfloat16 short shortint int16 uint16 unsignedshort c10::half c10::bfloat16",
    1: "byte char signedchar unsignedchar int8 uint8 bool qint8 quint8 float8_e4m3fn float8_e5m2 float8_e4m3fnuz"
    " float8_e5m2fnuz float8_e8m0fnu c10::float8_e4m3fn c10::float8_e5m2 c10::float8_e4m3fnuz c10::float8_e5m2fnuz",
}
"""Bytes of an element -> names of its type, in PyTorch and in C++, in small letters without blanks."""
_BYTES = {name: width for width, names in _WIDTHS.items() for name in names.split()}

_HINTS = ("ccl", "cross_device_reduce", "_shot", "multimem_all", "allreduce_fusion")
"""One of these is in the name, in small letters, of every communication kernel."""
_NCCL = re.compile(r"\b(?:nccl|rccl|hccl)\w*?Kernel_?(?P<words>\w*)")
_OTHER = re.compile(
    r"mscclkernel|mscclpp|\boneccl|\bccl_|cross_device_reduce|(?:one|two)_shot_all_?reduce|multimem_all|allreduce_fusion"
)
_SAID_BY_OTHERS = (
    ("cross_device_reduce", "all_reduce"), ("all_?reduce", "all_reduce"), ("all_?gather", "all_gather"),
    ("reduce_?scatter", "reduce_scatter"), ("all_?to_?all", "alltoall"), ("broadcast", "broadcast"),
)  # fmt: skip
_ALGORITHMS = frozenset({"RING", "TREE", "NVLS", "NVLSTREE", "COLLNET", "COLLNETDIRECT", "COLLNETCHAIN", "PAT"})
_PROTOCOLS = frozenset({"SIMPLE", "LL", "LL128"})


def kind_of(category: object) -> int:
    """Number of the kind of events of a category as it is written; NONE for those that are not kept."""
    return _CATEGORIES.get(category.lower(), NONE) if isinstance(category, str) else NONE


def operation(name: str) -> str:
    """The collective that a spelling means (``_allgather_base``, ``nccl:all_to_all``, ``c10d::allreduce_``), or ""."""
    plain = re.sub(r"[_\W]", "", name.rpartition(":")[2]).lower()
    return next((op for start, op in _OPERATIONS if plain.startswith(start)), "")


def peer_in(name: str) -> int | None:
    """The other rank in the name of a span of a send or receive."""
    match = _BETWEEN.search(name)
    return int(match[1]) if match else None


def is_host_call(name: str) -> bool:
    """Whether a span on the host is a call of a collective."""
    return _HOST.match(name) is not None


def bytes_of(dtype: str) -> int | None:
    """Bytes of an element; None for a type that is not known."""
    return _BYTES.get("".join(dtype.lower().split()).removeprefix("torch.").removeprefix("at::"))


@lru_cache(maxsize=1 << 16)
def communication(kernel: str) -> tuple[str, str, str] | None:
    """Operation, algorithm and protocol in a communication kernel's name, "" where it has none; None for other kernels.

    What else is in the name (``Sum``, ``int8_t``) is that of the variant that NCCL compiles once for many, not of the call.
    """
    small = kernel.lower()
    for hint in _HINTS:
        if hint in small:
            break
    else:
        return None
    match = _NCCL.search(kernel)
    if match is None:
        if not _OTHER.search(small):
            return None
        return next((op for said, op in _SAID_BY_OTHERS if re.search(said, small)), ""), "", ""
    first, *more = match["words"].split("_")
    upper = [word.upper() for word in more]
    algorithm = next((word for word in upper if word in _ALGORITHMS), "")
    return operation(first), algorithm, next((word for word in upper if word in _PROTOCOLS), "")
