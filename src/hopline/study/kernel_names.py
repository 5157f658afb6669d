"""Short names of kernels: ``vectorized_elementwise_kernel<FillFunctor>`` for what a trace spells in three hundred letters.

What belongs here: what of a C++ signature people know a kernel by, and what of an operator's name says which it is. Kernels
that only differ in types have one short name.
"""

from __future__ import annotations

import re
from functools import lru_cache

TENSILE = re.compile(r"Cijk_\w+?_MT\d+x\d+x\d+")
"""rocBLAS and hipBLASLt: the matrices, the types and the tile; what follows are settings."""
LITERAL = re.compile(r"L[a-z]\d+E")
IDENTIFIER = re.compile(r"\d+")
PLAIN = {"Kernel", "Kernel2", "kernel", "kentry", "device_kernel"}
"""Functions that say nothing: what they are made for does."""
BODIES = (
    re.compile(r"\b(?!gpu_)(\w+?)(?:_kernel|_cuda|_impl)*(?:<[^()]*>)?\(at::TensorIterator"),
    re.compile(r"(\w*[Ff]unctor_?\w*)"),
    re.compile(r"(\w+Ops?)\b"),
)
"""What a kernel over elements does, from the most telling; of several functors the innermost."""
WRAPPERS = {"BinaryFunctor", "UnaryFunctor", "AUnaryFunctor", "BUnaryFunctor", "ReduceOp", "func_wrapper_t"}
OPERATOR = re.compile(r"^(?:autograd::engine::evaluate_function: )?(?:torch::autograd::(?:CppNode<(.+)>$)?)?")
"""What the backward pass of PyTorch puts before (and around) the name of what it runs."""
OVER_ELEMENTS = re.compile(r"elementwise|reduce_kernel|multi_tensor_apply|unrolled|scan_kernel")


@lru_cache(maxsize=8192)
def short_name(name: str) -> str:
    """What people call a kernel.

    >>> short_name("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align1>(cutlass_80::Params)")
    'cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align1'
    >>> short_name("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
    'ncclDevKernel_AllGather_RING_LL'
    """
    if name.startswith(("Memcpy", "Memset")):
        return name
    if name.startswith("_Z"):
        return _mangled(name)
    tensile = TENSILE.match(name)
    if tensile:
        return tensile.group()
    function, arguments = _split(name.replace("(anonymous namespace)::", ""))
    base = function.rsplit("::", 1)[-1]
    if base in PLAIN:
        inner = _split(arguments)[0].split(",")[0].strip().rsplit("::", 1)[-1] if arguments else ""
        known = inner and not inner.isdigit() and inner not in {"int", "float", "double", "true", "false"}
        return inner if known else "::".join(function.split("::")[-2:])
    body = _body(arguments) if OVER_ELEMENTS.search(base) else ""
    return f"{base}<{body}>" if body else base or name


@lru_cache(maxsize=8192)
def operator_name(name: str) -> str:
    """An operator without what all of the backward pass have in their names.

    >>> operator_name("autograd::engine::evaluate_function: AddmmBackward0"), operator_name("aten::mm")
    ('AddmmBackward0', 'aten::mm')
    >>> operator_name("autograd::engine::evaluate_function: torch::autograd::CppNode<SplitLookupFunction_Dense_Op>")
    'SplitLookupFunction_Dense_Op'
    """
    return OPERATOR.sub(lambda found: found[1] or "", name, count=1) or name


def _split(signature: str) -> tuple[str, str]:
    """(name of the function, its template arguments) of a C++ signature."""
    depth, first, start = 0, -1, 0
    for at, letter in enumerate(signature):
        if letter == "<":
            first, depth = (at if depth == 0 and first < 0 else first), depth + 1
        elif letter == ">" and depth:
            depth -= 1
            last = at
        elif depth == 0 and letter == "(":
            signature = signature[:at]
            break
        elif depth == 0 and letter == " ":
            start, first = at + 1, -1
    if first < 0:
        return signature[start:].strip(), ""
    return signature[start:first], signature[first + 1 : last if depth == 0 else None]


def _body(arguments: str) -> str:
    """What a kernel over elements does; '' where its arguments do not tell."""
    for pattern in BODIES:
        found = [word for word in pattern.findall(arguments) if word not in WRAPPERS]
        if found:
            return str(found[-1])
    return ""


def _mangled(name: str) -> str:
    """The function of a mangled name, with what it is made for where the function says nothing."""
    words: list[str] = []
    at = 0
    text = LITERAL.sub("", name)
    while len(words) < 3:
        found = IDENTIFIER.search(text, at)
        if not found:
            break
        length = int(found.group())
        words.append(text[found.end() : found.end() + length])
        at = found.end() + length
        if text[at : at + 1] == "I" and words[-1] not in PLAIN:
            break
    return (words[-1] if words else "") or name
