"""NCCL_ALGO and NCCL_PROTO: which algorithms and protocols a user leaves on.

What belongs here: their syntax, with NCCL's own refusals. ``ring,collnetdirect;allreduce:tree`` leaves rings and CollNetDirect
to all functions and then only trees to all-reduce; ``^LL128`` leaves all but LL128. Per-function lists came with 2.24.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopline.errors import InputError, UnknownNameError
from hopline.model.nccl.job import Job
from hopline.model.nccl.rates import bandwidth, has
from hopline.model.nccl.tables import Key, Table, usable
from hopline.records.nccl_log import Cell
from hopline.records.nccl_names import ALGORITHMS, FUNCTIONS, PROTOCOLS

Left = Mapping[str, frozenset[str]]
"""Function -> what is left on."""


@dataclass(frozen=True, slots=True)
class Forced:
    """What the environment says; "" where it says nothing."""

    algorithms: str = ""
    protocols: str = ""

    def __bool__(self) -> bool:
        return bool(self.algorithms or self.protocols)

    def __str__(self) -> str:
        told = (("NCCL_ALGO", self.algorithms), ("NCCL_PROTO", self.protocols))
        return " ".join(f"{name}={text}" for name, text in told if text)


def parse(text: str, elements: Sequence[str], variable: str) -> Left:
    """What ``text`` leaves on for each function; functions without a list of theirs keep all.

    Raises UnknownNameError and InputError where NCCL refuses to start.
    """
    left = dict.fromkeys(FUNCTIONS, frozenset(elements))
    for number, entry in enumerate(part for part in text.split(";") if part):
        prefix, colon, names = entry.partition(":")
        if not colon:
            prefix, names = "", entry
            if number:
                raise InputError(
                    f"{variable}={text!r}: {entry!r} has no function before it; only the first list may be for all "
                    "(expected one like allreduce:tree)"
                )
        for function in _functions(prefix, bool(colon)):
            left[function] = _named(names, elements, variable)
    return left


def _functions(prefix: str, told: bool) -> Sequence[str]:
    if not told:
        return FUNCTIONS
    found = [name for name in FUNCTIONS if name.lower() == prefix.lower()]
    if not found:
        raise UnknownNameError("function of NCCL", prefix, FUNCTIONS)
    return found


def _named(text: str, elements: Sequence[str], variable: str) -> frozenset[str]:
    without = text.startswith("^")
    known = {name.lower(): name for name in elements}
    names = [name for name in text[without:].split(",") if name]
    wrong = next((name for name in names if name.lower() not in known), None)
    if wrong is not None:
        raise UnknownNameError(f"name in {variable}", wrong, elements)
    chosen = frozenset(known[name.lower()] for name in names)
    return frozenset(elements) - chosen if without else chosen


def forced(found: Table, job: Job, by: Forced) -> Table:
    """A table with what ``by`` leaves on; LL128 that is asked for by name is on even where NCCL leaves it off."""
    algorithms = parse(by.algorithms, ALGORITHMS, "NCCL_ALGO")
    protocols = parse(by.protocols, PROTOCOLS, "NCCL_PROTO")
    changed = dict(found)
    for key, cell in found.items():
        function, algorithm, protocol = key
        on = algorithm in algorithms[function] and protocol in protocols[function]
        if not on:
            changed[key] = Cell(cell.latency, 0.0)
        elif by.protocols and protocol == "LL128" and _only_left_off(key, job):
            changed[key] = Cell(cell.latency, bandwidth(*key, job) * 1e9)
    return changed


def _only_left_off(key: Key, job: Job) -> bool:
    """Whether a way by LL128 is off only because its paths are far."""
    function, algorithm, protocol = key
    there = algorithm in job.graphs and has(function, algorithm, protocol, job)
    return there and usable(function, algorithm, "Simple", job) and not usable(function, algorithm, protocol, job)
