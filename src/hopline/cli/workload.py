"""``hopline workload``: what a job sends, what it costs, what binds, which lever moves it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from hopline.cli.network_given import network
from hopline.cli.network_options import network_options
from hopline.cli.options import json_option, print_json
from hopline.cli.workload_options import Tokens, check_given, check_phase
from hopline.jobs import workloads
from hopline.jobs.loading import resolve
from hopline.jobs.subgroups import Ranks, of_levels
from hopline.jobs.workloads import Asked
from hopline.model.job import Types
from hopline.quantity import DTYPES, binary, counted
from hopline.records.traffic import Priced, Workload
from hopline.show import workload as pages
from hopline.show.document import print_document
from hopline.workload import files
from hopline.workload.parallel import PHASES, ZERO, Parallel
from hopline.workload.shapes import Model

EXAMPLES = """\b
Examples:
  hopline workload                                            # the models
  hopline workload llama-3-70b --tp 8 --pp 4 --dp 4 --batch 256 --sequence 8192 --machine dgx-h100
  hopline workload llama-3-70b --tp 8 --phase decode --batch 1 --latency 1.2us --bandwidth 64GB/s
  hopline workload llama-3-70b --tp 8 --phase prefill --sequence 4096 --machine hgx-h200
  hopline workload deepseek-v3 --ep 64 --dp 64 --phase decode --batch 32 --dispatch fp8 --latency 2us --bandwidth 50GB/s
  hopline workload llama-3-8b --dp 16 --zero 3 --micro-batch 2 --batch 64 --json
  hopline workload deepseek-v3 --show > my-model.toml         # a file to start from
