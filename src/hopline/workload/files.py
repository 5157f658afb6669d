"""Model files: the shape of a model in TOML, those that come with hopline and anybody's own.

What belongs here: the layout of such a file, and reading it into a ``Model``. An error names the key that it is about.
"""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import msgspec

from hopline.errors import HoplineError, UnknownNameError, WorkloadError
from hopline.workload.shapes import Attention, Experts, Model

FORMAT, VERSION = "model", 1
_OURS = File(__file__).with_name("models")
_LARGEST_FILE = 1 << 20


class _Struct(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Frozen, and strict about keys."""


class AttentionEntry(_Struct, frozen=True):
    """As ``Attention`` has it."""

    kind: str
    heads: int
    kv_heads: int = 0
    head: int = 0
    value_head: int = 0
    latent: int = 0
    rope: int = 0
    query_latent: int = 0


class ExpertsEntry(_Struct, frozen=True):
    """As ``Experts`` has it."""

    count: int
    per_token: int
    width: int
    shared: int = 0
    first: int = 0


class ModelFile(_Struct, frozen=True):
    """The whole file; ``source`` is where all numbers are from that ``sources`` does not name."""

    hopline: str
    version: int
    name: str
    layers: int
    hidden: int
    width: int
    vocab: int
    attention: AttentionEntry
    experts: ExpertsEntry | None = None
    title: str = ""
    gated: bool = True
    tied: bool = False
    bias: bool = False
    parameters: int = 0
    source: str = ""
    sources: dict[str, str] = {}


def model_names() -> list[str]:
    """The models that come with hopline."""
    return sorted(file.stem for file in _OURS.glob("*.toml"))


def find(name: str) -> Model:
    """A model that comes with hopline, or the file of that name. Raises UnknownNameError, WorkloadError."""
    if name in model_names():
        return load(_OURS / f"{name}.toml")
    if name.endswith(".toml") or "/" in name:
        return load(File(name))
    raise UnknownNameError("model (and no .toml file)", name, model_names())


def text_of(name: str) -> str:
    """The file of a model, as ``find`` has it. Raises UnknownNameError, WorkloadError."""
    find(name)
    file = _OURS / f"{name}.toml" if name in model_names() else File(name)
    return file.read_text(encoding="utf-8")


def load(file: File) -> Model:
    """Read a model file. Raises WorkloadError with the file and the key that is wrong."""
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise WorkloadError(f"{file}: {file.stat().st_size} bytes are too many for a model file")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise WorkloadError(f"{file}: cannot be read as a model file: {reason}") from None
    return loads(text, str(file))


def loads(text: str, name: str) -> Model:
    """Read a model from TOML ``text``; ``name`` is what errors call it."""
    try:
        return _model(msgspec.toml.decode(text))
    except RecursionError:
        raise WorkloadError(f"{name}: nested too deeply to be a model file") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise WorkloadError(f"{name} is no model file: {_mended(str(error))}") from None
    except HoplineError as error:
        raise WorkloadError(f"{name}: {error}") from None


def _mended(reason: str) -> str:
    """What the TOML reader says, in words that say what to do."""
    return reason.replace(
        "Cannot overwrite a value", "a key or table stands there a second time: leave one of both away"
    )


def _model(raw: dict[str, Any]) -> Model:
    if (raw.get("hopline"), raw.get("version")) != (FORMAT, VERSION):
        found = f"hopline = {raw.get('hopline')!r} and version = {raw.get('version')!r}"
        raise WorkloadError(f'expected hopline = "{FORMAT}" and version = {VERSION}, got {found}')
    told = _converted(raw)
    _check_sources(raw)
    return Model(
        told.name, told.title or told.name, told.layers, told.hidden, told.width, told.vocab,
        Attention(**msgspec.structs.asdict(told.attention)),
        Experts(**msgspec.structs.asdict(told.experts)) if told.experts else None,
        told.gated, told.tied, told.bias, told.parameters, {"": told.source, **told.sources},
    )  # fmt: skip


def _converted(raw: dict[str, Any]) -> ModelFile:
    try:
        return msgspec.convert(raw, ModelFile)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        where = path.rstrip("`").lstrip(".")
        raise WorkloadError(f"{where}: {message}" if where else message) from None


def _check_sources(raw: dict[str, Any]) -> None:
    """A source is of a key that is there."""
    for key in raw.get("sources", {}):
        here: Any = raw
        for part in key.split("."):
            here = here.get(part) if isinstance(here, dict) else None
        if here is None:
            raise WorkloadError(f"sources: {key!r} is no key of this file")
