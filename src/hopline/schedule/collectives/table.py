"""COLLECTIVES: every algorithm of every collective, by name.

What belongs here: the table. The messages are in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import UnknownNameError
from hopline.schedule.collectives import (
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
from hopline.schedule.operations import Schedule
from hopline.schedule.shape import Shape


@dataclass(frozen=True, slots=True)
class Collective:
    """One algorithm: ``build`` makes its schedule.

    ``uses``: the fields of Shape beside ranks and size that it reads. ``exact``: its closed form is the simulated time on a
    uniform network; else lower and upper bounds are given.
    """

    benchmark: str
    algorithm: str
    build: Callable[[Shape], Schedule]
    uses: tuple[str, ...] = ()
    exact: bool = True
    about: str = ""

    @property
    def name(self) -> str:
        """Its key in COLLECTIVES."""
        return f"{self.benchmark}-{self.algorithm}"


def _table(*entries: Collective) -> dict[str, Collective]:
    return {entry.name: entry for entry in entries}


COLLECTIVES: dict[str, Collective] = _table(
    Collective("all_reduce", "ring", rings.all_reduce, about="pieces round a ring, added up, then handed round"),
    Collective("reduce_scatter", "ring", rings.reduce_scatter, about="pieces round a ring, added up"),
    Collective("all_gather", "ring", rings.all_gather, about="pieces handed round a ring"),
    Collective(
        "all_reduce", "recursive_doubling", doubling.all_reduce, about="everything to partners 1, 2, 4, ... away"
    ),
    Collective(
        "all_reduce", "rabenseifner", doubling.rabenseifner, about="halves, quarters, ... added up, then back again"
    ),
    Collective(
        "all_reduce", "binomial", binomial.all_reduce, about="reduce to rank 0 along a binomial tree, then broadcast"
    ),
    Collective(
        "all_reduce",
        "double_binary_tree",
        double_trees.all_reduce,
        ("chunks",),
        exact=False,
        about="half of the message up and down each of NCCL's two trees, in chunks",
    ),
    Collective("reduce_scatter", "recursive_halving", doubling.reduce_scatter, about="halves, quarters, ... added up"),
    Collective(
        "all_gather", "recursive_doubling", doubling.all_gather, about="1, 2, 4, ... pieces to partners as far away"
    ),
    Collective("broadcast", "binomial", binomial.broadcast, about="those who have it double in each round"),
    Collective("broadcast", "chain", pipelines.chain_broadcast, ("chunks",), about="chunks along a chain of all ranks"),
    Collective("broadcast", "binary_tree", pipelines.tree_broadcast, ("chunks",), about="chunks down a binary tree"),
    Collective(
        "broadcast", "scatter_allgather", binomial.scatter_all_gather, about="pieces down a tree, then round a ring"
    ),
    Collective("reduce", "binomial", binomial.reduce, about="half of those left send to the other half in each round"),
    Collective(
        "reduce", "chain", pipelines.chain_reduce, ("chunks",), about="chunks along a chain of all ranks, added up"
    ),
    Collective("reduce", "binary_tree", pipelines.tree_reduce, ("chunks",), about="chunks up a binary tree, added up"),
    Collective("reduce", "scatter_gather", doubling.reduce, about="halves, quarters, ... added up, then gathered"),
    Collective(
        "all_reduce",
        "rings",
        many_rings.all_reduce,
        ("levels", "channels"),
        about="several rings at once, one a channel",
    ),
    Collective(
        "all_reduce", "flat_ring", many_rings.flat_ring, ("levels",), about="one ring over all levels, group by group"
    ),
    Collective(
        "all_reduce", "hierarchical", hierarchy.all_reduce, ("levels",), about="rings on each level in turn, and back"
    ),
    Collective(
        "all_reduce",
        "hierarchical_chunked",
        hierarchy.all_reduce_chunked,
        ("levels", "chunks"),
        exact=False,
        about="the hierarchical one with chunks that are on different levels at the same time",
    ),
    Collective("all_reduce", "direct", direct.all_reduce, about="pieces straight to their owners, sums to everybody"),
    Collective("reduce_scatter", "direct", direct.reduce_scatter, about="pieces straight to their owners"),
    Collective(
        "reduce_scatter", "bruck", bruck.reduce_scatter, about="..., 4, 2, 1 pieces to ranks as far away, added up"
    ),
    Collective("all_gather", "direct", direct.all_gather, about="the own piece straight to everybody"),
    Collective("all_gather", "bruck", bruck.all_gather, about="1, 2, 4, ... pieces to ranks as far away"),
    Collective("alltoall", "pairwise", alltoall.pairwise, about="a block to each rank in turn"),
    Collective("alltoall", "bruck", alltoall.bruck, about="half of the blocks to ranks 1, 2, 4, ... away"),
    Collective(
        "alltoall", "hierarchical", alltoall.hierarchical, ("levels",), about="inside of groups first, then across"
    ),
    Collective("gather", "direct", gathering.gather_direct, about="rank 0 takes the pieces in turn"),
    Collective("gather", "binomial", gathering.gather_binomial, about="pieces up a binomial tree"),
    Collective("scatter", "direct", gathering.scatter_direct, about="rank 0 hands out the pieces in turn"),
    Collective("scatter", "binomial", gathering.scatter_binomial, about="pieces down a binomial tree"),
    Collective("sendrecv", "ring", direct.sendrecv, about="everything to the next rank"),
    Collective("barrier", "dissemination", bruck.barrier, about="zero bytes to ranks 1, 2, 4, ... away"),
    Collective(
        "reshard", "direct", reshard.direct, ("targets",), about="pieces of the first ranks to the last ones, cut anew"
    ),
)


def find(name: str) -> Collective:
    """The entry of ``name``. Raises UnknownNameError."""
    if name not in COLLECTIVES:
        raise UnknownNameError("schedule", name, COLLECTIVES)
    return COLLECTIVES[name]
