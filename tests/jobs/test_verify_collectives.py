"""Vector cases of collectives beyond those of the file: edges, absent inputs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopline.jobs.verify import collectives
from hopline.jobs.verify.collectives import COLLECTIVE_KINDS
from hopline.jobs.verify.compare import Tolerance
from hopline.jobs.verify.vectors import Case, load, run_case, verify_file

VECTORS = str(Path(__file__).parents[1] / "data" / "vectors.json")
WIRE = {"alpha_s": 1e-6, "beta_bytes_per_s": 1e9}
TREE = "allreduce_double_binary_tree"
CASES = [case for case in load(VECTORS) if case.kind in COLLECTIVE_KINDS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_case_passes(case):
    assert run_case(case).status == "passed", run_case(case)


def test_the_file_has_cases_of_every_kind():
    assert {case.kind for case in CASES} == set(COLLECTIVE_KINDS)
    assert verify_file(VECTORS, "allreduce_*").failed == ()


KNOWN = [
    ("allreduce_ring", {"ranks": 4, "size_bytes": 4000, "beta_bytes_per_s": 1e9}, {"time_s": 6e-6, "rounds": 6}),
    ("allreduce_ring", {"ranks": 4, "size_bytes": 4000, "gamma_s_per_byte": None, **WIRE}, {"time_s": 12e-6}),
    ("allreduce_ring", {"ranks": 3, "size_bytes": 2, **WIRE}, {"max_sent_bytes_per_rank": 3}),
    ("reduce_scatter_ring", {"ranks": 3, "size_bytes": 7, "gamma_s_per_byte": 1e-9, **WIRE}, {"time_s": 2.012e-6}),
    ("allgather_ring", {"ranks": 3, "total_bytes": 0, **WIRE}, {"time_s": 2e-6, "max_sent_bytes_per_rank": 0}),
    ("allreduce_recursive_doubling", {"ranks": 3, "size_bytes": 1000, **WIRE}, {"time_s": 6e-6, "rounds": 3}),
    ("allreduce_halving_doubling", {"ranks": 3, "size_bytes": 1001, **WIRE}, {"time_s": 7.004e-6}),
    ("allreduce_binomial", {"ranks": 1, "size_bytes": 1000, **WIRE}, {"time_s": 0, "rounds": 0}),
    ("reduce_binomial", {"ranks": 5, "size_bytes": 1000, "gamma_s_per_byte": 1e-9, **WIRE}, {"time_s": 9e-6}),
    ("broadcast_binomial", {"ranks": 5, "size_bytes": 1000, **WIRE}, {"time_s": 6e-6, "max_sent_bytes_per_rank": 3000}),
    ("allgather_recursive_doubling", {"ranks": 4, "block_bytes": 1000, **WIRE}, {"time_s": 5e-6, "rounds": 2}),
    (
        "broadcast_chain_pipelined",
        {"ranks": 3, "size_bytes": 3, "chunks": 8, "split": "balanced", **WIRE},
        {"time_s": 4.004e-6, "chunks_used": 3},
    ),
    (
        "broadcast_chain_pipelined",
        {"ranks": 3, "size_bytes": 3, "chunks": 8, "split": "fractional", **WIRE},
        {"time_s": 9e-6 + 9 * 3 / 8 * 1e-9, "chunks_used": 8},
    ),
    (
        "broadcast_chain_pipelined",
        {"ranks": 2, "size_bytes": 0, "chunks": 4, **WIRE},
        {"time_s": 4e-6, "chunks_used": 4},
    ),
    (
        "broadcast_chain_pipelined",
        {"ranks": 2, "size_bytes": 0, "chunks": 4, "split": "balanced", **WIRE},
        {"time_s": 1e-6, "chunks_used": 1},
    ),
    ("broadcast_binary_tree_pipelined", {"ranks": 2, "size_bytes": 4000, "chunks": 4, **WIRE}, {"time_s": 8e-6}),
    ("broadcast_binary_tree_pipelined", {"ranks": 3, "size_bytes": 4000, "chunks": 4, **WIRE}, {"time_s": 16e-6}),
    ("broadcast_binary_tree_pipelined", {"ranks": 12, "size_bytes": 0, "chunks": 1, **WIRE}, {"time_s": 5e-6}),
    (TREE, {"ranks": 2, "size_bytes": 2000, "chunks_per_tree": 1, **WIRE}, {"time_s": 4e-6, "depth_tree2": 1}),
    (TREE, {"ranks": 9, "size_bytes": 90, "chunks_per_tree": 2, **WIRE}, {"max_interior_memberships": 2}),
]


@pytest.mark.parametrize(("kind", "inputs", "expected"), KNOWN)
def test_edges_and_absent_inputs(kind, inputs, expected):
    result = run_case(Case("c", kind, inputs, expected, Tolerance(1e-9, 1e-15)))
    assert result.status == "passed", result


REFUSED = [
    ("allreduce_ring", {"size_bytes": 1, **WIRE}, "lack 'ranks'"),
    ("allreduce_ring", {"ranks": 0, "size_bytes": 1, **WIRE}, "'ranks' is 0: expected at least 1"),
    ("allreduce_ring", {"ranks": 2, "size_bytes": 1.5, **WIRE}, "'size_bytes' is 1.5: expected a whole number"),
    ("allreduce_ring", {"ranks": 2, "size_bytes": -1, **WIRE}, "size is -1: expected at least 0"),
    ("allreduce_ring", {"ranks": 2, "size_bytes": 1}, "lack 'beta_bytes_per_s'"),
    ("broadcast_chain_pipelined", {"ranks": 2, "size_bytes": 1, "chunks": 0, **WIRE}, "'chunks' is 0"),
    (
        "broadcast_chain_pipelined",
        {"ranks": 2, "size_bytes": 1, "chunks": 1, "split": "odd", **WIRE},
        "unknown split 'odd'",
    ),
    ("broadcast_chain_pipelined", {"ranks": 2, "size_bytes": -1, "chunks": 1, **WIRE}, "'size_bytes' is -1"),
    (TREE, {"ranks": 1 << 30, "size_bytes": 1, "chunks_per_tree": 1, **WIRE}, "expected at most 1048576"),
]


@pytest.mark.parametrize(("kind", "inputs", "reason"), REFUSED)
def test_what_is_refused(kind, inputs, reason):
    result = run_case(Case("c", kind, inputs, {"time_s": 0}, Tolerance(0, 0)))
    assert (result.status, result.differences) == ("failed", ())
    assert reason in result.reason


def test_many_messages_are_answered_by_the_upper_bound(monkeypatch):
    inputs = {"ranks": 16, "size_bytes": 1 << 24, "chunks_per_tree": 16, **WIRE}
    simulated = COLLECTIVE_KINDS[TREE](inputs)["time_s"]
    monkeypatch.setattr(collectives, "MOST_MESSAGES", 10)
    assert simulated < COLLECTIVE_KINDS[TREE](inputs)["time_s"] < 1.05 * simulated
