"""TACCL's topology JSON: GPUs a node, and α and β of links within a node and between nodes.

What belongs here: it says what links cost and not which GPUs have one. With a single class of links a node is a switch that
joins all of its GPUs, as TACCL's DGX-2 is; with several classes which pair has which is in TACCL's code, and no machine is
made. α is in µs and β in µs per MB of 10^6 bytes; each of the two cables of a way that carry α carries half of it.
"""

from __future__ import annotations

import json
from typing import Any

from hopline.errors import FormatError
from hopline.formats.lines import document, excerpt
from hopline.formats.source import shown
from hopline.formats.topologies.sketch import Sketch, cleaned, machine_name
from hopline.machine.wiring import Fact, Wiring
from hopline.quantity import convert

_LONGEST = 1 << 24
_MOST_GPUS = 1 << 12
_MB = 1e6


def read(path: str) -> Wiring:
    """What the file at ``path`` says. Raises FormatError."""
    values = _Values(path)
    gpus, nics = values.whole("gpus_per_node", 1), values.whole("nics_per_node", 0, 0)
    alpha, betas = values.number("alpha"), values.numbers("node_betas_list")
    far = nics > 0 and values.has("remote_alpha") and values.has("remote_beta")
    name = cleaned(values.name()) or machine_name(path)
    facts: dict[str, Fact] = {
        "name": name,
        "gpus_per_node": gpus,
        "nics_per_node": nics,
        "alpha_s": convert(alpha, "us"),
        "node_betas_us_per_MB": betas,
        "node_beta_s_per_byte": tuple(convert(beta, "us") / _MB for beta in betas),
        "node_GBps": tuple(_rate(beta) / 1e9 for beta in betas),
    }
    if far:
        facts |= _remote(values)
    sketch = Sketch()
    if len(betas) > 1:
        told = ", ".join(f"{beta:g}" for beta in betas[:6])
        refusal = f"it has {len(betas)} classes of links (β {told} µs/MB) and does not say which GPUs have which"
        return sketch.wiring("taccl", name, facts, refusal)
    _draw(sketch, gpus, alpha, betas[0], nodes=2 if far else 1)
    if far:
        _draw_between(sketch, gpus, nics, values.number("remote_alpha"), values.number("remote_beta", above=True))
    else:
        sketch.remark("it says nothing of links between nodes: one node")
    return sketch.wiring("taccl", name, facts)


def _remote(values: _Values) -> dict[str, Fact]:
    beta = values.number("remote_beta", above=True)
    found: dict[str, Fact] = {
        "remote_alpha_s": convert(values.number("remote_alpha"), "us"),
        "remote_beta_us_per_MB": beta,
        "remote_beta_s_per_byte": convert(beta, "us") / _MB,
        "remote_GBps": _rate(beta) / 1e9,
    }
    return found | ({"remote_invbw": values.number("remote_invbw")} if values.has("remote_invbw") else {})


def _rate(beta: float) -> float:
    """Byte/s of ``beta`` µs per MB."""
    return _MB / convert(beta, "us")


def _draw(sketch: Sketch, gpus: int, alpha: float, beta: float, nodes: int) -> None:
    sketch.remark("a node's GPUs are joined by one switch: the file has one class of links and does not list them")
    for node in range(nodes):
        switch = sketch.node(f"n{node}.switch", "switch")
        for gpu in range(gpus):
            name = sketch.node(f"n{node}.gpu{gpu}", "gpu", node)
            sketch.cable((name, switch), "node link", 1, _rate(beta), convert(alpha, "us") / 2)


def _draw_between(sketch: Sketch, gpus: int, nics: int, alpha: float, beta: float) -> None:
    """Two nodes over a network: GPUs in order share NICs, gpus / nics each."""
    network = sketch.node("network", "switch")
    for node in range(2):
        cards = [sketch.node(f"n{node}.nic{nic}", "switch") for nic in range(nics)]
        for card in cards:
            sketch.cable((card, network), "remote link", 1, _rate(beta), convert(alpha, "us") / 2)
        for gpu in range(gpus):
            sketch.cable((f"n{node}.gpu{gpu}", cards[gpu * nics // gpus]), "to NIC", 1, _rate(beta), 0.0)
    if gpus % nics or nics > gpus:
        sketch.remark(f"{gpus} GPUs do not share {nics} NICs evenly: taken in order")


class _Values:
    """The values of the file, checked as they are taken."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.values: dict[str, Any] = json.loads(document(path, _LONGEST).decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{shown(path)} is no whole JSON document: {excerpt(str(error).encode())}") from None
        if not isinstance(self.values, dict):
            raise FormatError(f"{shown(path)} holds no JSON object: expected a TACCL topology")

    def has(self, key: str) -> bool:
        """Whether there is a value; null is none."""
        return self.values.get(key) is not None

    def name(self) -> str:
        """What the file calls its machine."""
        value = self.values.get("name", "")
        return value if isinstance(value, str) else ""

    def number(self, key: str, above: bool = False) -> float:
        """A finite number of at least 0, or ``above`` it."""
        return self._checked(key, self.values.get(key), above)

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of at least one number, all above 0."""
        value = self.values.get(key)
        if not isinstance(value, list) or not value or len(value) > _MOST_GPUS:
            raise self._wrong(key, value, "a list of numbers")
        return tuple(self._checked(key, each, above=True) for each in value)

    def whole(self, key: str, least: int, default: int | None = None) -> int:
        """A whole number of at least ``least``."""
        value = default if not self.has(key) and default is not None else self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST_GPUS:
            raise self._wrong(key, value, f"a whole number, {least} to {_MOST_GPUS}")
        return value

    def _checked(self, key: str, value: object, above: bool) -> float:
        low = 1e-9 if above else 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= 1e15:
            raise self._wrong(key, value, "a number above 0" if above else "a number, 0 or more")
        return value

    def _wrong(self, key: str, value: object, expected: str) -> FormatError:
        told = "no value" if value is None else excerpt(json.dumps(value)[:400].encode(), 40)
        return FormatError(f"{shown(self.path)} has {told} for {key}: expected {expected}")
