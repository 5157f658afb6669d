"""What each kind of vector case about a collective computes: the closed form of its algorithm on a network of levels.

What belongs here: naming, as in ``kinds``. Rounds last as long as their largest message and what is added up (convention C6 of
the vectors); a case that says nothing of its split means chunks of equal real size (C8). Where there is no closed form but
bounds, ``time_s`` is the simulated time, and the upper bound for more messages than ``MOST_MESSAGES``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hopline.curve import Curve
from hopline.errors import InputError, UnknownNameError
from hopline.jobs.verify.inputs import Inputs, number, text, whole
from hopline.machine.fabric import Level, Levels
from hopline.model.collective import double_trees, hierarchy, pipelines
from hopline.model.collective.rounds import Form, cost
from hopline.model.collective.table import FORMS
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.pieces import cuts
from hopline.schedule.shape import Shape
from hopline.sim.engine import simulate

Outputs = dict[str, Any]
Kind = Callable[[Inputs], Outputs]
MOST_MESSAGES, MOST_RANKS = 1 << 19, 1 << 20


def uniform(inputs: Inputs) -> Levels:
    """The network of a case: α, β and γ between any two ranks."""
    curve = Curve.line(number(inputs, "alpha_s", 0.0), number(inputs, "beta_bytes_per_s"))
    return Levels.uniform(_at_least_one(inputs, "ranks"), curve, reduce=number(inputs, "gamma_s_per_byte", 0.0))


def priced(form: Form, inputs: Inputs) -> Outputs:
    """What the cases of most collectives ask for."""
    time = cost(form.rounds, uniform(inputs)).time
    return {"time_s": time, "rounds": form.count, "max_sent_bytes_per_rank": form.sent}


def _closed(name: str, size: Callable[[Inputs], int]) -> Kind:
    return lambda inputs: priced(FORMS[name](Shape(_at_least_one(inputs, "ranks"), size(inputs))), inputs)


def _listed(name: str, size: Callable[[Inputs], int]) -> Kind:
    """Like ``_closed``, where the form goes through all ranks."""

    def kind(inputs: Inputs) -> Outputs:
        _check_few(_at_least_one(inputs, "ranks"), name)
        return _closed(name, size)(inputs)

    return kind


def _check_few(ranks: int, name: str) -> None:
    if ranks > MOST_RANKS:
        raise InputError(f"{ranks} ranks: expected at most {MOST_RANKS} for {name}")


def _size(inputs: Inputs) -> int:
    return whole(inputs, "size_bytes")


def _total(inputs: Inputs) -> int:
    return whole(inputs, "total_bytes")


def _blocks(inputs: Inputs) -> int:
    return whole(inputs, "ranks") * whole(inputs, "block_bytes")


def _at_least_one(inputs: Inputs, key: str) -> int:
    value = whole(inputs, key)
    if value < 1:
        raise InputError(f"{key!r} is {value}: expected at least 1")
    return value


def _pipelined(name: str, depth: Callable[[int], int], period: Callable[[int], int]) -> Kind:
    """``depth``, ``period``: of so many ranks, as in ``pipelines.flow_rounds``."""

    def kind(inputs: Inputs) -> Outputs:
        split = text(inputs, "split", "fractional")
        if split not in _SPLITS:
            raise UnknownNameError("split", split, _SPLITS)
        ranks, chunks = _at_least_one(inputs, "ranks"), _at_least_one(inputs, "chunks")
        if split == "balanced":
            shape = Shape(ranks, _size(inputs), chunks=chunks)
            return {"time_s": priced(FORMS[name](shape), inputs)["time_s"], "chunks_used": cuts(shape.size, chunks)}
        count = pipelines.flow_rounds(depth(ranks), period(ranks), chunks)
        rounds = pipelines.equal_chunks(count, _real_size(inputs), chunks)
        return {"time_s": cost(rounds, uniform(inputs)).time, "chunks_used": chunks}

    return kind


_SPLITS = ("balanced", "fractional")


def _real_size(inputs: Inputs) -> float:
    size = number(inputs, "size_bytes")
    if size < 0:
        raise InputError(f"'size_bytes' is {size!r}: expected at least 0")
    return size


def _double_tree(inputs: Inputs) -> Outputs:
    name = "all_reduce-double_binary_tree"
    _check_few(whole(inputs, "ranks"), "two trees")
    shape = Shape(_at_least_one(inputs, "ranks"), _size(inputs), chunks=_at_least_one(inputs, "chunks_per_tree"))
    form, network, known = FORMS[name](shape), uniform(inputs), double_trees.structure(shape.ranks)
    messages = 4 * (shape.ranks - 1) * cuts(shape.size, shape.chunks)
    few = messages <= MOST_MESSAGES
    time = simulate(COLLECTIVES[name].build(shape), network).time if few else cost(form.rounds, network).time
    return {
        "time_s": time,
        "depth_tree1": known.depths[0],
        "depth_tree2": known.depths[1],
        "max_interior_memberships": known.inner,
        "max_sent_bytes_per_rank": form.sent,
    }


def _two_levels(inputs: Inputs) -> tuple[Shape, Levels]:
    """Machines of several cards, and what connects them."""
    levels = [
        Level(_at_least_one(inputs, members), Curve.line(number(inputs, f"alpha_{where}_s", 0.0), number(inputs, rate)))
        for members, where, rate in (
            ("cards_per_machine", "intra", "beta_intra_bytes_per_s"),
            ("machines", "inter", "beta_inter_bytes_per_s"),
        )
    ]
    _check_few(levels[0].ranks * levels[1].ranks, "an all-reduce on two levels")
    network = Levels(levels, reduce=number(inputs, "gamma_s_per_byte", 0.0))
    return Shape(network.ranks, _size(inputs), tuple(level.ranks for level in levels)), network


def _hierarchical(inputs: Inputs) -> Outputs:
    shape, network = _two_levels(inputs)
    form, phases = FORMS["all_reduce-hierarchical"](shape), list(hierarchy.phases(shape, shape.size))
    inside, across = ([phase for phase in phases if phase.level == level] for level in (0, 1))
    return {
        "time_s": cost(form.rounds, network).time,
        "rounds": form.count,
        "intra_reduce_scatter_s": cost(inside[:1], network).time,
        "inter_allreduce_s": cost(across, network).time,
        "intra_allgather_s": cost(inside[1:], network).time,
    }


def _flat_ring(inputs: Inputs) -> Outputs:
    shape, network = _two_levels(inputs)
    form = FORMS["all_reduce-flat_ring"](shape)
    return {"time_s": cost(form.rounds, network).time, "rounds": form.count}


COLLECTIVE_KINDS: dict[str, Kind] = {
    "allreduce_ring": _closed("all_reduce-ring", _size),
    "reduce_scatter_ring": _closed("reduce_scatter-ring", _size),
    "allgather_ring": _closed("all_gather-ring", _total),
    "allreduce_recursive_doubling": _closed("all_reduce-recursive_doubling", _size),
    "allreduce_halving_doubling": _closed("all_reduce-rabenseifner", _size),
    "allreduce_binomial": _closed("all_reduce-binomial", _size),
    "reduce_binomial": _closed("reduce-binomial", _size),
    "broadcast_binomial": _closed("broadcast-binomial", _size),
    "allgather_recursive_doubling": _closed("all_gather-recursive_doubling", _blocks),
    "broadcast_chain_pipelined": _pipelined("broadcast-chain", lambda ranks: ranks - 1, lambda ranks: 1),
    "broadcast_binary_tree_pipelined": _pipelined("broadcast-binary_tree", pipelines.heap_depth, pipelines.heap_period),
    "allreduce_double_binary_tree": _double_tree,
    "allgather_bruck": _closed("all_gather-bruck", _blocks),
    "alltoall_pairwise": _closed("alltoall-pairwise", _blocks),
    "alltoall_bruck": _listed("alltoall-bruck", _blocks),
    "allreduce_hierarchical": _hierarchical,
    "allreduce_flat_ring_two_level": _flat_ring,
}
"""Kind of case -> its inputs -> its outputs."""