"""
_DEGREES = (
    ("--tp", "Tensor parallel: ranks that share the matrices of a layer."),
    ("--pp", "Pipeline parallel: stages."),
    ("--dp", "Data parallel: replicas."),
    ("--cp", "Context parallel: ranks that share a sequence."),
    ("--ep", "Expert parallel: ranks that share the experts, out of tp x cp x dp."),
    ("--vpp", "Chunks of a stage, interleaved."),
)
_DTYPE = click.Choice(list(DTYPES))


def _degrees(command: Any) -> Any:
    for name, text in reversed(_DEGREES):
        command = click.option(name, type=click.IntRange(1), default=1, metavar="N", help=text)(command)
    return command


@click.command(epilog=EXAMPLES)
@click.argument("model", required=False)
@click.option(
    "--phase", type=click.Choice(PHASES), default="training", help="A step of training (default), a prompt, or a token."
)
@_degrees
@click.option(
    "--micro-batch", type=click.IntRange(1), metavar="N", help="Training: sequences that go through together (1)."
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    help="Training: sequences of a step of all replicas; else those of one replica at once.",
)
@click.option("--sequence", type=Tokens(), default="4096", metavar="TOKENS", help="Tokens of a sequence (4096).")
@click.option("--sequence-parallel", is_flag=True, help="Activations are split over tp between its parts.")
@click.option(
    "--zero", type=click.IntRange(0, 3), default=0, help="; ".join(f"{n}: {text}" for n, text in ZERO.items()) + "."
)
@click.option("--dtype", type=_DTYPE, default="bf16", metavar="TYPE", help="Of activations and parameters (bf16).")
@click.option("--grad-dtype", type=_DTYPE, default="fp32", metavar="TYPE", help="Of gradients (fp32).")
@click.option("--dispatch", type=_DTYPE, metavar="TYPE", help="Of tokens on their way to experts (default: --dtype).")
@click.option("--kv-dtype", type=_DTYPE, metavar="TYPE", help="Of the KV cache (default: --dtype).")
@network_options
@click.option("--show", "as_file", is_flag=True, help="Print the model's file, with its sources.")
@json_option
def workload(
    model: str | None, phase: Any, sequence: float, micro_batch: int | None, batch: int | None, dtype: str, grad_dtype: str,
    dispatch: str | None, kv_dtype: str | None, tp: int, pp: int, dp: int, cp: int, ep: int, vpp: int,
    sequence_parallel: bool, zero: int, as_file: bool, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """What a rank of a job sends: which messages, how large, how many in a step or for a token; with a network what they cost,
    what binds them and what would help.

    MODEL is one that comes with hopline or a .toml file; without it the models are listed. The network is a machine,
    or --level, or --latency and --bandwidth; ranks are placed in the order tp, cp, dp, pp.
    """
    check_given(model, as_file)
    if model is None:
        _list(as_json)
        return
    shape = files.find(model)
    if as_file:
        _show(model, as_json)
        return
    check_phase(phase, shape, ep)
    spread = _spread(phase, micro_batch, batch)
    parallel = Parallel(tp, pp, dp, cp, ep, vpp, *spread, int(sequence), sequence_parallel, zero)
    types = Types(dtype, grad_dtype, dispatch or dtype, kv_dtype or dtype)
    found = workloads.workload(Asked(shape, parallel, phase, types, _network(parallel, given)))
    if as_json:
        print_json(_data(shape, parallel, found))
        return
    title = f"{shape.name}, {phase} on {counted(parallel.ranks, 'rank')}"
    print_document(pages.page(title, found, _facts(shape, parallel, phase)))


def _show(name: str, as_json: bool) -> None:
    """The file of a model as it is, or what it says."""
    if as_json:
        model = files.find(name)
        print_json({**asdict(model), "parameters": model.parameters})
    else:
        click.echo(files.text_of(name), nl=False)


def _spread(phase: str, micro_batch: int | None, batch: int | None) -> tuple[int, int | None]:
    """Micro-batch and batch of all replicas."""
    return (micro_batch or 1, batch) if phase == "training" else (batch or 1, None)


def _network(parallel: Parallel, given: dict[str, Any]) -> Ranks | None:
    """The network that the options say; None: none."""
    if given["ranks"] is not None:
        raise click.UsageError(f"-n does not go with a workload: tp x pp x dp x cp make {parallel.ranks} ranks")
    if given["machine"] is not None:
        network(**{**given, "ranks": 1, "places": ()})
        gamma = None if given["reduce"] is None else 1 / given["reduce"]
        machine = resolve("hopline.jobs.machines:find")(given["machine"])
        made: Ranks = resolve("hopline.jobs.subgroups:of_machine")(
            machine, max(2, parallel.ranks), given["places"], gamma
        )
        return made
    told = {name: value for name, value in given.items() if value not in (None, ())}
    if not told:
        return None
    flat = None if given["levels"] else max(2, parallel.ranks)
    found = network(**{**given, "ranks": flat}).levels
    return of_levels(found.levels, found.reduce)


def _facts(model: Model, parallel: Parallel, phase: str) -> list[str]:
    degrees = {name: getattr(parallel, name) for name in ("tp", "pp", "dp", "cp", "ep", "vpp")}
    told = ", ".join(f"{name} {degree}" for name, degree in degrees.items() if degree > 1) or "one rank"
    experts = f", {model.experts.count} experts" if model.experts else ""
    facts = [f"{model.parameters / 1e9:,.1f}e9 parameters, {model.layers} layers of {model.hidden}{experts}; {told}"]
    if phase == "training":
        count = parallel.microbatches
        work = f"{parallel.whole_batch} x {parallel.sequence} tokens in a step: {count} micro-batch{'es' if count > 1 else ''}"
        alone = ", but there is one replica" if parallel.zero and parallel.dp * parallel.cp == 1 else ""
        facts.append(
            f"{work} of {parallel.micro_batch} on each replica; ZeRO {parallel.zero} ({ZERO[parallel.zero]}{alone})"
        )
    return facts


def _list(as_json: bool) -> None:
    models = workloads.listed()
    if as_json:
        print_json(
            {
                name: {**asdict(model), "parameters": model.parameters, "kv_bytes_per_token": token}
                for name, model, token in models
            }
        )
    else:
        print_document(pages.listing(models))


def _data(model: Model, parallel: Parallel, found: Workload) -> dict[str, Any]:
    return {
        "model": model.name,
        "parameters": model.parameters,
        "ranks": parallel.ranks,
        "parallel": asdict(parallel),
        "phase": found.phase,
        "stage": found.stage,
        "sent": [{**asdict(one), "total": one.total} for one in found.sent],
        "way": [{**asdict(one), "total": one.total} for one in found.way],
        "prices": [_price(one) for one in found.priced],
        "time_s": found.time if found.priced else None,
        "least_s": found.least if found.priced else None,
        "start_s": found.start if found.priced else None,
        "bytes_s": found.bytes if found.priced else None,
        "levers": [asdict(lever) for lever in found.levers],
        "kv_cache": {**asdict(found.cache), "shown": binary(found.cache.sequence)},
        "memory": {**asdict(found.memory), "total": found.memory.total},
        "notes": list(found.notes),
        "premises": list(found.premises),
    }


def _price(one: Priced) -> dict[str, Any]:
    return {
        "name": one.sent.name,
        "operation": one.sent.operation,
        "algorithm": one.algorithm,
        "count": one.sent.count,
        "sent": one.sent.each,
        "one_s": one.estimate.value,
        "one_least_s": one.estimate.value if one.estimate.low is None else one.estimate.low,
        "time_s": one.time,
        "start_s": one.start,
        "bytes_s": one.bytes,
        "rest_s": one.rest,
    }
