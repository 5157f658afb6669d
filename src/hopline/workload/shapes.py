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
_MOST_LAYERS = 10_000
_SAYS: Mapping[str, tuple[str, ...]] = {
    "mha": ("heads", "head", "value_head"),
    "gqa": ("heads", "kv_heads", "head", "value_head"),
    "mqa": ("heads", "head", "value_head"),
    "mla": ("heads", "head", "value_head", "latent", "rope", "query_latent"),
}
"""Kind of attention -> what has a say in it."""


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
        for name in ("heads", "kv_heads", "head", "value_head", "latent", "rope", "query_latent"):
            _check_none(f"attention.{name}", getattr(self, name))
            if name not in _SAYS[self.kind] and getattr(self, name) not in (0, self.keys if name == "kv_heads" else 0):
                raise WorkloadError(
                    f"attention.{name} is {getattr(self, name)} beside {self.kind}: {KINDS[self.kind]}; leave it away, or "
                    "mend the kind"
                )
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

    def kept_keys(self, ranks: int) -> int:
        """Heads of K and V that each of ``ranks`` tensor-parallel ranks keeps: whole ones, at least one."""
        return -(-self.keys // ranks)

    def parameters(self, hidden: int, bias: bool = False) -> int:
        """Weights of one layer's attention."""
        return self.split(hidden, 1, bias) + self.whole(hidden)

    def split(self, hidden: int, ranks: int, bias: bool = False) -> int:
        """Weights that each of ``ranks`` tensor-parallel ranks has of what they share: its heads (which ``ranks`` divide)."""
        heads = self.heads // ranks
        if self.kind == "mla":
            query = heads * (self.head + self.rope) * (self.query_latent or hidden)
            return query + heads * ((self.head + self.values) * self.latent + self.values * hidden)
        made = heads * self.head + self.kept_keys(ranks) * (self.head + self.values)
        return made * (hidden + bias) + heads * self.values * hidden

    def whole(self, hidden: int) -> int:
        """Weights that every rank keeps: what makes the latent vectors, and their norms (as Megatron-LM and vLLM have it)."""
        if self.kind != "mla":
            return 0
        asks = self.query_latent * (hidden + 1)
        return asks + hidden * (self.latent + self.rope) + self.latent


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
        _check_none("experts.shared", self.shared)
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
        if self.layers > _MOST_LAYERS:
            raise WorkloadError(f"layers is {self.layers:,}: expected at most {_MOST_LAYERS:,}")
        for name in ("name", "title"):
            _check_text(name, getattr(self, name))
        for key, source in self.sources.items():
            _check_text(f"sources.{key}" if key else "source", source, needed=False)
        _check_none("parameters", self.stated)
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

    def has_experts(self, layer: int) -> bool:
        """Whether experts stand in for the MLP of ``layer``."""
        return self.experts is not None and layer >= self.experts.first

    def layer_parameters(self, layer: int) -> int:
        """Weights of a layer without its routed experts."""
        return self.layer_split(layer, 1) + self.layer_whole(layer)

    def layer_split(self, layer: int, ranks: int) -> int:
        """Weights of a layer that each of ``ranks`` tensor-parallel ranks has of what they share, without routed experts."""
        found = self.attention.split(self.hidden, ranks, self.bias)
        if self.experts is None or not self.has_experts(layer):
            return found + self._mlp(-(-self.width // ranks))
        return found + self._mlp(-(-self.experts.shared * self.experts.width // ranks))

    def layer_whole(self, layer: int) -> int:
        """Weights of a layer that every tensor-parallel rank keeps whole: norms, the router, what makes latent vectors."""
        router = self.experts.count * self.hidden if self.experts and self.has_experts(layer) else 0
        return self.attention.whole(self.hidden) + 2 * self.hidden + router

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


def _check_none(name: str, value: int) -> None:
    if not 0 <= value <= _MOST:
        raise WorkloadError(f"{name} is {value}: expected a whole number of at least 0")


def _check_text(name: str, text: str, needed: bool = True) -> None:
    """Raise WorkloadError for what would not print as one line of text."""
    if (needed and not text.strip()) or not text.isprintable():
        raise WorkloadError(f"{name} is {text[:40]!r}: expected a line of text that can be printed")
