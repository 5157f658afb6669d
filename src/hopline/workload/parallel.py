"""How a job is spread over ranks, and how much of its work goes through at once.

What belongs here: degrees of parallelism, their checks, which ranks make a group, and what they mean for layers and tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hopline.errors import UnknownNameError, WorkloadError
from hopline.workload.shapes import Model

Phase = Literal["training", "prefill", "decode"]
PHASES: tuple[Phase, ...] = get_args(Phase)
ZERO: Mapping[int, str] = {
    0: "every rank keeps everything",
    1: "optimizer state in shards",
    2: "gradients in shards too",
    3: "parameters in shards too",
}


@dataclass(frozen=True, slots=True)
class Parallel:
    """Degrees of parallelism, and the work.

    Attributes
    ----------
    tp, pp, dp, cp, ep, vpp
        Ranks that share a layer's matrices, stages, replicas, ranks that share a sequence, ranks that share the experts (they
        are taken from tp x cp x dp), and chunks of a stage.
    micro_batch, batch
        Sequences that go through together, and in a step of all replicas (None: one micro-batch of each).
    sequence
        Tokens of a sequence.
    sequence_parallel
        Whether activations between the tensor-parallel parts are split over tp.
    zero
        What data-parallel ranks keep in shards (ZERO).
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    cp: int = 1
    ep: int = 1
    vpp: int = 1
    micro_batch: int = 1
    batch: int | None = None
    sequence: int = 4096
    sequence_parallel: bool = False
    zero: int = 0

    def __post_init__(self) -> None:
        for name in ("tp", "pp", "dp", "cp", "ep", "vpp", "micro_batch", "sequence"):
            most = _MOST_TOKENS if name == "sequence" else _MOST
            if not 1 <= getattr(self, name) <= most:
                raise WorkloadError(f"{name} is {getattr(self, name)}: expected a whole number from 1 to {most:,}")
        if self.zero not in ZERO:
            raise UnknownNameError("stage of ZeRO", str(self.zero), map(str, ZERO))
        if self.whole_batch % (self.dp * self.micro_batch):
            raise WorkloadError(
                f"a batch of {self.whole_batch} over {self.dp} replicas in micro-batches of {self.micro_batch}: expected a "
                f"multiple of {self.dp * self.micro_batch}"
            )
        if self.tp * self.cp * self.dp % self.ep:
            raise WorkloadError(
                f"ep is {self.ep} of tp x cp x dp = {self.tp * self.cp * self.dp} ranks: expected one that divides them"
            )
        if self.sequence % self.cp:
            raise WorkloadError(f"cp is {self.cp} for {self.sequence} tokens: expected one that divides them")
        if self.vpp > 1 and self.pp == 1:
            raise WorkloadError(f"vpp is {self.vpp} with one stage: chunks are interleaved over several")
        if self.sequence_parallel and self.tp == 1:
            raise WorkloadError("sequence parallelism splits activations over tp, and tp is 1: expected a larger one")

    @property
    def ranks(self) -> int:
        """All of the job."""
        return self.tp * self.cp * self.dp * self.pp

    @property
    def whole_batch(self) -> int:
        """Sequences of a step of all replicas."""
        return self.dp * self.micro_batch if self.batch is None else self.batch

    @property
    def microbatches(self) -> int:
        """Of one replica in a step."""
        return self.whole_batch // (self.dp * self.micro_batch)

    def check(self, model: Model, phase: Phase = "training") -> None:
        """Raise WorkloadError where ``model`` cannot be spread so in ``phase``."""
        self._check_model(model)
        if phase == "training":
            self._check_training(model)
            return
        if self.vpp > 1:
            raise WorkloadError(f"vpp is {self.vpp} in {phase}: chunks are interleaved in training")
        if self.zero:
            raise WorkloadError(
                f"zero is {self.zero} in {phase}: it shares out gradients and optimizer, which training has"
            )
        if self.cp > 1 and phase == "decode":
            raise WorkloadError(
                f"cp is {self.cp} in decode: expected 1, since how ranks put a token's attention together from parts of its "
                "cache is not counted here; cp is for training and prefill"
            )

    def _check_training(self, model: Model) -> None:
        """What Megatron-LM refuses, too."""
        if self.vpp > 1 and self.microbatches % self.pp:
            raise WorkloadError(
                f"{self.microbatches} micro-batches over {self.pp} stages of {self.vpp} chunks: micro-batches must be a "
                "multiple of stages where chunks are interleaved"
            )
        if self.sequence_parallel and self.sequence // self.cp % self.tp:
            raise WorkloadError(
                f"sequence parallelism over tp {self.tp} for {self.sequence // self.cp} tokens of a rank: expected a tp that "
                "divides them"
            )
        if self.tp > 1 and self.ep > 1 and not self.sequence_parallel:
            raise WorkloadError(
                f"tp is {self.tp} and ep is {self.ep} without sequence parallelism: each of {self.tp} ranks would send all "
                f"tokens to experts, {self.tp} times the bytes, and Megatron-LM refuses it: add --sequence-parallel"
            )

    def _check_model(self, model: Model) -> None:
        if self.pp * self.vpp > model.layers:
            raise WorkloadError(
                f"{self.pp} stages of {self.vpp} chunks for {model.layers} layers: expected at most as many"
            )
        if self.vpp > 1 and model.layers % (self.pp * self.vpp):
            raise WorkloadError(
                f"{model.layers} layers over {self.pp} stages of {self.vpp} chunks: expected a multiple of "
                f"{self.pp * self.vpp}, since interleaved chunks are alike"
            )
        if model.attention.heads % self.tp:
            raise WorkloadError(f"tp is {self.tp} for {model.attention.heads} heads: expected one that divides them")
        if self.ep > 1 and model.experts is None:
            raise WorkloadError(f"ep is {self.ep}, and {model.name} has no experts")
        if model.experts and model.experts.count % self.ep:
            raise WorkloadError(f"ep is {self.ep} for {model.experts.count} experts: expected one that divides them")

    def layers(self, model: Model, stage: int = 0) -> Sequence[int]:
        """Layers of a stage, with all its chunks; the first stages have one more where they do not divide."""
        if self.vpp > 1:
            part = model.layers // (self.pp * self.vpp)
            starts = range(stage * part, model.layers, self.pp * part)
            return [layer for start in starts for layer in range(start, start + part)]
        each, more = divmod(model.layers, self.pp)
        start = stage * each + min(stage, more)
        return range(start, start + each + (stage < more))

    def group(self, axis: str) -> tuple[int, int]:
        """Ranks of a group and the step between their numbers: tp counts fastest, then cp, dp and pp."""
        tp, cp, dp = self.tp, self.cp, self.dp
        groups = {
            "tp": (tp, 1),
            "cp": (cp, tp),
            "dp": (cp * dp, tp),
            "ep": (self.ep, 1),
            "edp": (tp * cp * dp // self.ep, self.ep),
            "pp": (self.pp, tp * cp * dp),
            "ends": (2, tp * cp * dp * (self.pp - 1)),
            "kv": (2, self.ranks),
        }
        return groups[axis]


_MOST = 1 << 20
_MOST_TOKENS = 1 << 30
