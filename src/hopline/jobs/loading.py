"""Names to functions: tables hold 'module:function' so that small commands start fast; this resolves them on use.

What belongs here: the one resolver.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def resolve(name: str) -> Callable[..., Any]:
    """The object that ``module:function`` names."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found
