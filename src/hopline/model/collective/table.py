"""FORMS: the closed form of every entry of COLLECTIVES, by the same name.

What belongs here: the table.
"""

from __future__ import annotations

from collections.abc import Callable

from hopline.model.collective import (
    alltoall,
    binomial,
    bruck,
    direct,
    double_trees,
    doubling,
    gathering,
    hierarchy,
    many_rings,
    pipelines,
    reshard,
    rings,
)
from hopline.model.collective.rounds import Form
from hopline.schedule.shape import Shape

FORMS: dict[str, Callable[[Shape], Form]] = {
    "all_reduce-ring": rings.all_reduce,
    "reduce_scatter-ring": rings.reduce_scatter,
    "all_gather-ring": rings.all_gather,
    "all_reduce-recursive_doubling": doubling.all_reduce,
    "all_reduce-rabenseifner": doubling.rabenseifner,
    "all_reduce-binomial": binomial.all_reduce,
    "all_reduce-double_binary_tree": double_trees.all_reduce,
    "reduce_scatter-recursive_halving": doubling.reduce_scatter,
    "all_gather-recursive_doubling": doubling.all_gather,
    "broadcast-binomial": binomial.broadcast,
    "broadcast-chain": pipelines.chain_broadcast,
    "broadcast-binary_tree": pipelines.tree_broadcast,
    "broadcast-scatter_allgather": binomial.scatter_all_gather,
    "reduce-binomial": binomial.reduce,
    "reduce-chain": pipelines.chain_reduce,
    "reduce-binary_tree": pipelines.tree_reduce,
    "reduce-scatter_gather": doubling.reduce,
    "all_reduce-rings": many_rings.all_reduce,
    "all_reduce-flat_ring": many_rings.flat_ring,
    "all_reduce-hierarchical": hierarchy.all_reduce,
    "all_reduce-hierarchical_chunked": hierarchy.all_reduce_chunked,
    "all_reduce-direct": direct.all_reduce,
    "reduce_scatter-direct": direct.reduce_scatter,
    "reduce_scatter-bruck": bruck.reduce_scatter,
    "all_gather-direct": direct.all_gather,
    "all_gather-bruck": bruck.all_gather,
    "alltoall-pairwise": alltoall.pairwise,
    "alltoall-bruck": alltoall.bruck,
    "alltoall-hierarchical": alltoall.hierarchical,
    "gather-direct": gathering.gather_direct,
    "gather-binomial": gathering.gather_binomial,
    "scatter-direct": gathering.scatter_direct,
    "scatter-binomial": gathering.scatter_binomial,
    "sendrecv-ring": direct.sendrecv,
    "barrier-dissemination": bruck.barrier,
    "reshard-direct": reshard.direct,
}
