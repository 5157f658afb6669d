"""Kernels by name: numba takes longer to import than most schedules take to run, so they are loaded when one is wanted.

What belongs here: the one place outside of ``jobs`` that loads by name, and only ``kernels``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def kernel(name: str) -> Callable[..., Any]:
    """``in_order:run`` of the kernels."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"hopline.sim.kernels.{module}"), function)
    return found
