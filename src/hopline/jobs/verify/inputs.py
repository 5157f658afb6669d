"""Taking the inputs of a vector case apart: numbers, lists and hops, each refused with its key when it is not one.

What belongs here: types and absence. Whether a number is sensible (a bandwidth of zero) is the model's to say. A null
is an absent input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hopline.curve import Hop
from hopline.errors import InputError

Inputs = Mapping[str, Any]


def number(inputs: Inputs, key: str, default: float | None = None) -> float:
    """The finite number at ``key``, whole ones as int; ``default`` where it is absent. Raises InputError."""
    value = inputs.get(key)
    if value is None:
        if default is None:
            raise InputError(f"the inputs lack {key!r}")
        return default
    return _finite(key, value)


def optional(inputs: Inputs, key: str) -> float | None:
    """The finite number at ``key``, or None where it is absent."""
    return None if inputs.get(key) is None else number(inputs, key)


def whole(inputs: Inputs, key: str, default: int | None = None) -> int:
    """The whole number at ``key``; 8.0 is one. Raises InputError."""
    value = number(inputs, key, default)
    if value != math.floor(value):
        raise InputError(f"{key!r} is {value!r}: expected a whole number")
    return int(value)


def numbers(inputs: Inputs, key: str) -> list[float]:
    """The list of finite numbers at ``key``. Raises InputError."""
    values = _list(inputs, key)
    return [_finite(f"{key}[{index}]", value) for index, value in enumerate(values)]


def text(inputs: Inputs, key: str, default: str | None = None) -> str:
    """The text at ``key``. Raises InputError."""
    value = inputs.get(key, default)
    value = default if value is None else value
    if not isinstance(value, str):
        raise InputError(f"{key!r} is {_shown(value)}: expected text" if key in inputs else f"the inputs lack {key!r}")
    return value


def hops(inputs: Inputs, latency: str = "alpha_s") -> list[Hop]:
    """The path at ``hops``; a hop's latency may be absent and is 0 then. Raises InputError."""
    return [_hop(f"hops[{index}]", hop, latency) for index, hop in enumerate(_list(inputs, "hops"))]


def _hop(name: str, hop: object, latency: str) -> Hop:
    if not isinstance(hop, dict):
        raise InputError(f"{name!r} is {_shown(hop)}: expected an object with 'beta_bytes_per_s'")
    try:
        return number(hop, latency, 0.0), number(hop, "beta_bytes_per_s")
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _list(inputs: Inputs, key: str) -> list[object]:
    value = inputs.get(key)
    if value is None:
        raise InputError(f"the inputs lack {key!r}")
    if not isinstance(value, list):
        raise InputError(f"{key!r} is {_shown(value)}: expected a list")
    return value


def _finite(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name!r} is {_shown(value)}: expected a number")
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        raise InputError(f"{name!r} is out of range: expected a finite number")
    return value


def _shown(value: object) -> str:
    full = repr(value)
    return full if len(full) <= 40 else f"{full[:39]}…"
