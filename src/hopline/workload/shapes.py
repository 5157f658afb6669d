"""Shapes of transformer models: what decides how many bytes a job sends.

What belongs here: layers, widths, heads and experts, and the parameters that they make. How a shape is read is ``files``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from hopline.errors import UnknownNameError, WorkloadError

Kind = Literal["mha", "gqa", "mqa", "mla"]
KINDS: Mapping[str, str] = {
    "mha": "every head keeps its own K and V",
    "gqa": "groups of heads share K and V",
    "mqa": "all heads share one K and V",
    "mla": "K and V are kept as one latent vector, beside a rotary key",
}
_MOST = 1 << 40


@dataclass(frozen=True, slots=True)
class Attention:
    """How attention keeps its keys and values.

    Attributes
    ----------
    heads, kv_heads
        Of queries, and of keys and values (``gqa``; ``mha`` has as many as heads, ``mqa`` one, ``mla`` none).
    head, value_head
        Elements of a key (without a rotary part of its own) and of a value; 0: a value's are a key's.
    latent, rope, query_latent
        ``mla``: elements of the latent vector, of the rotary key, and of the queries' latent vector (0: none).
    """

    kind: str
    heads: int = 0
    kv_heads: int = 0
    head: int = 0
    value_head: int = 0
    latent: int = 0
    rope: int = 0
    query_latent: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownNameError("kind of attention", self.kind, get_args(Kind))
        needed = {"mha": ("heads", "head"), "gqa": ("kv_heads", "head"), "mqa": ("head",), "mla": ("latent", "rope")}
        for name in needed[self.kind]:
            _check(f"attention.{name}", getattr(self, name), f"{self.kind} ({KINDS[self.kind]}) needs it")
        if self.kind == "gqa" and self.heads and self.heads % self.kv_heads:
            raise WorkloadError(
                f"attention.kv_heads is {self.kv_heads} beside {self.heads} heads: expected one that divides them"
            )

    @property
    def keys(self) -> int:
        """Heads of which K and V are kept; 0 where one latent vector stands for all."""
        return {"mha": self.heads, "gqa": self.kv_heads, "mqa": 1, "mla": 0}[self.kind]

    @property
    def values(self) -> int:
        """Elements of a value of one head."""
        return self.value_head or self.head

    def parameters(self, hidden: int, bias: bool = False) -> int:
        """Weights of one layer's attention."""
        if self.kind == "mla":
            query = self.heads * (self.head + self.rope)
            asks = self.query_latent * (hidden + query + 1) if self.query_latent else hidden * query
            keeps = hidden * (self.latent + self.rope) + self.latent * (1 + self.heads * (self.head + self.values))
            return asks + keeps + self.heads * self.values * hidden
        made = self.heads * self.head + self.keys * (self.head + self.values)
        return made * (hidden + bias) + self.heads * self.values * hidden


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts in place of the MLP, from layer ``first`` on.

    ``count`` experts of ``width``, of which a token takes ``per_token``, and ``shared`` ones that every token takes.
    """

    count: int
    per_token: int
    width: int
    shared: int = 0
    first: int = 0

    def __post_init__(self) -> None:
        for name in ("count", "per_token", "width"):
            _check(f"experts.{name}", getattr(self, name))
        if self.per_token > self.count:
            raise WorkloadError(f"experts.per_token is {self.per_token} of {self.count}: expected at most as many")


@dataclass(frozen=True, slots=True)
class Model:
    """The shape of a model.

    Attributes
    ----------
    layers, hidden, width, vocab
        Layers, elements of the residual stream, of the MLP between its matrices, and tokens known.
    gated, tied, bias
        Whether the MLP has three matrices, the head is the embedding, and queries, keys and values have biases.
    stated
        Parameters that its makers state; 0: none are.
    sources
        Key -> where its number is from; "": all others.
    """

    name: str
    title: str
    layers: int
    hidden: int
    width: int
    vocab: int
    attention: Attention
    experts: Experts | None = None
    gated: bool = True
    tied: bool = False
    bias: bool = False
    stated: int = 0
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "width", "vocab"):
            _check(name, getattr(self, name))
        _check("attention.heads", self.attention.heads)
        if self.experts and not 0 <= self.experts.first < self.layers:
            raise WorkloadError(f"experts.first is {self.experts.first} of {self.layers} layers: expected one of them")
        if self.stated and abs(self.stated / self.parameters - 1) > _STATED:
            raise WorkloadError(
                f"parameters is {self.stated:,}, and the shape makes {self.parameters:,}: mend one of them, or leave it away"
            )

    @property
    def expert_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.experts.first if self.experts else 0

    @property
    def expert_parameters(self) -> int:
        """Weights of all routed experts of one layer."""
        return self.experts.count * self._mlp(self.experts.width) if self.experts else 0

    def layer_parameters(self, layer: int) -> int:
        """Weights of a layer without its routed experts."""
        found = self.attention.parameters(self.hidden, self.bias) + 2 * self.hidden
        if self.experts is None or layer < self.experts.first:
            return found + self._mlp(self.width)
        return found + self.experts.shared * self._mlp(self.experts.width) + self.experts.count * self.hidden

    @property
    def embedding(self) -> int:
        """Weights of the embedding."""
        return self.vocab * self.hidden

    @property
    def head(self) -> int:
        """Weights of the head and the last norm."""
        return (0 if self.tied else self.embedding) + self.hidden

    @property
    def parameters(self) -> int:
        """All weights, counted from the shape."""
        layers = sum(self.layer_parameters(layer) for layer in range(self.layers))
        return layers + self.expert_layers * self.expert_parameters + self.embedding + self.head

    def _mlp(self, width: int) -> int:
        return (3 if self.gated else 2) * self.hidden * width


_STATED = 0.02
"""By which stated parameters may differ from those that the shape makes: small parts that shapes leave out."""


def _check(name: str, value: int, why: str = "") -> None:
    if not 0 < value <= _MOST:
        raise WorkloadError(f"{name} is {value}: expected a whole number above 0{f', {why}' if why else ''}")
