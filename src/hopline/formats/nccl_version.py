"""NCCL's version as a number.

What belongs here: turning it into the one that people know.
"""

from __future__ import annotations


def version_of(code: int) -> str:
    """22907 -> 2.29.7; before 2.9 one digit less."""
    if code < 1000:
        return ""
    major, minor, patch = (code // 10000, code // 100 % 100, code % 100) if code >= 10000 else (
        code // 1000, code // 100 % 10, code % 100)  # fmt: skip
    return f"{major}.{minor}.{patch}"
